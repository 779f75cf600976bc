#!/usr/bin/env bats
# The input: files, pipes and standard input as one stream, and their errors.

# shellcheck disable=SC2030,SC2031  # each test has its own $output
load helpers

@test "a pipe, a file, a redirected file and - are the same" {
    local in=$BATS_TEST_TMPDIR/in
    random_file "$in" '<i4' 0 1000 200000
    counts_of d4 "$in" >"$BATS_TEST_TMPDIR/expected"
    gpuhist --bins 1000 "$in" | cmp "$BATS_TEST_TMPDIR/expected" -
    gpuhist --bins 1000 <"$in" | cmp "$BATS_TEST_TMPDIR/expected" -
    gpuhist --bins 1000 - <"$in" | cmp "$BATS_TEST_TMPDIR/expected" -
    # shellcheck disable=SC2002
    cat "$in" | gpuhist --bins 1000 | cmp "$BATS_TEST_TMPDIR/expected" -
    # shellcheck disable=SC2002
    cat "$in" | gpuhist --bins 1000 - | cmp "$BATS_TEST_TMPDIR/expected" -
}

@test "several files are one stream, elements that straddle them too" {
    local in=$BATS_TEST_TMPDIR/in engine
    random_file "$in" '<i4' 0 1000 200000
    counts_of d4 "$in" >"$BATS_TEST_TMPDIR/expected"
    head -c 1 "$in" >"$BATS_TEST_TMPDIR/a"
    : >"$BATS_TEST_TMPDIR/b"
    tail -c +2 "$in" | head -c 300001 >"$BATS_TEST_TMPDIR/c"
    tail -c +300003 "$in" | head -c 70001 >"$BATS_TEST_TMPDIR/d"
    tail -c +370004 "$in" | head -c 2 >"$BATS_TEST_TMPDIR/e"
    tail -c +370006 "$in" >"$BATS_TEST_TMPDIR/f"
    cat "$BATS_TEST_TMPDIR"/[a-f] | cmp - "$in"
    for engine in $ENGINES; do
        gpuhist --bins 1000 --engine "$engine" --chunk-size 9001 "$BATS_TEST_TMPDIR"/[a-f] |
            cmp "$BATS_TEST_TMPDIR/expected" -
        # shellcheck disable=SC2002
        cat "$BATS_TEST_TMPDIR/c" | gpuhist --bins 1000 --engine "$engine" "$BATS_TEST_TMPDIR"/[ab] - \
            "$BATS_TEST_TMPDIR"/[def] | cmp "$BATS_TEST_TMPDIR/expected" -
    done
}

@test "standard input is read from its offset, and left at its end" {
    int32 1 2 3 4 >"$BATS_TEST_TMPDIR/small"
    random_file "$BATS_TEST_TMPDIR/large" '<i4' 0 9 100000
    for in in small large; do
        {
            gpuhist --bins 10 >"$BATS_TEST_TMPDIR/out"
            wc -c >"$BATS_TEST_TMPDIR/rest"
        } <"$BATS_TEST_TMPDIR/$in"
        [ "$(cat "$BATS_TEST_TMPDIR/rest")" -eq 0 ]
    done
    { dd bs=4 count=1 status=none >/dev/null; gpuhist --bins 10; } <"$BATS_TEST_TMPDIR/small" \
        >"$BATS_TEST_TMPDIR/out"
    printf '2\t1\n3\t1\n4\t1\n' | cmp - "$BATS_TEST_TMPDIR/out"
    { dd bs=4 count=1 status=none >/dev/null; gpuhist --bins 10; } <"$BATS_TEST_TMPDIR/large" \
        >"$BATS_TEST_TMPDIR/out"
    od -An -v -w4 -td4 -j4 "$BATS_TEST_TMPDIR/large" | sort -n | uniq -c |
        awk '{ print $2 "\t" $1 }' | cmp - "$BATS_TEST_TMPDIR/out"
}

