#!/usr/bin/env bats
# Errors are reported in one line, with the documented status and no result.

load helpers

assert_usage() { # TEXT ARG...: asserts that these arguments are rejected with TEXT
    local text=$1 help
    shift
    run --separate-stderr gpuhist "$@" </dev/null
    assert_failed 2 "$text" || { echo "arguments: $*"; return 1; }
    case $1 in
        uniq | reduce | count | merge | info | stalin-sort) help=$1 ;;
        stalin) help=stalin-sort ;;
        *) help=histogram ;;
    esac
    # the help that lists the option, unless better advice exists
    case $stderr in
        *" (try gpuhist $help --help)") [[ ${stderr% (try *} != *"(try"* ]] ;;
        *"(try "*) ;;
        *) false ;;
    esac
}

@test "--bins: zero, negative, too large, not a number" {
    assert_usage "invalid --bins '0': expected a number from 1, such as" --bins 0
    assert_usage "invalid --bins '-1'" --bins -1
    assert_usage "--bins is too large" --bins 4294967295
    assert_usage "--bins is too large" --bins 4294967296
    assert_usage "--bins is too large" --bins 9223372036854775808
    assert_usage "invalid --bins '18446744073709551616'" --bins 18446744073709551616
    assert_usage "invalid --bins '99999999999999999999999999999999999999999999'" \
        --bins 99999999999999999999999999999999999999999999
    local bad
    for bad in 5X 32LB "" " 5" 5. .5 0.5 1e5 0x10 5KB 5MM 5iM ++5 NaN; do
        assert_usage "invalid --bins '$bad'" --bins "$bad"
    done
}

@test "--range: empty, reversed, malformed, out of 64 bits" {
    assert_usage "--range LO:HI is empty" --bins 1 --range 5:5
    assert_usage "--range LO:HI is empty" --bins 1 --range 5:4
    local bad
    for bad in 5 5: :5 : 1:2:3 a:b "" 1-2; do
        assert_usage "invalid --range '$bad'" --bins 1 --range "$bad"
    done
    assert_usage "--range exceeds the values of 64-bit signed integers" --bins 1 \
        --range 0:9223372036854775809
    assert_usage "--range exceeds the values of type u64" -t u64 --bins 1 --range -1:5
    assert_usage "--range exceeds the values of type u64" -t u64 --bins 1 \
        --range 0:18446744073709551617
    assert_usage "--bins 11 is more than the 10 integers of --range" --bins 11 --range 0:10
    assert_usage "--range LO:HI is empty" --range 5:5
    assert_usage "invalid --range '5'" --range 5
    assert_usage "--range exceeds the values of type u64" -t u64 --range -1:5
    run -0 --separate-stderr gpuhist --range 0:10 </dev/null
    [ -z "$output" ] && [ -z "$stderr" ]
}

@test "unknown types, formats, engines, policies" {
    local bad
    for bad in i7 i128 f31 int i32x i32lebe I32 "" i; do
        assert_usage "invalid --type '$bad'" --bins 5 --type "$bad"
    done
    assert_usage "invalid --format 'xml'" --bins 5 --format xml
    assert_usage "unknown engine 'gpu': expected auto, cpu or cuda" --bins 5 --engine gpu
    assert_usage "invalid --outside 'drop'" --bins 5 --outside drop
    assert_usage "invalid --output ''" --bins 5 --output ""
}

@test "--threads and --chunk-size out of range" {
    local bad
    for bad in 0 -1 x 4097 ""; do
        assert_usage "invalid --threads '$bad'" --bins 5 --threads "$bad"
    done
    for bad in 0 7 2G 1.1 x ""; do
        assert_usage "invalid --chunk-size '$bad'" --bins 5 --chunk-size "$bad"
    done
}

