#!/usr/bin/env bats
# Bins over all values, of a given or an automatic width, against Python and numpy.

load helpers

# bats test_tags=slow,later
@test "i8 in open bins" { compare_type growing_histogram i8; }
@test "u8 in open bins" { compare_type growing_histogram u8; }
# bats test_tags=slow,later
@test "i16 in open bins" { compare_type growing_histogram i16; }
# bats test_tags=slow,later
@test "u16be in open bins" { compare_type growing_histogram u16be; }
@test "i32 in open bins" { compare_type growing_histogram i32; }
# bats test_tags=slow,later
@test "u32 in open bins" { compare_type growing_histogram u32; }
# bats test_tags=slow,later
@test "i64 in open bins" { compare_type growing_histogram i64; }
# bats test_tags=slow,later
@test "i64be in open bins" { compare_type growing_histogram i64be; }
@test "u64 in open bins" { compare_type growing_histogram u64; }

# bins_of LOW HIGH: prints the number and the width of the automatic bins of two values, with --zeros.
bins_of() {
    printf '%s\n' "$1" "$2" | gpuhist --text -t i64 --zeros |
        awk -F'\t' 'NR == 1 { width = NF == 2 ? 1 : $2 - $1 } END { print NR, width }'
}

@test "automatic bins of a column with a width consist of its buckets, and are true of the values" {
    cd "$BATS_TEST_TMPDIR"
    # check COLUMN WIDTH OPTION...: in units of the numbers, of which each has 2 decimal places
    check() {
        gpuhist -f "$1" "${@:3}" in | tr -d . >bins
        awk -v width="$2" 'NR == FNR { value[NR] = $2; n = NR; next }
            { count = 0
              for (i = 1; i <= n; i++) count += value[i] >= $1 && value[i] < $2
              if (count != $3 || $1 % width != 0 || $2 % width != 0) exit 1
              all += count }
            END { if (all != n) exit 1 }' units bins
    }
    for seed in $RANDOM $RANDOM; do
        for spread in 50 9000 4000000; do
            awk -v seed="$seed" -v spread="$spread" 'BEGIN { srand(seed); for (i = 0; i < 300; i++) {
                v = int((rand() - (seed % 3) / 2) * spread)
                printf "%s%d.%02d %d\n", v < 0 ? "-" : "", int((v < 0 ? -v : v) / 100), (v < 0 ? -v : v) % 100, v } }' >units
            cut -d ' ' -f 1 units >in
            for width in 0.03 0.07 1 2.5 30 1000; do
                check "1:.2/$width" "$(awk -v w="$width" 'BEGIN { print w * 100 }')"
                check "1:.2/$width" "$(awk -v w="$width" 'BEGIN { print w * 100 }')" --threads 1 --chunk-size 64
            done
        done
    done
    gpuhist -f 1:.2/0.07 --save one in >whole
    gpuhist -f 1:.2/0.07 --save two <(head -n 100 in)
    gpuhist -f 1:.2/0.07 --save three <(tail -n +101 in)
    gpuhist merge one | cmp - whole
    gpuhist merge two three | cmp - whole
    [ "$(printf '%s\n' 199 200 204 301 599 | gpuhist -f 1:int/100 --zeros)" = \
        "$(printf '%s\t%s\t%s\n' 100 200 1 200 300 2 300 400 1 400 500 0 500 600 1)" ]
}

@test "bins that cut the buckets of the column are an error; bins of whole buckets are counted" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 199 200 204 301 599 >in
    printf '2026-11-01T00:%s:00Z\n' 01 16 31 59 >stamps
    for options in '--width 50' '--width 150' '--bins 200' '--range 50:250' '--range 0:500 --width 50' \
        '--edges 0,100,250' '--log2' '--log2=2' '--log10' '--range auto --bins 3'; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist -f 1:int/100 $options in
        assert_failed 2 "(try -f 1:int)"
        # shellcheck disable=SC2086
        gpuhist -f 1:int $options in
    done
    [ "$(gpuhist -f 1:int/100 --width 200 in)" = "$(printf '%s\t%s\t%s\n' 0 200 1 200 400 3 400 600 1)" ]
    [ "$(gpuhist -f 1:int/100 --edges 100,300,600 in)" = "$(printf '%s\t%s\t%s\n' 100 300 3 300 600 2)" ]
    for options in '--width 10m' '--range 2026-11-01T00:20:00Z:2026-11-02' '--edges 2026-11-01,2026-11-01T00:20:00Z'; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist -f 1:time/15m $options stamps
        assert_failed 2 "a bin cannot begin at "
        [[ $stderr == *" (try -f 1:time)" ]]
        # shellcheck disable=SC2086
        gpuhist -f 1:time $options stamps
    done
    [ "$(gpuhist -f 1:time/15m --width 30m stamps)" = "2026-11-01T00:00:00Z	2026-11-01T00:30:00Z	2
2026-11-01T00:30:00Z	2026-11-01T01:00:00Z	2" ]
    gpuhist -f 1:int/100 -t u64 --range 18446744073709551600:18446744073709551616 --bins 1 in # the type's end
    run --separate-stderr gpuhist -f 1:int/100 -t u64 --edges 0,18446744073709551599 in
    assert_failed 2 "a bin cannot begin at 18446744073709551599"
    for width in 1mo 1y; do
        run --separate-stderr gpuhist -f 1:time/$width --width 365d stamps
        assert_failed 2 "a bin cannot begin at 197"
    done
}

