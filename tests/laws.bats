#!/usr/bin/env bats
# The laws of rows: each side of a law by its own command, for random tables and jobs (laws.py); and invalid
# options of columns and conditions.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# check LAW [SEED [COUNT]]: checks a law of laws.py.
check() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    command -v zstd >/dev/null || skip "no zstd"
    reads_gzip || skip "no gzip"
    timeout 3000 "$PYTHON" "$srcdir/tests/laws.py" "$GPUHIST" "$@"
}

# usage TEXT ARG...: asserts a usage error that contains TEXT.
usage() {
    run --separate-stderr gpuhist "${@:2}" </dev/null
    assert_failed 2 "$1"
}

@test "--where is the run over the rows that meet it" {
    check where 1 60
}

@test "--by is the runs of its groups" {
    check by 1 25
}

@test "several columns are the runs of each" {
    check columns 1 50
}

@test "sorted groups are the lines of all groups, sorted and selected" {
    check sorted 1 50
}

@test "--or stands between conditions, and binds less than they do" {
    usage "--or must be between two --where" count --or --where 1=1
    usage "--or must be between two --where" count --where 1=1 --or
    usage "--or must be between two --where" count --where 1=1 --or --or --where 1=1
    # shellcheck disable=SC2046
    usage "--where can be given at most 16 times" count --where 1=0 $(printf -- '--or --where 1=%d ' {1..16})
    seq 0 99 >in
    # shellcheck disable=SC2046
    [ "$(gpuhist count --where 1=0 $(printf -- '--or --where 1=%d ' {1..15}) in)" = 16 ]
    run -0 gpuhist reduce count,sum -f 1 --where '1<5' --or --where '1>=90' --where '1!=95' --threads 2 in
    [ "$output" = $'count\t14\nsum\t860' ]
    run -0 --separate-stderr gpuhist count --where '1>100' --or --where '1<5' --where 1=7 in
    [ "$output" = 0 ]
    [ "$stderr" = $'gpuhist: note: no row has 1 > \'100\'\ngpuhist: note: no other row that meets the conditions before it has 1 = \'7\'' ]
}

@test "--sort, --top and --min-count of groups that are none" {
    printf '1 5\n2 7\n' >in
    usage "--top with reduce requires --sort (try --sort count)" reduce sum -f 2 --by 1 --top 3
    usage "--sort with reduce requires --by" reduce sum -f 2 --sort sum
    usage "--min-count with count requires --by" count --min-count 3
    usage "invalid --sort 'p99': expected count or a value that is printed, such as 'sum'" reduce sum -f 2 --by 1 --sort p99
    usage "invalid --sort 'sum': expected a column, a blank, and count or a value that is printed, such as '1 sum'" \
        reduce sum -f 1,2 --by 1 --sort sum
    usage "invalid --sort 'ge 6': expected count or a value that is printed, such as 'ge 5'" count --ge 5 -f 2 --by 1 --sort 'ge 6'
    [ "$(gpuhist count --ge 6 -f 2 --by 1 --sort 'ge 6' in)" = $'2\t1\n1\t0' ]
    [ "$(gpuhist count --by 1 --sort count --top 1 in)" = $'1\t1' ]
    [ "$(gpuhist reduce mean,count -f 2 --by 1 --sort avg --top 1 --format csv in)" = $'by,mean,count\n2,7,1' ]
    [ "$(gpuhist reduce max -f 2 --by 1 --sort max --format jsonl in)" = $'{"by":2,"max":7}\n{"by":1,"max":5}' ]
    gpuhist reduce sum -f 2 --by 1 --save state -o /dev/null in
    usage "invalid --sort 'bin': expected count or a value that is printed, such as 'sum'" merge --sort bin state
}

@test "--sort of groups: those without a value are last, equal ones ascend; --min-count is the least" {
    printf '%s\n' 'a 5' 'b 7' 'b 1' 'd 3' 'd 5' 'e 1' 'e 1' 'e 1' >in
    run -0 gpuhist reduce sstdev -f 2 --by 1 --sort sstdev in
    [ "$(cut -f 1 <<<"$output" | tr -d '\n')" = bdea ]
    run -0 gpuhist reduce count -f 2 --by 1 --sort count in
    [ "$output" = $'e\t3\nb\t2\nd\t2\na\t1' ]
    for least in 1:ebda 2:ebd 3:e 4:; do
        run -0 gpuhist reduce count -f 2 --by 1 --sort count --min-count "${least%:*}" in
        [ "$(cut -f 1 <<<"$output" | tr -d '\n')" = "${least#*:}" ]
        run -0 gpuhist reduce count -f 1:text,2 --by 1 --sort '2 count' --min-count "${least%:*}" in
        [ "$(cut -f 2 <<<"$output" | tr -d '\n')" = "${least#*:}${least#*:}" ]
    done
}

