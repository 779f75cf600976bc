#!/usr/bin/env bats
# Memory of runs: long input needs no more than short input. The kernel measures the peak (getrusage).
# Long input is zeros, so that the expected output is obvious: 256 MiB, and 10 GB with
# GPUHIST_LONG_TESTS=1.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    skip_under_asan
    [ -n "${PYTHON:-}" ] || skip "no python3"
    BYTES=$((1 << 28))
    [ -z "${GPUHIST_LONG_TESTS:-}" ] || BYTES=10000000000
    INTS=$((BYTES / 4))
}

# assert_all_flat SOURCE [FILE]: runs every operation on BYTES zeros from the command SOURCE.
assert_all_flat() {
    local source=$1
    shift
    assert_flat $'0\t'"$INTS" --bins 256 --binary "$@" < <($source)
    assert_flat $'0\t'"$INTS" --binary "$@" < <($source)
    assert_flat $'count\t'"$INTS"$'\nsum\t0\nmax\t0' reduce count,sum,max --binary "$@" < <($source)
    assert_flat "$INTS" count --eq 0 --binary "$@" < <($source)
    assert_flat '' stalin-sort --strict --binary "$@" < <($source)
    [ "$(wc -c <out)" -eq 4 ] # the only value kept
}

# bats test_tags=slow,plain
@test "a long pipe" {
    assert_all_flat "head -c $BYTES /dev/zero"
}

# bats test_tags=later
@test "a long file" {
    truncate -s "$BYTES" sparse
    assert_all_flat true sparse
}

# bats test_tags=slow,plain
@test "bombs: zstd, in one frame, in many, with the longest window, from a file and a pipe" {
    command -v zstd >/dev/null || skip "no zstd"
    head -c "$BYTES" /dev/zero | zstd -q -o one
    [ "$(wc -c <one)" -lt 2000000 ]
    assert_flat $'0\t'"$INTS" --bins 256 --binary one </dev/null
    assert_flat $'0\t'"$INTS" --bins 256 --binary <one
    assert_flat $'0\t'"$INTS" --bins 256 --binary < <(cat one)
    local part=$((BYTES / 400))
    head -c $((part * 4)) /dev/zero | zstd -q -o part
    for _ in {1..100}; do cat part; done >many
    # eight groups of 16 MiB may wait, and 32 MiB of decoded data
    FLAT_KIB=400000 assert_flat "$((part * 100))" count --eq 0 --binary many </dev/null
    FLAT_KIB=400000 assert_flat "$((part * 100))" count --eq 0 --binary < <(cat many)
    head -c "$BYTES" /dev/zero | zstd -q --long=27 -o wide
    FLAT_KIB=250000 assert_flat "$INTS" count --eq 0 --binary wide </dev/null
    FLAT_KIB=250000 assert_flat "$INTS" count --eq 0 --binary < <(cat wide)
    # a window above the memory limit is rejected before it is allocated
    head -c "$BYTES" /dev/zero | zstd -q --ultra --long=29 -o wider
    run --separate-stderr gpuhist count --eq 0 --binary --engine cpu wider
    assert_failed 1 "zstd: a frame needs a window of 536870912 bytes"
}

# bats test_tags=slow,plain
@test "a bomb: gzip, from a file and a pipe" {
    reads_gzip || skip "no gzip"
    head -c "$BYTES" /dev/zero | gzip -1 >bomb
    [ "$(wc -c <bomb)" -lt $((BYTES / 200)) ]
    assert_flat $'0\t'"$INTS" --bins 256 --binary bomb </dev/null
    assert_flat "$INTS" count --eq 0 --binary < <(cat bomb)
}

# bats test_tags=slow,plain
@test "bombs of text: zstd and gzip" {
    command -v zstd >/dev/null || skip "no zstd"
    local rows=$((BYTES / 8))
    yes 1234567 | head -c "$BYTES" | zstd -q -o text.zst
    assert_flat $'count\t'"$rows"$'\nsum\t'$((rows * 1234567)) reduce count,sum text.zst </dev/null
    reads_gzip || skip "no gzip"
    yes 1234567 | head -c "$BYTES" | gzip -1 >text.gz
    assert_flat $'1234567\t'"$rows" -w 1 < <(cat text.gz)
}

# bats test_tags=slow,plain
@test "more elements than 32 bits count, in chunks of odd sizes" {
    local n=$(((1 << 32) + 12345))
    truncate -s "$n" sparse
    assert_flat $'0\t'"$n" --bins 3 -t u8 --binary --chunk-size 7777777 sparse </dev/null
}

@test "more elements than 32 bits count: every operation, other chunks, a pipe" {
    skip_long
    local n=$(((1 << 32) + 12345))
    truncate -s "$n" sparse
    for chunk in 4097 999983 50000017; do
        FLAT_KIB=250000 assert_flat $'0\t'"$n" --bins 200 -t u8 --binary --chunk-size $chunk sparse </dev/null
        FLAT_KIB=250000 assert_flat $'0\t10\t'"$n" -w 10 -t i8 --binary --chunk-size $chunk < <(cat sparse)
        FLAT_KIB=250000 assert_flat $'lt 5\t'"$n"$'\nany-of 1,7,9\t0' \
            count --lt 5 --any-of 1,7,9 -t u8 --binary --chunk-size $chunk sparse </dev/null
        FLAT_KIB=250000 assert_flat $'count\t'"$n"$'\nmin\t0\nmax\t0\nvariance\t0' \
            reduce count,min,max,variance -t u8 --binary --chunk-size $chunk < <(cat sparse)
    done
    # no omissions in long output
    assert_flat '' stalin-sort -t u8 --binary --purged /dev/null sparse </dev/null
    [ "$(wc -c <out)" -eq "$n" ]
}
