#!/bin/sh
# package.sh [deb|rpm|tgz...]: packages of what is built in BUILD_DIR, into BUILD_DIR/packages. Without a word, all three.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD_DIR:-$root/build}
jobs=${JOBS:-$(nproc)}
[ $# -gt 0 ] || set -- deb rpm tgz

for kind in "$@"; do
  case $kind in
    deb) needed="dpkg-deb dpkg-shlibdeps file" ;;
    rpm) needed=rpmbuild ;;
    tgz) needed= ;;
    *) echo "dev package: '$kind'? There are deb, rpm and tgz" >&2; exit 2 ;;
  esac
  for command in $needed; do
    command -v "$command" >/dev/null || { echo "dev package: $kind needs $command: ./dev setup package" >&2; exit 1; }
  done
done

# as_before: the directories of ordinary builds, and the list of what was installed from here: cpack writes its own
as_before() {
  rm -f "$build/install_manifest.txt"
  [ ! -f "$build/install_manifest.kept" ] || mv "$build/install_manifest.kept" "$build/install_manifest.txt"
  cmake -B "$build" -U CMAKE_INSTALL_LIBDIR -U MILLRACE_PYTHON_DIR >"$build/configure.log" 2>&1
}
[ ! -f "$build/install_manifest.txt" ] || mv "$build/install_manifest.txt" "$build/install_manifest.kept"
trap as_before EXIT

for kind in "$@"; do
  # Where each kind of system has its libraries and Python packages.
  case $kind in
    deb) libraries=lib/$(gcc -print-multiarch) python=lib/python3/dist-packages ;;
    rpm) libraries=lib64 python=lib64/millrace/python ;;
    tgz) libraries=lib python=lib/millrace/python ;;
  esac
  cmake -B "$build" -DCMAKE_INSTALL_LIBDIR="$libraries" -DMILLRACE_PYTHON_DIR="$python" >"$build/configure.log" 2>&1
  cmake --build "$build" -j "$jobs" --target install_parts
  generator=$(echo "$kind" | tr '[:lower:]' '[:upper:]')
  (cd "$build" && cpack -G "$generator" >"$build/package.log" 2>&1) || { cat "$build/package.log" >&2; exit 1; }
  sed -n 's/^CPack: - package: \(.*\) generated\.$/\1/p' "$build/package.log"
done
