#!/usr/bin/env bats
# Unsupported file types are errors that name the type, never numbers. The files are made by the
# programs and libraries that write them, if installed, otherwise from their specifications.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# assert_refused FILE TEXT [BYTES]: asserts an error with TEXT for each way to read the file,
# except with --binary: then all of its bytes (BYTES: its decompressed size) are counted.
assert_refused() {
    local how bytes=${3-$(wc -c <"$1")}
    for how in "" "-t u8" "--text" "-f 1 --invalid ignore" "--decompress none"; do
        [[ -z ${3-} || $how != *none ]] || continue
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist reduce count $how "$1"
        assert_failed 1 "$1: $2"
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist reduce count $how <"$1"
        assert_failed 1 "standard input: $2"
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist reduce count $how < <(cat "$1")
        assert_failed 1 "standard input: $2"
    done
    [ "$(gpuhist reduce count -t u8 --binary "$1")" = "$bytes" ]
    [ "$(gpuhist reduce count -t u8le < <(cat "$1"))" = "$bytes" ]
}

# bats test_tags=slow
@test "a file of a well-known kind is an error that names it, unless it is said to be binary" {
    seq 10 21 >numbers
    printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\76\0' >program
    assert_refused program "ELF programs and libraries are not supported (try --binary, which counts the bytes as they are)"
    printf '\211PNG\r\n\032\n\0\0\0\rIHDR' >picture
    assert_refused picture "PNG images are not supported (try --binary, which counts the bytes as they are)"
    printf '\377\330\377\340\0\020JFIF\0\1' >photo
    assert_refused photo "JPEG images are not supported"
    printf 'GIF89a\1\0\1\0\200\0\0\0' >gif
    assert_refused gif "GIF images are not supported"
    printf '%%PDF-1.4\n%%\342\343\317\323\n' >document
    assert_refused document "PDF documents are not supported (try pdftotext, or --binary"
    printf 'RIFF\044\0\0\0WAVEfmt \020\0\0\0' >sound
    assert_refused sound "RIFF files, such as WAV, are not supported"
    printf '\320\317\021\340\241\261\032\341\0\0\0\0\0\0\0\0' >x.xls
    assert_refused x.xls "OLE2 files (.xls, .doc) are not supported (try saving it as CSV or text, or --binary"
    printf 'PAR1\025\4\025\020\025\024\114\025' >x.parquet
    assert_refused x.parquet "Parquet files are not supported (try duckdb, which writes columns as CSV, or --binary"
    printf 'ARROW1\0\0\377\377\377\377' >x.arrow
    assert_refused x.arrow "Arrow files are not supported (try duckdb, which writes columns as CSV, or --binary"
    printf '\211HDF\r\n\032\n\0\0\0\0\0\10\10\0' >x.h5
    assert_refused x.h5 "HDF5 files are not supported"
    tar -cf archive.tar numbers
    assert_refused archive.tar "tar archives are not supported (try tar -xO"
    tar --format=ustar -cf archive.tar numbers numbers
    assert_refused archive.tar "tar archives are not supported"
    int32 1 2 3 | gpuhist --bins 5 --save state -o /dev/null
    command -v zstd >/dev/null || skip "no zstd"
    assert_refused state "saved states are not supported (try gpuhist merge, or --binary" \
        "$(zstd -dc <state | wc -c)"
}

