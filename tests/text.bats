#!/usr/bin/env bats
# Text: parsing of values and detection of text, wherever chunks are cut. Oracles are awk and Python.
# Fields are in text_fields.bats, reports of invalid integers in text_invalid.bats.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# --- the table of bad inputs, 1 to 26 ----------------------------------------------------------

@test "empty, or only a newline: no value" {
    printf '' | assert_sum "0 0"
    printf '\n' | assert_sum "0 0"
    printf '\n\n \t\n\r\n' | assert_sum "0 0"
    printf '\n\n \t\n\r\n' | assert_sum "0 0" -f 1
    printf '\n\n \t\n\r\n' | assert_sum "0 0" -d ,
    run -0 gpuhist --bins 5 </dev/null
    [ -z "$output" ]
    run -0 gpuhist --bins 5 < <(printf '\n')
    [ -z "$output" ]
}

@test "no final newline" {
    printf '1\n2' | assert_sum "2 3"
    printf '1 2' | assert_sum "1 2" -f 2
    printf '1,2' | assert_sum "2 3" -d ,
}

@test "CRLF ends a line; a lone CR is white space between values, and no part of a field" {
    printf '1\r\n2\r\n' | assert_sum "2 3"
    printf 'a 1\r\nb 2\r\n' | assert_sum "2 3" -f 2
    printf 'a,1\r\nb,2\r\n\r\n' | assert_sum "2 3" -d , -f 2
    printf '1,2\r\n3,4\r\n' | assert_sum "4 10" -d ,
    printf '1\r2\n' | assert_sum "2 3"
    printf '5\n1\r2\n' | assert_invalid 2 '1?2' -f 1
    printf '5\n1\r,2\n' | assert_invalid 2 '1?' -d ,
}

@test "a byte order mark, and UTF-16" {
    printf '\357\273\2771\n2\n' |
        assert_report 1 "invalid integer '<byte order mark>1' (try tail -c +4, which removes it)"
    printf '\357\273\277id 2\n' |
        assert_report 1 "invalid integer '<byte order mark>id' (try tail -c +4, which removes it)" -f 1
    printf '1\n\357\273\2772\n' | assert_invalid 2 '<byte order mark>2'
    wide="try --binary, or iconv if it is UTF-16"
    printf '\377\3761\0\n\0' | assert_report 1 "invalid integer '??1?' ($wide)"
    printf 'id,ms\n1,2\n' | iconv -t UTF-16LE | assert_report 1 "invalid integer '?m?s?' ($wide)" -d , -f 2
    printf 'id,ms\n1,2\n' | iconv -t UTF-16 >in
    for separator in --csv '-d,' -q; do
        run -1 --separate-stderr gpuhist reduce sum $separator -f ms in
        [[ $stderr == "gpuhist: in: unknown column 'ms': the header is "*" ($wide)" ]]
    done
    [ "$(iconv -f UTF-16 -t UTF-8 in | gpuhist reduce sum --csv -f ms)" = 2 ]
}

# in_encoding NAME: prints the text on standard input with a byte order mark, by Python.
in_encoding() {
    "$PYTHON" -c 'import sys
sys.stdout.buffer.write(("\ufeff" + sys.stdin.read()).encode(sys.argv[1]))' "$1"
}

