#!/usr/bin/env bash
# Compares gpuhist with other tools, as whole processes, on this machine: each row runs its two
# commands in turn, A B A B ..., and prints the medians and the ratio of the medians. Rows with a tool
# that is not installed are omitted.
#
# usage: make bench, or GPUHIST=./gpuhist READ_PIPE=./bench/read_pipe STRAIGHT_LOOP=./bench/straight_loop bench/compare.sh
#   RUNS=7           number of runs of each command
#   BENCH_DIR=/tmp   directory for the input (about 2 GB, removed at the end)
#   BENCH_GIB=8      the size of the file for a GPU
#   ONLY=pipes       only the table of pipes
set -euo pipefail

: "${GPUHIST:=./gpuhist}" "${READ_PIPE:=./bench/read_pipe}" "${RUNS:=7}"
: "${STRAIGHT_LOOP:=./bench/straight_loop}"
dir=$(mktemp -d "${BENCH_DIR:-/tmp}/gpuhist-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT

python=
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import numpy' 2>/dev/null; then
        python=$candidate
        break
    fi
done
duck_python=
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import duckdb' 2>/dev/null; then
        duck_python=$candidate
        break
    fi
done
[ -n "$python" ] || { echo "compare.sh: needs python3 with numpy" >&2; exit 1; }

# seconds COMMAND: prints the wall time of a shell command; discards its output.
seconds() {
    local start=$EPOCHREALTIME end
    bash -c "$1" >/dev/null 2>&1 || { echo "compare.sh: failed: $1" >&2; exit 1; }
    end=$EPOCHREALTIME
    awk -v a="$start" -v b="$end" 'BEGIN { printf "%.6f\n", b - a }'
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# row NAME VALUES A B: A is gpuhist's command, B the other's; VALUES the number of values counted.
row() {
    local name=$1 values=$2 a=$3 b=$4 i
    : >"$dir/a.times"
    : >"$dir/b.times"
    seconds "$a" >"$dir/warm"
    seconds "$b" >"$dir/warm"
    for ((i = 0; i < RUNS; i++)); do
        seconds "$a" >>"$dir/a.times"
        seconds "$b" >>"$dir/b.times"
    done
    awk -v name="$name" -v a="$(median <"$dir/a.times")" -v b="$(median <"$dir/b.times")" \
        -v values="$values" 'BEGIN { printf "| %s | %.4f | %.4f | %.2f | %.0f |\n", name, a, b, a / b, values / a / 1e6 }'
}

# engines NAME ARGUMENTS: gpuhist with the default engine, and with each engine.
engines() {
    local name=$1 arguments=$2 i engine
    for engine in auto cpu cuda; do
        seconds "'$GPUHIST' $arguments --engine $engine" >"$dir/warm"
        : >"$dir/$engine.times"
    done
    for ((i = 0; i < RUNS; i++)); do
        for engine in auto cpu cuda; do
            seconds "'$GPUHIST' $arguments --engine $engine" >>"$dir/$engine.times"
        done
    done
    awk -v name="$name" -v auto="$(median <"$dir/auto.times")" -v cpu="$(median <"$dir/cpu.times")" \
        -v cuda="$(median <"$dir/cuda.times")" 'BEGIN {
            printf "| %s | %.4f | %.4f | %.4f | %.2f |\n", name, auto, cpu, cuda, auto / (cpu < cuda ? cpu : cuda) }'
}

have() { command -v "$1" >/dev/null; }

has_gpu=
if "$GPUHIST" info | grep -q '^cuda: yes'; then has_gpu=1; fi

# pipe NAME WRITER ARGUMENTS READER: compares WRITER into gpuhist ARGUMENTS, with each engine, with WRITER
# into READER; the workers are the CPU workers of the last run.
pipe() {
    local name=$1 writer=$2 arguments=$3 reader=$4 i engine engines="cpu"
    [ -z "$has_gpu" ] || engines="cpu cuda auto"
    : >"$dir/reader.times"
    for engine in $engines; do
        seconds "$writer | '$GPUHIST' $arguments --engine $engine" >"$dir/warm"
        : >"$dir/$engine.times"
    done
    for ((i = 0; i < RUNS; i++)); do
        seconds "$writer | $reader" >>"$dir/reader.times"
        for engine in $engines; do
            seconds "$writer | '$GPUHIST' $arguments --engine $engine --stats 2>'$dir/$engine.stats'" \
                >>"$dir/$engine.times"
        done
    done
    awk -v name="$name" -v reader="$(median <"$dir/reader.times")" -v cpu="$(median <"$dir/cpu.times")" \
        -v workers="$(sed -n 's/.*cpu: \([0-9]*\) worker.*/\1/p' "$dir/cpu.stats" | head -n 1)" \
        -v cuda="$([ -z "$has_gpu" ] || median <"$dir/cuda.times")" \
        -v auto="$([ -z "$has_gpu" ] || median <"$dir/auto.times")" 'BEGIN {
            printf "| %s | %.3f | %.3f | %d | %.2f |", name, reader, cpu, workers, cpu / reader
            if (auto != "")
                printf " %.3f | %.3f | %.2f | %.2f |", cuda, auto, auto / reader, auto / (cpu < cuda ? cpu : cuda)
            print "" }'
}

