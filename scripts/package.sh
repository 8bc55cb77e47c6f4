#!/bin/sh
# package.sh [deb|rpm|tgz|wheel...]: packages, into BUILD_DIR/packages. Without a word, the first three. They are made of
# a build of their own, BUILD_DIR/portable, which runs with an older glibc than this system's.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD_DIR:-$root/build}
jobs=${JOBS:-$(nproc)}
[ $# -gt 0 ] || set -- deb rpm tgz

for kind in "$@"; do
  case $kind in
    deb) needed="dpkg-deb file" ;;
    rpm) needed=rpmbuild ;;
    tgz | wheel) needed= ;;
    *) echo "dev package: '$kind'? There are deb, rpm, tgz and wheel" >&2; exit 2 ;;
  esac
  for command in $needed; do
    command -v "$command" >/dev/null || { echo "dev package: $kind needs $command: ./dev setup package" >&2; exit 1; }
  done
done
[ -d "$root/build/env/glibc/usr" ] || { echo "dev package: no older glibc here: ./dev setup package" >&2; exit 1; }

mkdir -p "$build/portable" "$build/packages"
build=$(cd "$build" && pwd)
portable=$build/portable

# made LIBRARIES PYTHON: what is to be installed, with the directories of one kind of system. The Open MPI component
# stays out, it is for the Open MPI of one system.
made() {
  cmake --preset release -S "$root" -B "$portable" -DMILLRACE_TESTS=OFF -DMILLRACE_BENCH=OFF \
    -DCMAKE_TOOLCHAIN_FILE="$root/cmake/toolchains/old_glibc.cmake" -DMILLRACE_OPENMPI_COMPONENT=OFF \
    -DCMAKE_INSTALL_LIBDIR="$1" -DMILLRACE_PYTHON_DIR="$2" \
    >"$portable/configure.log" 2>&1 || { cat "$portable/configure.log" >&2; exit 1; }
  cmake --build "$portable" -j "$jobs" --target install_parts >&2
}

# glibc: the oldest version that has all symbols that are asked for. dpkg-shlibdeps would read it from this system's
# glibc, where functions lie in libraries that they were not in before, and ask for a newer one.
glibc() {
  find "$portable/millrace" "$portable/lib" -type f -exec readelf -V {} + 2>/dev/null |
    grep -o 'GLIBC_[0-9.]*' | cut -d_ -f2 | sort -uV | tail -n 1
}

for kind in "$@"; do
  case $kind in
    deb) made "lib/$(gcc -print-multiarch)" lib/python3/dist-packages ;;
    rpm) made lib64 lib64/millrace/python ;;
    tgz | wheel) made lib lib/millrace/python ;;
  esac
  if [ "$kind" = wheel ]; then
    rm -rf "$portable/installed"
    cmake --install "$portable" --prefix "$portable/installed" --strip >"$portable/install.log"
    "$root/scripts/wheel.sh" "$portable/installed" "$build/packages"
    continue
  fi
  generator=$(echo "$kind" | tr '[:lower:]' '[:upper:]')
  (cd "$portable" && cpack -G "$generator" -B "$build/packages" -D CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF \
    -D CPACK_DEBIAN_PACKAGE_DEPENDS="libc6 (>= $(glibc))" >package.log 2>&1) || { cat "$portable/package.log" >&2; exit 1; }
  sed -n 's/^CPack: - package: \(.*\) generated\.$/\1/p' "$portable/package.log"
done
