#!/usr/bin/env bats
# Input of many zstd frames, which several threads decode: from pipes, also slow ones, and corrupt.
# Oracles are the original data, and zstd.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    command -v zstd >/dev/null || skip "no zstd"
}

# make_frames: makes "frames", zstd frames of a few bytes to more than 16 MiB with skippable and empty
# ones between them, and "plain", their decoded text; lines straddle the frames. Both are made
# once.
make_frames() {
    [ -e "$BATS_FILE_TMPDIR/plain" ] || (cd "$BATS_FILE_TMPDIR" && make_frames_anew)
    ln -s "$BATS_FILE_TMPDIR"/{frames,plain} .
}

make_frames_anew() {
    numpy '
import struct, subprocess
rng = np.random.default_rng(9)
def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
def skippable(size):
    return b"\x53\x2a\x4d\x18" + struct.pack("<I", size) + rng.bytes(size)
text = b"".join(b"%d\n" % n for n in rng.integers(0, 10**9, 100000))
small = [zstd(text[i * 37 : i * 37 + 37]) for i in range(400)]
middle = [zstd(text[i : i + 90001]) for i in range(400 * 37, len(text), 90001)]
head = b"".join(small) + skippable(0) + zstd(b"") + b"".join(middle[:5]) + skippable(300000)
large = b"".join(b"%d\n" % n for n in rng.integers(0, 10**18, 2400000))
with open("frames", "wb") as file:
    file.write(head + b"".join(middle[5:]) + zstd(large) + zstd(b"") + b"".join(small + middle))
'
    zstd -dc frames >plain
    [ "$(wc -c <frames)" -gt $((17 << 20)) ]
}

# bats test_tags=slow
@test "frames of all sizes through a pipe, by several threads" {
    local threads
    make_frames
    gpuhist reduce count,sum,xor plain >expected
    gpuhist stalin-sort plain >survivors
    for engine in $ENGINES; do
        for threads in 1 2 5; do
            gpuhist reduce count,sum,xor --engine "$engine" --threads $threads < <(cat frames) |
                cmp expected -
            gpuhist stalin-sort --engine "$engine" --threads $threads < <(cat frames) |
                cmp survivors -
        done
        gpuhist reduce count,sum,xor --engine "$engine" --threads 3 frames | cmp expected -
        gpuhist reduce count,sum,xor --engine "$engine" --threads 3 --chunk-size 4096 \
            < <(cat frames) | cmp expected -
    done
}

# bats test_tags=slow
@test "frames through pipes, between plain and compressed files" {
    make_frames
    seq 30000 >text
    zstd -q text -o text.zst
    gpuhist reduce count,sum,xor plain text plain text >expected
    for engine in $ENGINES; do
        gpuhist reduce count,sum,xor --engine "$engine" --threads 3 <(cat frames) text <(cat frames) \
            text.zst | cmp expected -
        gpuhist reduce count,sum,xor --engine "$engine" --threads 3 text.zst frames - frames \
            < <(cat text) | cmp expected -
    done
}

# bats test_tags=later
@test "frames that come with pauses, cut anywhere" {
    local threads
    seq 60000 >plain
    split -l 500 --filter 'zstd -q -c' plain >frames
    for threads in 1 2 4; do
        # pieces of 1, 2, 3... bytes, then of a multiple of that, some after a pause
        "$PYTHON" -c '
import os, time
data, at, n = open("frames", "rb").read(), 0, 1
while at < len(data):
    os.write(1, data[at : at + n])
    at, n = at + n, n + 1 if n < 60 else n * 17 % 40009
    if n % 7 == 0:
        time.sleep(0.002)' | gpuhist reduce count,sum --threads $threads >out
        printf 'count\t60000\nsum\t1800030000\n' | cmp - out
    done
}

