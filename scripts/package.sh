#!/bin/sh
# package.sh [deb|rpm|tgz|wheel...]: packages, into BUILD_DIR/packages. Without a word, the first three. These are of what
# is built in BUILD_DIR; a wheel is of a build of its own, BUILD_DIR/portable, which runs with an older glibc.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD_DIR:-$root/build}
jobs=${JOBS:-$(nproc)}
[ $# -gt 0 ] || set -- deb rpm tgz

for kind in "$@"; do
  case $kind in
    deb) needed="dpkg-deb dpkg-shlibdeps file" ;;
    rpm) needed=rpmbuild ;;
    tgz | wheel) needed= ;;
    *) echo "dev package: '$kind'? There are deb, rpm, tgz and wheel" >&2; exit 2 ;;
  esac
  for command in $needed; do
    command -v "$command" >/dev/null || { echo "dev package: $kind needs $command: ./dev setup package" >&2; exit 1; }
  done
done

# wheel: the Open MPI component stays out, it is for the Open MPI of one system
wheel() {
  portable=$build/portable
  mkdir -p "$portable"
  cmake --preset release -S "$root" -B "$portable" -DMILLRACE_TESTS=OFF -DMILLRACE_BENCH=OFF \
    -DCMAKE_TOOLCHAIN_FILE="$root/cmake/toolchains/old_glibc.cmake" -DCMAKE_INSTALL_LIBDIR=lib \
    -DMILLRACE_OPENMPI_COMPONENT=OFF >"$portable/configure.log" 2>&1 || { cat "$portable/configure.log" >&2; exit 1; }
  cmake --build "$portable" -j "$jobs" --target install_parts >&2
  rm -rf "$portable/installed"
  cmake --install "$portable" --prefix "$portable/installed" --strip >"$portable/install.log"
  "$root/scripts/wheel.sh" "$portable/installed" "$build/packages"
}

# as_before: the directories of ordinary builds, and the list of what was installed from here: cpack writes its own
as_before() {
  rm -f "$build/install_manifest.txt"
  [ ! -f "$build/install_manifest.kept" ] || mv "$build/install_manifest.kept" "$build/install_manifest.txt"
  cmake -B "$build" -U CMAKE_INSTALL_LIBDIR -U MILLRACE_PYTHON_DIR >"$build/configure.log" 2>&1
}
[ ! -f "$build/install_manifest.txt" ] || mv "$build/install_manifest.txt" "$build/install_manifest.kept"
trap as_before EXIT

for kind in "$@"; do
  if [ "$kind" = wheel ]; then wheel; continue; fi
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