# bats test_tags=slow
@test "text in UTF-16 and UTF-32 is not taken for binary, nor binary for that" {
    local encoding type
    for encoding in utf-16-le utf-16-be utf-32-le utf-32-be; do
        { printf 'id,gr\303\266\303\237e \360\237\230\200\r\n'; seq 40000; } | in_encoding $encoding >in
        for type in i8 i16 u32 i64; do
            run --separate-stderr gpuhist reduce sum -t $type in
            assert_failed 1 "in: text in UTF${encoding:3:3}, which is not supported"
        done
        seq 3 | in_encoding $encoding >in
        run --separate-stderr gpuhist --bins 5 <in
        assert_failed 1 "standard input: text in UTF${encoding:3:3}, which is not supported"
        run --separate-stderr gpuhist count --all < <(cat in)
        assert_failed 1 "standard input: text in UTF${encoding:3:3}, which is not supported"
        run -0 gpuhist count --all --binary -t u8 in
        [ "$output" = "$(wc -c <in)" ]
        run -0 gpuhist count --all -t i16le in
        [ "$output" = "$(($(wc -c <in) / 2))" ]
    done
    # elements that equal a byte order mark by chance: 65279, -257, -2, 254 and 255
    int32 65279 3 48 49 >in
    run -0 gpuhist reduce max in
    [ "$output" = 65279 ]
    int32 65279 100000 70000 90000 >in
    run -0 gpuhist reduce max in
    [ "$output" = 100000 ]
    int32 -257 -2 100 >in
    run -0 gpuhist reduce sum -t i32 in
    [ "$output" = -159 ]
    int32 -2 49 50 >in
    run -0 gpuhist reduce sum in
    [ "$output" = 97 ]
    printf '\377\376\054\001\220\001' >in # -257, 300, 400
    run -0 gpuhist reduce sum -t i16 in
    [ "$output" = 443 ]
    printf '\377\376' >in
    run -0 gpuhist reduce sum -t i16 in
    [ "$output" = -257 ]
    run -0 gpuhist reduce sum -t u8 in
    [ "$output" = 509 ]
    # without a mark it may be 16-bit integers
    printf '1\0002\000\n\000' >in
    run -0 gpuhist reduce sum -t u16 in
    [ "$output" = 109 ]
}

@test "NUL inside a number" {
    printf '7\n1\0002\n' | assert_report 2 "invalid integer '1?2' (try --binary, or iconv if it is UTF-16)"
}

# bats test_tags=slow
@test "signs" {
    printf '+5\n' | assert_sum "1 5"
    printf -- '-5 +7\n' | assert_sum "2 2"
    printf -- '-0\n' | assert_sum "1 0"
    printf -- '-0\n' | assert_sum "1 0" -t u8
    for bad in - + --5 +-5 -+5 5- 5+ -; do
        reason="invalid integer '$bad'"
        [ "$bad" != - ] || reason+=" (try --invalid ignore)"
        printf '1\n%s\n' "$bad" | assert_report 2 "$reason"
        printf '1\n%s\n' "$bad" | assert_report 2 "$reason" -f 1
        printf '1\n%s\n' "$bad" | assert_report 2 "$reason" -d ,
    done
    printf '1\n-1\n' | assert_report 2 "'-1' is out of range for u8 (try -t i64)" -t u8
    # A column with negative values and values from 2^63 on, which no type supports: its strings are counted.
    printf '9223372036854775808\n-1\n-1\n' >both
    run -1 --separate-stderr gpuhist uniq both
    [ "$stderr" = "gpuhist: both:1: '9223372036854775808' is out of range for i64 (try -t u64)" ]
    run -1 --separate-stderr gpuhist uniq -t u64 --text both
    [ "$stderr" = "gpuhist: both:2: '-1' is out of range for u64 (try -t i64)" ]
    [ "$(gpuhist uniq -f 1:text both)" = "$(LC_ALL=C sort both | uniq -c | awk -v OFS='\t' '{ print $2, $1 }')" ]
}

@test "leading zeros" {
    printf '007 -0000000000000000000000000000000000000000000000000000000000012\n' | assert_sum "2 -5"
    printf '%0300d\n' 200 | assert_sum "1 200" -t u8
    printf '%0300d\n' 256 >in
    run --separate-stderr gpuhist reduce sum -t u8 --text in
    assert_failed 1 "in:1: '0000000000000000000000000000000000000000...' is out of range for u8 (try -t i64)"
}

