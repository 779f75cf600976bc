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

# _gpuhist_header WORD...: prints the names in the header of the last file that a command line names, one a line,
# if its options or its name say how a header is written. (The same in bash and zsh.)
_gpuhist_header() {
    local word before='' file='' plain='' delimiter='' line='' name='' c='' is_quoted='' i=0
    for word in "$@"; do
        word=${word//\\/}
        word=${word/#\~\//$HOME/}
        case $before in
        -o | --output | --save | --purged) ;;
        -d | --delimiter) delimiter=$word ;;
        *) [[ ! -f $word ]] || file=$word ;;
        esac
        case $word in
        --csv) delimiter=, ;;
        --delimiter=* | -d?) delimiter=${word#-d} delimiter=${delimiter#*=} ;;
        esac
        [[ $word == '=' ]] || before=$word
    done
    [[ -n $file ]] || return 0
    case $file in
    *.gz) line=$(gzip -dc "$file" 2>/dev/null | head -n 1) plain=${file%.gz} ;;
    *.zst) line=$(zstd -dc "$file" 2>/dev/null | head -n 1) plain=${file%.zst} ;;
    *.xz) line=$(xz -dc "$file" 2>/dev/null | head -n 1) plain=${file%.xz} ;;
    *.bz2) line=$(bzip2 -dc "$file" 2>/dev/null | head -n 1) plain=${file%.bz2} ;;
    *.lz4) line=$(lz4 -dc "$file" 2>/dev/null | head -n 1) plain=${file%.lz4} ;;
    *) line=$(head -n 1 "$file" 2>/dev/null | tr -d '\000') plain=$file ;;
    esac
    case $plain in
    *.csv) delimiter=${delimiter:-,} ;;
    *.tsv) delimiter=${delimiter:-$'\t'} ;;
    esac
    [[ -n $delimiter ]] || return 0
    [[ $delimiter != '\t' && $delimiter != t ]] || delimiter=$'\t'
    line=${line#$'\xef\xbb\xbf'}
    line=${line%$'\r'}$delimiter
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:$i:1}
        if [[ -n $is_quoted && ${line:$i:2} == '""' ]]; then
            name+=$c
            i=$((i + 1))
        elif [[ $c == '"' ]]; then
            [[ -n $is_quoted ]] && is_quoted='' || is_quoted=1
        elif [[ $c == "$delimiter" && -z $is_quoted ]]; then
            # What looks like a number or has these characters would have to be typed in quotes.
            case $name in
            '' | *[,:\"]*) ;;
            *[!0-9-]*) printf '%s\n' "$name" ;;
            esac
            name=''
        else
            name+=$c
        fi
    done
}

