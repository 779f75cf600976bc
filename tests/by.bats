#!/usr/bin/env bats
# reduce and count with --by. Oracles are Python's integers (by.py), datamash -g, awk, sort and uniq.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# compare TYPE...: runs by.py, which compares gpuhist with Python for values of each type.
compare() {
    local type
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    for type; do
        "$PYTHON" "$srcdir/tests/by.py" "$GPUHIST" "$type"
    done
}

# make_log: writes lines of a web server, with the status in field 9 and the bytes in field 10.
make_log() {
    awk 'BEGIN { srand(3); split("200 200 200 304 404 500", status); for (i = 0; i < 9000; i++)
        printf "10.0.%d.%d - - [23/Nov/2026:17:00:%02d +0000] \"GET /%d HTTP/1.1\" %d %d \"-\"\n",
            rand() * 4, rand() * 50, i % 60, rand() * 1e6, status[1 + int(rand() * 6)], rand() * 99999 }' >log
}

@test "--by: reductions and counts of text and records as Python has them: u16" { compare u16; }
# bats test_tags=later
@test "--by: the same of i64" { compare i64; }
# bats test_tags=slow,plain
@test "--by: the same of the other types, in both byte orders" {
    compare i8 u8 i16 i32 u32 u64 i16be u32be i64be u64be
}

@test "--by: a log as awk, and as datamash -g of sorted lines" {
    make_log
    awk '{ n[$9]++; s[$9] += $10 } END { for (k in n) printf "%d\t%d\t%d\n", k, n[k], s[k] }' log | sort -n >expected
    for threads in 1 5; do
        gpuhist reduce count,sum -f 10 --by 9 --threads $threads log | cmp expected -
        gpuhist reduce count,sum -f 10 --by 9 --threads $threads --chunk-size 4096 < <(cat log) | cmp expected -
    done
    awk '$10 >= 50000 { n[$9]++ } { n[$9] += 0 } END { for (k in n) printf "%d\t%d\n", k, n[k] }' log | sort -n >expected
    gpuhist count --ge 50000 -f -2 --by 9 log | cmp expected -
    command -v datamash >/dev/null || skip "no datamash"
    awk '{ print $9 "\t" $10 }' log | sort -n | LC_ALL=C datamash -R 9 -g 1 count 2 min 2 max 2 mean 2 >expected
    gpuhist reduce count,min,max,mean -f 10 --by 9 log |
        awk '{ printf "%d\t%.9f\t%.9f\t%.9f\t%.9f\n", $1, $2, $3, $4, $5 }' | cmp expected -
}

@test "--by: lines cut at every byte by chunks, plain and compressed" {
    local text threads expected=$'-30\t200\t-900\n7\t100\t500\n4000000000\t200\t0'
    text=$(printf '%s\n' 'a 1 -30' 'bb -3 4000000000 x' 'c 5 7' '' 'd -10 -30' 'e 3 4000000000')
    # Copies of the text between blank lines: in each, the end of a chunk is one byte later.
    text=$text awk 'BEGIN { text = ENVIRON["text"]; for (i = 1; i <= 100; i++) {
        printf "%*s\n%s\n", 4096 * i - i - at - 1, "", text; at = 4096 * i - i + length(text) + 1 } }' >in
    [ "$(tail -c +4096 in | head -n 1)" = 'a 1 -30' ] && [ "$(tail -c +8191 in | head -n 1)" = 'a 1 -30' ]
    for threads in 1 5; do
        run -0 --separate-stderr gpuhist reduce count,sum -f 2 --by 3 --threads $threads --chunk-size 4096 in
        [ "$output" = "$expected" ] && [ -z "$stderr" ]
        run -0 gpuhist reduce count,sum -f 2 --by 3 --threads $threads --chunk-size 4096 < <(cat in)
        [ "$output" = "$expected" ]
        for packer in gzip zstd; do
            reads $packer $packer || continue
            { head -c 30000 in | $packer -c; tail -c +30001 in | $packer -c; } >packed
            run -0 gpuhist reduce count,sum -f 2 --by 3 --threads $threads packed
            [ "$output" = "$expected" ]
            run -0 gpuhist reduce count,sum -f 2 --by 3 --threads $threads --chunk-size 4096 < <(cat packed)
            [ "$output" = "$expected" ]
        done
    done
}

