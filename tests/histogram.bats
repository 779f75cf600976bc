#!/usr/bin/env bats
# Operation histogram: the bins of values, against od, sort, uniq, awk and numpy.

load helpers

@test "one count for each value, empty bins left out" {
    int32 1 3 1 1 4 | gpuhist --bins 5 >"$BATS_TEST_TMPDIR/out"
    printf '1\t3\n3\t1\n4\t1\n' | cmp - "$BATS_TEST_TMPDIR/out"
}

@test "histogram, hist and no operation are the same" {
    int32 0 2 2 >"$BATS_TEST_TMPDIR/in"
    for operation in histogram hist ""; do
        # shellcheck disable=SC2086
        run -0 gpuhist $operation -b 3 "$BATS_TEST_TMPDIR/in"
        [ "$output" = $'0\t1\n2\t2' ]
    done
}

@test "--zeros prints every bin" {
    run -0 gpuhist --bins 4 --zeros < <(int32 2 2)
    [ "$output" = $'0\t0\n1\t0\n2\t2\n3\t0' ]
    run -0 gpuhist --bins 2 --zeros </dev/null
    [ "$output" = $'0\t0\n1\t0' ]
}

@test "no input is an empty histogram" {
    run -0 --separate-stderr gpuhist --bins 5M </dev/null
    [ -z "$output" ] && [ -z "$stderr" ]
}

check_type() { # TYPE OD-FORMAT DTYPE LOW HIGH
    local in=$BATS_TEST_TMPDIR/in engine
    random_file "$in" "$3" "$4" "$5" 100003
    counts_of "$2" "$in" >"$BATS_TEST_TMPDIR/expected"
    for engine in $ENGINES; do
        gpuhist -t "$1" --bins $(($5 - $4)) --range "$4:$5" --engine "$engine" "$in" \
            >"$BATS_TEST_TMPDIR/$engine"
        cmp "$BATS_TEST_TMPDIR/expected" "$BATS_TEST_TMPDIR/$engine"
    done
}

@test "i8 counts as od, sort and uniq do" { check_type i8 d1 '<i1' -128 127; }
@test "u8 counts as od, sort and uniq do" { check_type u8 u1 '<u1' 0 256; }
@test "i16 counts as od, sort and uniq do" { check_type i16 d2 '<i2' -3000 3000; }
@test "u16 counts as od, sort and uniq do" { check_type u16le u2 '<u2' 60000 65536; }
@test "i32 counts as od, sort and uniq do" { check_type i32 d4 '<i4' -500 1500; }
@test "u32 counts as od, sort and uniq do" { check_type u32 u4 '<u4' 4294967000 4294967296; }
@test "i64 counts as od, sort and uniq do" { check_type i64 d8 '<i8' -5000000100 -5000000000; }
@test "u64 counts as od, sort and uniq do" {
    # od reads these, and the shell's arithmetic does not: the range is 2^64 - 100 .. 2^64
    local in=$BATS_TEST_TMPDIR/in
    numpy '(np.random.default_rng(3).integers(0, 100, 5000).astype("<u8") + np.uint64(2**64 - 100)
        ).tofile(sys.argv[1])' "$in"
    counts_of u8 "$in" | sort >"$BATS_TEST_TMPDIR/expected"
    for engine in $ENGINES; do
        gpuhist -t u64 --bins 100 --range 18446744073709551516:18446744073709551616 \
            --engine "$engine" "$in" | sort | cmp "$BATS_TEST_TMPDIR/expected" -
    done
}

# bats test_tags=later
@test "big-endian elements of every width" {
    local in=$BATS_TEST_TMPDIR/in width engine
    for width in 1 2 4 8; do
        random_file "$in" ">i$width" -100 100 10007
        od --endian=big -An -v -w$width -td$width "$in" | sort -n | uniq -c |
            awk '{ print $2 "\t" $1 }' >"$BATS_TEST_TMPDIR/expected"
        for engine in $ENGINES; do
            gpuhist -t "i$((width * 8))be" --bins 200 --range -100:100 --engine "$engine" "$in" |
                cmp "$BATS_TEST_TMPDIR/expected" -
        done
    done
}