@test "unknown, incomplete and abused options" {
    assert_usage "invalid --header 'x'" --header=x
    assert_usage "unknown option '--frob' (try" --frob
    assert_usage "option '--ou' is ambiguous: --outside, --output (try" --ou
    assert_usage "option '--s' is ambiguous: --strict, --sort, --save, --stats" --s=3
    assert_usage "unknown option '--qunatiles': did you mean --quantiles? (try" --qunatiles 50
    assert_usage "unknown option '--qunatiles': did you mean --quantiles? (try" --qunatiles=50
    assert_usage "unknown option '--percnt': did you mean --percent?" --percnt
    assert_usage "option '--q' is ambiguous: --quantiles, --quiet" --q
    assert_usage "option '--perc' is ambiguous: --percent, --percentiles" --perc
    assert_usage "unknown option '--column' (try --field)" --column 2
    assert_usage "unknown option '--json' (try --format json, or for input --jsonl)" --json
    assert_usage "unknown option '--svg' (try --format svg)" --svg
    assert_usage "unknown option '--limit' (try --top)" --limit 10
    assert_usage "unknown option '--hex' (try --base 16)" --hex
    assert_usage "unknown option '--group-by' (try --by)" reduce sum --group-by=2
    assert_usage "unknown option '--group' (try --by)" count --group 2
    assert_usage "unknown option '--reverse' (try" count --reverse --all
    assert_usage "unknown option '-n' (try --top)" -n 10
    assert_usage "unknown option '-F' (try -d)" -F, -f 2
    assert_usage "unknown option '-x' (try" -x
    assert_usage "invalid --type 'int64' (try i64)" -t int64
    assert_usage "invalid --type 'uint8_t' (try u8)" -t uint8_t
    for type in float:f32 float16:f16 double:f64; do
        assert_usage "invalid --type '${type%:*}' (try ${type#*:}, or for text such as 12.345 --decimals 3)" -t "${type%:*}"
    done
    for type in int int7 int64_ int646 uint uint64_tt wint64 ''; do
        assert_usage "invalid --type '$type': expected i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32 or f64, with le or be" -t "$type"
    done
    assert_usage "option '--bin' is ambiguous: --bins, --binary (try" --bin
    assert_usage "unknown option '--tpo': did you mean --top? (try" --tpo
    assert_usage "unknown option '--pruged': did you mean --purged?" --pruged x
    assert_usage "unknown option '--' (try" --=x
    assert_usage "unknown option '-x'" -x
    assert_usage "unknown option '-x'" --quiet -qx
    assert_usage "unknown option '-x'" --quiet -xq
    assert_usage "option --bins needs a value" --bins
    assert_usage "option --bins needs a value" -b
    assert_usage "option --zeros takes no value" --zeros=1
    assert_usage "info takes no file: 'x'" info x
}