@test "- twice reads standard input once, as cat does" {
    int32 1 2 >"$BATS_TEST_TMPDIR/in"
    run -0 gpuhist --bins 5 - - <"$BATS_TEST_TMPDIR/in"
    [ "$output" = $'1\t1\n2\t1' ]
    random_file "$BATS_TEST_TMPDIR/in" '<i4' 0 9 100000
    gpuhist --bins 9 - - <"$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/out"
    counts_of d4 "$BATS_TEST_TMPDIR/in" | cmp - "$BATS_TEST_TMPDIR/out"
}

@test "a file given twice is counted twice" {
    int32 1 2 >"$BATS_TEST_TMPDIR/in"
    run -0 gpuhist --bins 5 "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/in"
    [ "$output" = $'1\t2\n2\t2' ]
}

# bats test_tags=later
@test "a slow pipe that begins with white space may still be binary" {
    # 10 as int32, whose first byte is a newline; also 0x0d20090a
    run -0 bash -c '{ printf "\n"; sleep 0.1; printf "\0\0\0"; } | "$GPUHIST" --bins 20'
    [ "$output" = $'10\t1' ]
    run -0 bash -c '{ printf "\n"; sleep 0.1; printf "\t "; sleep 0.1; printf "\r\1\0\0\0"; } |
        "$GPUHIST" reduce sum'
    [ "$output" = $((0x0d20090a + 1)) ]
    run -0 bash -c '{ printf "\n"; sleep 0.1; printf " 7 "; sleep 0.1; printf "8"; } | "$GPUHIST" reduce sum'
    [ "$output" = 15 ]
    run -0 bash -c '{ printf "\n"; sleep 0.1; printf " "; } | "$GPUHIST" reduce sum'
    [ "$output" = 0 ]
}

@test "a FIFO with a slow writer, cut inside elements" {
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    int32 1 2 3 3 >"$BATS_TEST_TMPDIR/in"
    {
        for i in 0 3 6 9 12; do
            tail -c +$((i + 1)) "$BATS_TEST_TMPDIR/in" | head -c 3
            sleep 0.05
        done
        tail -c 1 "$BATS_TEST_TMPDIR/in"
    } >"$BATS_TEST_TMPDIR/fifo" 3>&- &
    run -0 timeout 30 "$GPUHIST" --bins 5 "$BATS_TEST_TMPDIR/fifo"
    [ "$output" = $'1\t1\n2\t1\n3\t2' ]
}

@test "files of /proc, which tell no size, are read to their end" {
    bytes=$(wc -c </proc/version)
    run -0 bash -c '"$GPUHIST" --binary -t u8 --bins 256 /proc/version | awk "{ n += \$2 } END { print n }"'
    [ "$output" -eq "$bytes" ]
}

@test "bytes left over at the end are an error that names them" {
    for engine in $ENGINES; do
        for left in 1 2 3; do
            { int32 1 2; head -c $left /dev/zero; } >"$BATS_TEST_TMPDIR/in"
            run --separate-stderr gpuhist --bins 5 --engine "$engine" "$BATS_TEST_TMPDIR/in"
            assert_failed 1 "in: truncated input: $left byte"
            [[ $stderr == *"left after the last 4-byte element"* ]]
            run --separate-stderr gpuhist --bins 5 --engine "$engine" <"$BATS_TEST_TMPDIR/in"
            assert_failed 1 "standard input: truncated input: $left byte"
        done
    done
    random_file "$BATS_TEST_TMPDIR/in" '<i4' 0 5 100000
    printf 'xyz' >>"$BATS_TEST_TMPDIR/in"
    run --separate-stderr gpuhist --bins 5 "$BATS_TEST_TMPDIR/in"
    assert_failed 1 "3 bytes left after"
    run --separate-stderr gpuhist --binary -t i64 --bins 5 < <(printf 1)
    assert_failed 1 "truncated input: 1 byte left after the last 8-byte element"
}

