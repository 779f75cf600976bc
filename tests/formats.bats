#!/usr/bin/env bats
# Output of histograms: selection, columns, percentiles, formats, plots.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
}

check_formats() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    run -0 timeout 300 "$PYTHON" "$srcdir/tests/formats.py" "$GPUHIST" "$1"
    [ -z "$output" ]
}

# bats test_tags=slow
@test "tsv, csv and json of every selection, order and column" { check_formats tables; }

@test "values outside the bins in columns and quantiles" { check_formats outside; }

@test "quantiles are of the nearest rank, in every format" { check_formats quantiles; }

@test "quantiles are those of numpy" { check_formats numpy_quantiles; }

# bats test_tags=slow,plain
@test "many bins: the same rows whatever the number of threads" { check_formats parts; }

# bats test_tags=later
@test "plots: counts, bars, width, groups, gaps" { check_formats plots; }

# bats test_tags=later
@test "plots: runs of empty bins share a line" { check_formats gaps; }

@test "plots on a pipe are as wide as the terminal of the pager" { check_formats pagers; }

@test "plots by count, of the top, with columns and quantiles" { check_formats sorted_plots; }

@test "plots at a terminal: by default, width, colour" { check_formats terminals; }

@test "plots at a terminal: what cannot be drawn is tsv" { check_formats fallbacks; }

@test "plots: titles, labels and logarithmic counts" { check_formats labels; }

# bats test_tags=later
@test "plots are as high as the terminal, and groups begin at round values" { check_formats heights; }

# statuses: 200 of 9 in 10 requests, and three others.
statuses() { seq 0 999 | awk '{ print $1 % 10 ? 200 : $1 % 50 ? 304 : $1 % 100 ? 404 : 500 }'; }

