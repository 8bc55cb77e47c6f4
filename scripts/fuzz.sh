#!/bin/sh
# Looks for inputs that break something, by libFuzzer with the address and undefined-behaviour sanitizers; called by
# `./dev fuzz`. fuzz.sh [NAME [SECONDS]]: one fuzzer of fuzz/, or all; a minute each.
#
# It begins with fuzz/corpus/NAME. What it learns lies in build-fuzz/corpus/NAME, an input that breaks something in
# build-fuzz/found: mend it, and put it into fuzz/corpus/NAME, which every test run begins with.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
build=$root/build-fuzz
names=${1:-reduce_units layouts reports texts shared_memory}
seconds=${2:-60}

[ -f "$build/build.ninja" ] || cmake --preset fuzz >/dev/null
# shellcheck disable=SC2086 # names, one per word
cmake --build "$build" -j "${JOBS:-$(nproc)}" --target $names
mkdir -p "$build/found"
status=0
for name in $names; do
  mkdir -p "$build/corpus/$name" "fuzz/corpus/$name"
  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "$build/bin/$name" -max_total_time="$seconds" -max_len=1000 \
    -print_final_stats=1 -artifact_prefix="$build/found/$name-" "$build/corpus/$name" "fuzz/corpus/$name" || status=1
done
exit $status