@test "what other programs call an option has a suggestion" {
    cd "$BATS_TEST_TMPDIR"
    local table typed advice command
    int32 3 >in
    # the command and the option typed; the advice
    table="uniq -k2 => (try -f)
        uniq -t, => invalid --type ',' (try -d ',')
        uniq -t| => invalid --type '|' (try -d '|')
        uniq -t \\t => invalid --type '\\t' (try -d '\\t')
        uniq --head 5 => (try --top)
        uniq --head=5 => (try --top)
        uniq -c => (counts are always printed)
        histogram --count => (counts are always printed)
        uniq -r => (try --sort count)
        stalin-sort -r => (try --descending)
        reduce -g 1 => (try --by)
        uniq -j 4 => (try --threads)
        uniq --parallel=4 => (try --threads)
        uniq --cpu => (try --engine cpu)
        uniq --cuda => (try --engine cuda)
        count --gte 500 => (try --ge)
        count --lte=500 => (try --le)
        uniq --json => (try --format json, or for input --jsonl)
        uniq --tsv => (try -d '\\t', or for output --format tsv)
        uniq -T0 => expected a directory (threads: --threads N)
        uniq -T 4 => expected a directory (threads: --threads N)
        histogram --bins=5m => a number from 1, such as 256, 5M or 1Mi
        uniq --chunk-size=1m => bytes from 8 to 1G, such as 512K or 8M
        histogram --range=0:x => expected auto, or LO:HI, two integers
        uniq --sort desc => invalid --sort 'desc': expected bin, or count (largest first)
        uniq --sort -count => expected bin, or count (largest first)
        histogram --format png => json, jsonl, markdown, html, raw, npy, gnuplot or svg (rsvg-convert makes png)
        reduce rate => unknown reduction or file 'rate'
        reduce rate,ratio => unknown reduction or file 'rate'
        histogram --edges 0 => --edges requires at least two edges, such as 0,10,20
        reduce q1,med,iqr => unknown reduction 'med' (try median)
        reduce sum,percentiles => unknown reduction 'percentiles'
        reduce perc:99 => unknown reduction or file 'perc:99'"
    while read -r typed; do
        advice=${typed#* => }
        typed=${typed%% => *}
        command=${typed%% *}
        # shellcheck disable=SC2086
        run -2 --separate-stderr gpuhist $typed in
        echo "gpuhist $typed: $stderr"
        [[ -z $output && $stderr == *"$advice"* ]]
        [[ $advice == *"(try "* || $stderr == *"(try gpuhist $command --help)" ]]
    done <<<"$table"
    run -1 --separate-stderr gpuhist reduce 'my file' # may be a file
    [ "$stderr" = "gpuhist: my file: No such file or directory" ]
    # Words that are not files, but mean an operation, a reduction, a field or a condition.
    table="reduce count distinct in => distinct => try reduce count,distinct
        reduce -f 1 sum max => max => try reduce sum,max
        reduce sum 11 in => 11 => try -f 11
        uniq 9 in => 9 => try -f 9
        histogram 2024 => 2024 =>
        uniq -f 10 11 in => 11 =>
        uniq -f 9 in 9>=500 => 9>=500 => try --where '9>=500'
        uniq a=1/b => a=1/b =>"
    while read -r typed; do
        advice=${typed##*=>}
        typed=${typed% =>*}
        # shellcheck disable=SC2086
        run -1 --separate-stderr gpuhist ${typed% => *} </dev/null
        advice="${typed##* => }: No such file or directory${advice:+ (${advice# })}"
        echo "gpuhist $typed: $stderr, not $advice"
        [ "$stderr" = "gpuhist: $advice" ]
    done <<<"$table"
    echo 7 >'>500'
    [ "$(gpuhist count --lt 100 '>500')" = 1 ]
    mkdir 4
    run -0 gpuhist uniq -T 4 in
    # a value with the name of an operation
    printf 'unique --head\n5 6\n' >columns
    [ "$(gpuhist reduce sum --field unique --by --head columns)" = $'6\t5' ]
}

@test "a long option with one dash has a suggestion, before its letter takes effect" {
    cd "$BATS_TEST_TMPDIR"
    int32 3 >in
    assert_usage "unknown option '-top': did you mean --top? (try" -top 3 in
    assert_usage "unknown option '-top': did you mean --top?" reduce in -top=3
    assert_usage "unknown option '-csv': did you mean --csv?" in -csv -f 2
    assert_usage "unknown option '-field': did you mean --field?" -field 9 in
    assert_usage "unknown option '-verbose': did you mean --verbose?" --bins 5 in -verbose
    assert_usage "unknown option '-header': did you mean --header?" -header in
    assert_usage "unknown option '-other': did you mean --other? (try" --bins 5 -other in
    [ ! -e ther ]
    # Words that only look like one: the value of an option, a file, clusters and one-letter values.
    run -0 gpuhist --bins 5 -o -top in
    [ "$(cat ./-top)" = $'3\t1' ]
    run -0 gpuhist --bins 5 -ti32 -qo-other -- in -top 2>&1
    [ -s ./-other ]
    [ "$(gpuhist -help)" = "$(gpuhist --help)" ]
}

@test "an option of other operations names them" {
    local see='(try gpuhist'
    assert_usage "--by cannot be used with stalin-sort, only with histogram, uniq, reduce, count $see" stalin-sort --by 2
    assert_usage "--other cannot be used with reduce, only with histogram, uniq, merge $see" reduce --other
    assert_usage "--bins cannot be used with info, only with histogram $see" info --bins 3
    assert_usage "--format cannot be used with stalin-sort, only with histogram, uniq, reduce, count, merge $see" stalin-sort --format csv
    assert_usage "--strict cannot be used with merge, only with stalin-sort $see" merge --strict x
    assert_usage "--field cannot be used with merge $see" merge -f 2 x
    assert_usage "--width cannot be used with uniq, only with histogram (try -f 4:time/1m, -f 10:int/100)" uniq --width 1m
    assert_usage "--width cannot be used with merge, only with histogram $see" merge --width 1m x
    assert_usage "--ge cannot be used with reduce, only with count (try --where 'COLUMN>=V')" reduce --ge 5
    assert_usage "--percentiles cannot be used with reduce, only with histogram, uniq, merge (try reduce p50,p99,p99.9)" reduce --quantiles 5
}

@test "a mistyped operation has a suggestion, unless there is such a file" {
    cd "$BATS_TEST_TMPDIR"
    assert_usage "unknown operation or file 'redcue': did you mean 'reduce'? (try" redcue sum
    assert_usage "unknown operation or file 'UNIQ': did you mean 'uniq'?" UNIQ x
    assert_usage "unknown option '--Percent': did you mean --percent?" --Percent
    assert_usage "unknown reduction 'SUM': did you mean 'sum'? (try" reduce SUM
    assert_usage "unknown reduction 'percentile99.9'" reduce sum,percentile99.9
    assert_usage "unknown reduction or file 'r99'" reduce r99
    assert_usage "unknown reduction or file 'p101'" reduce p101
    run -1 --separate-stderr gpuhist reduce 2024
    [ "$stderr" = "gpuhist: 2024: No such file or directory" ]
    echo 7 >./99
    run -0 gpuhist reduce 99 # a file
    assert_usage "unknown operation or file 'cuont': did you mean 'count'?" cuont --all
    assert_usage "unknown operation or file 'histogramm': did you mean 'histogram'?" histogramm
    assert_usage "unknown operation or file 'stalinsort': did you mean 'stalin-sort'?" stalinsort
    assert_usage "unknown operation or file 'merg': did you mean 'merge'?" merg x
    assert_usage "unknown operation or file 'help': did you mean '--help'?" help
    assert_usage "unknown operation or file 'top': did you mean '--top'?" top 10 redcue
    assert_usage "unknown operation or file 'version': did you mean '--version'?" version
    assert_usage "unknown operation or file 'verison': did you mean '--version'?" verison
    assert_usage "unknown operation or file 'sum' (try reduce sum)" sum redcue
    assert_usage "unknown operation or file 'p99,max' (try reduce p99,max)" p99,max
    int32 3 >redcue
    run -0 gpuhist redcue
    [ "$output" = $'3\t1' ]
}

@test "what is no operation is a file" {
    cd "$BATS_TEST_TMPDIR"
    run --separate-stderr gpuhist frobnicate --bins 5 </dev/null
    assert_failed 1 "frobnicate: No such file or directory"
    run --separate-stderr gpuhist --bins 5 histogram reduce </dev/null
    assert_failed 1 "histogram: No such file or directory (an operation must come first)"
    int32 3 >in
    run --separate-stderr gpuhist in reduce sum
    assert_failed 1 "reduce: No such file or directory (an operation must come first)"
    run --separate-stderr gpuhist reduce in sum
    assert_failed 1 ": No such file or directory (try reduce sum,max FILE: reductions come first)"
    run --separate-stderr gpuhist reduce sum max in
    assert_failed 1 "max: No such file or directory (try reduce sum,max)"
    cp in sum
    run -0 gpuhist reduce sum in sum
    [ "$output" = 6 ]
    run --separate-stderr gpuhist sum max in
    assert_failed 1 "max: No such file or directory"
}

@test "the last of an option given twice counts, and abbreviations work" {
    run -0 gpuhist --bins 1 --bins 4 --thr 1 < <(int32 3)
    [ "$output" = $'3\t1' ]
}

@test "bins that do not fit the memory are refused before anything is read" {
    skip_under_asan
    # 4294967294 bins need 32 GiB; with at most 2 GB of address space, they never fit
    run --separate-stderr bash -c 'ulimit -v 2000000
        "$GPUHIST" --bins 4294967294 --engine cpu </dev/zero'
    assert_failed 1 "4294967294 bins"
    [[ $stderr == *memory* ]]
}

@test "the limits of control groups, of both versions, are part of the memory that is free" {
    skip_under_asan
    cd "$BATS_TEST_TMPDIR"
    # As in a container: 4000 MB are free, 100 MiB for the parent of the program's cgroup.
    cat >limited.sh <<'END'
        mount -t tmpfs none /proc && mount -t tmpfs none /sys/fs/cgroup || exit 9
        mkdir -p /proc/self "/sys/fs/cgroup/$2/a/b"
        echo 'MemAvailable: 4000000 kB' >/proc/meminfo
        echo "$1:/a/b" >/proc/self/cgroup
        echo 104857600 >"/sys/fs/cgroup/$2/a/$3"
        exec "$GPUHIST" --engine cpu --bins "$4" "$5"
END
    limited() {
        run --separate-stderr timeout 30 unshare -rm bash limited.sh "$@"
        [ "$status" -ne 9 ] && [[ $stderr != unshare:* ]] || skip "no mounts of our own here"
    }
    limited 0: unified memory.max 100M /dev/zero
    assert_failed 1 "not enough memory for 100000000 bins: 762 MiB needed, 100 MiB available"
    limited 4:memory memory memory.limit_in_bytes 100M /dev/zero
    assert_failed 1 "not enough memory for 100000000 bins: 762 MiB needed, 100 MiB available"
    limited 4:memory memory memory.of_no_limit 1G /dev/zero
    assert_failed 1 "not enough memory for 1000000000 bins: 7629 MiB needed, 3906 MiB available"
    limited 0: . memory.max 10M /dev/null
    [ "$status" -eq 0 ] && [ -z "$output$stderr" ]
}

@test "a usage error comes before a missing file, and a missing file before the work" {
    run --separate-stderr gpuhist --bins x /nonexistent
    assert_failed 2 "invalid --bins"
    run --separate-stderr gpuhist --bins 5 /dev/zero /nonexistent
    assert_failed 1 "/nonexistent: No such file or directory"
}

@test "no threads: a clear error" {
    [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || skip "needs root and setpriv"
    dir=$(mktemp -d)
    chmod 755 "$dir"
    cp "$GPUHIST" "$dir/gpuhist"
    run --separate-stderr setpriv --reuid 65533 --regid 65533 --clear-groups \
        bash -c "ulimit -u 2; exec '$dir/gpuhist' --bins 5 --engine cpu --threads 8 /dev/zero"
    rm -rf "$dir"
    assert_failed 1 "cannot start thread 2: Resource temporarily unavailable (try --threads 1)"
}

@test "control characters of a file's name do not reach the terminal" {
    cd "$BATS_TEST_TMPDIR" || return 1
    name=$(printf 'a\033[31m\302\233m\303\251.txt')
    printf 'x\n' >"$name"
    run -1 --separate-stderr "$GPUHIST" "$name"
    [ "$stderr" = "$(printf "gpuhist: a?[31m??m\303\251.txt:1: invalid integer 'x' (try --header)")" ]
}

# bats test_tags=later
@test "what is not printable reaches the terminal in no name, token or label" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    cd "$BATS_TEST_TMPDIR" || return 1
    "$PYTHON" -c 'import os, subprocess, sys
gpuhist = sys.argv[1]
# Strict decoding by Python defines UTF-8; none of these is UTF-8, or may be printed.
bad = [bytes([c]) for c in [*range(1, 9), *range(14, 32), 127, *range(128, 256)]]
bad += [chr(c).encode() for c in [*range(0x80, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F),
                                  *range(0x2066, 0x206A)]]
bad += [b"\xc1\xa1", b"\xe0\x81\xa1", b"\xf0\x80\x81\xa1", b"\xc0\x80", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80",
        b"\xf8\x88\x80\x80\x80", b"\xe2\x82", b"\xf0\x9f\x98"]
good = [chr(c).encode() for c in [0x21, 0x7E, 0xA0, 0xE9, 0x7FF, 0x800, 0x200D, 0x2027, 0x202F,
                                  0x4E2D, 0xD7FF, 0xE000, 0xFFFD, 0x10000, 0x1F600, 0x10FFFF]]
# Eight at a time, with a letter between.
for parts in [(bad + good)[i:i + 8] for i in range(0, len(bad + good), 8)]:
    part = b"y".join(parts)
    shown = b"y".join(one if one in good else b"?" * len(one) for one in parts)
    advice = b"" if all(one in good or one[0] == 0xE2 and len(one) == 3 for one in parts) else b" (try --binary, or iconv if it is UTF-16)"
    for name, text, expected in (
            (b"in", b"x" + part + b"31mz\n",
             b"gpuhist: in:1: invalid integer \x27x" + shown + b"31mz\x27" + advice + b"\n"),
            (b"x" + part + b"m", None, b"gpuhist: x" + shown + b"m: No such file or directory\n")):
        if text:
            with open(name, "wb") as file:
                file.write(text)
        done = subprocess.run([gpuhist, "reduce", "sum", "--text", name], capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (1, b"", expected), (part, done)
    # A label is text that the user typed, which a state may forge.
    with open(part, "wb") as file:
        file.write(b"7\n")
    state = subprocess.run([gpuhist, "count", "--text", "--all", "--any-of", b"@" + part, "--save", "-"],
                           input=b"7\n8\n", capture_output=True, check=True).stdout
    for command in ["count", "--all", "--text", "--any-of", b"@" + part], ["merge"]:
        done = subprocess.run([gpuhist, *command], capture_output=True,
                              input=state if command == ["merge"] else b"7\n8\n")
        expected = b"all\t2\nany-of @" + shown + b"\t1\n"
        assert (done.returncode, done.stdout) == (0, expected), (part, done)
    os.remove(part)' "$GPUHIST"
}

@test "messages that are lost are an error, but where standard error is closed" {
    [ -c /dev/full ] || skip "no /dev/full"
    cd "$BATS_TEST_TMPDIR" || return 1
    printf '1\nx\n9\n' >in
    for arguments in "reduce sum --invalid warn" "--bins 5 --invalid ignore" \
        "reduce sum --stats --invalid ignore"; do
        for threads in 1 2 16; do
            # shellcheck disable=SC2086
            run -1 bash -c '"$GPUHIST" "$@" in >out 2>/dev/full' - $arguments --threads $threads
            # shellcheck disable=SC2086
            gpuhist $arguments --threads $threads in 2>err | cmp - out
            [ -s err ]
            # shellcheck disable=SC2086
            run -0 bash -c '"$GPUHIST" "$@" in 2>&-' - $arguments --threads $threads
        done
    done
    run -1 bash -c '"$GPUHIST" reduce sum --invalid ignore in 2>/dev/full'
    run -0 bash -c '"$GPUHIST" reduce sum --invalid ignore -q in 2>/dev/full'
}