# bats test_tags=slow
@test "of a token of 3 MB, the first 40 bytes are shown, however it comes" {
    local shown engine arguments
    shown="invalid integer 'abcdefghij$(printf 'q%.0s' {1..30})...'"
    { printf abcdefghij; head -c 3000000 /dev/zero | tr '\0' q; } >token
    { printf '7\n'; cat token; printf '\n8\n'; } >in
    for engine in $ENGINES; do
        for arguments in '' '-f 1' '-d , -f 1' '--csv -f -1' '--threads 1' '--chunk-size 4096'; do
            if [[ $engine == cuda && $arguments == --csv* ]]; then continue; fi
            # shellcheck disable=SC2086
            run --separate-stderr gpuhist reduce sum --text --engine "$engine" $arguments in
            assert_failed 1 "in:2: $shown"
            # shellcheck disable=SC2086
            run --separate-stderr gpuhist reduce sum --engine "$engine" $arguments < <(cat in)
            assert_failed 1 "standard input:2: $shown"
        done
        run --separate-stderr gpuhist reduce sum --engine "$engine" --invalid fail < <(head -c 3 in; sleep 0.1; tail -c +4 in)
        [ "$output" = 15 ] && [ "${stderr_lines[0]}" = "gpuhist: standard input:2: $shown" ]
        if [ "$engine" != cuda ]; then
            run --separate-stderr gpuhist reduce sum --jsonl -f ms --engine "$engine" < <(printf '{"ms":"'; cat token; echo '"}')
            assert_failed 1 "standard input:1: $shown"
        fi
        if reads_gzip; then # in members; the first ends after the token's first byte
            { head -c 3 in | gzip; tail -c +4 in | gzip -1; } >in.gz
            run --separate-stderr gpuhist reduce sum --text --engine "$engine" in.gz
            assert_failed 1 "in.gz:2: $shown"
        fi
    done
}

@test "no integers: exponents, hexadecimal, fractions, NaN, commas" {
    printf '3\n\n0x10\n4\n' | assert_report 3 "invalid integer '0x10' (try --base 16)"
    printf '3\n\n1.0\n4\n' | assert_report 3 "invalid integer '1.0' (try --decimals 1)"
    for bad in NaN123 abc 1:2; do
        printf '3\n\n%s\n4\n' "$bad" | assert_invalid 3 "${bad# }"
    done
}

# bats test_tags=plain
@test "numbers that are written as elsewhere are said to be not read, where they are told" {
    local foreign="try man gpuhist-formats, UNSUPPORTED NUMBERS" token
    # assert_advised TOKEN ADVICE ARG...
    assert_advised() {
        run --separate-stderr gpuhist reduce sum "${@:3}" < <(printf '3\n%s\n' "$1")
        [ "$stderr" = "gpuhist: standard input:2: invalid integer '$(tr -d '"' <<<"$1")'${2:+ ($2)}" ]
    }
    for token in 1_000 "1'000'000" '$5' €5 10% -10.5% 12a; do
        assert_advised "$token" "$foreign"
        assert_advised "$token" "$foreign" -f 1
    done
    while read -r token advice; do # with an exponent
        assert_advised "$token" "try --decimals $advice"
    done <<<$'1e5 0\n1.5e-3 4\n-2E+10 0\n.5e1 0\n-1e-19 round.18\n0.00501234567890123456789 round.8'
    for token in 5ms 5µs 1.5K 5Mi; do
        assert_advised "$token" "$foreign"
        run --separate-stderr gpuhist reduce sum -f 1 < <(printf '3\n%s\n' "$token")
        [[ $stderr =~ "invalid integer '$token' (try COLUMN:"([a-z]+)[,\)] ]]
        gpuhist reduce sum -f "1:${BASH_REMATCH[1]}" < <(printf '3\n%s\n' "$token")
    done
    for token in 1,234 -1,234,567.5 5,50; do
        assert_advised "$token" "$foreign" -d '\t' -f 1
        assert_advised "\"$token\"" "$foreign" --csv -f 1
        assert_advised "$token" "try -d , or man gpuhist-formats, UNSUPPORTED NUMBERS"
        assert_advised "$token" "try -d , or man gpuhist-formats, UNSUPPORTED NUMBERS" -f 1
    done
    for token in NaN NA null '\N'; do assert_advised "$token" "try --invalid ignore"; done
    for token in 1.234,50 12,x 5msecs 1-2 a5 %; do assert_advised "$token" "" -d '\t' -f 1; done
    printf '{"ms":"1,234"}\n' >in
    run --separate-stderr gpuhist reduce sum --jsonl -f ms in
    [ "$stderr" = "gpuhist: in:1: invalid integer '1,234' ($foreign)" ]
    run --separate-stderr gpuhist uniq -f 1 --weight 2 < <(printf '1 5ms\n')
    [[ $stderr == *": invalid weight '5ms', no integer from 0 to 2^63 - 1 (try COLUMN:ms, or ms.6 for nanoseconds)" ]]
    [ "$(gpuhist uniq -f 1 --weight 2:ms < <(printf '1 5ms\n'))" = $'1\t5' ]
}

