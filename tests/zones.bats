#!/usr/bin/env bats
# Means of timestamps, and --tz. The oracles are Python, and date(1) for rules.

load helpers

zones() { # zones PART
    [ -n "${PYTHON:-}" ] || skip "no python3"
    cd "$BATS_TEST_TMPDIR"
    SHARE=${GPUHIST_TEST_SHARE:-1} "$PYTHON" "$srcdir/tests/zones.py" "$GPUHIST" "$1" $RANDOM
}

@test "days, hours and cycles of --tz are those of Python's zones, with conditions and states" { zones zones; }
@test "rules for the time after the last change of a zone are Python's" { zones rules; }

@test "--zeros has the buckets that a change of the clocks cuts short" {
    # in 1990 the clocks of St. John's were put from 00:01 to 01:01, of Lord Howe from 02:00 to 02:30
    run -0 --separate-stderr gpuhist uniq --zeros -f 1:time/1h --tz America/St_Johns \
        < <(printf '%s\n' 1990-04-01T02:30Z 1990-04-01T05:45Z)
    [ "$output" = "$(printf '%s\t%s\n' 1990-03-31T23:00:00-03:30 1 1990-04-01T00:00:00-03:30 0 \
        1990-04-01T01:01:00-02:30 0 1990-04-01T02:00:00-02:30 0 1990-04-01T03:00:00-02:30 1)" ]
    run -0 --separate-stderr gpuhist uniq --zeros -f 1:time/1h --tz Australia/Lord_Howe \
        < <(printf '%s\n' 1990-10-27T14:30Z 1990-10-27T16:00Z)
    [ "$output" = "$(printf '%s\t%s\n' 1990-10-28T01:00:00+10:30 1 1990-10-28T02:30:00+11:00 0 \
        1990-10-28T03:00:00+11:00 1)" ]
}

@test "files of zones that are damaged, or none, are one line and no result" { zones damaged; }

# bats test_tags=slow
@test "days of a rule count from 0 with leap days, from 1 without; the last Sunday may be the fourth" {
    cd "$BATS_TEST_TMPDIR"
    zeros() { head -c "$1" /dev/zero; }
    compare() { # compare RULE DAY...: with date(1)
        local rule=$1 day
        shift
        { # a header and one type for each version
            for _ in 1 2; do printf 'TZif2' && zeros 34 && printf '\1\0\0\0\4' && zeros 6 && printf 'AAA\0'; done
            printf '\n%s\n' "$rule"
        } >zone
        for day; do
            TZ=$rule date -d "$day 12:00 UTC" +%-H >>wanted
            TZDIR=$PWD gpuhist uniq -f 1:time/hour-of-day --tz zone <<<"${day}T12:00:00Z" | cut -f 1 >>found
        done
    }
    for rule in 'AAA0BBB,58/0,200/0' 'AAA0BBB,J59/0,J200/0' 'AAA0BBB,60/0,200/0' 'AAA0BBB,J60/0,J365/24'; do
        compare "$rule" 2023-02-2{7,8} 2023-03-0{1,2} 2024-02-2{7,8,9} 2024-03-0{1,2} 2023-07-{19,20} \
            2024-07-{18,19,20} 2023-12-31
    done
    compare 'AAA0BBB,M2.5.0/0,M6.5.3/0' 2026-02-2{1,2,5} 2026-06-2{3,4,7}
    cmp wanted found
}

@test "a day with two midnights begins at the first, one without at the first instant; hours are two" {
    cd "$BATS_TEST_TMPDIR"
    zeros() { head -c "$1" /dev/zero; }
    { # as in Havana: at 1:00 it is 0:00 again, and at 0:00 it is 1:00
        for _ in 1 2; do printf 'TZif2' && zeros 34 && printf '\1\0\0\0\4' && zeros 6 && printf 'AAA\0'; done
        printf '\nAAA5BBB,M3.2.0/0,M11.1.0/1\n'
    } >zone
    printf '2026-11-01T%s:00Z\n' 03:59 04:00 04:30 05:00 05:30 15:00 >in
    TZDIR=$PWD run -0 gpuhist uniq -f 1:time/1d --tz zone in
    [ "$output" = $'2026-10-31T00:00:00-04:00\t1\n2026-11-01T00:00:00-04:00\t5' ]
    TZDIR=$PWD run -0 gpuhist uniq -f 1:time/1h --tz zone --where '1:time<2026-11-01T06:00Z' --where '1:time>=2026-11-01T04:00Z' in
    [ "$output" = $'2026-11-01T00:00:00-04:00\t2\n2026-11-01T00:00:00-05:00\t2' ]
    printf '2026-03-08T%s:00Z\n' 04:59 05:00 12:00 >in
    TZDIR=$PWD run -0 gpuhist uniq -f 1:time/1d --tz zone in
    [ "$output" = $'2026-03-07T00:00:00-05:00\t1\n2026-03-08T01:00:00-04:00\t2' ]
}

@test "--tz is of instants, and what it cannot be combined with is an error" {
    cd "$BATS_TEST_TMPDIR"
    [ -e "${TZDIR:-/usr/share/zoneinfo}/Europe/Berlin" ] || skip "no tzdata"
    printf 'at,v\n2026-10-25T00:30:00Z,1\n2026-10-25T01:30:00Z,2\n2026-10-25T22:59:59Z,3\n' >in
    [ "$(gpuhist uniq --csv -f at:time/1h --tz Europe/Berlin in)" = "2026-10-25T02:00:00+02:00	1
2026-10-25T02:00:00+01:00	1
2026-10-25T23:00:00+01:00	1" ]
    [ "$(gpuhist uniq --csv -f at:time/1d --tz Europe/Berlin in)" = "2026-10-25T00:00:00+02:00	3" ]
    [ "$(gpuhist reduce sum --csv -f v --by at:time/1d --where 'at:time/1d=2026-10-25' --tz Europe/Berlin in)" = \
        "2026-10-25T00:00:00+02:00	6" ]
    run --separate-stderr gpuhist uniq --csv -f at:localtime/1d --tz Europe/Berlin in
    assert_failed 2 "column 'at:localtime/1d', which has timestamps as they are written (try at:time, where"
    for column in v v:int; do
        run --separate-stderr gpuhist uniq --csv -f "$column" --tz Europe/Berlin in
        assert_failed 2 "--tz requires a column of timestamps"
    done
    run --separate-stderr gpuhist --csv -f at:time --width 1d --tz Europe/Berlin in
    assert_failed 2 "--width makes equal bins, not days and hours of --tz"
    [ "$(gpuhist uniq --csv -f at --tz Europe/Berlin in | head -n 1)" = "2026-10-25T02:30:00+02:00	1" ] # it is found
    sed 's/Z,/,/' in >local
    run --separate-stderr gpuhist uniq --csv -f at --tz Europe/Berlin local
    assert_failed 2 "column 'at', which has timestamps as they are written (try at:time, where those without an offset are UTC"
}

@test "means and interpolated quantiles of times are times" { zones means; }
