#!/bin/sh
# wheel.sh INSTALLED OUT: a wheel of what `cmake --install` has put below INSTALLED; prints its name.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
installed=$(cd "$1" && pwd)
out=$2
tools=$root/build/env/wheel/bin
[ -x "$tools/auditwheel" ] || { echo "dev package: wheel needs auditwheel: ./dev setup package" >&2; exit 1; }

# Setuptools leaves its traces beside what it reads.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/python"
cp "$root/CMakeLists.txt" "$work"
cp -r "$root/LICENSE" "$root/python/millrace" "$root/python/pyproject.toml" "$root/python/setup.py" "$work/python"
cp -r "$installed" "$work/python/installed"
(cd "$work/python" && MILLRACE_INSTALLED=installed "$tools/python" setup.py -q bdist_wheel --dist-dir "$work" \
  --plat-name "linux_$(uname -m)") >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }

# Auditwheel reads from the symbols on which systems it runs.
tag=$("$tools/auditwheel" show "$work"/*.whl | tr '\n' ' ' | sed -n 's/.*constrains the platform tag to "\([^"]*\)".*/\1/p')
[ -n "$tag" ] || { "$tools/auditwheel" show "$work"/*.whl >&2; exit 1; }
mkdir -p "$out"
echo "$out/$(cd "$work" && "$tools/python" -m wheel tags --remove --platform-tag "$tag" ./*.whl)"
mv "$work"/*.whl "$out"
