#!/usr/bin/env bats
# uniq against numpy.unique, sort and uniq; with less memory than the counts need; with other options.

load helpers

setup() {
    mkdir "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work"
}

# bats test_tags=slow,later
@test "i8 and all of its distributions" { compare_type uniq i8; }
@test "u8" { compare_type uniq u8; }
# bats test_tags=slow,later
@test "i16, i16be" { compare_type uniq i16; }
# bats test_tags=slow,later
@test "u16, u16be" { compare_type uniq u16; }
@test "i32, i32be" { compare_type uniq i32; }
# bats test_tags=slow,later
@test "u32, u32be" { compare_type uniq u32; }
# bats test_tags=slow,later
@test "i64, i64be" { compare_type uniq i64; }
@test "u64, u64be" { compare_type uniq u64; }

# check_runs TEST: runs a test of uniq_runs.py, which needs more memory than -S allows.
check_runs() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    timeout 300 "$PYTHON" "$srcdir/tests/uniq_runs.py" "$GPUHIST" "$1"
}

# bats test_tags=slow
@test "-S: every distribution gives the same bytes" { check_runs distributions; }
# bats test_tags=slow,plain
@test "-S: every way to print the counts" { check_runs options; }
# bats test_tags=slow,plain
@test "-S: states are saved and merged" { check_runs states; }
# bats test_tags=slow,plain
@test "-S: --every prints the counts so far" { check_runs so_far; }
# bats test_tags=later
@test "-S: after an error there is one line, no result and no file" { check_runs errors; }
# bats test_tags=slow,plain
@test "-S: a full disk is such an error, and one that is read-only" { check_runs full; }
@test "-S: after a signal no file is left" { check_runs signals; }

# counts_of_lines: prints "value TAB count" of the integers on standard input, by sort and uniq.
counts_of_lines() {
    sort -n | uniq -c | awk '{ print $2 "\t" $1 }'
}

@test "text, fields, compressed files, pipes, several files: what sort | uniq -c counts" {
    local engine
    awk 'BEGIN { srand(3); for (i = 0; i < 20000; i++)
        printf "x %d %d\n", exp(rand() * 30) - 5, rand() * 9 }' >a
    awk 'NR % 3 == 0 { printf "x %d %d\n", $2 - 7, $3 }' a >b
    cut -d ' ' -f 2 a b | counts_of_lines >expected
    cut -d ' ' -f 3 a b | counts_of_lines >third
    gzip -c b >b.gz
    for engine in $ENGINES; do
        gpuhist uniq -f 2 --engine "$engine" a b | cmp expected -
        cat a b | gpuhist uniq -f 2 --engine "$engine" --chunk-size 4K | cmp expected -
        gpuhist distinct -f 2 --engine "$engine" --threads 3 - b <a | cmp expected -
        gpuhist uniq -f -1 --engine "$engine" a b | cmp third -
        ! reads_gzip || gpuhist uniq -f 2 --engine "$engine" a b.gz | cmp expected -
    done
    [ ! -x "$(command -v zstd)" ] || zstd -qc a b | gpuhist uniq -f 2 | cmp expected -
    # the largest counts, by sort; smaller values first among equal counts
    sort -k2,2nr -k1,1n expected | head -n 10 >top
    gpuhist uniq -f 2 --top 10 a b | cmp top -
    gpuhist uniq -f 2 --top 10 -S 1 a b | cmp top -
    gpuhist uniq -f 2 --sort count a b | head -n 10 | cmp top -
}

@test "ties at the end of --top go to the lesser values" {
    printf '%s\n' 9 9 -5 7 3 -2 | gpuhist uniq --top 3 >out
    printf '9\t2\n-5\t1\n-2\t1\n' | cmp - out
    seq 70000 -1 1 | gpuhist uniq --top 1000 --threads 2 | cmp <(seq 1000 | sed 's/$/\t1/') -
    seq 70000 -1 1 | gpuhist uniq --top 1000 --threads 2 -S 1 | cmp <(seq 1000 | sed 's/$/\t1/') -
}

# bats test_tags=later
@test "--top of many values, dense and sparse, by several threads" {
    cd "$BATS_TEST_TMPDIR"
    # 200,000 dense values once, every seventh twice; 150,000 sparse ones once, every fifth three times
    awk 'BEGIN {
        for (i = 0; i < 200000; i++) { print i; if (i % 7 == 0) print i }
        for (i = 0; i < 150000; i++) for (n = i % 5 == 0 ? 3 : 1; n > 0; n--)
            printf "%.0f\n", i * 1000003 - 9e10
    }' >in
    sort -n in | uniq -c | awk '{ print $2 "\t" $1 }' | sort -k2,2nr -k1,1n >by_count
    for k in 1 1000 30003; do
        head -n $k by_count >expected
        for threads in 1 2 5; do
            gpuhist uniq --top $k --threads $threads in | cmp expected -
        done
        gpuhist uniq --top $k --min-count 2 --threads 3 in | cmp expected -
    done
}