# bats test_tags=later
@test "a fault in one of many frames of a pipe: what is before it, and the same error" {
    local threads name
    seq 100000 >plain
    split -b 25000 --filter 'zstd -q -c --check' plain >frames
    "$PYTHON" -c '
data, ends, at = bytearray(open("frames", "rb").read()), [], 0
while (at := data.find(b"\x28\xb5\x2f\xfd", at + 1)) > 0:
    ends.append(at)
for name, place in ("checksum", ends[2] - 1), ("magic", ends[2]):
    bad = data[:]
    bad[place] ^= 0x40
    open(name, "wb").write(bad)
open("cut", "wb").write(data[: ends[2] + 300])'
    for name in checksum magic cut; do
        run zstd -q -dc "$name"
        [ "$status" -ne 0 ]
        run -1 --separate-stderr gpuhist reduce sum --threads 1 < <(cat "$name")
        expected=$stderr
        for threads in 1 2 4; do
            run --separate-stderr gpuhist reduce sum --threads $threads < <(cat "$name")
            assert_failed 1 "standard input: zstd: "
            [ "$stderr" = "$expected" ]
            run --separate-stderr gpuhist reduce sum --threads $threads "$name"
            [ "${stderr/$name/standard input}" = "$expected" ]
            "$GPUHIST" stalin-sort --threads $threads < <(cat "$name") >out 2>err && return 1
            [ "$(cat err)" = "$expected" ]
            cmp -n "$(wc -c <out)" out plain
            [ "$(wc -c <out)" -ge 49000 ] && [ "$(wc -c <out)" -le 75000 ]
            [ "$name" != checksum ] || cmp out <(head -c 50000 plain | sed '$d')
        done
    done
    # invalid data in an earlier frame is reported, in a later frame not
    { printf '1\nx\n' | zstd -q; cat checksum; } >early
    run --separate-stderr gpuhist reduce sum --text --threads 4 < <(cat early)
    assert_failed 1 "standard input:2: invalid integer 'x'"
    { cat checksum; printf '1\nx\n' | zstd -q; } >late
    run --separate-stderr gpuhist reduce sum --text --threads 4 < <(cat late)
    assert_failed 1 "standard input: zstd: "
}

# so_far COUNT: waits until an intermediate result shows COUNT values; fails if the program ends
# before.
so_far() {
    until grep -qx "$1" out; do
        kill -0 $! 2>/dev/null || return 1
        sleep 0.01
    done
}

@test "a slow pipe: frames, and parts of them, are counted as they come" {
    mkfifo fifo
    random_file binary '<i4' 0 1000000 1000000
    zstd -q -c binary >long # more than one block, which is 128 KiB
    half=$(($(wc -c <long) / 2))
    for threads in 1 3; do
        : >out
        timeout 120 "$GPUHIST" reduce count --binary --every 10ms --threads $threads <fifo >out 3>&- &
        exec 4>fifo
        int32 1 2 3 | zstd -q >&4
        so_far 3
        for i in 1 2 3; do int32 $i | zstd -q; done >&4
        so_far 6
        head -c $half long >&4
        until awk '$1 > 6 { found = 1 } END { exit !found }' out; do sleep 0.01; done
        tail -c +$((half + 1)) long >&4
        so_far 1000006
        { zstd -q <binary; int32 7 | zstd -q; zstd -q </dev/null; } >&4
        so_far 2000007
        int32 7 | zstd -q | head -c 9 >&4
        int32 7 | zstd -q | tail -c +10 >&4
        so_far 2000008
        exec 4>&-
        wait $!
        [ "$(tail -n 1 out)" = 2000008 ]
    done
}

@test "a slow pipe: what is decoded of a block, and fits in no chunk, is counted without more input" {
    # a frame up to the end of its second block of 128 KiB, which a chunk ends in
    random_file binary '<i4' 0 1000000 1000000
    head -c 8000 binary | zstd -q >first
    zstd -q -c binary >whole
    numpy 'data = open("whole", "rb").read()
flags = data[4] # RFC 8878, 3.1.1.1
single = flags >> 5 & 1
end = 6 - single + [0, 1, 2, 4][flags & 3] + [single, 2, 4, 8][flags >> 6]
for _ in range(2):
    end += 3 + (int.from_bytes(data[end:end + 3], "little") >> 3)
open("begin", "wb").write(open("first", "rb").read() + data[:end])
open("rest", "wb").write(data[end:])'
    mkfifo fifo
    for threads in 1 3; do
        : >out
        timeout 60 "$GPUHIST" reduce count --binary --every 10ms --threads $threads <fifo >out 3>&- &
        exec 4>fifo
        dd if=begin bs=1M status=none >&4
        so_far $(((8000 + 2 * 131072) / 4))
        cat rest >&4
        exec 4>&-
        wait $!
        [ "$(tail -n 1 out)" = 1002000 ]
    done
}

@test "frames that come behind the rest of one that was begun are not lost" {
    random_file numbers '<i4' 0 1000000 200000
    zstd -q -c numbers >first # 800,000 bytes; the first half is decoded before the rest arrives
    for _ in {1..10}; do head -c 160000 numbers | zstd -q -c; done >others
    half=$(($(wc -c <first) / 2))
    mkfifo fifo
    for threads in 1 3; do
        : >out
        timeout 120 "$GPUHIST" reduce count --binary --every 10ms --threads $threads <fifo >out 3>&- &
        exec 4>fifo
        head -c $half first >&4
        until awk '$1 > 0 { found = 1 } END { exit !found }' out; do sleep 0.01; done
        cat <(tail -c +$((half + 1)) first) others | dd bs=8M iflag=fullblock status=none >&4
        exec 4>&-
        wait $!
        [ "$(tail -n 1 out)" = 600000 ]
    done
}
