#!/usr/bin/env bats
# The command line: help, version, info, operations, files with odd names, statistics.

# bats file_tags=twice

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
}

# options_in_text: prints the long options in standard input, once each, in order.
options_in_text() {
    grep -o -- '--[a-z][a-z0-9-]*' | LC_ALL=C sort -u
}

# operations_of_help: prints the operations that --help lists, in its order.
operations_of_help() {
    gpuhist --help | sed -n '/^Operations:/,/^$/s/^  \([a-z-]*\) .*/\1/p'
}

@test "--help of every operation is of lines of 80 characters and begins with its command line" {
    run -0 operations_of_help
    [ "$output" = $'histogram\nuniq\nreduce\ncount\nstalin-sort\nmerge\ninfo' ]
    for operation in '' $output; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr gpuhist $operation --help
        [ -z "$stderr" ]
        # shellcheck disable=SC2086
        [ "$(gpuhist $operation --help | wc -l)" -le 90 ] # one option per line, except two for --format
        for line in "${lines[@]}"; do [ "${#line}" -le 80 ]; done
        case $operation in
        '') [[ ${lines[0]} == 'Usage: gpuhist [OPERATION] '* ]] ;;
        histogram) [[ ${lines[0]} == 'Usage: gpuhist [histogram] '* ]] ;;
        *) [[ ${lines[0]} == "Usage: gpuhist $operation"* ]] ;;
        esac
        # shellcheck disable=SC2086
        [ "$output" = "$(gpuhist $operation -h)" ]
    done
    [ "$(gpuhist --help | wc -l)" -le 40 ]
    gpuhist --help | grep -A 3 '^Common options:' | grep -q -e '--by COLUMN' # among the first
    [ "$(gpuhist --help | sed -n '/^Common options:/,/^$/p' | grep -vxF -f <(gpuhist histogram --help; gpuhist merge --help))" = \
        $'Common options: (all: gpuhist OPERATION --help)' ]
    [ "$(gpuhist stalin --help)" = "$(gpuhist stalin-sort --help)" ]
    [[ $(gpuhist --help) == *'gpuhist OPERATION --help'* ]]
    [[ $(gpuhist reduce --help) != *Operations:* ]]
}

# same_as EXPECTED ARG...: asserts that both command lines, EXPECTED as one string, read `in` and print the same.
same_as() {
    local words=$1
    shift
    # shellcheck disable=SC2086
    gpuhist $words in >expected 2>&1 || true
    gpuhist "$@" in >found 2>&1 || true
    [ -s expected ]
    cmp expected found
}

