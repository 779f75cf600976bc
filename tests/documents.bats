#!/usr/bin/env bats
# bats file_tags=plain
# Checks the documents: runs the manual's examples and the scripts in examples/.

load helpers

setup() {
    # A gpuhist on PATH, as the examples expect it.
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -s "$GPUHIST" "$BATS_TEST_TMPDIR/bin/gpuhist"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
    manual=("$(document man/gpuhist.1)" "$srcdir/man/gpuhist-formats.5" "$srcdir/man/gpuhist-engines.7")
    export PARALLEL=-j2 # otherwise parallel runs lscpu, which fails without /sys
    unset -f gpuhist # the function of helpers.bash would hide it
    cd "$BATS_TEST_TMPDIR"
}

# run_examples: runs the examples on stdin, each block in a separate directory with the files of
# data/: copied ("run_examples -R"), or linked if none is written ("run_examples -Rl"). A block lies
# between the lines BEGIN and END. In it, "$ " begins a command, which continues after a backslash at
# the end of a line; its output follows, to the byte. Other lines: "same: COMMAND" prints the same as
# the command before it, without gpuhist; "check: COMMAND" gets its output on standard input and
# succeeds; "needs: PROGRAM" skips the block if the program is missing. Sets $compared and $left_out to
# the numbers of commands whose output was compared, and that were skipped.
run_examples() {
    local command='' expected='' oracle='' check='' skipped=no line data=$PWD/data block=0
    compared=0 left_out=0
    while IFS= read -r line; do
        case $line in
        BEGIN)
            block=$((block + 1)) skipped=no
            mkdir "$BATS_TEST_TMPDIR/block$block"
            cd "$BATS_TEST_TMPDIR/block$block"
            cp "$1" "$data/." .
            ;;
        END) run_example ;;
        'needs: '*) command -v "${line#needs: }" >/dev/null || skipped=yes ;;
        'same: '*) oracle=${line#same: } ;;
        'check: '*) check=${line#check: } ;;
        '$ '*)
            run_example
            command=${line#\$ }
            while [[ $command == *\\ ]]; do
                IFS= read -r line
                command="${command%\\}$line"
            done
            ;;
        *) expected+=$line$'\n' ;;
        esac
    done
}

# run_example: runs the command that was read, if any, with its checks.
run_example() {
    [[ $command != *gzip* ]] || reads_gzip || skipped=yes
    if [ -n "$command" ] && [ $skipped = no ]; then
        printf '%s\n' "$ $command"
        # Some fail on purpose; awk adds a missing final newline.
        sh -c "$command" 2>&1 </dev/null | awk 1 >"$BATS_TEST_TMPDIR/shown"
        if [ -n "$oracle" ]; then
            sh -c "$oracle" >"$BATS_TEST_TMPDIR/right"
            [ -s "$BATS_TEST_TMPDIR/right" ]
            sed '/^gpuhist: note: skipped [0-9]* invalid values, none of them a number$/d' "$BATS_TEST_TMPDIR/shown" |
                diff "$BATS_TEST_TMPDIR/right" -
        elif [ -n "$check" ]; then
            sh -c "$check" <"$BATS_TEST_TMPDIR/shown"
        else
            diff <(printf %s "$expected") "$BATS_TEST_TMPDIR/shown"
        fi
        compared=$((compared + 1))
    elif [ -n "$command" ]; then
        left_out=$((left_out + 1))
    fi
    command='' expected='' oracle='' check=''
}

# make_data: makes the files of the examples in data/.
make_data() (
    mkdir -p data/logs
    cd data
    seq 3000 | awk '{ printf "10.0.0.%d - - [01/May/2025:%02d:%02d:%02d +0000] \"GET /%d HTTP/1.1\" %d %s\n",
        $1 % 250, $1 * $1 % 24, $1 % 60, $1 % 59, $1, $1 % 97 ? $1 % 5 ? 200 : 404 : 503,
        $1 % 5 ? $1 * $1 % 30000 : "-" }' >access.log
    zstd -q access.log -o access.log.1.zst
    split -l 700 access.log logs/part.
    zstd -q --rm logs/part.*
    seq 5000 | awk '{ print int(exp($1 * 7919 % 5000 / 600)) }' >latencies.txt
    { echo name,age,city; seq 500 | awk '{ printf "p%d,%s,c%d\n", $1, $1 % 50 ? $1 * 31 % 97 : "?", $1 % 7 }'; } >people.csv
    seq 20000 | LC_ALL=C awk '{ id = $1 * $1 % 4999
        printf "%c%c%c%c", id % 256, int(id / 256), 0, 0 }' >ids.bin
    { head -c 44 /dev/zero; seq 4000 | LC_ALL=C awk '{ level = int(9000 * sin($1 / 30)) + ($1 % 7)
        level += level < 0 ? 65536 : 0
        printf "%c%c", level % 256, int(level / 256) }'; } >talk.wav
    seq 1000 | awk '{ printf "%d,event%d\n", 1700000000 + $1 - ($1 % 9 ? 0 : 5), $1 }' >events.csv
    sleep 1 3>&- &
    echo $! >server.pid
)

