#!/bin/sh
# Checks the models with spin: each must hold, and each with its mistake built in must not. check.sh DIRECTORY
set -eu

models=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

# errors MODEL OPTIONS...: how many errors the search of all states finds; deadlocks (invalid end states) are errors
errors() {
  model=$1
  shift
  rm -f pan pan.*
  spin "$@" -a "$models/$model.pml" >spin.log
  cc -O2 -DSAFETY -DVECTORSZ=2048 -o pan pan.c
  ./pan -m1000000 >pan.log
  if grep -q "max search depth too small" pan.log; then
    echo "search cut short"
    return
  fi
  sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log
}

failed=0
expect() {
  wanted=$1
  shift
  found=$(errors "$@")
  echo "$*: $found errors, $(sed -n 's/ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log) states"
  [ "$found" = "$wanted" ] || failed=1
}

expect 0 cells -DRANKS=2
expect 0 cells -DRANKS=3
expect 1 cells -DRANKS=2 -DNO_CREDIT
expect 0 pair
expect 1 pair -DNO_SWAP
expect 0 sleep
expect 1 sleep -DLOOK_FIRST
expect 0 mail
expect 1 mail -DNO_CREDIT
expect 1 mail -DLOOK_FIRST
exit $failed
