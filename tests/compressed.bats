#!/usr/bin/env bats
# Compressed input of each format, text and binary, whole, in parts and corrupt. Oracles are the real
# tools, and gpuhist's result for the plain input, which other tests compare with other programs.
# compressed_frames.bats has more tests of many zstd frames.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    command -v zstd >/dev/null || skip "no zstd"
}

# formats: prints the commands that compress standard input to formats that this build decodes.
formats() {
    local format
    echo 'zstd -q -c'
    for format in gzip xz bzip2; do
        if reads $format $format; then echo "$format -c"; fi
    done
    if reads lz4 lz4; then echo 'lz4 -q -c'; fi
    if reads gzip bgzip; then echo 'bgzip -c'; fi
}

# make_inputs: makes text, 40,000 lines, and binary, 100,003 int32, with the expected results.
make_inputs() {
    random_file binary '<i4' 0 1000 100003
    counts_of d4 binary >binary.counts
    awk 'BEGIN { srand(4); for (i = 0; i < 40000; i++) print "w" i, int(1000 * rand()) }' >text
    awk '{ print $2 }' text | sort -n | uniq -c | awk '{ print $2 "\t" $1 }' >text.counts
}

# assert_corrupt TEXT ARG...: asserts that gpuhist ends with status 1, TEXT and no result.
assert_corrupt() {
    local text=$1
    shift
    run --separate-stderr gpuhist reduce sum "$@"
    assert_failed 1 "$text" || { echo "arguments: $*"; return 1; }
}

# bats test_tags=later
@test "files, redirected files and pipes, on every engine" {
    local engine format
    make_inputs
    while read -r format; do
        $format <binary >b
        $format <text >t
        for engine in $ENGINES; do
            gpuhist --bins 1000 --engine "$engine" b | cmp binary.counts -
            gpuhist --bins 1000 --engine "$engine" <b | cmp binary.counts -
            gpuhist --bins 1000 --engine "$engine" < <(cat b) | cmp binary.counts -
            gpuhist --bins 1000 --engine "$engine" -f 2 t | cmp text.counts -
            gpuhist --bins 1000 --engine "$engine" -f 2 <t | cmp text.counts -
            gpuhist --bins 1000 --engine "$engine" -f 2 --chunk-size 4096 < <(cat t) | cmp text.counts -
            gpuhist --bins 1000 --engine "$engine" --chunk-size 13 --threads 3 b | cmp binary.counts -
        done
    done < <(formats)
}

# bats test_tags=later
@test "every operation" {
    local engine format
    make_inputs
    while read -r format; do
        $format <binary >b
        for engine in $ENGINES; do
            for what in "reduce" "count --ge 500 --eq 404" "stalin-sort" "--bins 10 --range 0:1000"; do
                # shellcheck disable=SC2086
                cmp <(gpuhist $what --engine "$engine" binary) <(gpuhist $what --engine "$engine" b)
            done
        done
        [ "$(gpuhist reduce sum <b)" = "$(od -An -v -w4 -td4 binary | awk '{ n += $1 } END { print n }')" ]
    done < <(formats)
}

@test "more files than a process may open: each is closed once it is read" {
    local i
    skip_without_gzip
    for ((i = 0; i < 200; i++)); do echo "$i" >"$i"; done
    gzip {0..149}
    zstd -q --rm {150..180}
    ulimit -Sn 60
    [ "$(gpuhist reduce count,sum --threads 4 {0..149}.gz {150..180}.zst {181..199})" = $'count\t200\nsum\t19900' ]
}

@test "plain and compressed files are one stream; elements and lines straddle frames, not files" {
    local engine
    skip_without_gzip
    make_inputs
    split -b 50001 binary part. # elements are cut
    zstd -q part.aa
    gzip -c part.ab >part.ab.gz
    zstd -q --ultra -20 part.ad
    # frames of one file cut lines; the end of a file ends its last line
    head -c 99999 text | zstd -q >frames
    tail -c +100000 text | head -c 70001 | zstd -q -1 --no-check >>frames
    tail -c +170001 text | zstd -q -19 >>frames
    { head -c 99999 text | gzip; tail -c +100000 text | gzip -9; } >members
    for engine in $ENGINES; do
        gpuhist --bins 1000 --engine "$engine" part.aa.zst part.ab.gz - part.ad.zst part.a[e-z] <part.ac |
            cmp binary.counts -
        gpuhist --bins 1000 --engine "$engine" -f 2 frames | cmp text.counts -
        gpuhist --bins 1000 --engine "$engine" -f -1 < <(cat members) | cmp text.counts -
        gpuhist --bins 1000 --engine "$engine" -f 2 text frames members |
            cmp - <(awk '{ print $1 "\t" 3 * $2 }' text.counts)
    done
    printf 1 | zstd -q >one
    printf 2 | gzip >two
    run -0 gpuhist reduce count,sum one two one
    [ "$output" = $'count\t3\nsum\t4' ]
    cat one one >both
    run -0 gpuhist reduce sum both
    [ "$output" = 11 ]
}

