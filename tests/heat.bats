#!/usr/bin/env bats
# Heat maps: --by one column with --format svg or --plot.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
}

check_maps() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    run -0 timeout 120 "$PYTHON" "$srcdir/tests/heat.py" "$GPUHIST" "$1"
    [ -z "$output" ]
}

@test "heat maps: cells are the rows of tsv, put together; labels and colours" { check_maps cells; }

@test "heat maps: values far apart, gaps, and many groups" { check_maps axes; }

@test "heat maps: automatic bins are those of all groups" { check_maps automatic; }

@test "heat maps: scales, weights, names, and no values" { check_maps colours; }

@test "heat maps in a terminal of any size, in colours and without" {
    skip_under_emulator "it is the program that the terminal shows"
    check_maps terminal
}

@test "heat maps: the same picture of a merge, and in a file" {
    seq 1 3000 | awk '{ print $1 % 24, $1 * $1 % 977 }' >in
    gpuhist -f 2 --by 1 --width 50 --format svg in >picture
    grep -q '<title>5, 0..50: [0-9]*</title>' picture
    head -n 1000 in | gpuhist -f 2 --by 1 --width 50 --save a >/dev/null
    tail -n +1001 in | gpuhist -f 2 --by 1 --width 50 --save b >/dev/null
    gpuhist merge a b --format svg |
        sed 's/>group</>field 1</; s/>value</>field 2</; s/by value and group</by field 2 and field 1</;s| by group<| by field 1<|' | cmp picture -
    run --separate-stderr gpuhist merge a b --format raw
    assert_failed 2 "--by cannot be combined with --format raw"
    run --separate-stderr gpuhist merge a b --plot --top 2
    assert_failed 2 "--top cannot be combined with a heat map"
    gpuhist -f 2 --by 1 --width 50 --format svg -o file in
    cmp picture file
}

@test "heat maps: values are names if just one in four of their range is taken, else positions" {
    for last in 11 12; do
        printf '%s 1\n' 0 5 $last >in
        COLUMNS=60 LINES=20 run -0 gpuhist uniq -f 1 --by 2 --plot in
        # The title, and a line for each of the names or positions, of groups and of colours.
        [ "${#lines[@]}" = $((last == 12 ? 6 : 15)) ]
    done
}

# bats test_tags=later
@test "heat maps: the same picture in another locale" {
    seq 1 3000 | awk '{ print $1 % 24, $1 * $1 % 977 }' >in
    gpuhist -f 2 --by 1 --width 50 --format svg in >picture
    use_comma_locale
    gpuhist -f 2 --by 1 --width 50 --format svg in | cmp picture -
}

@test "heat maps: a result so far, and a plot to a file" {
    printf '1 2\n1 3\n2 2\n' >in
    run -0 gpuhist uniq -f 2 --by 1 --plot --every 1d in
    expected=$output
    [ "${lines[0]}" = "field 2 by field 1" ]
    gpuhist uniq -f 2 --by 1 --plot -o file in
    run -0 cat file
    [ "$output" = "$expected" ]
    COLUMNS=20 LINES=1 run -0 gpuhist -f 2 --by 1 --width 1 --plot in
    [ "${lines[0]}" = "field 2 by field 1" ]
}

@test "heat maps: what they do not take is a usage error before input is read" {
    local option
    for option in --top=3 --sort=count --cumulative --percentiles=50 --min-count=2 "--top=2 --other"; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist -f 1 --by 2 --plot $option missing
        assert_failed 2 "${option%%[= ]*} cannot be combined with a heat map, which --plot draws with --by"
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist uniq -f 1 --by 2 --format svg $option missing
        assert_failed 2 "${option%%[= ]*} cannot be combined with a heat map, which --format svg draws with --by"
    done
    for option in raw gnuplot; do
        run --separate-stderr gpuhist --bins 3 -f 1 --by 2 --format $option missing
        assert_failed 2 "--by cannot be combined with --format $option"
    done
    run --separate-stderr gpuhist --log2 -f 1 --by 2,3 --plot missing
    assert_failed 2 "--plot supports one --by column, not 2"
    run --separate-stderr gpuhist uniq -f 1 --by 2,3,4 --format svg missing
    assert_failed 2 "--format svg supports one --by column, not 3"
}

@test "the axis of groups without a name has that of their kind" {
    cd "$BATS_TEST_TMPDIR"
    printf '2026-11-21T13:45:02Z 10.0.0.7 5 6\n' >in
    for case in 1:time/1m:time 1:localtime:time '3:field 3'; do
        COLUMNS=80 run -0 gpuhist -f 4 --by "${case%:*}" --log2 --plot in
        name=${case##*:}
        [ "${lines[0]}" = "field 4 by $name" ]
        gpuhist -f 4 --by "${case%:*}" --log2 --format svg in | grep -c ">$name</text>"
    done
    printf 'at ms\n2026-11-21T13:45:02Z 6\n' >named
    gpuhist -f ms --by at:time/1m --log2 --format svg named | grep '>at</text>'
}

# bats test_tags=slow
@test "a heat map of no values has groups of every scale" {
    cd "$BATS_TEST_TMPDIR"
    : >none
    for group in 2 2:time 2:time/1h 2:time/7h 2:time/1mo 2:time/hour-of-day 2:ms 2:.2/0.5; do
        for values in 'uniq -f 1:int' 'uniq -f 1:time/1h' '-f 1:int --log2' '-f 1:.2 --range auto --bins 5'; do
            for format in --plot "--format svg" "--format html"; do
                # shellcheck disable=SC2086
                run -0 --separate-stderr gpuhist $values --by "$group" $format none
                [ -z "$stderr" ] && [ -n "$output" ]
            done
        done
    done
}