# _gpuhist_columns: offers the columns of the file that is named whose names begin with the last part of $cur.
_gpuhist_columns() {
    local name listed='' quote=''
    case $cur in
    [\'\"]*) quote=${cur:0:1} cur=${cur:1} ;;
    esac
    [[ $cur != *,* ]] || listed=${cur%,*},
    while IFS= read -r name; do
        [[ $name == "${cur##*,}"* ]] || continue
        [[ -n $quote ]] || printf -v name %q "$name"
        COMPREPLY+=("$listed$name")
    done < <(_gpuhist_header "${COMP_WORDS[@]:1}")
    [[ $option != --where ]] || compopt -o nospace 2>/dev/null
    return 0
}

# BEGIN of options, made from the tables of options, operations and reductions by "make option-documents"
_gpuhist_operations=(
    'histogram:count the values in each bin (the default)'
    'uniq:count each different value'
    'reduce:print count, sum, min, max, mean, ... or some of them'
    'count:count the values that meet each predicate'
    'stalin-sort:drop each element that is less than one before it'
    'merge:add up states that runs with --save have written'
    'info:print the version, and which engines and formats work'
)
_gpuhist_reductions='count sum min max mean variance stddev svar sstdev and or xor distinct mode median q1 q3 iqr p99'

# _gpuhist_options WORD: prints the options of the operation that a first word names.
_gpuhist_options() {
    case $1 in
    uniq | distinct)
        echo -f --field --by --where --weight --names --top --min-count --other --sort --percent \
            --cumulative --quantiles --format --header-out --plot --title --label --log-count \
            --zeros -o --output --save -t --type --binary --text -d --delimiter --csv --jsonl \
            --base --decimals --header --comment -z --zero-terminated --record --offset \
            --time-format --year --invalid --decompress --memory -S --buffer-size \
            -T --temporary-directory --engine --gpus --threads --chunk-size --progress \
            --no-progress --every --window --stats -v --verbose -q --quiet -h --help -V --version
        ;;
    reduce)
        echo -f --field --by --where --names --interpolate --format --header-out -o --output \
            --save -t --type --binary --text -d --delimiter --csv --jsonl --base --decimals \
            --header --comment -z --zero-terminated --record --offset --time-format --year \
            --invalid --decompress --memory -S --buffer-size -T --temporary-directory --engine \
            --gpus --threads --chunk-size --progress --no-progress --every --window --stats \
            -v --verbose -q --quiet -h --help -V --version
        ;;
    count)
        echo -f --field --by --where --names --eq --ne --lt --le --gt --ge --in --any-of --all \
            --format --header-out -o --output --save -t --type --binary --text -d --delimiter \
            --csv --jsonl --base --decimals --header --comment -z --zero-terminated --record \
            --offset --time-format --year --invalid --decompress --memory -S --buffer-size \
            -T --temporary-directory --engine --gpus --threads --chunk-size --progress \
            --no-progress --every --window --stats -v --verbose -q --quiet -h --help -V --version
        ;;
    stalin-sort | stalin)
        echo -f --field --where --names --strict --descending --purged -o --output -t --type \
            --binary --text -d --delimiter --csv --jsonl --base --decimals --header --comment \
            -z --zero-terminated --record --offset --time-format --year --invalid --decompress \
            --memory --engine --gpus --threads --chunk-size --progress --no-progress --stats \
            -v --verbose -q --quiet -h --help -V --version
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
            --comment -z --zero-terminated --record --offset --time-format --year --invalid \
            --decompress --memory -S --buffer-size -T --temporary-directory --engine --gpus \
            --threads --chunk-size --progress --no-progress --every --window --stats -v --verbose \
            -q --quiet -h --help -V --version
        ;;
    esac
}

# _gpuhist_value OPTION: offers values for it. Fails if the option takes no value.
_gpuhist_value() {
    case $1 in
    -f | --field) _gpuhist_columns ;;
    --by) _gpuhist_columns ;;
    --where) _gpuhist_columns ;;
    --weight) _gpuhist_columns ;;
    -b | --bins) ;;
    --range) _gpuhist_complete 'auto' ;;
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
    --year) ;;
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

# _gpuhist_first: puts operations before the files in $COMPREPLY. In a list of several words, which is shown and not
# inserted, each has its description.
_gpuhist_first() {
    local operation name files=() names=() described=()
    ((${#COMPREPLY[@]} == 0)) || mapfile -t files < <(printf '%s\n' "${COMPREPLY[@]}" | sort)
    for operation in "${_gpuhist_operations[@]}"; do
        name=${operation%%:*}
        [[ $name == "$cur"* ]] || continue
        names+=("$name")
        described+=("$(printf '%-11s  (%s)' "$name" "${operation#*:}")")
    done
    compopt -o nosort 2>/dev/null
    COMPREPLY=("${names[@]}" "${files[@]}")
    if ((${#COMPREPLY[@]} > 1)) && [[ ${COMP_TYPE-} == 63 || ${COMP_TYPE-} == 33 ]]; then
        COMPREPLY=("${described[@]}" "${files[@]}")
    fi
}

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
        _gpuhist_first
    elif [[ ${COMP_WORDS[1]} == reduce ]] && ((COMP_CWORD == 2)); then
        _gpuhist_reductions
    fi
}

complete -F _gpuhist gpuhist
