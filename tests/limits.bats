#!/usr/bin/env bats
# Little memory: cgroups, ulimit -v, ulimit -s; and many threads.

load helpers

# check_groups MIB[,MIB]... THREADS[,THREADS]...: limits.py
check_groups() {
    skip_under_asan
    command -v python3 >/dev/null || skip "no python3"
    command -v unshare >/dev/null || skip "no unshare"
    cd "$BATS_TEST_TMPDIR"
    run timeout 300 "${PYTHON:-python3}" "$srcdir/tests/limits.py" "$GPUHIST" "$@"
    [ "$status" -ne 77 ] || skip "no mounts of our own here"
    echo "$output"
    [ "$status" -eq 0 ]
}

# bats test_tags=later
@test "a small group and many threads: a result or one line, within the limit" {
    SHARE=4 check_groups 64,128 64
}

# bats test_tags=slow,plain
@test "groups of 64 and 256 MiB, 4 to 128 threads" {
    local groups=64,256
    [ "$SHARE" = 1 ] || groups=256
    SHARE=4 check_groups $groups 4,128
}

# bats test_tags=later
@test "hostile files in a small group: long rows, deep JSON, open quotes, many columns and members" {
    check_groups hostile 128 64,2
}

# bats test_tags=slow,plain
@test "hostile files: 100,000 files, and millions of groups by three columns" {
    cd "$BATS_TEST_TMPDIR"
    # each combination of n, n and 10 numbers once, the first one fastest
    local n=$((SHARE > 1 ? 300 : 600)) size=$((SHARE > 1 ? 8 : 24))M
    awk -v n="$n" 'BEGIN { for (c = 0; c < 10; c++) for (b = 0; b < n; b++) for (a = 0; a < n; a++)
        print a "," b "," c ",1" }' >groups
    gpuhist reduce sum -d , -f 4 --by 1,2,3 -S "$size" groups | cksum >sums
    awk -v n="$n" 'BEGIN { for (a = 0; a < n; a++) for (b = 0; b < n; b++) for (c = 0; c < 10; c++)
        print a "\t" b "\t" c "\t1" }' | cksum | cmp - sums
    mkdir files
    (cd files && seq 100000 | xargs -n 1000 sh -c 'for name; do echo 1 >$name; done' sh)
    # shellcheck disable=SC2046
    [ "$(cd files && gpuhist reduce sum $(seq 100000))" = 100000 ]
}

@test "the default number of threads is that of the group's quota" {
    command -v unshare >/dev/null || skip "no unshare"
    [ "$(nproc)" -gt 1 ] || skip "one processor"
    threads() { # COMMAND...: creates the cgroup
        unshare -rm bash -c 'mount -t tmpfs none /sys/fs/cgroup && mkdir /sys/fs/cgroup/cpu || exit 9
            eval "$1"; "$GPUHIST" info' bash "$1" 2>/dev/null
    }
    run threads :
    [ "$status" -ne 9 ] && [[ $output = *"$(nproc) processors"* ]] || skip "no mounts of our own here"
    # one of the two is the system's version
    run -0 threads 'echo 100000 | tee /sys/fs/cgroup/cpu/cpu.cfs_{quota,period}_us
        echo 100000 100000 >/sys/fs/cgroup/cpu.max'
    [[ $output = *" 1 processor,"* ]]
}

# bats test_tags=slow
@test "ulimit -v: a result, or a line that says what to do" {
    skip_under_asan
    skip_under_emulator "ulimit counts its memory, too"
    cd "$BATS_TEST_TMPDIR"
    seq 1 7 3000000 >values
    "$GPUHIST" uniq values >expected
    for kib in 100000 150000 200000 400000; do
        for threads in 1 4 64; do
            (ulimit -v $kib; "$GPUHIST" uniq --engine cpu --threads $threads values >out)
            cmp out expected
        done
    done
    # with bins of 12 bytes each, used or not
    awk '$1 % 3 == 0 { print $1 "\t1" }' values >expected
    awk '$1 % 3 == 0' values >bins
    for kib in $(seq 60000 $((SHARE > 1 ? 15000 : 10000)) 110000); do
        for threads in 1 2 64; do
            bash -c "ulimit -v $kib; \"\$GPUHIST\" --bins 5M --engine cpu --threads $threads bins" >out 2>err || {
                [ "$kib" -lt 100000 ] && ! [ -s out ]
                grep -Eq '^gpuhist: not enough memory( for 5000000 bins)?: [0-9]+ MiB needed, [0-9]+ MiB available$' err
                continue
            }
            cmp out expected
        done
    done
    run -1 --separate-stderr bash -c 'ulimit -v 100000; "$GPUHIST" uniq --engine cpu -S 1G \
        --chunk-size 90M values'
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [[ $stderr = *"not enough memory: "* ]]
}

@test "ulimit -s: threads and the program have stacks of their own" {
    skip_under_asan
    cd "$BATS_TEST_TMPDIR"
    seq 100000 >values
    seq -f 'name %g' 20000 >texts
    for operation in "uniq" "--bins 1M" "reduce median" "uniq --format svg" "stalin-sort" "-w 10 --sort count"; do
        # shellcheck disable=SC2086
        "$GPUHIST" $operation values >expected
        # shellcheck disable=SC2086
        (ulimit -s 64; "$GPUHIST" $operation values >out)
        cmp out expected
    done
    "$GPUHIST" uniq -f 2:text texts >expected
    (ulimit -s 64; "$GPUHIST" uniq -f 2:text --threads 4 texts >out)
    cmp out expected
    # signals come to the thread that waits for them
    mkfifo pipe
    bash -c 'ulimit -s 64; exec "$GPUHIST" reduce sum --text pipe' 2>err 3>&- &
    exec 4>pipe
    echo 5 >&4
    for _ in {1..100}; do ! grep -q "^SigBlk:.*2..$" /proc/$!/task/*/status || break; sleep 0.1; done
    kill -USR1 $!
    for _ in {1..100}; do ! [ -s err ] || break; sleep 0.1; done
    exec 4>&-
    wait $!
    grep -q 'so far' err
}
