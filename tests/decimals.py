"""Compares gpuhist --decimals with Python's decimal module: bins, quantiles, counts and reductions.

usage: decimals.py GPUHIST SEED ENGINE...

Values have any form of the notation. Each job reads a file in small chunks, a pipe
and zstd, with 1 and 5 threads on the CPU; and one of these on each other engine, unless
only the CPU supports it.
"""
import collections
import decimal
import json
import os
import random
import subprocess
import sys
import tempfile

D = decimal.Decimal
EXACT = decimal.Context(prec=200)
ROUNDED = decimal.Context(prec=17, rounding=decimal.ROUND_HALF_EVEN)


def write_value(rng, value, places):
    """Returns the value as users write it: with all its decimals, with fewer, or with more zeros."""
    text = f"{value:.{places}f}"
    kind = rng.randrange(6)
    if kind == 0 and "." in text:
        text = text.rstrip("0")
    if kind == 1:
        text = (text if "." in text else text + ".") + "00"
    if kind == 2 and text.startswith("0.") and text.strip("0.") != "":
        text = text[1:]
    return ("+" if kind == 3 and value >= 0 else "") + text


def floor(value, width):
    """Returns the largest multiple of the width that is not above the value."""
    return (value / width).to_integral_value(decimal.ROUND_FLOOR) * width


def ask(gpuhist, name, engines, *arguments):
    """Returns gpuhist's output, which is the same for each way to read the file."""
    ways = [[name], [name, "--chunk-size", "4096", "--threads", "5"], [name + ".zst", "--threads", "1"], []]
    runs = [(way, "cpu") for way in ways]
    runs += [(ways[len("".join(arguments)) % len(ways)], engine) for engine in engines if engine != "cpu"]
    outputs = set()
    for way, engine in runs:
        command = [gpuhist, *arguments, *way, "--engine", engine]
        with open(name, "rb") as file, subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as cat:
            stdin = None if way else cat.stdout
            outputs.add(subprocess.run(command, stdin=stdin, capture_output=True, check=True).stdout)
    if len(outputs) > 1:
        sys.exit(f"{arguments}: {outputs}")
    return outputs.pop().decode()


def require(found, wanted, what):
    """Stops with the difference."""
    if found != wanted:
        sys.exit(f"{what}:\n{found}\nwanted:\n{wanted}")