@test "--by NAME: columns by the header of each file, wherever they stand; quoted fields" {
    printf 'time,status,ms\n1,200,5\n2,404,7\n' >a
    printf 'ms,path,status\n-9,"/a, ""b""",200\n1,"x","500"\n' >b
    run -0 gpuhist reduce sum,max --csv -f ms --by status a b
    [ "$output" = $'200\t-4\t5\n404\t7\t7\n500\t1\t1' ]
    printf 'status\tms\n200\t5\n' | gzip >c
    if reads_gzip; then
        run -0 gpuhist reduce sum -d '\t' -f ms --by status c c
        [ "$output" = $'200\t10' ]
    fi
    run -0 gpuhist reduce sum -d , -f 3 --by status a # a name and a number
    [ "$output" = $'200\t5\n404\t7' ]
    run --separate-stderr gpuhist reduce sum --csv -f ms --by host a
    assert_failed 1 "a: unknown column 'host'"
    run --separate-stderr gpuhist reduce sum --csv -f ms --by x < <(printf 'x,ms,x\n1,2,3\n')
    assert_failed 1 "standard input: duplicate column 'x' in the header"
}

@test "--by: values with a point and hexadecimal ones; the groups are decimal integers" {
    printf '%s\n' '200 0.125' '404 1' '200 0.25' >in
    run -0 gpuhist reduce sum,mean -f 2 --by 1 --decimals 3 in
    [ "$output" = $'200\t0.375\t0.1875\n404\t1.000\t1' ]
    run -0 gpuhist count --ge 0.25 --lt 0.2 -f 2 --by 1 --decimals 3 in
    [ "$output" = $'200\t1\t1\n404\t1\t0' ]
    run -0 gpuhist reduce max,xor --base 16 -f 2 --by 1 < <(printf '10 ff\n10 0x0F\n9 A\n')
    [ "$output" = $'9\t10\t10\n10\t255\t240' ]
    run --separate-stderr gpuhist reduce sum -f 1 --by 2:int --decimals 3 <in
    assert_failed 1 "standard input:1: invalid group '0.125' (try COLUMN:.3)"
}

@test "--by: 128 bits of sum and 192 of squares in each group" {
    awk 'BEGIN { for (i = 0; i < 300; i++) print "9223372036854775807 1\n-9223372036854775808 -2" }' >in
    run -0 gpuhist reduce sum,variance,min,max -f 1 --by 2 in
    [ "${lines[0]}" = $'-2\t-2767011611056432742400\t0\t-9223372036854775808\t-9223372036854775808' ]
    [ "${lines[1]}" = $'1\t2767011611056432742100\t0\t9223372036854775807\t9223372036854775807' ]
    run -0 gpuhist reduce sum,stddev -t u64 -f 1 --by 2 < <(
        printf '%s 18446744073709551615\n' 18446744073709551615 18446744073709551615 18446744073709551615)
    [ "$output" = $'18446744073709551615\t55340232221128654845\t0' ]
}

@test "--by: csv, json and a single group" {
    printf '1 5\n-1 7\n1 6\n' >in
    run -0 gpuhist reduce -f 2 --by 1 --format csv in
    [ "${lines[0]}" = by,count,sum,min,max,mean,variance,stddev,and,or,xor ]
    [ "${lines[1]}" = -1,1,7,7,7,7,0,0,7,7,7 ]
    run -0 gpuhist count --lt 6 --any-of 1,5 --format csv -f 2 --by 1 in
    [ "$output" = $'by,lt 6,"any-of 1,5"\n-1,0,0\n1,1,1' ]
    gpuhist count --lt 6 --any-of 1,5 --format json -f 2 --by 1 in >out
    [ "$(tr -d '\n' <out)" = '{"operation":"count","groups":[{"by":-1,"lt 6":0,"any-of 1,5":0},{"by":1,"lt 6":1,"any-of 1,5":1}]}' ]
    ! command -v python3 >/dev/null || "${PYTHON:-python3}" -m json.tool out >/dev/null
    run -0 gpuhist reduce sum --by 1 -f 1 --format json < <(printf '3\n3\n')
    [ "$output" = $'{"operation":"reduce","groups":[\n{"by":3,"sum":6}]}' ]
}

