#!/bin/sh
# Formatting and static analysis of everything under version control, or with --changed of what differs from HEAD;
# --quick leaves clang-tidy out; --fewer-paths lets its static analyzer take a third of the usual steps for a function.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
build=${BUILD_DIR:-$root/build}
tools=$root/build/env/lint/bin
tidy=$root/build/env/tidy/bin

fix="" changed="" quick="" paths=""
for word in "$@"; do
  case $word in
    --fix) fix=yes ;;
    --changed) changed=yes ;;
    --quick) quick=yes ;;
    --fewer-paths)
      for argument in -Xclang -analyzer-config -Xclang max-nodes=75000; do paths="$paths -extra-arg=$argument"; done ;;
    *) echo "dev lint: '$word'? There are --fix, --changed, --quick and --fewer-paths" >&2; exit 2 ;;
  esac
done

# files PATTERN...: those that exist, one per line (no name in this tree holds a blank)
files() {
  if [ -n "$changed" ]; then
    { git diff --name-only HEAD -- "$@"; git ls-files --others --exclude-standard -- "$@"; }
  else
    git ls-files -- "$@"
  fi | while read -r name; do [ ! -f "$name" ] || echo "$name"; done
}

status=0
check() {
  what=$1
  shift
  if "$@"; then echo "lint: $what: good"; else echo "lint: $what: see above"; status=1; fi
}

sources=$(files '*.c' '*.cpp' '*.h')
units=$(files 'src/*.cpp' 'tools/*.cpp')
scripts="dev .ci/run $(files '*.sh')"
python=$(files '*.py')

# shellcheck disable=SC2086 # lists of names
{
  if [ -n "$sources" ]; then
    if [ -n "$fix" ]; then "$tools/clang-format" -i $sources; fi
    check clang-format "$tools/clang-format" --dry-run -Werror $sources
  fi
  check shellcheck "$tools/shellcheck" $scripts
  if [ -n "$python" ]; then check ruff "$tools/ruff" check -q ${fix:+--fix} $python; fi
  if [ -n "$units" ] && [ -z "$quick" ]; then
    if [ -f "$build/compile_commands.json" ]; then
      known=$(python3 scripts/tidy_database.py "$build/compile_commands.json" "$build/tidy" $units)
      [ -z "$known" ] || check clang-tidy "$tidy/run-clang-tidy.py" -clang-tidy-binary "$tidy/clang-tidy" -quiet $paths -p "$build/tidy"
    else
      echo "lint: clang-tidy: needs the compile commands: ./dev build"
      status=1
    fi
  fi
}
exit $status