@test "files of compressors that are not read are errors that name a program" {
    local name
    printf 'LZIP\1\014\0\0\0\0' >x.lz
    assert_refused x.lz "lzip files are not supported (try lzip -dc"
    printf '\211LZO\0\r\n\032\n\020\100\040\240' >x.lzo
    assert_refused x.lzo "lzop files are not supported (try lzop -dc"
    printf '\377\6\0\0sNaPpY\0\20\0\0' >x.sz
    assert_refused x.sz "snappy files are not supported (try "
    [ -n "${PYTHON:-}" ] || skip "no python3"
    "$PYTHON" -c 'import random, zlib
rng = random.Random(3)
text = b"".join(b"%d\n" % rng.randrange(10**6) for _ in range(9999))
for level in 0, 1, 6, 9:
    for name, content in ("long", text), ("short", text[:20]), ("same", b"1\n" * 500), ("empty", b""):
        open(f"{name}{level}.zz", "wb").write(zlib.compress(content, level))'
    assert_refused long6.zz "zlib streams are not supported (try pigz -dcz"
    for name in *.zz; do
        run --separate-stderr gpuhist reduce count "$name"
        assert_failed 1 "$name: zlib streams are not supported (try "
    done
}

@test "archives, databases and arrays, as their programs write them, are errors" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    "$PYTHON" -c 'import sqlite3, zipfile
with zipfile.ZipFile("x.docx", "w") as archive:
    archive.writestr("[Content_Types].xml", "<Types/>")
base = sqlite3.connect("base")
base.execute("create table t (i)"); base.commit()'
    assert_refused x.docx "zip archives are not supported (try unzip -p, an .xlsx saved as CSV, or --binary"
    assert_refused base "SQLite databases are not supported (try sqlite3 -csv"
    numpy 'np.save("x.npy", np.arange(10, dtype="<i4"))'
    run -0 gpuhist reduce sum x.npy # a supported type
    [ "$output" = 45 ]
}

@test "of several files, and behind compression, each is looked at" {
    local how
    int32 7 8 9 >good
    printf '\177ELF\2\1\1\0\0\0\0\0' >program
    { cat program; head -c 200000 /dev/zero; } >large
    printf 'lzma' >text
    for how in "good program" "good large" "good good program good"; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist reduce count $how
        assert_failed 1 "ELF programs and libraries are not supported"
    done
    run --separate-stderr gpuhist reduce count good - < <(cat program)
    assert_failed 1 "standard input: ELF programs and libraries are not supported"
    [ "$(gpuhist reduce count -t i32le good program)" = 6 ]
    reads_gzip || skip "no gzip"
    seq 1000 >numbers
    tar -cf - numbers | gzip >x.tar.gz
    int32 7 8 9 | gzip >good.gz
    assert_refused x.tar.gz "tar archives are not supported (try tar -xO" "$(gzip -dc x.tar.gz | wc -c)"
    for how in "good x.tar.gz" "good.gz x.tar.gz" "good.gz program"; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist reduce count $how
        assert_failed 1 " are not supported"
    done
    [ "$(gpuhist reduce sum good.gz good)" = 48 ]
}

# bats test_tags=later
@test "integers that begin like another kind of file are counted" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    # every 24-bit integer, and many 32-bit ones, that start with the two bytes of zlib, followed by small
    # integers and by random ones: fewer than one in a thousand are detected as zlib
    "$PYTHON" -c 'import random, subprocess, sys
rng = random.Random(8)
wrong = []
for i in range(240):
    first = 0x9c78 + (i << 16) if i < 160 else rng.randrange(1 << 16) << 16 | rng.choice([0x0178, 0x5e78, 0xda78])
    others = [rng.randrange(1000) for _ in range(99)]
    data = b"".join(n.to_bytes(4, "little") for n in [first] + others)
    run = subprocess.run([sys.argv[1], "reduce", "max"], input=data, capture_output=True)
    if run.stdout != b"%d\n" % max(first - (first >> 31 << 32), *others):
        wrong.append((first, run.stderr))
sys.exit(str(wrong) if wrong else 0)' "$GPUHIST"
    # text that begins with the letters of a magic number
    [ "$(printf 'PAR1,PAR2\n3,4\n' | gpuhist reduce sum --csv -f PAR1)" = 3 ]
    [ "$(printf 'RIFF x\n3 4\n' | gpuhist reduce sum -f RIFF)" = 3 ]
}