# Pipes: a user's command compared with a minimal reader of the pipe.
pipes() {
    "$python" - "$dir" <<'PYTHON'
import sys
import numpy as np
rng = np.random.default_rng(3)
with open(sys.argv[1] + "/ids.bin", "wb") as binary, open(sys.argv[1] + "/ids.txt", "w") as text:
    for _ in range(20):
        block = rng.integers(0, 5_000_000, 25_000_000, dtype=np.int32)
        block.tofile(binary)
        if _ < 2:
            part = "\n".join(map(str, block[:17_000_000].tolist())) + "\n"
        text.write(part)
PYTHON
    local ids="cat '$dir/ids.bin'" text="cat '$dir/ids.txt'"
    echo
    echo "Pipes: $(stat -c %s "$dir/ids.bin") bytes of int32, $(stat -c %s "$dir/ids.txt") bytes of text"
    echo
    if [ -n "$has_gpu" ]; then
        echo "| pipe | reader, s | cpu, s | workers | cpu / reader | cuda, s | auto, s | auto / reader | auto / better |"
        echo "|---|---|---|---|---|---|---|---|---|"
    else
        echo "| pipe | reader, s | cpu, s | workers | cpu / reader |"
        echo "|---|---|---|---|---|"
    fi
    pipe "256 bins, against wc -c" "$ids" "--bins 256 --outside ignore" "wc -c"
    pipe "5M bins, against wc -c" "$ids" "--bins 5M --format raw -o /dev/null" "wc -c"
    pipe "reduce sum, against wc -c" "$ids" "reduce sum" "wc -c"
    pipe "uniq --top 3, against wc -c" "$ids" "uniq --top 3" "wc -c"
    pipe "text, 5M bins, against cat" "$text" "--bins 5M --format raw -o /dev/null" "cat"
    pipe "text, reduce sum, against cat" "$text" "reduce sum" "cat"
    if have zstd; then
        zstd -q -T0 -1 "$dir/ids.bin" -o "$dir/ids.zst"
        pipe "zstd -dc, 5M bins, against cat" "zstd -dc '$dir/ids.zst'" "--bins 5M --format raw -o /dev/null" "cat"
    fi
    rm -f "$dir"/ids.*
}

if [ "${ONLY:-}" = pipes ]; then
    pipes
    exit
fi

"$python" - "$dir" <<'PYTHON'
import sys
import numpy as np
rng = np.random.default_rng(1)
count = 64 << 20
rng.integers(0, 256, count, dtype=np.int32).tofile(sys.argv[1] + "/256.bin")
rng.integers(0, 5_000_000, count, dtype=np.int32).tofile(sys.argv[1] + "/5M.bin")
np.full(count, 77, np.int32).tofile(sys.argv[1] + "/equal.bin")
values = rng.integers(-2**31, 2**31, count, dtype=np.int32)
values.tofile(sys.argv[1] + "/random.bin")
values.sort()
values.tofile(sys.argv[1] + "/sorted.bin")
rng.integers(0, 5_000_000, 1 << 20, dtype=np.int32).tofile(sys.argv[1] + "/1Mi.bin")
PYTHON
: >"$dir/empty"
n=67108864
numpy_count="import sys, numpy as np; np.bincount(np.fromfile(sys.argv[1], np.int32), minlength=int(sys.argv[2])).tofile(sys.argv[3])"