# bats test_tags=slow
@test "the manual's examples print what it says, or what other programs do" {
    make_data
    sed -n '/^\.EX/,/^\.EE/p' "${manual[@]}" |
        sed '/^\.\\" /{ s///; b }; s/^\.EX.*/BEGIN/; s/^\.EE.*/END/
             s/\\(aq/'"'"'/g; s/\\(dq/"/g; s/\\(ha/^/g; s/\\-/-/g; s/\\&//g; s/\\e/\\/g' >examples
    run_examples -R <examples
    [ "$compared" -ge 40 ]
    [ $((compared + left_out)) -eq "$(grep -c '^\$ ' "$BATS_TEST_TMPDIR/examples")" ]
}

# bats test_tags=slow
@test "README's examples print what it says" {
    command -v perl >/dev/null || skip "no perl"
    export LC_ALL=C.UTF-8 # of plots
    mkdir data
    eval "$(sed -n '/^make_sample()/,/^}/{ /say /d; p; }' "$srcdir/bootstrap")"
    (cd data; make_sample)
    # Only blocks with a prompt are run.
    awk '/^    / { if (!inside) { text = "BEGIN"; run = 0 } inside = 1
                   text = text "\n" substr($0, 5); run += /^    \$ / }
         !/^    / && inside { if (run) print text "\nEND"; inside = 0 }' "$srcdir/README.md" >examples
    run_examples -Rl <examples
    [ "$compared" -ge 12 ]
}

@test "README is short: 220 lines, 1,800 words, no line of prose above 120 characters" {
    [ "$(wc -l <"$srcdir/README.md")" -le 220 ]
    [ "$(wc -w <"$srcdir/README.md")" -le 1800 ]
    run -1 grep -nE '^[^|!`*].{120}' "$srcdir/README.md"
}

@test "the tasks of the documents are done by their commands, and print what Python works out" {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    reads_gzip || skip "no gzip"
    "$PYTHON" "$srcdir/tests/tasks.py" "$GPUHIST" "$srcdir/README.md" "$srcdir/examples/README.md"
}

@test "the examples' Python makes of an array what NumPy makes of it" {
    [ -n "${PYTHON:-}" ] || skip "no python3 with numpy"
    sed -n '/^```python$/,/^```$/{ /^```/d; p; }' "$srcdir/examples/README.md" >shown.py
    cat >>shown.py <<'END'
assert (counts == numpy.bincount(ids, minlength=1000)).all() and len(counts) == 1000
different, times = numpy.unique(ids, return_counts=True)
for pair in pairs, table:
    assert (pair["value"] == different).all() and (pair["count"] == times).all()
assert values["sum"] == int(ids.sum(dtype="u8")) and values["distinct"] == len(different)
assert values["p99"] == numpy.sort(ids)[-(-99 * len(ids) // 100) - 1]
print(len(ids))
END
    run -0 "$PYTHON" shown.py
    [ "$output" = 1000000 ]
}

@test "gpuhist(1) has at most 900 lines, and no page a sentence of more than 30 words" {
    command -v man >/dev/null || skip "no man"
    run -0 --separate-stderr env MANWIDTH=80 MANROFFSEQ='' LC_ALL=C.UTF-8 man -P cat -l "${manual[0]}"
    [[ $output != *"has been minimized"* ]] || skip "a man that shows nothing"
    [ "${#lines[@]}" -ge 500 ] && [ "$(wc -l <<<"$output")" -le 900 ]
    run -0 awk -f "$srcdir/tests/manual.awk" "${manual[@]}"
    [ -z "$output" ]
    printf '.PP\nFive and\n.BR twenty\-five words, %s.\n' "$(seq -s ' ' 27)" >long
    run -0 awk -f "$srcdir/tests/manual.awk" long
    [ "$output" = "long:3: 31 words:  Five and twenty\-five words, $(seq -s ' ' 27)." ]
}

@test "apropos finds the manual's pages by what they are about" {
    command -v lexgrog >/dev/null || skip "no lexgrog"
    run -0 lexgrog "${manual[@]}"
    [[ ${lines[0]} == *': "gpuhist - '*histograms* ]]
    [[ ${lines[1]} == *': "gpuhist-formats - '*JSON* ]]
    [[ ${lines[2]} == *': "gpuhist-engines - '*GPU* ]]
}

@test "the manual has no errors of formatting" {
    command -v man >/dev/null || skip "no man"
    local page
    for page in "${manual[@]}"; do
        run -0 --separate-stderr env MANROFFSEQ='' LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$page"
        [[ $output != *"has been minimized"* ]] || skip "a man that shows nothing"
        [ -z "$stderr" ]
        [[ $output == *"SEE ALSO"* ]]
    done
}

@test "mandoc and groff find no errors in the manual either" {
    local page
    command -v mandoc || command -v groff || skip "neither mandoc nor groff"
    if command -v mandoc; then
        run -0 mandoc -T lint -W warning "${manual[@]}"
        [ -z "$output" ]
        # On the web, the lines of an example follow each other.
        for page in "${manual[@]}"; do
            mandoc -T html "$page" | sed -n '/<pre/,/<\/pre>/p' >examples
            [ -s examples ]
            run -1 grep -n '<br' examples
        done
    fi
    if command -v groff; then
        run -0 groff -t -man -ww -z "${manual[@]}"
        [ -z "$output" ]
    fi
}

@test "of an option without a text the manual has its help line, and a text without an option is an error" {
    local generator
    generator=$(document completions/option_documents)
    [ -x "$generator" ] || skip "no build directory"
    make_page() { sed "$1" "$srcdir/man/gpuhist.1.in" | "$generator" gpuhist.1 /dev/null; }
    make_page '' | cmp - "$(document man/gpuhist.1)"
    make_page '/^@bins@/,/^@range@/{ /^@range@/!d; }' | grep -A 1 -xF '.BR \-b ", " \-\-bins =\fIN\fR' >made
    [ "$(tail -n 1 made)" = 'use N bins: values 0 to N\-1, or divide \-\-range.' ]
    run make_page 's/^@bins@/@bin@/'
    [ "$status" -ne 0 ] && [[ $output == *"no option or heading '@bin@'"* ]]
    run make_page '/^@end@/d'
    [ "$status" -ne 0 ]
}

@test "every example script prints what is expected of it" {
    local script name status count=0
    for script in "$srcdir"/examples/*.sh; do
        name=$(basename "$script" .sh)
        status=0
        bash "$script" >"$name.out" 2>reason 3>&- || status=$?
        if [ $status -eq 77 ]; then # as in Automake: a program is missing
            echo "# skipped: $(cat reason)" >&3
            continue
        fi
        [ $status -eq 0 ] || { echo "$name: status $status"; cat reason; false; }
        diff "$srcdir/examples/$name.expected" "$name.out"
        grep -q "^| \`$name.sh\` |" "$srcdir/examples/README.md"
        count=$((count + 1))
    done
    [ "$count" -ge 5 ]
}

@test "make install puts the license, the documents and the examples into docdir" {
    [ -e "${GPUHIST%/*}/Makefile" ] || skip "no build directory"
    make -s -C "${GPUHIST%/*}" install-data DESTDIR="$PWD/to" docdir=/doc >/dev/null
    for file in LICENSE README.md CHANGELOG.md; do
        cmp "$srcdir/$file" "to/doc/$file"
    done
    diff -r "$srcdir/examples" to/doc/examples
    [ "$(cd to && find . -path '*/man/*' -type f | sed 's,.*/man/,,' | sort | tr '\n' ' ')" = \
        'man1/gpuhist.1 man5/gpuhist-formats.5 man7/gpuhist-engines.7 ' ]
    [ -x to/doc/examples/top-ids.sh ]
}

@test "make uninstall leaves no directory of gpuhist's own, and no file" {
    [ -e "${GPUHIST%/*}/Makefile" ] || skip "no build directory"
    mkdir -p to/kept/examples
    echo mine >to/kept/examples/mine
    for doc in doc/gpuhist kept; do
        make -s -C "${GPUHIST%/*}" install DESTDIR="$PWD/to" prefix=/usr docdir=/$doc >/dev/null 2>&1
        [ -s to/$doc/examples/slurm/README.md ] && [ -x to/usr/bin/gpuhist ]
        make -s -C "${GPUHIST%/*}" uninstall DESTDIR="$PWD/to" prefix=/usr docdir=/$doc >/dev/null
        run -0 find to ! -type d
        [ "$output" = to/kept/examples/mine ]
    done
    [ ! -e to/doc/gpuhist ] && [ ! -e to/kept/examples/slurm ]
    # Running it twice is not an error.
    make -s -C "${GPUHIST%/*}" uninstall DESTDIR="$PWD/to" prefix=/usr docdir=/doc/gpuhist >/dev/null
}

@test "bootstrap without root prints the whole line that installs what is missing" {
    mkdir tree tools
    cp "$srcdir/bootstrap" tree
    for tool in bash dirname uname tr; do ln -s "$(command -v $tool)" tools; done
    printf '#!/bin/sh\necho 1000\n' >tools/id
    printf '#!/bin/sh\nexit 1\n' >tools/sudo
    printf '#!/bin/sh\n' >tools/apt-get
    chmod +x tools/*
    gzip=zlib1g-dev
    [[ $(uname -m) != x86_64 && $(uname -m) != aarch64 ]] || gzip=libisal-dev
    build="autoconf automake make gcc libc6-dev libzstd-dev"
    run -1 env PATH="$PWD/tools" bash tree/bootstrap
    [ "${lines[1]}" = "    sudo apt-get install $build $gzip liblzma-dev libbz2-dev liblz4-dev" ]
    [ "${#lines[@]}" -eq 2 ]
    run -1 env PATH="$PWD/tools" bash tree/bootstrap demo --without-isal --with-zlib --without-lzma --without-lz4
    [ "${lines[1]}" = "    sudo apt-get install $build zlib1g-dev libbz2-dev" ]
    # docs/install.md names the other programs that the tests need.
    run -1 env PATH="$PWD/tools" bash tree/bootstrap check
    named=$(tr '\n' ' ' <"$srcdir/docs/install.md" | sed 's/.*They need \([^.]*\)\. .*/\1/; s/,\| and / /g')
    for package in ${lines[1]#*install}; do
        [[ " $build $gzip liblzma-dev libbz2-dev liblz4-dev $named " == *" $package "* ]]
    done
    # Missing optional packages are named, and the rest continues.
    for tool in autoconf automake make autoreconf; do printf '#!/bin/sh\necho "$0 failed" >&2; exit $FAILED\n' >tools/$tool; done
    printf '#!/bin/sh\n! grep -q "lzma\\|lz4"\n' >tools/cc
    ln -s "$(command -v grep)" "$(command -v tail)" tools
    chmod +x tools/*
    FAILED=0 run -0 env PATH="$PWD/tools" bash tree/bootstrap
    [ "${lines[1]}" = "    sudo apt-get install liblzma-dev liblz4-dev" ]
    [ "${lines[2]}" = "bootstrap: generating ./configure" ]
    [ "${#lines[@]}" -eq 3 ]
    # The end of a failed log is shown, and its file is named.
    FAILED=1 run -1 env PATH="$PWD/tools" bash tree/bootstrap
    [ "${lines[3]}" = "$PWD/tools/autoreconf failed" ]
    [ "${lines[4]}" = "bootstrap: that failed; all it printed is in $PWD/tree/bootstrap.log" ]
    [ "$(cat tree/bootstrap.log)" = "${lines[3]}" ]
}

@test "make check prints one line for a file of tests, and one for each test that fails" {
    local driver=$srcdir/build-aux/tap-driver.sh
    [ -e "$driver" ] || skip "no build-aux"
    printf '%s\n' 1..4 'ok 1 good' 'ok 2 good # skip no GPU' 'not ok 3 bad' 'not ok 4 worse' >all
    for colour in no yes; do
        run -0 bash "$srcdir/tests/driver.bash" "$driver" --test-name x.bats --log-file x.log --trs-file x.trs \
            --color-tests $colour -- sh -c 'cat all; exit 1'
        [ "$(sed 's/\x1b[^m]*m//g; $s/[0-9]* s;/N s;/' <<<"$output")" = "FAIL: x.bats 3 bad
FAIL: x.bats 4 worse
x.bats: 2 FAILED, 1 passed, 1 skipped, N s; its log is x.log" ]
        grep -q '^not ok 4 worse' x.log
    done
    # A file that ends too early has no failed test.
    run -0 bash "$srcdir/tests/driver.bash" "$driver" --test-name x.bats --log-file x.log --trs-file x.trs \
        -- sh -c 'sed "/^not/d" all; exit 3'
    [ "${#lines[@]}" -gt 1 ]
    [[ ${lines[-1]} == "x.bats: "[1-9]" FAILED, 1 passed, 1 skipped, "*" s; its log is x.log" ]]
}

@test "make install puts a program without debugging information, unless CFLAGS asks for it" {
    [ -e "${GPUHIST%/*}/config.status" ] || skip "no build directory"
    command -v readelf >/dev/null || skip "no readelf"
    [[ $("${GPUHIST%/*}/config.status" --config) != *CFLAGS* ]] || skip "configured with CFLAGS"
    make -s -C "${GPUHIST%/*}" install-exec DESTDIR="$PWD/to" bindir=/bin >/dev/null
    run -0 readelf -W -S to/bin/gpuhist
    [[ $output == *.text* && $output != *.debug_* ]]
}
