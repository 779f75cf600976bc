#!/usr/bin/env bash
# Makes the Debian packages, source and binary, from a release tarball and debian/, checks them with
# lintian, installs into a clean root of this release of Debian, and runs the tests there
# (autopkgtest).
#
#   packaging/check-deb.sh gpuhist-VERSION.tar.xz [DIRECTORY]
#
# Requires root. Installs missing tools and build dependencies. Copies the packages to DIRECTORY, if
# given, as soon as they are made.
set -euo pipefail

tarball=$(realpath "$1")
keep=${2:+$(realpath "$2")}
debian=$(realpath "$(dirname "$0")/../debian")
# shellcheck disable=SC1091  # not a part of this tree
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
jobs=$(nproc)
export DEBIAN_FRONTEND=noninteractive DEB_BUILD_PROFILES=nocheck
export DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$jobs" DEB_CFLAGS_STRIP=-g

work=$(mktemp -d)
root_maker=
clean_up() {
    [ -z "$root_maker" ] || kill "$root_maker" 2>/dev/null || true
    wait
    rm -rf --one-file-system "$work"
}
trap clean_up EXIT
chmod 755 "$work" # the tests' root is below it
cd "$work"

install_tools() {
    local tools=(autopkgtest dpkg-dev lintian mmdebstrap)
    if dpkg-query -W "${tools[@]}" && (cd source && dpkg-checkbuilddeps); then
        return
    fi
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${tools[@]}"
    apt-get build-dep -y -qq --no-install-recommends ./source
}

# Essential packages, apt, and the packages that autopkgtest would install.
make_root() {
    mmdebstrap --quiet --variant=apt --include=apt-utils --dpkgopt=force-unsafe-io \
        --aptopt='Acquire::Languages "none"' --skip=cleanup/apt "$release" root
}

# The root's /proc is mounted only for this command.
run_tests() {
    # shellcheck disable=SC2016  # for the inner shell
    unshare --mount --fork bash -c 'mount -t proc proc root/proc &&
        autopkgtest -B ./*.deb source/ -- chroot "$PWD/root"'
}

name=$(basename "$tarball" .tar.xz)
cp "$tarball" "${name/-/_}.orig.tar.xz"
mkdir source
tar -xf "$tarball" -C source --strip-components=1
cp -r "$debian" source/
install_tools
make_root &
root_maker=$!
(cd source && dpkg-buildpackage -us -uc)
[ -z "$keep" ] || cp ./*.{changes,deb,dsc,tar.xz} "$keep" # also if a check fails
lintian --fail-on error,warning ./*.changes
wait "$root_maker"
run_tests
