#!/bin/sh
# Installs what packages.txt declares for the given sections; quiet and fast when nothing is missing.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
# One set of environments for all build directories: they are large and do not depend on what is built.
environments=$root/build/env
log=$environments/setup.log
# The system's Python: an environment must not depend on whatever comes first in the caller's PATH.
python=/usr/bin/python3

# headers KIND SECTION: the third word of each header "[SECTION KIND NAME]"
headers() {
  awk -v section="$2" -v kind="$1" '/^\[/ {gsub(/[][]/, ""); if ($1 == section && $2 == kind) print $3}' "$root/packages.txt"
}

# entries HEADER: the lines under "[HEADER]"
entries() {
  awk -v header="[$1]" '/^\[/ {inside = ($0 == header); next} inside && NF && !/^#/' "$root/packages.txt"
}

sections() {
  awk '/^\[/ {gsub(/[][]/, ""); if (!seen[$1]++) print $1}' "$root/packages.txt"
}

debian_missing() {
  for package in $(for section in "$@"; do entries "$section debian"; done | sort -u); do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || status=
    [ "$status" = installed ] || echo "$package"
  done
}

# fail_with_log TEXT
fail_with_log() {
  echo "setup: $1; the end of $log:" >&2
  tail -n 20 "$log" >&2
  exit 1
}

# is_installed DIRECTORY WANTED: it was made to its end, and from the list that counts now
is_installed() {
  [ -f "$1/.installed" ] && [ "$(cat "$1/.installed")" = "$2" ]
}

# installed DIRECTORY WANTED
installed() {
  printf '%s\n' "$2" >"$1/.installed"
}

install_debian() {
  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "setup: these Debian packages are missing, and installing them needs root:" "$@" >&2
      exit 1
    fi
    as_root="sudo"
  fi
  echo "setup: installing" "$@"
  # The package lists may be missing or too old to name versions that still exist: try, refresh, try again. Somebody
  # else may be installing just now: dpkg's lock is waited for.
  for attempt in 1 2; do
    if $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q -o DPkg::Lock::Timeout=120 --no-install-recommends "$@" >>"$log" 2>&1; then return; fi
    [ $attempt = 2 ] || $as_root apt-get update -q >>"$log" 2>&1 || break
  done
  fail_with_log "apt-get failed"
}

# install_environment SECTION NAME: a virtual environment, made anew whenever its list in packages.txt changed
install_environment() {
  directory=$environments/$2
  wanted=$(entries "$1 pypi $2")
  if is_installed "$directory" "$wanted"; then return; fi
  echo "setup: making $directory"
  rm -rf "$directory"
  "$python" -m venv "$directory"
  printf '%s\n' "$wanted" >"$directory/requirements.txt"
  "$directory/bin/python" -m pip install -q --disable-pip-version-check -r "$directory/requirements.txt" >>"$log" 2>&1 ||
    fail_with_log "pip failed"
  installed "$directory" "$wanted"
}

# unpack_source SECTION NAME: a source distribution, for the test suite that wheels leave out
unpack_source() {
  directory=$environments/$2-source
  wanted=$(entries "$1 source $2")
  if is_installed "$directory" "$wanted"; then return; fi
  echo "setup: unpacking the source of $wanted"
  rm -rf "$directory"
  mkdir -p "$directory"
  # No binary of this one package: ":all:" would go for what its build needs, too, and compile Cython.
  "$environments/tools/bin/python" -m pip download -q --disable-pip-version-check --no-deps --no-binary "${wanted%%==*}" \
    -d "$directory" "$wanted" >>"$log" 2>&1 || fail_with_log "pip download failed"
  tar -xzf "$directory"/*.tar.gz -C "$directory" --strip-components=1
  installed "$directory" "$wanted"
}

# own_apt STATE [KIND RELEASE...]: the words of an apt-get that keeps lists, packages and a status of its own below STATE,
# so that the system's knows nothing of it. KIND is deb or deb-src; without releases it reads the system's sources.
own_apt() {
  state=$1
  mkdir -p "$state/lists/partial" "$state/archives/partial"
  : >"$state/status"
  words="apt-get -q -y -o Dir::State=$state -o Dir::State::status=$state/status -o Dir::Cache=$state"
  words="$words -o APT::Sandbox::User=root"
  if [ $# -gt 2 ]; then
    kind=$2
    shift 2
    site=$("$root/scripts/debian_archive.sh")
    for release in "$@"; do echo "$kind $site $release main"; done >"$state/sources.list"
    words="$words -o Dir::Etc::SourceList=$state/sources.list -o Dir::Etc::SourceParts=/dev/null"
  fi
  echo "$words"
}

# unpack_debian_source SECTION NAME: directories of the source of this system's package NAME
unpack_debian_source() {
  directory=$environments/$2-source
  wanted=$(entries "$1 debian-source $2")
  if is_installed "$directory" "$wanted"; then return; fi
  echo "setup: unpacking the source of $2"
  rm -rf "$directory"
  state=$directory/.apt
  # shellcheck source=/dev/null
  apt=$(own_apt "$state" deb-src "$(. /etc/os-release && echo "$VERSION_CODENAME")")
  # shellcheck disable=SC2046,SC2086 # one word per option and directory
  {
    $apt update && (cd "$state" && $apt source --download-only "$2") &&
      tar -xf "$state"/*.orig.tar.* -C "$directory" --strip-components=1 \
        --wildcards --no-wildcards-match-slash $(printf '*/%s ' $wanted)
  } >>"$log" 2>&1 || fail_with_log "the source of $2 is not to be had"
  rm -rf "$state"
  installed "$directory" "$wanted"
}