@test "--by: no values are no groups" {
    for options in '' '--format csv' '--format json'; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr gpuhist reduce min,mean -f 1 --by 2 $options </dev/null
        [ -z "$stderr" ]
        case $options in
        *csv) [ "$output" = by,min,mean ] ;;
        *json) [ "$output" = '{"operation":"reduce","groups":[]}' ] ;;
        *) [ -z "$output" ] ;;
        esac
    done
    for words in 'uniq --format csv' 'uniq --header-out' '--bins 5 --format csv' uniq; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr gpuhist $words --top 1 --other -f 1 --by 2 </dev/null
        [ "${output//$'\t'/,}" = "$([ "$words" = uniq ] || printf by,value,count)" ] && [ -z "$stderr" ]
    done
    run -0 --separate-stderr gpuhist uniq --quantiles 50 -f 1 --by 2 </dev/null
    [ -z "$output$stderr" ]
    run -0 --separate-stderr gpuhist --bins 5 --quantiles 50 --format json -f 1 --by 2 </dev/null
    [ "$output" = '{"operation":"histogram","groups":[]}' ] && [ -z "$stderr" ]
    [ "$(gpuhist uniq --format csv --top 1 --other -f 1:text </dev/null)" = $'value,count\nother,0' ]
}

@test "--by: a line without a valid value or group counts in no group" {
    printf '%s\n' '200 5' '200 x' 'y 7' '404' '404 1' '9223372036854775808 2' >in
    for line in 2 3 4 6; do
        run --separate-stderr gpuhist reduce sum -f 2 --by 1 < <(sed -n "1p;${line}p" in)
        assert_failed 1 "standard input:2: "
    done
    run -1 --separate-stderr gpuhist reduce sum,count -f 2 --by 1 --invalid fail in
    [ "$output" = $'200\t5\t1\n404\t1\t1' ]
    [ "$(grep -c "^gpuhist: in:[2346]: " <<<"$stderr")" = 4 ]
    [[ $stderr == *"in:2: invalid integer 'x'"*"in:3: invalid group 'y'"* ]]
    [ "${stderr_lines[-1]}" = "gpuhist: 4 invalid values in the input" ]
    run -0 --separate-stderr gpuhist reduce sum,count -f 2 --by 1 --invalid ignore in
    [ "$output" = $'200\t5\t1\n404\t1\t1' ] && [ "$stderr" = "gpuhist: note: skipped 4 invalid values, 1 of them a number not allowed as a group" ]
    printf '%s\n' path,sec / '"/"' '"/b",1' ',5' >paths
    run -1 --separate-stderr gpuhist reduce mean --csv -f sec --by path:int --invalid fail paths
    [ "$output" = "" ]
    [ "${stderr_lines[2]}" = "gpuhist: paths:4: invalid group '/b' (try COLUMN:text)" ]
    [ "${stderr_lines[3]}" = "gpuhist: paths:5: invalid group ''" ]
    [ "${stderr_lines[-1]}" = "gpuhist: 4 invalid values in the input" ]
    run -1 --separate-stderr gpuhist reduce mean --csv -f sec --by path:int --invalid fail < <(sed -n '1p;4p' paths)
    [ "${stderr_lines[-1]}" = "gpuhist: 1 invalid group in the input" ]
    run --separate-stderr gpuhist reduce sum -t i8 -f 2 --by 1 < <(printf '1000 1\n1 1000\n')
    assert_failed 1 "standard input:2: '1000' is out of range for i8"
    run --separate-stderr gpuhist reduce sum --csv -f 2 --by 1 < <(printf '1,2\n"3,4\n')
    assert_failed 1 "standard input:2: "
    run --separate-stderr gpuhist reduce sum -t u16 --record 6 --by u32@2 < <(printf 1234567)
    assert_failed 1 "truncated input: 1 byte left after the last 6-byte record"
}

