# _gpuhist_header WORD...: prints the column names in the header of the last file on the command
# line, one per line, if its options or name tell the header's format. Works in bash and zsh.
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
            # Names that look like numbers or contain these characters would need quotes.
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
