#!/bin/sh
# build.sh SITE [CONFIGURATION]: the site of the documentation. Any warning is an error: a page that is in no menu, a link
# or an anchor that leads nowhere. The reference comes from the launcher in BUILD_DIR.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
configuration=${2:-$root/mkdocs.yml}
# What the theme says of a successor of MkDocs is for whoever chooses versions (docs/decisions.md).
export NO_MKDOCS_2_WARNING=1 BUILD_DIR="${BUILD_DIR:-$root/build}"
# Not with -q: warnings that are not said are not counted either.
said=$("$root/build/env/docs/bin/mkdocs" build --strict -f "$configuration" -d "$1" 2>&1) || {
  printf '%s\n' "$said" | grep -v '^INFO' >&2
  exit 1
}
echo "docs: $1/index.html; to search in it: python3 -m http.server -d $1"