@test "--by: options that do not go together" {
    run --separate-stderr gpuhist reduce sum --by 2
    assert_failed 2 "--by requires -f"
    run --separate-stderr gpuhist stalin-sort --by 2 -f 1
    assert_failed 2 "--by cannot be used with stalin-sort"
    run --separate-stderr gpuhist merge --by 2 x
    assert_failed 2 "--by cannot be used with merge"
    run --separate-stderr gpuhist reduce sum -f 1 --by 2 --format raw
    assert_failed 2 "--format raw cannot be combined with reduce"
    run --separate-stderr gpuhist count -f 1 --by 2
    assert_failed 2 "count -f requires a predicate"
    for bad in '' 99999999999; do
        run --separate-stderr gpuhist reduce sum -f 1 --by "$bad"
        assert_failed 2 "invalid --by '$bad'"
    done
    run --separate-stderr gpuhist reduce sum --record 8 --by u64@1
    assert_failed 2 "--by: u64 at byte 1 does not fit in a --record of 8 bytes"
    run --separate-stderr gpuhist reduce sum --record 8 --by 3
    assert_failed 2 "with --record, --by "
    run --separate-stderr gpuhist reduce sum -f 1 --by u8@3
    assert_failed 2 "--by TYPE@OFFSET requires --record"
}

@test "--by: a value outside the bins ends the run, in any group" {
    printf '1 5\n2 7\n0 900\n' >in
    run --separate-stderr gpuhist --bins 10 --outside abort -f 2 --by 1,1 --where '1<9' in
    assert_failed 1 "in:3: value 900 is out of range"
}

@test "--by: on the CPU alone" {
    printf '1 2\n' >in
    run --separate-stderr gpuhist reduce sum -f 1 --by 2 --engine cuda in
    [ "$status" -eq 3 ] && [ -z "$output" ]
    ! gpuhist info | grep -q '^cuda: .*CUDA' || [[ $stderr == *"does not support --by" ]]
    run -0 gpuhist reduce sum -f 1 --by 2 in
    [ "$output" = $'2\t1' ]
}

# bats test_tags=slow
@test "--by: many groups, and keys that differ in few bits" {
    awk 'BEGIN { for (i = 1; i <= 300000; i++) { k = i * 7919 % 1000003; print k, 3 * k } }' >in
    for threads in 1 3; do
        gpuhist reduce count,sum -f 2 --by 1 --threads $threads --save state in >out
        awk '$1 <= last || $2 != 1 || $3 != 3 * $1 { print } { last = $1 }' out | cmp /dev/null -
        [ "$(wc -l <out)" = 300000 ]
    done
    gpuhist merge state state | awk '$2 != 2 || $3 != 6 * $1 || $1 <= last { print } { last = $1 }' | cmp /dev/null -
    for bits in 1 4294967296 281474976710656; do
        run -0 gpuhist reduce sum -f 1 --by 1 < <(
            awk -v f=$bits 'BEGIN { for (i = 0; i < 20000; i++) printf "%.0f\n", i * f }')
        [ "${#lines[@]}" = 20000 ]
    done
}

