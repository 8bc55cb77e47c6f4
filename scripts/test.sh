#!/bin/sh
# Runs every test and sums up. Called by `./dev test`, when everything is built.
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
build=${BUILD_DIR:-$root/build}
results=$build/test-results
python=$root/build/env/tools/bin/python

# A test that hangs is ended: by ctest, by pytest-timeout, and a run of an MPI program by the hosts' helper before that.
ctest_options="-LE full --timeout 300"
pytest_options="--timeout 300"
for word in "$@"; do
  case $word in
    --full) ctest_options="-C full --timeout 3600" pytest_options="--full --timeout 3600" ;;
    *) echo "dev test: '$word'? There is only --full" >&2; exit 2 ;;
  esac
done

rm -rf "$results"
mkdir -p "$results"

# shellcheck disable=SC2086 # options, one per word
ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --output-junit "$results/ctest.xml" $ctest_options >"$results/ctest.log" 2>&1
ctest_status=$?
grep -Ev '^ +Start +[0-9]+:|  Passed  ' "$results/ctest.log"

# shellcheck disable=SC2086
"$python" -m pytest tests -q -rs --continue-on-collection-errors -o cache_dir="$build/pytest-cache" --junitxml="$results/pytest.xml" $pytest_options
pytest_status=$?

"$python" scripts/summarise.py "$results/ctest.xml=$ctest_status" "$results/pytest.xml=$pytest_status"
