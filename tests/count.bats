#!/usr/bin/env bats
# Operation count: the number of values that satisfy each predicate, against Python's integers, awk and numpy.

load helpers

# bats test_tags=slow,later
@test "i8 as Python counts" { compare_type count i8; }
@test "u8 as Python counts, with every instruction set" { compare_isas count u8; }
# bats test_tags=slow,later
@test "i16 as Python counts" { compare_type count i16; }
@test "i16be as Python counts, with every instruction set" { compare_isas count i16be; }
# bats test_tags=slow,later
@test "u16 as Python counts" { compare_type count u16; }
# bats test_tags=slow,later
@test "u16be as Python counts" { compare_type count u16be; }
@test "i32 as Python counts, with every instruction set" { compare_isas count i32; }
# bats test_tags=slow,later
@test "i32be as Python counts" { compare_type count i32be; }
# bats test_tags=slow,later
@test "u32 as Python counts" { compare_type count u32; }
# bats test_tags=slow,later
@test "u32be as Python counts" { compare_type count u32be; }
# bats test_tags=slow,later
@test "i64 as Python counts" { compare_type count i64; }
# bats test_tags=slow,later
@test "i64be as Python counts" { compare_type count i64be; }
@test "u64 as Python counts, with every instruction set" { compare_isas count u64; }
@test "u64be as Python counts" { compare_type count u64be; }

@test "one predicate prints the number alone" {
    run -0 --separate-stderr gpuhist count --ge 3 < <(int32 1 3 5 -7 2147483647)
    [ "$output" = 3 ] && [ -z "$stderr" ]
    run -0 gpuhist count --all < <(int32 1 3 5)
    [ "$output" = 3 ]
}

@test "several print a line each, as typed and in the order given" {
    run -0 gpuhist count --lt 2 --any-of 5,1, --all --in -10:+1K --ne 1.0 --lt 2 --gt=-8 \
        < <(int32 1 3 5 -7)
    [ "$output" = $'lt 2\t2\nany-of 5,1,\t2\nall\t4\nin -10:+1K\t4\nne 1.0\t3\nlt 2\t2\ngt -8\t4' ]
}

@test "options and files may be mixed, with predicates on either side" {
    cd "$BATS_TEST_TMPDIR"
    int32 1 2 3 >a
    int32 3 4 >b
    run -0 gpuhist count a --eq 3 -t i32 b --gt 1
    [ "$output" = $'eq 3\t2\ngt 1\t4' ]
}

@test "the type may come behind the predicates" {
    for engine in $ENGINES; do
        run -0 gpuhist count --eq 255 --lt 0 -t u8 --engine "$engine" < <(printf '\377\1\377')
        [ "$output" = $'eq 255\t2\nlt 0\t0' ]
        run -0 gpuhist count --eq 255 --lt 0 -t i8 --engine "$engine" < <(printf '\377\1\377')
        [ "$output" = $'eq 255\t0\nlt 0\t2' ]
    done
}

@test "values beyond the type are compared all the same" {
    for engine in $ENGINES; do
        run -0 gpuhist count --binary -t u8 --lt 300 --eq 300 --gt -1 --ne -1 --in -5:1M --le -1 --ge 256 \
            --any-of=-1,256,300 --engine "$engine" < <(printf 'abc')
        [ "$(cut -f 2 <<<"$output" | tr '\n' ' ')" = "3 0 3 3 3 0 0 0 " ]
    done
}

@test "no input counts nothing" {
    for engine in $ENGINES; do
        run -0 --separate-stderr gpuhist count --all --ne 5 --eq 5 --any-of 1,9 --engine "$engine" \
            </dev/null
        [ "$output" = $'all\t0\nne 5\t0\neq 5\t0\nany-of 1,9\t0' ] && [ -z "$stderr" ]
    done
}

