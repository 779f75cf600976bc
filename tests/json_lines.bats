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
    SHARE=$((4 * SHARE)) compare_json best # the next test runs all
}

# bats test_tags=slow
@test "JSON lines as Python has them, with every instruction set" {
    compare_json avx512vbmi2 avx512 avx2 plain
}

@test "keys of many lengths, and those that differ in one byte" {
    cd "$BATS_TEST_TMPDIR"
    local bytes key
    for bytes in 2 7 8 9 10 16 17 62 63 64 65 127 128 129 300; do
        # keys of n bytes that differ only in the last one, or in the first
        key=$(printf "%$((bytes - 1))s" '' | tr ' ' k)
        printf '{"%s1":1,"%s2":2,"x%s":4}\n' "$key" "$key" "$key" >in
        [ "$(gpuhist reduce sum --jsonl -f "${key}1" in)" = 1 ]
        [ "$(gpuhist reduce sum --jsonl -f "${key}2" in)" = 2 ]
        [ "$(gpuhist reduce sum --jsonl -f "x$key" in)" = 4 ]
    done
}

@test "each element of an array counts as a row of its own" {
    cd "$BATS_TEST_TMPDIR"
    run -0 "$PYTHON" "$srcdir/tests/json_elements.py" "$GPUHIST" $((RANDOM))
}

@test "elements of arrays: where they can stand, and what is missing" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' '{"g":"x","a":[1,[2,3]],"a[0]":7}' '{"g":"y","a":[]}' '{"g":"z","a":[5]}' >in
    [ "$(gpuhist reduce sum,count --jsonl -f '.a[0]' --missing skip in 2>err)" = $'sum\t12\ncount\t2' ]
    [ "$(cat err)" = "gpuhist: note: 1 row with a missing value left out" ]
    [ "$(gpuhist reduce sum,count --jsonl -f '."a"[0]' --missing skip -q in)" = $'sum\t6\ncount\t2' ]
    [ "$(gpuhist reduce sum,count --jsonl -f '."a[0]"' --missing skip -q in)" = $'sum\t7\ncount\t1' ]
    [ "$(gpuhist uniq --jsonl -f '.a[-1][1]' --missing skip -q in)" = $'3\t1' ]
    [ "$(gpuhist uniq --jsonl -f '.a[0]' --by '.a[-1]:text' --where '.a[0]!=' -q in)" = $'5\t5\t1\n[2,3]\t7\t1' ]
    [ "$(gpuhist uniq --jsonl -f g --where '.a[0]>4' --missing skip -q in)" = $'x\t1\nz\t1' ]
    [ "$(gpuhist count --jsonl --where '.a[0]=' in)" = 1 ]
    run --separate-stderr gpuhist reduce sum --jsonl -f '.a[0]' in
    assert_failed 1 "in:2: missing JSON member '.a[0]' (try --missing skip)"
    run --separate-stderr gpuhist reduce sum --jsonl -f 'a[1]' in
    assert_failed 1 "in:1: missing JSON member 'a[1]' (try --missing skip, or did you mean '.a[1]'?)"
    for words in "count --by .a[]" "uniq -f g --weight .a[]" "count --where .a[]=1" "uniq -f g --by .a[]:int" \
        "reduce sum -f .a[],.b" "reduce sum -f .b,.a[]" "uniq -f .a[]+.b:time"; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist $words --jsonl in
        assert_failed 2 "[] can only be in -f with one column"
    done
    run --separate-stderr gpuhist uniq --jsonl -f '.a[][]' in
    assert_failed 2 "invalid path '.a[][]': [] can be in it once"
    run --separate-stderr gpuhist reduce sum --jsonl -f '.a[]' --by '.g[]' in
    assert_failed 2 "only the column of -f can have []"
    run -0 gpuhist count --jsonl -f '.a[]:int' --ge 2 --invalid ignore -q in
    [ "$output" = 1 ]
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
