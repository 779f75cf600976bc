#!/usr/bin/env bats
# Parsing by the feeders of a GPU: engines print the same as Python's csv and datetime; gpu_rows.py.

load helpers

# rows SEED COUNT: runs COUNT inputs of gpu_rows.py on the engines of this machine.
rows() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    # shellcheck disable=SC2086
    timeout 600 "$PYTHON" "$srcdir/tests/gpu_rows.py" "$GPUHIST" "$1" "$2" $ENGINES
}

# bats test_tags=later
@test "CSV, times, widths, whole lines and weights are what Python reads" {
    local ENGINES=cpu
    rows 1 25
}

# bats test_tags=gpu
@test "gpu: CSV with quotes here and there, times, widths, whole lines and weights" {
    skip_without_gpu
    rows 1 25
}

# bats test_tags=gpu
@test "gpu: CSV in chunks of every feeder, with and without quotes" {
    skip_without_gpu
    local n=2000000 size
    awk -v n=$n 'BEGIN { for (i = 0; i < n; i++)
        print (int(i / 100000) % 2 ? "\"a, \"\"b\"\"\n" i "\"" : "plain") "," i % 1000 "," i }' >in
    for size in 4M 1000003 64K; do
        run -0 gpuhist reduce count,sum --csv -f 3 --engine cuda --chunk-size $size in
        [ "$output" = $'count\t'"$n"$'\nsum\t'$((n * (n - 1) / 2)) ]
        gpuhist --bins 1000 --csv -f 2 --engine cuda --chunk-size $size --format raw < <(cat in) |
            od -An -v -tu8 -w8 | sort -nu >counts
        [ "$(tr -d ' ' <counts)" = $((n / 1000)) ]
    done
    # the message names the first invalid token of the stream
    sed '1900003s/,/,x/; 1500000s/,[0-9]*$/,y/' in >bad
    gpuhist reduce sum --csv -f 3 --engine cpu bad 2>expected && return 1
    for _ in 1 2 3; do
        gpuhist reduce sum --csv -f 3 --engine cuda --chunk-size 64K bad 2>err && return 1
        cmp expected err
    done
}

# bats test_tags=gpu
@test "gpu: stalin-sort writes what comes before an invalid token, and nothing after it" {
    skip_without_gpu
    seq -f '"a",%.0f' 200000 | sed '150000s/,/,x/' >in
    for threads in 1 5; do
        gpuhist stalin-sort --csv -f 2 --engine cuda --threads $threads --chunk-size 4096 in >out 2>err && return 1
        seq 149999 | cmp - out
        [[ $(cat err) == "gpuhist: in:150000: invalid integer 'x150000'"* ]]
    done
}

# bats test_tags=gpu
@test "gpu: with --gpus the CPU shares times and CSV with it; alone it takes them all" {
    skip_without_gpu
    seq -f 'a,%.0f,"x"' 1700000000 1702000000 >in
    awk -F, '{ n[int($2 / 86400)]++ } END { for (i in n) print i, n[i] }' in | sort -n >days
    gpuhist uniq --csv -f 2:time/1d --gpus 0 in | while IFS=$'\t' read -r day count; do
        echo "$(($(date -u -d "$day" +%s) / 86400)) $count"
    done | cmp days -
    run -0 --separate-stderr gpuhist uniq --csv -f 2:time/1d --verbose in
    [[ $stderr == *"engine cuda is not used: its threads would parse --csv with quotes on the CPU"* ]]
}
