#!/usr/bin/env bats
# Typical inputs: the output of git, du, od and web servers, tables, /proc, compressed files. Each is
# read by at least two operations, as FILE, as redirected standard input and as a pipe. Oracles are
# awk, sort, uniq, od and numpy.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# assert_same FILE ARG...: asserts that gpuhist ARG... prints the file "expected" for each way to read.
assert_same() {
    local in=$1 engine
    shift
    for engine in $ENGINES; do
        gpuhist "$@" --engine "$engine" "$in" >as-file
        cmp expected as-file
        gpuhist "$@" --engine "$engine" <"$in" >as-stdin
        cmp expected as-stdin
        # shellcheck disable=SC2002
        cat "$in" | gpuhist "$@" --engine "$engine" >as-pipe
        cmp expected as-pipe
    done
}

# tabulate: prints "value TAB count" of the numbers on standard input, in numeric order.
tabulate() {
    sort -n | uniq -c | awk '{ print $2 "\t" $1 }'
}

# summary: prints the output of reduce count,sum,min,max for the numbers on standard input, by Python.
summary() {
    "$PYTHON" -c 'import sys
v = [int(line) for line in sys.stdin]
print(f"count\t{len(v)}\nsum\t{sum(v)}\nmin\t{min(v)}\nmax\t{max(v)}")'
}

# assert_summary FILE ARG...: asserts that reduce ARG... of FILE is the summary of standard input.
assert_summary() {
    local in=$1
    shift
    summary >expected
    assert_same "$in" reduce count,sum,min,max "$@"
}

@test "git log --format=%at" {
    command -v git >/dev/null || skip "no git"
    git init -q repository
    awk 'BEGIN { srand(2); for (i = 1; i <= 400; i++) {
        at = 1600000000 + int(3000 * i * rand())
        printf "commit refs/heads/main\nauthor A <a@example.org> %d +0200\n", at
        printf "committer C <c@example.org> %d +0000\ndata 2\nx\n", at + i } }' |
        git -C repository fast-import --quiet
    git -C repository log --format=%at main >dates
    [ "$(wc -l <dates)" -eq 400 ]
    awk '{ day = int(($1 - 1600000000) / 86400); n[day]++ }
        END { for (day = 0; day < 14; day++) if (n[day])
            print 1600000000 + day * 86400 "\t" 1600086400 + day * 86400 "\t" n[day] }' dates >expected
    assert_same dates --range 1600000000:1601209600 --bins 14
    assert_summary dates < <(cat dates)
    awk '$1 >= 1600500000' dates | wc -l >expected
    assert_same dates count --ge 1600500000
    awk 'NR == 1 || $1 <= last { print; last = $1 }' dates >expected
    assert_same dates stalin-sort --descending
}

# bats test_tags=later
@test "du -k" {
    mkdir -p tree/{a,b\ c}/d tree/e
    local i
    for i in {1..60}; do
        head -c $((i * i * 100)) /dev/zero >"tree/$(cut -d ' ' -f $((i % 3 + 1)) <<<'a e a/d')/$i"
    done
    du -ak tree >sizes
    assert_summary sizes -f 1 < <(cut -f 1 sizes)
    cut -f 1 sizes | tabulate >expected
    assert_same sizes -f 1 --bins 100K
    assert_same sizes -d '\t' -f 1 --bins 100K
    cut -f 1 sizes | awk 'NR == 1 || $1 >= last { print; last = $1 }' >expected
    assert_same sizes stalin-sort -f 1
}

@test "od -An -td4 -v, and the bytes that it shows" {
    random_file binary '<i4' -1000 1000 50001
    od -An -td4 -v binary >dump
    assert_summary dump <<<"$(tr -s ' ' '\n' <dump | sed '/^$/d')"
    assert_same binary reduce count,sum,min,max --binary
    tr -s ' ' '\n' <dump | sed '/^$/d' | tabulate >expected
    assert_same dump --range -1000:1000 --bins 2000
    assert_same binary --range -1000:1000 --bins 2000
    od -An -tu1 -v binary | tr -s ' ' '\n' | grep -c '^255$' >expected
    assert_same binary count --eq 255 --binary -t u8
    od -An -tu1 -v binary >bytes
    assert_same bytes count --eq 255
}