@test "options that are given twice: lists go on, conditions are added, of others the last one counts" {
    seq 1 40 | awk '{ print $1 % 7, $1 % 5, $1, "x" $1 % 3 }' >in
    # lists
    same_as "reduce sum,p50 -f 1,2,3" reduce sum,p50 -f 1 -f 2,3
    same_as "reduce sum,p50 -f 1,2,3" reduce sum,p50 --field 1 --field=2 -f3
    same_as "uniq -f 3 --by 1,2" uniq -f 3 --by 1 --by 2
    same_as "uniq -f 3 --by 4:text,1,2" uniq --by 4:text,1 -f 3 --by 2
    same_as "uniq -f 1 --quantiles 50,1,99.9" uniq -f 1 --quantiles 50 --quantiles 1,99.9
    same_as "-f 3 --edges 0,10,20,99" -f 3 --edges 0,10 --edges 20,99
    same_as "uniq -f 1 --gpus 0,1 --engine cpu" uniq -f 1 --gpus 0 --gpus 1 --engine cpu
    printf '0\n10\n' >edges
    run --separate-stderr gpuhist -f 3 --edges 0,10 --edges @edges in
    assert_failed 2 "--edges @FILE must be the only --edges"
    run --separate-stderr gpuhist -f 3 --edges @edges --edges 20 in
    assert_failed 2 "--edges @FILE must be the only --edges"
    run --separate-stderr gpuhist -f 3 --gpus 0,1 --gpus 1 in
    assert_failed 2 "invalid --gpus '1'"
    # conditions and predicates
    awk '$1 > 2 && $2 != 1 && $2 != 3 { print $3 }' in | sort -n | uniq -c | awk '{ print $2 "\t" $1 }' >found
    gpuhist uniq -f 3 --where '1>2' --where '2!=1' --where '2!=3' in | cmp found -
    [ "$(gpuhist count -f 3 --ge 10 --ge 30 --eq 5 --eq 5 in)" = $'ge 10\t31\nge 30\t11\neq 5\t1\neq 5\t1' ]
    # only one column
    run --separate-stderr gpuhist uniq -f 1 -f 2 in
    assert_failed 2 "uniq supports one column of values"
    run --separate-stderr gpuhist -f 1 -f 2 in
    assert_failed 2 "histogram supports one column of values"
    run --separate-stderr gpuhist uniq -f 1 --weight 2 --weight 3 in
    assert_failed 2 "--weight accepts at most 1 column"
    # all others: the last one
    same_as "-f 3 --bins 20 --range 0:40" -f 3 --bins 10 --range 5:6 --bins 20 --range 0:40
    same_as "-f 3 --width 5" -f 3 --width 7 --width 5
    same_as "uniq -f 1 --top 2 --sort bin" uniq -f 1 --top 5 --sort count --top 2 --sort bin
    same_as "uniq -f 1 --format json" uniq -f 1 --format csv --format json
    same_as "uniq -f 1 --min-count 6" uniq -f 1 --min-count 1 --min-count 6
    same_as "uniq -f 4:hex -d x" uniq -f 4:hex -d , -d x
    same_as "uniq -t u8 -f 1 --invalid ignore --header=3" uniq -t i64 -t u8 -f 1 --invalid fail --invalid ignore \
        --header=1 --header=3
    same_as "uniq -f 1 --comment 3" uniq -f 1 --comment '#' --comment 3
    gpuhist uniq -f 1 -o first -o second in
    [ ! -e first ] && gpuhist uniq -f 1 in | cmp second -
}

@test "--help says what the input is by default, what --weight adds up, and where --save goes" {
    cd "$BATS_TEST_TMPDIR"
    gpuhist histogram --help >help
    for line in \
        '  -t, --type TYPE         read i8-i64, u8-u64, f16-f64, bf16; u16be: big-endian' \
        '      --binary            read binary input (i32 unless -t is given)' \
        '      --text              read text (default: detected)' \
        '  -f, --field COLUMN      use column N (-1: last) or NAME (default: all numbers)' \
        '      --weight COLUMN     sum this column instead of counting' \
        '      --save FILE         also save a state for merge (-: print it instead)'; do
        grep -qxF -e "$line" help
    done
    # the kinds and conditions that it names are accepted
    printf '1a 4 5 2026-11-21T13:00:00Z 10.0.0.7\n' >in
    kinds=$(gpuhist --help | sed -n 's/^Column types: //p')
    [ "$(wc -w <<<"$kinds")" -eq 14 ]
    for kind in ${kinds//.N/.2}; do
        case $kind in *time) field=4 ;; ip) field=5 ;; hex | text) field=1 ;; *) field=2 ;; esac
        gpuhist uniq -f "$field:$kind" in
    done
    gpuhist uniq --help | sed -n 's/^CONDITION: "\(.*\)"$/\1/p' | sed 's/", "/\n/g' >conditions
    [ "$(wc -l <conditions)" -eq 3 ]
    while read -r condition; do
        printf 'status a b 4\n200 a b 2026-11-21T13:00:01Z\n' >rows
        [[ $condition != 1:* ]] || printf '10.1.2.3\n' >rows
        [[ $condition != 4:* ]] || sed -i 1d rows
        [ "$(gpuhist count --all --where "$condition" rows)" = 1 ]
    done <conditions
    run -0 gpuhist merge --help
    [[ $output != *COLUMN:* ]]
    [ "${lines[2]}" = "A state stores only one output option: whether percentiles are interpolated." ]
    [ "${lines[3]}" = "Give merge the others, such as --top 10, if the operation that made the states" ]
    run -0 gpuhist reduce --help
    [[ $output == *"svar, sstdev (of a sample, not a population), distinct, mode, q1, q3, iqr,"* ]]
    [[ $output == *"      --by COLUMN         group by column N or NAME: one result per group"* ]]
}