@test "automatic: 64 bins at the most, of 1, 2 or 5 times a power of ten" {
    [ "$(bins_of 0 62)" = "63 1" ]
    [ "$(bins_of 0 63)" = "64 1" ]
    [ "$(bins_of 0 64)" = "33 2" ]
    [ "$(bins_of 1 64)" = "64 1" ]
    [ "$(bins_of 0 127)" = "64 2" ]
    [ "$(bins_of 1 128)" = "26 5" ]   # 2s would be 0 .. 64
    [ "$(bins_of 0 319)" = "64 5" ]
    [ "$(bins_of 0 320)" = "33 10" ]
    [ "$(bins_of -1 0)" = "2 1" ]
    [ "$(bins_of -32 31)" = "64 1" ]
    [ "$(bins_of -32 32)" = "33 2" ]
    [ "$(bins_of -1 63)" = "33 2" ]
    [ "$(bins_of -640 0)" = "33 20" ] # 10s would be -64 .. 0
    [ "$(bins_of 0 639999)" = "64 10000" ]
    [ "$(bins_of 0 640000)" = "33 20000" ]
    [ "$(bins_of 123456789012345678 123456789012345741)" = "64 1" ]
}

@test "no input has no bins, one value has one" {
    local engine
    for engine in $ENGINES; do
        for options in "" "--width 10" "--zeros" "--width 10 --zeros"; do
            # shellcheck disable=SC2086
            run -0 --separate-stderr gpuhist --engine "$engine" $options </dev/null
            [ -z "$output" ] && [ -z "$stderr" ]
        done
        run -0 gpuhist --engine "$engine" < <(int32 7)
        [ "$output" = $'7\t1' ]
        run -0 gpuhist --engine "$engine" --width 10 < <(int32 -7)
        [ "$output" = $'-10\t0\t1' ]
    done
}

# bats test_tags=later
@test "--zeros prints the empty bins between, also between far ones" {
    run -0 gpuhist --width 10 --zeros < <(int32 5 38)
    [ "$output" = $'0\t10\t1\n10\t20\t0\n20\t30\t0\n30\t40\t1' ]
    printf '5\n3\n2000000000000\n' | gpuhist -w 1M --zeros | awk -F'\t' '
        $1 != (NR - 1) * 1000000 || $2 != NR * 1000000 { exit 1 }
        { count += $3 } END { exit NR != 2000001 || count != 3 || $3 != 1 }'
}

# bats test_tags=later
@test "text: fields in open bins, as awk counts them" {
    local engine
    numpy 'r = np.random.default_rng(5)
for v in r.lognormal(9, 3, 60000).astype(int): print("x", v, "y")' >"$BATS_TEST_TMPDIR/in"
    awk '{ bins[int($2 / 1000)]++ } END { for (b in bins) printf "%.0f\t%.0f\t%d\n", b * 1000,
        (b + 1) * 1000, bins[b] }' "$BATS_TEST_TMPDIR/in" | sort -n >"$BATS_TEST_TMPDIR/expected"
    for engine in $ENGINES; do
        gpuhist -f 2 -w 1000 --engine "$engine" --chunk-size 16K "$BATS_TEST_TMPDIR/in" |
            cmp "$BATS_TEST_TMPDIR/expected" -
        # shellcheck disable=SC2002
        cat "$BATS_TEST_TMPDIR/in" | gpuhist -f 2 -w 1K --engine "$engine" |
            cmp "$BATS_TEST_TMPDIR/expected" -
    done
}

@test "text without a single value has no bins" {
    for engine in $ENGINES; do
        run -0 --separate-stderr gpuhist --text --invalid ignore --engine "$engine" \
            < <(printf 'a\nb\n\n')
        [ -z "$output" ] && [ "$stderr" = "gpuhist: all input was invalid and ignored: 2 values, first standard input:1: invalid integer 'a'" ]
    done
}