@test "--by: several threads print many groups as one does" {
    local format
    seq -20000 20000 >in
    for format in tsv csv json; do
        gpuhist reduce max,mean -f 1 --by 1 --format $format --threads 1 in >one
        gpuhist reduce max,mean -f 1 --by 1 --format $format --threads 5 in | cmp one -
    done
    [ "$(tr -d '{}]"' <one | awk -F'[:,]' '/^by/ && $2 == $4 && $2 == $6 && $2 == NR - 20002' | wc -l)" = 40001 ]
    gpuhist reduce max -f 1 --by 1 --threads 5 in | awk '$1 != $2 || $1 != NR - 20001' | cmp /dev/null -
}

# bats test_tags=slow,later
@test "--by: groups that take more memory than --buffer-size allows go to sorted runs" {
    seq -200000 199999 >in
    seq 199999 -1 -100000 >>in
    awk 'BEGIN { for (i = -200000; i < 200000; i++) { n = 1 + (i >= -100000); print i "\t" n "\t" n * i "\t" i } }' >expected
    for threads in 1 3; do
        gpuhist reduce count,sum,max -f 1 --by 1 -S 1M --threads $threads --save state in | cmp expected -
        gpuhist merge -S 1M state | cmp expected -
    done
    gpuhist count --lt 5 --ge 0 -f 1 --by 1 -S 1M in |
        cmp - <(awk '{ print $1 "\t" ($1 < 5) * $2 "\t" ($1 >= 0) * $2 }' expected)
    gpuhist reduce count,sum,max -f 1 --by 1 -S 300M -T nowhere in | cmp expected -
    run --separate-stderr gpuhist reduce count,sum,max -f 1 --by 1 -S 1M --threads 1 -T nowhere in
    assert_failed 1 "cannot make a temporary file of counts in nowhere: No such file or directory"
    run --separate-stderr gpuhist count --lt 5 -f 1 --by 1 -S 1M --threads 1 -T nowhere in
    assert_failed 1 "cannot make a temporary file of counts in nowhere: No such file or directory"
    TMPDIR=nowhere run --separate-stderr gpuhist count --lt 5 -f 1 --by 1 -S 1M --threads 1 in
    assert_failed 1 "cannot make a temporary file of counts in nowhere: No such file or directory"
}

@test "--by: states are small, the same for every run, and only those of equal options are merged" {
    make_log
    gpuhist reduce -f 10 --by 9 --threads 1 --save one -o whole log
    gpuhist reduce -f 10 --by 9 --threads 5 --chunk-size 4096 --save many -o /dev/null log
    cmp one many
    split -n l/3 log part.
    for part in part.*; do
        gpuhist reduce -f 10 --by 9 --save "$part.state" -o /dev/null "$part"
    done
    cat part.*.state | gpuhist merge --save again | cmp whole -
    cmp one again
    gpuhist merge one --format json | grep -q '"operation":"reduce","groups"'
    gpuhist reduce -f 10 --save plain -o /dev/null log
    run --separate-stderr gpuhist merge one plain
    assert_failed 1 "plain: no --by=1:i64 as in one"
    gpuhist count --lt 5 -f 10 --by 9 --save count -o /dev/null log
    run --separate-stderr gpuhist merge one count
    assert_failed 1 "count: count, not reduce count,sum,min,max,mean,variance,stddev,and,or,xor as in one"
    printf 12345678 | gpuhist reduce -t i64 --record 8 --by i16@0 --save i16 -o /dev/null
    run --separate-stderr gpuhist merge one i16
    assert_failed 1 "i16: --by=1:i16, not --by=1:i64 as in one"
    run --separate-stderr gpuhist merge one --top 3
    assert_failed 2 "--top with reduce requires --sort (try --sort count)"
}

@test "--by: damaged states" {
    printf '%s\n' '1 2' '3 4' '1 -5' >in
    gpuhist reduce sum,min,max -f 2 --by 1 --save state -o /dev/null in
    zstd -dc state | head -n 2 >options
    printf 'gpuhist state 5\nreduce sum,min,max --type=i64 --by=1:i64\n' | cmp - options
    # shellcheck disable=SC2059
    damage() { # EXPRESSION TEXT: other options, an error
        zstd -dc state | sed "$1" | zstd -q >damaged
        run --separate-stderr gpuhist merge damaged
        assert_failed 1 "$2"
    }
    local bytes
    damage 's/^reduce sum,min,max/stalin-sort/' "damaged: corrupt state: its options are invalid"
    damage 's/by=1/by=2/' "damaged: corrupt state: its options are invalid"
    damage 's/by=1/by=x@0/' "damaged: corrupt state: its options are invalid"
    damage 's/by=1:i64/by=1:i64.19/' "damaged: corrupt state: its options are invalid"
    damage 's/^reduce sum,min,max/uniq/' "damaged: corrupt state: "
    damage 's/sum,min,max/sum,min,median/' "damaged: corrupt state: "
    damage 's/type=i64/type=i8/;s/sum,min/xor,min/' "damaged: corrupt state: "
    printf '%016d' 1 | gpuhist reduce sum -t u64 --record 16 --by i64@0 --save state -o /dev/null
    damage 's/by=1:i64/by=1:i8/' "damaged: corrupt state: the values of a group contradict each other"
    # Counts outside the bins: the first two numbers after the last bin, and none after these.
    printf '1 5\n1 2\n' | gpuhist -f 2 --by 1 --bins 6 --save state -o /dev/null
    damage 's/bins=6/bins=3/' "damaged: corrupt state: the values of a group contradict each other"
    zstd -dc state | sed 's/bins=6/bins=4/' | zstd -q >damaged
    run -0 --separate-stderr gpuhist merge damaged
    [ "$output" = $'1\t2\t1' ]
    [[ "$stderr" = *"0 below, 1 above"* ]]
    # The elements of all columns, and of each.
    printf '1 2\n3 4\n' | gpuhist reduce sum -f 1,2 --save state -o /dev/null
    zstd -dc state >plain
    [ "$(tail -c 7 plain | od -An -tx1)" = " 04 02 04 00 02 06 00" ]
    for bytes in '\003' '\001'; do # fewer elements than both columns have, or than one has
        { head -c -7 plain; printf '%b' "$bytes"; tail -c 6 plain; } | zstd -q >damaged
        run --separate-stderr gpuhist merge damaged
        assert_failed 1 "damaged: corrupt state: a column has more elements than all"
    done
    { head -c -7 plain; printf '\005'; tail -c 6 plain; } | zstd -q >damaged
    run --separate-stderr gpuhist merge damaged
    assert_failed 1 "damaged: corrupt state: not all elements are of a column"
    for bytes in '\0200\0' '\0177\0377'; do # 128 and -129, of i16
        printf '%b\1' "$bytes" |
            gpuhist reduce sum -t u8 --record 3 --offset 2 --by i16@0 --save state -o /dev/null
        damage 's/by=1:i16/by=1:i8/' "damaged: corrupt state: the values of a group contradict each other"
    done
    printf '\177\0\1\200\377\1' | # 127 and -128
        gpuhist reduce sum -t u8 --record 3 --offset 2 --by i16@0 --save state -o /dev/null
    zstd -dc state | sed 's/by=1:i16/by=1:i8/' | zstd -q >damaged
    [ "$(gpuhist merge damaged)" = $'-128\t1\n127\t1' ]
}

@test "--by: a header alone of no groups, without a line of others" {
    for format in csv tsv; do
        run -0 gpuhist uniq -f 2 --by 1 --top 1 --other --format $format </dev/null
        [ "$output" = "$([ $format = tsv ] || echo by,value,count)" ]
    done
    run -0 --separate-stderr gpuhist uniq -f 2 --by 1 --min-count 2 --other --format csv --where 1=7 <<<'1 2'
    [ "$output" = by,value,count ]
}

@test "--by: results so far with --every" {
    mkfifo pipe
    gpuhist reduce sum -f 1 --by 2 --every 1ms <pipe >out 3>&- &
    exec 4>pipe
    printf '5 1\n6 2\n' >&4
    until grep -q '^2' out; do sleep 0.01; done
    printf '7 1\n' >&4
    exec 4>&-
    wait $!
    [ "$(head -n 2 out | tail -n 1)" = $'2\t6' ] || cat out
    [ "$(tail -n 2 out)" = $'1\t12\n2\t6' ]
}

@test "--by: automatic bins have both edges in every group under a header" {
    printf '%s\n' '1 7' '1 7' '2 100' '2 9000' >in
    run -0 --separate-stderr gpuhist -f 2 --by 1 --format csv in
    [ "${lines[0]}" = by,low,high,count ]
    [ "${lines[1]}" = 1,7,8,2 ]
    printf '%s\n' "${lines[@]}" | awk -F, 'NF != 4 { exit 1 }'
    gpuhist -f 2 --by 1 --header-out in | awk -F'\t' 'NF != 4 { exit 1 }'
}

@test "--by: merge prints the header that the run printed" {
    printf '%s\n' '1 2 3' '1 3 100' >in
    for options in '-f 3 --by 2,1' '-f 3 --by 2' '-f 3,1 --by 1,2:int/2' '--names -f v,a --by b,a --header' \
        '--record 2 -f u8@1 --by u8@0,i8@1' '--record 2 -f u8@1,u8@0 --by i8@1'; do
        case $options in --names*) sed '1i a b v' in >input ;; *) cp in input ;; esac
        # shellcheck disable=SC2086
        gpuhist reduce sum $options --format csv --save state input >run
        gpuhist merge --format csv state | cmp - run
    done
}