# bats test_tags=plain
@test "--help describes --top, --sort and others as the operation has them" {
    while IFS='|' read -r operations option text; do
        for operation in $operations; do
            run -0 gpuhist "$operation" --help
            [ "$(sed -n "s/^\(  -.,\|     \) --$option\( [A-Z]*\)\?   *//p" <<<"$output")" = "$text" ]
        done
    done <<END
histogram uniq|top|print the K highest counts (with --by: of each group)
reduce count|top|print the first K groups (requires --by and --sort)
merge|top|print K highest counts (reduce, count: first K groups)
histogram uniq merge|min-count|print only lines with a count of at least N
reduce count|min-count|print only groups with at least N values or rows
histogram uniq|sort|sort by bin (value) or count
reduce|sort|sort groups by a result: count, p99, ...
count|sort|sort groups by a result: count, "ge 500", ...
merge|sort|sort by bin or count (reduce, count: by a result)
histogram|zeros|also print empty bins
uniq|zeros|also print the values in between, with count 0
histogram merge|quiet|print no notes and no report of out-of-range values
uniq reduce count stalin-sort|quiet|print no notes
END
    run -0 gpuhist --help
    [[ $output == *"--top K             print K highest counts (reduce, count: first K groups)"* ]]
    # merge has no columns, so no ibytes, and no unusable engine.
    run -0 gpuhist merge --help
    [[ $output != *ibytes* && $output != *engine* ]]
}

# bats test_tags=plain
@test "--help of an operation has the options that it takes, and no other" {
    for operation in $(operations_of_help); do
        gpuhist "$operation" --help | options_in_text >"$operation.options"
    done
    LC_ALL=C sort -u ./*.options >all
    [ "$(wc -l <all)" -ge 45 ]
    for operation in histogram reduce count stalin-sort merge info; do
        while read -r option; do
            # an option that it does not support is rejected before its value is checked
            told=$(gpuhist "$operation" "$option"=0 2>&1 >out </dev/null) || true
            [[ $told != *"takes no value"* ]] ||
                told=$(gpuhist "$operation" "$option" 2>&1 >out </dev/null) || true
            [[ $told == *"$option cannot be used with $operation"[\ ,]* ]] || echo "$option"
        done <all >taken
        diff "$operation.options" taken
    done
}

@test "--help begins with three examples, which work" {
    gpuhist --help | sed '1,/^Examples:$/d; /^Operations:/,$d; /^$/d; s/^  //; s/   *[^ ].*//' >examples
    [ "$(wc -l <examples)" -eq 3 ]
    seq 40 | awk '{ print $1 % 10 ? 10 : $1 }' >ids.txt
    printf 'h - - [t z] "GET / HTTP/1.1" %d 5\n' 200 404 200 >access.log
    ! reads_gzip || gzip -k access.log
    printf 'id,ms\n1,30\n2,10\n3,20\n' >x.csv
    run -0 eval "$(sed -n 1p examples)"
    [ "$output" = $'10\t37\n20\t1\n30\t1\n40\t1' ]
    run -0 eval "$(sed -n '2s/\*.gz//p' examples)"
    [ "$output" = $'200\t2\n404\t1' ]
    ! reads_gzip || [ "$output" = "$(eval "$(sed -n 2p examples)")" ]
    run -0 eval "$(sed -n 3p examples)"
    [ "$output" = $'p50\t20\np99\t30' ]
}

@test "--help of each operation has examples, which work" {
    printf '7\n3\n7\n12\n' | tee ids.txt times.txt >monday.txt
    printf '1\n' | gpuhist uniq --save tuesday.state -o /dev/null
    printf '\7\0\0\0' >ids.bin
    for end in '200 30' '200 2000000' '500 700'; do
        echo "h - - [21/Nov/2026:13:45:02 +0000] \"GET / HTTP/1.1\" $end"
    done | tee access.log >x.log
    printf 'ms,bytes\n1.25,10\n3,20\n' >x.csv
    printf '{"ms":3}\n{"ms":null}\n' >x.jsonl
    for operation in $(operations_of_help); do
        gpuhist "$operation" --help | sed '1,/^Examples:$/d; /^$/,$d; s/^  //; s/   *[^ ].*//' >examples
        [ -s examples ]
        while read -r example; do
            [[ $example == "gpuhist "* ]]
            [ "$operation" != info ] || example=${example% |*}
            run -0 --separate-stderr eval "$example"
            [[ $example == *' -o '* ]] || [ -n "$output" ]
        done <examples
    done
    [ "$(cat late.txt)" = 3 ]
}

# bats test_tags=plain
@test "help of an operation that is named after --help, and its formats" {
    cd "$BATS_TEST_TMPDIR"
    for operation in uniq reduce count stalin-sort merge info histogram; do
        gpuhist "$operation" --help >expected
        for words in "--help $operation" "-h $operation" "help $operation" "$operation --help uniq"; do
            # shellcheck disable=SC2086
            gpuhist $words | cmp expected -
        done
        case $operation in
            reduce | count) grep -q 'tsv, csv, json, jsonl, markdown, html$' expected ;;
            uniq | histogram) grep -q '^ *also raw, npy, gnuplot, svg$' expected ;;
            merge) grep -q '^ *histogram, uniq: also raw, npy, gnuplot, svg$' expected ;;
        esac
        [ "$(grep -c svg expected)" = "$([[ $operation =~ ^(uniq|merge|histogram)$ ]] && echo 1 || echo 0)" ]
    done
    gpuhist --help in | cmp - <(gpuhist --help)
    echo 7 >help
    run -1 --separate-stderr gpuhist help uniq # a file
    [[ $stderr == *uniq:*"No such file"* ]]
}

