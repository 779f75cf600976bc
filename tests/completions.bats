#!/usr/bin/env bats
# bats file_tags=plain
# Completions: the options of each operation are those of its --help, and offered values are
# accepted.

load helpers

completions=$(dirname "$(document completions/_gpuhist)")
export completions

operations='histogram hist uniq distinct reduce count stalin-sort stalin merge info'

# help_options OPERATION: prints the options in its --help, including short ones.
help_options() {
    gpuhist "$1" --help | grep -Eo -- '(^  |[,;] )-[a-zA-Z],|--[a-z][a-z0-9-]*' |
        sed 's/^[ ,;]*//; s/,$//' | sort -u
}

# complete WORD...: prints bash's offers for the last word of the command line, one per line. Bash
# splits words at = and @.
complete() {
    bash --norc -c 'source "$completions/gpuhist.bash"
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        "$(complete -p gpuhist | sed "s/.*-F \([^ ]*\) .*/\1/")"
        for word in "${COMPREPLY[@]}"; do echo "$word"; done' bash gpuhist "$@"
}

# zsh_specs SHELL OPERATION: prints the arguments that the zsh completion passes to _arguments. Bash
# can run it too; its arrays start at 0.
zsh_specs() {
    local code='_arguments() { printf "%s\n" "$@"; }
        source "$completions/_gpuhist"'
    case $1 in
    zsh) zsh -fc "words=(gpuhist $2); $code" ;;
    bash) bash --norc -c "words=('' gpuhist $2); $code" ;;
    esac
}

# options_of_specs: prints the options at the start of specifications of _arguments.
options_of_specs() {
    sed -n 's/^\*//; s/^([^)]*)//; s/^\(-[a-zA-Z]\)[+[].*/\1/p; s/^\(--[a-z0-9-]*\)[=[].*/\1/p' | sort -u
}

@test "bash: the options of each operation are those of --help" {
    cd "$BATS_TEST_TMPDIR"
    for operation in $operations; do
        help_options "$operation" >help
        [ "$(wc -l <help)" -ge 4 ]
        complete "$operation" - | sort -u >offered
        diff help offered
        complete "$operation" file -- - >after
        [ ! -s after ]
    done
    diff <(help_options histogram) <(complete --bins 5 - | sort -u)
    diff <(help_options histogram) <(complete - | sort -u)
    [ "$(complete stalin-sort --p | sort)" = $'--progress\n--purged' ]
}

@test "zsh: the options of each operation are those of --help" {
    cd "$BATS_TEST_TMPDIR"
    local shells=bash shell
    ! command -v zsh >/dev/null || shells='bash zsh'
    for shell in $shells; do
        for operation in $operations; do
            zsh_specs "$shell" "$operation" | options_of_specs >offered
            diff <(help_options "$operation") offered
        done
        diff <(help_options histogram) <(zsh_specs "$shell" --bins | options_of_specs)
    done
}

@test "zsh and fish: options are described as in the operation's --help" {
    cd "$BATS_TEST_TMPDIR"
    for operation in histogram uniq reduce count stalin-sort merge info; do
        gpuhist "$operation" --help | sed -nE 's/^(  -.,|     ) --([a-z0-9-]+)([[ ][^ ]+)? {2,}/\2 /p' |
            grep -v '^format ' | sort >help
        [ -s help ]
        zsh_specs bash "$operation" | sed -nE 's/^\*?(\([^)]*\))*--([a-z0-9-]+)[=-]*\[(.*)\](:.*)?$/\2 \3/p' |
            sort >zsh
        comm -23 help zsh | diff /dev/null -
        sed -nE "s/^complete .*_takes[^']* ${operation}[ '].* -l ([a-z0-9-]+) .*-d '(.*)'\$/\\1 \\2/p" \
            "$completions/gpuhist.fish" | sort >fish
        comm -23 help fish | diff /dev/null -
        [ "$(wc -l <zsh)" -eq "$(wc -l <fish)" ]
        [ -z "$(cut -d ' ' -f 1 fish | uniq -d)" ]
    done
}

# bats test_tags=slow
@test "both take a value exactly where --help shows one" {
    cd "$BATS_TEST_TMPDIR"
    touch file-of-mine
    for operation in histogram uniq reduce count stalin-sort merge; do
        # --header accepts its value only after an =
        gpuhist "$operation" --help | sed 's/^\( .*[A-Z]\), --/\1  \n --/' |
            sed -n 's/^ .*\(--[a-z0-9-]*\) [A-Z][A-Z:|]*  .*/\1/p' | sort >help
        zsh_specs bash "$operation" | sed -n 's/^.*\(--[a-z0-9-]*\)=\[.*/\1/p' | sort >zsh
        diff help zsh
        # in bash, other words are files, except if files are values
        for option in $(help_options "$operation" | grep -- --); do
            case $option in
            --output | --save | --purged | --temporary-directory) continue ;;
            esac
            complete "$operation" "$option" file-of-m >offered
            [ -s offered ] || echo "$option"
        done | sort >bash
        diff <(grep -vxE -e '--(output|save|purged|temporary-directory)' help) bash
    done
}