@test "the first file says what the input is, also when it is empty, or compressed" {
    : >empty
    zstd -q -c empty >empty.zst
    printf '5\n6\n' | zstd -q >t
    int32 5 6 | zstd -q >b
    run -0 gpuhist reduce sum empty empty.zst t
    [ "$output" = 11 ]
    run -0 gpuhist reduce sum empty empty.zst b
    [ "$output" = 11 ]
    for in in empty empty.zst; do
        run -0 gpuhist --bins 5 $in
        [ -z "$output" ]
    done
}

# bats test_tags=slow
@test "levels, long windows, skippable and empty frames" {
    make_inputs
    for level in --fast=5 -1 -3 -19 "--ultra -22" "--long=27" "-B4096 -T2" "--no-check"; do
        # shellcheck disable=SC2086
        zstd -q -c $level binary >b
        gpuhist --bins 1000 b | cmp binary.counts -
    done
    zstd -q -c binary >frame
    printf '\120\052\115\030\005\0\0\0abcde' >skippable
    : | zstd -q >none
    { cat skippable frame skippable none; } >b
    gpuhist --bins 1000 b | cmp binary.counts -
    gpuhist --bins 1000 < <(cat b) | cmp binary.counts -
    run -0 gpuhist reduce count skippable
    [ "$output" = 0 ]
}

@test "a window that is larger than --memory is refused, with the option to give" {
    head -c 20M /dev/zero | zstd -q --long=30 --zstd=wlog=30 >wide 2>/dev/null ||
        skip "a zstd without --long"
    run --separate-stderr gpuhist reduce count --binary -t u8 --memory 1M wide
    assert_failed 1 "wide: "
    run -0 gpuhist reduce count --binary -t u8 --memory 2G wide
    [ "$output" = 20971520 ]
    run --separate-stderr gpuhist reduce count --memory 0 wide
    assert_failed 2 "invalid --memory '0'"
}

@test "--decompress=none reads the bytes as they are" {
    printf '5\n' | zstd -q >t
    run -0 gpuhist count --all --decompress none -t u8 t
    [ "$output" = "$(wc -c <t)" ]
    gpuhist --bins 256 --decompress=none --binary -t u8 t | cmp <(counts_of u1 t) -
    run --separate-stderr gpuhist reduce sum --decompress=none --text t
    assert_failed 1 "t:1: invalid integer"
    run -0 gpuhist reduce sum --decompress=auto t
    [ "$output" = 5 ]
    run --separate-stderr gpuhist reduce sum --decompress=zstd t
    assert_failed 2 "invalid --decompress 'zstd'"
}

# bats test_tags=slow,gzip
@test "cut, flipped, followed by junk: an error and no result" {
    local format bytes early found i
    seq 3000 >text
    while read -r format; do
        $format <text >whole
        bytes=$(wc -c <whole)
        early="4 5 9" # the others have longer beginnings
        case $format in xz* | bzip2*) early="10 11 16" ;; esac
        for i in $early 20 100 1000 $((bytes - 9)) $((bytes - 4)) $((bytes - 1)); do
            head -c "$i" whole >short
            assert_corrupt "short: " --text short
            assert_corrupt "standard input: " -f 1 < <(cat short)
        done
        for i in 100 1000 $((bytes - 2)); do
            "$PYTHON" -c 'import sys; d = bytearray(open("whole", "rb").read()); d[int(sys.argv[1])] ^= 4
open("flipped", "wb").write(d)' "$i"
            # if the checksum is at the end, wrong data may be found before it
            case $format in zstd* | gzip*) found="flipped: " ;; *) found=flipped: ;; esac
            assert_corrupt "$found" --text flipped
        done
        { cat whole; echo junk; } >junk
        assert_corrupt "junk: " --text junk
        { cat whole; printf '\050'; } >junk
        assert_corrupt "junk: " --text junk
        assert_corrupt "short: " - short <text
    done < <(formats)
}