@test "a number with a point, a hexadecimal one and several fields get the option that reads them" {
    # assert_advised TOKEN ADVICE
    assert_advised() {
        run --separate-stderr gpuhist reduce sum --text < <(printf '%s\n' "$1")
        [ "$stderr" = "gpuhist: standard input:1: invalid integer '$1'$2" ]
        assert_failed 1 ''
    }
    for token in 1.5 -1.5 +1.5 .5; do assert_advised $token ' (try --decimals 1)'; done
    assert_advised 3.123456789012345678 ' (try --decimals 18)'
    assert_advised 3.1234567890123456789 ' (try --decimals round.5)'
    for token in 1.2.3 1. -.x 0x1g 1x10 7f00 1f2 7g00 -7f00; do assert_advised $token ''; done
    for token in id,ms 1,a,2 'a,' '"1",x'; do assert_advised "$token" ' (try --csv -f N)'; done
    assert_advised '1;2' " (try -d ';')"
    for token in 'id;ms' '1;b'; do assert_advised "$token" " (try -d ';' -f N)"; done
    for token in '"5' '""'; do assert_advised "$token" ''; done
    for token in '"5"' '"-17"' '"1.5"'; do assert_advised "$token" ' (try --csv)'; done
    for token in face bad7 bad77; do assert_advised $token ' (try --header)'; done # words
    for token in '{"ms":17,"n":2}' '{}'; do assert_advised "$token" ' (try --jsonl -f NAME)'; done
    for token in ab a_1; do assert_advised "$token" ' (try --header)'; done
    echo id,ms | assert_report 1 "invalid integer 'id,ms' (try --header)" -f 1
    echo id,ms | assert_report 1 "invalid integer 'id' (try --header, or -f NAME)" -d ,
    for token in 0x10 -0XfF; do assert_advised $token ' (try --base 16)'; done
    [ "$(gpuhist reduce sum --decimals 1 < <(echo -1.5))" = -1.5 ]
}

@test "the first word of a file gets the option that skips it or selects another" {
    # assert_told TEXT MESSAGE: asserts the message about line 1, for a file and a pipe
    assert_told() {
        printf %b "$1" >in
        for input in - in; do
            run --separate-stderr gpuhist reduce sum --text $input < <(cat in)
            [[ $stderr == "gpuhist: "*":1: $2" ]] || { echo "$1 ($input): $stderr"; return 1; }
            assert_failed 1 ''
        done
    }
    assert_told '10.0.0.7 - - [01/May] "GET /" 200 5\n' "invalid integer '10.0.0.7' (try -f N)"
    assert_told 'GET\t200\n' "invalid integer 'GET' (try -f N)"
    assert_told '2025-05-01 7\n' "invalid integer '2025-05-01' (try -f N)"
    assert_told 'a,b c\n' "invalid integer 'a,b' (try --csv -f N)"
    assert_told '1.5 c\n' "invalid integer '1.5' (try --decimals 1)"
    assert_told '1,5 7\n' "invalid integer '1,5' (try -d , or man gpuhist-formats, UNSUPPORTED NUMBERS)"
    assert_told '- 7\n' "invalid integer '-' (try --invalid ignore)"
    assert_told '\xef\xbb\xbf1\n2\n' "invalid integer '<byte order mark>1' (try tail -c +4, which removes it)"
    assert_told '7 GET\n' "invalid integer 'GET'"
    assert_told ' GET 7\n' "invalid integer 'GET'"
    assert_told 'id\n5\n' "invalid integer 'id' (try --header)"
    assert_told 'id\r\n5\r\n' "invalid integer 'id' (try --header)"
    assert_told '5-x\n5\n' "invalid integer '5-x'"
    # The hint is about the first token, whatever the sizes of reads from the pipe.
    run -1 --separate-stderr gpuhist reduce sum --text < <(printf GE; sleep 0.2; printf 'T '; sleep 0.2; echo 7)
    [ "$stderr" = "gpuhist: standard input:1: invalid integer 'GET' (try -f N)" ]
}