def lines(rows):
    """Rows as tsv."""
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def check_bins(ask_here, values, places):
    """Histograms, in all formats that show values."""
    show = lambda value: f"{value:.{places}f}"
    unit = D(1).scaleb(-places)
    width = unit * 7
    counts = collections.Counter(floor(value, width) for value in values)
    rows = [(show(low), show(low + width), counts[low]) for low in sorted(counts)]
    require(ask_here("--width", show(width)), lines(rows), "--width")
    require(ask_here("--width", show(width), "--format", "csv"),
            "low,high,count\n" + lines(rows).replace("\t", ","), "--format csv")
    bins = json.loads(ask_here("--width", show(width), "--format", "json"), parse_float=str, parse_int=str)["bins"]
    require([(b["low"], b["high"], int(b["count"])) for b in bins], rows, "--format json")
    each = collections.Counter(values)
    distinct = lines((show(v), each[v]) for v in sorted(each))
    require(ask_here("--width", show(unit)), distinct, "--width 1")
    require(ask_here("uniq"), distinct, "uniq")
    ranked = sorted(values)
    wanted = [(p, show(ranked[max(1, -(-p * len(ranked) // 100)) - 1])) for p in (0, 50, 99, 100)]
    require(ask_here("--width", show(unit), "--quantiles", "0,50,99,100"), lines(wanted), "--quantiles")
    edges = [show(edge) for edge in (ranked[0], ranked[0] + 3 * unit, ranked[len(ranked) // 2] + 4 * unit,
                                     ranked[-1] + 5 * unit)]
    wanted = [(low, high, sum(D(low) <= v < D(high) for v in values)) for low, high in zip(edges, edges[1:])]
    require(ask_here("--zeros", "--edges=" + ",".join(edges)), lines(wanted), "--edges")
    half = len(ranked) // 2
    low, high = ranked[0], floor(ranked[half], width) + width
    wanted = [(show(at), show(min(at + width, high)), sum(at <= v < min(at + width, high) for v in values))
              for at in (low + i * width for i in range(int((high - low + width - unit) / width)))]
    require(ask_here("--zeros", "-q", "--width", show(width), f"--range={show(low)}:{show(high)}"),
            lines(wanted), "--range")


def check_count(ask_here, values, places, name):
    """Predicates, which are printed as they were typed."""
    some = sorted(values)[len(values) // 3]
    unit = D(1).scaleb(-places)
    text, higher, zeros = f"{some:.{places}f}", f"{some + 40 * unit:.{places}f}", "00" * (places > 0)
    with open(name + ".list", "w", encoding="ascii") as file:
        file.write(f"{text}\n{higher}{zeros},{text}")
    wanted = [(f"ge {text}", sum(v >= some for v in values)), (f"ne {text}{zeros}", sum(v != some for v in values)),
              (f"in {text}:{higher}", sum(some <= v < D(higher) for v in values)),
              (f"any-of @{name}.list", sum(v in (some, D(higher)) for v in values)), ("all", len(values))]
    options = []
    for predicate, _ in wanted:
        option, _, value = predicate.partition(" ")
        options.append(f"--{option}={value}" if value else f"--{option}")
    require(ask_here("count", *options), lines(wanted), "count")


def check_reduce(ask_here, values, places):
    """Reductions: exact ones with all decimals, others to 17 digits of the exact result."""
    n, total, squares = len(values), sum(values), sum(EXACT.multiply(v, v) for v in values)
    variance = EXACT.subtract(EXACT.multiply(D(n), squares), EXACT.multiply(total, total))
    found = dict(line.split("\t") for line in ask_here("reduce").splitlines())
    wanted = {"count": str(n), "sum": f"{total:.{places}f}", "min": f"{min(values):.{places}f}",
              "max": f"{max(values):.{places}f}"}
    require({key: found[key] for key in wanted}, wanted, "reduce")
    require(list(found), [*wanted, "mean", "variance", "stddev"], "reductions")
    ranked, most = sorted(values), max(collections.Counter(values).values())
    mode = min(v for v, count in collections.Counter(values).items() if count == most)
    wanted = [("distinct", len(set(values))), ("mode", f"{mode:.{places}f}"),
              ("median", f"{ranked[(n + 1) // 2 - 1]:.{places}f}"), ("p99.9", f"{ranked[-(-999 * n // 1000) - 1]:.{places}f}")]
    require(ask_here("reduce", "distinct,mode,median,p99.9", on=["cpu"]), lines(wanted), "reduce distinct,...")
    require(D(found["mean"]), ROUNDED.divide(total, D(n)), "mean")
    require(D(found["variance"]), ROUNDED.divide(variance, D(n * n)), "variance")
    require(D(found["stddev"]), ROUNDED.sqrt(EXACT.divide(variance, D(n * n))), "stddev")


def main():
    gpuhist, seed, engines = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    rng = random.Random(seed)
    decimal.setcontext(EXACT)
    with tempfile.TemporaryDirectory() as directory:
        name = os.path.join(directory, "values")
        for places, spread in ((rng.choice([0, 1, 2]), 500), (3, 3000), (rng.choice([6, 9, 18]), 700)):
            centre = rng.choice([0, -spread // 2, 10**9])
            values = [D(rng.randrange(spread) + centre).scaleb(-places) for _ in range(3000)]
            with open(name, "w", encoding="ascii") as file:
                file.write("\n".join(write_value(rng, value, places) for value in values) + "\n")
            subprocess.run(["zstd", "-qf", name], check=True)

            def ask_here(*arguments, places=places, on=engines):
                return ask(gpuhist, name, on, *arguments, "--decimals", str(places))
            check_bins(ask_here, values, places)
            check_count(ask_here, values, places, name)
            check_reduce(ask_here, values, places)


main()