# bats test_tags=slow
@test "files of /proc, whose size is 0" {
    local file
    for file in stat meminfo cpuinfo "$$/stat"; do
        if [ ! -r "/proc/$file" ] || [ "$(stat -c %s "/proc/$file")" -ne 0 ]; then
            skip "no /proc/$file"
        fi
    done
    # a constant: the largest value of meminfo is the size of an address space
    awk 'END { print NR - 1 }' /proc/meminfo >expected
    assert_same /proc/meminfo reduce count -f 2 --header
    awk '$2 > n { n = $2 } END { printf "%.0f\n", n }' /proc/meminfo >expected
    assert_same /proc/meminfo reduce max -f 2
    awk 'END { print NR }' /proc/stat >expected
    assert_same /proc/stat count --all -f 2
    echo 1 >expected
    assert_same /proc/stat count --eq "$(awk '$1 == "btime" { print $2 }' /proc/stat)" -f 2
    # this shell, its parent and its group; the rest of its fields by other words
    awk '{ print $1 "\t1" }' "/proc/$$/stat" >expected
    assert_same "/proc/$$/stat" -f 1 --bins 100M
    awk '{ print $4 }' "/proc/$$/stat" >expected
    assert_same "/proc/$$/stat" reduce sum -f 4
    tr ' ' '\n' <"/proc/$$/stat" | grep -cx '[0-9]*' >expected
    assert_same "/proc/$$/stat" reduce count -t u64 --invalid ignore
    awk -F : '$2 ~ /^[ \t]*[0-9]+[ \t]*$/ { print $2 + 0 }' /proc/cpuinfo | tabulate >expected
    assert_same /proc/cpuinfo -d : -f 2 --bins 1M --invalid ignore --outside ignore
    # larger than a block, although its size is 0
    if [ -r /proc/kallsyms ]; then
        od -An -v -w1 -tu1 /proc/kallsyms | awk '{ n[$1 + 0]++ }
            END { for (i = 0; i < 256; i++) if (n[i]) print i "\t" n[i] }' >expected
        assert_same /proc/kallsyms --binary -t u8 --bins 256
    fi
}

# make_table: makes 3000 lines "id,name,amount" with a header row, which end with CR LF.
make_table() {
    awk 'BEGIN { srand(6); printf "id,name,amount\r\n"; for (i = 1; i <= 3000; i++)
        printf "%d,n %d,%s%d\r\n", i, i % 7, i % 5 ? "" : " ", int(2000 * rand()) - 1000 }' >table.csv
}

@test "CSV with CR LF" {
    make_table
    sed '1d; s/\r$//' table.csv | cut -d , -f 3 | tr -d ' ' >amounts
    assert_summary table.csv -d , -f 3 --header <amounts
    assert_summary table.csv -d , -f -1 --header <amounts
    tabulate <amounts >expected
    assert_same table.csv -d , -f 3 --header --range -1000:1000 --bins 2000
    { cat amounts; seq 3000; } | summary >expected
    assert_same table.csv reduce count,sum,min,max -d , --header --invalid ignore
    # a CR LF that a range of the file or a read of a pipe cuts
    for _ in {1..3}; do cat table.csv; done | awk 'NR == 1 || !/^id/' >large.csv
    for _ in {1..3}; do cat amounts; done | summary >expected
    assert_same large.csv reduce count,sum,min,max -d , -f 3 --header --chunk-size 4096
    if command -v datamash >/dev/null; then
        sed 's/\r$//; s/ //g' table.csv | datamash -t , --header-in sum 3 >expected
        assert_same table.csv reduce sum -d , -f 3 --header
    fi
    run --separate-stderr gpuhist reduce sum -d , -f 3 table.csv
    assert_failed 1 "table.csv:1: invalid integer 'amount' (try --header)"
}

# make_logs: makes "combined", and "common" without its last two fields, like a server: invalid
# requests, names with blanks, responses without bytes.
make_logs() {
    awk 'BEGIN { srand(8); for (i = 0; i < 5000; i++) {
        status = i % 50 == 7 ? 500 : i % 10 == 3 ? 404 : i % 4 == 1 ? 304 : 200
        request = i % 97 ? "GET /p" i % 17 "?q=a+b&n=1 HTTP/1.1" : i % 2 ? "-" : "GET /a b c HTTP/1.0"
        printf "2001:db8::%x - %s [10/Oct/2025:13:%02d:%02d -0700] \"%s\" %d %s \"%s\" \"%s\"\n",
            i % 999, i % 3 ? "-" : "alice", int(i / 60) % 60, i % 60, request, status,
            status == 304 ? "-" : int(90000 * rand()), i % 2 ? "-" : "https://example.org/\\\"x\\\"?a b",
            i % 5 ? "Mozilla/5.0 (X11; Linux x86_64; rv:9.0)" : "-" } }' >combined
    sed 's/ "[^"]*\(\\"[^"]*\\"[^"]*\)*" "[^"]*"$//' combined >common
}

# web_oracle FILE FIELD: prints that field of every line in which it is an integer.
web_oracle() {
    awk -v f="$2" '$f ~ /^[+-]?[0-9]+$/ { print $f }' "$1"
}

