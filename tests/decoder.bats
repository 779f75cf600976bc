#!/usr/bin/env bats
# Decoding zstd and gzip. The oracles are the tools that compressed the data, and the data itself.

load helpers

setup() {
    DECODE_FILE=${GPUHIST%/*}/tests/unit/decode_file
    cd "$BATS_TEST_TMPDIR"
    command -v zstd >/dev/null || skip "no zstd"
}

# Bytes that compress well but not into nothing.
lines() {
    seq -f '%.0f some words, a number and 0123456789' "$1"
}

skip_without_gzip() {
    printf '\x1f\x8b' >probe.gz
    run "$DECODE_FILE" gzip 0 1 1 probe.gz
    [[ $output != *"without zlib"* ]] || skip "built without zlib"
}

decode() { # FILE [LIMIT [IN-PIECES OUT-PIECES [FORMAT]]]
    timeout 60 "$DECODE_FILE" "${5:-auto}" "${2:-0}" "${3:-4096}" "${4:-4096}" "$1"
}

PIECES=1,2,7,4096,1000000 # 5 sizes of what goes in and of what comes out: 25 pairs

# assert_decodes FILE PLAIN: in pieces of all sizes.
assert_decodes() {
    decode "$1" 0 $PIECES $PIECES >decoded
    yes "$2" | head -n 25 | xargs cat | cmp decoded - || { echo "$1: other data"; return 1; }
}

# assert_refused FILE TEXT [LIMIT [FORMAT]]: fails with one line that contains TEXT, in pieces of all
# sizes.
assert_refused() {
    local line
    run -1 --separate-stderr decode "$1" "${3:-0}" $PIECES $PIECES "${4:-auto}"
    [ "${#stderr_lines[@]}" -eq 25 ] || { echo "$1: $stderr"; return 1; }
    for line in "${stderr_lines[@]}"; do
        [[ $line == "gpuhist: $1: "*"$2"* ]] || { echo "$1: $line"; return 1; }
    done
}

# skippable VARIANT LENGTH: a skippable frame of zstd; its content looks like a frame's beginning.
skippable() {
    local i length
    printf -v length '\\x%02x\\x%02x' $(($2 & 255)) $(($2 >> 8))
    printf '%b' "\\x5$1\\x2a\\x4d\\x18$length\\0\\0"
    for ((i = 0; i < $2; i++)); do printf '\x28'; done
}

# damage FORMAT cut|flip PLAIN FILE [END]...: see decoder.py.
damage() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    "$PYTHON" "$srcdir/tests/decoder.py" "$DECODE_FILE" "$@"
}

# bats test_tags=slow
@test "zstd: levels, known and unknown sizes, with and without checksums" {
    local level
    lines 3000 >plain
    for level in -1 -3 -9 -19 --fast=10 "--ultra -22" --long --no-check "--no-check --long=27 -5"
    do
        # shellcheck disable=SC2086  # several options
        zstd -q $level -c plain >known.zst
        # shellcheck disable=SC2086
        zstd -q $level <plain >unknown.zst
        assert_decodes known.zst plain
        assert_decodes unknown.zst plain
    done
}

# bats test_tags=slow
@test "zstd: nothing, one byte, blocks of one byte repeated and of noise" {
    : >empty
    printf x >byte
    head -c 300000 /dev/zero >zeros
    numpy 'np.random.default_rng(7).integers(0, 256, 300000, dtype="u1").tofile("noise")'
    local plain
    for plain in empty byte zeros noise; do
        zstd -q "$plain"
        zstd -q <"$plain" >pipe.zst
        assert_decodes "$plain.zst" "$plain"
        assert_decodes pipe.zst "$plain"
    done
    # Raw blocks of 1, 0 and 2 bytes, one of 3 repeated bytes, and an empty last one; by hand.
    printf '\x28\xb5\x2f\xfd\x00\x00\x08\0\0a\0\0\0\x10\0\0bc\x1a\0\0d\x01\0\0' >blocks.zst
    printf abcddd >blocks
    zstd -qdc blocks.zst | cmp - blocks
    assert_decodes blocks.zst blocks
}

@test "zstd: many frames, empty ones and skippable ones first, in the middle and last" {
    lines 400 >plain
    : >empty
    split -b 1000 plain part-
    zstd -q part-* empty
    cat part-*.zst >many.zst
    assert_decodes many.zst plain
    { skippable 0 5; skippable f 0; cat empty.zst part-aa.zst; skippable 3 300
        cat part-a[b-z].zst empty.zst; skippable a 1; } >mixed.zst
    cat part-a[a-z] >some
    zstd -qdc mixed.zst | cmp - some
    assert_decodes mixed.zst some
    { skippable 1 3; skippable 2 0; } >skipped.zst
    assert_decodes skipped.zst empty
}

@test "zstd: frames of pzstd" {
    command -v pzstd >/dev/null || skip "no pzstd"
    lines 3000 >plain
    pzstd -q -p 3 -c plain >plain.zst
    assert_decodes plain.zst plain
}

# bats test_tags=slow
@test "zstd: a giant skippable frame" {
    # 3 GiB of a sparse file; read by pipe so that pieces stay small.
    lines 10 >plain
    printf '\x50\x2a\x4d\x18\0\0\0\xc0' >giant.zst
    truncate -s $((8 + 0xc0000000)) giant.zst || skip "no room for sparse files"
    zstd -qc plain >>giant.zst
    decode giant.zst 0 1000000 4096 | cmp - plain
    truncate -s $((7 + 0xc0000000)) giant.zst
    run -1 decode giant.zst 0 1000000 4096
    [[ $output == *"unexpected end"* ]]
}

@test "zstd: cut anywhere but between frames it is an error" {
    lines 5 >plain
    { skippable 4 3; head -n 2 plain | zstd -q; head -n 2 plain | tail -n 0 | zstd -q --no-check
        tail -n +3 plain | zstd -q; skippable 5 2; } >plain.zst
    local ends=() bytes=0 part
    for part in "$(skippable 4 3 | wc -c)" "$(head -n 2 plain | zstd -q | wc -c)" \
        "$(zstd -q --no-check </dev/null | wc -c)" "$(tail -n +3 plain | zstd -q | wc -c)"; do
        bytes=$((bytes + part))
        ends+=("$bytes")
    done
    damage zstd cut plain plain.zst "${ends[@]}"
    zstd -q -c plain >known.zst
    damage zstd cut plain known.zst
}

@test "all that is decoded comes without more input" {
    # Only the checksums are missing.
    lines 500 >plain
    zstd -q --check -c plain | head -c -4 >plain.zst
    run -1 --separate-stderr decode plain.zst 0 1000000 7
    [[ $stderr == *"unexpected end"* ]]
    [ "$output" = "$(cat plain)" ]
    skip_without_gzip
    gzip -c plain | head -c -8 >plain.gz
    run -1 --separate-stderr decode plain.gz 0 1000000 7
    [[ $stderr == *"unexpected end"* ]]
    [ "$output" = "$(cat plain)" ]
}

# bats test_tags=slow
@test "zstd: a flipped bit is an error, or changes nothing" {
    # In a frame without checksum it may be other data.
    lines 5 >plain
    zstd -q --check -c plain >known.zst
    damage zstd flip plain known.zst
    # That of the reserved bit aside, what may pass is the window's size.
    zstd -q --check <plain >unknown.zst
    run -0 damage zstd flip plain unknown.zst
    [ "$output" -le 10 ]
}

@test "zstd: what a header says of the content's size is checked" {
    # A single segment of 7 bytes that has none, and one that has as many.
    printf '\x28\xb5\x2f\xfd\x20\x07\x01\0\0' >short.zst
    assert_refused short.zst "zstd: "
    printf '\x28\xb5\x2f\xfd\x20\x07\x38\0\0abcdefg\x01\0\0' >right.zst
    printf abcdefg >right
    assert_decodes right.zst right
    printf '\x28\xb5\x2f\xfd\x20\x07\x30\0\0abcdef\x01\0\0' >less.zst
    assert_refused less.zst "zstd: "
    printf '\x28\xb5\x2f\xfd\x20\x07\x40\0\0abcdefgh\x01\0\0' >more.zst
    assert_refused more.zst "zstd: "
}

@test "zstd: a wrong checksum, corrupt blocks" {
    lines 100 >plain
    zstd -q plain
    cp plain.zst wrong.zst
    printf 'abcd' | dd of=wrong.zst bs=1 seek=$(($(wc -c <wrong.zst) - 4)) conv=notrunc status=none
    assert_refused wrong.zst "zstd: Restored data doesn't match checksum"
    printf '\x28\xb5\x2f\xfd\x00\x00\x07\0\0' >reserved.zst
    assert_refused reserved.zst "zstd: Data corruption detected"
}

@test "zstd: junk behind a frame" {
    lines 10 | zstd -q >plain.zst
    local junk
    for junk in 'x' '\0' '\0\0\0\0' '\x28\xb5\x2f\xfe' '\x28\xb5x' '\x50\x2a\x4d\x19' 'text\n' \
        '\x1f\x8b\x08'; do
        { cat plain.zst; printf '%b' "$junk"; } >junk.zst
        assert_refused junk.zst "zstd: junk where a frame or the end of the input is expected"
        { skippable 0 3; printf '%b' "$junk"; } >junk.zst
        assert_refused junk.zst "zstd: junk where a frame or the end of the input is expected"
    done
    for junk in '\x28' '\x28\xb5\x2f' '\x28\xb5\x2f\xfd' '\x5f\x2a\x4d\x18' '\x50'; do
        { cat plain.zst; printf '%b' "$junk"; } >junk.zst
        assert_refused junk.zst "zstd: unexpected end of the input within a frame"
    done
}

@test "zstd: a window above the limit, which can be raised" {
    # Windows of 256 MiB and 1 MiB: the size is not known, so that they are not made smaller.
    lines 1000 >plain
    zstd -q --ultra --long=28 <plain >large.zst
    assert_refused large.zst \
        "zstd: a frame needs a window of 268435456 bytes, the limit is 134217728: --memory raises"
    assert_refused large.zst "the limit is 268435455: --memory" 268435455
    decode large.zst 268435456 | cmp - plain
    zstd -q --ultra --long=27 <plain >default.zst
    decode default.zst | cmp - plain
    assert_refused default.zst "window of 134217728 bytes, the limit is 134217727" 134217727
    # A single segment is its own window.
    zstd -q -c plain >single.zst
    decode single.zst "$(wc -c <plain)" | cmp - plain
    assert_refused single.zst "window of $(wc -c <plain) bytes" $(($(wc -c <plain) - 1))
    # Behind other frames as well; and one that no library takes.
    cat single.zst default.zst large.zst >all.zst
    assert_refused all.zst "window of 268435456 bytes"
    printf '\x28\xb5\x2f\xfd\x00\xff\x01\0\0' >monster.zst
    assert_refused monster.zst "zstd: " 18446744073709551615
}

# bats test_tags=slow
@test "zstd: dictionaries and the formats before 0.8" {
    mkdir samples
    local i
    for i in {1..200}; do lines $((i % 7 + 3)) | sed "s/some/$i/" >"samples/$i"; done
    zstd -q --train samples/* -o dictionary --maxdict=2000 2>/dev/null || skip "cannot train"
    zstd -q -D dictionary -c samples/1 >dictionary.zst
    assert_refused dictionary.zst "zstd: a frame needs a dictionary, which is not supported"
    for i in 2 3 4 5 6 7; do
        printf '%b' "\\x2$i\\xb5\\x2f\\xfd\\x58\\0\\0\\0\\0\\0\\0\\0\\0" >legacy.zst
        assert_refused legacy.zst "zstd: a frame of the format before zstd 0.8"
    done
}

@test "a bomb decodes in little memory" {
    skip_under_asan
    head -c 300000000 /dev/zero | zstd -q >bomb.zst
    (ulimit -v 100000 && decode bomb.zst 0 65536 65536 | wc -c) >bytes
    [ "$(cat bytes)" = 300000000 ]
}

@test "what is not compressed is told apart" {
    printf '1 2 3\n' >plain
    run -3 decode plain
    printf '\x28\xb5\x2f\xfe' >plain
    run -3 decode plain
    : >plain
    run -4 decode plain
    printf '\x28\xb5' >plain
    run -4 decode plain
    printf '\x1f' >plain
    run -4 decode plain
}

# bats test_tags=slow
@test "gzip: levels, members, names and comments in the header" {
    skip_without_gzip
    lines 3000 >plain
    : >empty
    local level
    for level in 1 2 3 4 5 6 7 8 9; do
        gzip -$level -c plain >plain.gz
        assert_decodes plain.gz plain
    done
    { head -n 10 plain | gzip; gzip -c empty; tail -n +11 plain | gzip -1
        gzip -c <empty; } >members.gz
    assert_decodes members.gz plain
    assert_decodes "$(gzip -k empty && echo empty.gz)" empty
    # Extra field, name, comment and the header's checksum; by Python, which knows RFC 1952, too.
    numpy 'import zlib, struct
plain = open("plain", "rb").read()
head = b"\x1f\x8b\x08\x1e" + struct.pack("<LBBH", 0, 0, 3, 4) + b"extr" + b"name\0comment\0"
head += struct.pack("<H", zlib.crc32(head) & 0xffff)
body = zlib.compressobj(9, zlib.DEFLATED, -15)
tail = struct.pack("<LL", zlib.crc32(plain), len(plain))
open("header.gz", "wb").write(head + body.compress(plain) + body.flush() + tail)'
    gzip -dc header.gz | cmp - plain
    assert_decodes header.gz plain
    sed 's/comment/komment/' header.gz >wrong.gz
    assert_refused wrong.gz "gzip: header crc mismatch"
}

@test "gzip: compressed twice it is decoded once" {
    skip_without_gzip
    lines 100 | gzip >once.gz
    gzip -c once.gz >twice.gz
    assert_decodes twice.gz once.gz
    zstd -q once.gz
    assert_decodes once.gz.zst once.gz
}

@test "gzip: cut anywhere but between members it is an error" {
    skip_without_gzip
    lines 4 >plain
    { head -n 2 plain | gzip; tail -n +3 plain | gzip -1; } >plain.gz
    damage gzip cut plain plain.gz "$(head -n 2 plain | gzip | wc -c)"
}

# bats test_tags=slow
@test "gzip: a flipped bit is an error, or changes nothing" {
    # Harmless are those of the time (32), the extra flags (8), the system (8) and the flag that
    # says that it is text (1), and those that fill the last byte of the data (7 at the most).
    skip_without_gzip
    lines 4 >plain
    gzip -n <plain >plain.gz
    run -0 damage gzip flip plain plain.gz
    [ "$output" -ge 49 ] && [ "$output" -le 56 ]
}

@test "gzip: a wrong checksum, a wrong size, an unknown method" {
    skip_without_gzip
    lines 100 | gzip -n >plain.gz
    local size
    size=$(wc -c <plain.gz)
    cp plain.gz wrong.gz
    printf 'abcd' | dd of=wrong.gz bs=1 seek=$((size - 8)) conv=notrunc status=none
    assert_refused wrong.gz "gzip: incorrect data check"
    cp plain.gz wrong.gz
    printf 'abcd' | dd of=wrong.gz bs=1 seek=$((size - 4)) conv=notrunc status=none
    assert_refused wrong.gz "gzip: incorrect length check"
    cp plain.gz wrong.gz
    printf '\x07' | dd of=wrong.gz bs=1 seek=2 conv=notrunc status=none
    assert_refused wrong.gz "gzip: unknown compression method"
}

@test "gzip: NULs behind a member are ignored, junk is an error" {
    skip_without_gzip
    lines 100 >plain
    gzip -c plain >plain.gz
    local junk
    for junk in '\0' '\0\0\0\0\0\0\0\0'; do
        { cat plain.gz; printf '%b' "$junk"; } >padded.gz
        assert_decodes padded.gz plain
    done
    { cat plain.gz; head -c 10000 /dev/zero; } >padded.gz
    assert_decodes padded.gz plain
    for junk in 'x' '\x1fx' '\x1e\x8b' '\0x' '\0\x1f\x8b' '\x28\xb5\x2f\xfd'; do
        { cat plain.gz; printf '%b' "$junk"; } >junk.gz
        assert_refused junk.gz "gzip: junk where a member or the end of the input is expected"
    done
    for junk in '\x1f' '\x1f\x8b' '\x1f\x8b\x08'; do
        { cat plain.gz; printf '%b' "$junk"; } >junk.gz
        assert_refused junk.gz "gzip: unexpected end of the input within a member"
    done
}

@test "gzip: a build without zlib says so" {
    printf '\x1f\x8b\x08' >probe.gz
    run -1 decode probe.gz
    [[ $output == *"built without zlib"* ]] || skip "built with zlib"
}
