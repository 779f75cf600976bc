#!/usr/bin/env bats
# What the documents say is true: the manual's examples and the scripts in examples/ are run.

load helpers

setup() {
    # A gpuhist on PATH, as the examples expect it.
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -s "$GPUHIST" "$BATS_TEST_TMPDIR/bin/gpuhist"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
    unset -f gpuhist # the function of helpers.bash would hide it
    cd "$BATS_TEST_TMPDIR"
}

@test "the manual's examples print what it says" {
    # Between .EX and .EE: "$ " and a command, continued after a backslash, then its output.
    sed -n '/^\.EX/,/^\.EE/p' "$srcdir/man/gpuhist.1" |
        sed 's/\\(aq/'"'"'/g; s/\\(dq/"/g; s/\\-/-/g; s/\\&//g; s/\\e/\\/g' >examples
    local command='' expected='' line count=0
    check() {
        [ -n "$command" ] || return 0
        printf '%s\n' "$ $command"
        [ "$(sh -c "$command" 2>&1)" = "${expected%$'\n'}" ]
        count=$((count + 1))
    }
    while IFS= read -r line; do
        case $line in
        .EX*) command='' expected='' ;;
        .EE*) check ;;
        '$ '*)
            check
            command=${line#\$ } expected=''
            while [[ $command == *\\ ]]; do
                IFS= read -r line
                command="${command%\\}$line"
            done
            ;;
        *) expected+=$line$'\n' ;;
        esac
    done <examples
    [ "$count" -ge 5 ]
}

@test "the manual has no errors of formatting" {
    command -v man >/dev/null || skip "no man"
    run -0 --separate-stderr env MANROFFSEQ='' LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l \
        "$srcdir/man/gpuhist.1"
    [[ $output != *"has been minimized"* ]] || skip "a man that shows nothing"
    [ -z "$stderr" ]
    [[ $output == *EXAMPLES* ]]
}

@test "every example script prints what is expected of it" {
    local script name count=0
    for script in "$srcdir"/examples/*.sh; do
        name=$(basename "$script" .sh)
        bash "$script" >"$name.out"
        diff "$srcdir/examples/$name.expected" "$name.out"
        count=$((count + 1))
    done
    [ "$count" -ge 5 ]
}
