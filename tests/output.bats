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

@test "-o /dev/stdout is standard output, wherever that goes" {
    echo header >out
    gpuhist --bins 5 -o /dev/stdout in >>out
    { echo header; cat expected; } | cmp - out
    { echo header; gpuhist --bins 5 -o /dev/fd/1 in; echo footer; } >out
    { echo header; cat expected; echo footer; } | cmp - out
    gpuhist --bins 5 -o /dev/stdout in | cmp expected -
}

@test "-o over a file that cannot be replaced writes into it" {
    [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || skip "needs root and setpriv"
    dir=$(mktemp -d)
    chmod 755 "$dir" # takes no new file of nobody's
    cp "$GPUHIST" "$dir/gpuhist"
    echo old >"$dir/out"
    chmod 666 "$dir/out"
    int32 1 2 2 | setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/gpuhist" --bins 5 \
        -o "$dir/out"
    cmp expected "$dir/out"
    chmod 1777 "$dir" # takes new files, but does not let nobody replace root's
    echo old >"$dir/out"
    int32 1 2 2 | setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/gpuhist" --bins 5 \
        -o "$dir/out"
    cmp expected "$dir/out"
    chmod 444 "$dir/out"
    run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/gpuhist" \
        --bins 5 -o "$dir/out" </dev/zero
    ls -A "$dir" >left
    rm -rf "$dir"
    assert_failed 1 "out: Permission denied"
    [ "$(cat left)" = $'gpuhist\nout' ]
}

@test "-o over a file with a name of the greatest length" {
    name=$(printf 'x%.0s' {1..255})
    gpuhist --bins 5 -o "$name" in
    gpuhist --bins 5 -o "$name" in
    cmp expected "$name"
}

@test "a result beyond the file size limit is an error, and leaves nothing" {
    run --separate-stderr bash -c 'ulimit -f 1; "$GPUHIST" --bins 5M --zeros -o big in'
    assert_failed 1 "cannot write big: File too large"
    [ "$(ls -A)" = $'expected\nin' ]
}

@test "a non-blocking pipe as output loses nothing" {
    command -v perl >/dev/null || skip "no perl"
    run -0 bash -c 'perl -MFcntl -e "fcntl STDOUT, F_SETFL, O_NONBLOCK or die; exec @ARGV" \
        "$GPUHIST" --bins 200K --zeros in | { sleep 0.3; wc -l; }'
    [ "$output" -eq 200000 ]
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
    run --separate-stderr gpuhist --binary --bins 5 -o out odd
    assert_failed 1 "3 bytes left over"
    [ "$(cat out)" = old ]
    run --separate-stderr gpuhist --binary --bins 5 -o new odd
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
    for threads in 1 2 16; do
        gpuhist --bins 5M --zeros --threads $threads in >/dev/full 2>err && false
        [ "$(cat err)" = "gpuhist: cannot write standard output: No space left on device" ]
    done
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
    for threads in 1 2 16; do
        export threads
        run bash -c '"$GPUHIST" --bins 1M --zeros --threads $threads in | true
            echo "${PIPESTATUS[0]}"'
        [ "$output" = 141 ]
        run bash -c '"$GPUHIST" --bins 1M --zeros --threads $threads in | head -n 1
            echo "${PIPESTATUS[0]}"'
        [ "$output" = $'0\t0\n141' ]
        run bash -c 'trap "" PIPE
            { "$GPUHIST" --bins 1M --zeros --threads $threads in; echo "$?" >&2; } | true'
        [ "$output" = $'gpuhist: cannot write standard output: Broken pipe\n1' ]
    done
}

# bats test_tags=slow
@test "5M bins with --zeros are 5M numbered lines" {
    seq 0 4999999 | awk '{ print $1 "\t" ($1 == 1 ? 1 : $1 == 2 ? 2 : 0) }' >numbered
    for threads in 1 2 16; do
        gpuhist --bins 5M --zeros --threads $threads -o out in
        cmp numbered out
    done
}