# bats test_tags=plain
@test "a field that holds several, or is missing, gets the delimiter that is in its line" {
    # assert_told TEXT REASON ARG...
    assert_told() {
        printf '%b\n' "$1" >in
        run --separate-stderr gpuhist reduce sum "${@:3}" in
        assert_failed 1 ''
        [ "$stderr" = "gpuhist: in:1: $2" ] || { echo "$1: $stderr"; return 1; }
    }
    assert_told 'x 170,83' "invalid integer '170,83' (try -d , or man gpuhist-formats, UNSUPPORTED NUMBERS)" -f 2
    assert_told 'x 170,83,5' "invalid integer '170,83,5' (try -d ,)" -f 2
    assert_told 'x 170;83' "invalid integer '170;83' (try -d ';')" -f 2
    assert_told 'x 170|83' "invalid integer '170|83' (try -d '|')" -f 2
    assert_told '1 2,x' "invalid integer '2,x' (try -d ,)" -f 2
    assert_told 'x;170,83,x' "invalid integer '170,83,x'" -d ';' -f 2
    assert_told '1\t2' "missing field 2: the line has 1 (try --csv -d '\\t')" --csv -f 2
    assert_told '1,2' "missing field 2: the line has 1 (try -d ,)" -f 2
    assert_told ' a;b;3' "missing field -2: the line has 1 (try -d ';')" -f -2
    assert_told 'a,b' "missing field 2: the line has 1 (try --csv)" --csv -d ';' -f 2
    assert_told 'a b,3' "missing field 3: the line has 2" -f 3
    assert_told '12' "missing field 2: the line has 1" -f 2
    assert_told '{"a": 1, "b": 2}' "missing field 5: the line has 4 (try --jsonl -f NAME)" -f 5
    assert_told ' {"a":1,"b":2}' "invalid integer '\"b\":2}' (try --jsonl -f NAME)" -d , -f 2
    assert_told '7 {"a":1}' "invalid integer '{\"a\":1}'" -f 2
    assert_told '1\x017\t' "invalid integer '1?7' (try --binary, or iconv if it is UTF-16)" -f 1
    assert_told '1 7\xe9' "invalid integer '7?' (try --binary, or iconv if it is UTF-16)" -f 2
    assert_told '1 7\xc3\xa97' "invalid integer '7é7'" -f 2
    # of the header
    printf 'id,ms\n1,2\n' >in
    run --separate-stderr gpuhist reduce sum -d ';' --csv -f ms in
    assert_failed 1 "in: unknown column 'ms': the header is 'id,ms' (try -d ,)"
}

@test "quotes between delimiters get --csv" {
    printf '"id","ms"\n"/a,b","36"\n' >in
    run --separate-stderr gpuhist reduce sum -d , -f ms in
    assert_failed 1 "in: unknown column 'ms': the header is '\"id\",\"ms\"' (try --csv)"
    run --separate-stderr gpuhist reduce sum -d , -f 2 --header in
    assert_failed 1 "in:2: invalid integer 'b\"' (try --csv)"
    run --separate-stderr gpuhist reduce sum -d , -f 3 --header in
    assert_failed 1 "in:2: invalid integer '\"36\"' (try --csv)"
    run -0 --separate-stderr gpuhist reduce sum --csv -f ms in
    [ "$output" = 36 ]
    run --separate-stderr gpuhist reduce sum --csv -f bytes in
    assert_failed 1 "in: unknown column 'bytes': the header is '\"id\",\"ms\"'"
    [[ $stderr != *'('* ]]
}

# bats test_tags=slow
@test "a locale with decimal commas" {
    use_comma_locale
    printf '1,5\n' >in
    run --separate-stderr gpuhist reduce sum in
    assert_failed 1 "in:1: invalid integer '1,5'"
    printf '1.5\n' >in
    run --separate-stderr gpuhist reduce sum in
    assert_failed 1 "in:1: invalid integer '1.5'"
    printf '1 1.000 1,000\n2\n' >in
    run -0 --separate-stderr gpuhist reduce sum,mean --invalid ignore in
    [ "$output" = $'sum\t3\nmean\t1.5' ]
}

