# fish completion for gpuhist: operations, the options of each, option values and files.

# Prints the words of the command line before the one that is completed, without the program.
function __gpuhist_words
    set -l words (commandline -opc)
    test (count $words) -gt 1 && printf '%s\n' $words[2..-1]
end

# Succeeds if no word but the program is there yet.
function __gpuhist_is_first
    test (count (__gpuhist_words)) -eq 0
end

# Succeeds if the command line has one of these operations. Without a word it has the default one.
function __gpuhist_does
    set -l operation (__gpuhist_operation (__gpuhist_words)[1])
    contains -- $operation $argv
end

# The last word, without the name of its option.
function __gpuhist_value
    set -l token (commandline -ct)
    string replace -r -- '^-[^=]*=' '' "$token"
end

# Offers the list of reductions that is typed, extended by one more.
function __gpuhist_list_reductions
    set -l value (__gpuhist_value)
    set -l listed (string replace -rf -- '^(.*,)[^,]*$' '$1' "$value")
    for reduction in $__gpuhist_reductions
        echo "$listed$reduction"
    end
end

# Offers files for the name that follows an @.
function __gpuhist_at_files
    set -l value (__gpuhist_value)
    string match -q -- '@*' "$value"; or return
    for path in (__fish_complete_path (string sub -s 2 -- $value))
        echo @$path
    end
end

# Offers the names in the header of the last file of the command line, if its options or its name say
# what divides them. A name that would have to be typed in quotes is left out.
function __gpuhist_columns
    set -l delimiter
    set -l file
    for word in (commandline -op)
        test -f "$word"; and set file $word
        test "$word" = --csv; and set delimiter ,
    end
    test -n "$file"; or return
    string match -q -- '*.csv' $file; and set delimiter ,
    string match -q -- '*.tsv' $file; and set delimiter \t
    test -n "$delimiter"; or return
    set -l value (__gpuhist_value)
    set -l listed (string replace -rf -- '^(.*,)[^,]*$' '$1' "$value")
    for name in (head -n 1 $file | string trim -r -c \r | string split $delimiter)
        string match -qr -- '^$|[,:"]' $name; or echo "$listed$name"
    end
end

# BEGIN of options, made from the tables of options, operations and reductions by "make option-documents"
function __gpuhist_operation -a word
    switch "$word"
        case histogram hist
            echo histogram
        case uniq distinct
            echo uniq
        case reduce
            echo reduce
        case count
            echo count
        case stalin-sort stalin
            echo stalin-sort
        case merge
            echo merge
        case info
            echo info
        case '*'
            echo histogram
    end
