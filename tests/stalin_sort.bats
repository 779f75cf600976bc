#!/usr/bin/env bats
# Operation stalin-sort: the kept values, their order and time, against its definition in Python
# and awk.

load helpers

# values [FILE]: prints little-endian int32 as numbers on one line.
values() {
    od -An -v -w4 -td4 "$@" | xargs
}

@test "elements that are less than one before them are purged" {
    for engine in $ENGINES; do
        run -0 --separate-stderr bash -c '"$GPUHIST" stalin-sort --engine "$1" >"$2"' - "$engine" \
            "$BATS_TEST_TMPDIR/out" < <(int32 1 4 2 4 3 9 5 -7 9 10)
        [ -z "$stderr" ]
        int32 1 4 4 9 9 10 | cmp - "$BATS_TEST_TMPDIR/out"
    done
}

@test "stalin is short for it" {
    int32 5 1 7 >"$BATS_TEST_TMPDIR/in"
    gpuhist stalin "$BATS_TEST_TMPDIR/in" | cmp - <(int32 5 7)
}

@test "--strict purges equal elements, too" {
    int32 1 4 2 4 3 9 5 -7 9 10 >"$BATS_TEST_TMPDIR/in"
    gpuhist stalin-sort --strict "$BATS_TEST_TMPDIR/in" | cmp - <(int32 1 4 9 10)
}

@test "--descending purges what is greater" {
    int32 9 10 9 3 5 3 -1 4 >"$BATS_TEST_TMPDIR/in"
    gpuhist stalin-sort --descending "$BATS_TEST_TMPDIR/in" | cmp - <(int32 9 9 3 3 -1)
    gpuhist stalin-sort --descending --strict "$BATS_TEST_TMPDIR/in" | cmp - <(int32 9 3 -1)
}

@test "--purged gets the others in order, --stats tells how many" {
    int32 1 4 2 4 3 9 5 -7 9 10 >"$BATS_TEST_TMPDIR/in"
    export THREADS
    for engine in $ENGINES; do for THREADS in 1 2 16; do
        run -0 --separate-stderr gpuhist stalin-sort --purged "$BATS_TEST_TMPDIR/purged" --stats \
            --engine "$engine" -o "$BATS_TEST_TMPDIR/kept" --chunk-size 8 "$BATS_TEST_TMPDIR/in"
        [ -z "$output" ]
        int32 1 4 4 9 9 10 | cmp - "$BATS_TEST_TMPDIR/kept"
        int32 2 3 5 -7 | cmp - "$BATS_TEST_TMPDIR/purged"
        [ "${stderr_lines[-1]}" = "gpuhist: kept 6, dropped 4" ]
    done; done
}

@test "numbers that are written as they were read, of the rows that meet --where" {
    cd "$BATS_TEST_TMPDIR"
    printf '1.50 7\n9 8\n1.250 7\n2.5 7\nx 8\n' >in
    run -0 gpuhist stalin-sort -f 1:.2 --where 2=7 in
    [ "$output" = $'1.50\n2.5' ]
    printf '0x1f 7\n0xff 8\n1e 7\n0x20 7\n' >in
    run -0 gpuhist stalin-sort -f 1:hex --where 2=7 --purged purged in
    [[ "$output" = $'0x1f\n0x20' && "$(cat purged)" = 1e ]]
}

@test "--purged can be standard output, if the survivors go elsewhere" {
    int32 3 1 2 4 >"$BATS_TEST_TMPDIR/in"
    gpuhist stalin-sort --purged - -o "$BATS_TEST_TMPDIR/kept" "$BATS_TEST_TMPDIR/in" |
        cmp - <(int32 1 2)
    int32 3 4 | cmp - "$BATS_TEST_TMPDIR/kept"
    run --separate-stderr gpuhist stalin-sort --purged - "$BATS_TEST_TMPDIR/in"
    assert_failed 2 "cannot both go to '-'"
    cd "$BATS_TEST_TMPDIR"
    ln -s kept link
    for names in 'x x' 'x ./x' "kept $PWD/kept" 'link kept'; do
        run --separate-stderr gpuhist stalin-sort -o "${names% *}" --purged "${names#* }" in
        assert_failed 2 "cannot both go to '${names#* }'"
    done
    gpuhist stalin-sort -o /dev/null --purged /dev/null in
}

@test "awk purges the same" {
    local in=$BATS_TEST_TMPDIR/in engine
    random_file "$in" '<i4' -1000000 1000000 200000
    od -An -v -w4 -td4 "$in" | awk 'NR == 1 || $1 >= last { print $1; last = $1 }' \
        >"$BATS_TEST_TMPDIR/expected"
    for engine in $ENGINES; do
        gpuhist stalin-sort --engine "$engine" "$in" | od -An -v -w4 -td4 | tr -d ' ' |
            cmp "$BATS_TEST_TMPDIR/expected" -
    done
}

