# bash completion for gpuhist: operations, the options of each, option values and files.
# shellcheck shell=bash

# _gpuhist_complete WORDS: offers the words that start with $cur.
_gpuhist_complete() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

# _gpuhist_files: offers the files whose names start with $cur.
_gpuhist_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

# _gpuhist_directories: offers the directories whose names start with $cur.
_gpuhist_directories() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$cur")
}

# _gpuhist_at_files: offers files for the name that follows the @ in $cur. readline does not treat
# @NAME as a file name, so this function quotes the names itself.
_gpuhist_at_files() {
    local name
    while IFS= read -r name; do
        if [[ -d $name ]]; then
            compopt -o nospace 2>/dev/null
            name+=/
        fi
        COMPREPLY+=("$(printf '@%q' "$name")")
    done < <(compgen -f -- "${cur#@}")
}

# _gpuhist_reductions: offers the list of reductions in $cur, extended by one more.
_gpuhist_reductions() {
    local listed=''
    [[ $cur != *,* ]] || listed=${cur%,*},
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -P "$listed" -W "$_gpuhist_reductions" -- "${cur##*,}")
    compopt -o nospace 2>/dev/null
}

# BEGIN of options, made from the tables of options, operations and reductions by "make option-documents"
_gpuhist_operations='histogram uniq reduce count stalin-sort merge info'
_gpuhist_reductions='count sum min max mean variance stddev svar sstdev and or xor distinct mode median q1 q3 iqr p99'

# _gpuhist_options WORD: prints the options of the operation that a first word names.
_gpuhist_options() {
    case $1 in
    uniq | distinct)
        echo -f --field --by --where --weight --names --top --min-count --other --sort --percent \
            --cumulative --quantiles --format --header-out --plot --title --label --log-count \
            --zeros -o --output --save -t --type --binary --text -d --delimiter --csv --jsonl \
            --base --decimals --header --comment -z --zero-terminated --record --offset \
            --time-format --invalid --decompress --memory -S --buffer-size \
            -T --temporary-directory --engine --gpus --threads --chunk-size --progress \
            --no-progress --every --window --stats -v --verbose -q --quiet -h --help -V --version
        ;;
    reduce)
        echo -f --field --by --where --names --interpolate --format --header-out -o --output \
            --save -t --type --binary --text -d --delimiter --csv --jsonl --base --decimals \
            --header --comment -z --zero-terminated --record --offset --time-format --invalid \
            --decompress --memory -S --buffer-size -T --temporary-directory --engine --gpus \
            --threads --chunk-size --progress --no-progress --every --window --stats -v --verbose \
            -q --quiet -h --help -V --version
        ;;
    count)
        echo -f --field --by --where --names --eq --ne --lt --le --gt --ge --in --any-of --all \
            --format --header-out -o --output --save -t --type --binary --text -d --delimiter \
            --csv --jsonl --base --decimals --header --comment -z --zero-terminated --record \
            --offset --time-format --invalid --decompress --memory -S --buffer-size \
            -T --temporary-directory --engine --gpus --threads --chunk-size --progress \
            --no-progress --every --window --stats -v --verbose -q --quiet -h --help -V --version
        ;;
    stalin-sort | stalin)
        echo -f --field --where --names --strict --descending --purged -o --output -t --type \
            --binary --text -d --delimiter --csv --jsonl --base --decimals --header --comment \
            -z --zero-terminated --record --offset --time-format --invalid --decompress --memory \
            --engine --gpus --threads --chunk-size --progress --no-progress --stats -v --verbose \
            -q --quiet -h --help -V --version
        ;;
    merge)
        echo --top --min-count --other --sort --percent --cumulative --quantiles --format \
            --header-out --plot --title --label --log-count --zeros -o --output --save \
            -S --buffer-size -T --temporary-directory --threads --stats -q --quiet -h --help \
            -V --version
        ;;
    info)
        echo -h --help -V --version
        ;;
    *)
        echo -f --field --by --where --weight --names -b --bins --range -w --width --log2 --log10 \
            --edges --outside --top --min-count --other --sort --percent --cumulative --quantiles \
            --format --header-out --plot --title --label --log-count --zeros -o --output --save \
            -t --type --binary --text -d --delimiter --csv --jsonl --base --decimals --header \
            --comment -z --zero-terminated --record --offset --time-format --invalid --decompress \
            --memory -S --buffer-size -T --temporary-directory --engine --gpus --threads \
            --chunk-size --progress --no-progress --every --window --stats -v --verbose -q --quiet \
            -h --help -V --version
        ;;
    esac
}

# _gpuhist_value OPTION: offers values for it. Fails if the option takes no value.
_gpuhist_value() {
    case $1 in
    -f | --field) ;;
    --by) ;;
    --where) ;;
    --weight) ;;
    -b | --bins) ;;
    --range) ;;
    -w | --width) ;;
    --edges) [[ $cur != @* ]] || _gpuhist_at_files ;;
    --outside) _gpuhist_complete 'report abort clamp ignore' ;;
    --eq) ;;
    --ne) ;;
    --lt) ;;
    --le) ;;
    --gt) ;;
    --ge) ;;
    --in) ;;
    --any-of) [[ $cur != @* ]] || _gpuhist_at_files ;;
    --purged) _gpuhist_files ;;
    --top) ;;
    --min-count) ;;
    --sort) _gpuhist_complete 'bin count' ;;
    --quantiles) ;;
    --format) _gpuhist_complete 'tsv csv json jsonl raw npy gnuplot svg' ;;
    --title) ;;
    --label) ;;
    -o | --output) _gpuhist_files ;;
    --save) _gpuhist_files ;;
    -t | --type) _gpuhist_complete "$(echo {i,u}{8,16,32,64}{,le,be})" ;;
    -d | --delimiter) ;;
    --base) _gpuhist_complete '10 16' ;;
    --decimals) ;;
    --comment) ;;
    --record) ;;
    --offset) ;;
    --time-format) ;;
    --invalid) _gpuhist_complete 'abort fail warn ignore' ;;
    --decompress) _gpuhist_complete 'auto none' ;;
    --memory) ;;
    -S | --buffer-size) ;;
    -T | --temporary-directory) _gpuhist_directories ;;
    --engine) _gpuhist_complete 'auto cpu cuda' ;;
    --gpus) ;;
    --threads) ;;
    --chunk-size) ;;
    --every) _gpuhist_complete '500ms 1s 10s 1m 1h' ;;
    --window) _gpuhist_complete '1m 5m 1h' ;;
    *) return 1 ;;
    esac
}
# END of options

_gpuhist() {
    local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} i

    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then
            _gpuhist_files
            return
        fi
    done
    # bash splits "--option=value" and "@file" into several words. Offered words include the @.
    if [[ $cur == = || $cur == =@ ]]; then
        cur=${cur#=}
    elif [[ $option == = || $option == @ || $option == =@ ]]; then
        cur=${option#=}$cur option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if ((COMP_CWORD > 1)) && _gpuhist_value "$option"; then
        return
    elif [[ $cur == -* ]]; then
        _gpuhist_complete "$(_gpuhist_options "${COMP_WORDS[1]}")"
        return
    fi
    _gpuhist_files
    if ((COMP_CWORD == 1)); then
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < \
            <(compgen -W "$_gpuhist_operations" -- "$cur")
    elif [[ ${COMP_WORDS[1]} == reduce ]] && ((COMP_CWORD == 2)); then
        _gpuhist_reductions
    fi
}

complete -F _gpuhist gpuhist