# flip FILE OFFSET: changes a bit of the byte there; a negative offset is from the end.
flip() {
    "$PYTHON" -c 'import sys
with open(sys.argv[1], "r+b") as file:
    data = file.read()
    at = int(sys.argv[2]) % len(data)
    file.seek(at)
    file.write(bytes([data[at] ^ 4]))' "$@"
}

# survivors FILE: writes the values kept from a corrupt file to "out", by pipe and by file, with 1, 2 and
# 16 threads, only 16 if GPUHIST_TEST_SHARE is set. Each run fails with the same values.
survivors() {
    local threads all="1 2 16"
    [ "$SHARE" -eq 1 ] || all=16
    rm -f first
    for threads in $all; do
        run -1 --separate-stderr bash -c '"$GPUHIST" stalin-sort --text --threads "$2" "$1" >out' - \
            "$1" "$threads"
        [[ $stderr == "gpuhist: $1: "* ]] && [ "${#stderr_lines[@]}" -eq 1 ]
        [ -e first ] || cp out first
        cmp out first
        run -1 --separate-stderr bash -c 'cat "$1" | "$GPUHIST" stalin-sort --text --threads "$2" >out' \
            - "$1" "$threads"
        cmp out first
    done
}

# bats test_tags=slow,gzip
@test "stalin-sort writes nothing of a frame before its checksum is verified" {
    seq 100000 >lines
    zstd -q --check -c lines >sized
    zstd -q --check <lines >unsized
    names="sized unsized"
    if reads_gzip; then
        gzip -c lines >gzipped
        names+=" gzipped"
    fi
    for name in $names; do
        bytes=$(wc -c <"$name")
        for place in $((bytes / 4)) $((bytes / 2)) -6 -1; do
            cp "$name" bad
            flip bad "$place"
            survivors bad
            [ ! -s out ] || { echo "$name with byte $place flipped: $(wc -c <out) bytes"; return 1; }
        done
        head -c $((bytes - 1)) "$name" >bad
        survivors bad
        [ ! -s out ]
        { cat "$name" bad; } >behind # the first frame's checksum is right
        survivors behind
        cmp out lines
    done
}

# bats test_tags=slow,gzip,plain
@test "stalin-sort holds frames of 16 MiB back, and passes larger ones on" {
    seq 9000000 | head -c $((16 << 20)) >limit
    names=zstd
    ! reads_gzip || names+=" gzip"
    for name in $names; do
        "$name" -q -1 <limit >good
        gpuhist stalin-sort --text good | cmp - limit # which ends with a line
        cp good bad
        flip bad -1
        survivors bad
        [ ! -s out ]
        # all but the checksum comes first
        run -1 bash -c '{ head -c -9 bad; sleep 0.5; tail -c 9 bad; } | "$GPUHIST" stalin-sort --text >out'
        [ ! -s out ]
        seq 2500000 | "$name" -q -1 >bad # 18 MiB
        flip bad -1
        survivors bad
        cmp -n "$(wc -c <out)" out <(seq 2500000)
        [ "$(wc -c <out)" -gt $((16 << 20)) ]
    done
    # Late corruption: all data before it is written, whatever the size of reads.
    seq 3000000 | zstd -q -1 >whole
    head -c $(($(wc -c <whole) - 1000)) whole >short
    survivors short
    cmp -n "$(wc -c <out)" out <(seq 3000000)
    [ "$(wc -c <out)" -gt $(($(seq 3000000 | wc -c) - (1 << 20))) ]
}

@test "stalin-sort writes the survivors of a frame when it has ended, while the pipe is open" {
    mkfifo fifo
    for pack in "zstd -q" "gzip -c"; do
        [ "$pack" = "zstd -q" ] || reads_gzip || continue
        timeout 60 "$GPUHIST" stalin-sort --text --chunk-size 4096 <fifo >out 3>&- &
        exec 4>fifo
        printf '1\n2\n' | $pack >&4
        until [ "$(cat out)" = $'1\n2' ]; do sleep 0.01; done
        printf '1\n3\n' | $pack >frame
        head -c 12 frame >&4
        tail -c +13 frame >&4
        until [ "$(cat out)" = $'1\n2\n3' ]; do sleep 0.01; done
        seq 4 50000 | $pack >&4 # more than one pull
        until [ "$(tail -n 1 out)" = 50000 ]; do sleep 0.01; done
        seq 50000 | cmp - out
        exec 4>&-
        wait $!
    done
}