# bats test_tags=slow,plain
@test "millions of ids in any order are numpy's bincount" {
    local engine order
    cd "$BATS_TEST_TMPDIR"
    numpy 'a = np.random.default_rng(2).integers(1000, 5000000, 3000000).astype("<i4")
for name, order in ("any", a), ("up", np.sort(a)), ("down", np.sort(a)[::-1]), \
        ("below", np.append(a, -2**31)), ("above", np.insert(a, 0, 2**31 - 1)):
    order.astype("<i4").tofile(name)
n = np.bincount(a)
lines = "".join(f"{v}\t{n[v]}\n" for v in np.flatnonzero(n))
least, most = f"{-2**31}\t1\n", f"{2**31 - 1}\t1\n"
for name, text in {"any": lines, "up": lines, "down": lines, "below": least + lines,
                   "above": lines + most}.items():
    open(name + ".expected", "w").write(text)'
    for engine in $ENGINES; do
        for order in any up down below above; do
            gpuhist --binary -w 1 --engine "$engine" --threads 3 $order | cmp $order.expected -
        done
    done
}

# bins_of_width WIDTH <VALUES: prints "low TAB [high TAB] count" in numeric order, by sort, uniq and awk.
bins_of_width() {
    awk -v w="$1" '{ low = int($1 / w) * w; print (low > $1 ? low - w : low) }' | sort -n | uniq -c |
        awk -v w="$1" '{ print $2 "\t" (w > 1 ? $2 + w "\t" : "") $1 }'
}

# bats test_tags=slow,plain
@test "hundreds of thousands of rows are the same whatever the number of threads" {
    local width threads file counts='1 3 16'
    [ "$SHARE" = 1 ] || counts='2 16'
    cd "$BATS_TEST_TMPDIR"
    awk 'BEGIN { srand(4); for (i = 0; i < 500000; i++) print int(rand() * 700000) - 200000 }' >near
    { echo 2000000000; cat near; printf '%s\n' -1999999999 1500000000 -2000000000; } >far
    for width in 1 3; do
        bins_of_width $width <near >near.tsv
        bins_of_width $width <far >far.tsv
        [ "$(wc -l <far.tsv)" -gt 150000 ]
        awk -v w=$width 'NR > 1 { for (; low < $1; low += w) print 0 }
            { low = $1 + w; print $NF }' near.tsv >near.counts
        awk '{ print $1 "\t" $NF }' near.tsv >near.records
        for threads in $counts; do
            for file in near far; do
                gpuhist --text -w $width --threads "$threads" $file | cmp $file.tsv -
            done
            gpuhist --text -w $width --threads "$threads" --format raw near |
                od -An -v -w16 -td8 | awk '{ print $1 "\t" $2 }' | cmp near.records -
            gpuhist --text -w $width --threads "$threads" --zeros near |
                awk '{ print $NF }' | cmp near.counts -
        done
    done
}

# bats test_tags=slow,plain
@test "random 64-bit ids, each of them a few times" {
    local in=$BATS_TEST_TMPDIR/in engine
    numpy 'r = np.random.default_rng(2); a = r.integers(0, 2**64, 200000, "<u8")
r.choice(a, 1000000).tofile(sys.argv[1])' "$in"
    od -An -v -w8 -tu8 "$in" | tr -d ' ' | sort | uniq -c | awk '{ print $2 "\t" $1 }' |
        sort >"$BATS_TEST_TMPDIR/expected"
    for engine in $ENGINES; do
        gpuhist -t u64le -w 1 --engine "$engine" --threads 4 "$in" >"$BATS_TEST_TMPDIR/out"
        sort -n -c "$BATS_TEST_TMPDIR/out"
        sort "$BATS_TEST_TMPDIR/out" | cmp "$BATS_TEST_TMPDIR/expected" -
    done
}

@test "--every: what comes later may be anywhere" {
    local engine end out=$BATS_TEST_TMPDIR/out
    for engine in $ENGINES; do
        : >"$out"
        end=$((SECONDS + 60))
        # Values wait for a result of those before them: a GPU may take seconds to start.
        # shellcheck disable=SC2094
        {
            int32 1 1 2
            until grep -q . "$out" || [ "$SECONDS" -gt "$end" ]; do sleep 0.01; done
            int32 2000000000 -5
            until grep -q '^2000000000' "$out" || [ "$SECONDS" -gt "$end" ]; do sleep 0.01; done
            int32 -2000000000 1
        } | gpuhist --binary -w 1 --every 100ms --engine "$engine" >"$out"
        awk 'NF == 0 { text = ""; next } { text = text $0 ";" } END { print text }' "$out" \
            >"$BATS_TEST_TMPDIR/last"
        [ "$(cat "$BATS_TEST_TMPDIR/last")" = \
            $'-2000000000\t1;-5\t1;1\t3;2\t1;2000000000\t1;' ]
        grep -q . "$out"
        [ "$(grep -m 2 . "$out")" = $'1\t2\n2\t1' ]
    done
}

