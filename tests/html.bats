#!/usr/bin/env bats
# Format html.

load helpers

@test "html: the table has the cells of csv, markup in names is text, and nothing is loaded" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    run -0 "$PYTHON" "$srcdir/tests/html_page.py" "$GPUHIST" $((RANDOM))
}

@test "html in a browser: a click on a header sorts the table, numbers by their values" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    local browser
    browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no Chromium"
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 9 9 9 -10 -10 200 1000 1000 1000 1000 | gpuhist uniq -f 1 --format html >page
    "$PYTHON" "$srcdir/tests/html_page.py" --page page 0 >first.html
    "$PYTHON" "$srcdir/tests/html_page.py" --page page 1 >second.html
    for page in 'first 1000,200,9,-10' 'second 1000,9,-10,200'; do
        HOME=$PWD timeout 60 "$browser" --headless --no-sandbox --disable-gpu --dump-dom "file://$PWD/${page% *}.html" \
            >dom 2>/dev/null 3>&- || skip "Chromium does not run here"
        grep -F "<title>${page#* }</title>" dom
    done
}
