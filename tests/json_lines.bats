#!/usr/bin/env bats
# The scanner of JSON Lines. The oracle is Python's json; tests/unit/json_lines.c has the rest.

load helpers

setup() {
    JSON_VALUES=${GPUHIST%/*}/tests/unit/json_values
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
}

compare_json() {
    "$PYTHON" "$srcdir/tests/json_lines.py" "$JSON_VALUES" "$@"
}

@test "JSON lines as Python has them, with the best instruction set" {
    SHARE=$((4 * SHARE)) compare_json best # the next test has them all
}

# bats test_tags=slow
@test "JSON lines as Python has them, with every instruction set" {
    compare_json avx512vbmi2 avx512 avx2 plain
}

@test "keys of many lengths, and those that differ in one byte" {
    cd "$BATS_TEST_TMPDIR"
    local bytes key
    for bytes in 2 7 8 9 10 16 17 62 63 64 65 127 128 129 300; do
        # keys of so many bytes, which differ in the last one alone, or in the first
        key=$(printf "%$((bytes - 1))s" '' | tr ' ' k)
        printf '{"%s1":1,"%s2":2,"x%s":4}\n' "$key" "$key" "$key" >in
        [ "$(gpuhist reduce sum --jsonl -f "${key}1" in)" = 1 ]
        [ "$(gpuhist reduce sum --jsonl -f "${key}2" in)" = 2 ]
        [ "$(gpuhist reduce sum --jsonl -f "x$key" in)" = 4 ]
    done
}

@test "a surrogate that is not one of a pair is no JSON" {
    local escapes
    for escapes in '\udc00' '\udc00\udc00' '\udfff\udc00' '\ud800' '\ud800\ud800' '\ud800x' '\ud800\n'; do
        run --separate-stderr gpuhist reduce sum --jsonl -f a <<<'{"a":1,"t":"'"$escapes"'"}'
        assert_failed 1 "standard input:1: "
    done
    run -0 gpuhist reduce sum --jsonl -f a <<<'{"a":1,"t":"\ud800\udc00"}'
    [ "$output" = 1 ]
}