# bats test_tags=slow,later
@test "i8 by the definition, with every instruction set" { compare_isas stalin_sort i8; }
@test "u8 by the definition, with every instruction set" { compare_isas stalin_sort u8; }
# bats test_tags=slow,later
@test "i16 by the definition, with every instruction set" { compare_isas stalin_sort i16; }
@test "i16be by the definition, on every engine" { compare_type stalin_sort i16be; }
# bats test_tags=slow,later
@test "u16 by the definition, with every instruction set" { compare_isas stalin_sort u16; }
@test "i32 by the definition, with every instruction set" { compare_isas stalin_sort i32; }
# bats test_tags=slow,later
@test "i32be by the definition, on every engine" { compare_type stalin_sort i32be; }
# bats test_tags=slow,later
@test "u32 by the definition, with every instruction set" { compare_isas stalin_sort u32; }
# bats test_tags=slow,later
@test "i64 by the definition, with every instruction set" { compare_isas stalin_sort i64; }
@test "u64 by the definition, with every instruction set" { compare_isas stalin_sort u64; }
@test "u64be by the definition, on every engine" { compare_type stalin_sort u64be; }

# bats test_tags=slow
@test "a long sorted stream passes whole, a long reversed one leaves its first" {
    local engine
    numpy 'a = np.sort(np.random.default_rng(4).integers(0, 2**31, 6000000, dtype="<i4"))
a.tofile(sys.argv[1]); a[::-1].tofile(sys.argv[2])' "$BATS_TEST_TMPDIR/up" "$BATS_TEST_TMPDIR/down"
    for engine in $ENGINES; do
        # shellcheck disable=SC2002
        cat "$BATS_TEST_TMPDIR/up" | gpuhist stalin-sort --engine "$engine" |
            cmp "$BATS_TEST_TMPDIR/up" -
        gpuhist stalin-sort --engine "$engine" --threads 16 "$BATS_TEST_TMPDIR/up" |
            cmp "$BATS_TEST_TMPDIR/up" -
        gpuhist stalin-sort --engine "$engine" --purged "$BATS_TEST_TMPDIR/purged" \
            --descending "$BATS_TEST_TMPDIR/down" | cmp "$BATS_TEST_TMPDIR/down" -
        [ ! -s "$BATS_TEST_TMPDIR/purged" ]
        gpuhist stalin-sort --engine "$engine" --strict --purged "$BATS_TEST_TMPDIR/purged" \
            "$BATS_TEST_TMPDIR/down" | cmp - <(head -c 4 "$BATS_TEST_TMPDIR/down")
        tail -c +5 "$BATS_TEST_TMPDIR/down" | cmp - "$BATS_TEST_TMPDIR/purged"
    done
}

# bats test_tags=later
@test "a slow reader gets everything, in order" {
    numpy 'np.arange(3000000, dtype="<i4").tofile(sys.argv[1])' "$BATS_TEST_TMPDIR/in"
    for engine in $ENGINES; do
        gpuhist stalin-sort --engine "$engine" --threads 8 --chunk-size 64K "$BATS_TEST_TMPDIR/in" |
            { sleep 0.5; cat; } | cmp "$BATS_TEST_TMPDIR/in" -
    done
}

@test "survivors of a slow pipe appear while it is open" {
    local engine
    for engine in $ENGINES; do
        rm -f "$BATS_TEST_TMPDIR/fifo"
        mkfifo "$BATS_TEST_TMPDIR/fifo"
        gpuhist stalin-sort --engine "$engine" --threads 3 <"$BATS_TEST_TMPDIR/fifo" \
            >"$BATS_TEST_TMPDIR/out" 3>&- &
        exec 5>"$BATS_TEST_TMPDIR/fifo"
        local expected=''
        for value in 3 1 7 5 8; do
            int32 "$value" >&5
            if [ "$value" != 1 ] && [ "$value" != 5 ]; then
                expected+="${expected:+ }$value"
                for ((i = 0; i < 300; i++)); do
                    [ "$(values "$BATS_TEST_TMPDIR/out")" != "$expected" ] || break
                    sleep 0.1
                done
            fi
            [ "$(values "$BATS_TEST_TMPDIR/out")" = "$expected" ]
        done
        exec 5>&-
        wait $!
    done
}