end
set -g __gpuhist_reductions count sum min max mean variance stddev svar sstdev and or xor distinct mode median q1 q3 iqr p99
complete -c gpuhist -n __gpuhist_is_first -a histogram -d 'count the values in each bin (the default)'
complete -c gpuhist -n __gpuhist_is_first -a uniq -d 'count each different value'
complete -c gpuhist -n __gpuhist_is_first -a reduce -d 'print count, sum, min, max, mean, ... or some of them'
complete -c gpuhist -n __gpuhist_is_first -a count -d 'count the values that meet each predicate'
complete -c gpuhist -n __gpuhist_is_first -a stalin-sort -d 'drop each element that is less than one before it'
complete -c gpuhist -n __gpuhist_is_first -a merge -d 'add up states that runs with --save have written'
complete -c gpuhist -n __gpuhist_is_first -a info -d 'print the version, and which engines and formats work'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -s f -l field -x -a '(__gpuhist_columns)' -d 'text: field N (-1: last) or NAME (default: all fields)'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count' -l by -x -a '(__gpuhist_columns)' -d 'the result of each group of rows: N, NAME or u32@8'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l where -x -a '(__gpuhist_columns)' -d 'only rows with "9>=500", "7:text=/"; repeated: and'
complete -c gpuhist -n '__gpuhist_does histogram uniq' -l weight -x -a '(__gpuhist_columns)' -d 'instead of counting, add up field N|NAME, or u32@8'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l names -d 'columns are names, also those that are numbers'
complete -c gpuhist -n '__gpuhist_does histogram' -s b -l bins -x -d 'N bins: the values 0 to N-1, or equal parts of --range'
complete -c gpuhist -n '__gpuhist_does histogram' -l range -x -a 'auto' -d 'only values from LO to below HI; auto: all values'
complete -c gpuhist -n '__gpuhist_does histogram' -s w -l width -x -d 'bins of width W, over --range or over all values'
complete -c gpuhist -n '__gpuhist_does histogram' -l log2 -d 'bins by powers of 2, or by 2^K equal parts of each'
complete -c gpuhist -n '__gpuhist_does histogram' -l log10 -d 'bins by powers of 10, for values of any sign'
complete -c gpuhist -n '__gpuhist_does histogram' -l edges -x -a '(__gpuhist_at_files)' -d 'bins between the edges 0,10,50,... or those in @FILE'
complete -c gpuhist -n '__gpuhist_does histogram' -l outside -x -a 'report abort clamp ignore' -d 'outside values: report (default), abort, clamp, ignore'
complete -c gpuhist -n '__gpuhist_does count' -l eq -x -d 'values equal to V'
complete -c gpuhist -n '__gpuhist_does count' -l ne -x -d 'values not equal to V'
complete -c gpuhist -n '__gpuhist_does count' -l lt -x -d 'values less than V'
complete -c gpuhist -n '__gpuhist_does count' -l le -x -d 'values less than or equal to V'
complete -c gpuhist -n '__gpuhist_does count' -l gt -x -d 'values greater than V'
complete -c gpuhist -n '__gpuhist_does count' -l ge -x -d 'values greater than or equal to V'
complete -c gpuhist -n '__gpuhist_does count' -l in -x -d 'values with LO <= v < HI'
complete -c gpuhist -n '__gpuhist_does count' -l any-of -x -a '(__gpuhist_at_files)' -d 'values in the list 1,2,... or in @FILE'
complete -c gpuhist -n '__gpuhist_does count' -l all -d 'all values'
complete -c gpuhist -n '__gpuhist_does stalin-sort' -l strict -d 'also purge elements equal to the last survivor'
complete -c gpuhist -n '__gpuhist_does stalin-sort' -l descending -d 'purge greater elements instead of lesser ones'
complete -c gpuhist -n '__gpuhist_does stalin-sort' -l purged -r -F -d 'write the purged elements to FILE'
complete -c gpuhist -n '__gpuhist_does histogram uniq merge' -l top -x -d 'print only the K lines with the highest counts'
complete -c gpuhist -n '__gpuhist_does histogram uniq merge' -l min-count -x -d 'print only the lines with counts of N and more'
complete -c gpuhist -n '__gpuhist_does histogram uniq merge' -l other -d 'add a line for what --top and --min-count leave out'
complete -c gpuhist -n '__gpuhist_does histogram uniq merge' -l sort -x -a 'bin count' -d 'order: bin (default), or count (default with --top)'
complete -c gpuhist -n '__gpuhist_does histogram uniq merge' -l percent -d 'add a column: percentages'
complete -c gpuhist -n '__gpuhist_does histogram uniq merge' -l cumulative -d 'add a column: running totals'
complete -c gpuhist -n '__gpuhist_does histogram uniq merge' -l quantiles -x -d 'print quantiles, in percent, such as 50,99,99.9'
complete -c gpuhist -n '__gpuhist_does reduce' -l interpolate -d 'quantiles lie between two values, as in numpy'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count merge' -l format -x -a 'tsv csv json jsonl raw npy gnuplot svg' -d 'tsv, csv, json, jsonl; of bins: raw, npy, gnuplot, svg'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count merge' -l header-out -d 'tsv: print the names of the columns above the lines'
complete -c gpuhist -n '__gpuhist_does histogram uniq merge' -l plot -d 'draw bars (default at a terminal), of groups heat maps'
complete -c gpuhist -n '__gpuhist_does histogram uniq merge' -l title -x -d 'of a picture: its title'
complete -c gpuhist -n '__gpuhist_does histogram uniq merge' -l label -x -d 'of a picture: the name of the values'
complete -c gpuhist -n '__gpuhist_does histogram uniq merge' -l log-count -d 'of a picture: counts on a logarithmic scale'
complete -c gpuhist -n '__gpuhist_does histogram uniq merge' -l zeros -d 'print empty bins, too'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort merge' -s o -l output -r -F -d 'write the result to FILE once it is complete'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count merge' -l save -r -F -d 'also save the state for merge (-: print it instead)'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -s t -l type -x -a '{i,u}{8,16,32,64}{,le,be}' -d 'i8 u8 i16 u16 i32 u32 i64 u64, plus le or be: u16be'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l binary -d 'the input is binary, of i32 unless -t is given'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l text -d 'the input is text (default: detected)'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -s d -l delimiter -x -d 'text: C separates fields (default: blanks)'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l csv -d 'text: commas separate fields, which may be quoted'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l jsonl -d 'text: a JSON object a line; columns: .a.b or names'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l base -x -a '10 16' -d 'text: base 10 or 16; all but stalin-sort print base 10'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l decimals -x -d 'text: numbers such as 12.34, with at most N decimals'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l header -d 'text: skip the first line, or N lines, of each file'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l comment -x -d 'text: skip lines that begin with C'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -s z -l zero-terminated -d 'text: rows end with NUL, not with newline'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l record -x -d 'binary: one integer of each record of BYTES'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l offset -x -d 'binary: where the integer is in its record (default 0)'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l time-format -x -d 'of kind time, as of strptime: "%d.%m.%Y %H:%M"'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l year -x -d 'of a --time-format without one (default: the last)'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l invalid -x -a 'abort fail warn ignore' -d 'invalid tokens: abort (default), fail, warn, ignore'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l decompress -x -a 'auto none' -d 'auto (default), or none: read files as they are'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l memory -x -d 'limit for a zstd frame or xz block (default: 128M)'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count merge' -s S -l buffer-size -x -d 'memory for counts (default: half of what is free)'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count merge' -s T -l temporary-directory -x -a '(__fish_complete_directories)' -d 'temporary files of counts ($TMPDIR or /tmp)'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l engine -x -a 'auto cpu cuda' -d 'auto (default), cpu or cuda'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l gpus -x -d 'use these GPUs, such as 0,1'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort merge' -l threads -x -d 'worker threads (default: all processors)'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l chunk-size -x -d 'bytes that a thread reads at a time'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l progress -d 'show progress (default: at a terminal); --no-progress'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -l no-progress -d 'do not show progress'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count' -l every -x -a '500ms 1s 10s 1m 1h' -d 'print the result so far every 500ms, 10s, 1.5m, 2h'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count' -l window -x -a '1m 5m 1h' -d 'with --every: of the last 5m, 1h instead of all so far'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort merge' -l stats -d 'print statistics on stderr: volume, time, rates'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort' -s v -l verbose -d 'report on stderr which engines run, and why'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort merge' -s q -l quiet -d 'no notes, and no report of values outside'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort merge info' -s h -l help -d 'print this help; -V, --version: print the version'
complete -c gpuhist -n '__gpuhist_does histogram uniq reduce count stalin-sort merge info' -s V -l version -d 'print the version and exit'
# END of options

complete -c gpuhist -n '__gpuhist_does reduce; and test (count (__gpuhist_words)) -eq 1' \
    -a '(__gpuhist_list_reductions)'