@test "values that are offered are taken, and there are all of them" {
    cd "$BATS_TEST_TMPDIR"
    printf '7\n' >in
    offers() { # VALUES OPTION: bash and zsh offer these; each is accepted
        [ "$(complete --bins 9 "$2" '' | sort)" = "$(tr ' ' '\n' <<<"$1" | sort)" ]
        [ "$(complete --bins 9 "$2" = '' | sort)" = "$(tr ' ' '\n' <<<"$1" | sort)" ]
        local zsh
        zsh=$(zsh_specs bash --bins | sed -n "s/^.*$2=\[[^]]*\]:[^:]*:(\(.*\))$/\1/p")
        [ "$(eval "printf '%s\n' $zsh" | sort)" = "$(tr ' ' '\n' <<<"$1" | sort)" ]
        for value in $1; do
            [ "$2 $value" != "--engine cuda" ] || continue
            gpuhist --bins 9 "$2" "$value" in 2>stderr >/dev/null || [ "$2" = --type ]
            [[ $(cat stderr) != *invalid* ]]
        done
    }
    offers 'i8 i8le i8be i16 i16le i16be i32 i32le i32be i64 i64le i64be u8 u8le u8be u16 u16le u16be u32 u32le u32be u64 u64le u64be' --type
    offers 'tsv csv json jsonl markdown html raw npy gnuplot svg' --format
    offers 'auto cpu cuda' --engine
    offers 'abort fail warn ignore' --invalid
    offers 'report abort clamp ignore' --outside
    offers 'auto none' --decompress
    offers 'bin count' --sort
    [ "$(complete -t u6)" = $'u64\nu64le\nu64be' ]
    # those that the program names in the error for a wrong value
    for option in --format --invalid --outside --decompress --sort; do
        run gpuhist --bins 9 "$option" '?'
        # shellcheck disable=SC2001
        listed=$(sed 's/.*expected \([^(]*\) (.*/\1/; s/,\| or//g' <<<"$output")
        [ "$(complete "$option" '' | sort)" = "$(tr ' ' '\n' <<<"$listed" | sort)" ]
    done
}

@test "bash: operations, reductions, lists in files, and files" {
    cd "$BATS_TEST_TMPDIR"
    touch reading 'a list'
    [ "$(complete re | sort)" = $'reading\nreduce' ]
    [ "$(complete m)" = merge ]
    [ "$(complete --bins 5 re)" = reading ]
    [ "$(complete reduce sum,m)" = $'sum,min\nsum,max\nsum,mean\nsum,mode\nsum,median' ]
    for name in $(complete reduce '' | grep -v -e reading -e list); do
        printf '7\n9\n' | gpuhist reduce "$name" >/dev/null
    done
    [ "$(complete reduce '' | wc -l)" -eq $((19 + 2)) ]
    # as bash splits "--any-of @a", "--edges=@a", "--edges=@" and "--edges @" into words
    [ "$(complete count --any-of @ a)" = '@a\ list' ]
    [ "$(complete --edges =@ a)" = '@a\ list' ]
    [ "$(complete --edges =@ | sort)" = $'@a\\ list\n@reading' ]
    [ "$(complete --edges @ | sort)" = $'@a\\ list\n@reading' ]
    [ "$(complete -o rea)" = reading ]
    [ -z "$(complete --bins rea)" ]
}

@test "bash: operations come first, and with descriptions where words are listed" {
    cd "$BATS_TEST_TMPDIR"
    touch a-file reading
    [ "$(complete '' | head -n 7)" = "$(gpuhist --help | sed -n '/^Operations:/,/^$/s/^  \([a-z-]*\) .*/\1/p')" ]
    [ "$(complete '' | tail -n +8 | sort)" = $'a-file\nreading' ]
    # 63: the list that a second TAB shows
    COMP_TYPE=63 complete '' | head -n 7 | sed 's/  *(\(.*\))$/ \1/' >listed
    gpuhist --help | sed -n '/^Operations:/,/^$/s/^  \([a-z-]*\)  */\1 /p' | diff - listed
    [ "$(COMP_TYPE=63 complete re)" = $'reduce       (print statistics: count, sum, mean, p99, ...)\nreading' ]
    [ "$(COMP_TYPE=63 complete me)" = merge ]
}