# bats test_tags=slow
@test "the limits of every type, and one more" {
    local type low high below above over under # the last two: types that have them
    while IFS=' ' read -r type below low high above over under; do
        [ "$type" != u64 ] || { under=$over over=; }
        printf '%s\n%s\n' "$low" "$high" | assert_sum \
            "2 $("$PYTHON" -c 'import sys; print(int(sys.argv[1]) + int(sys.argv[2]))' "$low" "$high")" -t "$type"
        printf '0\n%s\n' "$above" |
            assert_report 2 "'$above' is out of range for $type${over:+ (try -t $over)}" -t "$type"
        printf '0\n%s\n' "$below" |
            assert_report 2 "'$below' is out of range for $type${under:+ (try -t $under)}" -t "$type"
        printf '%s 0\n' "$above" |
            assert_report 1 "'$above' is out of range for $type${over:+ (try -t $over)}" -t "$type" -f 1
    done <<'END'
i8 -129 -128 127 128 i64 i64
u8 -1 0 255 256 i64 i64
i16 -32769 -32768 32767 32768 i64 i64
u16 -1 0 65535 65536 i64 i64
i32 -2147483649 -2147483648 2147483647 2147483648 i64 i64
u32 -1 0 4294967295 4294967296 i64 i64
i64 -9223372036854775809 -9223372036854775808 9223372036854775807 9223372036854775808 u64
u64 -1 0 18446744073709551615 18446744073709551616  i64
END
    printf '12650105345500799213\n' |
        assert_report 1 "'12650105345500799213' is out of range for i64 (try -t u64)"
    printf '18446744073709551617\n' |
        assert_report 1 "'18446744073709551617' is out of range for i64"
    printf '340282366920938463463374607431768211457\n' |
        assert_report 1 "'340282366920938463463374607431768211457' is out of range for u64" -t u64
}

# bats test_tags=slow,plain
@test "very long numbers through a pipe: one invalid integer, or no memory" {
    skip_under_asan
    run --separate-stderr bash -c 'ulimit -v 600000
        head -c 1G /dev/zero | tr "\0" 7 | "$GPUHIST" reduce sum --text --engine cpu --threads 2'
    [ "$status" -eq 1 ] && [ -z "$output" ]
    [ "$stderr" = "gpuhist: standard input:1: not enough memory for a line of more than 268435456 bytes" ]
    run --separate-stderr bash -c 'head -c '$((SHARE > 1 ? 50 : 300))'M /dev/zero | tr "\0" 7 |
        "$GPUHIST" reduce sum --text --engine cpu --threads 2'
    [[ $stderr == "gpuhist: standard input:1: '7777777777"*"...' is out of range for i64" ]]
    run -0 --separate-stderr bash -c 'ulimit -v 1200000
        { head -c 300M /dev/zero | tr "\0" 0; echo 42; } | "$GPUHIST" reduce sum --text --engine cpu --threads 2'
    [ "$output" = 42 ]
}

# bats test_tags=slow,plain
@test "a line of 300 MiB: a field, the last one, one behind a delimiter" {
    skip_under_asan
    local line='{ echo "1 2 3"; printf "4 5 "; yes "8888888 xxx" | head -c $size | tr "\n" " "; echo 6; echo "7 8 9"; }'
    run -0 bash -c "size=300M; ulimit -v 1200000; $line | \"\$GPUHIST\" reduce sum -f 2 --engine cpu --threads 2"
    [ "$output" = 15 ]
    run -0 bash -c "size=300M; ulimit -v 1200000; $line | \"\$GPUHIST\" reduce sum -f -1 --engine cpu --threads 2"
    [ "$output" = 18 ]
    run -0 bash -c "size=50M; ulimit -v 600000; $line | tr ' ' , | \"\$GPUHIST\" reduce sum -f 2 -d, --engine cpu --threads 2"
    [ "$output" = 15 ]
    run -0 bash -c '{ yes 3 | head -c 50M | tr "\n" ,; echo 3; } |
        { ulimit -v 600000; "$GPUHIST" reduce count,sum -d, --engine cpu --threads 2; }'
    [ "$output" = $'count\t26214401\nsum\t78643203' ]
}

@test "a line of more than 4 GiB: words are values, fields and numbers are an error" {
    skip_long
    skip_under_asan
    fill() { yes "$1" | tr '\n' "$2" | head -c 4300M; }
    { echo 1; fill 3 ' '; echo 2; } | assert_flat $'count\t2254438402\nsum\t6763315202' reduce count,sum
    for options in '' '-f 2' '-d ,'; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist reduce sum $options --engine cpu < <(echo 1 2; fill 7 7; echo)
        [ "$status" -eq 1 ] && [ -z "$output" ]
        [[ $stderr == *":2: the line is longer than 1073741824 bytes" || $options == '-d ,' ]]
    done
}

