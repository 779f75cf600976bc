#!/usr/bin/env bats
# How the values of columns are read: times and addresses. Oracles are Python's datetime and ipaddress.

load helpers

@test "times and addresses are read as Python's datetime and ipaddress have them" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "python3 is older than 3.11"
    run -0 "$PYTHON" "$srcdir/tests/column_kinds.py" "${GPUHIST%/*}/tests/unit/read_kinds" $((RANDOM))
}

@test "columns and conditions that cannot be read: what to write instead" {
    cd "$BATS_TEST_TMPDIR"
    printf 'ms,status\n1.5,200\n' >in
    refused() { # refused STATUS MESSAGE ARGUMENT...
        run --separate-stderr gpuhist reduce sum "${@:3}" in
        assert_failed "$1" "$2"
    }
    kinds="it is 'ms,status' (kinds: int hex .N time ip; a width: int/100)"
    refused 1 "its header has no field 'ms:float': $kinds" --csv -f ms:float
    refused 1 "its header has no field 'status/100': $kinds" --csv -f ms:.1 --by status/100
    refused 1 "its header has no field 'ms:int/0': $kinds" --csv -f status --where ms:int/0=0
    refused 2 "invalid --field '0': expected 1 for the first, -1 for the last, ..., or a name, and" --csv -f 0
    refused 2 "invalid --where 'ms': expected a column, an operator and a value" --csv -f status --where ms
    refused 2 "invalid --where 'ms=x': 'x' is neither @FILE nor integers such as 200,304 (with decimals: COLUMN:.2)" \
        --csv -f status --where ms=x
    refused 2 "invalid --where 'ms:.1=0.25': '0.25' is neither @FILE nor numbers with no more decimals than their" \
        --csv -f status --where ms:.1=0.25
    refused 2 "invalid --where 'ms>0.5': '0.5' is not an integer such as 500, -3 or 5M (with decimals: COLUMN:.2)" \
        --csv -f status --where 'ms>0.5'
    run --separate-stderr gpuhist --csv -f status:int --decimals 1 --width 0.5 in
    assert_failed 2 "invalid --width '0.5': expected a number such as 10"
    refused 2 "--where TYPE@OFFSET needs --record, the bytes of a record" -t u16 --where u16@0=1
    refused 2 "with --record, --where wants TYPE@OFFSET, such as u32@8" --record 4 --where 2=1
    refused 2 "--record: -f 'u16@0:hex' can be of kind int or .N alone" --record 4 -f u16@0:hex
    refused 2 "--record: -f 'u16@0:int/2' cannot have a width; use --width" --record 4 -f u16@0:int/2
    run --separate-stderr gpuhist reduce max --csv -f status --where status=404 in
    assert_failed 1 "no row meets --where: there is no max"
    run --separate-stderr gpuhist uniq --csv -f status --weight ms:.1 in
    assert_failed 2 "--weight 'ms:.1' can be of kind int or hex alone"
    for format in raw gnuplot; do
        run --separate-stderr gpuhist uniq --csv -f ms:.1 --by status --format $format in
        assert_failed 2 "--by does not go with --format $format (tsv, csv, json, jsonl, svg, --plot)"
        gpuhist uniq --csv -f ms:.1 --by status --save state -o /dev/null in
        run --separate-stderr gpuhist merge --format $format state
        assert_failed 2 "--by does not go with --format $format (tsv, csv, json, jsonl, svg, --plot)"
    done
    # widths of the only column
    run -0 gpuhist uniq -f 1:int/5 < <(printf '%s\n' -7 -1 7 5)
    [ "$output" = $'-10\t1\n-5\t1\n5\t2' ]
    run -0 gpuhist reduce sum --csv -f ms:.1/0.5,status:int/150 in
    [ "$output" = $'ms\t1.5\nstatus\t150' ]
    # a kind of a record's integer is no text, and goes before --decimals
    run -0 gpuhist uniq --record 2 -f u16@0:.1 --where 'u16@0:.1>0.7' < <(printf '\7\0\10\0')
    [ "$output" = $'0.8\t1' ]
    run -0 gpuhist reduce max --csv -f ms:.2,status --decimals 1 in
    [ "$output" = $'ms\t1.50\nstatus\t200.0' ]
}
