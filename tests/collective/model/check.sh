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
  cc -O2 -DSAFETY -DCOLLAPSE -DVECTORSZ=2048 -o pan pan.c
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
expect 0 attention
expect 1 attention -DNO_RECHECK
expect 1 attention -DCLEARS_ALL
expect 1 attention -DSUMMARY_FIRST
expect 0 mail
expect 1 mail -DNO_CREDIT
expect 1 mail -DLOOK_FIRST
expect 0 shared_row
expect 1 shared_row -DNO_WAIT
expect 1 shared_row -DNO_COMPARE

node=../../node/model
expect 0 $node/record -DRANKS=3
expect 1 $node/record -DRANKS=2 -DNO_LOCK
expect 1 $node/record -DRANKS=2 -DFIRST_LEAVES
expect 0 $node/agreement -DRANKS=2 -DCALLS=3
expect 0 $node/agreement -DRANKS=2 -DCALLS=3 -DNEVER_JOINS
expect 0 $node/agreement -DRANKS=3 -DCALLS=2 -DLEADS=1 -DATTEMPTS=1
expect 1 $node/agreement -DRANKS=2 -DCALLS=3 -DEARLY
expect 1 $node/agreement -DRANKS=2 -DCALLS=3 -DNO_ABORT
expect 1 $node/agreement -DRANKS=2 -DCALLS=3 -DCOUNT_FAILED
expect 1 $node/agreement -DRANKS=2 -DCALLS=3 -DNO_PROMISE
exit $failed