# bats test_tags=slow
@test "5M random ids are numpy's bincount" {
    local in=$BATS_TEST_TMPDIR/in engine
    random_file "$in" '<i4' 0 5000000 4000000
    for engine in $ENGINES; do
        # shellcheck disable=SC2002
        cat "$in" | gpuhist --bins 5M --format raw --engine "$engine" >"$BATS_TEST_TMPDIR/out"
        numpy 'a = np.fromfile(sys.argv[1], "<i4"); b = np.fromfile(sys.argv[2], "<u8")
assert np.array_equal(np.bincount(a, minlength=5000000), b)' "$in" "$BATS_TEST_TMPDIR/out"
    done
}

# bats test_tags=slow
@test "all values equal, and all of them distinct" {
    local in=$BATS_TEST_TMPDIR/in engine bins
    for bins in 200 1000000; do
        numpy 'np.random.default_rng(5).permutation(int(sys.argv[2])).astype("<i4").tofile(sys.argv[1])' \
            "$in" $bins
        seq 0 $((bins - 1)) | sed 's/$/\t1/' >"$BATS_TEST_TMPDIR/distinct"
        numpy 'np.full(300001, int(sys.argv[2]) - 1, "<i4").tofile(sys.argv[1])' "$in.equal" $bins
        for engine in $ENGINES; do
            gpuhist --binary --bins $bins --engine "$engine" "$in" | cmp "$BATS_TEST_TMPDIR/distinct" -
            run -0 gpuhist --binary --bins $bins --engine "$engine" "$in.equal"
            [ "$output" = $((bins - 1))$'\t300001' ]
        done
    done
}

@test "--bins takes suffixes as numfmt --from=auto does" {
    for bins in 5K 5Ki 1.5K 5k; do
        numfmt --from=auto "${bins/k/K}" >"$BATS_TEST_TMPDIR/bins"
        run -0 bash -c '"$GPUHIST" --zeros --bins "$1" </dev/null | wc -l' - "$bins"
        [ "$output" -eq "$(cat "$BATS_TEST_TMPDIR/bins")" ]
    done
}

@test "--range: low, high and count, for widths that do not divide" {
    # 0 .. 9 into three bins: floor(v * 3 / 10) is 0 for 0-3, 1 for 4-6, 2 for 7-9
    run -0 gpuhist --bins 3 --range 0:10 < <(int32 0 1 2 3 4 5 6 7 8 9)
    [ "$output" = $'0\t4\t4\n4\t7\t3\n7\t10\t3' ]
    run -0 gpuhist --bins 2 --range -3:4 --zeros < <(int32 -3 -1 0 1 3)
    [ "$output" = $'-3\t1\t3\n1\t4\t2' ]
}

@test "--range with as many bins as integers names each by its value" {
    run -0 gpuhist --bins 3 --range 10:13 < <(int32 10 12 12)
    [ "$output" = $'10\t1\n12\t2' ]
}

@test "--range over all of u64 and i64" {
    printf '\0\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377\0\0\0\0\0\0\0\200' >"$BATS_TEST_TMPDIR/in"
    for engine in $ENGINES; do
        run -0 gpuhist -t u64 --bins 2 --range 0:18446744073709551616 --engine "$engine" \
            "$BATS_TEST_TMPDIR/in"
        [ "$output" = $'0\t9223372036854775808\t1\n9223372036854775808\t18446744073709551616\t2' ]
        run -0 gpuhist -t i64 --bins 2 --range -9223372036854775808:9223372036854775808 \
            --engine "$engine" "$BATS_TEST_TMPDIR/in"
        [ "$output" = $'-9223372036854775808\t0\t2\n0\t9223372036854775808\t1' ]
    done
}

