#!/usr/bin/env bats
# The source tree: its directories, the list of tests, and its version.

load helpers

@test "#include goes down the rooms alone" {
    command -v python3 >/dev/null || skip "no python3"
    "${PYTHON:-python3}" "$srcdir/tests/includes.py" "$srcdir"
}

@test "every Bats file and every unit test is run" {
    local file
    for file in "$srcdir"/tests/*.bats "$srcdir"/tests/unit/*.c; do
        file=${file#"$srcdir/"}
        grep -qE "(^|[[:space:]])${file%.c}(\\.c)?([[:space:]]|$)" "$srcdir/Makefile.am" ||
            { echo "$file is not in Makefile.am"; return 1; }
    done
}

@test "the picture of the directories is that of their includes" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    "$PYTHON" "$srcdir/docs/layers.py" "$srcdir" | cmp - "$srcdir/docs/layers.svg"
}

@test "every file that names the version names the same" {
    local version date
    cd "$srcdir"
    version=$(sed -n 's/^AC_INIT(\[gpuhist\], \[\([^]]*\)\].*/\1/p' configure.ac)
    [ "$(gpuhist --version | head -n 1)" = "gpuhist $version" ]
    [ "$(awk '$1 == ".TH" { print $4, $5, $6 }' man/gpuhist.1.in man/gpuhist-*.[57] | sort | uniq -c | awk '{ print $1, $3, $4 }')" = \
        "3 \"gpuhist $version\"" ]
    [ "$(awk '$1 == "##" { print $2; exit }' CHANGELOG.md)" = "$version," ]
    [ -e packaging ] || return 0 # a tarball
    [[ $(head -n 1 debian/changelog) == "gpuhist ($version-"* ]]
    grep -qx "  version: \"$version\"" packaging/conda/recipe.yaml
    [ "$(awk -F '"' '/^    version\(/ { print $2; exit }' packaging/spack/package.py)" = "$version" ]
    grep -q "^    url = .*/gpuhist-$version\\.tar\\.xz\"$" packaging/spack/package.py
    # of the day of its release, until which CHANGELOG.md says "not released yet"
    date=$(sed -n 's/^## [^,]*, //p' CHANGELOG.md | head -n 1)
    if [ "$date" = "not released yet" ]; then
        [[ $(head -n 1 debian/changelog) == *") UNRELEASED; "* ]]
    else
        [ "$date" = "$(date -u -d "$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)" +%F)" ]
        [[ $(head -n 1 debian/changelog) == *") unstable; "* ]]
    fi
}