# bats test_tags=slow
@test "twenty predicates at once, as awk counts" {
    local in=$BATS_TEST_TMPDIR/in predicates=() expressions='' v engine
    random_file "$in" '<i4' -1000 1000 200003
    for ((v = -950; v <= 950; v += 100)); do
        predicates+=(--lt "$v")
        expressions+="n[\"lt $v\"] += \$1 < $v; "
    done
    [ "${#predicates[@]}" -eq 40 ]
    od -An -v -w4 -td4 "$in" | awk "{ $expressions } END { for (p in n) print p \"\\t\" n[p] }" |
        sort >"$BATS_TEST_TMPDIR/expected"
    for engine in $ENGINES; do
        gpuhist count "${predicates[@]}" --engine "$engine" "$in" | sort |
            cmp "$BATS_TEST_TMPDIR/expected" -
    done
}

@test "bytes of a text, as awk counts" {
    seq 100000 >"$BATS_TEST_TMPDIR/in"
    awk '{ ones += gsub(/1/, ""); rest += length } END {
        print "eq 49\t" ones; print "eq 10\t" NR; print "in 48:58\t" ones + rest }' \
        "$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/expected"
    for engine in $ENGINES; do
        gpuhist count -t u8le --eq 49 --eq 10 --in 48:58 --engine "$engine" "$BATS_TEST_TMPDIR/in" |
            cmp "$BATS_TEST_TMPDIR/expected" -
    done
}

# bats test_tags=slow
@test "a thousand predicates" {
    local predicates=() v
    for ((v = 0; v < 1000; v++)); do predicates+=(--eq "$v"); done
    for engine in $ENGINES; do
        # shellcheck disable=SC2046
        run -0 gpuhist count "${predicates[@]}" --engine "$engine" < <(int32 $(seq 0 3 999))
        [ "${#lines[@]}" -eq 1000 ]
        [ "${lines[0]}" = $'eq 0\t1' ] && [ "${lines[1]}" = $'eq 1\t0' ]
        [ "${lines[999]}" = $'eq 999\t1' ]
        [ "$(cut -f 2 <<<"$output" | grep -c 1)" -eq 334 ]
    done
}

check_large_set() { # DTYPE TYPE LOW HIGH: a million values of that range, and as many to look up
    local in=$BATS_TEST_TMPDIR/in ids=$BATS_TEST_TMPDIR/ids engine
    numpy 'rng = np.random.default_rng(11); dtype, low, high = sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
ids = rng.integers(low, high, 1000000, dtype=dtype)
values = np.concatenate([rng.choice(ids, 300000), rng.integers(low, high, 700000, dtype=dtype)])
rng.permutation(values).tofile(sys.argv[1])
open(sys.argv[2], "w").write("\n".join(map(str, ids)) + "\n")
print(np.isin(values, ids).sum())' "$in" "$ids" "$1" "$3" "$4" >"$BATS_TEST_TMPDIR/expected"
    for engine in $ENGINES; do
        gpuhist count -t "$2" --any-of "@$ids" --engine "$engine" "$in" |
            cmp "$BATS_TEST_TMPDIR/expected" -
    done
}

# bats test_tags=slow,plain
@test "a set of a million values, far apart" { check_large_set i8 i64 -900000000000000000 900000000000000000; }
# bats test_tags=slow
@test "a set of a million values, close together" { check_large_set i4 i32 -900000 900000; }
# bats test_tags=slow,plain
@test "a set of a million values over all of i32" { check_large_set i4 i32 -2147483648 2147483647; }
# bats test_tags=slow
@test "a set of a million bytes" { check_large_set u1 u8 0 200; }

@test "a set may be written in any way" {
    cd "$BATS_TEST_TMPDIR"
    printf '  1,,2\t3\r\n\n+4 ,\n-5\v007\f' >ids
    for engine in $ENGINES; do
        run -0 gpuhist count --any-of @ids --any-of ' 1,2 3' --any-of '' --any-of , \
            --any-of 1K,1Ki --engine "$engine" < <(int32 1 2 3 4 5 -5 6 7 1000 1024)
        [ "$(cut -f 2 <<<"$output" | tr '\n' ' ')" = "6 3 0 0 2 " ]
    done
    : >ids
    run -0 gpuhist count --any-of @ids < <(int32 0 1)
    [ "$output" = 0 ]
    printf '0 0 0 0 1 0' >ids
    run -0 gpuhist count --any-of @ids < <(int32 0 1)
    [ "$output" = 2 ]
}

