#!/usr/bin/env bats
# Output at a terminal and in images: bins of timestamps, tables, names.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
}

check_screen() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    run -0 timeout 120 "$PYTHON" "$srcdir/tests/screen.py" "$GPUHIST" "$1"
    [ -z "$output" ]
}

@test "uniq at a terminal: a table of all values, with bars and shares" { check_screen tables; }

@test "results at a terminal: aligned columns with names" { check_screen results; }

@test "powers of two of decimals; lines that combine bins of powers" { check_screen powers; }

@test "automatic bins of times: round widths, from seconds to years" { check_screen times; }

@test "bins of times: widths of columns, ranges, fractions of a second" { check_screen time_units; }

@test "pictures of times: ticks at round times, dates where they change" { check_screen time_ticks; }

@test "messages wrap at words at a terminal" { check_screen messages; }

@test "the name of the locale says whether bars are of block characters" {
    local locale
    bar_in() { printf '1\n1\n' | env -u LC_ALL -u LC_CTYPE -u LANG COLUMNS=20 "$@" "$GPUHIST" --width 1 --plot; }
    bar_in LC_ALL=C >plain
    bar_in LC_ALL=C.UTF-8 >blocks
    run -1 cmp -s plain blocks
    # Also without such a locale on this machine; an empty variable counts as unset.
    for locale in LANG=C.utf8 'LC_ALL= LC_CTYPE= LANG=en_US.UTF-8' 'LC_CTYPE=xx_YY.Utf-8@none LANG=C' 'LC_ALL=C.UTF-8 LANG=C'; do
        # shellcheck disable=SC2086  # several variables
        bar_in $locale | cmp - blocks
    done
    for locale in LC_ALL= 'LC_ALL=C LANG=C.UTF-8' LC_CTYPE=de_DE.ISO-8859-1 LANG=de_DE; do
        # shellcheck disable=SC2086
        bar_in $locale | cmp - plain
    done
}

@test "labels of plots: no needless decimals" { check_screen labels; }

@test "the buckets of a column are said in its image, in states as well" {
    local case
    printf '2026-11-21T10:0%d:00Z %d\n' 1 110 1 190 3 250 >in
    for case in '1:time/1m=3 values, 2 distinct; buckets of 1m' '2:int/100=3 values, 2 distinct; buckets of 100' \
        '1:time=3 values, 2 distinct' '1:time/hour-of-day=3 values, 1 distinct' \
        '2:ms/0.1s=3 values, 2 distinct; buckets of 100'; do
        gpuhist uniq -f "${case%=*}" --save state --format svg in >picture
        gpuhist merge state --format svg | tee merged | grep -F ">${case#*=}</text>"
        grep -F ">${case#*=}</text>" picture
    done
}

@test "ticks of a zone are where its days begin" { check_screen zone_ticks; }

# bats test_tags=slow
@test "a column that is chosen by its number has its name of the header, in states as well" {
    local name field first
    title_of() { sed -n 's:^<title>\(.*\)</title>$:\1:p'; }
    for name in ms 'response ms' 'a "b"' 'été'; do
        { printf 'at,"%s",path\n' "${name//\"/\"\"}" && seq -f '%g,7,/x' 20000; } >in.csv
        { printf 'a,b,c\r\n,%s,"d\ne"\r\n1,2,3\r\n' "\"${name//\"/\"\"}\""; } >two.csv
        for field in 2 -2; do
            [ "$(gpuhist uniq -f "$field" --header --csv --format svg in.csv | title_of)" = "Count by $name" ]
            [ "$(gpuhist uniq -f "$field" --header --csv --format svg --chunk-size 4096 in.csv two.csv --invalid ignore |
                title_of)" = "Count by $name" ]
            [ "$(gpuhist uniq -f "$field" --header --csv --format svg <(cat in.csv) | title_of)" = "Count by $name" ]
            [ "$(gzip -c in.csv | gpuhist uniq -f "$field" --header --csv --format svg | title_of)" = "Count by $name" ]
        done
        [ "$(gpuhist -f 2 --by 1 --header=2 --csv --format svg two.csv | title_of)" = "Count by $name and field 1" ]
        gpuhist uniq --csv -f 2 --header --save a.state in.csv >/dev/null
        gpuhist uniq --csv -f 1 --save b.state <(seq 5) >/dev/null
        [ "$(gpuhist merge a.state b.state --format svg | title_of)" = "Count by $name" ]
        gpuhist merge a.state b.state --save c.state >/dev/null
        [ "$(gpuhist merge c.state --format svg | title_of)" = "Count by $name" ]
    done
    printf '# t\tn of x\n1 2\n' >tabs.txt
    [ "$(gpuhist uniq -f 2 --header --format svg tabs.txt | title_of)" = "Count by n of x" ]
    { head -c 2000000 /dev/zero | tr '\0' x && printf ' long\n1 2\n'; } >long
    [ "$(gpuhist uniq -f 2 --header --format svg long | title_of)" = "Count by field 2" ]
    first=$(gpuhist uniq -f 2 --format svg tabs.txt --header=1 --top 1 --label other | title_of)
    [ "$first" = "Count by other" ]
}
