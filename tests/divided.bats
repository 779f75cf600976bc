#!/usr/bin/env bats
# Compressed files that are decoded side by side: the result and every message are as if one thread had
# read all in order, as divided.py works them out.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
}

@test "text in parts: lines over their ends, headers, invalid tokens" {
    run -0 "$PYTHON" "$srcdir/tests/divided.py" "$GPUHIST" text $((16 / SHARE + 1)) 1
}

@test "binary in parts, and files that end within an element" {
    run -0 "$PYTHON" "$srcdir/tests/divided.py" "$GPUHIST" binary $((16 / SHARE + 1)) 2
}

@test "the first fault is reported, whoever finds one first" {
    seq 400000 >plain
    for i in 1 2 3 4; do zstd -q plain -o f$i.zst; done
    { seq 399999; echo x; } | zstd -q >late.zst
    { echo y; seq 400000; } | zstd -q >early.zst
    for threads in 1 2 16; do
        run --separate-stderr gpuhist reduce sum --engine cpu --threads $threads \
            f1.zst late.zst early.zst f2.zst
        assert_failed 1 "late.zst:400000: invalid integer 'x'"
        run --separate-stderr gpuhist reduce sum --engine cpu --threads $threads \
            f1.zst f2.zst plain late.zst f3.zst f4.zst early.zst
        assert_failed 1 "late.zst:400000: invalid integer 'x'"
    done
}

@test "a division that cut a record is given up, and all is read in order" {
    # one line without an end that is far longer than a part, and frames that end within elements
    seq -s ' ' 2000000 | tr -d '\n' >line
    split -b 3000001 --filter 'zstd -q -c' line >line.zst
    expected=$(tr ' ' '\n' <line | awk '{ n += $1 } END { printf "%.0f", n }')
    head -c 8000004 /dev/urandom >binary
    split -b 1999999 --filter 'zstd -q -c' binary >binary.zst
    od -An -v -td4 -w4 binary | awk '{ n += $1 } END { printf "%.0f\n", n }' >sum
    for threads in 1 2 16; do
        [ "$(gpuhist reduce sum --engine cpu --threads $threads line.zst)" = "$expected" ]
        gpuhist reduce sum --engine cpu --threads $threads --binary binary.zst | cmp - sum
    done
}
