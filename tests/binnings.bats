#!/usr/bin/env bats
# Kinds of bins: widths, powers, edges, against Python's integers.

load helpers

# bats test_tags=slow,later
@test "bins of i8 as Python counts" { compare_type binnings i8; }
@test "bins of u8 as Python counts" { compare_type binnings u8; }
# bats test_tags=slow,later
@test "bins of i16 as Python counts" { compare_type binnings i16; }
# bats test_tags=slow,later
@test "bins of u16be as Python counts" { compare_type binnings u16be; }
@test "bins of i32 as Python counts, with every instruction set" { compare_isas binnings i32; }
# bats test_tags=slow,later
@test "bins of u32 as Python counts" { compare_type binnings u32; }
# bats test_tags=slow,later
@test "bins of i64 as Python counts" { compare_type binnings i64; }
@test "bins of u64be as Python counts" { compare_type binnings u64be; }

# bats test_tags=slow,plain
@test "much input falls into the same bins as little" {
    cd "$BATS_TEST_TMPDIR"
    head -c 80000 /dev/urandom >little
    for _ in {1..100}; do cat little; done >much
    for type in i16 u16be i32 i64; do
        bits=${type//[^0-9]/}
        unit=$((1 << (bits - 16)))
        for ((edge = -32000; edge < 32000; edge += 71)); do echo $((edge * unit)); done >edges
        for options in '--edges @edges' --log10 "--range $((-9000 * unit)):$((9000 * unit)) --bins 999"; do
            # shellcheck disable=SC2086
            gpuhist --engine cpu -q -t "$type" $options little |
                awk '{ print $1, $2, $3 * 100 }' >wanted
            # shellcheck disable=SC2086
            gpuhist --engine cpu -q -t "$type" $options --threads 1 much |
                awk '{ print $1, $2, $3 }' | diff wanted - || return 1
            [ -s wanted ]
        done
    done
}

# bats test_tags=slow,plain
@test "much input falls into the bins of many edges as numpy counts" {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    cd "$BATS_TEST_TMPDIR"
    for type in i16 u16be i32 u32be i64 i64be u64; do
        "$PYTHON" "$srcdir/tests/edges.py" "$type"
        for kind in uniform near one skewed; do
            [ -s $kind.wanted ]
            for isa in avx512vbmi2 avx2 plain; do
                GPUHIST_ISA=$isa gpuhist --engine cpu --threads 1 -q --format raw --binary -t "$type" \
                    --edges @edges $kind >found
                cmp found $kind.wanted
            done
        done
    done
}

@test "the last bin of a range ends where the range does" {
    run -0 --separate-stderr gpuhist --range 0:10 --width 4 --zeros < <(int32 9 0 3 8)
    [ "$output" = $'0\t4\t2\n4\t8\t0\n8\t10\t2' ] && [ -z "$stderr" ]
}

@test "a bin as wide as the range is no wider" {
    run -0 gpuhist --text --range 54:55 --width 2 < <(echo 54)
    [ "$output" = $'54\t1' ]
    run -0 gpuhist --text --range 50:55 --width 20 < <(echo 54)
    [ "$output" = $'50\t55\t1' ]
}

@test "a range alone is divided by a round width" {
    run -0 gpuhist --text --range 0:1000 < <(printf '0\n19\n20\n999\n')
    [ "$output" = $'0\t20\t2\n20\t40\t1\n980\t1000\t1' ]
    run -0 gpuhist --text --range 3:67 < <(printf '3\n66\n')
    [ "$output" = $'3\t1\n66\t1' ]
}

@test "powers have bins below 1" {
    run -0 gpuhist --text --log2 < <(printf '%s\n' -4 -3 -2 -1 0 1 2 3 4)
    [ "$output" = $'-7\t-3\t1\n-3\t-1\t2\n-1\t0\t1\n0\t1\t1\n1\t2\t1\n2\t4\t2\n4\t8\t1' ]
    run -0 gpuhist --text --log10 < <(printf '%s\n' -10 -9 -1 0 1 9 10)
    [ "$output" = $'-99\t-9\t1\n-9\t0\t2\n0\t1\t1\n1\t10\t2\n10\t100\t1' ]
}

@test "edges have suffixes on the command line, and a sign in a file" {
    run -0 --separate-stderr gpuhist --text --edges=-1Ki,0,1K < <(printf '%s\n' -1024 -1 999)
    [ "$output" = $'-1024\t0\t2\n0\t1000\t1' ] && [ -z "$stderr" ]
    printf -- '-10 +10\n20,' >"$BATS_TEST_TMPDIR/edges"
    run -0 --separate-stderr gpuhist --text --edges "@$BATS_TEST_TMPDIR/edges" < <(printf '5\n10\n20\n')
    [ "$output" = $'-10\t10\t1\n10\t20\t1' ]
    [ "$stderr" = 'gpuhist: values out of range: 0 below, 1 above (try --outside)' ]
}

@test "values outside of edges are clamped, dropped or an error" {
    run -0 --separate-stderr gpuhist --text --edges 0,1,5 --outside clamp < <(printf '%s\n' -3 0 7 9)
    [ "$output" = $'0\t1\t2\n1\t5\t2' ] && [ -z "$stderr" ]
    run -0 --separate-stderr gpuhist --text --edges 0,1,5 --outside ignore < <(printf '%s\n' -3 0 7)
    [ "$output" = $'0\t1\t1' ] && [ -z "$stderr" ]
    run -1 --separate-stderr gpuhist --text --edges 0,1,5 --outside abort < <(printf '%s\n' 0 7)
    [ -z "$output" ] && [[ "$stderr" == *"value 7 is out of range"* ]]
}

# bats test_tags=later
@test "edges may be very many of which the type reaches few" {
    cd "$BATS_TEST_TMPDIR"
    { seq -4294967296 -4294442296; echo 0; echo 10; } >edges
    printf '%s\n' -5 3 9 20 >values
    for isa in avx512 avx2 plain; do
        GPUHIST_ISA=$isa run -0 --separate-stderr gpuhist --text -t i32 --edges @edges values
        [ "$output" = $'-4294442296\t0\t1\n0\t10\t2' ]
        [[ "$stderr" == *'0 below, 1 above'* ]]
        GPUHIST_ISA=$isa run -1 --separate-stderr gpuhist --text -t i32 --edges @edges \
            --outside abort values
        [ -z "$output" ] && [[ "$stderr" == *20* ]]
    done
}

@test "edges that make no bins are refused" {
    for edges in '' 5 5,5 5,4 0,9223372036854775809 1,x 1.5,2; do
        run -2 --separate-stderr gpuhist --edges "$edges" </dev/null
        [ -z "$output" ] && [[ "$stderr" == *--edges* ]]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
    done
    run -1 --separate-stderr gpuhist --edges @/nonexistent </dev/null
    [ -z "$output" ] && [[ "$stderr" == *nonexistent* ]]
    printf '1\nx\n' >"$BATS_TEST_TMPDIR/edges"
    run -1 --separate-stderr gpuhist --edges "@$BATS_TEST_TMPDIR/edges" </dev/null
    [ "$stderr" = "gpuhist: $BATS_TEST_TMPDIR/edges:2: invalid integer 'x'" ]
    run -2 --separate-stderr gpuhist --edges @- </dev/null
    [[ "$stderr" == *"standard input is already used for something else"* ]]
}

@test "widths that make no bins are refused" {
    for width in 0 -1 x 1.5 ''; do
        run -2 --separate-stderr gpuhist --range 0:10 --width "$width" </dev/null
        [ -z "$output" ] && [[ "$stderr" == *--width* ]]
    done
    run -2 --separate-stderr gpuhist -t i64 --range 0:1P -w 1 </dev/null
    [[ "$stderr" == *"too many bins"* ]]
}

@test "bins are said in one way" {
    for options in '--bins 3 --width 2' '--log2 --log10' '--edges 1,2 --bins 1' '--log2 --range 0:5' \
        '--edges 1,2 --range 0:5' '--log10 --width 3'; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr gpuhist $options </dev/null
        [ -z "$output" ] && [ "$(wc -l <<<"$stderr")" -eq 1 ]
    done
}

@test "--width of 2^64 and more: one bin of any range, as --bins 1; alone it is an error that says so" {
    local width
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 18446744073709551615 0 7 >unsigned
    printf '%s\n' 9223372036854775807 -9223372036854775808 >signed
    for width in 18446744073709551616 99999999999999999999999; do
        for engine in $ENGINES; do
            gpuhist --width $width -t u64 --range 0:18446744073709551616 --engine "$engine" --save a unsigned >out
            [ "$(cat out)" = $'0\t18446744073709551616\t3' ]
            gpuhist --bins 1 -t u64 --range 0:18446744073709551616 --save b unsigned | cmp out -
            cmp a b
            [ "$(gpuhist --width $width --range -9223372036854775808:9223372036854775808 --engine "$engine" signed)" = \
                $'-9223372036854775808\t9223372036854775808\t2' ]
        done
        run -2 --separate-stderr gpuhist --width $width unsigned
        [ "$stderr" = "gpuhist: --width $width without --range must be below 2^64 (try gpuhist histogram --help)" ]
    done
}

@test "--range auto: bins from the least value to the greatest, as Python counts" {
    cd "$BATS_TEST_TMPDIR"
    command -v python3 >/dev/null || skip "no python3"
    # shellcheck disable=SC2086
    "${PYTHON:-python3}" "$srcdir/tests/range_auto.py" "$GPUHIST" 1 60 $ENGINES
}

@test "--range auto: ten bins of all, one value, the ends of 64 bits, and no values" {
    cd "$BATS_TEST_TMPDIR"
    run -0 --separate-stderr gpuhist --range auto --bins 10 < <(seq 5 104)
    [ "$output" = "$(for ((low = 5; low < 100; low += 10)); do printf '%d\t%d\t10\n' $low $((low + 10)); done)" ]
    [ -z "$stderr" ]
    [ "$(gpuhist --range auto --bins 10 < <(printf '7\n7\n'))" = $'7\t2' ]
    [ "$(gpuhist --range auto --bins 10 < <(printf '7\n9\n'))" = $'7\t1\n9\t1' ]
    [ "$(gpuhist --range auto --bins 10 --zeros < <(printf '7\n9\n'))" = $'7\t1\n8\t0\n9\t1' ]
    printf '%s\n' 9223372036854775807 -9223372036854775808 0 >in
    [ "$(gpuhist --range auto --bins 2 in)" = \
        $'-9223372036854775808\t0\t1\n0\t9223372036854775808\t2' ]
    [ "$(gpuhist --range auto --bins 1 in)" = $'-9223372036854775808\t9223372036854775808\t3' ]
    printf '%s\n' 18446744073709551615 0 1 >in
    [ "$(gpuhist -t u64 --range auto --bins 2 in)" = \
        $'0\t9223372036854775808\t2\n9223372036854775808\t18446744073709551616\t1' ]
    for format in tsv csv json jsonl raw npy svg gnuplot; do
        gpuhist --range auto --bins 3 --format $format </dev/null >none
    done
    [ "$(gpuhist --range auto --bins 3 --zeros --format csv </dev/null)" = value,count ]
    run --separate-stderr gpuhist --range auto --bins 3 --quantiles 50 </dev/null
    assert_failed 1 "no values were counted"
}

@test "--range auto: pictures, and results so far, are those of the range that is typed" {
    cd "$BATS_TEST_TMPDIR"
    seq 1 3000 | awk '{ print $1 % 24, $1 * $1 % 977 }' >in # from 0 to 976
    local options
    for options in --plot "--format svg" "--format gnuplot" "--format npy" "--format json --quantiles 1,99" \
        "--sort count --percent --cumulative" "--by 1 --format svg" "--by 1 --plot"; do
        # shellcheck disable=SC2086
        {
            gpuhist -f 2 --bins 9 --range 0:977 $options in >expected
            gpuhist -f 2 --bins 9 --range auto $options in | cmp expected -
            gpuhist -f 2 --bins 9 --range auto --outside abort $options < <(cat in) | cmp expected -
        }
    done
    gpuhist -f 2 --bins 9 --range 0:977 in >expected
    { head -n 99 in; sleep 0.2; tail -n +100 in; } | gpuhist -f 2 --bins 9 --range auto --every 30ms >so_far
    tail -n 9 so_far | cmp expected -
    [ "$(grep -c '^$' so_far)" -ge 1 ]
    # groups have separate ranges, except in a heat map; with --where, only matching rows count
    gpuhist -f 2 --bins 4 --range auto --where '1=5' in >expected
    gpuhist -f 2 --bins 4 --range auto --by 1 in | awk '$1 == 5' | cut -f 2- | cmp expected -
}

@test "--range auto: what it does not go with, and where it is named" {
    run --separate-stderr gpuhist --range auto
    assert_failed 2 "--range auto requires --bins N (try --width W, which bins all values)"
    run --separate-stderr gpuhist --range auto --width 5
    assert_failed 2 "--range auto requires --bins N"
    run --separate-stderr gpuhist --range auto --log2
    assert_failed 2 "--range can only be combined with --bins or --width"
    run --separate-stderr gpuhist --range auto --bins 5G
    assert_failed 2 "--bins is too large"
    run --separate-stderr gpuhist --range automatic --bins 5
    assert_failed 2 "invalid --range 'automatic': expected auto, or LO:HI"
    run --separate-stderr gpuhist --range auto --bins 5 -f 1:text
    assert_failed 2 "histogram cannot be used with strings"
    run -0 --separate-stderr gpuhist --bins 10 < <(seq 100)
    [ "$stderr" = "gpuhist: values out of range: 0 below, 91 above (try --range auto)" ]
    run -0 --separate-stderr gpuhist --bins 10 --range 1:11 < <(seq 100)
    [ "$stderr" = "gpuhist: values out of range: 0 below, 90 above (try --outside)" ]
    run -0 --separate-stderr gpuhist --bins 10 -f 1 --by 1 < <(seq 20)
    [ "$stderr" = "gpuhist: values out of range: 0 below, 11 above (try --range auto)" ]
    run -0 --separate-stderr gpuhist --bins 10 --range auto --save "$BATS_TEST_TMPDIR/a" < <(seq 20)
    run -0 --separate-stderr gpuhist --bins 11 --range auto --save "$BATS_TEST_TMPDIR/b" < <(seq 20)
    run --separate-stderr gpuhist merge "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
    assert_failed 1 "--bins=11, not --bins=10"
}