@test "tabs, blanks and other white space separate values; a no-break space does not" {
    printf ' 1\t2  3\v4\f5\r6\n\n\t7 \n' | assert_sum "7 28"
    printf ' \t1 \t 2\t\n' | assert_sum "1 2" -f 2
    printf '1\302\2402\n' | assert_invalid 1 $'1\302\2402'
    printf '1\v2\n' | assert_invalid 1 '1?2' -f 1
}

@test "256 times a" {
    printf 'a%.0s' {1..256} | assert_invalid 1 "$(printf 'a%.0s' {1..40})..."
}

# bats test_tags=slow
@test "a number cut by a chunk edge at every offset, in files and pipes" {
    local shift engine
    for shift in {0..24}; do
        { printf '%*s' "$shift" ''; seq -f %.0f 123456789001 123456790000; printf '\n%4090s-1234567\n' ' '; } >in
        for engine in $ENGINES; do
            [ "$engine" = cpu ] || [ $((shift % 6)) -eq 0 ] || continue
            run -0 gpuhist reduce count,sum --engine "$engine" --chunk-size 4096 --threads 3 in
            [ "$output" = $'count\t1001\nsum\t123456788265933' ]
            run -0 gpuhist reduce sum --engine "$engine" --chunk-size 4096 < <(cat in)
            [ "$output" = 123456788265933 ]
        done
    done
    # more than 64 KiB, so that ranges of the file are claimed; and the usual chunk of a pipe
    for shift in {0..12}; do
        { printf '%*s' "$shift" ''; seq 1234567001 1234607000; } >in
        run -0 gpuhist reduce count,sum --chunk-size 4099 --engine cpu in
        [ "$output" = $'count\t40000\nsum\t49383480020000' ]
        run -0 gpuhist reduce count,sum --engine cpu < <(cat in)
        [ "$output" = $'count\t40000\nsum\t49383480020000' ]
    done
}

@test "a range of a file ends with a line or a value, however far before its edge that is" {
    local chunk
    # numbers between words of 3 to 9 KB, more than one scan covers; and numbers of that length
    awk 'BEGIN { srand(8); for (words = "w"; length(words) < 9000;) words = words words
        for (i = 0; i < 300; i++)
            print int(90000 * rand()) + 10000, substr(words, 1, 3000 + int(6000 * rand())), \
                int(90000 * rand()) + 10000 }' >lines
    awk '{ n += $1 } END { printf "%.0f\n", n }' lines >first
    awk '{ n += $NF } END { printf "%.0f\n", n }' lines >last
    awk '{ gsub(/w/, "0", $2); print $2 $3 }' lines >values
    for chunk in 16K 20011 64K; do
        gpuhist reduce sum -f 1 --chunk-size $chunk --threads 3 lines | cmp first -
        gpuhist reduce sum -f -1 --chunk-size $chunk --threads 3 lines | cmp last -
        gpuhist reduce sum --chunk-size $chunk --threads 3 values | cmp last -
    done
}

# --- detection of text -------------------------------------------------------------------------

@test "text is recognised; NUL, control characters and what is no UTF-8 mean binary" {
    run -0 --separate-stderr gpuhist --bins 5 < <(printf '3\n1\n3\n')
    [ "$output" = $'1\t1\n3\t2' ] && [ -z "$stderr" ]
    # text in UTF-8, with a character that the first block of 64 KiB cuts in two
    run --separate-stderr gpuhist --bins 5 < <(printf 'Gr\303\266\303\237e 5\n')
    assert_failed 1 $'standard input:1: invalid integer \'Gr\303\266\303\237e\''
    { printf '1%65534s' ''; printf '\303\266 2\n'; } >edge
    run --separate-stderr gpuhist --bins 5 edge
    assert_failed 1 $'edge:1: invalid integer \'\303\266\''
    run --separate-stderr gpuhist --bins 5 < <(cat edge)
    assert_failed 1 $'standard input:1: invalid integer \'\303\266\''
    # Latin-1, NUL, a control character: binary
    for odd in 'Gr\366\337e 5 6' '1\0003\n456789' '1\0013\n456789' '1\0333\n456789' '\3031\n'; do
        # shellcheck disable=SC2059
        printf "$odd" >in
        run -0 gpuhist count --all -t u8 in
        [ "$output" = "$(wc -c <in)" ]
    done
    { seq 20000; printf '\0'; } >late # after the block that is checked
    run --separate-stderr gpuhist reduce sum late
    assert_failed 1 "late:20001: invalid integer '?'"
}