@test "numbers with NULs between them are an error that names -z, which reads them" {
    local text="numbers with NULs after them: give -z, or --binary"
    seq 998 1003 | tr '\n' '\0' >nuls
    printf '%s\0' -5 +17 0 >signs
    seq -3 2 | tr '\n' '\0' >short
    seq 1 0.5 90 | tr '\n' '\0' | head -c 320 >points
    for file in nuls signs short points; do
        run --separate-stderr gpuhist reduce count $file
        assert_failed 1 "$file: $text"
        run --separate-stderr gpuhist uniq < <(cat $file)
        assert_failed 1 "standard input: $text"
    done
    [ "$(gpuhist reduce count -t u8 --binary nuls)" = "$(wc -c <nuls)" ]
    [ "$(gpuhist reduce sum -z nuls)" = 6003 ]
    [ "$(gpuhist reduce sum -z < <(cat signs))" = 12 ]
    # not integers of 16 bits from 48 to 57, and not small ones of 32
    numpy 'np.arange(48, 58).astype("<u2").tofile("u2"); np.full(9, 48, "<i4").tofile("i4")'
    [ "$(gpuhist reduce count,sum -t u16 u2 | paste -sd ' ')" = $'count\t10 sum\t525' ]
    [ "$(gpuhist reduce sum i4)" = 432 ]
}

# bats test_tags=slow
@test "lines that end with CR alone, where there is no LF in the first block" {
    local how file
    printf 'id ms\r1 10\r2 20\r' >small
    printf '1,10\r2,20\r3,30' >list
    "${PYTHON:-python3}" -c 'print("id ms\r" + "\r".join("%d %d" % (i, i % 7) for i in range(40000)), end="\r")' >large
    for file in small list large; do
        tr '\r' '\n' <$file >$file.lf
        ! reads_gzip || gzip -k $file
    done
    for how in "-f id small" "-f 2 --header small" "-f id large" "-f 2 --header large" "-d , -f 1 list" \
        "--csv -f 1 list" "-d , list" "-f 2 --invalid ignore large" "-f 1 --weight 2 --header large"; do
        file=${how##* }
        # shellcheck disable=SC2086
        gpuhist uniq ${how% *} $file.lf >wanted
        # shellcheck disable=SC2086
        for source in "$file" $(! reads_gzip || echo "$file.gz"); do
            gpuhist uniq ${how% *} "$source" | cmp wanted -
            gpuhist uniq ${how% *} < <(cat "$source") | cmp wanted -
            gpuhist uniq ${how% *} --threads 3 --chunk-size 4096 <"$source" | cmp wanted -
        done
    done
    printf 'id ms\n3 30\n' >good
    [ "$(gpuhist reduce sum -f ms good large)" = "$(awk '{ n += $2 } END { print n }' good large.lf)" ]
    # each row is a line of reports
    printf '1 2\r3 x\r' | assert_invalid 2 x -f 2
    # an LF after the first block does not count, and also ends rows
    [ "$({ cat large; printf '1 5\n2 6\r'; } | gpuhist reduce sum -f ms)" = \
        "$(awk '{ n += $2 } END { print n + 11 }' large.lf)" ]
    # valid input: words, one line, lines that end with CR LF, a CR after the first line
    [ "$(printf '1\r2\r3\r' | gpuhist reduce sum)" = 6 ]
    [ "$(printf '1 2\r' | gpuhist reduce sum -f 2)" = 2 ]
    [ "$(printf '1 2\r\n3 4\r\n' | gpuhist reduce sum -f 2)" = 6 ]
    [ "$({ printf '1 2\r'; sleep 0.2; printf '\n3 4\r'; sleep 0.2; printf '\n'; } | gpuhist reduce sum -f 2)" = 6 ]
    [ "$(printf '1,2\nx\r,3\n' | gpuhist reduce sum -d , -f 2)" = 5 ]
}
