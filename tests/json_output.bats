#!/usr/bin/env bats
# Formats json, jsonl and markdown. The oracles are Python's json, and tsv and csv of the same job (json_output.py).

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

compare_json() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    "$PYTHON" "$srcdir/tests/json_output.py" "$GPUHIST" "$@"
}

@test "json of drawn jobs is valid, and says what tsv says; markdown says what csv says" { compare_json 1 100; }
# bats test_tags=slow,plain
@test "json of many more" { compare_json 101 200; }

@test "quantiles have the members of bins, and null where there are no values" {
    run -0 --separate-stderr gpuhist uniq -f 2 --by 1 --weight 3 --quantiles 50 --format json <<<$'1 7 0\n2 7 3'
    [[ $output == *'"bins":['$'\n''{"value":7,"weight":0}],"quantiles":['$'\n''{"percent":50,"value":null}]}'* ]]
    [[ $output == *'"bins":['$'\n''{"value":7,"weight":3}],"quantiles":['$'\n''{"percent":50,"value":7}]}'* ]]
    run -0 --separate-stderr gpuhist --range auto --bins 3 -f 2 --by 1 --weight 3 --quantiles 50 --format json \
        <<<$'1 7 0\n2 7 3'
    [[ $output == *'"bins":[],"quantiles":['$'\n''{"percent":50,"low":null,"high":null}]}'* ]]
    [[ $output == *'"bins":['$'\n''{"low":7,"high":8,"weight":3}],"quantiles":['$'\n''{"percent":50,"low":7,"high":8}]}'* ]]
}

@test "bins that the values choose have both ends, of whatever width" {
    local format
    for format in json jsonl; do
        run -0 gpuhist --format "$format" <<<$'3\n5'
        [[ $output == *'{"low":3,"high":4,"count":1}'* ]]
        run -0 gpuhist --range auto --bins 9 --format "$format" -f 2 --by 1 <<<$'1 3\n1 5\n2 0\n2 99'
        [[ $output == *'"low":3,"high":4,"count":1}'*'"low":89,"high":100,"count":1}'* ]]
    done
    run -0 gpuhist --bins 9 --format json <<<3
    [[ $output == *'{"value":3,"count":1}]}' ]]
}

@test "names stand in json as they are, and differ" {
    local name=$'a\u0085\x7f"\\\u20ac'
    printf '"%s",v\n1,2\n' "${name//\"/\"\"}" >in
    run -0 gpuhist reduce sum --csv -f v --by "\"${name//\"/\"\"}\"" --format json in
    [ "$output" = $'{"operation":"reduce","groups":[\n{"a\\u0085\\u007f\\"\\\\\u20ac":1,"sum":2}]}' ]
    printf '\xff,\xfe,v\n1,2,3\n' >in
    run -0 gpuhist reduce sum --csv -f v --by $'\xff,\xfe' --format json in
    [ "$output" = $'{"operation":"reduce","groups":[\n{"\ufffd":1,"by_\ufffd":2,"sum":3}]}' ]
}

@test "a predicate that is given again has one member" {
    run -0 gpuhist count --ge 3 --all --ge=3 --any-of 1 --all --any-of 1,2 --format json <<<7
    [ "$output" = '{"operation":"count","ge 3":1,"all":1,"any-of 1":0,"any-of 1,2":0}' ]
}
