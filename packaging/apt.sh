# shellcheck shell=bash
# Functions to install or unpack Debian packages, for packaging/ and .ci/cross, which source this file.

# Debian 11, of glibc 2.31. The program needs no function of it that is newer than 2.28.
# shellcheck disable=SC2034  # for those that source this
old_debian=bullseye

# install_packages PACKAGE...: installs on this machine; fails without apt-get or the right to use it.
install_packages() {
    local sudo=()
    command -v apt-get >/dev/null || return 1
    [ "$(id -u)" = 0 ] || sudo=(sudo -n)
    "${sudo[@]}" apt-get -qq update &&
        "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 \
            install -y -qq --no-install-recommends "$@"
}

# add_release DIRECTORY CODENAME: writes this machine's Debian sources, and another release of Debian
# from the same mirrors.
add_release() {
    local own file
    # shellcheck disable=SC1091  # not a part of this tree
    own=$(. /etc/os-release && echo "$VERSION_CODENAME")
    grep -lsE "(^|[[:space:]])$own([[:space:]]|$)" /etc/apt/sources.list /etc/apt/sources.list.d/* |
        while read -r file; do
            cp "$file" "$1"
            sed "s/$own/$2/g" "$file" >"$1/$2-${file##*/}"
        done
}

# unpack_packages ROOT ARCHITECTURE PACKAGE...: creates the directory ROOT and unpacks
# them into it. A separate apt configuration beside it keeps other architectures out of the machine's.
# PACKAGE/CODENAME names another release of Debian. Absolute links lead to their files in ROOT.
unpack_packages() {
    local root=$1 apt=$1.apt architecture=$2 package link
    shift 2
    mkdir -p "$apt"/lists/partial "$apt"/archives/partial "$root"
    : >"$apt"/status
    cat >"$apt"/conf <<END_OF_CONF
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "";
Acquire::Languages "none";
Dir::Cache "$apt";
Dir::State "$apt";
Dir::State::status "$apt/status";
END_OF_CONF
    for package in "$@"; do
        if [[ $package == */* && ! -e $apt/sources ]]; then
            mkdir "$apt/sources"
            add_release "$apt/sources" "${package#*/}"
            printf 'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "%s";\n' "$apt/sources" >>"$apt/conf"
        fi
    done
    (
        cd "$apt" && export APT_CONFIG=$apt/conf && apt-get -qq update && apt-get -qq download "$@"
    ) || return
    for package in "$apt"/*.deb; do
        dpkg-deb -x "$package" "$root" || return
    done
    find "$root" -type l -lname '/*' | while read -r link; do
        ln -sfr "$root$(readlink "$link")" "$link"
    done
}