@test "groups in json have names that no other member has" {
    printf 'count v by_v\n7 3 4\n' >in
    jsonl() { # jsonl LINE ARG...
        [ "$(gpuhist "${@:2}" --format jsonl in)" = "$1" ]
    }
    jsonl '{"by_count":7,"value":3,"count":1}' uniq -f v --by count
    jsonl '{"by_count":7,"count":1}' reduce count -f v --by count
    jsonl '{"count":7,"sum":3}' reduce sum -f v --by count
    jsonl '{"v":3,"by_v":3,"by_by_v":4,"sum":3}' reduce sum -f v --by v,v,by_v
    jsonl '{"by_v":4,"v":3,"by_by_v":3,"sum":3}' reduce sum -f v --by by_v,v,v
    printf '7 3 4\n' >in
    jsonl '{"2":3,"by_2":3,"value":3,"count":1}' uniq -f 2 --by 2,2
    printf 'column,ge 3,total,value\n7,3,4,5\n' >in
    jsonl '{"column":"total","by_column":7,"sum":4}
{"column":"value","by_column":7,"sum":5}' reduce sum --csv -f total,value --by column
    jsonl '{"by_ge 3":3,"ge 3":1}' count --csv --ge 3 -f total --by 'ge 3'
    jsonl '{"total":4,"by_value":5,"value":7,"count":1}' uniq --csv -f column --by total,value
    [ "$(gpuhist uniq --csv -f column --by total,value --format json in | tr -d '\n')" = '{"operation":"uniq",'`
        `'"groups":[{"by_total":4,"value":5,"total":1,"inside":1,"below":0,"above":0,"bins":[{"value":7,"count":1}]}]}' ]
    [ "$(gpuhist uniq --csv -f column --by total,value --format csv in)" = $'total,value,value,count\n4,5,7,1' ]
}

