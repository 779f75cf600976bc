#!/usr/bin/env bats
# Operation reduce: each value against Python's integers and decimals, datamash and awk.

load helpers

all=$'count\t3\nsum\t1\nmin\t-2\nmax\t2\nmean\t0.33333333333333333\nvariance\t2.8888888888888889
stddev\t1.6996731711975949\nand\t0\nor\t-1\nxor\t-3'

@test "no values: count and sum are 0, and others do not exist, of every type and engine" {
    for engine in $ENGINES; do
        for type in i8 u8 i16 u16 i32 u32 i64 u64; do
            run -0 --separate-stderr gpuhist reduce count,sum,distinct -t $type --invalid ignore --engine "$engine" <<<x
            [ "$output" = $'count\t0\nsum\t0\ndistinct\t0' ]
            run --separate-stderr gpuhist reduce min,max,and,or,xor -t $type --invalid ignore --engine "$engine" <<<x
            # shellcheck disable=SC2154
            [ "$status" -eq 1 ] && [ -z "$output" ] && [[ $stderr == *"cannot compute min, max, and, or, xor: empty input" ]]
        done
    done
}

# bats test_tags=slow,later
@test "i8 is reduced as Python's integers are" { compare_type reduce i8; }
@test "u8 is reduced as Python's integers are" { compare_type reduce u8; }
# bats test_tags=slow,later
@test "i16 is reduced as Python's integers are" { compare_type reduce i16; }
@test "i16be is reduced as Python's integers are" { compare_type reduce i16be; }
# bats test_tags=slow,later
@test "u16 is reduced as Python's integers are" { compare_type reduce u16; }
# bats test_tags=slow,later
@test "u16be is reduced as Python's integers are" { compare_type reduce u16be; }
@test "i32 is reduced as Python's integers are" { compare_type reduce i32; }
# bats test_tags=slow,later
@test "i32be is reduced as Python's integers are" { compare_type reduce i32be; }
# bats test_tags=slow,later
@test "u32 is reduced as Python's integers are" { compare_type reduce u32; }
# bats test_tags=slow,later
@test "u32be is reduced as Python's integers are" { compare_type reduce u32be; }
# bats test_tags=slow,later
@test "i64 is reduced as Python's integers are" { compare_type reduce i64; }
# bats test_tags=slow,later
@test "i64be is reduced as Python's integers are" { compare_type reduce i64be; }
@test "u64 is reduced as Python's integers are" { compare_type reduce u64; }
@test "u64be is reduced as Python's integers are" { compare_type reduce u64be; }

@test "all reductions, a line each, where none is named" {
    for engine in $ENGINES; do
        int32 -2 1 2 | gpuhist reduce --engine "$engine" >"$BATS_TEST_TMPDIR/out"
        printf '%s\n' "$all" | cmp - "$BATS_TEST_TMPDIR/out"
    done
}

@test "those named, in their order; one alone without its name" {
    int32 -2 1 2 >"$BATS_TEST_TMPDIR/in"
    run -0 gpuhist reduce max,count,mean "$BATS_TEST_TMPDIR/in"
    [ "$output" = $'max\t2\ncount\t3\nmean\t0.33333333333333333' ]
    run -0 gpuhist reduce sum <"$BATS_TEST_TMPDIR/in"
    [ "$output" = 1 ]
    run -0 gpuhist reduce avg <"$BATS_TEST_TMPDIR/in"
    [ "$output" = 0.33333333333333333 ]
    run -0 gpuhist reduce max,avg <"$BATS_TEST_TMPDIR/in"
    [ "$output" = $'max\t2\nmean\t0.33333333333333333' ]
    run --separate-stderr gpuhist reduce mean,avg <"$BATS_TEST_TMPDIR/in"
    assert_failed 2 "duplicate reduction in 'mean,avg'"
    run -0 gpuhist reduce --engine cpu "$BATS_TEST_TMPDIR/in" - < <(int32 -2 1 2)
    [ "${lines[0]}" = $'count\t6' ]
}