# bats test_tags=slow,plain
@test "memory stays bounded with what decodes to a thousand times as much" {
    skip_under_asan
    head -c 1G /dev/zero | zstd -q -c >bomb
    [ "$(wc -c <bomb)" -lt 200000 ]
    run -0 bash -c 'ulimit -v 700000; "$GPUHIST" --bins 5 --engine cpu --threads 2 bomb'
    [ "$output" = $'0\t268435456' ]
}

@test "gzip: members, zeros at the end, junk, compressed twice" {
    skip_without_gzip
    seq 1000 | gzip >g
    { cat g; head -c 512 /dev/zero; } >padded
    run -0 gpuhist reduce sum padded
    [ "$output" = 500500 ]
    { cat g g; } >members
    run -0 gpuhist reduce sum members
    [ "$output" = 1001000 ]
    gzip -c g >twice # is decoded only once: its contents are binary
    run -0 gpuhist reduce count -t u8 twice
    [ "$output" = "$(wc -c <g)" ]
    printf '\037\213' >magic
    assert_corrupt "magic: " --text magic
}

@test "what begins like a compressed file but is too short is taken as it is" {
    printf '\037' >byte
    run -0 gpuhist reduce sum --binary -t u8 byte
    [ "$output" = 31 ]
    run -0 gpuhist reduce sum --binary -t u8 < <(printf '\050\265')
    [ "$output" = 221 ]
    run -0 gpuhist reduce sum < <(printf '('; sleep 0.1; printf '' ) || true
    [[ $output == *"invalid integer '('"* ]]
}

@test "compressed input that comes slowly" {
    printf '1\n2\n3\n' | zstd -q >t
    run -0 bash -c 'for ((i = 1; i <= $(wc -c <t); i++)); do tail -c +$i t | head -c 1; sleep 0.005; done |
        "$GPUHIST" reduce sum'
    [ "$output" = 6 ]
}

# assert_unread FILE TEXT: asserts the error for a format that is never decoded, from all kinds of input.
assert_unread() {
    local how bytes
    bytes=$(wc -c <"$1")
    for how in "" --text "-t u8" "-f 1"; do
        # shellcheck disable=SC2086
        assert_corrupt "$1: $2" $how "$1"
        # shellcheck disable=SC2086
        assert_corrupt "standard input: $2" $how <"$1"
        # shellcheck disable=SC2086
        assert_corrupt "standard input: $2" $how < <(cat "$1")
    done
    [ "$(gpuhist count --all --decompress none --binary -t u8 "$1")" = "$bytes" ]
    [ "$(gpuhist count --all --decompress none --binary -t u8 < <(cat "$1"))" = "$bytes" ]
}