@test "missing, empty-named and unreadable files, and directories" {
    cd "$BATS_TEST_TMPDIR"
    int32 1 >good
    run --separate-stderr gpuhist --bins 5 good missing
    assert_failed 1 "missing: No such file or directory"
    run --separate-stderr gpuhist --bins 5 ""
    assert_failed 1 "No such file or directory"
    run --separate-stderr gpuhist --bins 5 good .
    assert_failed 1 ".: Is a directory"
    run --separate-stderr gpuhist --bins 5 <.
    assert_failed 1 "standard input: Is a directory"
    run --separate-stderr gpuhist --bins 5 $'new\nline'
    assert_failed 1 "new?line: No such file or directory"
}

@test "a file that may not be read" {
    command -v setpriv >/dev/null || skip "no setpriv"
    dir=$(mktemp -d) # another user can enter it
    chmod 755 "$dir"
    cp "$GPUHIST" "$dir/gpuhist"
    int32 1 >"$dir/secret"
    chmod 000 "$dir/secret"
    as_nobody=()
    [ "$(id -u)" -ne 0 ] || as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    run --separate-stderr "${as_nobody[@]}" "$dir/gpuhist" --bins 5 "$dir/secret"
    rm -rf "$dir"
    assert_failed 1 "secret: Permission denied"
}

@test "closed standard input" {
    run --separate-stderr bash -c '"$GPUHIST" --bins 5 <&-'
    assert_failed 1 "standard input: Bad file descriptor"
    int32 1 >"$BATS_TEST_TMPDIR/in" # which must not become standard input
    run -0 bash -c '"$GPUHIST" --bins 5 "$1" <&-' - "$BATS_TEST_TMPDIR/in"
    [ "$output" = $'1\t1' ]
}

# The FIFO comes first: the file has been checked, and changes before it is read.
start_behind_fifo() {
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    exec 4<>"$BATS_TEST_TMPDIR/fifo"
    timeout 30 "$GPUHIST" --bins 5 --engine cpu "$BATS_TEST_TMPDIR/fifo" "$BATS_TEST_TMPDIR/in" \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- 4>&- &
    int32 1 >&4
    local end=$((SECONDS + 30))
    until [ -s "/proc/$!/task/$!/children" ] || pgrep -P $! >/dev/null; do
        [ "$SECONDS" -lt "$end" ] || return
        sleep 0.01
    done
    sleep 0.2
}

@test "a file that becomes shorter before it is read counts as it then is" {
    random_file "$BATS_TEST_TMPDIR/in" '<i4' 0 5 100000
    start_behind_fifo
    truncate -s 399998 "$BATS_TEST_TMPDIR/in"
    exec 4>&-
    local status=0
    wait $! || status=$?
    [ "$status" -eq 1 ]
    [ ! -s "$BATS_TEST_TMPDIR/out" ]
    grep -q 'in: truncated input: 2 bytes left after' "$BATS_TEST_TMPDIR/err"
}

# bats test_tags=slow
@test "a file that grows before it is read is read to its new end" {
    random_file "$BATS_TEST_TMPDIR/in" '<i4' 0 5 100000
    start_behind_fifo
    random_file "$BATS_TEST_TMPDIR/more" '<i4' 0 5 5000
    cat "$BATS_TEST_TMPDIR/more" >>"$BATS_TEST_TMPDIR/in"
    exec 4>&-
    wait $!
    { int32 1; cat "$BATS_TEST_TMPDIR/in"; } | counts_of d4 | cmp - "$BATS_TEST_TMPDIR/out"
}

# bats test_tags=slow
@test "more small files than a process may have open" {
    mkdir "$BATS_TEST_TMPDIR/many"
    for i in {1..300}; do int32 $((i % 7)) >"$BATS_TEST_TMPDIR/many/$i"; done
    run -0 bash -c 'ulimit -n 20; "$GPUHIST" --bins 7 --engine cpu "$1"/*' - "$BATS_TEST_TMPDIR/many"
    [ "$output" = $'0\t42\n1\t43\n2\t43\n3\t43\n4\t43\n5\t43\n6\t43' ]
}

# bats test_tags=slow,plain
@test "memory stays flat over a long stream" {
    skip_under_asan
    run -0 --separate-stderr bash -c 'head -c 1G /dev/zero |
        { ulimit -v 400000; "$GPUHIST" --bins 256 --engine cpu --threads 2; }'
    [ "$output" = $'0\t268435456' ]
}

