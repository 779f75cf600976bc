#!/usr/bin/env bats
# Where results go: -o, and output that cannot be written.

load helpers

setup() {
    mkdir "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work"
    int32 1 2 2 >in
    printf '1\t1\n2\t2\n' >expected
}

@test "-o writes the result to a file, new or old" {
    run -0 --separate-stderr gpuhist --bins 5 -o out in
    [ -z "$output" ] && [ -z "$stderr" ]
    cmp expected out
    echo old >out
    chmod 640 out
    gpuhist --bins 5 --output=out in
    cmp expected out
    [ "$(stat -c %a out)" = 640 ]
    [ "$(ls)" = $'expected\nin\nout' ]
}

@test "-o makes a new file with the umask's permissions" {
    umask 027
    gpuhist --bins 5 -o out in
    [ "$(stat -c %a out)" = 640 ]
}

@test "-o follows links, writes to devices, and - is standard output" {
    echo old >target
    ln -s target link
    gpuhist --bins 5 -o link in
    [ -L link ] && cmp expected target
    gpuhist --bins 5 -o /dev/null in
    [ -c /dev/null ]
    gpuhist --bins 5 -o - in | cmp expected -
    ln -s nowhere dangling
    run --separate-stderr gpuhist --bins 5 -o dangling in
    assert_failed 1 "cannot write dangling: No such file or directory"
}

@test "-o may be the input itself" {
    gpuhist --bins 5 -o in in
    cmp expected in
}

@test "-o that cannot be written is told before the input is read" {
    run --separate-stderr timeout 30 "$GPUHIST" --bins 5 -o missing/out /dev/zero
    assert_failed 1 "cannot write missing/out: No such file or directory"
    run --separate-stderr timeout 30 "$GPUHIST" --bins 5 -o . /dev/zero
    assert_failed 1 "cannot write .: Is a directory"
    run --separate-stderr timeout 30 "$GPUHIST" --bins 5 -o "$(printf 'x%.0s' {1..5000})" /dev/zero
    assert_failed 1 "File name too long"
}

@test "a failed run leaves an old -o file as it was, and no new one" {
    echo old >out
    printf xyz >odd
    run --separate-stderr gpuhist --bins 5 -o out odd
    assert_failed 1 "3 bytes left over"
    [ "$(cat out)" = old ]
    run --separate-stderr gpuhist --bins 5 -o new odd
    assert_failed 1 "3 bytes left over"
    [ ! -e new ]
    [ "$(ls)" = $'expected\nin\nodd\nout' ]
}

@test "a full disk is an error: results, --help, --version, info" {
    [ -c /dev/full ] || skip "no /dev/full"
    for arguments in "--bins 5 in" "--bins 5 --format raw in" --help --version info \
        "--bins 5 -o /dev/full in"; do
        # shellcheck disable=SC2086
        run --separate-stderr bash -c '"$GPUHIST" "$@" >/dev/full' - $arguments
        assert_failed 1 "No space left on device"
    done
    gpuhist --bins 5M --zeros in >/dev/full 2>err && false
    [ "$(cat err)" = "gpuhist: cannot write standard output: No space left on device" ]
}

@test "closed standard output is an error, and no file opened instead of it is touched" {
    cp in before
    for arguments in "--bins 5 in" --help --version info; do
        # shellcheck disable=SC2086
        run --separate-stderr bash -c '"$GPUHIST" "$@" >&-' - $arguments
        assert_failed 1 "cannot write standard output: Bad file descriptor"
    done
    cmp before in
}

@test "closed standard error loses the message, not the status" {
    run bash -c '"$GPUHIST" --bins 5 missing 2>&-'
    [ "$status" -eq 1 ] && [ -z "$output" ]
    run -0 bash -c '"$GPUHIST" --bins 5 in 2>&-'
}

@test "a closed pipe: SIGPIPE ends it, and where that is ignored, an error" {
    run bash -c '"$GPUHIST" --bins 1M --zeros in | true; echo "${PIPESTATUS[0]}"'
    [ "$output" = 141 ]
    run bash -c 'trap "" PIPE; { "$GPUHIST" --bins 1M --zeros in; echo "$?" >&2; } | true'
    [ "$output" = $'gpuhist: cannot write standard output: Broken pipe\n1' ]
}

@test "5M bins with --zeros are 5M numbered lines" {
    gpuhist --bins 5M --zeros in >out
    seq 0 4999999 | awk '{ print $1 "\t" ($1 == 1 ? 1 : $1 == 2 ? 2 : 0) }' | cmp - out
}