@test "the first operand is a list only if every part of it is a reduction; ./ hides a file" {
    cd "$BATS_TEST_TMPDIR"
    int32 5 >sum
    int32 7 7 >sum,max,
    int32 9 >sum,nothing
    run -0 gpuhist reduce sum ./sum
    [ "$output" = 5 ]
    run -0 gpuhist reduce sum sum
    [ "$output" = 5 ]
    run -0 gpuhist reduce ./sum --engine cpu
    [ "${lines[1]}" = $'sum\t5' ]
    run -0 gpuhist reduce sum,max, sum,nothing
    [ "${lines[1]}" = $'sum\t23' ]
    run -0 gpuhist reduce -- max sum
    [ "$output" = 5 ]
    run -0 gpuhist reduce --threads 1 count sum sum
    [ "$output" = 2 ]
}

@test "blanks may stand around the commas of a list" {
    local list
    for list in 'sum, mean,max' ' sum ,mean , max '; do
        run -0 --separate-stderr gpuhist reduce "$list" < <(seq 4)
        [ "$output" = $'sum\t10\nmean\t2.5\nmax\t4' ]
        [ -z "$stderr" ]
    done
}

@test "a reduction named twice, and an option of another operation, are usage errors" {
    run --separate-stderr gpuhist reduce sum,max,sum
    assert_failed 2 "duplicate reduction in 'sum,max,sum'"
    run --separate-stderr gpuhist reduce sum --bins 5
    assert_failed 2 "--bins cannot be used with reduce"
    run --separate-stderr gpuhist reduce --zeros
    assert_failed 2 "--zeros cannot be used with reduce"
    run --separate-stderr gpuhist reduce sum,Max
    assert_failed 2 "unknown reduction 'Max': did you mean 'max'? (try gpuhist reduce --help)"
    run --separate-stderr gpuhist reduce maen
    assert_failed 2 "unknown reduction 'maen': did you mean 'mean'?"
    run --separate-stderr gpuhist reduce average
    assert_failed 2 "unknown reduction 'average' (try mean)"
    run --separate-stderr gpuhist reduce std,total
    assert_failed 2 "unknown reduction 'std' (try stddev, or sstdev of a sample)"
    run --separate-stderr gpuhist reduce ,sum,
    assert_failed 2 "unknown reduction '' (try"
    run --separate-stderr gpuhist reduce sum,kurtosis
    assert_failed 2 "unknown reduction 'kurtosis' (try"
    run --separate-stderr gpuhist reduce kurtosis
    assert_failed 2 "unknown reduction or file 'kurtosis'"
    run --separate-stderr gpuhist reduce ./sum # always a file, existing or not
    assert_failed 1 "./sum: No such file or directory"
}

@test "an empty stream has a count and a sum; of more, nothing but the error is printed" {
    for engine in $ENGINES; do
        run -0 --separate-stderr gpuhist reduce count,sum --engine "$engine" </dev/null
        [ "$output" = $'count\t0\nsum\t0' ] && [ -z "$stderr" ]
        for format in tsv csv json jsonl; do
            echo kept >"$BATS_TEST_TMPDIR/out"
            run -1 gpuhist reduce count,mean --format $format -o "$BATS_TEST_TMPDIR/out" --engine "$engine" </dev/null
            [ "$output" = "gpuhist: cannot compute mean: empty input" ]
            [ "$(cat "$BATS_TEST_TMPDIR/out")" = kept ]
        done
        run --separate-stderr gpuhist reduce count,svar --engine "$engine" < <(int32 7)
        assert_failed 1 "cannot compute svar: there is only one value"
        run --separate-stderr gpuhist reduce --engine "$engine" </dev/null
        [ "$status" -eq 1 ] && [ -z "$output" ]
        [ "$stderr" = "gpuhist: cannot compute min, max, mean, variance, stddev,\
 and, or, xor: empty input" ]
        run --separate-stderr gpuhist reduce max --engine "$engine" </dev/null
        assert_failed 1 "cannot compute max: empty input"
        run -0 --separate-stderr gpuhist reduce sum,count --engine "$engine" </dev/null
        [ "$output" = $'sum\t0\ncount\t0' ] && [ -z "$stderr" ]
    done
    run -0 --separate-stderr gpuhist reduce sum </dev/null
    [ "$output" = 0 ] && [ -z "$stderr" ]
}

