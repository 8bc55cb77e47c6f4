#!/bin/sh
# Prints where this system's apt has its own release from: the archive that has other releases, too.
set -eu

# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
# shellcheck disable=SC2016 # apt's own variables
site=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
  awk -v release="$release" '$2 == release {print $1; exit}')
[ -n "$site" ] || { echo "apt knows no archive of $release" >&2; exit 1; }
echo "$site"