# bats test_tags=slow,plain
@test "bins that need more memory than there is go to files" {
    skip_under_asan
    random_file "$BATS_TEST_TMPDIR/in" '<i8' 0 9223372036854775807 6000000
    limited() {
        bash -c 'ulimit -v 230000; "$GPUHIST" -t i64le -w 1 --engine cpu --threads 1 "$@"' - \
            "$@" "$BATS_TEST_TMPDIR/in"
    }
    gpuhist -t i64le -w 1 "$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/expected"
    limited | cmp "$BATS_TEST_TMPDIR/expected" -
    limited -S 20M | cmp "$BATS_TEST_TMPDIR/expected" -
}

@test "histogram is one operation to users" {
    run -0 bash -c '"$GPUHIST" --help | grep -c "^  histogram "'
    [ "$output" -eq 1 ]
    run -0 gpuhist hist < <(int32 3)
    [ "$output" = $'3\t1' ]
    run --separate-stderr gpuhist growing_histogram </dev/null
    [ "$status" -eq 1 ]
}

@test "empty bins without end are an error, and full ones are not" {
    run -1 --separate-stderr timeout 60 "$GPUHIST" --text -t u64 --width 1 --zeros --top 3 \
        < <(printf '0\n18446744073709551615\n')
    [ -z "$output" ]
    [ "$stderr" = "gpuhist: there are too many bins to print the empty ones: at most 4294967294" ]
    run -0 bash -c 'printf "0\n4294967295\n" | "$GPUHIST" --text -w 1 --format raw | od -An -v -td8 -w32'
    [ "$(tr -s ' ' <<<"$output")" = ' 0 1 4294967295 1' ]
    run -0 gpuhist --text -t u64 --width 1 --top 3 < <(printf '0\n18446744073709551615\n')
    [ "$output" = $'0\t1\n18446744073709551615\t1' ]
}

# bats test_tags=slow,plain
@test "keys that are made to collide in a hash without a seed take no longer than others" {
    cd "$BATS_TEST_TMPDIR"
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    # the inverse of SplitMix64's finalizer, of numbers with equal upper and lower bits: a run time
    # quadratic in their number is out of reach
    numpy '
i = np.arange(1000000, dtype=np.uint64) << np.uint64(30)
x = i ^ i >> np.uint64(31) ^ i >> np.uint64(62)
x *= np.uint64(pow(0x94d049bb133111eb, -1, 2**64))
x = x ^ x >> np.uint64(27) ^ x >> np.uint64(54)
x *= np.uint64(pow(0xbf58476d1ce4e5b9, -1, 2**64))
x = x ^ x >> np.uint64(30) ^ x >> np.uint64(60)
x.tofile("keys")
np.savetxt("expected", np.sort(x), "%d\t1")'
    for threads in 1 2 16; do
        timeout 60 "$GPUHIST" uniq -t u64 --threads $threads keys | cmp - expected
    done
}

@test "states of automatic bins: the least value of a type, and widths that cannot be" {
    cd "$BATS_TEST_TMPDIR"
    for type in i8 i64; do
        least=$([ $type = i8 ] && echo -128 || echo -9223372036854775808)
        most=${least#-}
        { echo "$least"; seq 0 100; echo "${most%8}7"; } >in
        gpuhist -t $type --save state -o whole -q in
        gpuhist merge -q state | cmp - whole
    done
    printf '5\n7\n' | gpuhist --save state -o /dev/null
    zstd -dc state >plain
    begin=$(head -n 2 plain | wc -c) # of the numbers: of elements, the width, the runs
    [ "$(tail -c +$((begin + 1)) plain | head -c 2 | od -An -tx1)" = " 02 01" ]
    for width in 0 3 11 20; do
        { head -c $((begin + 1)) plain; printf '%b' "\\0$(printf %o "$width")"; tail -c +$((begin + 3)) plain; } | zstd -q >damaged
        run --separate-stderr gpuhist merge damaged
        assert_failed 1 "damaged: corrupt state: its width cannot be"
    done
}