echo "$("$GPUHIST" --version), $(nproc) processors ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)), median of $RUNS"
"$GPUHIST" info | sed 1d
echo
echo "| 64Mi int32, CPU engine | gpuhist, s | other, s | ratio | M values/s |"
echo "|---|---|---|---|---|"
cpu="'$GPUHIST' --engine cpu --binary"
row "256 bins, file, against cat FILE" $n "$cpu --bins 256 '$dir/256.bin'" "cat '$dir/256.bin' >/dev/null"
row "256 bins, all equal, against cat FILE" $n "$cpu --bins 256 '$dir/equal.bin'" "cat '$dir/equal.bin' >/dev/null"
row "256 bins, pipe, against the bare reader" $n "cat '$dir/256.bin' | $cpu --bins 256" "cat '$dir/256.bin' | '$READ_PIPE'"
row "256 bins, file, against numpy" $n "$cpu --bins 256 --format raw -o '$dir/out' '$dir/256.bin'" "'$python' -c '$numpy_count' '$dir/256.bin' 256 '$dir/out'"
row "5M bins, file, against numpy" $n "$cpu --bins 5M --format raw -o '$dir/out' '$dir/5M.bin'" "'$python' -c '$numpy_count' '$dir/5M.bin' 5000000 '$dir/out'"
row "5M bins, file, one thread, against two" $n "$cpu --bins 5M --threads 1 --format raw -o '$dir/out' '$dir/5M.bin'" "$cpu --bins 5M --threads 2 --format raw -o '$dir/out' '$dir/5M.bin'"
row "5M bins, all equal, against numpy" $n "$cpu --bins 5M --format raw -o '$dir/out' '$dir/equal.bin'" "'$python' -c '$numpy_count' '$dir/equal.bin' 5000000 '$dir/out'"
row "1Mi values, 5M bins, tsv, against od, sort, uniq" 1048576 "$cpu --bins 5M '$dir/1Mi.bin'" "od -An -v -w4 -td4 '$dir/1Mi.bin' | sort -n | uniq -c"
row "1Mi values, 5M bins, tsv, against od, awk" 1048576 "$cpu --bins 5M '$dir/1Mi.bin'" "od -An -v -w4 -td4 '$dir/1Mi.bin' | awk '{ n[\$1]++ } END { for (i in n) print i, n[i] }'"
row "5M lines of tsv, no input, against seq" 5000000 "$cpu --bins 5M --zeros '$dir/empty'" "seq 5000000"
row "reduce, all, against cat FILE" $n "'$GPUHIST' reduce --engine cpu --binary '$dir/random.bin'" "cat '$dir/random.bin' >/dev/null"
row "reduce sum, against numpy" $n "'$GPUHIST' reduce sum --engine cpu --binary '$dir/random.bin'" "'$python' -c 'import sys, numpy as np; print(np.fromfile(sys.argv[1], np.int32).sum())' '$dir/random.bin'"
row "count, three predicates, against cat FILE" $n "'$GPUHIST' count --engine cpu --binary --ge 0 --eq 77 --in -1M:1M '$dir/random.bin'" "cat '$dir/random.bin' >/dev/null"
row "stalin-sort, random, against cat FILE" $n "'$GPUHIST' stalin-sort --engine cpu --binary '$dir/random.bin'" "cat '$dir/random.bin' >/dev/null"
row "stalin-sort, sorted, against cat FILE" $n "'$GPUHIST' stalin-sort --engine cpu --binary '$dir/sorted.bin'" "cat '$dir/sorted.bin' >/dev/null"
row "stalin-sort, random, pipe, against the bare reader" $n "cat '$dir/random.bin' | '$GPUHIST' stalin-sort --engine cpu" "cat '$dir/random.bin' | '$READ_PIPE'"
one="--engine cpu --threads 1 --binary"
row "256 bins, one thread, against a straight loop" $n "'$GPUHIST' $one --bins 256 '$dir/256.bin'" "'$STRAIGHT_LOOP' bins 256 '$dir/256.bin'"
row "5M bins, raw, one thread, against a straight loop" $n "'$GPUHIST' $one --bins 5M --format raw -o '$dir/out' '$dir/5M.bin'" "'$STRAIGHT_LOOP' bins 5000000 '$dir/5M.bin'"
row "reduce sum,min,max, one thread, against a straight loop" $n "'$GPUHIST' reduce sum,min,max $one '$dir/random.bin'" "'$STRAIGHT_LOOP' reduce '$dir/random.bin'"
row "count --gt 0, one thread, against a straight loop" $n "'$GPUHIST' count --gt 0 $one '$dir/random.bin'" "'$STRAIGHT_LOOP' count '$dir/random.bin'"
row "stalin-sort, random, one thread, against a straight loop" $n "'$GPUHIST' stalin-sort $one '$dir/random.bin'" "'$STRAIGHT_LOOP' stalin-sort '$dir/random.bin'"
row "no input, 256 bins, against true" 0 "$cpu --bins 256 '$dir/empty'" "'$(command -v true)'"