@test "nothing is printed of bad input" {
    run --separate-stderr bash -c 'printf 12345 | "$GPUHIST" reduce --binary'
    assert_failed 1 "1 byte left after the last"
}

@test "small numbers as datamash reduces them" {
    command -v datamash >/dev/null || skip "no datamash"
    local in=$BATS_TEST_TMPDIR/in
    random_file "$in" '<i2' -1000 1000 1024 # 2^10, so that the variance is short
    od -An -v -w2 -td2 "$in" | tr -d ' ' |
        LC_ALL=C datamash -R 9 count 1 sum 1 min 1 max 1 mean 1 pvar 1 pstdev 1 |
        tr '\t' '\n' >"$BATS_TEST_TMPDIR/expected"
    for engine in $ENGINES; do
        gpuhist reduce count,sum,min,max,mean,variance,stddev -t i16 --engine "$engine" "$in" |
            awk -F'\t' '{ printf "%.9f\n", $2 }' |
            cmp "$BATS_TEST_TMPDIR/expected" -
    done
}

@test "small numbers as awk adds them, and od sees them" {
    local in=$BATS_TEST_TMPDIR/in
    random_file "$in" '>u4' 0 4294967296 50000
    od --endian=big -An -v -w4 -tu4 "$in" | awk '
        NR == 1 { min = max = $1 + 0 }
        { sum += $1; if ($1 < min) min = $1 + 0; if ($1 > max) max = $1 + 0 }
        END { printf "%d\n%.0f\n%.0f\n%.0f\n", NR, sum, min, max }' >"$BATS_TEST_TMPDIR/expected"
    for engine in $ENGINES; do
        gpuhist reduce count,sum,min,max -t u32be --engine "$engine" "$in" | cut -f2 |
            cmp "$BATS_TEST_TMPDIR/expected" -
    done
}

@test "tiny chunks cut nothing wrong, through pipe and file" {
    local in=$BATS_TEST_TMPDIR/in
    random_file "$in" '<i2' -30000 30000 4099
    numpy 'a = np.fromfile(sys.argv[1], "<i2").astype(int)
print(len(a), a.sum(), a.min(), a.max(), np.bitwise_xor.reduce(a), sep="\n")' "$in" \
        >"$BATS_TEST_TMPDIR/expected"
    for engine in $ENGINES; do
        for chunk in 8 9 13 1021; do
            gpuhist reduce count,sum,min,max,xor -t i16 --engine "$engine" --chunk-size "$chunk" \
                --threads 5 "$in" | cut -f2 | cmp "$BATS_TEST_TMPDIR/expected" -
            # shellcheck disable=SC2002
            cat "$in" | gpuhist reduce count,sum,min,max,xor -t i16 --engine "$engine" \
                --chunk-size "$chunk" --threads 3 | cut -f2 | cmp "$BATS_TEST_TMPDIR/expected" -
        done
    done
}

# bats test_tags=slow
@test "every length from 0 to 70 bytes, so that every tail is met" {
    local in=$BATS_TEST_TMPDIR/in length
    random_file "$in" '<u1' 0 256 70
    for ((length = 1; length <= 70; length++)); do
        head -c "$length" "$in" | od -An -v -w1 -tu1 | awk '
            NR == 1 { min = max = $1 + 0 }
            { sum += $1; if ($1 < min) min = $1 + 0; if ($1 > max) max = $1 + 0 }
            END { printf "%d\n%.0f\n%.0f\n%.0f\n", NR, sum, min, max }' >"$BATS_TEST_TMPDIR/expected"
        head -c "$length" "$in" | gpuhist reduce count,sum,min,max -t u8 --engine cpu | cut -f2 |
            cmp "$BATS_TEST_TMPDIR/expected" -
    done
}