@test "parts that are saved and merged are the whole" {
    check parts 1 40
}

@test "uniq and count with --by in each format are what Python counts" {
    check formats 1 50
}

@test "--missing skip is the run over the rows without missing values" {
    check missing 1 30
}

@test "a value is read whole or refused, by each row scanner" {
    check read 1 30
}

@test "what --save writes merge reads back, in each format" {
    check saved 1 30
}

@test "a column of found kind gives what one of the typed kinds gives, or an error" {
    check found 1 30
}

# bats test_tags=slow
@test "all of these, for minutes" {
    skip_long
    seed=${GPUHIST_TEST_SEED:-$RANDOM$RANDOM}
    echo "GPUHIST_TEST_SEED=$seed"
    check all "$seed" 3000
}

@test "conditions that are none" {
    for bad in '' 9 '9 500' '=5' '9>' '9>= ' '>=5' '9!5' 'a b' '"x=5' '"x"y=5' '""=5' '99999999999=5'; do
        usage "invalid --where '$bad': expected a column, an operator and a value" uniq -f 1 --where "$bad"
    done
    for bad in '9>x' '9:.1<=1.25' '9>=1,2' '9<5 6' '9>-' '9:hex>0x1f'; do
        usage "invalid --where '$bad': " uniq -f 1 --where "$bad"
    done
    for bad in x 1,x 1,2x; do
        usage "invalid --where '9=$bad': '${bad#1,}' is not an integer such as" uniq -f 1 --where "9=$bad"
    done
    # shellcheck disable=SC2046
    # shellcheck disable=SC2046
    usage "--where can be given at most 16 times" uniq -f 1 $(printf -- '--where 1=%d ' {1..17})
    usage "--where requires -f" uniq --where '2=5'
    usage "--where cannot be used with merge" merge --where '2=5' x
    usage "--names cannot be used with merge" merge --names x
    run --separate-stderr gpuhist uniq -f 1 --where '2=@none' </dev/null
    assert_failed 1 "none: No such file or directory"
}

@test "columns that are none, or too many" {
    for bad in '' ',' '1,' ',1' 99999999999 '"' '""' '"a' '"a"b' '"a":'; do
        usage "invalid --field '$bad'" reduce sum -f "$bad"
        usage "invalid --by '$bad'" reduce sum -f 1 --by "$bad"
    done
    usage "--field accepts at most 32 columns" reduce sum -f "$(seq -s , 33)"
    usage "--by accepts at most 8 columns" reduce sum -f 1 --by "$(seq -s , 9)"
    usage "--weight accepts at most 1 column" uniq -f 1 --weight 2,3
    for operation in histogram uniq stalin-sort; do
        usage "$operation supports one column of values" $operation -f 1,2
        usage "$operation supports one column of values" $operation -f 1 -f 2
    done
    for operation in 'reduce sum' uniq histogram 'count --ge 5'; do
        # shellcheck disable=SC2086
        usage "--by requires -f" $operation --by 2
    done
    usage "--by cannot be used with stalin-sort" stalin-sort -f 1 --by 2
}

@test "an option that declares text cannot be combined with --binary, and the message names it" {
    local name option
    for option in --text '--field 2' '--delimiter ,' --csv '--jsonl -f a' '--logfmt -f a' '--clf -f ip' '--base 16' '--decimals 2' --header \
        '--comment x' -z '--by 1' '--where 1=1'; do
        name=${option%% *}
        # shellcheck disable=SC2086
        usage "${name/#-z/--zero-terminated} requires text input, but --binary requires binary input" \
            reduce count --binary $option
    done
    usage "--field requires text input, but --binary requires binary input" uniq --binary -f 1 --weight 2
    usage "--csv requires text input, but --type with le or be requires binary input" uniq --csv -t u16be
}