@test "--help comes before errors, but not before those in front of it" {
    run -0 --separate-stderr gpuhist count --help --frob /nonexistent
    [[ ${lines[0]} == "Usage: gpuhist count "* ]] && [ -z "$stderr" ]
    run --separate-stderr gpuhist count --bins 5 --help
    assert_failed 2 "--bins cannot be used with count"
    run --separate-stderr gpuhist info --bins 5
    assert_failed 2 "--bins cannot be used with info"
}

@test "--version and -V" {
    run -0 --separate-stderr gpuhist --version
    [[ $output =~ ^gpuhist\ [0-9]+\.[0-9]+\.[0-9]+$ ]] && [ -z "$stderr" ]
    [ "$output" = "$(gpuhist -V)" ]
}

@test "info: the version, and each engine with what it found or why it cannot run" {
    run -0 --separate-stderr gpuhist info
    [ -z "$stderr" ]
    [ "${lines[0]}" = "$(gpuhist --version)" ]
    [[ ${lines[1]} =~ ^cuda:\ (yes|no):\ . ]]
    grep -qE '^cpu: yes: [0-9]+ CPU' <<<"$output" # after a line for each GPU
}

@test "info: its table of what a GPU runs is what --engine cuda does and refuses" {
    # shellcheck disable=SC2094  # the first "info" is the operation
    gpuhist info >info
    if grep -q '^cuda: no: not in this build' info; then
        run -1 grep 'what runs where' info
        return
    fi
    printf '0,"2"\n' >in
    while IFS='|' read -r row options; do
        [ "$row" = "${before:-}" ] || echo "$row" >>rows
        before=$row
        support=$(sed -n "s|^$row  *yes  *||p" info)
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist $options --engine cuda in
        case $support in
            no) assert_failed 3 "engine cuda does not support $row" ;;
            yes | "parsed on the CPU") [ "$status" -eq 0 ] || assert_failed 3 "engine cuda cannot run: " ;;
            *) return 1 ;;
        esac
        # shellcheck disable=SC2086
        GPUHIST_ISA=plain run -0 --separate-stderr gpuhist $options --engine auto --verbose in
        [[ $stderr == *"engine cuda is not used: it does not support $row"* ]] && found=no
        [[ $stderr == *"engine cuda is not used: its threads would parse $row on the CPU"* ]] &&
            found="parsed on the CPU"
        [ "${found:-yes}" = "$support" ]
        found=yes
    done <<END
