#!/bin/sh
# Runs every test and sums up. Called by `./dev test`, when everything is built.
#
# --analyse: clang-tidy reads every unit, too, Clang compiles everything, instrumented, and what needs no MPI runs so.
# The static analyzer in clang-tidy takes fewer steps then than in `./dev lint` and with --full.
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
build=${BUILD_DIR:-$root/build}
results=$build/test-results
python=$root/build/env/tools/bin/python

# A test that hangs is ended: by ctest, by pytest-timeout, and a run of an MPI program by the hosts' helper before that.
ctest_options="-LE full --timeout 300"
pytest_options="--timeout 300"
analyse=""
paths=--fewer-paths
for word in "$@"; do
  case $word in
    --full) ctest_options="-C full --timeout 3600" pytest_options="--full --timeout 3600" paths="" ;;
    --analyse) analyse=yes ;;
    *) echo "dev test: '$word'? There are --full and --analyse" >&2; exit 2 ;;
  esac
done

rm -rf "$results"
mkdir -p "$results"

# run_ctest DIRECTORY NAME OPTION...: the tests of a build, with results in NAME.xml
run_ctest() {
  directory=$1
  name=$2
  shift 2
  ctest --test-dir "$directory" -j "$(nproc)" --output-on-failure --output-junit "$results/$name.xml" "$@" >"$results/$name.log" 2>&1
  status=$?
  grep -Ev '^ +Start +[0-9]+:|  Passed  ' "$results/$name.log"
  return $status
}

# shellcheck disable=SC2086 # options, one per word
run_ctest "$build" ctest $ctest_options
ctest_status=$?

# MPI programs leave half of the processors' time to others: they start, sleep and wait. The analysis has that, in a
# class that runs only where nobody else wants to, and in a session of its own: it ends with this script, and where
# Linux schedules sessions ("autogroup") a class counts within one only, so the session is made the last one, too.
if [ -n "$analyse" ]; then
  idle="chrt --idle 0"
  $idle true 2>/dev/null || idle="nice -n 19"
  # shellcheck disable=SC2086
  setsid sh -c '{ echo 19 >/proc/self/autogroup; } 2>/dev/null; exec "$@"' sh \
    $idle ./scripts/analyse.sh "$build" "$results/analysis.xml" $paths >"$results/analysis.out" 2>&1 &
  analysis=$!
  trap 'kill -- "-$analysis" 2>/dev/null' EXIT
  trap 'exit 130' INT TERM
fi

# shellcheck disable=SC2086
"$python" -m pytest tests -q -rs --continue-on-collection-errors -o cache_dir="$build/pytest-cache" --junitxml="$results/pytest.xml" $pytest_options
pytest_status=$?

if [ -n "$analyse" ]; then
  wait "$analysis"
  analysis_status=$?
  trap - EXIT
  cat "$results/analysis.out"
  export ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-16
  run_ctest "$build-asan" asan -LE full --timeout 300
  asan_status=$?
fi

"$python" scripts/summarise.py "$results/ctest.xml=$ctest_status" "$results/pytest.xml=$pytest_status" \
  ${analyse:+"$results/analysis.xml=$analysis_status" "$results/asan.xml=$asan_status"}
