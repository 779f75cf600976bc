#!/usr/bin/env bats
# A division of the input changes nothing: compressed files of several frames, members, blocks and streams, ranges of
# files, files one after the other, pipes and standard input, against the data from which division.py made them.

load helpers

# divide KIND [SEED [COUNT]]: runs a test of division.py.
divide() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    timeout 3000 "$PYTHON" "$srcdir/tests/division.py" "$GPUHIST" "$@"
}

@test "short texts, elements and records, divided at every byte" {
    divide bytes
}

@test "rows of up to 3 chunks, near the ends of parts" {
    divide rows 1 60
}

# bats test_tags=later
@test "texts and binary data, divided at random places" {
    divide random 1 100
}

# bats test_tags=later
@test "lines of invalid tokens where the input is divided" {
    divide reports 1 60
}

# bats test_tags=slow
@test "damaged files, of which the same is told at every chunk size by any number of threads" {
    divide damage 1 60
}

# bats test_tags=slow
@test "all of these, for minutes" {
    skip_long
    seed=${GPUHIST_TEST_SEED:-$RANDOM$RANDOM}
    echo "GPUHIST_TEST_SEED=$seed"
    SHARE=0 divide bytes "$seed"
    SHARE=0 divide rows "$seed" 8
    SHARE=1 divide rows "$seed" 2000
    SHARE=1 divide random "$seed" 5000
    SHARE=1 divide reports "$seed" 5000
    SHARE=1 divide damage "$seed" 5000
}
