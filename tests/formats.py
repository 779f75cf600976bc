"""Histograms in every format, against plain Python on the same values.

usage: formats.py GPUHIST TEST
"""

import bisect
import csv
import decimal
import fcntl
import fractions
import functools
import io
import itertools
import json
import math
import os
import pty
import random
import re
import struct
import subprocess
import sys
import termios
import unicodedata

GPUHIST, TEST = sys.argv[1:3]
SHARE = int(os.environ.get("SHARE", "1"))  # makes one in SHARE tables
# Without the variables that set a plot's width and colours; PATH and library paths remain.
PLAIN = {k: v for k, v in os.environ.items()
         if k not in ("COLUMNS", "LINES", "TERM", "NO_COLOR", "LANG") and not k.startswith("LC_")}
PLAIN["LINES"] = "68"  # 64 lines of bars, and four others
UNIT = ["--bins", "50"]
UNEVEN = ["--bins", "13", "--range", "-20:77"]
UNIQ = ["uniq"]


def edges_of(binning, values=()):
    """The edges of the bins, by the definition in the manual."""
    if binning == UNIQ:
        return list(range(min(values), max(values) + 2)) if values else [0]
    bins = int(binning[1])
    low, high = map(int, binning[3].split(":")) if len(binning) > 2 else (0, bins)
    return [low - (-b * (high - low) // bins) for b in range(bins + 1)]


def datasets():
    numbers = random.Random(5)
    yield []
    yield [7]
    yield [-1000, 1000, 1001]
    yield [numbers.randrange(-40, 120) for _ in range(1000)]
    yield [int(numbers.gauss(25, 6)) for _ in range(3000)]
    yield [v for v in range(50) for _ in range(v % 4)]
    yield [0] + [1] * 3 + [2] * 124  # 0.78125 and 2.34375 percent, halfway between two


def gpuhist(arguments, values, **environment):
    run = subprocess.run([GPUHIST, *arguments, "--text"], text=True, capture_output=True, timeout=60,
                         input="".join(f"{v}\n" for v in values), env={**PLAIN, **environment})
    return run.stdout, run.stderr, run.returncode


def expect(condition, *what):
    if not condition:
        sys.exit(" ".join(map(str, what)))


def expect_equal(got, wanted, *what):
    expect(got == wanted, *what, "\ngot   ", got, "\nwanted", wanted)


def percent(part, whole):
    """With four decimals, half to even."""
    decimal.getcontext().prec = 60
    exact = decimal.Decimal(part) * 100 / decimal.Decimal(whole) if whole else decimal.Decimal(0)
    return str(exact.quantize(decimal.Decimal("1.0000"), decimal.ROUND_HALF_EVEN))


def selected(binning, values, options):
    """Rows (low, high, count, percent, cumulative, cumulative percent); the row of --other last."""
    edges = edges_of(binning, values)
    rows = [[low, high, 0] for low, high in zip(edges, edges[1:])]
    for value in values:
        if edges[0] <= value < edges[-1]:
            rows[bisect.bisect(edges, value) - 1][2] += 1
    inside = sum(row[2] for row in rows)
    if "--zeros" not in options:
        rows = [row for row in rows if row[2]]
    if "--min-count" in options:
        least = int(options[options.index("--min-count") + 1])
        rows = [row for row in rows if row[2] >= least]
    by_count = sorted(rows, key=lambda row: (-row[2], row[0]))
    if "--top" in options:
        by_count = by_count[: int(options[options.index("--top") + 1])]
        rows = [row for row in rows if row in by_count]
    order = options[options.index("--sort") + 1] if "--sort" in options else None
    if order == "count" or (order is None and "--top" in options):
        rows = by_count
    if "--other" in options:
        rows.append(["other", "", inside - sum(row[2] for row in rows)])
    total = len(values)
    sums = list(itertools.accumulate(row[2] for row in rows))
    return [(*row, percent(row[2], total), s, percent(s, total)) for row, s in zip(rows, sums)]


def columns(binning, options):
    """Returns the names of the columns, and their indexes in a row."""
    names = ["value", "count"] if binning != UNEVEN else ["low", "high", "count"]
    parts = [0, 2] if binning != UNEVEN else [0, 1, 2]
    if "--percent" in options:
        names, parts = names + ["percent"], parts + [3]
    if "--cumulative" in options:
        names, parts = names + ["cumulative"], parts + [4]
    if "--cumulative" in options and "--percent" in options:
        names, parts = names + ["cumulative_percent"], parts + [5]
    return names, parts


def selections():
    """Combinations of the options that select the output."""
    leasts = itertools.cycle([[], [], ["--min-count", "2"], ["--min-count", "60"], ["--min-count", "3"]])
    others = itertools.cycle([True, False, True])
    for zeros in [], ["--zeros"]:
        for top in [], ["--top", "1"], ["--top", "3"], ["--top", "100"]:
            for sort in [], ["--sort", "bin"], ["--sort", "count"]:
                for extra in [], ["--percent"], ["--cumulative"], ["--percent", "--cumulative"]:
                    least = next(leasts)
                    other = ["--other"] if (top or least) and next(others) else []
                    yield zeros + top + sort + extra + least + other


def store_of(arguments):
    """Bins of a width over all values are those of uniq."""
    is_uniq = "uniq" in arguments or ({"-w", "--width"} & {*arguments} and "--range" not in arguments)
    return "uniq" if is_uniq else "histogram"


def check_table(binning, values, options):
    names, parts = columns(binning, options)
    rows = [[str(row[i]) for i in parts] for row in selected(binning, values, options)]
    out, _, status = gpuhist([*binning, *options], values)
    expect_equal((out, status), ("".join("\t".join(row) + "\n" for row in rows), 0), options)
    out, _, _ = gpuhist([*binning, *options, "--format", "csv"], values)
    expect("\r" not in out and out.endswith("\n"), "csv lines end with a newline")
    expect_equal(list(csv.reader(io.StringIO(out))), [names] + rows, options, "csv")
    out, _, _ = gpuhist([*binning, *options, "--format", "json"], values)
    document = json.loads(out, parse_float=str, parse_int=str)
    edges = edges_of(binning, values)
    sides = {"total": len(values), "inside": sum(edges[0] <= v < edges[-1] for v in values),
             "below": sum(v < edges[0] for v in values), "above": sum(v >= edges[-1] for v in values)}
    wanted = {"operation": store_of(binning), **{k: str(v) for k, v in sides.items()},
              "bins": [dict(zip(names, row)) for row in rows]}
    if "--other" in options:
        other = wanted["bins"].pop()
        wanted["other"] = {name: cell for name, cell in other.items() if name not in ("value", "low", "high")}
    expect_equal(document, wanted, options, "json")


def test_tables():
    data = list(datasets())
    for i, options in enumerate(selections()):
        if i % SHARE > 0:
            continue
        check_table(UNIT, data[i % len(data)], options)
        check_table(UNEVEN, data[(i + i // len(data)) % len(data)], options)
        check_table(UNIQ, data[(i + i // len(data) + 1) % len(data)], options)
    for binning in UNIT, UNEVEN, UNIQ:
        for values in data:
            check_table(binning, values, ["--percent", "--cumulative", "--zeros"])


def test_outside():
    """Uncounted values are not part of percentages; clamped values are in their bins."""
    values = [-5, 1, 1, 3, 60, 70, 80, 90]
    out, err, _ = gpuhist([*UNIT, "--percent"], values)
    expect_equal(out, "1\t2\t25.0000\n3\t1\t12.5000\n")
    expect_equal(err, "gpuhist: values out of range: 1 below, 4 above (try --range auto)\n")
    out, err, _ = gpuhist([*UNIT, "--percent", "--outside", "ignore"], values)
    expect_equal((out, err), ("1\t2\t66.6667\n3\t1\t33.3333\n", ""))
    out, err, _ = gpuhist([*UNIT, "--outside", "clamp", "--quantiles", "0,100"], values)
    expect_equal((out, err), ("0\t0\n100\t49\n", ""))


def quantile(values, text):
    """Returns the value of nearest rank, and its rank from 0."""
    rank = -(-fractions.Fraction(text) * len(values) // 100)
    return sorted(values)[max(rank, 1) - 1]


PERCENTS = ["0", "50", "25", "99", "99.9", "100", "0.000000000000001", "33.333333333333333", "050",
            "12.50", "50"]


def check_not_covered(arguments, values, edges, percent):
    """A percentile is out of range: each format prints only the error."""
    below, above = sum(v < edges[0] for v in values), sum(v >= edges[-1] for v in values)
    message = (f"gpuhist: percentile {percent} is out of range: {below} below the bins, {above} above "
               "(try uniq --percentiles)\n")
    for form in [], ["--format", "csv"], ["--format", "json"], ["--plot"]:
        expect_equal(gpuhist([*arguments, *form], values), ("", message, 1))


def check_quantiles(binning, values):
    edges = edges_of(binning, values)
    unit = binning != UNEVEN
    wanted, objects, missed = [], [], None
    for text in PERCENTS:
        value = quantile(values, text)
        bins = [(low, high) for low, high in zip(edges, edges[1:]) if low <= value < high]
        shown = text.lstrip("0") if text[0] == "0" and text[1:2].isdigit() else text
        if not bins:
            missed = missed or shown
            continue
        cells = [str(edge) for edge in (bins[0][:1] if unit else bins[0])]
        objects.append({"percent": shown, **dict(zip(["value"] if unit else ["low", "high"], cells))})
        wanted.append([shown, *cells])
    option = ["--quantiles", ",".join(PERCENTS)]
    if missed:
        return check_not_covered([*binning, *option], values, edges, missed)
    out, _, status = gpuhist([*binning, *option], values)
    expect_equal((out, status), ("".join("\t".join(row) + "\n" for row in wanted), 0))
    out, _, _ = gpuhist([*binning, *option, "--format", "csv"], values)
    header = ["quantile", "value"] if unit else ["quantile", "low", "high"]
    expect_equal(list(csv.reader(io.StringIO(out))), [header] + wanted)
    out, _, _ = gpuhist([*binning, *option, "--format", "json", "--top", "2"], values)
    document = json.loads(out, parse_float=str, parse_int=str)
    expect_equal(document["quantiles"], objects)
    expect(len(document["bins"]) <= 2, "json has the bins, too")


def test_quantiles():
    for binning in UNIT, UNEVEN, UNIQ:
        for values in datasets():
            if values:
                check_quantiles(binning, values)


def test_numpy_quantiles():
    """A second opinion."""
    import numpy
    values = numpy.random.default_rng(3).integers(0, 1000, 1001)
    percents = [0, 1, 12.5, 50, 90, 99, 99.5, 100]
    wanted = numpy.percentile(values, percents, method="inverted_cdf")
    out, _, _ = gpuhist(["--bins", "1000", "--quantiles", ",".join(map(str, percents))], values)
    expect_equal([int(line.split()[1]) for line in out.splitlines()], [int(v) for v in wanted])


# --- many bins, which several threads print ------------------------------------------------------

def rounded_percent(part, whole):
    """Like percent(), with integers only."""
    quotient, rest = divmod(part * 10 ** 6, whole)
    quotient += 2 * rest > whole or (2 * rest == whole and quotient % 2)
    return f"{quotient // 10000}.{quotient % 10000:04}"


def table_of(edges, values, extra):
    """Returns the names of the columns, the rows as tsv, and the counts of all bins."""
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[bisect.bisect(edges, value) - 1] += 1
    share = functools.cache(lambda count: rounded_percent(count, len(values)))
    is_unit = all(high == low + 1 for low, high in zip(edges, edges[1:]))
    lines, total = [], 0
    least = int(extra[1]) if extra[:1] == ["--min-count"] else "--zeros" not in extra
    for low, high, count in zip(edges, edges[1:], counts):
        if count < least:
            continue
        total += count
        cells = [low, count] if is_unit else [low, high, count]
        cells += [share(count)] if "--percent" in extra else []
        cells += [total] if "--cumulative" in extra else []
        lines.append("\t".join(map(str, cells)) + "\n")
    names = ["value" if is_unit else "low,high", "count"]
    names += [option[2:] for option in extra if option in ("--percent", "--cumulative")]
    return ",".join(names), "".join(lines), counts


def json_of(operation, names, tsv, total):
    """All values are inside the bins."""
    names = names.split(",")
    rows = ["{" + ",".join(f'"{name}":{cell}' for name, cell in zip(names, line.split("\t"))) + "}"
            for line in tsv.splitlines()]
    totals = {"operation": operation, "total": total, "inside": total, "below": 0, "above": 0}
    bins = "\n" + ",\n".join(rows) if rows else ""
    return json.dumps(totals, separators=(",", ":"))[:-1] + f',"bins":[{bins}]}}\n'


def check_parts(arguments, edges, values, extra=()):
    """For any number of threads: all rows of tsv, csv, json and raw, in order."""
    names, tsv, counts = table_of(edges, values, extra)
    wanted = {"tsv": tsv.encode(), "csv": f"{names}\n{tsv}".replace("\t", ",").encode(),
              "json": json_of(store_of(arguments), names, tsv, len(values)).encode()}
    if not extra:
        wanted["raw"] = struct.pack(f"<{len(counts)}Q", *counts)
    with open("in", "wb") as file:
        file.write(struct.pack(f"<{len(values)}q", *values))
    for threads in ("2", "16") if SHARE > 1 else ("1", "2", "3", "16", None):
        for name, output in wanted.items():
            command = [GPUHIST, *arguments, *extra, "-t", "i64", "--binary", "--format", name,
                       *(["--threads", threads] if threads else []), "in"]
            run = subprocess.run(command, capture_output=True, timeout=60)
            expect((run.stdout, run.stderr, run.returncode) == (output, b"", 0), command)


def test_parts():
    dice = random.Random(11)
    many = 300001
    bins = ["--bins", str(many)]
    edges = list(range(many + 1))
    everywhere = [min(int(dice.expovariate(1 / 90000)), many - 1) for _ in range(150000)]
    check_parts(bins, edges, everywhere)
    check_parts(bins, edges, everywhere, ["--percent"])
    check_parts(bins, edges, everywhere, ["--cumulative"])
    check_parts(bins, edges, [0, 8191, 8192, 16384, 200000, many - 1], ["--zeros"])
    check_parts(bins, edges, everywhere, ["--min-count", "3", "--percent"])
    check_parts(bins, edges, [0, 8191, 8192, 16384, 16384, 200000, many - 1] * 2, ["--min-count", "4"])
    check_parts(bins, edges, [many - 1] * 5)
    check_parts(bins, edges, [])
    # Few values in many bins; negative ones; bins of a width with a cut last bin; any edges.
    check_parts(["--bins", "1M", "--range", "-900K:100K"], list(range(-900000, 100001)),
                [dice.randrange(-900000, 100000) for _ in range(100)])
    wide = list(range(-10 ** 15, -10 ** 15 + 3 * many, 3)) + [-10 ** 15 + 3 * many - 1]
    values = [dice.randrange(wide[0], wide[-1]) for _ in range(100000)]
    range_of = ["--range", f"{wide[0]}:{wide[-1]}"]
    check_parts(["--width", "3", *range_of], wide, values, ["--zeros", "--percent"])
    uneven = list(itertools.accumulate((dice.randrange(1, 9) for _ in range(150000)), initial=-7))
    with open("edges", "w") as file:
        file.write(" ".join(map(str, uneven)))
    check_parts(["--edges", "@edges"], uneven, [dice.randrange(-7, uneven[-1]) for _ in range(9000)])
    check_parts(UNIQ, list(range(-9, many + 1)), [dice.randrange(-9, many) for _ in range(many)],
                ["--percent"])


# --- plots ---------------------------------------------------------------------------------------

BLOCKS = {chr(0x2590 - eighths): eighths for eighths in range(1, 9)}


def parse_plot(text):
    """Lines (low, high, count, bar), None for "..."; of single values high is low + 1."""
    for line in text.splitlines():
        if re.fullmatch(r"each line combines \d+ (bins|values)", line):
            continue
        match = re.fullmatch(r" *(-?\d+)(?:\.\.(-?\d+))? +(\d+)(?:  ([#\u2588-\u258f]+))?", line)
        expect(match or re.fullmatch(r" *\.\.\.  \d+ empty bins", line), "not a line of a plot:", line)
        if match:
            low, high, count, bar = match.groups()
            yield int(low), int(high or int(low) + 1), int(count), bar or ""
        else:
            yield None


def check_plot(arguments, values, **environment):
    out, _, status = gpuhist([*arguments, "--plot"], values, **environment)
    columns = int(environment.get("COLUMNS", 80))
    expect_equal(status, 0)
    lines = list(parse_plot(out))
    expect(len(lines) <= 64, "more than a page:", len(lines))
    expect(all(len(line) <= columns for line in out.splitlines()), "lines are too wide\n" + out)
    rows = [line for line in lines if line]
    most = max((row[2] for row in rows), default=0)
    longest = max((len(row[3]) for row in rows), default=0)
    for low, high, count, bar in rows:
        expect_equal(count, sum(low <= v < high for v in values), "the count of", low, high)
        expect(bool(bar) == bool(count), "a bar for what is not empty")
        if bar.startswith("#"):
            expect(abs(len(bar) - count / most * longest) <= 0.5 or len(bar) == 1, "the bar of", low)
        elif bar:
            eighths = sum(BLOCKS[c] for c in bar)
            expect(abs(eighths - count / most * longest * 8) <= 0.5 or eighths == 1, "the bar of", low)
            expect(set(bar[:-1]) <= {"\u2588"}, "only the last block is not full")
    for before, after in zip(rows, rows[1:]):
        expect(before[1] <= after[0], "lines are in order")
    if most:
        expect_equal(max(map(len, out.splitlines())), columns, "the longest bar fills the line")
    return lines


def test_plots():
    ascii, utf8 = {"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8"}
    for values in datasets():
        for binning in UNIT, UNEVEN, UNIQ:
            edges = edges_of(binning, values)
            inside = [v for v in values if edges[0] <= v < edges[-1]]
            for environment in ascii, utf8, {**utf8, "COLUMNS": "40"}, {**ascii, "COLUMNS": "133"}:
                lines = check_plot(binning, inside, **environment)
                expect_equal(sum(line[2] for line in lines if line), len(inside))
    # Few values far apart; many, in groups with bounds of 1, 2 or 5 times a power of ten.
    lines = check_plot(["--bins", "1M"], [5, 70, 70, 999999], **utf8)
    expect_equal([line and line[0] for line in lines], [5, None, 70, None, 999999])
    numbers = random.Random(9)
    values = [numbers.randrange(3, 990000) for _ in range(5000)] + [2, 999999]
    lines = check_plot(["--bins", "1M"], values, **utf8)
    expect_equal([line[:2] for line in lines[:2]], [(0, 20000), (20000, 40000)])
    expect_equal(len(lines), 50)
    expect_equal(sum(line[2] for line in lines), len(values))
    values = [v for v in values if not 200000 <= v < 300000]
    lines = check_plot(["--bins", "1M"], values)
    expect_equal([line and line[:2] for line in lines[9:12]],
                 [(180000, 200000), None, (300000, 320000)])
    expect_equal(sum(line is not None and line[2] == 0 for line in lines), 0)
    lines = check_plot(["--bins", "777", "--range", "0:1M"], values)  # of unequal width
    expect_equal(sum(line[2] for line in lines if line), len(values))
    lines = check_plot(["--bins", "100", "--range", "-50:1050"], [v % 1000 for v in values])
    expect_equal([line[:2] for line in lines[:2]], [(-6, 16), (16, 38)])
    squares = [i * i for i in range(150)]  # widths that differ: neighbours share a line
    lines = check_plot(["--edges", ",".join(map(str, squares)), "--zeros"], values)
    expect_equal([line[:2] for line in lines], list(zip(squares[::5], squares[5::5] + squares[-1:])))
    lines = check_plot(["--bins", "200", "--zeros"], [150])
    expect_equal([(line[:3]) for line in lines if line[2]], [(150, 155, 1)])
    expect_equal((lines[0][:3], len(lines)), ((0, 5, 0), 40))


def plot_lines(rows):
    """(low, high, count) of the lines of a plot of up to 64 used rows; the number of bins of a gap."""
    used = [i for i, row in enumerate(rows) if row[2]]
    rows = rows[used[0]:used[-1] + 1] if used else []
    longest = 3 if len(rows) <= 64 else 1
    for is_used, run in itertools.groupby(rows, key=lambda row: row[2] > 0):
        run = list(run)
        if is_used or len(run) <= longest:
            yield from run
        else:
            yield len(run)


def test_gaps():
    """Empty bins between others, of every kind of bins."""
    dice = random.Random(11)
    edges = sorted(dice.sample(range(-300, 3000), 90))
    for binning in (["--bins", "90"], ["--bins", "60"], ["--bins", "777", "--range", "-20:1000"],
                    ["--bins", "50", "--range", "-20:1003"], ["--bins", "3000"],
                    ["--width", "7", "--range", "0:300"], ["--width", "13", "--range", "-5:4000"],
                    ["--width", "10"], ["--width", "7"], ["--edges", ",".join(map(str, edges))],
                    ["--edges", ",".join(map(str, edges[:50]))], ["--log2", "-t", "i16"], ["--log10"], []):
        samples = [[round(dice.expovariate(0.01)) * dice.choice([1, 1, 1, -1]) for _ in range(count)]
                   for count in (1, 2, 5, 20, 40)]
        for values in *samples, [1, 4, 64], [1, 4, 65]:  # 64 bins, or 65
            out, _, _ = gpuhist([*binning, "--zeros", "--format", "csv"], values)
            rows = [tuple(map(int, line.split(","))) for line in out.splitlines()[1:]]
            rows = [row if len(row) == 3 else (row[0], row[0] + 1, row[1]) for row in rows]
            if sum(row[2] > 0 for row in rows) > 64 or not binning and rows[0][1] - rows[0][0] > 1:
                continue  # groups, or values
            out, _, _ = gpuhist([*binning, "--plot"], values, LC_ALL="C")
            got = [line and line[:3] for line in parse_plot(out)]
            gaps = [int(n) for n in re.findall(r"(?m)^ *\.\.\.  (\d+) empty bins$", out)]
            expect_equal([line or gaps.pop(0) for line in got], list(plot_lines(rows)), binning, values)


def test_sorted_plots():
    values = [v for v in range(100) for _ in range(v)]
    out, _, _ = gpuhist(["--bins", "100", "--plot", "--sort", "count"], values, LC_ALL="C")
    lines = out.splitlines()
    expect_equal([line.split()[:2] for line in lines[:64]], [[str(v)] * 2 for v in range(99, 35, -1)])
    expect_equal(lines[64:], ["... and 35 more"])
    out, _, _ = gpuhist(["--bins", "100", "--plot", "--top", "70"], values)
    expect_equal([int(line.split()[0]) for line in out.splitlines()], list(range(99, 29, -1)))
    out, _, _ = gpuhist(["--bins", "100", "--plot", "--top", "3", "--sort", "bin", "--percent",
                         "--cumulative", "--quantiles", "50,100"], values, LC_ALL="C")
    expect_equal([line.split()[:5] for line in out.splitlines()],
                 [["97", "97", "1.9596%", "97", "1.9596%"], ["98", "98", "1.9798%", "195", "3.9394%"],
                  ["99", "99", "2.0000%", "294", "5.9394%"], [], ["50%", "70"], ["100%", "99"]])
    # Omitted bins have a line without a bar; more than a page of the rest is not omitted.
    out, _, _ = gpuhist(["--bins", "100", "--plot", "--top", "2", "--other", "--percent"], values,
                        LC_ALL="C")
    expect_equal([line.split()[:3] for line in out.splitlines()],
                 [["99", "99", "2.0000%"], ["98", "98", "1.9798%"], ["other", "4753", "96.0202%"]])
    expect_equal(out.splitlines()[2], "other  4753  96.0202%")
    out, _, _ = gpuhist(["--bins", "100", "--plot", "--min-count", "20", "--other"], values,
                        LINES="69")
    expect_equal([line.split()[:2] for line in out.splitlines()[:64]],
                 [[str(v)] * 2 for v in range(36, 100)])
    expect_equal(out.splitlines()[64:], ["... and 16 more", "other  190"])
    out, _, _ = gpuhist(["--bins", "10", "--plot", "--quantiles", "50"], [-3, 4, 4, 22])
    expect_equal(out.splitlines()[-2:], ["", "50%  4"])
    out, _, _ = gpuhist(["--bins", "2", "--range", "0:9", "--plot", "--quantiles", "50"], [4])
    expect_equal(out.splitlines()[-1:], ["50%  0..5"])


def plot_to_pipe(columns, **files):
    """The width of a plot on a pipe if stdin or stderr is a terminal of that many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {k: v for k, v in files.items() if k == "COLUMNS"}
    process = subprocess.run([GPUHIST, *UNIT, "--plot", "in"], stdout=subprocess.PIPE, timeout=60,
                             **{k: slave for k in files if k != "COLUMNS"},
                             env={**PLAIN, "LC_ALL": "C", **environment})
    os.close(slave)
    os.close(master)
    return max(map(len, process.stdout.decode().splitlines()))


def test_pagers():
    with open("in", "w") as file:
        file.write("1\n1\n2\n")
    expect_equal(plot_to_pipe(57, stderr=True), 57)
    expect_equal(plot_to_pipe(57, stdin=True), 57)
    expect_equal(plot_to_pipe(57, stdin=True, COLUMNS="44"), 44)
    expect_equal(plot_to_pipe(0, stdin=True), 80)
    expect_equal(plot_to_pipe(57), 80)
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 57, 0, 0))
    with open("out", "wb") as out:
        subprocess.run([GPUHIST, *UNIT, "--plot", "in"], check=True, stdin=slave, stdout=out,
                       env={**PLAIN, "LC_ALL": "C"})
    expect_equal(max(map(len, open("out").read().splitlines())), 80, "a file is no pager")
    os.close(slave)
    os.close(master)


def at_terminal(arguments, values, columns, lines=24, is_with_notes=False, status=0, **environment):
    """Returns the output at a terminal of that size."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    environment = {"TERM": "xterm", "LC_ALL": "C.UTF-8", "COLUMNS": "33", **environment}
    process = subprocess.Popen([GPUHIST, *arguments, "--text"], stdin=subprocess.PIPE, stdout=slave,
                               stderr=slave if is_with_notes else None, env={**PLAIN, **environment})
    os.close(slave)
    process.stdin.write("".join(f"{v}\n" for v in values).encode())
    process.stdin.close()
    out = b""
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:  # the other end is closed
            block = b""
        if not block:
            break
        out += block
    os.close(master)
    expect_equal(process.wait(), status)
    return out.decode().replace("\r\n", "\n")


def test_terminals():
    values = [1, 1, 1, 2]
    bars = "1  3  " + "\u2588" * {60: 54, 33: 27, 80: 74}[60]
    plain = at_terminal(UNIT, values, 60, NO_COLOR="1")
    expect_equal(plain.splitlines()[0], bars)
    expect_equal(at_terminal(UNIT, values, 60, TERM="dumb"), plain)
    expect_equal(at_terminal([*UNIT, "--plot"], values, 60, NO_COLOR="1"), plain)
    coloured = at_terminal(UNIT, values, 60)
    expect("\033[" in coloured, "colour at a terminal")
    expect_equal(re.sub("\033\\[[0-9;]*m", "", coloured), plain)
    expect_equal(at_terminal(UNIT, values, 60, NO_COLOR=""), coloured)
    expect_equal(at_terminal(UNIT, values, 0, TERM="dumb").splitlines()[0],
                 "1  3  " + "\u2588" * 27)  # the width in COLUMNS
    expect_equal(at_terminal(UNIT, values, 60, NO_COLOR="1", LC_ALL="C").splitlines()[0],
                 "1  3  " + "#" * 54)
    expect_equal(at_terminal([*UNIT, "--format", "tsv"], values, 60), "1\t3\n2\t1\n")
    expect_equal(at_terminal([*UNIT, "-o", "out"], values, 60), "")
    expect_equal(open("out").read(), "1\t3\n2\t1\n")
    at_terminal([*UNIT, "-o", "out", "--plot"], values, 60)
    expect_equal(open("out").read().splitlines()[0], "1  3  " + "\u2588" * 27)
    expect_equal(at_terminal(["--bins", "5M", "--zeros"], [], 60).count("\n"), 11)


def test_fallbacks():
    """At a terminal, results without a plot are tables."""
    with open("in", "w") as file:
        file.write("1 2 3\n")
    plot = at_terminal(["--bins", "5", "-f", "1", "--by", "2", "--title", "T", "in"], [], 60, TERM="dumb")
    expect_equal(plot.splitlines()[0], "T")
    for more in [], ["--no-plot"], ["--header-out"]:
        table = at_terminal(["--bins", "5", "-f", "1", "--by", "2,3", *more, "in"], [], 60)
        expect_equal(table, "field 2  field 3  field 1  count\n      2        3        1      1\n")
    table = at_terminal(["--bins", "5", "-f", "1", "--by", "2,3", "--title", "T", "in"], [], 90)
    expect_equal(table.splitlines()[0], "T")


def test_heights():
    """Plots fit the terminal, with as many automatic bins as fit, of 1, 2 or 5 times a power of ten."""
    dice = random.Random(13)
    values = [int(dice.gauss(500, 120)) for _ in range(3000)]
    skewed = list(range(1, 1000)) + [639999]
    for lines in 1, 10, 24, 60, 500:
        most = min(max(lines - 4, 4), 64)
        for arguments in [], [*UNIQ, "--plot"], ["--bins", "1000"], ["--log2"], ["--log2=4"], ["--width", "3"], [
                "--sort", "count"], ["--edges", ",".join(map(str, range(0, 1000, 7)))]:
            for data in values, skewed, [v * v * v for v in values]:
                plot = at_terminal([*arguments, "-q"], data, 80, lines, NO_COLOR="1")
                rows = [row for row in parse_plot(plot.partition("... and")[0])]
                expect(len(rows) >= most / 3 or data is not values or arguments == ["--log2"],
                       len(rows), "lines of", most, arguments, plot)
                expect(len(rows) <= most, "more than a page", arguments, plot)
        rows = [row for row in parse_plot(at_terminal([], values, 80, lines, NO_COLOR="1"))]
        width = rows[0][1] - rows[0][0]
        expect(str(width).rstrip("0") in ("1", "2", "5"), "a round width", width)
        expect_equal([row[2] for row in rows],
                     [sum(row[0] <= v < row[1] for v in values) for row in rows])
        narrower = {1: width // 2, 2: width // 2, 5: width * 2 // 5}[int(str(width)[0])]
        bins = {v // narrower for v in values}
        expect(lines > 60 or max(bins) - min(bins) >= most, "not the smallest width", width, lines)
    expect_equal(len(list(parse_plot(gpuhist(["--bins", "20", "--plot"], range(20))[0]))), 20)
    del PLAIN["LINES"]
    expect_equal(len(list(parse_plot(gpuhist(["--bins", "20", "--plot"], range(20))[0]))), 20)
    expect_equal(len(list(parse_plot(gpuhist(["--bins", "21", "--plot"], range(21))[0]))), 11)
    # The first group begins at a round value, whatever the values.
    rows = list(parse_plot(gpuhist(["--range", "0:1000", "--bins", "1000", "--plot"], values[:200])[0]))
    expect(all(row[0] % 50 == 0 and row[1] % 50 == 0 for row in rows if row), rows)
    rows = list(parse_plot(gpuhist(["--log2=4", "--plot"], range(1, 100000))[0]))
    expect(any(row[0] == 1024 for row in rows), "groups of powers begin at powers", rows)
    # The note on skewed data comes without --plot.
    note = "gpuhist: note: 99% of the values are in one bin (try --log2 or --range 0:50000)"
    for arguments in [], ["--plot"]:
        expect(note in at_terminal(arguments, skewed, 120, is_with_notes=True).splitlines(), arguments)


def columns_of(text):
    """Returns the number of terminal columns of a string (UAX 11)."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def test_labels():
    """--title, --label and --log-count of plots: lines above, aligned to the columns below."""
    values = [3] * 1000 + [4] * 10 + [5]
    for label in "ms", "\u6642\u9593", "e\u0301te\u0301", "Gr\u00f6\u00dfe \U0001f600", "a longer label", "":
        out, _, status = gpuhist([*UNIT, "--plot", "--label", label, "--percent"], values, LC_ALL="C.UTF-8")
        head, *lines = out.splitlines()
        expect_equal((status, head.split()[-2:]), (0, ["count", "percent"]), out)
        expect(head.strip().startswith(label), head)
        ends = {columns_of(head), *(columns_of(line.partition("%")[0]) + 1 for line in lines)}
        expect_equal(len(ends), 1, "columns are aligned", label, out)
        expect_equal(max(map(columns_of, lines)), 80, label, out)
    title = "\x1b[2J a\ttitle\n " + "\u4e2d" * 60
    out, _, _ = gpuhist([*UNIT, "--plot", "--title", title], values)
    expect_equal(out.splitlines()[0], "?[2J a?title? " + "\u4e2d" * 33)
    plain, _, _ = gpuhist([*UNIT, "--plot"], values)
    expect_equal(out.splitlines()[1:], plain.splitlines())
    # The bars are logarithms of the counts; half the smallest one would have none.
    out, _, _ = gpuhist([*UNIT, "--plot", "--log-count"], values, LC_ALL="C")
    head, *lines = out.splitlines()
    expect_equal(head.split(), ["value", "count", "(logarithmic)"])
    bars = [line.count("#") for line in lines]
    for bar, count in zip(bars, (1000, 10, 1)):
        expect(abs(bar - bars[0] * math.log2(2 * count) / math.log2(2000)) <= 1, bars)
    expect_equal(len(lines), 3)
    out, _, _ = gpuhist([*UNIT, "--plot", "--log-count"], [7], LC_ALL="C")
    expect("#" * 60 in out, out)
    # The bins that a selection omits, also empty ones.
    out, _, _ = gpuhist(["--bins", "200", "--plot", "--sort", "count", "--zeros"], range(70))
    expect_equal(out.splitlines()[64:], ["... and 6 more", "... and 130 empty bins"])


globals()["test_" + TEST]()
