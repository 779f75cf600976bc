#!/usr/bin/env bats
# Columns that join a date and a time of day. The oracle is Python's datetime.

load helpers

@test "a date and a time of the day in two columns are one time, wherever a column does" {
    [ -n "${PYTHON:-}" ] || skip "no python3"
    cd "$BATS_TEST_TMPDIR"
    "$PYTHON" - "$GPUHIST" $((RANDOM)) <<'END'
import collections, datetime, gzip, json, random, subprocess, sys
program, seed = sys.argv[1], int(sys.argv[2])
rng = random.Random(seed)
UTC, HOUR = datetime.timezone.utc, 3600 * 10**9


def draw():
    """A date and a time of the day as text, and the time in nanoseconds, in UTC and as written."""
    date = datetime.datetime(2026, 1, 1) + datetime.timedelta(days=rng.randrange(3), seconds=rng.randrange(86400))
    offset = rng.choice((None, 0, 60, -330))
    day = date.strftime(rng.choice(("%Y-%m-%d", "%Y/%m/%d", "%d-%b-%Y")))
    nanoseconds = 0
    if rng.random() < 0.3:
        date, time = date.replace(second=0), date.strftime("%H:%M")
    else:
        time = date.strftime("%H:%M:%S")
        if rng.random() < 0.5:
            digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 9)))
            time += "." + digits
            nanoseconds = int(digits.ljust(9, "0"))
    if offset is not None:
        time += f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    written = int(date.replace(tzinfo=UTC).timestamp()) * 10**9 + nanoseconds
    return day, time, written - (offset or 0) * 60 * 10**9, written


