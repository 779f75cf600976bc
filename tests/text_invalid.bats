#!/usr/bin/env bats
# The option --invalid, and the line of each report, wherever chunks are cut. The oracle is
# awk.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "--invalid: abort, fail, warn, ignore" {
    printf '1\nx\n3\n\ny 5\n' >in
    for engine in $ENGINES; do
        run --separate-stderr gpuhist reduce sum --engine "$engine" --invalid=abort in
        assert_failed 1 "in:2: invalid integer 'x'"
        run --separate-stderr gpuhist reduce sum --engine "$engine" --invalid=fail in
        [ "$status" -eq 1 ] && [ "$output" = 9 ]
        [ "${stderr_lines[0]}" = "gpuhist: in:2: invalid integer 'x'" ]
        [ "${stderr_lines[1]}" = "gpuhist: in:5: invalid integer 'y'" ]
        run -0 --separate-stderr gpuhist reduce sum --engine "$engine" --invalid=warn in
        [ "$output" = 9 ]
        [ "$stderr" = $'gpuhist: in:2: invalid integer \'x\'\ngpuhist: in:5: invalid integer \'y\'' ]
        run -0 --separate-stderr gpuhist reduce sum --engine "$engine" --invalid=ignore in
        [ "$output" = 9 ] && [ "$stderr" = "gpuhist: note: skipped 2 invalid values, none of them a number" ]
        run -0 --separate-stderr gpuhist reduce sum --engine "$engine" --invalid=ignore -q in
        [ "$output" = 9 ] && [ -z "$stderr" ]
    done
    # a note says that nothing is left
    printf 'x\ny\n\nz 1.5\n' >in
    for engine in $ENGINES; do
        run -0 --separate-stderr gpuhist reduce sum --engine "$engine" --invalid=ignore in
        [ "$output" = 0 ] && [ "$stderr" = "gpuhist: all input was invalid and ignored: 4 values, 1 of them a number with decimals (try --decimals 1)" ]
    done
    run -0 --separate-stderr gpuhist --bins 5 -f 7 --invalid=ignore <<<'1 2'
    [ -z "$output" ] && [ "$stderr" = "gpuhist: all input was invalid and ignored: 1 value, first standard input:1: missing field 7: the line has 2" ]
    run -0 --separate-stderr gpuhist reduce sum --invalid=ignore </dev/null
    [ "$output" = 0 ] && [ -z "$stderr" ]
    run --separate-stderr gpuhist reduce sum --invalid=drop in
    assert_failed 2 "invalid --invalid 'drop'"
}

# assert_skipped TEXT ARG...: asserts the note about tokens of standard input that --invalid=ignore skips.
assert_skipped() {
    local engine
    cat >tokens
    for engine in $ENGINES; do
        run -0 --separate-stderr gpuhist reduce count --engine "$engine" --invalid=ignore "${@:2}" tokens
        [ "$stderr" = "gpuhist: note: $1" ] || { echo "$engine: $stderr"; return 1; }
        run -0 --separate-stderr gpuhist reduce count --engine "$engine" --invalid=ignore "${@:2}" \
            --threads 3 --chunk-size 4096 < <(cat tokens)
        [ "$stderr" = "gpuhist: note: $1" ] || { echo "$engine, pipe: $stderr"; return 1; }
    done
}

