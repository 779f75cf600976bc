#!/usr/bin/env bats
# A GPU's counts in tables, against numpy, for random jobs: tests/gpu_counts.py.

load helpers

# compare TEST: on the engines of this machine.
compare() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    # shellcheck disable=SC2086
    "$PYTHON" "$srcdir/tests/gpu_counts.py" "$GPUHIST" "$1" $ENGINES
}

# bats test_tags=gpu
@test "gpu: reductions that take a table, with others beside them" {
    skip_without_gpu
    compare reductions
}

# bats test_tags=gpu
@test "gpu: weights of records, in bins and of distinct values; sums that do not fit" {
    skip_without_gpu
    compare records
}

# bats test_tags=gpu
@test "gpu: weights of text, in fields of any order, with lines that are blank or invalid" {
    skip_without_gpu
    compare text
}

# bats test_tags=gpu
@test "gpu: dense values, with some far away, on a GPU beside the CPU" {
    skip_without_gpu
    compare beside
}