@test "numbers of a set that the reader's buffer cuts" {
    cd "$BATS_TEST_TMPDIR"
    numpy 'ids = range(100000000, 100100000, 3)
open("ids", "w").write(" ".join(map(str, ids)))
np.arange(99990000, 100110000, dtype="<i4").tofile("in")'
    run -0 gpuhist count --any-of @ids in
    [ "$output" = 33334 ]
    # the same through a pipe, in pieces of any size
    mkfifo fifo
    dd if=ids of=fifo bs=7 status=none 3>&- &
    run -0 gpuhist count --any-of @fifo in
    [ "$output" = 33334 ]
}

@test "a set from standard input" {
    cd "$BATS_TEST_TMPDIR"
    int32 1 2 3 4 >in
    run -0 gpuhist count --any-of @- --all in < <(printf '2\n4\n9\n')
    [ "$output" = $'any-of @-\t2\nall\t4' ]
    run --separate-stderr gpuhist count --any-of @- < <(printf '2\n')
    assert_failed 2 "standard input is already used for something else"
    run --separate-stderr gpuhist count --any-of @- in - < <(printf '2\n')
    assert_failed 2 "standard input is already used for something else"
    run --separate-stderr gpuhist count --any-of @- --any-of @- in < <(printf '2\n')
    assert_failed 2 "standard input is already used for something else"
    # the same for the list of a condition
    printf '1 a\n2 b\n4 c\n' >rows
    for list in 1 2:text; do
        [ "$(gpuhist reduce sum -f 1 --where "$list=@-" rows < <(printf '4\nb\n' | sed -n "${list%%:*}p"))" = $((6 - 2 * ${list%%:*})) ]
        for others in '' 'rows -' "--where $list!=@- rows" '-'; do
            # shellcheck disable=SC2086
            run --separate-stderr gpuhist reduce sum -f 1 --where "$list=@-" $others < <(printf '2\n')
            assert_failed 2 "--where COLUMN=@-: standard input is already used for something else"
        done
    done
    run --separate-stderr gpuhist count --any-of @- -f 1 --where '1=@-' rows < <(printf '2\n')
    assert_failed 2 "standard input is already used for something else"
    [ "$(gpuhist count --all --where '2:text^=@-' <<<'1 @-x')" = 1 ]
}

# bats test_tags=slow
@test "millions of duplicates are one value" {
    numpy 'open(sys.argv[1], "w").write("17\n" * 5000000 + "19")' "$BATS_TEST_TMPDIR/ids"
    run -0 gpuhist count --any-of "@$BATS_TEST_TMPDIR/ids" < <(int32 17 18 19 17)
    [ "$output" = 3 ]
}

@test "a bad word in a set's file is told with its line" {
    cd "$BATS_TEST_TMPDIR"
    local word
    for word in id 1e5 0x10 5K 1.0 -- + - 1-2 12345678901234567890123456789012345678901 \
        $'\xef\xbb\xbf1'; do
        printf '1 2\n3\n4,%s 5\n' "$word" >ids
        run --separate-stderr gpuhist count --any-of @ids < <(int32 1)
        assert_failed 1 "ids:3: invalid integer '$word'"
    done
    printf '1\n\1x\n' >ids
    run --separate-stderr gpuhist count --any-of @ids < <(int32 1)
    assert_failed 1 "ids:2: invalid integer '?x'"
    run --separate-stderr gpuhist count --any-of @- ids < <(printf '\n\nx')
    assert_failed 1 "standard input:3: invalid integer 'x'"
}

@test "a word without end is refused at once" {
    run --separate-stderr timeout 30 "$GPUHIST" count --any-of @/dev/zero < <(int32 1)
    assert_failed 1 "/dev/zero:1: invalid integer '????????????????????????????????????????...'"
    yes 1 | tr -d '\n' | head -c 1000 >"$BATS_TEST_TMPDIR/ids"
    run --separate-stderr gpuhist count --any-of "@$BATS_TEST_TMPDIR/ids" < <(int32 1)
    assert_failed 1 "ids:1: invalid integer '1111111111111111111111111111111111111111...'"
}