@test "one end of file at a terminal is the end, also typed at once with the text" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    cd "$BATS_TEST_TMPDIR" || return 1
    printf '3\n' >three
    for threads in 1 2 16; do
        run -0 timeout 60 "$PYTHON" -c 'import os, pty, sys
gpuhist, threads = sys.argv[1:]
note = b"gpuhist: reading standard input, up to Ctrl-D (try gpuhist --help)\r\n"
for arguments, typed, printed in (
        (["reduce", "sum"], b"1\n2\n\x04", note + b"3\r\n"),
        (["reduce", "sum", "-q"], b"1\n2\n\x04", b"3\r\n"),
        (["reduce", "sum", "--text"], b"1\n2\n\x04", note + b"3\r\n"),
        (["reduce", "sum", "-f", "1", "--header"], b"name\n2\n\x04", note + b"2\r\n"),
        (["reduce", "sum", "--decompress", "none"], b"1\n2\n\x04", note + b"3\r\n"),
        (["reduce", "sum", "-", "three"], b"1\n2\n\x04", b"6\r\n"),
        (["stalin-sort"], b"1\n2\n\x04", note + b"1\r\n2\r\n"),
        (["reduce", "count"], b"\x04", note + b"0\r\n"),
        (["count", "--any-of", "@-", "three"], b"3\n\x04", b"1\r\n")):
    pid, terminal = pty.fork()
    if pid == 0:
        os.system("stty -echo")
        os.write(1, b"ready\n")
        os.execv(gpuhist, [gpuhist, *arguments, "--threads", threads])
    told = b""
    while b"ready\r\n" not in told:
        told += os.read(terminal, 1000)
    os.write(terminal, typed)
    told = told.split(b"ready\r\n", 1)[1]
    try:
        while part := os.read(terminal, 1000):
            told += part
    except OSError:
        pass
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert (status, told) == (0, printed), (arguments, status, told)' "$GPUHIST" $threads
    done
}

# note_of FILE ARG...: prints the note about a file; asserts no other message, and the same result.
note_of() {
    local file=$1
    shift
    run -0 --separate-stderr gpuhist count --all "$@" "$file"
    [ -n "$output" ]
    note=$stderr
}

@test "a note says that binary input looks like 64-bit integers" {
    local name
    cd "$BATS_TEST_TMPDIR"
    numpy 'np.arange(10, dtype="<i8").tofile("le"); np.arange(10, dtype=">i8").tofile("be")
(np.arange(10, dtype="<i8") - 5).tofile("signed"); np.arange(20, dtype="<i4").tofile("i32")
np.zeros(20, "<i4").tofile("zeros"); np.arange(3, dtype="<i8").tofile("few")
np.full(20, -1, "<i4").tofile("ones")'
    note_of le
    [ "$note" = "gpuhist: note: reading le as i32le; every second element is 0 (try -t i64)" ]
    note_of - <le
    [ "$note" = "gpuhist: note: reading standard input as i32le; every second element is 0 (try -t i64)" ]
    note_of - < <(cat le)
    [ "$note" = "gpuhist: note: reading standard input as i32le; every second element is 0 (try -t i64)" ]
    note_of signed
    [ "$note" = "gpuhist: note: reading signed as i32le; every second element is 0 or -1 (try -t i64)" ]
    note_of be
    [ "$note" = "gpuhist: note: reading be as i32le; every second element is 0 (try -t i64be)" ]
    for name in i32 zeros ones few; do
        note_of $name
        [ -z "$note" ]
    done
    # no note if an option gives the format, or with --quiet
    for name in "-t i64" "-t i32" --binary -q; do
        # shellcheck disable=SC2086
        note_of le $name
        [ -z "$note" ]
    done
}