@test "elements of records that are none" {
    usage "--by TYPE@OFFSET requires --record" reduce sum -f 1 --by u8@3
    usage "--where TYPE@OFFSET requires --record" reduce sum -f 1 --where u8@3=1
    usage "-f TYPE@OFFSET requires --record" reduce sum -f u8@3
    usage "with --record, --by requires TYPE@OFFSET" reduce sum --record 8 --by 3
    usage "with --record, --where requires TYPE@OFFSET" reduce sum --record 8 --where 3=1
    usage "--field requires text input, but --record requires binary input" reduce sum --record 8 -f 3
    usage "--where: u64 at byte 1 does not fit in a --record of 8 bytes" reduce sum --record 8 --where u64@1=3
    usage "-f: u16 at byte 7 does not fit in a --record of 8 bytes" reduce sum --record 8 -f u16@7
    usage "can only have type int or .N" reduce sum --record 8 --by u8@1:hex
    usage "cannot have a width" reduce sum --record 8 -f u8@1:int/5
}

@test "kinds and widths that are none belong to the name" {
    printf 'a,a:oct,a:int/0,a:int/x,a:.19,a:.2/0.001,a:int.0,a:hex.2,a:ip.0,b:int\n1,2,3,4,5,6,7,8,9,10\n' >in
    for name in a:oct a:int/0 a:int/x a:.19 a:.2/0.001 a:int.0 a:hex.2 a:ip.0; do
        run -0 gpuhist uniq --csv -f "$name" in
        [ "$output" = "$((++value + 1))"$'\t1' ]
        run -0 gpuhist reduce count --csv -f a --by "$name" --where "$name=$((value + 1))" in
        [ "$output" = "$((value + 1))"$'\t1' ]
    done
    run --separate-stderr gpuhist uniq --csv -f b:int in
    assert_failed 1 "in: unknown column 'b'"
    for name in b:int:int '"b:int"' '"b:int":int/1'; do
        run -0 gpuhist uniq --csv -f "$name" in
        [ "$output" = $'10\t1' ]
    done
    for width in 0 -1 x '' 1.5 99999999999999999999; do # 3:int/0 is a name
        run --separate-stderr gpuhist uniq --csv -f "3:int/$width" in
        assert_failed 1 "in: unknown column type 'int/$width': expected int hex .N round.N s ms us ns bytes ibytes time localtime ip text"
    done
}

@test "names in quotes, names that are numbers or types of elements, and --names" {
    printf '2017,"a, ""b""",u8@3,x=1\n1,2,3,4\n' >in
    run -0 gpuhist reduce sum --csv -f '"2017","a, ""b""","u8@3","x=1"' in
    [ "$output" = $'2017\t1\na, "b"\t2\nu8@3\t3\nx=1\t4' ]
    run -0 gpuhist reduce sum --csv --names -f 2017,u8@3 in
    [ "$output" = $'2017\t1\nu8@3\t3' ]
    run -0 gpuhist uniq --csv -f '"2017"' --where '"x=1"=4' --where ' "a, ""b""":int/2 >= 2 ' in
    [ "$output" = $'1\t1' ]
    run --separate-stderr gpuhist uniq --csv --names -f 1 in
    assert_failed 1 "in: unknown column '1'"
    run -0 gpuhist reduce sum,max --csv -f '"a, ""b""",2017' --names --by '"x=1"' --format csv in
    [ "$output" = $'column,x=1,sum,max\n"a, ""b""",4,2,2\n2017,4,1,1' ]
    gpuhist reduce sum,max --csv -f '"a, ""b""",2017' --names --by '"x=1"' --save state --format csv in
    run -0 gpuhist merge --format csv state
    [ "$output" = $'column,x=1,sum,max\n"a, ""b""",4,2,2\n2017,4,1,1' ]
}

@test "a quote within a name is a letter of it" {
    printf '5"",b,"c,d"\n1,2,3\n' | sed 's/""/"/' >in # sizes in inches
    run -0 gpuhist reduce sum --csv -f '5",b,"c,d"' in
    [ "$output" = $'5"\t1\nb\t2\nc,d\t3' ]
    run -0 gpuhist reduce sum --csv -f b --by '5","c,d"' in
    [ "$output" = $'1\t3\t2' ]
}