# unpack_debian SECTION NAME: Debian packages, unpacked into a directory and not installed
#   PACKAGE                what it needs comes with it
#   PACKAGE alone          without what it needs
#   PACKAGE/RELEASE alone  of another release
# The NAME arm64 means packages for that processor.
unpack_debian() {
  directory=$environments/$2
  wanted=$(entries "$1 unpacked $2")
  if is_installed "$directory" "$wanted"; then return; fi
  echo "setup: unpacking Debian packages into $directory"
  rm -rf "$directory"
  state=$directory/.apt
  releases=$(printf '%s\n' "$wanted" | sed -n 's,^[^ /]*/\([^ ]*\).*,\1,p' | sort -u)
  # shellcheck disable=SC2086 # one word per release
  apt=$(own_apt "$state" deb $releases)
  case $2 in arm64) apt="$apt -o APT::Architecture=$2 -o APT::Architectures=$2" ;; esac
  with_needs=$(printf '%s\n' "$wanted" | awk '$2 != "alone" {print $1}')
  alone=$(printf '%s\n' "$wanted" | awk '$2 == "alone" {print $1}')
  # shellcheck disable=SC2086 # one word per option and package
  {
    $apt update &&
      { [ -z "$with_needs" ] || $apt install --download-only --no-install-recommends $with_needs; } &&
      (cd "$state/archives" && $apt download $alone) &&
      (for package in "$state"/archives/*.deb; do dpkg-deb -x "$package" "$directory" || exit 1; done)
  } >>"$log" 2>&1 || fail_with_log "packages for $directory are not to be had"
  rm -rf "$state"
  # Links that begin at the root of the system begin at that of the directory.
  find "$directory" -type l -lname '/*' | while read -r link; do
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$directory/$(readlink "$link")")" "$link"
  done
  installed "$directory" "$wanted"
}

[ $# -gt 0 ] || set -- build test
# shellcheck disable=SC2046 # one word per section
[ "$1" != all ] || set -- $(sections)
for section in "$@"; do
  sections | grep -qx "$section" || { echo "setup: no section '$section' in packages.txt; there are: $(sections | tr '\n' ' ')" >&2; exit 2; }
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup: this is not Debian or one of its derivatives. Install by your system's means what these Debian packages hold:" >&2
  for section in "$@"; do entries "$section debian"; done | sort -u | sed 's/^/  /' >&2
  echo "and from PyPI, with 'python3 -m venv' and pip, into $environments/NAME:" >&2
  for section in "$@"; do
    for name in $(headers pypi "$section"); do echo "  $name: $(entries "$section pypi $name" | tr '\n' ' ')"; done
  done >&2
  exit 1
fi

mkdir -p "$environments"
missing=$(debian_missing "$@")
# shellcheck disable=SC2086 # one word per package
[ -z "$missing" ] || install_debian $missing
for section in "$@"; do
  for name in $(headers pypi "$section"); do install_environment "$section" "$name"; done
  for name in $(headers source "$section"); do unpack_source "$section" "$name"; done
  for name in $(headers unpacked "$section"); do unpack_debian "$section" "$name"; done
  for name in $(headers debian-source "$section"); do unpack_debian_source "$section" "$name"; done
done