@test "survivors of what came before a fault are printed, and nothing after it" {
    local engine
    { int32 1 5 3 7; printf 'ab'; } >"$BATS_TEST_TMPDIR/in"
    for engine in $ENGINES; do
        run -1 bash -c '"$GPUHIST" stalin-sort --engine "$1" "$2" >"$3"' - "$engine" \
            "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/out"
        [ "$output" = "gpuhist: $BATS_TEST_TMPDIR/in: truncated input: 2 bytes left after the last 4-byte element" ]
        int32 1 5 7 | cmp - "$BATS_TEST_TMPDIR/out"
    done
}

@test "a fault in a second file: the first one's survivors are printed" {
    local engine size
    numpy 'np.arange(100000, dtype="<i4").tofile(sys.argv[1])' "$BATS_TEST_TMPDIR/a"
    { cat "$BATS_TEST_TMPDIR/a"; printf 'abc'; } >"$BATS_TEST_TMPDIR/b"
    for engine in $ENGINES; do
        for size in 1000 64K 1M; do
            run -1 bash -c '"$GPUHIST" stalin-sort --engine "$1" --chunk-size "$4" --threads 4 \
                "$2" >"$3"' - "$engine" "$BATS_TEST_TMPDIR/b" "$BATS_TEST_TMPDIR/out" "$size"
            cmp "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/out"
        done
    done
}

@test "-o and --purged are left as they were if the input is bad" {
    { int32 1 5; printf 'a'; } >"$BATS_TEST_TMPDIR/in"
    echo old >"$BATS_TEST_TMPDIR/kept"
    for THREADS in 1 2 16; do
        run -1 gpuhist stalin-sort -o "$BATS_TEST_TMPDIR/kept" --purged "$BATS_TEST_TMPDIR/purged" \
            --chunk-size 8 "$BATS_TEST_TMPDIR/in"
        [ "$(cat "$BATS_TEST_TMPDIR/kept")" = old ]
        [ ! -e "$BATS_TEST_TMPDIR/purged" ]
    done
}

@test "a full disk stops it, though the input goes on" {
    [ -c /dev/full ] || skip "no /dev/full"
    local engine
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    for engine in $ENGINES; do
        { int32 1; sleep 100; } >"$BATS_TEST_TMPDIR/fifo" 3>&- &
        run -1 timeout 60 bash -c '"$GPUHIST" stalin-sort --engine "$1" "$2" >/dev/full' - \
            "$engine" "$BATS_TEST_TMPDIR/fifo"
        kill $! 2>/dev/null || true
        [ "$output" = "gpuhist: cannot write standard output: No space left on device" ]
        run -1 bash -c 'seq 1000000 | "$GPUHIST" stalin-sort --binary --engine "$1" >/dev/full' - "$engine"
        run -1 bash -c 'seq 1000000 | "$GPUHIST" stalin-sort --binary --engine "$1" --purged /dev/full' \
            - "$engine"
    done
}

@test "a reader that goes away stops it" {
    local engine
    for engine in $ENGINES; do
        run -0 timeout 60 bash -c '"$GPUHIST" stalin-sort -t u8 --engine "$1" /dev/zero |
            head -c 100 | od -An -v -tu1 | wc -w; [ "${PIPESTATUS[0]}" -eq 141 ]' - "$engine"
        [ "$output" -eq 100 ]
        run -0 timeout 60 bash -c 'trap "" PIPE; "$GPUHIST" stalin-sort -t u8 --engine "$1" /dev/zero |
            head -c 100 >/dev/null; [ "${PIPESTATUS[0]}" -eq 1 ]' - "$engine"
        [ "$output" = "gpuhist: cannot write standard output: Broken pipe" ]
    done
}

# bats test_tags=later
@test "memory stays bounded while the reader is slower" {
    skip_under_asan
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    "$GPUHIST" stalin-sort --engine cpu --threads 8 -t u8 /dev/zero >"$BATS_TEST_TMPDIR/fifo" \
        2>/dev/null 3>&- &
    local pid=$!
    exec 5<"$BATS_TEST_TMPDIR/fifo"
    head -c 100000000 <&5 >/dev/null
    sleep 0.5
    local peak
    peak=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status")
    exec 5<&-
    wait "$pid" || true
    [ "$peak" -lt 100000 ]
}

@test "options of other operations are refused" {
    run --separate-stderr gpuhist stalin-sort --bins 5
    assert_failed 2 "--bins cannot be used with stalin-sort"
    run --separate-stderr gpuhist --strict --bins 5
    assert_failed 2 "--strict cannot be used with histogram"
    run --separate-stderr gpuhist stalin-sort --purged=
    assert_failed 2 "invalid --purged ''"
    run --separate-stderr gpuhist stalin-sort --purged /nonexistent/x </dev/null
    assert_failed 1 "cannot write /nonexistent/x"
}