def show(value, digits, local):
    text = datetime.datetime.fromtimestamp(value // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    text += f".{value % 10**9:09}"[: digits + 1] if digits else ""
    return text + ("" if local else "Z")


def in_quotes(name):
    """As in CSV: always, if it has a character that columns or CSV take otherwise."""
    needs = any(c in name for c in ',+"') or rng.random() < 0.1
    return '"' + name.replace('"', '""') + '"' if needs else name


def run(*words, data=None):
    done = subprocess.run([program, *words], input=data, capture_output=True, check=False)
    assert done.returncode == 0 and not done.stderr, (seed, words, done.stderr)
    return done.stdout.decode()


for layout in ("blanks", "separated", "csv", "named", "jsonl") * 3:
    rows = [draw() for _ in range(rng.choice((1, 50, 3000)))]
    width = rng.randint(3, 6)
    at, then, key = rng.sample(range(width), 3)
    keys = [rng.randrange(3) for _ in rows]
    cells = []
    for row, number in zip(rows, keys):
        line = [rng.choice(("12", "+01:00", "x")) for _ in range(width)]
        line[at], line[then], line[key] = row[0], row[1], str(number)
        cells.append(line)
    names = [f"c{i}" for i in range(width)]
    names[at], names[then], names[key] = "date", rng.choice(("time", "of day", "day,time", "a+b", 'the "day"')), "k"
    where = [str(i + 1 if rng.random() < 0.7 else i - width) for i in range(width)]
    options, separator = [], " "
    if layout in ("csv", "separated"):
        separator = ","
        options = ["--csv"] if layout == "csv" else ["-d", ","]
    if layout == "named":
        separator, options = ",", ["--csv"]
        where = [rng.choice((names[i], where[i])) for i in range(width)]
        where[at] = "date"
    if layout == "jsonl":
        options, where = ["--jsonl"], [f".a.{name}" if i != then else name for i, name in enumerate(names)]
    if layout in ("named", "jsonl"):
        where[then] = where[then] if where[then] != names[then] else in_quotes(names[then])
        where[at] = where[at] if rng.random() < 0.7 else in_quotes(where[at])
    if layout == "jsonl":
        lines = [json.dumps({names[then]: line[then],
                             "a": {name: cell for i, (name, cell) in enumerate(zip(names, line)) if i != then}})
                 for line in cells]
        lines = [line.replace("date", "d\\u0061te") if rng.random() < 0.1 else line for line in lines]
    else:
        quoted = layout in ("csv", "named")
        lines = [separator.join(f'"{cell}"' if quoted and rng.random() < 0.2 else cell for cell in line)
                 for line in cells]
    if layout == "named":
        lines.insert(0, separator.join(in_quotes(name) for name in names))
    data = ("\n".join(lines) + "\n").encode()
    with open("in", "wb") as out:
        out.write(data)
    with gzip.open("in.gz", "wb", 1) as out:
        out.write(data)
    digits, local = rng.choice((0, 0, 3, 9)), rng.random() < 0.5
    unit, bucket = 10 ** (9 - digits), rng.choice((1, 1, HOUR))
    kind = ("localtime" if local else "time") + (f".{digits}" if digits else "") + ("/1h" if bucket > 1 else "")
    column = f"{where[at]}+{where[then]}:{kind}"
    values = [row[2 + local] // unit * unit // bucket * bucket for row in rows]
    shown = [show(value, digits, local) for value in values]

    def table(counts):
        return "".join("\t".join(map(str, (*name, count))) + "\n" for name, count in sorted(counts.items()))

    single = table(collections.Counter((text,) for text in shown))
    assert run("uniq", *options, "-f", column, "in") == single, (seed, layout, column)
    assert run("uniq", *options, "-f", column, data=data) == single, (seed, layout, column)
    assert run("uniq", *options, "-f", column, "--threads", "3", "in.gz", "in.gz") == table(
        collections.Counter((text,) for text in shown * 2)), (seed, layout, column)
    by = table(collections.Counter(zip(shown, keys)))
    two = ["--by", f"{column},{where[key]}", "-f", where[key]]
    both = table(collections.Counter(zip(shown, keys, keys)))
    assert run("uniq", *options, "-f", where[key], "--by", column, "in") == by, (seed, layout, column)
    assert run("uniq", *options, *two, "--save", "state", "in") == both, (seed, layout, column)
    twice = table(collections.Counter(list(zip(shown, keys, keys)) * 2))
    assert run("merge", "state", "state") == twice, (seed, layout, column)
    bound = rng.choice(shown)
    condition = f"{column}>={bound}"
    assert int(run("count", "--all", *options, "--where", condition, "in")) == sum(
        text >= bound for text in shown), (seed, layout, condition)
    least = min(shown) + "\n"
    assert run("reduce", "min", *options, "-f", column, "--every", "1h", data=data) == least, (seed, layout, column)
END
}

@test "an invalid time of two columns shows both, a missing one its field" {
    cd "$BATS_TEST_TMPDIR"
    refused() { # refused MESSAGE ARGUMENT...
        run -1 --separate-stderr gpuhist uniq "${@:2}" in
        # shellcheck disable=SC2154
        [[ $stderr == *"in:$1"* ]]
    }
    printf '2026-11-21 7 13:77 5\n' >in
    refused "1: invalid timestamp '2026-11-21 13:77'" -f 1+3:time
    refused "1: invalid timestamp '2026-11-21 13:77' of --where" -f 2 --where '1+3:time>2026-01-01'
    printf '2026-11-21\n' >in
    refused "1: missing field 2: the line has 1" -f 1+2:time
    printf '{"d":"2026-11-21","t":"x"}\n' >in
    refused "1: invalid timestamp '2026-11-21 x'" --jsonl -f d+t:time
    refused "1: missing JSON member 'u'" --jsonl -f d+u:time
    printf 'd,t\n2026-11-21,\n' >in
    refused "2: invalid timestamp '' (try --missing skip)" --csv -f d+t:time
    refused " unknown column 'u'" --csv -f d+u:time
    refused " unknown column 'd+t': the header is 'd,t' (try A+B:time, as only timestamps are joined)" --csv -f d+t:text
    # The beginning of a long string.
    printf '%0500d,%0500d\n' 1 1 >in
    refused "1: invalid timestamp '0000000000000000000000000000000000000000...'" -d , -f 1+2:time
}

@test "a name with a plus is the column of that name, in each file that has it" {
    cd "$BATS_TEST_TMPDIR"
    printf 'd,t,d+t\n2026-11-21,13:00,2020-01-01\n' >whole
    printf 'x,t,d\n1,14:00,2026-11-21\n' >halves
    run -0 gpuhist uniq --csv -f d+t:time whole halves
    [ "$output" = $'2020-01-01T00:00:00Z\t1\n2026-11-21T14:00:00Z\t1' ]
    run -0 gpuhist uniq --csv -f '"d+t":time' whole
    [ "$output" = $'2020-01-01T00:00:00Z\t1' ]
    run -0 gpuhist uniq --csv -f d+t:text whole
    [ "$output" = $'2020-01-01\t1' ]
    printf '%s\n' '{"d":"2026-11-21","t":"14:00","d+t":"2020-01-01"}' '{"d":"2026-11-21","t":"14:00"}' >in
    run -0 gpuhist uniq --jsonl -f d+t:time in
    [ "$output" = $'2020-01-01T00:00:00Z\t1\n2026-11-21T14:00:00Z\t1' ]
}