@test "no row meets a condition: a note after the result, which names it" {
    cd "$BATS_TEST_TMPDIR"
    printf '200 5\n304 -\n' >in
    for options in 'uniq -f 1 --where 1>=500' '-f 1 --where 1>=500' '-f 1 --bins 600 --where 1>=500' \
        'reduce sum -f 1 --by 1 --where 1>=500' 'uniq -f 2 --where 1=304 --invalid ignore' \
        'reduce sum -f 1 --where 1>=500' 'count --all --where 1>=500' \
        'count --all --where 1>=200 --where 1>=500 --where 1>=600'; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr gpuhist $options in
        local note="no row has 1 >= '500'"
        [[ $options != *=304* ]] || note='no row with a value meets --where'
        [[ $options != *=200* ]] || note="no row that meets the conditions before it has 1 >= '500'"
        [ "${stderr_lines[0]}" = "gpuhist: note: $note" ]
        # shellcheck disable=SC2086
        run -0 --separate-stderr gpuhist $options -q in
        [[ $stderr != *where* ]]
    done
    # some rows do
    for options in 'uniq -f 1 --where 1>=300' '--bins 5 -f 1 --outside ignore --where 1>=300' \
        'reduce sum -f 1 --where 1>=300' 'count --all --where 1>=300'; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr gpuhist $options in
        [ -z "$stderr" ]
    done
}