@test "--invalid=ignore tells how many tokens it skipped, and how many of them were numbers" {
    local told
    awk 'BEGIN { for (i = 0; i < 90000; i++) printf "%.3f\n", i / 8 }' >decimals # 1/8 has three
    told=$(awk '$1 != sprintf("%.2f", $1) + 0 { n++ } END { print n }' decimals)
    assert_skipped "skipped $told invalid values, all of them numbers with more than 2 decimals (try --decimals 3)" \
        --decimals 2 <decimals
    assert_skipped "skipped 1 invalid value, a number with more than 1 decimal (try --decimals 4)" --decimals 1 < <(printf "2.5\n2.123500\n3.1000\n")
    assert_skipped "skipped 2 invalid values, all of them numbers with decimals (try --decimals 2)" < <(printf '1\n1.5\n-2.25\n')
    assert_skipped "skipped 1 invalid value, a number out of range for i64 (try -t u64)" < <(printf '18446744073709551615\n1\n')
    assert_skipped "skipped 2 invalid values, all of them numbers out of range for i64" < <(printf '18446744073709551616 1 9999999999999999999\n')
    assert_skipped "skipped 2 invalid values, all of them numbers out of range for u8 (try -t i64)" -t u8 < <(printf '256 1 -1\n')
    assert_skipped "skipped 3 invalid values, 2 of them numbers in another notation, such as 1e6 or 1,234" < <(printf '1e6\n"1,234"\n1,23\n7\n')
    assert_skipped "skipped 8 invalid values, all of them numbers in another notation, such as 1e6 or 1,234" \
        < <(printf '1e6 -1.5E-3 +1e+9 1,234 -1,234,567.8 1_000 "36" "-1" 5\n')
    assert_skipped "skipped 6 invalid values, none of them a number" < <(printf 'x - 1e 1.2.3 12:30 e5 7\n')
    assert_skipped "skipped 1 invalid value, not a number" -f 2 < <(printf '1\n2 3\n')
    assert_skipped "skipped 4 invalid values, 3 of them numbers that do not fit: 1 out of range for u8, 1 with decimals, 1 in another notation, such as 1e6 or 1,234 (try --decimals 1 -t i64)" \
        -t u8 < <(printf 'x 300 1.5 1e6 7\n')
    assert_skipped "skipped 1 invalid value, a number out of range for i64" --base 16 < <(printf '10000000000000000 1.5\n7' | cut -d ' ' -f 1)
    # the second column
    run -0 --separate-stderr gpuhist uniq -f 1 --weight 2 --invalid=ignore < <(printf '1 2\n3 -1\n4 x\n5 1.5\n')
    [ "$output" = $'1\t2' ]
    [ "$stderr" = "gpuhist: note: skipped 3 invalid values, 2 of them numbers not allowed as a weight" ]
    run -0 --separate-stderr gpuhist reduce sum -f 1 --by 2:int --invalid=ignore < <(printf '1 2\n3 1.5e0\n')
    [ "$stderr" = "gpuhist: note: skipped 1 invalid value, a number not allowed as a group" ]
    # rows that are not JSON objects are not numbers either
    ENGINES=cpu assert_skipped "skipped 3 invalid values" --jsonl -f a -t u8 < <(printf '%s\n' '{"a":2}' 1 1.5 300)
    ENGINES=cpu assert_skipped "skipped 2 invalid values, 1 of them a number out of range for u8 (try -t i64)" --jsonl -f a -t u8 \
        < <(printf '%s\n' '{"a":2}' 300 '{"a":300}')
    # nothing was skipped; an error is the only message
    run -0 --separate-stderr gpuhist reduce sum --invalid=ignore <<<'1 2'
    [ -z "$stderr" ]
    run --separate-stderr gpuhist --bins 2 --outside=abort --invalid=ignore <<<'x 7'
    [ "$status" -eq 1 ] && [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "--invalid=warn and fail tell how many of the tokens that they do not report were numbers" {
    local policy
    { seq 1 9; seq -f x%.0f 1 9; seq 0.25 29.25; } >in # the first of the last is reported
    for policy in warn fail; do
        run --separate-stderr gpuhist reduce count --text --decimals 1 --invalid $policy in
        [ "$output" = 9 ]
        [ "${stderr_lines[9]}" = "gpuhist: in:19: invalid number '0.25' (try --decimals 2)" ]
        [ "${stderr_lines[10]}" = "gpuhist: 29 more invalid numbers, all of them numbers with more than 1 decimal (try --decimals 2)" ]
    done
}

# bats test_tags=later
@test "a chunk of nothing but invalid tokens is no harder than any other" {
    local bytes=$((SHARE > 1 ? 2 << 20 : 16 << 20))
    yes x | head -c $bytes >in
    for invalid in warn fail; do # a run time quadratic in its length is out of reach
        run --separate-stderr timeout 120 "$GPUHIST" reduce count --text --chunk-size 16M --invalid "$invalid" in
        [ "$output" = 0 ]
        [ "${stderr_lines[9]}" = "gpuhist: in:10: invalid integer 'x'" ]
        [ "${stderr_lines[10]}" = "gpuhist: $((bytes / 2 - 10)) more invalid integers" ]
    done
    [ "$status" -eq 1 ]
}

# make_faulty: makes "in", 300000 lines with 14 invalid ones, and "expected", the reports of the first ten.
make_faulty() {
    seq 300000 | awk 'NR % 20011 == 77 { print "bad" NR; next } NR == 150000 { print ""; next } { print }' >in
    awk '/bad/ && n++ < 10 { print "gpuhist: NAME:" NR ": invalid integer \047" $0 "\047" }
         END { print "gpuhist: " n - 10 " more invalid integers" }' in >expected
    awk '/^[0-9]/ { n += $1 } END { printf "%.0f\n", n }' in >sum
}

@test "lines are told right, the first ten in order, from files, pipes and compressed input" {
    make_faulty
    if reads_gzip; then gzip -c in >in.gz; else cp in in.gz; fi
    if command -v zstd >/dev/null; then zstd -q in -o in.zst; else cp in in.zst; fi
    for engine in $ENGINES; do
        for setting in "--chunk-size 4096 --threads 4" "--threads 2" "--chunk-size 1M --threads 1"; do
            # shellcheck disable=SC2086
            for how in in in.gz in.zst; do
                gpuhist reduce sum --invalid warn --engine "$engine" $setting $how >out 2>err
                cmp sum out
                sed "s/NAME/$how/" expected | cmp - err
            done
            # shellcheck disable=SC2086
            for how in in in.gz; do
                gpuhist reduce sum --invalid warn --engine "$engine" $setting <$how >out 2>err
                cmp sum out
                sed "s/NAME/standard input/" expected | cmp - err
                gpuhist reduce sum --invalid warn --engine "$engine" $setting < <(cat $how) >out 2>err
                cmp sum out
                sed "s/NAME/standard input/" expected | cmp - err
            done
            # shellcheck disable=SC2086
            run --separate-stderr gpuhist reduce sum --engine "$engine" $setting in
            assert_failed 1 "in:77: invalid integer 'bad77'"
        done
    done
}

@test "lines are counted from where standard input was begun, and in each file anew" {
    make_faulty
    { read -r _; gpuhist reduce sum --invalid warn >out 2>err; } <in
    [ "$(head -n 1 err)" = "gpuhist: standard input:76: invalid integer 'bad77'" ]
    gpuhist reduce count --invalid fail --chunk-size 4096 --threads 3 in in >out 2>err || [ $? -eq 1 ]
    [ "$(cat out)" = "$(cat in in | grep -c '^[0-9]')" ]
    [ "$(head -n 1 err)" = "gpuhist: in:77: invalid integer 'bad77'" ]
    printf '1\n2' >a
    printf '3\nx' >b
    run --separate-stderr gpuhist reduce sum a b
    assert_failed 1 "b:2: invalid integer 'x'"
    # a file with the name that messages use for standard input
    cp in "standard input"
    run --separate-stderr gpuhist reduce sum --header=200000 "standard input" < <(tr '\n' ' ' <in)
    assert_failed 1 "standard input:200187: invalid integer 'bad200187'"
    run --separate-stderr gpuhist reduce sum --header=200000 "standard input" <b
    assert_failed 1 "standard input:200187: invalid integer 'bad200187'"
}

@test "lines are told right behind a line that is longer than a chunk" {
    { echo 1; seq -s ' ' 30000; echo 2; echo 'x 9'; } >in
    for how in file pipe; do
        for field in 1 -1; do
            if [ $how = file ]; then
                run --separate-stderr gpuhist reduce sum -f $field --invalid=warn --chunk-size 4096 --engine cpu in
            else
                run --separate-stderr gpuhist reduce sum -f $field --invalid=warn --chunk-size 4096 \
                    --engine cpu < <(cat in)
            fi
            if [ "$field" = 1 ]; then
                [ "$output" = 4 ] && [[ $stderr == *":4: invalid integer 'x'" ]]
            else
                [ "$output" = 30012 ] && [ -z "$stderr" ]
            fi
        done
    done
    { echo 1; seq -s , 30000; echo 2; echo x; } >in
    run --separate-stderr gpuhist reduce sum -d , --invalid=warn --chunk-size 4096 --engine cpu in
    [ "$output" = 450015003 ] && [ "$stderr" = "gpuhist: in:4: invalid integer 'x'" ]
    # a token after many fields, also after a header and in compressed files
    { seq -s ' ' 19999; } | tr '\n' ' ' >in
    { printf 'bad '; seq -s ' ' 9999; } >>in
    run --separate-stderr gpuhist reduce sum -f 20000 --chunk-size 4096 --engine cpu in
    assert_failed 1 "in:1: invalid integer 'bad'"
    run -0 gpuhist reduce sum -f 19999 --chunk-size 4096 in
    [ "$output" = 19999 ]
    { echo x; cat in; } >headed
    zstd -q headed
    if reads_gzip; then gzip -k headed; fi
    for file in headed headed.*; do
        for threads in 1 3; do
            run --separate-stderr gpuhist reduce sum -f 20000 --header --chunk-size 4096 --engine cpu \
                --threads $threads "$file"
            assert_failed 1 "$file:2: invalid integer 'bad'"
        done
        run --separate-stderr gpuhist reduce sum -f 20000 --header --chunk-size 4096 --engine cpu <"$file"
        assert_failed 1 "standard input:2: invalid integer 'bad'"
    done
}

# bats test_tags=slow,plain
@test "a line of more than 1 GiB is an error with its number" {
    run --separate-stderr gpuhist -f 1 --engine cpu --threads 2 \
        < <(echo 7; head -c 1050M /dev/zero | tr '\0' 1)
    assert_failed 1 "standard input:2: the line is longer than 1073741824 bytes"
}

@test "a dash gets --invalid ignore and an empty field --missing skip, unless --invalid is given" {
    printf '7 512\n8 -\n9,\n' >in
    run --separate-stderr gpuhist reduce sum -f 2 in
    assert_failed 1 "in:2: invalid integer '-' (try --invalid ignore)"
    run --separate-stderr gpuhist uniq -f 1 --weight 2 in
    assert_failed 1 "in:2: invalid weight '-', no integer from 0 to 2^63 - 1 (try --invalid ignore)"
    run --separate-stderr gpuhist reduce sum -d , -f 2 <<<9,
    assert_failed 1 "standard input:1: invalid integer '' (try --missing skip)"
    run -0 --separate-stderr gpuhist reduce sum -f 2 --invalid warn <<<$'1 2\n1 -'
    [ "$stderr" = "gpuhist: standard input:2: invalid integer '-'" ]
}

@test "invalid tokens are told before a quantile that is out of range" {
    local error="gpuhist: percentile 50 is out of range: 0 below the bins, 1 above (try uniq --percentiles)"
    printf '77\nx\n' >in
    for how in fail warn; do
        for where in - out; do
            run -1 --separate-stderr gpuhist --bins 5 --quantiles 50 --invalid $how -o $where in
            [ -z "$output" ]
            [ "$stderr" = "gpuhist: in:2: invalid integer 'x'"$'\n'"$error" ]
        done
    done
    run -1 --separate-stderr gpuhist --bins 5 --quantiles 50 --invalid ignore in
    [ -z "$output" ] && [ "$stderr" = "$error" ]
    [ ! -e out ]
}

@test "a value outside the bins is told with its line" {
    printf '1\n2\n\n 3 9\n' >in
    for engine in $ENGINES; do
        run --separate-stderr gpuhist --bins 4 --outside abort --engine "$engine" in
        assert_failed 1 "in:4: value 9 is out of range"
        run --separate-stderr gpuhist --bins 3 --outside abort --engine "$engine" -f 1 < <(cat in)
        assert_failed 1 "standard input:4: value 3 is out of range"
        # followed by blank lines and other values
        printf '1\n2 9 3\n\n \r\n\n1\n' >blank
        for rules in "" "-f -2" "-f 2 --invalid ignore" "-d,"; do
            tr ' ' "$([ "$rules" = -d, ] && echo , || echo ' ')" <blank >lines
            # shellcheck disable=SC2086
            run --separate-stderr gpuhist --bins 4 --outside abort --engine "$engine" $rules --invalid ignore lines
            assert_failed 1 "lines:2: value 9 is out of range"
        done
    done
}
