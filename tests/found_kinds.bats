#!/usr/bin/env bats
# Kinds that are found in the input, with the law of tests/found_kinds.py.

load helpers

@test "a column that is not in the header is named, not a condition on another column" {
    cd "$BATS_TEST_TMPDIR"
    printf 'at,v\n2026-10-25T00:30:00Z,1\n' >in
    gpuhist count --csv --by v --where 'at>=2026-10-25T00:00' in
    for options in '--by nosuch' '--by v -f nosuch --ge 1'; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist count --csv $options --where 'at>=2026-10-25T00:00' in
        assert_failed 1 "in: unknown column 'nosuch'"
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist count --csv $options --where 'at>=2026-10-25T00:00' <in
        assert_failed 1 "standard input: unknown column 'nosuch'"
    done
    run --separate-stderr gpuhist uniq --csv -f v --where 'at>=2026-10-25T00:00' absent
    assert_failed 1 "absent: "
    { printf '%0100000d,v\n' 0 | tr 0 a && printf '2026-10-25T00:30:00Z,1\n'; } >long
    gpuhist uniq --csv -f v long | cmp - <(printf '1\t1\n')
    gpuhist uniq --csv -f v < <(cat long) | cmp - <(printf '1\t1\n')
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' ms,path,at,ip,zip,status 1.25,/a,2026-11-21T13:45:02Z,10.0.0.1,01234,200 \
        2.5,/b,2026-11-21T14:45:02Z,10.0.0.2,94110,404 7.75,/a,2026-11-22T13:45:02Z,::1,01234,200 >in
}

refused() { # refused STATUS MESSAGE ARGUMENT...
    run --separate-stderr gpuhist "${@:3}"
    assert_failed "$1" "$2"
}

@test "the result is that of the same command with the kind typed, or an error" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    run -0 "$PYTHON" "$srcdir/tests/found_kinds.py" "$GPUHIST" $((RANDOM))
}

@test "numbers, times, addresses and texts are found, as values, groups and in conditions" {
    [ "$(gpuhist reduce sum,max --csv -f ms in)" = $'sum\t11.50\nmax\t7.75' ]
    [ "$(gpuhist reduce p50 --csv -f ms --by path in)" = $'/a\t1.25\n/b\t2.50' ]
    [ "$(gpuhist uniq --csv -f path in)" = $'/a\t2\n/b\t1' ]
    [ "$(gpuhist uniq --csv -f ip in)" = $'10.0.0.1\t1\n10.0.0.2\t1\n::1\t1' ]
    [ "$(gpuhist uniq --csv -f zip in)" = $'01234\t2\n94110\t1' ]
    [ "$(gpuhist reduce max --csv -f at in)" = 2026-11-22T13:45:02Z ]
    [ "$(gpuhist --csv -f ms --range 0:2.5 --bins 2 -q in)" = $'1.25\t2.50\t1' ]
    [ "$(gpuhist --csv -f ms --width 0.5 in | head -n 1)" = $'1.00\t1.50\t1' ]
    [ "$(gpuhist --csv -f ms --edges 0,1.5,8 in)" = $'0.00\t1.50\t1\n1.50\t8.00\t2' ]
    [ "$(gpuhist count --csv -f ms --ge 2.5 in)" = 2 ]
    for where in path=/a 'path!=/b' 'path^=/a' 'at>=2026-11-21T14:00' zip=01234 ip=10.0.0.0/8 'ms>2.125' 'ms!=1.250'; do
        [ "$(gpuhist count --all --csv --where "$where" in)" = 2 ]
        [ "$(gpuhist count --all --csv --where "$where" <in)" = 2 ]
        [ "$(tail -c +1 in | gpuhist count --all --csv --where "$where")" = 2 ]
    done
}

@test "the first 64 KiB are of all files, decoded; -v and --save say what was found" {
    printf 'v\n1\n2\n' >whole
    printf 'v\n2.5\n' | gzip >point.gz
    [ "$(gpuhist reduce sum --csv -f v whole point.gz)" = 5.5 ]
    [ "$(gpuhist reduce sum --csv -f v <(cat whole))" = 3 ]
    run --separate-stderr gpuhist reduce sum -v --csv -f ms --by path in
    [[ $stderr == *"found in the input: -f ms:.2"*"found in the input: --by path:text"* ]]
    run --separate-stderr gpuhist uniq --csv -f path --save state in
    [ "$stderr" = "gpuhist: note: the state has a column type that was found: -f path:text" ]
    [ "$(gpuhist merge state state)" = $'/a\t4\n/b\t2' ]
    # 64 KiB of integers: later values are invalid, as with a typed kind
    { seq 20000; echo 1.5; } >in
    refused 1 "in:20001: invalid integer '1.5'" reduce sum -f 1 in
}