@test "raw: records of the value and the count, 64 bits each, whatever the type" {
    printf '%s\n' -3 200 -3 | gpuhist uniq -t i16 --text --format raw | od -An -v -w16 -td8 >out
    [ "$(tr -s ' ' <out)" = $' -3 2\n 200 1' ]
    run -0 bash -c 'echo 18446744073709551615 | "$GPUHIST" uniq -t u64 --text --format raw | od -An -tu8'
    [ "$(tr -s ' ' <<<"$output")" = " 18446744073709551615 1" ]
    run --separate-stderr gpuhist uniq --format raw --top 3 </dev/null
    assert_failed 2 "--top cannot be combined with --format raw"
}

@test "--zeros prints the values between, unless there are too many" {
    run -0 bash -c 'printf "%s\n" 3 -1 3 | "$GPUHIST" uniq --zeros'
    [ "$output" = $'-1\t1\n0\t0\n1\t0\n2\t0\n3\t2' ]
    run --separate-stderr bash -c 'printf "%s\n" -9223372036854775808 9223372036854775807 |
        "$GPUHIST" uniq --zeros'
    assert_failed 1 "there are too many bins to print the empty ones"
}

@test "no values have no counts, and no quantiles" {
    run -0 --separate-stderr gpuhist uniq </dev/null
    [ -z "$output" ] && [ -z "$stderr" ]
    run -0 --separate-stderr gpuhist uniq --format json </dev/null
    [[ $output == *'"total":0,'* ]]
    run --separate-stderr gpuhist uniq --quantiles 50 </dev/null
    assert_failed 1 "no values were counted"
}

@test "states: of one width, of any type once, and their bins are values" {
    printf '%s\n' 5 -9 5 | gpuhist uniq -t i16 --text --save a -o /dev/null
    printf '%s\n' 5 7 | gpuhist uniq -t i16 --text --save b -o /dev/null
    run -0 gpuhist merge a b a
    [ "$output" = $'-9\t2\n5\t5\n7\t1' ]
    run -0 gpuhist merge --top 1 --percent a b
    [ "$output" = $'5\t3\t60.0000' ]
    run -0 gpuhist merge --quantiles 50,100 a b
    [ "$output" = $'50\t5\n100\t7' ]
    printf '%s\n' 5 7 | gpuhist uniq -t i32 --text --save c -o /dev/null
    run --separate-stderr gpuhist merge a c
    assert_failed 1 "c: "
    printf '%s\n' 5 7 | gpuhist -t i16 --text --bins 10 --save d -o /dev/null
    run --separate-stderr gpuhist merge a d
    assert_failed 1 "d: "
}

@test "-S and -T: sizes as elsewhere; bad ones, and other operations, are usage errors" {
    local size
    for size in 1 512M 1G 18446744073709551615; do
        [ "$(echo 7 | gpuhist uniq -S "$size")" = $'7\t1' ]
    done
    for size in '' 0 -1 x 1.5 5Q 50% 18446744073709551616; do
        run --separate-stderr gpuhist uniq --buffer-size "$size" </dev/null
        assert_failed 2 "invalid --buffer-size '$size'"
    done
    run --separate-stderr gpuhist uniq -T '' </dev/null
    assert_failed 2 "invalid --temporary-directory ''"
    run --separate-stderr gpuhist stalin-sort -S 1M </dev/null
    assert_failed 2 "--buffer-size cannot be used with stalin-sort"
    run --separate-stderr gpuhist stalin-sort -T . </dev/null
    assert_failed 2 "--temporary-directory cannot be used with stalin-sort"
}

# bats test_tags=slow,plain
@test "-S: the memory is bounded" {
    skip_under_asan
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    random_file ids '<u8' 0 18446744073709551615 3000000
    # all have occurred once; in memory they need more than 100 MB
    FLAT_KIB=70000 assert_flat "$(gpuhist uniq -t u64le --top 3 ids)" uniq -t u64le --top 3 -S 32M ids
}

@test "values at both ends of the type" {
    cd "$BATS_TEST_TMPDIR"
    # all except a few are near the largest value: no window continues at the smallest one
    local type
    for type in u8:u64 i8:i64; do
        numpy 'info = np.iinfo(sys.argv[1])
values = info.max - np.random.default_rng(7).integers(0, 1000, 400000).astype(sys.argv[1])
values[::8000] = info.min + np.arange(50).astype(sys.argv[1]) % 10
values.tofile("in")' "${type%:*}"
        numpy 'values, counts = np.unique(np.fromfile("in", sys.argv[1]), return_counts=True)
for value, count in zip(values, counts):
    print(value, count, sep="\t")' "${type%:*}" >expected
        gpuhist uniq -t "${type#*:}" in | cmp expected -
    done
}
