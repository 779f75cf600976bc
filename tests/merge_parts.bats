#!/usr/bin/env bats
# Saved states against one run over the same input and the documented format, and corrupt ones: merge.py.

load helpers

@test "drawn jobs: merge prints the bytes of the run that saved, and refuses the state of another job" {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    timeout 280 "$PYTHON" "$srcdir/tests/states.py" "$GPUHIST" "$((SHARE > 16 ? 30 : 120))"
}

check_merge() { # TEST [ARG]...: runs a test of merge.py
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    timeout 280 "$PYTHON" "$srcdir/tests/merge.py" "$GPUHIST" "$@"
}

# bats test_tags=slow,later
@test "parts merge to what one run prints: i8" { check_merge equal i8; }
# bats test_tags=slow,later
@test "parts merge to what one run prints: u16be" { check_merge equal u16be; }
@test "parts merge to what one run prints: i32" { check_merge equal i32; }
# bats test_tags=slow,later
@test "parts merge to what one run prints: i64be" { check_merge equal i64be; }
@test "parts merge to what one run prints: u64" { check_merge equal u64; }

@test "a state is what the manual says, and what is not is refused" {
    command -v zstd >/dev/null || skip "no zstd"
    check_merge format
}

@test "runs of counts and their gaps, whatever the counts" {
    command -v zstd >/dev/null || skip "no zstd"
    check_merge runs
}

# bats test_tags=slow
@test "a damaged state is refused, wherever it is cut or a bit flipped" { check_merge damage; }

@test "2^64 elements are too many, and nothing wraps" {
    command -v zstd >/dev/null || skip "no zstd"
    check_merge overflow
}
