#!/bin/sh
# analyse.sh BUILD RESULTS.xml [OPTION...]: what a second compiler and a reader of code have to say; called by
# `./dev test --analyse`.
#
#   clang        everything is compiled by Clang 16 without a warning, all but the preloads' own units with the
#                sanitizers for addresses and for undefined behaviour, in BUILD-asan (the tests of which are then run
#                by scripts/test.sh). With --fewer-paths, of the preloads those for MPICH's ABI, for whose words there is
#                a test: what the other two ABIs make of the same units clang_tidy reads.
#   clang_tidy   every unit of src and tools, as BUILD compiles it, for one of the ABIs in turn; options are for lint.sh
#
# Each is a test case of RESULTS.xml; what it said is shown if it failed.
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
build=$1
xml=$2
shift 2
said=$build/test-results/analysis.log
status=0

# one NAME COMMAND...: a test case
one() {
  name=$1
  shift
  if "$@" >"$said" 2>&1; then
    echo "  <testcase classname=\"analysis\" name=\"$name\"/>" >>"$xml"
  else
    echo "  <testcase classname=\"analysis\" name=\"$name\"><failure/></testcase>" >>"$xml"
    echo "analysis: $name failed:"
    grep -E "error|warning|see above|FAILED" "$said" | head -n 100
    status=1
  fi
}

echo "<testsuite>" >"$xml"
abis="openmpi;mpich;abi"
case " $* " in *" --fewer-paths "*) abis=mpich ;; esac
one clang_configured cmake --preset asan -B "$build-asan" -DMILLRACE_ABIS="$abis"
one clang cmake --build "$build-asan" -j "${JOBS:-$(nproc)}" -- -k 0
one clang_tidy env BUILD_DIR="$build" ./scripts/lint.sh "$@"
echo "</testsuite>" >>"$xml"
exit $status
