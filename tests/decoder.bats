#!/usr/bin/env bats
# Decoding each format. The oracles are the compressors and the original data.

load helpers

setup() {
    DECODE_FILE=${GPUHIST%/*}/tests/unit/decode_file
    cd "$BATS_TEST_TMPDIR"
    command -v zstd >/dev/null || skip "no zstd"
}

# Bytes that compress well, but not to almost nothing.
lines() {
    seq -f '%.0f some words, a number and 0123456789' "$1"
}

# skip_without FORMAT TOOL: skips unless this build decodes the format and the tool exists.
skip_without() {
    command -v "$2" >/dev/null || skip "no $2"
    : >probe
    run "$DECODE_FILE" "$1" 0 1 1 probe
    [[ $output != *"was built without"* ]] || skip "built without $1"
}

skip_without_gzip() { skip_without gzip gzip; }

decode() { # FILE [LIMIT [IN-PIECES OUT-PIECES [FORMAT]]]
    timeout 60 "$DECODE_FILE" "${5:-auto}" "${2:-0}" "${3:-4096}" "${4:-4096}" "$1"
}

# Sizes of input and output pieces; of input pieces if the input is large; and the number of pairs.
PIECES=1,2,7,4096,1000000 PAIRS=25
LARGE_PIECES=7,4096,1000000 LARGE_PAIRS=15
if [ "${SHARE:-1}" -gt 1 ]; then
    PIECES=1,7,1000000 PAIRS=9
    LARGE_PIECES=7,1000000 LARGE_PAIRS=6
fi

# assert_decodes FILE PLAIN: decodes in pieces of all sizes; a large input only in the larger ones.
assert_decodes() {
    local pieces=$PIECES pairs=$PAIRS
    if [ "$(stat -c %s "$1")" -gt 4000 ]; then pieces=$LARGE_PIECES pairs=$LARGE_PAIRS; fi
    decode "$1" 0 $pieces $PIECES >decoded
    yes "$2" | head -n $pairs | xargs cat | cmp decoded - || { echo "$1: other data"; return 1; }
}

# assert_refused FILE TEXT [LIMIT [FORMAT]]: fails with one line that contains TEXT, in pieces of all
# sizes.
assert_refused() {
    local status=0
    decode "$1" "${3:-0}" $PIECES $PIECES "${4:-auto}" >decoded 2>told || status=$?
    # shellcheck disable=SC2016  # awk
    TEXT=$2 awk -v start="gpuhist: $1: " -v pairs=$PAIRS 'index($0, start) == 1 && index($0, ENVIRON["TEXT"]) { n++ }
        END { exit n != pairs || NR != pairs }' told || status=0
    if [ "$status" -ne 1 ]; then
        cat told
        return 1
    fi
}

# skippable VARIANT LENGTH: a skippable frame of zstd; its content looks like a frame's beginning.
skippable() {
    local length
    printf -v length '\\x%02x\\x%02x' $(($2 & 255)) $(($2 >> 8))
    printf '%b' "\\x5$1\\x2a\\x4d\\x18$length\\0\\0"
    head -c "$2" /dev/zero | tr '\0' '\50'
}

# damage FORMAT cut|flip PLAIN FILE [END|TOOL]...: see decoder.py.
damage() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    "$PYTHON" "$srcdir/tests/decoder.py" "$DECODE_FILE" "$@"
}

# bats test_tags=slow
@test "zstd: levels, known and unknown sizes, with and without checksums" {
    local level
    lines 3000 >plain
    for level in -1 -3 -9 -19 --fast=10 "--ultra -20" --no-check "--no-check --long=27 -5"
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
    head -c 150000 /dev/zero >zeros
    numpy 'np.random.default_rng(7).integers(0, 256, 150000, dtype="u1").tofile("noise")'
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
    # 2 GiB of a sparse file: a length that is negative where it is taken for signed.
    lines 10 >plain
    printf '\x50\x2a\x4d\x18\0\0\0\x80' >giant.zst
    truncate -s $((8 + 0x80000000)) giant.zst || skip "no room for sparse files"
    zstd -qc plain >>giant.zst
    decode giant.zst 0 1000000 4096 | cmp - plain
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
    # A frame without checksum may decode to other data.
    lines 5 >plain
    zstd -q --check -c plain >known.zst
    damage zstd flip plain known.zst
    # Besides the reserved bit, only the window's size may pass.
    zstd -q --check <plain >unknown.zst
    run -0 damage zstd flip plain unknown.zst
    [ "$output" -le 10 ]
}

@test "zstd: what a header says of the content's size is checked" {
    # A single segment of 7 bytes without data, and one with 7.
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
        assert_refused junk.zst "zstd: trailing data where a frame or the end of the input is expected"
        { skippable 0 3; printf '%b' "$junk"; } >junk.zst
        assert_refused junk.zst "zstd: trailing data where a frame or the end of the input is expected"
    done
    for junk in '\x28' '\x28\xb5\x2f' '\x28\xb5\x2f\xfd' '\x5f\x2a\x4d\x18' '\x50'; do
        { cat plain.zst; printf '%b' "$junk"; } >junk.zst
        assert_refused junk.zst "zstd: unexpected end of the input within a frame"
    done
}

@test "zstd: a window above the limit, which can be raised" {
    # Windows of 256 MiB and 1 MiB: the content size is unknown, so the windows stay as large.
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
    # Also after other frames; and one that no library accepts.
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
    skip_under_emulator "ulimit counts its memory, too"
    head -c 150000000 /dev/zero | zstd -q >bomb.zst
    (ulimit -v 100000 && decode bomb.zst 0 65536 65536 | wc -c) >bytes
    [ "$(cat bytes)" = 150000000 ]
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

# bats test_tags=slow,gzip
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

# bats test_tags=slow,gzip
@test "gzip: a flipped bit is an error, or changes nothing" {
    # These bits are harmless: the time (32), the extra flags (8), the system (8), the text flag
    # (1), and the padding of the last byte of the data (7 at the most).
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
        assert_refused junk.gz "gzip: trailing data where a member or the end of the input is expected"
    done
    for junk in '\x1f' '\x1f\x8b' '\x1f\x8b\x08'; do
        { cat plain.gz; printf '%b' "$junk"; } >junk.gz
        assert_refused junk.gz "gzip: unexpected end of the input within a member"
    done
}

# bats test_tags=slow
@test "gzip: a header in pieces, with all fields, each as long as it gets" {
    skip_without_gzip
    lines 3 >plain
    # An extra field of 65535 bytes, a name of 3000 and a comment of 5000, and the header's checksum.
    numpy 'import zlib, struct
plain = open("plain", "rb").read()
body = zlib.compressobj(9, zlib.DEFLATED, -15)
rest = body.compress(plain) + body.flush() + struct.pack("<LL", zlib.crc32(plain), len(plain))
extra = struct.pack("<H", 65535) + b"\1" * 65535
for flags in range(32):
    head = b"\x1f\x8b\x08" + bytes([flags]) + struct.pack("<LBB", 0, 0, 3)
    head += extra if flags & 4 else b""
    head += b"n" * 3000 + b"\0" if flags & 8 else b""
    head += b"c" * 5000 + b"\0" if flags & 16 else b""
    head += struct.pack("<H", zlib.crc32(head) & 0xffff) if flags & 2 else b""
    open("header%d.gz" % flags, "wb").write(head + rest)'
    local flags
    for flags in {0..31}; do
        "$DECODE_FILE" gzip 0 1,2,3,7,100,4096 4096 "header$flags.gz" |
            cmp - <(cat plain plain plain plain plain plain)
    done
    gzip -dc header31.gz | cmp - plain
    printf '\x20' | dd of=header0.gz bs=1 seek=3 conv=notrunc status=none
    assert_refused header0.gz "gzip: unknown header flags set"
}

# bats test_tags=slow
@test "gzip: stored blocks, blocks of fixed codes, matches as far back as they go" {
    skip_without_gzip
    numpy 'import zlib, struct
def write(name, plain, *how, **more):
    body = zlib.compressobj(*how, **more)
    data = body.compress(plain[: len(plain) // 2]) + body.flush(zlib.Z_FULL_FLUSH)
    data += body.compress(plain[len(plain) // 2 :]) + body.flush()
    with open(name + ".gz", "wb") as file:
        file.write(b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + data)
        file.write(struct.pack("<LL", zlib.crc32(plain), len(plain)))
    open(name, "wb").write(plain)
rng = np.random.default_rng(3)
noise = rng.bytes(32768)
text = b"".join(b"%d\n" % n for n in rng.integers(0, 10**6, 20000))
write("stored", noise * 3, 0, zlib.DEFLATED, -15)
write("fixed", text, 6, zlib.DEFLATED, -15, 9, zlib.Z_FIXED)
write("far", noise[:32506] * 4, 9, zlib.DEFLATED, -15)
write("runs", b"a" * 200000 + b"ab" * 50000, 9, zlib.DEFLATED, -15, 9, zlib.Z_RLE)
write("codes", noise + text, 6, zlib.DEFLATED, -15, 9, zlib.Z_HUFFMAN_ONLY)'
    local plain
    for plain in stored fixed far runs codes; do
        gzip -dc $plain.gz | cmp - $plain
        assert_decodes $plain.gz $plain
    done
}

@test "gzip: files of igzip" {
    skip_without gzip igzip
    lines 3000 >plain
    local level
    for level in 0 1 2 3; do
        igzip -$level -c plain >plain.gz
        assert_decodes plain.gz plain
    done
}

@test "gzip: files of bgzip" {
    skip_without gzip bgzip
    lines 3000 >plain
    bgzip -c plain >plain.bgz
    assert_decodes plain.bgz plain
    head -n 1 plain >line
    bgzip -c line >line.bgz # with the empty member at its end
    damage gzip cut line line.bgz $(($(wc -c <line.bgz) - 28))
}

# check_format FORMAT UNIT TOOL [OPTION]...: runs the tests of all formats. TOOL -c compresses.
check_format() {
    local format=$1 unit=$2 tool=$3 junk
    shift 3
    skip_without "$format" "$tool"
    lines 3000 >plain
    : >empty
    printf x >byte
    numpy 'np.random.default_rng(7).integers(0, 256, 150000, dtype="u1").tofile("noise")'
    head -c 150000 /dev/zero >zeros
    local name
    for name in plain empty byte noise zeros; do
        "$tool" -c "$@" <"$name" >"$name.z"
        [ "$name" = empty ] || "$tool" -dc <"$name.z" | cmp - "$name"
        assert_decodes "$name.z" "$name"
    done
    # several in sequence, empty ones first, in the middle and last
    split -b 30000 plain part-
    for name in part-*; do "$tool" -c "$@" <"$name"; done >many.z
    assert_decodes many.z plain
    { cat empty.z; "$tool" -c "$@" <part-aa; cat empty.z
        tail -c +30001 plain | "$tool" -c "$@"; cat empty.z; } >many.z
    assert_decodes many.z plain
    # data compressed twice is decoded once
    "$tool" -c "$@" <many.z >twice.z
    assert_decodes twice.z many.z
    # cut, flipped, with trailing data
    lines 4 >short
    head -n 2 short | "$tool" -c "$@" >short.z
    local end
    end=$(wc -c <short.z)
    tail -n +3 short | "$tool" -c "$@" >>short.z
    damage "$format" cut short short.z "$end"
    for junk in 'x' 'text\n' '\x1f\x8b\x08' '\x28\xb5\x2f\xfd\0'; do
        { cat plain.z; printf '%b' "$junk"; } >junk.z
        assert_refused junk.z "$format: trailing data where a $unit or the end of the input is expected"
    done
    { cat plain.z; head -c 2 plain.z; } >junk.z
    assert_refused junk.z "$format: unexpected end of the input within a $unit"
    { cat plain.z; head -c 20 plain.z; } >junk.z
    assert_refused junk.z "$format: unexpected end of the input within a $unit"
}

# put FILE OFFSET BYTES: overwrites bytes with BYTES, as for printf %b; a negative OFFSET counts from the end.
put() {
    local offset=$2
    [ "$offset" -ge 0 ] || offset=$(($(wc -c <"$1") + offset))
    printf '%b' "$3" | dd of="$1" bs=1 seek="$offset" conv=notrunc status=none
}

# Levels that need little memory, because memory dominates the time here.
# bats test_tags=later
@test "xz" { check_format xz stream xz -0; }
# bats test_tags=slow
@test "xz: in blocks" { check_format xz stream xz -0 -T2 --block-size=20000; }
# bats test_tags=later
@test "bzip2" { check_format bzip2 stream bzip2 -1; }
# bats test_tags=later
@test "lz4" { check_format lz4 frame lz4 -q -B4; }
# bats test_tags=slow
@test "lz4: blocks of 64 KiB that refer to those before, with checksums" {
    check_format lz4 frame lz4 -q -B4 -BD -BX
}

# bats test_tags=slow
@test "xz: checks, filters, levels" {
    skip_without xz xz
    lines 3000 >plain
    local how
    for how in --check=none --check=crc32 --check=crc64 --check=sha256 -0 -9e "--delta=dist=4 --lzma2" \
        "--x86 --lzma2=dict=4KiB" "--lzma2=lc=0,lp=2,pb=0"; do
        # shellcheck disable=SC2086
        xz -c $how plain >plain.xz
        assert_decodes plain.xz plain
    done
}

# bats test_tags=slow
@test "xz: a flipped bit is an error" {
    skip_without xz xz
    lines 4 >plain
    xz -0 plain -c >plain.xz
    run -0 damage xz flip plain plain.xz xz -dc
    [ "$output" -eq 0 ]
}

@test "xz: a wrong check, and one that the library does not know" {
    skip_without xz xz
    lines 100 >plain
    xz -c --check=crc32 plain >plain.xz
    # the block's check precedes the index and the footer of 12 bytes
    local index
    index=$(($(od -An -tu4 -j $(($(wc -c <plain.xz) - 8)) -N 4 plain.xz) * 4 + 4))
    put plain.xz $((-12 - index - 4)) abcd
    run xz -dc plain.xz
    [ "$status" -eq 1 ]
    assert_refused plain.xz "xz: corrupt data"
    # check 2, of 4 bytes: in the header and in the footer
    numpy 'import zlib, struct
data = bytearray(open("known.xz", "rb").read())
data[7] = 2
data[8:12] = struct.pack("<L", zlib.crc32(data[6:8]))
data[-3] = 2
data[-12:-8] = struct.pack("<L", zlib.crc32(data[-8:-2]))
open("unknown.xz", "wb").write(data)' < <(xz -c --check=crc32 plain >known.xz)
    assert_refused unknown.xz "xz: a stream has a check that is not supported"
}

# bats test_tags=slow
@test "xz: NULs between and behind streams, in fours" {
    skip_without xz xz
    lines 10 >plain
    : >empty
    head -n 3 plain | xz >first.xz
    tail -n +4 plain | xz >second.xz
    local padding
    for padding in '\0\0\0\0' '\0\0\0\0\0\0\0\0'; do
        { cat first.xz; printf '%b' "$padding"; cat second.xz; printf '%b' "$padding"; } >padded.xz
        xz -dc padded.xz | cmp - plain
        assert_decodes padded.xz plain
    done
    { cat first.xz; head -c 100000 /dev/zero; cat second.xz; } >padded.xz
    assert_decodes padded.xz plain
    for padding in '\0' '\0\0\0' '\0\0\0\0\0'; do
        { cat first.xz; printf '%b' "$padding"; cat second.xz; } >padded.xz
        run xz -dc padded.xz
        [ "$status" -ne 0 ]
        assert_refused padded.xz "xz: trailing data where a stream or the end of the input is expected"
        { cat first.xz; printf '%b' "$padding"; } >padded.xz
        run xz -dc padded.xz
        [ "$status" -ne 0 ]
        assert_refused padded.xz "xz: trailing data where a stream or the end of the input is expected"
    done
}

@test "xz: a dictionary above the limit, which can be raised" {
    skip_without xz xz
    lines 10 >plain
    xz -c --lzma2=dict=128MiB plain >default.xz
    xz -c --lzma2=dict=192MiB plain >large.xz
    decode default.xz | cmp - plain
    assert_refused large.xz "xz: a block needs 2"
    assert_refused large.xz "bytes of memory, the limit is 134217728: --memory raises it"
    decode large.xz 201326592 | cmp - plain
    assert_refused default.xz "the limit is 100000000: --memory raises it" 100000000
    decode default.xz 18446744073709551615 | cmp - plain
    xz -c --lzma2=dict=1MiB plain >small.xz
    decode small.xz 1048576 | cmp - plain
    # also after other streams
    cat small.xz default.xz large.xz >all.xz
    assert_refused all.xz "the limit is 134217728: --memory raises it"
}

# bats test_tags=slow
@test "bzip2: levels, blocks of all sizes, flipped bits" {
    skip_without bzip2 bzip2
    lines 50000 >plain # more than two blocks of 900 KB
    local level
    for level in 1 5 9; do
        bzip2 -c -$level plain >plain.bz2
        decode plain.bz2 0 4096,1000000 7777,1000000 | cmp - <(cat plain plain plain plain)
    done
    lines 4 >short
    bzip2 -1 short -c >short.bz2
    run -0 damage bzip2 flip short short.bz2 bzip2 -dc
    [ "$output" -le 40 ] # the level, unused tables, the padding of the last byte
    # the block's checksum, and the stream's, in 4 of the last 5 bytes
    cp short.bz2 wrong.bz2
    put wrong.bz2 10 abcd
    assert_refused wrong.bz2 "bzip2: corrupt data"
    cp short.bz2 wrong.bz2
    put wrong.bz2 -4 '\0\0'
    assert_refused wrong.bz2 "bzip2: corrupt data"
}

# bats test_tags=slow
@test "lz4: levels, sizes of blocks and of the content, skippable frames" {
    skip_without lz4 lz4
    lines 3000 >plain
    : >empty
    local how
    for how in -1 -9 -12 --fast=9 -B4 -B5 -B6 -B7 -BD -BX --content-size --no-frame-crc \
        "-B4 -BD -BX --content-size"; do
        # shellcheck disable=SC2086
        lz4 -q -c $how plain >plain.lz4
        assert_decodes plain.lz4 plain
    done
    # "auto" treats a leading skippable frame as zstd
    { skippable 3 300; cat plain.lz4; skippable f 0; } >skips.lz4
    "$DECODE_FILE" lz4 0 1,4096,1000000 1000000 skips.lz4 | cmp - <(cat plain plain plain)
    { cat plain.lz4; skippable 3 300; cat plain.lz4; skippable f 0; } >skips.lz4
    cat plain plain >twice
    lz4 -dc skips.lz4 2>/dev/null | cmp - twice
    assert_decodes skips.lz4 twice
}

# bats test_tags=slow
@test "lz4: a flipped bit is an error, or changes nothing" {
    # The match length bits of the last token are harmless, because it has no match.
    skip_without lz4 lz4
    lines 4 >plain
    lz4 -q -B4 -c plain >plain.lz4
    run -0 damage lz4 flip plain plain.lz4 lz4 -dcq
    [ "$output" -eq 4 ]
}

# bats test_tags=slow
@test "lz4: checksums of contents of all short lengths" {
    skip_without lz4 lz4
    lines 4 >long
    local bytes
    for bytes in {0..66}; do
        head -c "$bytes" long | tee -a plain | lz4 -q -c >>plain.lz4
    done
    assert_decodes plain.lz4 plain
}

@test "lz4: wrong checksums and sizes, dictionaries, the legacy format" {
    skip_without lz4 lz4
    lines 4 >plain
    lz4 -q -c --content-size plain >plain.lz4
    cp plain.lz4 wrong.lz4
    put wrong.lz4 -4 abcd
    assert_refused wrong.lz4 "lz4: ERROR_contentChecksum_invalid"
    lz4 -q -c -BX plain >blocks.lz4
    put blocks.lz4 -12 abcd # before the end mark and the content's
    assert_refused blocks.lz4 "lz4: ERROR_blockChecksum_invalid"
    printf x | lz4 -q -c -BX >stored.lz4
    put stored.lz4 -12 abcd
    assert_refused stored.lz4 "lz4: ERROR_blockChecksum_invalid"
    cp plain.lz4 wrong.lz4
    put wrong.lz4 14 '\0'
    assert_refused wrong.lz4 "lz4: ERROR_headerChecksum_invalid"
    # magic, flags with a dictionary's id
    printf '\x04\x22\x4d\x18\x61\x40\1\0\0\0\x82\0\0\0\0' >dictionary.lz4
    assert_refused dictionary.lz4 "lz4: a frame needs a dictionary, which is not supported"
    lz4 -q -l -c plain >legacy.lz4
    assert_refused legacy.lz4 "lz4: a frame of the legacy format, which is not supported"
}

# bats test_tags=slow,gzip,plain
@test "bombs of each format decode in little memory" {
    skip_under_asan
    local tool
    for tool in gzip xz bzip2 lz4; do
        command -v $tool >/dev/null || continue
        head -c 100000000 /dev/zero | $tool -c >bomb.$tool
        run "$DECODE_FILE" auto 0 1 1 <(head -c 10 bomb.$tool)
        [[ $output != *"was built without"* ]] || continue
        (ulimit -v 100000 && decode bomb.$tool 0 65536 65536 | wc -c) >bytes
        [ "$(cat bytes)" = 100000000 ]
    done
}

@test "a build without a library says which, and what to do instead" {
    local format missing=0
    printf '\x1f\x8b\x08\0\0\0\0\0\0\0' >probe.gzip
    printf '\xfd7zXZ\0\0\0' >probe.xz
    printf 'BZh91AY&SY' >probe.bzip2
    printf '\x04\x22\x4d\x18' >probe.lz4
    for format in gzip xz bzip2 lz4; do
        run "$DECODE_FILE" auto 0 1 1 probe.$format
        [[ $output == *"was built without"* ]] || continue
        missing=$((missing + 1))
        assert_refused probe.$format "$format: this gpuhist was built without "
        assert_refused probe.$format "(try $format -dc)"
    done
    [ "$missing" -gt 0 ] || skip "this build has them all"
}