histogram, uniq, count, stalin-sort|stalin-sort -d , -f 1
reduce, also median, p99, distinct, mode|reduce sum,median -d , -f 1
binary input, --record|count --all --record 3 -t u8
text, -f N or NAME, -d, .N, hex|uniq -d , -f 1:hex
timestamps (-f N:time, N:localtime)|uniq -d , -f 1:localtime
IPv4 addresses (-f N:ip)|uniq -d , -f 1
widths of columns (-f N:int/100)|uniq -d , -f 1:int/100
--weight|uniq -d , -f 1 --weight 1
--csv without quotes|uniq -d , -f 1
--csv with quotes|uniq --csv -f 2
other IP addresses|uniq -d , -f 1:ip --invalid ignore
durations and sizes (-f N:ms, N:bytes)|uniq -d , -f 1:ms
durations and sizes (-f N:ms, N:bytes)|uniq -d , -f 1 --weight 1:ms
floats (-t f32)|uniq --record 3 -f f16@1:round.1 --invalid ignore
rounded numbers (-f N:round.6)|uniq -d , -f 1 --weight 1:round.6
rounded numbers (-f N:round.6)|uniq -d , -f 1:round.6
--time-format|uniq -d , -f 1:time --time-format %s
--tz|uniq -d , -f 1:time --tz UTC
widths of weights in records|uniq --record 3 -t u8 --weight u8@1:int/2
-f 0|uniq -f 0:int --invalid ignore
--missing skip|uniq -d , -f 1 --missing skip
--where|uniq -d , -f 1 --where 1=7
--by|uniq -d , -f 1 --by 1
--window|uniq -d , -f 1 --every 1h --window 2h
several columns of values|reduce sum -d , -f 1,1
--jsonl, --logfmt, --clf|uniq --jsonl -f x --invalid ignore
strings (-f N:text)|uniq -d , -f 1:text
two columns joined (-f A+B:time)|uniq -d , -f 1+2:time --invalid ignore
END
    sed '1,/what runs where/d; s/  *yes  .*//' info | diff rows -
}

@test "--quantiles is another name of --percentiles, also for states" {
    cd "$BATS_TEST_TMPDIR"
    seq 9 >in
    for form in "--quantiles 50,99" "--quantiles=50,99" "--percentiles 50 --quantiles 99" "--quant 50,99" "--percentile 50,99"; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr gpuhist $form --save state in
        [ "$output" = $'50\t5\n99\t9' ] && [ -z "$stderr" ]
        cp state "state.${form%%[ =]*}"
    done
    cmp state.--quantiles state.--percentiles
    run -0 gpuhist merge --quantiles 50 state.--quantiles state.--percentiles
    [ "$output" = $'50\t5' ]
    [ "$output" = "$(gpuhist merge --percentiles 50 state.--percentiles state.--quantiles)" ]
    run -1 grep -e --quantiles < <(gpuhist histogram --help)
}

@test "every option of --help stands in the manual, and no other" {
    for operation in $(operations_of_help); do
        gpuhist "$operation" --help
    done | options_in_text >help
    sed 's/\\-/-/g; s/\\f[A-Z]//g' "$(document man/gpuhist.1)" | sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' |
        grep '^\.B' | options_in_text >manual
    grep -qx -e --log2 help
    diff help manual
}