@test "--binary, --text, -f, -d and a type with a byte order say what the input is" {
    printf '3\n1\n' >in
    run -0 gpuhist reduce sum --binary -t u8 in
    [ "$output" = 120 ]
    run -0 gpuhist reduce sum -t u8le in
    [ "$output" = 120 ]
    run -0 gpuhist reduce sum -t u8 in
    [ "$output" = 4 ]
    run -0 gpuhist reduce sum -t i64 in
    [ "$output" = 4 ]
    printf '3\n\0011\n' >odd
    run --separate-stderr gpuhist reduce sum --text odd
    assert_failed 1 "odd:2: invalid integer '?1'"
    run --separate-stderr gpuhist reduce sum -f 1 odd
    assert_failed 1 "odd:2: invalid integer '?1'"
    for clash in "--text --binary" "-f 1 --binary" "-d , -t i32le" "--header -t u16be"; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist reduce sum $clash in
        assert_failed 2 " requires text input, but --"
    done
    for bad in "" 99999999999; do
        run --separate-stderr gpuhist reduce sum -f "$bad" in
        assert_failed 2 "invalid --field '$bad'"
    done
    for bad in "" ab é 5 $'\n'; do
        run --separate-stderr gpuhist reduce sum -d "$bad" in
        assert_failed 2 "invalid --delimiter"
        assert_failed 2 "expected one byte that is no digit"
    done
}

# bats test_tags=later
@test "text that comes slowly, a piece at a time, is counted at its end" {
    run -0 bash -c '{ printf 1; sleep 0.1; printf "2\n3"; sleep 0.1; printf "\n\n4 5"; sleep 0.05; printf 6; } |
        "$GPUHIST" reduce count,sum,max'
    [ "$output" = $'count\t4\nsum\t75\nmax\t56' ]
    mkfifo fifo
    { for i in {1..40}; do printf '%s\n' "$i"; sleep 0.005; done; } >fifo 3>&- &
    run -0 gpuhist reduce sum fifo
    [ "$output" = 820 ]
    wait $!
}

@test "stalin-sort writes integers, one a line, as the stream goes" {
    local engine
    printf '3 1\n+4 007 7\n6 8' >in
    for engine in $ENGINES; do
        run -0 gpuhist stalin-sort --engine "$engine" --purged out in
        [ "$output" = $'3\n4\n7\n7\n8' ] && [ "$(cat out)" = $'1\n6' ]
    done
    awk 'BEGIN { srand(3); for (i = 0; i < 100000; i++) print int(i / 10 + 5000 * rand()) }' >in
    awk 'NR == 1 || $1 >= last { print; last = $1 }' in >expected
    for engine in $ENGINES; do
        gpuhist stalin-sort --engine "$engine" --chunk-size 4096 in | cmp expected -
        gpuhist stalin-sort --engine "$engine" < <(cat in) | cmp expected -
    done
    for engine in $ENGINES; do
        run -1 --separate-stderr gpuhist stalin-sort --engine "$engine" < <(printf '1\n5\nx\n7\n')
        [ "$output" = $'1\n5' ] && [ "$stderr" = "gpuhist: standard input:3: invalid integer 'x'" ]
        run -0 --separate-stderr gpuhist stalin-sort --engine "$engine" --invalid ignore < <(printf '1\n5\nx\n7\n')
        [ "$output" = $'1\n5\n7' ]
    done
}

@test "random text, as Python reads it" {
    # shellcheck disable=SC2086
    run -0 "$PYTHON" "$srcdir/tests/text.py" "$GPUHIST" $((150 / SHARE)) $((RANDOM)) $ENGINES
}

# bats test_tags=slow
@test "every instruction set reads random text as Python does" {
    run -0 "$PYTHON" "$srcdir/tests/text.py" "$GPUHIST" $((60 / SHARE)) 7 cpu:avx512+cpu:avx2+cpu:plain
}