@test "a set's file that cannot be read" {
    cd "$BATS_TEST_TMPDIR"
    run --separate-stderr gpuhist count --any-of @missing < <(int32 1)
    assert_failed 1 "missing: No such file or directory"
    mkdir directory
    run --separate-stderr gpuhist count --any-of @directory < <(int32 1)
    assert_failed 1 "directory: Is a directory"
    run --separate-stderr gpuhist count --any-of @ < <(int32 1)
    assert_failed 2 "invalid --any-of '@'"
}

@test "a predicate that makes no sense is a usage error" {
    local value
    for value in x '' 1.5 15e-1 5KK 99999999999999999999999999999; do
        run --separate-stderr gpuhist count --ge "$value" < <(int32 1)
        assert_failed 2 "invalid --ge '$value': expected an integer"
    done
    for value in 5 5: :5 a:b 1:2:3; do
        run --separate-stderr gpuhist count --in "$value" < <(int32 1)
        assert_failed 2 "invalid --in '$value': expected LO:HI"
    done
    for value in 5:5 6:5; do
        run --separate-stderr gpuhist count --in "$value" < <(int32 1)
        assert_failed 2 "--in $value is empty"
    done
    for value in x 1,2,y; do
        run --separate-stderr gpuhist count --any-of "$value" < <(int32 1)
        assert_failed 2 "invalid --any-of '${value##*,}'"
    done
    run --separate-stderr gpuhist count --all --ge < <(int32 1)
    assert_failed 2 "option --ge needs a value"
    run --separate-stderr gpuhist count --all=3 < <(int32 1)
    assert_failed 2 "option --all takes no value"
}

@test "what is wrong with a predicate comes before a file that is missing" {
    run --separate-stderr gpuhist count --any-of @missing --ge x missing
    assert_failed 2 "invalid --ge 'x'"
}

@test "no predicate: rows of every input, without -f, as wc and Python count them" {
    cd "$BATS_TEST_TMPDIR"
    [ "$(gpuhist count < <(int32 1 2 3))" = 3 ]
    awk 'BEGIN { for (i = 1; i <= 5000; i++) print i % 7 " GET /" i " - x" }' >in
    { echo; echo '  '; echo end; } >>in
    gzip -c in >in.gz
    for file in in in.gz; do
        for options in '--threads 1' '--threads 3 --chunk-size 4096'; do
            # shellcheck disable=SC2086
            [ "$(gpuhist count $options $file) $(gpuhist count $options <$file)" = '5001 5001' ]
            # shellcheck disable=SC2086
            [ "$(gpuhist count $options --where '1:text=3' $file)" = "$(grep -c ^3 in)" ]
            # shellcheck disable=SC2086
            gpuhist count $options --by 1:text $file >found
            awk 'NF { n[$1]++ } END { for (k in n) print k "\t" n[k] }' in | LC_ALL=C sort | cmp found -
        done
    done
    gpuhist count --save state in >whole
    [ "$(gpuhist merge state state)" = $((2 * $(cat whole))) ]
    printf 'a,b\n1,"x\ny"\n2,z\n\n' >in
    [ "$(gpuhist count --csv --header in)" = 2 ]
    run -0 --separate-stderr gpuhist count --csv in
    [ "$output" = 3 ] && [[ $stderr == *"line 1 is read as a row"* ]]
    printf '%s\n' '{"a":1}' '{}' '{"b":[2]}' >in
    [ "$(gpuhist count --jsonl in)" = 3 ]
    [ "$(gpuhist count --jsonl --where a=1 --invalid ignore -q in)" = 1 ]
    [ "$(printf 'a=1\nb\n' | gpuhist count --logfmt)" = 2 ]
    [ "$(printf abcdef | gpuhist count --record 3)" = 2 ]
    [ "$(printf abcdef | gpuhist count --record 2 --where 'u8@0>97')" = 2 ]
    [ "$(printf 'x\0y\0' | gpuhist count -z --text)" = 2 ]
    [ "$(gpuhist count /dev/null)" = 0 ]
    run -1 --separate-stderr gpuhist count --jsonl <<<'[1]'
    [ -z "$output" ]
    run --separate-stderr gpuhist count -f 1 in
    assert_failed 2 "count -f requires a predicate"
    if "$PYTHON" -c 'import numpy' 2>/dev/null; then
        "$PYTHON" -c 'import numpy as np
np.save("a", np.arange(7)); np.save("b", np.arange(12).reshape(4, 3)); np.save("c", np.asfortranarray(np.arange(12).reshape(4, 3)))'
        [ "$(gpuhist count a.npy) $(gpuhist count b.npy) $(gpuhist count c.npy)" = '7 4 4' ]
        [ "$(gpuhist count --where '1>3' b.npy)" = 2 ]
    fi
}