@test "options may follow files, -- ends them, ./ hides an operation's name" {
    cd "$BATS_TEST_TMPDIR"
    int32 1 >-odd
    int32 2 >histogram
    int32 3 >info
    run -0 gpuhist histogram --bins 5
    run -0 gpuhist ./histogram info --bins 5
    [ "$output" = $'2\t1\n3\t1' ]
    run -0 gpuhist --bins 5 -- -odd histogram
    [ "$output" = $'1\t1\n2\t1' ]
}

@test "--stats prints elements, bytes and the engine, on stderr" {
    random_file "$BATS_TEST_TMPDIR/in" '<i2' 0 100 100000
    for engine in $ENGINES; do
        run -0 --separate-stderr gpuhist -t i16 --bins 100 --stats --engine "$engine" \
            "$BATS_TEST_TMPDIR/in"
        # shellcheck disable=SC2154
        [[ ${stderr_lines[0]} == "gpuhist: 100000 elements, 200000 bytes in "*" GB/s" ]]
        [[ ${stderr_lines[1]} == "gpuhist: $engine: "*" worker"* ]]
        [[ ${stderr_lines[2]} == "gpuhist: $engine: "*"limit: "* ]]
        [[ $engine != cpu || $stderr != *device* ]]
        after='after the end of the input: [0-9.]+ s: counting [0-9.]+ s, merging [0-9.]+ s, finalizing [0-9.]+ s'
        [[ ${stderr_lines[3]} =~ ^"gpuhist: "$after$ ]]
        [ "${#stderr_lines[@]}" -eq 4 ]
    done
}

@test "--stats counts all bytes of text, with those of headers and long lines" {
    cd "$BATS_TEST_TMPDIR"
    { printf '%70000s\n' title; seq 100000; } >header
    { echo 1; head -c 5M /dev/zero | tr '\0' 0; printf '\n2\n'; } >zeros
    { echo 1 2; seq -s ' ' 300000; } >words
    for engine in $ENGINES; do
        for in in "header --header" "header --header=200000" "zeros -t u8" "words -f 2"; do
            # shellcheck disable=SC2086
            for chunk in 4K 64K; do
                run -0 --separate-stderr gpuhist reduce count --text --stats --chunk-size $chunk --engine "$engine" $in
                [[ ${stderr_lines[0]} == *" elements, $(wc -c <"${in%% *}") bytes in "* ]]
                run -0 --separate-stderr gpuhist reduce count --text --stats --chunk-size $chunk --engine "$engine" \
                    ${in#* } < <(cat ${in%% *})
                [[ ${stderr_lines[0]} == *" elements, $(wc -c <"${in%% *}") bytes in "* ]]
            done
        done
    done
}

# bats test_tags=slow
@test "it does not depend on the locale" {
    int32 1 1 >in
    use_comma_locale
    run -0 gpuhist --bins 1.5K "$BATS_TEST_TMPDIR/in"
    [ "$output" = $'1\t2' ]
    run -0 --separate-stderr gpuhist reduce mean --stats < <(int32 1 2)
    [ "$output" = 1.5 ] && [[ $stderr == *" in 0."* ]]
}

@test "it links no CUDA library" {
    command -v ldd >/dev/null || skip "no ldd"
    skip_under_emulator "ldd reads programs of this machine"
    run ldd "$GPUHIST"
    [ "$status" -eq 0 ] || [[ $output == *"not a dynamic executable"* ]]
    [[ $output != *cuda* ]]
}

@test "the tests have no terminal of their caller: not as standard input, not its size, not /dev/tty" {
    [ ! -t 0 ]
    run ! printenv COLUMNS
    run ! printenv LINES
    command -v python3 >/dev/null || skip "no python3, which leaves /dev/tty"
    run ! bash -c ': </dev/tty'
}
