# bash completion for gpuhist: operations, the options of each, option values and files.
# shellcheck shell=bash

# _gpuhist_options OPERATION: prints the options that it takes, the same as its --help.
_gpuhist_options() {
    local results='--format --save --every' tables='-S --buffer-size -T --temporary-directory'
    local bins='--zeros --top --min-count --other --sort --percent --cumulative --quantiles --plot'
    local common='-t --type --binary --record --offset --text -f --field -d --delimiter --csv --base --decimals
        --header --invalid --decompress --memory -o --output --engine --gpus --threads --chunk-size --progress
        --no-progress --stats -v --verbose -q --quiet -h --help -V --version'

    case $1 in
    histogram)
        echo -b --bins --range -w --width --log2 --log10 --edges --outside --weight "$bins" "$tables" \
            "$results" "$common"
        ;;
    uniq) echo --weight "$bins" "$tables" "$results" "$common" ;;
    reduce) echo --by "$tables" "$results" "$common" ;;
    count) echo --eq --ne --lt --le --gt --ge --in --any-of --all --by -S --buffer-size "$results" "$common" ;;
    stalin-sort) echo --strict --descending --purged "$common" ;;
    merge) echo "$bins" "$tables" --format -o --output --save --threads --stats -q --quiet -h --help \
        -V --version ;;
    info) echo -h --help -V --version ;;
    esac
}

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
    local names='count sum min max mean variance stddev and or xor distinct mode median p99' listed=''
    [[ $cur != *,* ]] || listed=${cur%,*},
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -P "$listed" -W "$names" -- "${cur##*,}")
    compopt -o nospace 2>/dev/null
}

# _gpuhist_value OPTION: offers values for it. Fails if the option takes no value.
_gpuhist_value() {
    case $1 in
    -t | --type) _gpuhist_complete "$(echo {i,u}{8,16,32,64}{,le,be})" ;;
    --base) _gpuhist_complete '10 16' ;;
    --invalid) _gpuhist_complete 'abort fail warn ignore' ;;
    --decompress) _gpuhist_complete 'auto none' ;;
    --outside) _gpuhist_complete 'report abort clamp ignore' ;;
    --format) _gpuhist_complete 'tsv csv json raw gnuplot svg' ;;
    --sort) _gpuhist_complete 'bin count' ;;
    --engine) _gpuhist_complete 'auto cpu cuda' ;;
    --every) _gpuhist_complete '500ms 1s 10s 1m 1h' ;;
    -o | --output | --save | --purged) _gpuhist_files ;;
    -T | --temporary-directory) _gpuhist_directories ;;
    --edges | --any-of) [[ $cur != @* ]] || _gpuhist_at_files ;;
    -b | --bins | --range | -w | --width | --top | --min-count | --quantiles | --decimals | --record | \
        --offset | --weight | --by | -f | --field | -d | --delimiter | --memory | -S | --buffer-size | --gpus | \
        --threads | --chunk-size | --eq | --ne | --lt | --le | --gt | --ge | --in) ;;
    *) return 1 ;;
    esac
}

_gpuhist() {
    local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} operation=histogram i

    COMPREPLY=()
    case ${COMP_WORDS[1]} in
    stalin) operation=stalin-sort ;;
    distinct) operation='uniq' ;;
    uniq | reduce | count | stalin-sort | merge | info) operation=${COMP_WORDS[1]} ;;
    esac
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
        _gpuhist_complete "$(_gpuhist_options "$operation")"
        return
    fi
    _gpuhist_files
    if ((COMP_CWORD == 1)); then
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < \
            <(compgen -W 'histogram uniq reduce count stalin-sort merge info' -- "$cur")
    elif [[ $operation == reduce ]] && ((COMP_CWORD == 2)); then
        _gpuhist_reductions
    fi
}

complete -F _gpuhist gpuhist