@test "every instruction set gives the same bytes" {
    local in=$BATS_TEST_TMPDIR/in type isa
    random_file "$in" '<i8' -9223372036854775808 9223372036854775807 70001
    for type in i8 u8 i16 u16be i32 u32be i64 u64 i64be; do
        for isa in avx512vbmi2 avx512 avx2 plain; do
            GPUHIST_ISA=$isa gpuhist reduce -t $type --engine cpu "$in" >"$BATS_TEST_TMPDIR/$isa"
        done
        cmp "$BATS_TEST_TMPDIR/avx512" "$BATS_TEST_TMPDIR/avx2"
        cmp "$BATS_TEST_TMPDIR/avx512" "$BATS_TEST_TMPDIR/plain"
    done
}

@test "large chunks on the GPU are what the CPU makes of them" {
    skip_without_gpu
    local in=$BATS_TEST_TMPDIR/in type
    random_file "$in" '<i8' -9223372036854775808 9223372036854775807 12000003
    for type in i8 u8 i16 u16be i32 u32be i64 u64; do
        for engine in cuda cpu; do
            gpuhist reduce -t $type --engine $engine --chunk-size 1G --threads 2 "$in" \
                >"$BATS_TEST_TMPDIR/$engine"
        done
        cmp "$BATS_TEST_TMPDIR/cuda" "$BATS_TEST_TMPDIR/cpu"
    done
}

@test "the result goes to the file that -o names" {
    cd "$BATS_TEST_TMPDIR"
    int32 4 6 >in
    run -0 gpuhist reduce mean -o out in
    [ -z "$output" ] && [ "$(cat out)" = 5 ]
}

@test "json and csv: one object, a header and one line" {
    int32 -2 1 2 >"$BATS_TEST_TMPDIR/in"
    run -0 gpuhist reduce --format csv "$BATS_TEST_TMPDIR/in"
    [ "$output" = "$(cut -f 1 <<<"$all" | paste -sd ,)"$'\n'"$(cut -f 2 <<<"$all" | paste -sd ,)" ]
    run -0 gpuhist reduce --format json "$BATS_TEST_TMPDIR/in"
    # shellcheck disable=SC2001
    [ "$output" = "{\"operation\":\"reduce\",$(sed 's/\(.*\)\t/"\1":/' <<<"$all" | paste -sd ,)}" ]
    run -0 gpuhist reduce sum --format csv "$BATS_TEST_TMPDIR/in"
    [ "$output" = $'sum\n1' ]
    run -0 gpuhist reduce sum --format json "$BATS_TEST_TMPDIR/in"
    [ "$output" = '{"operation":"reduce","sum":1}' ]
    run -0 gpuhist reduce sum --format tsv "$BATS_TEST_TMPDIR/in"
    [ "$output" = 1 ]
    # exact beyond the precision of floating point
    run -0 gpuhist reduce sum,max -t u64 --format json < <(printf '\377%.0s' {1..16})
    [ "$output" = '{"operation":"reduce","sum":36893488147419103230,"max":18446744073709551615}' ]
    # reductions without a value
    printf '1 1\n2 1\n2 3\n' >"$BATS_TEST_TMPDIR/groups"
    run -0 --separate-stderr gpuhist reduce count,svar,sum -f 2 --by 1 --format json "$BATS_TEST_TMPDIR/groups"
    [ "$output" = '{"operation":"reduce","groups":[
{"by":1,"count":1,"svar":null,"sum":1},
{"by":2,"count":2,"svar":2,"sum":4}]}' ]
    run -0 --separate-stderr gpuhist reduce count,svar,sum -f 2 --by 1 --format csv "$BATS_TEST_TMPDIR/groups"
    [ "$output" = $'by,count,svar,sum\n1,1,,1\n2,2,2,4' ]
    for format in raw gnuplot svg; do
        run --separate-stderr gpuhist reduce --format $format </dev/null
        assert_failed 2 "--format $format cannot be combined with reduce (try tsv, csv, json, jsonl, markdown, html"
    done
    run --separate-stderr gpuhist stalin-sort --format json </dev/null
    assert_failed 2 "--format cannot be used with stalin-sort"
}