# bats test_tags=slow
@test "zip, 7z, lzma and compress are refused by name, never counted" {
    seq 1000 >text
    numpy '
import lzma, zipfile
text = open("text", "rb").read()
with zipfile.ZipFile("x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.write("text")
zipfile.ZipFile("empty.zip", "w").close()
open("x.7z", "wb").write(b"7z\xbc\xaf\x27\x1c\0\4" + bytes(24))
for name, preset, content in ("x", 6, text), ("fast", 0, text), ("empty", 6, b""), ("one", 9, b"1"):
    open(name + ".lzma", "wb").write(lzma.compress(content, lzma.FORMAT_ALONE, preset=preset))
# codes of 9 bits, all literal, in groups of eight
for name, content in ("x", b"1 2 3 4\n"), ("short", b"7\n"), ("empty", b""):
    codes = sum(byte << 9 * i for i, byte in enumerate(content))
    open(name + ".Z", "wb").write(b"\x1f\x9d\x90" + codes.to_bytes((9 * len(content) + 7) // 8,
                                                                   "little"))'
    [ "$(gzip -dc <x.Z)" = "1 2 3 4" ]
    for name in x.zip empty.zip; do
        assert_unread $name "zip archives are not supported (try unzip -p"
    done
    assert_unread x.7z "7z archives are not supported (try 7z x -so"
    for name in x fast empty one; do
        assert_unread $name.lzma "lzma files, the predecessors of xz, are not supported (try "
    done
    for name in x short empty; do
        assert_unread $name.Z "files of compress (.Z) are not supported (try gzip -dc"
    done
    # also as one of several, but not in the middle of a file
    assert_corrupt "x.zip: zip archives are not supported" text x.zip
    { int32 7; cat x.zip; } >inside
    run -0 gpuhist count --all -t u8 --binary inside
    [ "$output" = "$(wc -c <inside)" ]
}

# bats test_tags=later
@test "integers that begin nearly like an archive are counted" {
    # lzma: small integers of each width, of which the first is 93; the .Z of nobody
    numpy '
rng = np.random.default_rng(1)
for type in "i1", "<i2", "<i4", "<i8", ">i2", ">i4":
    for most in 3, 16, 100:
        for i in range(20):
            values = rng.integers(0, most, 1000).astype(type)
            values[0] = 93
            values[1 : i % 8] = 0
            values.tofile("%s-%d-%d" % (type[-2:] + "lb"[type[0] == ">"], most, i))
np.array([0x1f, 0x9d, 0x48, 1], "u1").tofile("nearly.Z")'
    for type in i1 i2 i4 i8; do
        run -0 gpuhist count --all --binary -t "i$((8 * ${type#i}))" $type?-*
        [ "$output" = $((1000 * $(printf '%s\n' $type?-* | wc -l))) ]
    done
    run -0 gpuhist count --all --binary -t u8 nearly.Z
    [ "$output" = 4 ]
}

@test "info says what decodes each format" {
    run -0 gpuhist info
    for format in zstd gzip xz bzip2 lz4; do
        grep -E "^$format: (yes: (libzstd|ISA-L|zlib|liblzma|libbz2|liblz4) [0-9]+\.|no: built without )" \
            <<<"$output"
    done
    [ "$(grep -cE '^(zstd|gzip|xz|bzip2|lz4): ' <<<"$output")" -eq 5 ]
}

@test "xz: a dictionary that is larger than --memory is refused, with the option to give" {
    reads xz xz || skip "no xz"
    seq 1000 | xz --lzma2=dict=192MiB >wide.xz
    for in in wide.xz "-"; do
        assert_corrupt "bytes of memory, the limit is 134217728: --memory raises it" $in <wide.xz
    done
    run -0 gpuhist reduce sum --memory 192M wide.xz
    [ "$output" = 500500 ]
}

# bats test_tags=slow
@test "a giant skippable frame, before, between and behind others" {
    # a sparse file of 2 GiB, a length that is negative if signed, or of 128 MiB
    seq 1000 | zstd -q >some.zst
    for before in "" some.zst; do
        for behind in "" some.zst; do
            if [ -z "$before$behind" ]; then size=200; else size=010; fi # of 16 MiB, octal
            # shellcheck disable=SC2086
            { cat $before </dev/null; printf '\120\052\115\030\0\0\0%b' "\\0$size"; } >giant.zst
            truncate -s +$((0$size << 24)) giant.zst || skip "no room for sparse files"
            # shellcheck disable=SC2086
            cat $behind </dev/null >>giant.zst
            run -0 timeout 60 "$GPUHIST" reduce sum --text giant.zst
            [ "$output" = $((500500 * ($(wc -w <<<"$before $behind")))) ]
        done
    done
    printf '\120\052\115\030\0\0\0\200' >giant.zst
    truncate -s $((7 + 0x80000000)) giant.zst
    assert_corrupt "giant.zst: zstd: unexpected end" --text giant.zst
}

@test "a window over 128 MiB, a dictionary, a format of long ago are refused" {
    seq 100000 | zstd -q --ultra --long=28 >wide.zst
    for in in wide.zst "-"; do
        assert_corrupt "zstd: a frame needs a window of 268435456 bytes" $in <wide.zst
        [[ $stderr == *"--memory"* ]]
    done
    run -0 gpuhist reduce sum --memory 256M wide.zst
    [ "$output" = 5000050000 ]
    # a frame whose header names the dictionary 1, and one with the magic of zstd 0.7
    printf '\050\265\057\375\001\0\001\001\0\0' >dictionary.zst
    assert_corrupt "dictionary.zst: zstd: a frame needs a dictionary" dictionary.zst
    printf '\047\265\057\375\130\0\0\0\0\0\0\0' >legacy.zst
    assert_corrupt "legacy.zst: zstd: a frame of the format before zstd 0.8" legacy.zst
}
