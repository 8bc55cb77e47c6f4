#!/bin/sh
# check.sh BUILD SOURCE WORK: installs the library, then builds and runs a program by pkg-config and by CMake.
set -eu
build=$1 source=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
# From the library's part of the build: the rest of it may not be built.
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
# Moved, to see that nothing remembers where it was.
mv "$work/prefix" "$work/moved"
pc=$(find "$work/moved" -name millrace.pc)
libdir=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH="${pc%/*}" LD_LIBRARY_PATH="$libdir"

# shellcheck disable=SC2046 # flags are words
${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic -Werror "$source/use.c" $(pkg-config --cflags --libs millrace) -o "$work/by_pkg_config"
"$work/by_pkg_config"

cmake -S "$source" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/moved" >"$work/cmake.log"
cmake --build "$work/cmake" >>"$work/cmake.log"
"$work/cmake/use"

needed=$(readelf -d "$libdir/libmillrace.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
echo "libmillrace.so needs: $needed"
case $(echo "$needed" | grep -v -e '^libc\.so' -e '^ld-linux') in ?*) echo "it should need nothing but libc"; exit 1 ;; esac
others=$(nm -D --defined-only "$libdir/libmillrace.so" | grep -v -e ' millrace_' -e ' A MILLRACE_0' || true)
[ -z "$others" ] || { echo "exports that are not ours: $others"; exit 1; }