# bats test_tags=later
@test "web logs, common and combined" {
    make_logs
    local log field
    for log in common combined; do
        for field in 9 10; do
            web_oracle $log $field | tabulate >expected
            [ "$(wc -l <expected)" -gt 3 ]
            assert_same $log -f $field --bins 100K --invalid ignore
            assert_summary $log -f $field --invalid ignore < <(web_oracle $log $field)
        done
        { printf 'eq 404\t%d\n' "$(web_oracle $log 9 | grep -cx 404)"
            printf 'in 500:600\t%d\n' "$(web_oracle $log 9 | grep -cx '5..')"; } >expected
        assert_same $log count --eq 404 --in 500:600 -f 9 --invalid ignore
        # the invalid ones are reported with their lines
        awk '$9 !~ /^[0-9]+$/ && n++ < 10 {
                reason = "invalid integer \047" $9 "\047"
                if (NF < 9)
                    reason = "missing field 9: the line has " NF
                print "gpuhist: '$log':" NR ": " reason }' \
            $log >expected
        gpuhist reduce count -f 9 --invalid warn $log 2>told >/dev/null
        head -n 10 told | cmp expected -
    done
    # the bytes are the last word of a line in the common format
    awk '$NF ~ /^[0-9]+$/ { print $NF }' common | tabulate >expected
    assert_same common -f -1 --bins 100K --invalid ignore
}

# make_columns: makes 100,000 lines in "text", whose second word is the value, and as many int32.
make_columns() {
    awk 'BEGIN { srand(4); for (i = 0; i < 100000; i++) print "w" i, int(1000 * rand()), i % 10 }' >text
    random_file binary '<i4' 0 1000 100003
    cut -d ' ' -f 2 text | tabulate >text.counts
    cut -d ' ' -f 2 text | summary >text.summary
    counts_of d4 binary >binary.counts
    od -An -v -w4 -td4 binary | summary >binary.summary
}

# assert_columns TIMES FILE WHAT: asserts that compressed FILE counts like TIMES "text" or "binary".
assert_columns() {
    local fields=()
    [ "$3" = binary ] || fields=(-f 2)
    awk -v n="$1" '{ print $1 "\t" n * $2 }' "$3.counts" >expected
    assert_same "$2" --bins 1000 "${fields[@]}"
    awk -v n="$1" '/count|sum/ { $2 *= n } { printf "%s\t%.0f\n", $1, $2 }' "$3.summary" >expected
    assert_same "$2" reduce count,sum,min,max "${fields[@]}"
}

# assert_compressed COMMAND...: tests the output of each COMMAND for them, and all outputs concatenated.
assert_compressed() {
    local what command
    make_columns
    for what in text binary; do
        : >all
        for command; do
            $command -q -c $what >one
            ENGINES=cpu assert_columns 1 one $what
            cat one >>all
        done
        assert_columns $# all $what
    done
}

# bats test_tags=slow,plain
@test "zstd: levels, long windows, threads, pzstd, and all of them one behind the other" {
    command -v zstd >/dev/null || skip "no zstd"
    local commands=(-1 -3 -19 --long=27 "-T2 -B100K" "--fast=3 --no-check")
    commands=("${commands[@]/#/zstd }")
    if command -v pzstd >/dev/null; then commands+=("pzstd -p 4" "pzstd -p 2 -19"); fi
    assert_compressed "${commands[@]}"
}

# bats test_tags=slow,plain
@test "gzip: levels, pigz, and all of them one behind the other" {
    reads_gzip || skip "no gzip"
    local commands=("gzip -1" "gzip -6" "gzip -9")
    if command -v pigz >/dev/null; then commands+=("pigz -p 2" "pigz -p 4 -b 128 -i -1"); fi
    assert_compressed "${commands[@]}"
}

@test "logs of many days, some of them compressed, are one stream" {
    make_logs
    local files=(common)
    if command -v zstd >/dev/null; then
        zstd -q -c common >common.zst
        files+=(common.zst)
    fi
    if reads_gzip; then
        gzip -c common >common.gz
        files+=(common.gz)
    fi
    web_oracle common 9 | tabulate | awk -v n=${#files[@]} '{ print $1 "\t" n * $2 }' >expected
    gpuhist -f 9 --bins 1000 --invalid ignore "${files[@]}" | cmp expected -
    gpuhist -f 9 --bins 1000 --invalid ignore - "${files[@]:1}" <common | cmp expected -
    web_oracle common 10 >bytes
    yes bytes | head -n ${#files[@]} | xargs cat | summary >expected
    gpuhist reduce count,sum,min,max -f 10 --invalid ignore "${files[@]}" | cmp expected -
}

# bats test_tags=slow
@test "options, operations and files combined at random, as Python works it out" {
    # shellcheck disable=SC2086
    run -0 "$PYTHON" "$srcdir/tests/combinations.py" "$GPUHIST" $((200 / SHARE)) 1 $ENGINES
}