@test "columns of the CSV file that is named, after options that take one" {
    cd "$BATS_TEST_TMPDIR"
    printf '\xef\xbb\xbfid,"a ""b""","long name",2017,latency_ms,"x,y",größe\r\n1,2,3,4,5,6,7\n' >my.csv
    gzip -k my.csv
    zstd -q my.csv
    printf 'one\ttwo\n' >t.tsv
    printf 'first;second\n' >s.txt
    printf 'no header 1\n' >access.log
    all=$'id\nlong\\ name\nlatency_ms\ngröße'
    for option in -f --by --where --weight; do
        for file in my.csv my.csv.gz my.csv.zst; do
            [ "$(LC_ALL=C.UTF-8 complete --csv "$file" "$option" '')" = "$all" ]
        done
        [ "$(complete my.csv "$option" la)" = latency_ms ]
        [ "$(complete uniq my.csv "$option" = la)" = latency_ms ]
    done
    [ "$(complete my.csv -f id,lat)" = id,latency_ms ]
    [ "$(complete my.csv --where "'long")" = 'long name' ]
    [ "$(complete t.tsv -f '')" = $'one\ntwo' ]
    [ "$(complete -d \; s.txt -f '')" = $'first\nsecond' ]
    [ "$(complete my.csv -o t.tsv -f la)" = latency_ms ]
    [ -z "$(complete access.log -f '')" ]
    [ -z "$(complete missing.csv --by '')" ]
    # zsh: the same names, by the same function
    ! command -v zsh >/dev/null || [ "$(LC_ALL=C.UTF-8 zsh -fc "$(cat "$srcdir/completions/header.sh")
        _gpuhist_header --csv my.csv.gz --by ''")" = $'id\nlong name\nlatency_ms\ngröße' ]
    zsh_specs bash uniq | grep -Fqx -e '*--by=[group by column N or NAME: one result per group]:COLUMN:_gpuhist_columns'
}

# fish_complete LINE: prints fish's offers for its last word, one per line, without descriptions.
fish_complete() {
    HOME=$BATS_TEST_TMPDIR fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$completions/gpuhist.fish" "$1" |
        sed 's/\t.*//'
}

# bats test_tags=later
@test "fish: the options of each operation, their values, lists, columns and files" {
    command -v fish >/dev/null || skip "no fish"
    cd "$BATS_TEST_TMPDIR"
    printf 'id,"a ""b""","long name",2017,latency_ms\n1,2,3,4,5\n' >my.csv
    gzip -k my.csv
    printf 'one\ttwo\n' >t.tsv
    printf 'first;second\n' >s.txt
    touch reading
    for operation in $operations; do
        fish_complete "gpuhist $operation -" | grep -- '^-' | grep -v '^-.[a-z]*-*[a-z]*=' | sort -u >offered
        diff <(help_options "$operation") offered
    done
    [ "$(fish_complete 'gpuhist re' | sort)" = $'reading\nreduce' ]
    [ "$(fish_complete 'gpuhist --bins 5 re')" = reading ]
    [ "$(fish_complete 'gpuhist reduce sum,mi')" = 'sum,min' ]
    for option in --type --format --engine --invalid --outside --decompress --sort; do
        diff <(complete "$option" '' | sort) <(fish_complete "gpuhist --bins 9 $option " | sort)
    done
    [ "$(fish_complete 'gpuhist count --any-of @rea')" = @reading ]
    [ "$(fish_complete 'gpuhist -o rea')" = reading ]
    [ -z "$(fish_complete 'gpuhist --bins rea')" ]
    [ "$(fish_complete 'gpuhist my.csv --by ' | sort)" = $'id\nlatency_ms\nlong name' ]
    [ "$(fish_complete 'gpuhist my.csv.gz -f id,lat')" = id,latency_ms ]
    [ "$(fish_complete 'gpuhist my.csv -o t.tsv -f lat')" = latency_ms ]
    [ "$(fish_complete 'gpuhist -d ";" s.txt -f ' | sort)" = $'first\nsecond' ]
    [ "$(fish_complete 'gpuhist t.tsv --where ' | sort)" = $'one\ntwo' ]
    [ -z "$(fish_complete 'gpuhist reading -f ')" ]
}

@test "make install puts them where shells look" {
    makefile=${GPUHIST%/*}/Makefile
    [ -e "$makefile" ] || skip "no build directory"
    make -s -C "${GPUHIST%/*}" install-data DESTDIR="$BATS_TEST_TMPDIR/to" prefix=/usr >/dev/null
    cd "$BATS_TEST_TMPDIR"/to/usr/share
    cmp "$completions/gpuhist.bash" bash-completion/completions/gpuhist.bash
    cmp "$completions/gpuhist.fish" fish/vendor_completions.d/gpuhist.fish
    cmp "$completions/_gpuhist" zsh/site-functions/_gpuhist
}