@test "statuses are plotted as values, in bins with one line for many empty ones" {
    # shellcheck disable=SC2030
    export LC_ALL=C COLUMNS=30 LINES=68
    run -0 --separate-stderr gpuhist --plot < <(statuses)
    [ "$output" = "200  900  ####################
304   80  ##
404   10  #
500   10  #" ]
    [ -z "$stderr" ]
    run -0 gpuhist --bins 600 --plot < <(statuses)
    [ "$output" = "200  900  ####################
...  103 empty bins
304   80  ##
...  99 empty bins
404   10  #
...  95 empty bins
500   10  #" ]
    [ "$(statuses | gpuhist uniq --plot)" = "$(statuses | gpuhist --plot)" ]
    [ "$(statuses | gpuhist --plot --sort count --percent)" = "200  900  90.0000%  ##########
304   80   8.0000%  #
404   10   1.0000%  #
500   10   1.0000%  #" ]
    # tsv, empty bins, and adjacent values keep the automatic bins.
    [ "$(statuses | gpuhist | cut -f 1,2)" = $'200\t205\n300\t305\n400\t405\n500\t505' ]
    [ "$(statuses | gpuhist --plot --zeros | grep -c '^...\.\....  *0$')" -eq 57 ]
    [ "$(seq 1 3 100 | gpuhist --plot | head -n 2)" = "    0..2  1  #################
    2..4  0" ]
    [ "$(printf '%s\n' 100 599 350 | gpuhist --plot | grep -c '\.\.')" -eq 0 ]
    [ "$(printf '%s\n' 100 600 350 | gpuhist --plot | grep -c '[0-9]\.\.[0-9]')" -eq 3 ]
    statuses | head -n 300 | gpuhist --save a >/dev/null
    statuses | tail -n +301 | gpuhist --save b >/dev/null
    [ "$(gpuhist merge --plot a b)" = "$(statuses | gpuhist --plot)" ]
    [ "$(statuses | gpuhist --format svg)" = "$(statuses | gpuhist uniq --format svg)" ]
}

@test "a note if nearly all values are in one automatic bin of a plot" {
    # shellcheck disable=SC2031
    export LC_ALL=C COLUMNS=40 LINES=68
    skewed() { seq 1 1000; echo 639999; }
    note="gpuhist: note: 99% of the values are in one bin (try --log2 or --range 0:10000)"
    run -0 --separate-stderr gpuhist --plot < <(skewed)
    [ "$stderr" = "$note" ]
    [ "$output" = "      0..10000  1000  ##################
           ...  62 empty bins
630000..640000     1  #" ]
    run -0 --separate-stderr gpuhist --format svg < <(skewed)
    [ "$stderr" = "$note" ]
    run -0 --separate-stderr gpuhist --plot --decimals 2 < <(skewed)
    [[ $stderr == *"(try --log2 or --range 0.00:10000.00)" ]]
    for quiet in --log2 "--range 0:1M" "--format tsv" "--plot -q" "--plot --save -" "uniq --plot"; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr gpuhist $quiet < <(skewed)
        [ -z "$stderr" ]
    done
    # 89%, and values in bins of their own
    run -0 --separate-stderr gpuhist --plot < <(seq 1 89; seq 100000 100010)
    [ -z "$stderr" ]
    run -0 --separate-stderr gpuhist --plot < <(seq 1 99 | sed 's/.*/5/'; echo 6)
    [ -z "$stderr" ]
    skewed | gpuhist --save state >/dev/null
    run -0 --separate-stderr gpuhist merge --plot state
    [ -z "$stderr" ]
}

# bats test_tags=slow
@test "--top and --sort of many bins, as sort does" {
    random_file in '<i4' 0 300000 400000
    counts_of d4 in >all
    gpuhist --bins 300K in | cmp all -
    sort -k2,2nr -k1,1n all >by_count
    gpuhist --bins 300K --sort count in | cmp by_count -
    for k in 1 2 1000 100000 300000; do
        gpuhist --bins 300K --top $k in | cmp <(head -n $k by_count) -
        gpuhist --bins 300K --top $k --sort bin in | cmp <(head -n $k by_count | sort -n) -
    done
    # Counts of several bytes: a million zeros, 70,000 ones, 300 twos.
    numpy 'np.repeat(np.arange(6, dtype="<i4"), [70000, 300, 1000000, 300, 2, 65536]).tofile(sys.argv[1])' in
    run -0 gpuhist --bins 6 --sort count in
    [ "$output" = $'2\t1000000\n0\t70000\n5\t65536\n1\t300\n3\t300\n4\t2' ]
}

@test "json and csv as jq and awk read them" {
    command -v jq >/dev/null || skip "no jq"
    random_file in '<i4' -100 1100 50000
    gpuhist --range 0:1000 --bins 7 -q in >tsv
    gpuhist --range 0:1000 --bins 7 -q --format json in |
        jq -r '.bins[] | [.low, .high, .count] | @tsv' | cmp tsv -
    gpuhist --range 0:1000 --bins 7 -q --format json in |
        jq -e '(.bins | map(.count) | add) == .inside and .inside + .below + .above == .total and
            .total == 50000' >/dev/null
    gpuhist --range 0:1000 --bins 7 -q --format csv in | tail -n +2 | tr , '\t' | cmp tsv -
    run -0 gpuhist --bins 5 --format json </dev/null
    [ "$(jq -c . <<<"$output")" = \
        '{"operation":"histogram","total":0,"inside":0,"below":0,"above":0,"bins":[]}' ]
}

@test "the ends of 64 bits in every text format" {
    echo 18446744073709551615 18446744073709551615 0 >in
    range=(-t u64 --range 18446744073709551614:18446744073709551616 --bins 2)
    run -0 --separate-stderr gpuhist "${range[@]}" --format csv in
    [ "$output" = $'value,count\n18446744073709551615,2' ]
    run -0 --separate-stderr gpuhist "${range[@]}" --format json --quantiles 100,40 in
    [[ $output == *'"bins":['$'\n''{"value":18446744073709551615,"count":2}]'* ]]
    [[ $output == *'{"percent":100,"value":18446744073709551615},'* ]]
    [[ $output == *'{"percent":40,"value":18446744073709551615}]}' ]]
    run -0 --separate-stderr env LC_ALL=C COLUMNS=50 "$GPUHIST" "${range[@]}" --plot in
    [ "$output" = "18446744073709551615  2  $(printf '#%.0s' {1..25})" ]
    echo -9223372036854775808 >in
    run -0 gpuhist --range -9223372036854775808:9223372036854775808 --bins 1 --sort count in
    [ "$output" = $'-9223372036854775808\t9223372036854775808\t1' ]
}

# bats test_tags=slow,plain
@test "gnuplot draws the script" {
    command -v gnuplot >/dev/null || skip "no gnuplot"
    # coloured SCRIPT: prints the number of pixels of its image that are not grey, black or white.
    coloured() {
        gnuplot -e 'set terminal pbm color; set output "picture"' "$1" 2>errors
        [ ! -s errors ]
        numpy 'data = open(sys.argv[1], "rb").read()
magic, width, height = data.split(None, 3)[:3]
assert magic == b"P6", magic
pixels = np.frombuffer(data[-3 * int(width) * int(height):], np.uint8).reshape(-1, 3)
print((pixels.max(1) != pixels.min(1)).sum())' picture
    }
    random_file in '<i4' 0 1000 5000
    gpuhist --bins 1000 --format gnuplot in >unit
    gpuhist --bins 10 --range 0:1000 --format gnuplot in >range
    gpuhist --bins 10 --range 0:1000 --format gnuplot --top 1 in >top
    gpuhist --bins 1000 --format gnuplot --min-count 9 --other in >other
    grep -Eqx 'set label "other: [0-9]{4}" at graph 0.98, graph 0.95 right' other
    gpuhist --log2 --format gnuplot in >powers
    gpuhist --bins 10 --format gnuplot </dev/null >empty
    gpuhist --bins 10 --format gnuplot --zeros </dev/null >zeros
    gpuhist --bins 10 --range 0:1000 --format gnuplot --percent --log-count in >logarithmic
    grep -Fqx 'set logscale y' logarithmic
    gpuhist --bins 10 --format gnuplot --title "it's \`touch x\` @a_b "$'\e\n' --label '$x ^2 "' in >texts
    grep -Fqx "set title 'it''s \`touch x\` @a_b ??' noenhanced" texts
    grep -Fqx "set xlabel '\$x ^2 \"' noenhanced" texts
    [ "$(coloured logarithmic)" -gt 10000 ]
    [ "$(coloured texts)" -gt 10000 ]
    [ ! -e x ]
    gnuplot -e 'set terminal svg; set output "picture"' texts
    grep -Fq "it's \`touch x\` @a_b ??" picture
    grep -Fq '$x ^2 "' picture
    [ "$(coloured unit)" -gt 10000 ]
    [ "$(coloured range)" -gt 10000 ]
    [ "$(coloured top)" -gt 1000 ]
    [ "$(coloured other)" -gt 1000 ]
    [ "$(coloured powers)" -gt 10000 ]
    [ "$(coloured empty)" -eq 0 ]
    coloured zeros >/dev/null
    gnuplot -e 'set terminal png; set output "picture"' range
    [ "$(head -c 8 picture | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
    [ "$(grep -c 'terminal\|output' range)" -eq 0 ]
}

# bats test_tags=slow
@test "each report of --every has its time where there is room for it" {
    printf '1 5\n2 5\n' >in
    slowly() { head -n 1 in; sleep 0.08; tail -n 1 in; }
    local time='20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9][.][0-9]{3}Z'
    for job in "uniq -f 1" "uniq -f 1 --by 2" "--quantiles 50 -f 1" "reduce sum -f 1,2" "reduce sum -f 1,2 --by 2" \
        "count --all -f 1"; do
        for printing in "--format jsonl" "--format json" --header-out; do
            # shellcheck disable=SC2086 # several words
            slowly | timeout 60 "$GPUHIST" $job --every 40ms $printing >"out${printing##* }" 3>&- &
        done
        wait
        # shellcheck disable=SC2086
        gpuhist $job --format jsonl in >last
        [ "$(grep -c '"' outjsonl)" = "$(grep -cE "^\\{\"reported\":\"$time\",\"" outjsonl)" ]
        tail -n "$(wc -l <last)" outjsonl | sed -E "s/^\\{\"reported\":\"$time\",/{/" | cmp - last
        [ "$(grep -c '"operation"' outjson)" = \
            "$(grep -cE "^\\{\"reported\":\"$time\",\"operation\":\"[a-z]+\"," outjson)" ]
        [ "$(grep -cE "^# $time\$" out--header-out)" = "$(($(grep -c '^$' out--header-out) + 1))" ]
    done
    gpuhist uniq -f 1 --every 40ms --header-out --format csv in | cmp - <(printf 'value,count\n1,1\n2,1\n')
    # the name of a column differs from that of the timestamp
    [ "$(printf 'reported v\n7 1\n' | gpuhist reduce sum -f v --by reported --format jsonl)" = '{"by_reported":7,"sum":1}' ]
}

# bats test_tags=slow
@test "--every in every format" {
    command -v jq >/dev/null || skip "no jq"
    slowly() { for n in 1 2 3; do echo $n; sleep 0.15; done; }
    slowly | gpuhist --text --bins 5 --every 20ms --format json >out
    jq -s -e 'length >= 2 and .[-1].total == 3 and all(.[]; .total == (.bins | length))' out >/dev/null
    for arguments in "--format csv" "--format gnuplot" "--format svg" --plot "--quantiles 50"; do
        read -ra format <<<"$arguments"
        slowly | timeout 60 "$GPUHIST" --text --bins 5 --every 20ms "${format[@]}" >out
        printf '1\n2\n3\n' | gpuhist --text --bins 5 "${format[@]}" >last
        tail -n "$(wc -l <last)" out | cmp last -
        [ "$(grep -c '^$' out)" -ge 1 ]
    done
}

# bats test_tags=plain
@test "a note if the name of the output is of another format, and none was given" {
    cd "$BATS_TEST_TMPDIR"
    echo 7 >in
    for name in x.svg ./x.y.svg; do
        run -0 --separate-stderr gpuhist uniq -o $name in
        [ "$stderr" = "gpuhist: note: $name is written as tsv (try --format svg)" ]
        [ "$(cat $name)" = $'7\t1' ]
    done
    for case in x.png:svg ./a.b.PDF:svg x.md:markdown x.htm:html x.jpeg:svg; do
        name=${case%:*} wanted=${case#*:}
        run -0 --separate-stderr gpuhist uniq -o "$name" in
        [ "$stderr" = "gpuhist: note: $name is written as tsv (try --format $wanted -o ${name%.*}.$wanted)" ]
    done
    run -0 --separate-stderr gpuhist reduce sum -o x.png in
    [ -z "$stderr" ]
    run -0 --separate-stderr gpuhist reduce sum,count -o x.json in
    [ "$stderr" = "gpuhist: note: x.json is written as tsv (try --format json)" ]
    run -0 --separate-stderr gpuhist --width 1 -o x.csv in
    [ "$stderr" = "gpuhist: note: x.csv is written as tsv (try --format csv)" ]
    for rules in "uniq -q -o x.svg" "uniq -o x.svg --format svg" "uniq -o x.csv --format tsv" "uniq -o x.tsv" \
        "uniq -o svg" "uniq -o x.svgz" "uniq -o x." "uniq -o x.svg/../x" "uniq --plot -o x.csv" "count --all -o x.svg" \
        "stalin-sort -o x.csv"; do
        rm -rf x.svg && if [[ $rules == *..* ]]; then mkdir x.svg; fi
        # shellcheck disable=SC2086
        run -0 --separate-stderr gpuhist $rules in
        [ -z "$stderr" ] || { echo "$rules: $stderr"; return 1; }
    done
}

@test "--quantiles takes the names that reduce has for them" {
    local expected
    expected=$(seq 1000 | gpuhist --quantiles 50,99.9)
    [ "$expected" = $'50\t500\n99.9\t999' ]
    [ "$(seq 1000 | gpuhist --quantiles p50,p99.9)" = "$expected" ]
    [ "$(seq 1000 | gpuhist --quantiles 'p50, 99.9')" = "$expected" ]
    run -2 gpuhist --quantiles p,50 </dev/null
    run -2 gpuhist --quantiles q50 </dev/null
}

@test "fractions as --quantiles get a note" {
    cd "$BATS_TEST_TMPDIR"
    local note="gpuhist: note: --percentiles are percentages:"
    seq 1000 >in
    run --separate-stderr -0 gpuhist --quantiles 0.5,0.99 in
    [ "$output" = $'0.5\t5\n0.99\t10' ]
    [ "$stderr" = "$note 0.5 is less than 1% (try 50)" ]
    run --separate-stderr -0 gpuhist reduce p0.99,sum,p1 in
    [ "$stderr" = "gpuhist: note: percentiles are percentages: p0.99 is less than 1% (try p99)" ]
    for list in p0.99,p5 p0,p0.5 median,sum p1; do
        run --separate-stderr -0 gpuhist reduce "$list" in
        [ -z "$stderr" ]
    done
    run --separate-stderr -0 gpuhist reduce p0.99 -q in
    [ -z "$stderr" ]
    run --separate-stderr -0 gpuhist uniq --save state --quantiles 1,0.999 in
    [ "$stderr" = "$note 0.999 is less than 1% (try 99.9)" ]
    run --separate-stderr -0 gpuhist merge --quantiles 0.075 state
    [ "$stderr" = "$note 0.075 is less than 1% (try 7.5)" ]
    for list in 0,0.5 0.5,99 0.5,1.1 1,1.0 0; do
        run --separate-stderr -0 gpuhist --quantiles "$list" in
        [ -z "$stderr" ]
    done
    for operands in in "merge state"; do
        # shellcheck disable=SC2086
        run --separate-stderr -0 gpuhist $operands -q --quantiles 0.5
        [ -z "$stderr" ]
    done
}

@test "no values have no quantiles" {
    for format in "" "--format csv" "--format json" --plot; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist --bins 5 --quantiles 50 $format </dev/null
        [ "$status" -eq 1 ]
        [ "$stderr" = "gpuhist: cannot compute percentiles: no values were counted" ]
        [ -z "$output" ] || [[ $format == *csv && $output == quantile,value ]] ||
            jq -e '.quantiles == [{percent: 50, value: null}]' <<<"$output" >/dev/null
    done
    run --separate-stderr gpuhist --text --bins 5 --quantiles 50 --outside ignore <<<77
    assert_failed 1 "no values were counted"
    run --separate-stderr gpuhist --text --bins 5 --quantiles 50 <<<77
    assert_failed 1 "percentile 50 is out of range: 0 below the bins, 1 above (try uniq --percentiles)"
}

# bats test_tags=later
@test "options that do not go together, and bad values" {
    usage() {
        local text=$1
        shift
        run --separate-stderr timeout 30 "$GPUHIST" --bins 5 "$@" /dev/zero
        assert_failed 2 "$text"
    }
    for option in "--top 3" "--min-count 2" "--sort bin" --cumulative --percent "--percentiles 50"; do
        # shellcheck disable=SC2086
        usage "${option% *} cannot be combined with --format raw" --format raw $option
    done
    for option in --cumulative "--percentiles 50"; do
        # shellcheck disable=SC2086
        usage "${option% *} cannot be combined with --format gnuplot" --format gnuplot $option
    done
    usage "--min-count cannot be combined with --format raw" --format raw --min-count 2 --other
    usage "--other requires --top or --min-count" --other
    # tsv and csv print no bins with percentiles, so such options would have no effect
    for option in "--top 3" "--min-count 2" "--sort bin" --cumulative --percent --zeros; do
        # shellcheck disable=SC2086
        usage "${option% *} cannot be combined with --percentiles in tsv output (try --format json, or --plot)" \
            --quantiles 50 $option
        # shellcheck disable=SC2086
        usage "${option% *} cannot be combined with --percentiles in csv output" \
            --format csv --quantiles 50 $option
    done
    usage "--plot cannot be combined with --format" --plot --format tsv
    for option in "--title x" "--label x" --log-count; do
        for format in "" "--format tsv" "--format json" "--format raw"; do
            # shellcheck disable=SC2086
            usage "${option% *} requires --plot, or --format svg, html or gnuplot" $format $option
        done
    done
    usage "invalid --format 'xml'" --format xml
    usage "invalid --top '0'" --top 0
    usage "invalid --top '-1'" --top -1
    usage "invalid --min-count '0': expected a count from 1, such as" --min-count 0
    usage "invalid --min-count 'x'" --min-count x
    usage "invalid --sort 'value'" --sort value
    for list in "" "," "50," ",50" 101 100.1 -1 5e1 "50 99" 50,x . 1. .5 0.0000000000000001 \
        99999999999999999999; do
        usage "invalid --percentiles '$list'" --quantiles "$list"
    done
    run --separate-stderr gpuhist reduce --percent
    assert_failed 2 "--percent cannot be used with reduce"
}

@test "a full disk is an error in every format" {
    [ -c /dev/full ] || skip "no /dev/full"
    int32 1 2 2 >in
    for format in "--format csv" "--format json" "--format raw" "--format gnuplot" --plot "--format svg" \
        "--quantiles 50" "--sort count" "--format json --bins 500K --zeros"; do
        # shellcheck disable=SC2086
        run --separate-stderr bash -c '"$GPUHIST" --bins 5 "$@" in >/dev/full' - $format
        assert_failed 1 "No space left on device"
    done
}

@test "no memory to sort the bins is an error, and --top needs less" {
    skip_under_asan
    int32 1 2 2 >in
    limited() { timeout 60 bash -c 'ulimit -v 700000; "$GPUHIST" --engine cpu --threads 1 --bins 16M \
        --zeros "$@" in' - "$@"; }
    run --separate-stderr limited --sort count
    assert_failed 1 "no memory to sort the bins"
    run -0 limited --top 2
    [ "$output" = $'2\t2\n1\t1' ]
}

@test "bins wider than 64 bits, in another order" {
    for options in '' '--sort count' '--top 1'; do
        # shellcheck disable=SC2086
        run -0 gpuhist --text -t u64 --log10 $options < <(echo 18446744073709551615)
        [ "$output" = $'10000000000000000000\t100000000000000000000\t1' ]
    done
}

@test "quantiles in JSON are of all values, whatever --min-count leaves" {
    run -0 --separate-stderr bash -c 'seq 10 | "$GPUHIST" uniq --format json --quantiles 50 --min-count 2'
    [[ $output == *'{"percent":50,"value":5}]}' ]] || {
        echo "$output"
        false
    }
}