@test "options of other operations are refused" {
    run --separate-stderr gpuhist count --all --bins 5 < <(int32 1)
    assert_failed 2 "--bins cannot be used with count"
    run --separate-stderr gpuhist --bins 5 --eq 3 < <(int32 1)
    assert_failed 2 "--eq cannot be used with histogram"
}

@test "no line of the result can be broken by what was typed" {
    cd "$BATS_TEST_TMPDIR"
    printf '1' >$'a\nb\tc'
    run -0 gpuhist count --any-of $'@a\nb\tc' --any-of $'1\n2' < <(int32 1 2)
    [ "$output" = $'any-of @a?b?c\t1\nany-of 1?2\t2' ]
}

@test "the result goes to -o FILE, and not if the input is bad" {
    cd "$BATS_TEST_TMPDIR"
    int32 1 2 3 >in
    run -0 gpuhist count --ge 2 -o out in
    [ -z "$output" ] && [ "$(cat out)" = 2 ]
    printf 'x' >>in
    run --separate-stderr gpuhist count --ge 1 -o out in
    assert_failed 1 "1 byte left after the last"
    [ "$(cat out)" = 2 ]
}

@test "tiny chunks through a pipe" {
    random_file "$BATS_TEST_TMPDIR/in" '<i8' -50 50 4001
    od -An -v -w8 -td8 "$BATS_TEST_TMPDIR/in" | awk '{ low += $1 < -7; three += $1 % 3 == 0 }
        END { print "lt -7\t" low; print "any-of @multiples\t" three }' >"$BATS_TEST_TMPDIR/expected"
    cd "$BATS_TEST_TMPDIR"
    seq -51 3 51 >multiples
    for engine in $ENGINES; do
        for chunk in 8 9 13 1021; do
            # shellcheck disable=SC2002
            cat in | gpuhist count -t i64 --lt -7 --any-of @multiples --engine "$engine" \
                --chunk-size "$chunk" --threads 3 | cmp expected -
        done
    done
}

@test "json and csv: one object, a header and one line; names are quoted" {
    cd "$BATS_TEST_TMPDIR"
    printf '1' >$'a"\\b\tc'
    # shellcheck disable=SC2054
    predicates=(--ge 2 --any-of 1,2 --all --any-of $'@a"\\b\tc')
    run -0 gpuhist count "${predicates[@]}" --format csv < <(int32 1 2 3)
    [ "$output" = 'ge 2,"any-of 1,2",all,"any-of @a""\b?c"'$'\n2,2,3,1' ]
    run -0 gpuhist count "${predicates[@]}" --format json < <(int32 1 2 3)
    [ "$output" = '{"operation":"count","ge 2":2,"any-of 1,2":2,"all":3,"any-of @a\"\\b\u0009c":1}' ]
    run -0 gpuhist count --ge 2 --format csv < <(int32 1 2 3)
    [ "$output" = $'ge 2\n2' ]
    run --separate-stderr gpuhist count --ge 2 --format raw </dev/null
    assert_failed 2 "--format raw cannot be combined with count (try tsv, csv, json, jsonl, markdown, html"
}