rm "$dir"/{256,5M,equal,1Mi}.bin
pipes
text_lines=20000000
log_lines=6000000
seq $text_lines | shuf --random-source=<(yes) >"$dir/numbers.txt"
head -n $((text_lines / 10)) "$dir/numbers.txt" >"$dir/tenth.txt"
"$python" - $((log_lines / 20)) >"$dir/part.log" <<'PYTHON'
import random
import sys
rng = random.Random(1)
paths = ["/", "/index.html", "/static/css/site.css", "/api/v1/items/%d" % 31337, "/images/%d.png" % 7]
agents = ["curl/8.4.0", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0"]
for _ in range(int(sys.argv[1])):
    host = ".".join(str(rng.randrange(256)) for _ in range(4))
    time = "%02d:%02d:%02d" % (rng.randrange(24), rng.randrange(60), rng.randrange(60))
    status = rng.choice([200] * 20 + [301, 304, 404, 500])
    print(f'{host} - - [12/Mar/2024:{time} +0000] "GET {rng.choice(paths)} HTTP/1.1" {status} '
          f'{rng.randrange(100000)} "https://example.org/" "{rng.choice(agents)}"')
PYTHON
for ((i = 0; i < 20; i++)); do cat "$dir/part.log"; done >"$dir/access.log"
cat >"$dir/duck.py" <<'PYTHON'
import sys
import duckdb
path, threads, query = sys.argv[1:]
duckdb.execute(f"set threads = {threads}")
table = f"read_csv('{path}', header = false, columns = {{'x': 'BIGINT'}})"
print(len(duckdb.execute(query.replace("TABLE", table)).fetchall()))
PYTHON
duck="'$duck_python' '$dir/duck.py' '$dir/numbers.txt' $(nproc)"
sum="'$GPUHIST' reduce sum --engine cpu"
numbers="'$dir/numbers.txt'"
echo
echo "| text, CPU engine | gpuhist, s | other, s | ratio | M values/s |"
echo "|---|---|---|---|---|"
row "20M lines, reduce sum, one thread, against a straight loop" $text_lines "$sum --threads 1 $numbers" "'$STRAIGHT_LOOP' text-sum $numbers"
row "20M lines, reduce sum, against cat FILE" $text_lines "$sum $numbers" "cat $numbers >/dev/null"
if have datamash; then
    row "20M lines, reduce sum, against datamash" $text_lines "$sum $numbers" "datamash sum 1 <$numbers"
fi
if have mawk; then
    row "20M lines, reduce sum, against mawk" $text_lines "$sum $numbers" "mawk '{ s += \$1 } END { printf \"%.0f\\n\", s }' $numbers"
    row "20M lines, count, against mawk" $text_lines "'$GPUHIST' count --engine cpu --ge 10M $numbers" "mawk '\$1 >= 10000000 { n++ } END { print n }' $numbers"
fi
if [ -n "$duck_python" ]; then
    row "20M lines, reduce sum, against DuckDB in Python" $text_lines "$sum $numbers" "$duck 'select sum(x) from TABLE'"
    row "20M lines, 20M bins, raw, against DuckDB in Python" $text_lines "'$GPUHIST' --engine cpu --bins 20M --outside=ignore --format raw $numbers" "$duck 'select count(*) from (select x, count(*) from TABLE group by x)'"
    row "no input, against DuckDB in Python without a table" 0 "$cpu --bins 256 '$dir/empty'" "$duck 'select 1'"
fi
row "2M lines, 20M bins, tsv, against sort, uniq" $((text_lines / 10)) "'$GPUHIST' --engine cpu --bins 20M --outside=ignore '$dir/tenth.txt'" "sort -n '$dir/tenth.txt' | uniq -c"
row "20M lines, stalin-sort, against cat FILE" $text_lines "'$GPUHIST' stalin-sort --engine cpu $numbers" "cat $numbers >/dev/null"
row "field 9 of a log of 1 GB, against cat FILE" $log_lines "'$GPUHIST' -f 9 --bins 600 --engine cpu '$dir/access.log'" "cat '$dir/access.log' >/dev/null"
if have mawk; then
    row "field 9 of a log of 1 GB, against mawk" $log_lines "'$GPUHIST' -f 9 --bins 600 --engine cpu '$dir/access.log'" "mawk '{ n[\$9]++ } END { for (i in n) print i, n[i] }' '$dir/access.log'"
fi
if have zstd; then
    zstd -q "$dir/numbers.txt" -o "$dir/one-frame.zst"
    row "20M lines, one zstd frame, reduce sum, against zstd -dc" $text_lines "$sum '$dir/one-frame.zst'" "zstd -dc '$dir/one-frame.zst'"
fi
if have zstd && have pzstd; then
    pzstd -q "$dir/numbers.txt" -o "$dir/frames.zst"
    row "20M lines, pzstd's frames, reduce sum, against zstd -dc" $text_lines "$sum '$dir/frames.zst'" "zstd -dc '$dir/frames.zst'"
fi
rm "$dir"/{numbers,tenth}.txt "$dir"/{part,access}.log

[ -n "$has_gpu" ] || exit 0
rm "$dir"/{random,sorted}.bin
: "${BENCH_GIB:=8}"
"$python" - "$dir" "$BENCH_GIB" <<'PYTHON'
import sys
import numpy as np
rng = np.random.default_rng(2)
for bins, low in ((256, 0), (5_000_000, 0), (2**31, -2**31)):
    block = rng.integers(low, bins, 64 << 20, dtype=np.int32)
    with open(f"{sys.argv[1]}/{bins}.big", "wb") as file:
        for _ in range(4 * int(sys.argv[2])):
            block.tofile(file)
PYTHON
n=$((n * 4 * BENCH_GIB))
echo
echo "| $BENCH_GIB GiB of int32 from the page cache | gpuhist, s | other, s | ratio | M values/s |"
echo "|---|---|---|---|---|"
for bins in 256 5000000; do
    big="$dir/$bins.big"
    raw="--bins $bins --format raw -o /dev/null"
    row "$bins bins, cuda, against cpu" $n "'$GPUHIST' --engine cuda --binary $raw '$big'" "$cpu $raw '$big'"
    row "$bins bins, cuda, twice the input, against once" $((2 * n)) \
        "'$GPUHIST' --engine cuda --binary $raw '$big' '$big'" "'$GPUHIST' --engine cuda --binary $raw '$big'"
    row "$bins bins, cuda, against cat FILE" $n "'$GPUHIST' --engine cuda --binary $raw '$big'" "cat '$big' >/dev/null"
done
big="$dir/2147483648.big"
for operation in reduce "count --ge 0 --eq 77 --in -1M:1M" stalin-sort; do
    row "$operation, cuda, twice the input, against once" $((2 * n)) \
        "'$GPUHIST' $operation --engine cuda --binary '$big' '$big'" "'$GPUHIST' $operation --engine cuda --binary '$big'"
    row "$operation, cuda, against cpu" $n \
        "'$GPUHIST' $operation --engine cuda --binary '$big'" "'$GPUHIST' $operation --engine cpu --binary '$big'"
done

echo
echo "| engines | auto, s | cpu, s | cuda, s | auto / the better one |"
echo "|---|---|---|---|---|"
for size in 1K 1M 64M 1G "${BENCH_GIB}G"; do
    for bins in 256 5000000; do
        head -c "$size" "$dir/$bins.big" >"$dir/part.big"
        engines "$bins bins, ${size}iB" "--binary --bins $bins --format raw -o /dev/null '$dir/part.big'"
    done
    head -c "$size" "$dir/2147483648.big" >"$dir/part.big"
    for operation in reduce stalin-sort; do
        engines "$operation, ${size}iB" "$operation --binary '$dir/part.big'"
    done
done
