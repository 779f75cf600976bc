#!/usr/bin/env bats
# Compressed input: zstd and gzip, text and binary, whole, in parts and broken. Oracles are the real
# tools, and gpuhist's own answer to the plain input, which the other tests compare with others'. More of
# input in many frames is in compressed_frames.bats.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    command -v zstd >/dev/null || skip "no zstd"
}

skip_without_gzip() {
    reads_gzip || skip "no gzip"
}

# formats: the commands that compress standard input, as many as this build can undo.
formats() {
    echo 'zstd -q -c'
    if reads_gzip; then echo 'gzip -c'; fi
}

# make_inputs: text, 40,000 lines, and binary, 100,003 int32, with what is to come out.
make_inputs() {
    random_file binary '<i4' 0 1000 100003
    counts_of d4 binary >binary.counts
    awk 'BEGIN { srand(4); for (i = 0; i < 40000; i++) print "w" i, int(1000 * rand()) }' >text
    awk '{ print $2 }' text | sort -n | uniq -c | awk '{ print $2 "\t" $1 }' >text.counts
}

# assert_corrupt TEXT ARG...: gpuhist ends with status 1, that text and no result.
assert_corrupt() {
    local text=$1
    shift
    run --separate-stderr gpuhist reduce sum "$@"
    assert_failed 1 "$text" || { echo "arguments: $*"; return 1; }
}

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

@test "plain and compressed files are one stream; elements and lines straddle frames, not files" {
    local engine
    skip_without_gzip
    make_inputs
    split -b 50001 binary part. # elements are cut
    zstd -q part.aa
    gzip -c part.ab >part.ab.gz
    zstd -q --ultra -20 part.ad
    # lines are cut: by frames, which are one file; files end their last line
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

@test "cut, flipped, followed by junk: an error and no result" {
    local format bytes i
    seq 3000 >text
    while read -r format; do
        $format <text >whole
        bytes=$(wc -c <whole)
        for i in 4 5 9 20 100 1000 $((bytes - 9)) $((bytes - 4)) $((bytes - 1)); do
            head -c "$i" whole >short
            assert_corrupt "short: " --text short
            assert_corrupt "standard input: " -f 1 < <(cat short)
        done
        for i in 100 1000 $((bytes - 2)); do
            "$PYTHON" -c 'import sys; d = bytearray(open("whole", "rb").read()); d[int(sys.argv[1])] ^= 4
open("flipped", "wb").write(d)' "$i"
            assert_corrupt "flipped: " --text flipped
        done
        { cat whole; echo junk; } >junk
        assert_corrupt "junk: " --text junk
        { cat whole; printf '\050'; } >junk
        assert_corrupt "junk: " --text junk
        assert_corrupt "short: " - short <text
    done < <(formats)
}

@test "stalin-sort has written what comes before the fault" {
    seq 100000 | zstd -q >whole
    head -c 50000 whole >short
    zstd -q -d -c short >expected 2>/dev/null || true
    [ -s expected ]
    for engine in $ENGINES; do
        run -1 --separate-stderr bash -c '"$GPUHIST" stalin-sort --engine "$1" short >out' - "$engine"
        [[ $stderr == "gpuhist: short: "* ]] && [ "${#stderr_lines[@]}" -eq 1 ]
        # whole lines, as far as zstd itself gets, which gives up a block at a time
        cmp -n "$(wc -c <out)" out <(seq 100000)
        [ "$(wc -c <out)" -ge "$(($(wc -c <expected) - 131072))" ]
    done
}

# bats test_tags=slow
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
    gzip -c g >twice # is not undone twice: what is inside is binary
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

# bats test_tags=slow
@test "zstd: files of many frames, cut, flipped or with junk anywhere" {
    # shellcheck disable=SC2086
    run -0 "$PYTHON" "$srcdir/tests/compressed.py" "$GPUHIST" zstd 1 $ENGINES
}

# bats test_tags=slow
@test "gzip: files of many members, cut, flipped or with junk anywhere" {
    skip_without_gzip
    # shellcheck disable=SC2086
    run -0 "$PYTHON" "$srcdir/tests/compressed.py" "$GPUHIST" gzip 1 $ENGINES
}

# bats test_tags=slow
@test "a giant skippable frame, before, between and behind others" {
    # a sparse file of 3 GiB, or of 512 MiB where the place is the same as that of another
    seq 1000 | zstd -q >some.zst
    for before in "" some.zst; do
        for behind in "" some.zst; do
            if [ "$before" = "$behind" ]; then size=300; else size=040; fi # of 16 MiB, octal
            # shellcheck disable=SC2086
            { cat $before </dev/null; printf '\120\052\115\030\0\0\0%b' "\\0$size"; } >giant.zst
            truncate -s +$((0$size << 24)) giant.zst || skip "no room for sparse files"
            # shellcheck disable=SC2086
            cat $behind </dev/null >>giant.zst
            run -0 timeout 60 "$GPUHIST" reduce sum --text giant.zst
            [ "$output" = $((500500 * ($(wc -w <<<"$before $behind")))) ]
        done
    done
    truncate -s $((7 + 0xc0000000)) giant.zst
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