@test "tabs, newlines, backslashes and other control characters in names of columns" {
    local tab=$'a\tb' newline=$'c\nd' other=$'e\\f\e\xff'
    printf '"%s","%s","%s"\n1,2,3\n' "$tab" "$newline" "$other" >in
    run -0 gpuhist reduce sum,max --csv -f "$newline,$tab" --by "$other" --header-out in
    [ "$output" = $'column\te\\\\f??\tsum\tmax\nc\\nd\t3\t2\t2\na\\tb\t3\t1\t1' ]
    run -0 gpuhist uniq --csv -f "$other" --by "$newline" --weight "$tab" --header-out in
    [ "$output" = $'c\\nd\tvalue\ta\\tb\n2\t3\t1' ]
    run -0 gpuhist reduce sum,max --csv -f "$newline,$tab" --by "$other" --format csv in
    [ "$output" = $'column,e\\f??,sum,max\n"c\nd",3,2,2\na\tb,3,1,1' ]
    run -0 gpuhist uniq --csv -f "$other" --by "$newline" --weight "$tab" --format csv in
    [ "$output" = $'"c\nd",value,a\tb\n2,3,1' ]
}

@test "conditions compare with addresses at the ends of IPv4 and IPv6" {
    # The order of Python's ipaddress, IPv4 before IPv6.
    addresses=(0.0.0.0 0.0.0.1 0.0.0.2 0.0.0.3 255.255.255.254 255.255.255.255 :: ::1 ::2
        ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff)
    total=${#addresses[@]}
    printf '%s\n' "${addresses[@]}" >in
    for ((i = 0; i < total; i++)); do
        got=
        for relation in '<' '<=' '=' '!=' '>=' '>'; do
            got+=" $(gpuhist count --all --where "1:ip$relation${addresses[i]}" in)"
        done
        echo "${addresses[i]}: $got"
        [ "$got" = " $i $((i + 1)) 1 $((total - 1)) $((total - i)) $((total - i - 1))" ]
    done
}

@test "conditions are lists in files, of texts, addresses and times" {
    printf 'b\na,b\n10.1.0.0\n' >texts
    printf '\xef\xbb\xbf10.0.0.0/8\n\n ::1 \r\n' >addresses
    printf '2026-01-01 00:00:00\n2026-01-03\n' >instants
    printf '%s\n' a b a,b bb @texts 10.1.0.0 >in
    counts() { # counts N CONDITION: N lines of `in` match
        run -0 --separate-stderr gpuhist count --all -d '|' --where "$2" "${@:3}" in
        [ "$output" = "$1" ]
    }
    counts 3 1:text=@texts
    counts 3 '1:text!=@texts'
    printf '\xef\xbb\xbfb\r\na,b\r\n10.1.0.0\r' >marked
    counts 3 1:text=@marked
    printf '\r\n' >marked # an empty string
    counts 0 1:text=@marked
    [ "$(printf '|x\ny|x\n' | gpuhist count --all -d '|' --where 1:text=@marked)" = 1 ]
    : >empty
    counts 0 1:text=@empty
    counts 6 '1:text!=@empty'
    printf '%s\n' 10.9.9.9 ::1 ::2 11.0.0.0 >in
    counts 2 1:ip=@addresses
    counts 2 '1:ip!=@addresses'
    printf '%s\n' 2026-01-01T00:00:00 2026-01-03 2026-01-02 >in
    for kind in time localtime; do
        counts 2 "1:$kind=@instants"
        counts 1 "1:$kind!=@instants"
    done
    seq 10000 | sed 's/^/t/' >texts
    seq 9001 11000 | sed 's/^/t/' >in
    counts 1000 1:text=@texts
    seq 0 9999 | awk '{ print "10.0." int($1 / 256) "." $1 % 256 }' >in
    sed -n 'p;n' in >addresses
    counts 5000 1:ip=@addresses
    counts 5000 '1:ip!=@addresses'
    counts 256 "1:ip=$(seq -s, -f '10.0.3.%g' 0 255)"
    for kind in text ip time localtime; do
        run --separate-stderr gpuhist count --all --where "1:$kind=@none" in
        assert_failed 1 "none: No such file or directory"
        run --separate-stderr gpuhist count --all --where "1:$kind=@" in
        assert_failed 2 "invalid --where '@': expected a file name after the @"
    done
    printf '\n10.0.0.1\nx\n' >addresses
    run --separate-stderr gpuhist count --all --where 1:ip=@addresses in
    assert_failed 1 "addresses:3: 'x' is not an IP address such as 10.0.0.1"
    run --separate-stderr gpuhist count --all --where 1:time=@addresses in
    assert_failed 1 "addresses:2: '10.0.0.1' is not a timestamp such as "
}

@test "times that are finer than their column are no bounds" {
    printf '2026-01-01T00:00:00.3Z\n' >in
    for time in 2026-01-01T00:00:00.5 '2026-01-01 00:00:00,01Z' 1767225600.5 2026-01-01T00:00:00.0001+00:00; do
        for relation in '>=' '<' = '!='; do
            [[ "$time" == *,* && "$relation" == [=!]* ]] && continue # a list
            usage "'$time'" count --all --where "1:time$relation$time" in
            [[ "$stderr" == *"is not a timestamp such as 2026-11-21T13:45:02Z"* ]]
        done
        [[ "$time" == *,* ]] && continue
        usage "with no more decimals than its column (COLUMN:time.3)" count -f 1:time --ge "$time" in
        usage "with no more decimals than their column (COLUMN:time.3)" count -f 1:time --in "$time:2027-01-01" in
        usage "with no more decimals than their column (COLUMN:time.3)" \
            histogram -f 1:time --width 1s --range "$time:2027-01-01" in
    done
    usage "is not a timestamp such as" count --all --where '1:time.3>=2026-01-01T00:00:00.2501' in
    [ "$(gpuhist count --all --where '1:time.3>=2026-01-01T00:00:00.250000' in)" = 1 ]
    [ "$(gpuhist count --all --where '1:time>=2026-01-01T00:00:00.000Z' in)" = 1 ]
    [ "$(gpuhist count --all --where '1:time.1>=1767225600.40' in)" = 0 ]
}

@test "lists of conditions with an empty item" {
    for list in "5,," "," ,5 5,,6 '5, ' ' ,5' '5, ,6'; do
        usage "invalid --where '1=$list': " uniq -f 1 --where "1=$list"
        usage "invalid --where '1!=$list': " uniq -f 1 --where "1!=$list"
    done
    usage "invalid --where '1:ip=::1,': '' is not an IP address such as" uniq -f 1 --where 1:ip=::1,
    usage "invalid --where '1:time=,2026-01-01': '' is not a timestamp such as" uniq -f 1 --where 1:time=,2026-01-01
    usage "invalid --where '1:time=,': '' is not a timestamp such as" uniq -f 1 --where 1:time=,
    [ "$(printf '5\n6\n7\n' | gpuhist count --all --where '1=5, 6')" = 2 ]
    [ "$(printf '5||\n' | gpuhist count --all -d'|' --where '2:text=5,')" = 1 ] # a string may be empty
}

@test "what is said where a row meets --where, but a value is invalid" {
    refuses() { # refuses MESSAGE ARG...
        run --separate-stderr gpuhist "${@:2}" --invalid ignore -q in
        echo "$stderr"
        [[ "$status" -eq 1 && "$stderr" = "gpuhist: $1" ]]
    }
    printf 'k a b\n1 5 x\n' >in
    refuses "b: it has no value, but another column has" reduce mean -f a,b --where k=1
    refuses "cannot compute mean: no row with a value meets --where" reduce mean -f b --where k=1
    refuses "cannot compute mean: no row with a value meets --where" reduce mean -f a,b --where k=2
    printf 'k a b\n1 5 1\n1 6 x\n' >in
    refuses "b: cannot compute sstdev: there is only one value" reduce sstdev -f a,b
    printf '1 5\nx 5\n' >in
    run -0 --separate-stderr gpuhist reduce sum -f 2 --where 1=77 --invalid ignore in
    [[ "$output" = 0 && "$stderr" = "gpuhist: note: no row has 1 = '77'"$'\n'"gpuhist: note: skipped 1 invalid value"* ]]
    run -0 --separate-stderr gpuhist reduce sum -f 1 --invalid ignore <<<x
    [[ "$stderr" = "gpuhist: all input was invalid and ignored: 1 value"* ]]
}
