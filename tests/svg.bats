#!/usr/bin/env bats
# --format svg: images of histograms.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
}

check_pictures() {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    run -0 timeout 120 "$PYTHON" "$srcdir/tests/svg.py" "$GPUHIST" "$1"
    [ -z "$output" ]
}

@test "tooltips are the rows of tsv, and bars lie where the ticks say" { check_pictures bars; }

@test "powers, edges, named values, and bins in the order of their counts" { check_pictures kinds; }

@test "bars are as wide as their bins, at most 40 pixels, and have counts where these fit" { check_pictures widths; }

@test "strings and addresses are horizontal bars" { check_pictures names; }

@test "counts are logarithmic with --log-count alone, and shares with --percent" { check_pictures counts; }

# bats test_tags=later
@test "many bins share bars, and the file stays small" { check_pictures many; }

@test "no values" { check_pictures empty; }

@test "names, titles and labels are escaped" { check_pictures escaping; }

# bats test_tags=slow
@test "the same picture of a merge, in another locale, and in a file" {
    seq 1 3 1000 | gpuhist --width 50 --format svg >picture
    grep -q '^<rect x=.*<title>950..1000: 16 (4.7904%)</title></rect>$' picture
    seq 1 3 1000 | head -n 100 | gpuhist --width 50 --save a >/dev/null
    seq 1 3 1000 | tail -n +101 | gpuhist --width 50 --save b >/dev/null
    gpuhist merge a b --format svg | cmp picture -
    seq 1 3 1000 | gpuhist --width 50 --format svg -o file
    cmp picture file
    use_comma_locale
    seq 1 3 1000 | gpuhist --width 50 --format svg | cmp picture -
}

@test "options that pictures do not take" {
    for option in --cumulative "--percentiles 50"; do
        # shellcheck disable=SC2086
        run --separate-stderr gpuhist --bins 5 --format svg $option /dev/zero
        assert_failed 2 "${option% *} cannot be combined with --format svg"
    done
    run --separate-stderr gpuhist --bins 5 --format svg --plot /dev/zero
    assert_failed 2 "--plot cannot be combined with --format"
}

@test "axes of times: labels from the first bin on, and halves of seconds" {
    cd "$BATS_TEST_TMPDIR"
    labels() { grep -o '>[^<]*</text>' | sed 's/^>//;s/<.*//' | grep '[-:]'; }
    printf '2026-01-%02dT00:00:00Z\n' 1 2 3 4 5 6 | gpuhist -f 1:time --width 1d --format svg | labels >found
    printf '2026-01-%02d\n' 1 2 3 4 5 6 7 | cmp - found
    printf '2026-01-01T00:00:%02d.%dZ\n' 0 0 0 5 1 5 3 5 | gpuhist uniq -f 1:time.1 --format svg | labels >found
    printf '00:00:0%s\n' 0.0 0.5 1.0 1.5 2.0 2.5 3.0 3.5 | cmp - <(grep : found)
}