@test "kinds at their limits" {
    found() { # found KIND VALUE...: asserts that -v reports KIND for a key with these values
        printf '%s\n' v "${@:2}" >column
        run -0 --separate-stderr gpuhist uniq -v --csv -f v column
        [ "$(grep -o 'found in the input: .*' <<<"$stderr")" = "${1:+found in the input: -f v:$1}" ]
    }
    found "" 0 10 9
    [ "$output" = $'0\t1\n9\t1\n10\t1' ]
    found text 00 1
    found .1 0.0 0.5
    found time.9 2026-01-01T00:00:00.123456789Z
    found time.9 2026-01-01T00:00:00.1234567890Z # more digits than exist, as with a typed kind
    found ip 2001:db8::1 10.0.0.1
    found text 2001:DB8::1 2001:DB8::2 # ip would print another string
    refused 1 "invalid integer '1e5'" uniq -f 1 <<<$'1e5\nx' # a mix
    printf '%s\n' v 5 10 100 >column
    [ "$(gpuhist count --csv --where 'v<1e1' column)" = 1 ] # by value, not as strings
    [ "$(gpuhist count --csv --where 'v>=06' column)" = 2 ]
    [ "$(gpuhist count --csv --where 'v=06' column 2>/dev/null)" = 0 ]
    [ "$(gpuhist count --csv --where 'v>0.000000000000000001' <<<$'v\n0\n1')" = 1 ]
    printf '5\n100\n' >list
    [ "$(gpuhist count --csv --where v=@list column)" = 2 ]
    printf '5.5\n' >list
    refused 1 "list:1: invalid integer '5.5'" count --csv --where v=@list column # nor does a file choose it
}

@test "two kinds that are possible are an error that names them, and what is typed is not overruled" {
    refused 2 "the values of 'ms' are numbers with different decimals (try 'ms:.2' or 'ms:text')" uniq --csv -f ms in
    [ "$(gpuhist uniq --csv -f ms:.2 in | wc -l)" = 3 ] && [ "$(gpuhist uniq --csv -f ms:text in | wc -l)" = 3 ]
    printf '[21/Nov/2026:13:45:02 +0100] x\n' >log
    refused 2 "the values of '1' are timestamps of which the next words may be a part (try '1:time' or '1:localtime')" uniq -f 1 log
    [ "$(gpuhist uniq -f 1:time log)" = $'2026-11-21T12:45:02Z\t1' ]
    [ "$(gpuhist uniq -f 1:localtime log)" = $'2026-11-21T13:45:02\t1' ]
    refused 2 "--where 'path>5' compares strings: add a type" count --all --csv --where 'path>5' in
    refused 1 "in:2: invalid integer '/a'" uniq --csv -f path:int in
    refused 1 "in:2: invalid integer '1.25'" reduce sum -t i64 --csv -f ms in
    refused 1 "in:2: invalid number" reduce sum --decimals 1 --csv -f ms in
    refused 1 "in:2: invalid integer '/a'" reduce sum --csv -f path in
    refused 2 "invalid --range '0:x'" --csv -f ms --range 0:x in
    refused 2 "'5xx' is not an integer" count --all --csv --where status=5xx in
    [ -z "$(: | gpuhist uniq -f 1)" ]
    refused 1 "in:2: invalid integer '1.25'" stalin-sort --csv -f ms in # it does not wait
    mkfifo fifo
    gpuhist stalin-sort -f 1 <fifo >out 3>&- &
    { echo 5 && until [ -s out ]; do sleep 0.01; done; } >fifo
    wait "$!" && [ "$(cat out)" = 5 ]
}

@test "a later integer with a leading zero or a plus is an error where strings are possible, of one column or several" {
    local later typed
    for later in 007 +7 -0; do
        { yes '1 2' | head -20000; echo "$later 2"; } >file
        for typed in "uniq -f 1" "uniq -f 2 --by 1" "reduce count -f 1,2"; do
            # shellcheck disable=SC2086
            refused 1 "file:20001: '$later' is not written as the first values of '1', whose type was found" $typed file
        done
    done
}