@test "--outside=report counts what is below and above, on stderr" {
    for engine in $ENGINES; do
        run -0 --separate-stderr gpuhist --bins 2 --engine "$engine" < <(int32 -1 0 1 2 3 -9 7)
        [ "$output" = $'0\t1\n1\t1' ]
        [ "$stderr" = "gpuhist: values out of range: 2 below, 3 above (try --range auto)" ]
    done
    run -0 --separate-stderr gpuhist --bins 2 < <(int32 -1 2 3)
    [ -z "$output" ]
    [ "$stderr" = "gpuhist: values out of range: 1 below, 2 above (try --range auto)" ]
    run -0 --separate-stderr gpuhist --bins 2 --quiet < <(int32 -1 0)
    [ "$output" = $'0\t1' ] && [ -z "$stderr" ]
}

@test "--outside=clamp and ignore" {
    for engine in $ENGINES; do
        run -0 --separate-stderr gpuhist --bins 2 --outside clamp --engine "$engine" \
            < <(int32 -1 0 1 2 3)
        [ "$output" = $'0\t2\n1\t3' ] && [ -z "$stderr" ]
        run -0 --separate-stderr gpuhist --bins 2 --outside=ignore --engine "$engine" \
            < <(int32 -1 0 1 2 3)
        [ "$output" = $'0\t1\n1\t1' ] && [ -z "$stderr" ]
    done
}

@test "--outside=abort names the first such value, on every engine and chunk size" {
    local in=$BATS_TEST_TMPDIR/in engine chunk
    numpy 'a = np.zeros(300000, "<i4"); a[123456] = -7; a[250000] = 9; a.tofile(sys.argv[1])' "$in"
    for engine in $ENGINES; do
        for chunk in 4K 64K 1M; do
            run --separate-stderr gpuhist --bins 5 --outside abort --engine "$engine" \
                --chunk-size "$chunk" --threads 4 "$in"
            assert_failed 1 "value -7 at byte 493824 of the input is out of range"
            run --separate-stderr gpuhist --bins 600K --outside abort --engine "$engine" \
                --chunk-size "$chunk" --threads 4 "$in"
            assert_failed 1 "value -7 at byte 493824 of the input is out of range"
        done
    done
}

@test "--outside=abort ends at once, though the input goes on" {
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    { int32 1 2 99; sleep 100; } >"$BATS_TEST_TMPDIR/fifo" 3>&- &
    run --separate-stderr timeout 30 "$GPUHIST" --bins 5 --outside abort --engine cpu \
        "$BATS_TEST_TMPDIR/fifo"
    kill %1 2>/dev/null || true
    assert_failed 1 "value 99 at byte 8 of the input is out of range"
}

@test "raw: every count as a little-endian u64" {
    int32 1 1 3 | gpuhist --bins 4 --format raw | od -An -v -tu1 | tr -s ' \n' ' ' \
        >"$BATS_TEST_TMPDIR/out"
    [ "$(cat "$BATS_TEST_TMPDIR/out")" = \
        " 0 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 " ]
}

@test "raw with powers: all bins of the type, so that the first is known" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    # bins k, of the values with |k| digits, from the smallest value of the type to the largest
    "$PYTHON" -c 'import struct, subprocess, sys
def check(kind, base, values, words):
    bits, signed = int(kind[1:]), kind[0] == "i"
    def digits(v):
        return len(bin(v)[2:] if base == 2 else str(v)) if v else 0
    low, high = (-1 << bits - 1, (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    first, last = -digits(-low), digits(high)
    counts = [0] * (last - first + 1)
    for v in values:
        counts[(digits(v) if v >= 0 else -digits(-v)) - first] += 1
    done = subprocess.run([sys.argv[1], "--text", "-t", kind, f"--log{base}", "--format", "raw", *words],
                          input=b"".join(b"%d\n" % v for v in values), capture_output=True, check=True)
    assert done.stdout == struct.pack(f"<{len(counts)}Q", *counts), (kind, base, values, done)
for bits in 8, 16, 32, 64:
    for base in 2, 10:
        check(f"i{bits}", base, [5, 5, 0, -1, 99, -100], [])
        check(f"u{bits}", base, [7, 100], ["--zeros", "--threads", "3"])
        check(f"i{bits}", base, [], [])
        check(f"u{bits}", base, [1], [])' "$GPUHIST"
}
