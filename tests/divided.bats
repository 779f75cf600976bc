#!/usr/bin/env bats
# Compressed files that are decoded concurrently: the result and every message are as if one thread had
# read all in order, as divided.py computes them.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
}

# bats test_tags=later
@test "text in parts: lines over their ends, headers, invalid tokens" {
    run -0 "$PYTHON" "$srcdir/tests/divided.py" "$GPUHIST" text $((17 / SHARE + 1)) 1
}

@test "binary in parts, and files that end within an element" {
    run -0 "$PYTHON" "$srcdir/tests/divided.py" "$GPUHIST" binary $((12 / SHARE + 1)) 2
}

@test "bytes that are left over behind a file that was divided are an error" {
    skip_without_gzip
    head -c 100000 /dev/zero >first
    : | gzip >empty.gz
    printf 12345 >second
    gzip -c second >third.gz
    for threads in 1 2 16; do
        run --separate-stderr gpuhist reduce count --binary --engine cpu --threads $threads \
            first empty.gz second third.gz
        assert_failed 1 "third.gz: truncated input: 2 bytes left after the last 4-byte element"
    done
    # found while the file before is still being read
    head -c 100M /dev/zero | zstd -q >long.zst
    for threads in 2 16; do
        run --separate-stderr timeout 30 "$GPUHIST" reduce count --binary --engine cpu \
            --threads $threads long.zst second
        assert_failed 1 "second: truncated input: 1 byte left after the last 4-byte element"
    done
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

@test "a fault in a line that goes over the end of a part comes before those behind it" {
    # the line's beginning is longer than the data from its end to the next invalid token
    shuf -i 1000000-9999999 -n 400000 >plain # 1.5 MB when it is compressed: a part has 1 MiB
    { cat plain; seq -s ' ' 1000; } | head -c -1 >begin
    { printf ' 7 x\n8\ny\n'; cat plain; } >end
    { zstd -q -1 <begin; zstd -q -1 <end; } >in.zst
    for threads in 1 2 16; do
        run --separate-stderr gpuhist reduce sum -f -1 --engine cpu --threads $threads in.zst
        assert_failed 1 "in.zst:400001: invalid integer 'x'"
        run -1 --separate-stderr gpuhist reduce sum -f -1 --engine cpu --threads $threads --invalid fail in.zst
        [ "${stderr_lines[*]:0:2}" = "gpuhist: in.zst:400001: invalid integer 'x' gpuhist: in.zst:400003: invalid integer 'y'" ]
    done
}

# bats test_tags=later
@test "a header that is longer than a part" {
    shuf -i 1000000-9999999 -n 1000000 >plain
    split -b 3200001 --filter 'zstd -q -1 -c' plain >in.zst
    for lines in 1 399999 400000 400001 600000; do
        expected=$(awk -v n=$lines 'NR > n { sum += $1 } END { printf "%.0f", sum }' plain)
        for threads in 1 2 16; do
            [ "$(gpuhist reduce sum --header=$lines --engine cpu --threads $threads in.zst)" = "$expected" ]
        done
    done
}

# bats test_tags=slow
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
