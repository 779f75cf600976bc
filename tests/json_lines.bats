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
    compare_json best
}

# bats test_tags=slow
@test "JSON lines as Python has them, with every instruction set" {
    compare_json avx512vbmi2 avx512 avx2 plain
}
