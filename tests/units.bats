#!/usr/bin/env bats
# Numbers with units: durations (s ms us ns) and sizes (bytes ibytes).

load helpers

@test "a duration or size is read whole or refused, and bounds have units as well" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    run -0 "$PYTHON" "$srcdir/tests/units.py" "$GPUHIST" $((RANDOM))
}

@test "durations and sizes in fields, cells and JSON, as values, groups and conditions" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 12ms 1.5s 2m3.5s 1h2m 850µs 01:02:03.5 250 -3ms >in
    run -0 gpuhist reduce sum,mean,min,max,p50 -f 1:ms.3 in
    [ "$output" = $'sum\t7568759.850\nmean\t946094.98125\nmin\t-3.000\nmax\t3723500.000\np50\t250.000' ]
    run -0 gpuhist count -f 1:ms.3 --ge 1s --where '1:ms.3<1h' in
    [ "$output" = 2 ]
    printf '%s\n' '{"took":12,"sent":"1.3K"}' '{"took":"1.5s","sent":5}' '{"took":"3ms","sent":"2MiB"}' >in
    run -0 gpuhist reduce sum,max --jsonl -f took:ms,sent:ibytes in
    [ "$output" = $'took\tsum\t1515\ntook\tmax\t1500\nsent\tsum\t2098489\nsent\tmax\t2097152' ]
    printf 'took,sent\n"1 h 5 min",3 kB\n2.5ms,4\n2s,3000\n' >in
    run -0 gpuhist reduce sum --csv -f took:ms.1 --by sent:bytes in
    [ "$output" = $'4\t2.5\n3000\t3902000.0' ]
    run -0 gpuhist --format json --width 1s --csv -f took:ms.1 in
    [[ $output == *'{"low":0.0,"high":1000.0,"count":1}'*'{"low":3900000.0,"high":3901000.0,"count":1}'* ]]
    run -0 gpuhist uniq --csv -f took:s/1m --invalid ignore -q in
    [ "$output" = $'0\t1\n3900\t1' ]
    [ "$(printf '5ms\n3ms\n8ms\n' | gpuhist stalin-sort -f 1:ms)" = $'5\n8' ]
    # a quoted name has no kind
    run -1 gpuhist reduce sum -f rx:bytes <<<'rx:bytes 7'
    [[ $output == *"(try '\"rx:bytes\"', a name in quotes)" ]]
    [ "$(printf 'rx:bytes 7\n5 6\n' | gpuhist reduce sum -f '"rx:bytes"')" = 5 ]
}

@test "a NUL byte is no letter of a unit" {
    for kind in bytes ibytes s ms; do
        [ -z "$(printf '0\0,x\n' | gpuhist uniq --text --csv --header=0 -f 1:$kind --invalid ignore 2>/dev/null)" ]
    done
}

@test "states keep the unit, and merge refuses another" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 12ms 1.5s 90m >in
    gpuhist uniq -f 1:ms --save ms -o whole in
    gpuhist merge ms ms | cmp - <(sed 's/1$/2/' whole)
    gpuhist uniq -f 1:s --invalid ignore -q --save s -o /dev/null in
    run -1 gpuhist merge ms s
    [ "$output" = "gpuhist: s: --field=1:s, not --field=1:ms as in ms" ]
    gpuhist --edges 0,1s,1h -q -f 1:ms --save edges -o whole in
    gpuhist merge -q edges | cmp - whole
    printf '2014-06-10\n' >in # edges of times are read as times, whatever their digits
    gpuhist --edges 20140601,20140701 -f 1:time --save edges -o whole in
    [ "$(cat whole)" = $'2014-06-01T00:00:00Z\t2014-07-01T00:00:00Z\t1' ]
    gpuhist merge edges | cmp - whole
}

refused() { # refused STATUS MESSAGE ARGUMENT...
    run --separate-stderr gpuhist "${@:3}"
    assert_failed "$1" "$2"
}

@test "what is none names the way on" {
    cd "$BATS_TEST_TMPDIR"
    echo 1.25ms >in
    refused 1 "in:1: invalid duration '1.25ms' (try COLUMN:ms.2, or ms.6 for nanoseconds)" uniq -f 1:ms in
    [ "$(gpuhist uniq -f 1:ms.2 in)" = $'1.25\t1' ]
    refused 1 "in:1: invalid size '1.25ms'" uniq -f 1:bytes in
    refused 2 "'x' is not a duration such as 250ms" uniq -f 1:ms.2 --where '1:ms>x' in
    refused 2 "expected auto, or LO:HI, two durations such as 0 and 1.5s" --range 0:x -f 1:ms in
    refused 2 "invalid --width '1x': expected a duration such as" --width 1x -f 1:ms in
    refused 1 "in:1: invalid weight '1.25ms', no duration from 0 to 2^63 - 1 (try COLUMN:ms.2, or ms.6 for nanoseconds)" uniq -f 1:ms.2 --weight 1:ms in
    refused 2 "and, or and xor require integers" reduce xor -f 1:ms in
    echo 9223372036854775808 >in
    refused 1 "'9223372036854775808' is out of range for ns" uniq -f 1:ns in
}