@test "a note says that binary input looks like large 64-bit integers, or floating-point numbers" {
    local name
    cd "$BATS_TEST_TMPDIR"
    numpy 'rng = np.random.default_rng(1)
large = rng.integers(0, 1 << 63, 64); large.astype("<i8").tofile("le")
(1700000000000000000 + rng.integers(0, 10**15, 999)).astype("<i8").tofile("nanoseconds")
large[:63].astype("<i8").tofile("few"); rng.integers(0, 1 << 64, 999, "u8").tofile("all")
rng.integers(-1 << 31, 1 << 31, 999).astype("<i4").tofile("i32")
(1100000000 + rng.integers(0, 30000000, 999)).astype("<i4").tofile("seconds")
rng.normal(0, 100, 99).astype("<f8").tofile("f8"); rng.normal(5, 1, 99).astype("<f4").tofile("f4")
np.arange(50.).tofile("whole"); (rng.random(999) - 0.5).astype("<f4").tofile("signs")
rng.random(999).astype("<f4").tofile("shares")
years = rng.integers(1104534000, 1262300400, 999); years.astype("<i4").tofile("years")
years.astype("<i8").tofile("years64"); np.arange(32, 126).astype("<u2").tofile("small.u16")'
    for name in le nanoseconds; do
        note_of $name
        [ "$note" = "gpuhist: note: reading $name as i32le; only every second element is ever negative (try -t i64)" ]
    done
    for name in f8:f64 whole:f64 signs:f32 shares:f32; do
        note_of "${name%:*}"
        [ "$note" = "gpuhist: note: reading ${name%:*} as i32le; it looks like floating-point numbers (try -t ${name#*:} --decimals round.6)" ]
    done
    note_of years64
    [ "$note" = "gpuhist: note: reading years64 as i32le; every second element is 0 (try -t i64)" ]
    note_of small.u16
    [ "$note" = "gpuhist: note: reading small.u16 as i32le; its name ends in .u16 (try -t u16)" ]
    for name in few all i32 seconds years f4; do # files that may also be 32-bit integers
        note_of $name
        [ -z "$note" ] || { echo "$name: $note"; return 1; }
    done
    for name in "-t i64" "-t i32" --binary -q; do
        # shellcheck disable=SC2086
        note_of le $name
        [ -z "$note" ]
    done
}

@test "a note says that the name of binary input ends in another type" {
    cd "$BATS_TEST_TMPDIR"
    numpy '(np.arange(10, dtype="<u8") * 7777777777777777).tofile("ids.u64")'
    note_of ids.u64
    [ "$note" = "gpuhist: note: reading ids.u64 as i32le; its name ends in .u64 (try -t u64)" ]
    cp ids.u64 a.i16be
    note_of a.i16be
    [ "$note" = "gpuhist: note: reading a.i16be as i32le; its name ends in .i16be (try -t i16be)" ]
    note_of ids.u64 -t u64
    [ -z "$note" ]
    for name in a.i32 a.i32le u64 a.u64x .u64/a 'a.u64 '; do
        mkdir -p .u64
        cp ids.u64 "$name"
        note_of "$name"
        [ -z "$note" ]
    done
}

@test "a note says that lines look like those of uniq -c, or like a histogram" {
    cd "$BATS_TEST_TMPDIR"
    printf '7\n7\n-8\n' | uniq -c >counted
    note_of counted
    [ "$note" = "gpuhist: note: reading every word of counted; its lines look like those of uniq -c, with the values in column 2 (-f 2) and their counts in column 1 (--weight 1)" ]
    note_of counted -f 2
    [ -z "$note" ]
    note_of counted --text
    [ -z "$note" ]
    printf '7\n7\n8\n' | gpuhist --bins 9 >histogram
    note_of histogram
    [ "$note" = "gpuhist: note: reading every word of histogram; its lines look like values and counts, with the values in column 1 (-f 1) and the counts in column 2 (--weight 2)" ]
    for text in '   1 7\n' '   1 7\n  2 8\n' '1 7\n2 8\n' '2\t7\n1\t8\n' '   1 7\n   1 8 9\n' \
        '   1 7\n\n   1 8\n' '  a 7\n  b 8\n' '7\n8\n' ' 7\n 8\n' ''; do
        printf '%b' "$text" >plain
        run --separate-stderr gpuhist count --all plain
        [[ $stderr != *note* ]]
    done
}
