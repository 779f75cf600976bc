#!/usr/bin/env bats
# Reductions that need a table: distinct, mode, median and percentiles, against numpy, sort and uniq.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
}

# compare TEST: runs a test of tests/reduce_table.py.
compare() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    "$PYTHON" "$srcdir/tests/reduce_table.py" "$GPUHIST" "$1"
}

# bats test_tags=later
@test "all types as numpy finds them, in memory, beyond -S, and merged" { compare types; }
@test "results so far are those of the values so far" { compare every; }

@test "a line each in their order, one alone without its name, and none by default" {
    printf '5 9 -3 9 5 7\n' >in
    run -0 gpuhist reduce median,p99.90,max,mode,distinct,p007 in
    [ "$output" = $'median\t5\np99.90\t9\nmax\t9\nmode\t5\ndistinct\t4\np7\t-3' ]
    run -0 gpuhist reduce mode in
    [ "$output" = 5 ]
    [ "$(gpuhist reduce in | wc -l)" -eq 10 ]
}

@test "ranks are exact where floating point is not, and huge" {
    seq 1000 >in # 99.9 / 100 * 1000 is 999.0000000000001 in floating point
    run -0 gpuhist reduce p99.9,p0.1,p33.3,p33.300000000000001,p100,p0 in
    [ "$(cut -f 2 <<<"$output" | paste -sd ' ')" = "999 1 333 334 1000 1" ]
}

@test "what is no percentage is a file; a name twice and too many names are usage errors" {
    local name
    printf '7\n' >p50
    for name in p p1e1 p-1 p101 p100.1 p1. p.5 p+1 P50 median50 p1.0000000000000001 pp5; do
        printf '3\n' >"$name"
        run --separate-stderr gpuhist reduce count,"$name" "$name"
        [ "$status" -eq 2 ]
        [[ $stderr == "gpuhist: unknown reduction '$name'"* ]]
    done
    run -0 gpuhist reduce p50 ./p50
    [ "$output" = 7 ]
    run --separate-stderr gpuhist reduce p50,sum,p050 ./p50
    assert_failed 2 "duplicate reduction in 'p50,sum,p050'"
    run --separate-stderr gpuhist reduce "$(seq -f p%g -s , 0 64)" ./p50
    assert_failed 2 "too many reductions: at most 64"
    run -0 gpuhist reduce "$(seq -f p%g -s , 1 64)" ./p50
    [ "${#lines[@]}" -eq 64 ]
}

@test "an empty stream has 0 distinct values, and no others" {
    run --separate-stderr gpuhist reduce p99.9,distinct,mode,count,median --engine cpu </dev/null
    [ "$status" -eq 1 ] && [ -z "$output" ]
    [ "$stderr" = "gpuhist: cannot compute p99.9, mode, median: empty input" ]
    run -0 --separate-stderr gpuhist reduce distinct </dev/null
    [ "$output" = 0 ] && [ -z "$stderr" ]
    gpuhist reduce distinct,p1 --text --save empty -o /dev/null </dev/null || [ $? -eq 1 ]
    seq 40 | gpuhist reduce distinct,p1 --text --save some -o /dev/null
    run -0 gpuhist merge empty some empty
    [ "$output" = $'distinct\t40\np1\t1' ]
}

@test "a state is in ascending order, where the result needs none as well" {
    seq 0 3 9000 | gpuhist reduce distinct,mode -t u16 --text --save state -o /dev/null
    run -0 gpuhist merge state state
    [ "$output" = $'distinct\t3001\nmode\t0' ]
    # the states of several columns, which merge saves again
    seq 0 3 9000 | awk '{ print $1 % 100 * 9876543, $1 % 77 * 5432197 }' >columns
    gpuhist reduce distinct,mode -f 1,2 columns --save state >expected
    gpuhist merge state --save again | cmp expected -
    gpuhist merge again | cmp expected -
}

# bats test_tags=later
@test "counts beyond -S go to files in -T; a directory that cannot be written is an error" {
    local names=distinct,mode,median,p93.75 job
    numpy 'ids = (np.arange(1500000) - 700000) * 7919
ids = np.concatenate([ids, ids[77777::5]])
np.random.default_rng(2).permutation(ids).astype("<i8").tofile("in")
print(len(np.unique(ids)), ids[1500000:].min(), *np.percentile(ids, [50, 93.75], method="inverted_cdf"),
      sep="\n")' >expected
    mkdir runs
    gpuhist reduce $names -t i64le -S 1 -T runs --threads 1 --save state in | cut -f 2 | cmp expected -
    gpuhist merge -S 1 -T runs state | cut -f 2 | cmp expected -
    gpuhist reduce distinct,mode -t i64le -S 1 -T runs --threads 1 in | cut -f 2 |
        cmp <(head -n 2 expected) -
    [ -z "$(ls -A runs)" ]
    for job in "reduce $names -t i64le --threads 1 in" "reduce distinct -t i64le --threads 1 in" "merge state"; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist $job -S 1 -T missing
        assert_failed 1 "cannot make a temporary file of counts in missing: No such file or directory"
    done
    run -0 gpuhist reduce sum -t i64le -S 1 -T missing in # needs no table
}

@test "mode of strings and addresses, of all and of groups, as sort and uniq have it" {
    cd "$BATS_TEST_TMPDIR"
    local column i
    mode() { # of lines; in tsv a backslash is two
        LC_ALL=C sort | uniq -c | sed -E 's/^ *([0-9]+) /\1\t/' | LC_ALL=C sort -t $'\t' -k1,1nr -k2,2 |
            sed -n '1{ s/^[0-9]*\t//; s/\\/&&/g; p; }'
    }
    for ((i = 0; i < 300; i++)); do
        printf '%d;/p %d,"%d\\;10.0.0.%d\n' $((RANDOM % 4)) $((RANDOM % 9)) $((RANDOM % 2)) $((RANDOM % 9 + 1))
    done >in
    gzip -c in >in.gz
    for column in 2:text 3:ip; do
        cut -d ';' -f "${column%:*}" in | mode >all
        for file in in in.gz; do
            gpuhist reduce mode -d ';' -f "$column" --threads 3 --chunk-size 4096 $file | cmp - all
        done
        for ((i = 0; i < 4; i++)); do
            printf '%d\t%s\t%d\n' $i "$(grep "^$i" in | cut -d ';' -f "${column%:*}" | mode)" "$(grep -c "^$i" in)"
        done >groups
        gpuhist reduce mode,count -d ';' -f "$column" --by 1 --save state in | cmp - groups
        gpuhist merge state | cmp - groups
        gpuhist reduce mode -d ';' -f "$column" --format json in | "$PYTHON" -c 'import json, sys
print(json.load(sys.stdin)["mode"].replace("\\", "\\\\"))' | cmp - all
    done
    run -0 gpuhist reduce mode,count -d ';' -f 3:ip,2 --format csv in
    [ "${lines[0]}" = column,mode,count ] && [ ${#lines[@]} = 3 ]
    run -1 --separate-stderr gpuhist reduce mode -f 1:text </dev/null
    [[ $stderr == *"cannot compute mode: empty input"* ]]
    [ "$(printf ',1\n,2\nb,3\n' | gpuhist reduce mode,count --csv -f 1:text -q)" = $'mode\t\ncount\t3' ]
}
