"""Compares the reductions that need a table with numpy.

usage: reduce_table.py GPUHIST TEST

    types    every type, distribution, number of threads and chunk size, binary and text, in memory
             and in files; and states of parts
    every    intermediate results are those of the values so far
"""

import fractions
import itertools
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

TYPES = "i8 u8 i16 u16be i32be u32 i64 i64be u64 u64be".split()
# Percentages that are exact as floating point numbers, so that numpy's ranks are.
PERCENTS = "0 12.5 25 50 75.0 93.75 100".split()
NAMES = ["distinct", "mode", "median"] + [f"p{percent}" for percent in PERCENTS]
SETTINGS = [["--threads", "1"], ["--threads", "3", "--chunk-size", "4099"],
            ["--threads", "2", "-S", "1"], ["--threads", "8", "--chunk-size", "64K"]]
COUNT = 20021


def distributions(dtype, rng):
    """Arrays of few and many distinct values, and of those at the ends of the type."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    ends = np.array([low, low + 1, 0, high - 1, high], dtype)
    yield rng.integers(low, high, COUNT, dtype=dtype, endpoint=True)
    yield np.append(rng.choice(ends, COUNT), dtype.type(0) - dtype.type(dtype.kind == "i"))
    yield np.repeat(ends[::-1], 7)  # all are equally frequent: the mode is the smallest
    yield np.sort(rng.integers(0, 50, COUNT).astype(dtype))[::-1]
    yield np.minimum(rng.zipf(1.3, COUNT).astype(np.uint64), np.uint64(high)).astype(dtype)
    yield np.full(COUNT, high, dtype)
    yield ends[:1]
    yield ends[3:]


def expected(values):
    distinct, counts = np.unique(values, return_counts=True)
    found = {"count": len(values), "sum": sum(map(int, values)), "min": distinct[0],
             "distinct": len(distinct), "mode": distinct[counts.argmax()]}
    for percent in PERCENTS:
        found[f"p{percent}"] = np.percentile(values, float(percent), method="inverted_cdf")
    found["median"] = found["p50"]
    return {name: str(int(value)) for name, value in found.items()}


def check(command, names, found, stdin=None):
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=120)
    right = "".join(f"{name}\t{found[name]}\n" for name in names)
    if len(names) == 1:
        right = found[names[0]] + "\n"
    if done.returncode or done.stderr or done.stdout.decode() != right:
        sys.exit(f"{command}: status {done.returncode}, {done.stderr.decode()!r},\n"
                 f"{done.stdout.decode()!r} instead of\n{right!r}")


def requests(rng):
    """Yields all, single ones, and some with others; never ends."""
    while True:
        yield NAMES
        yield [str(rng.choice(NAMES))]
        some = list(rng.permutation(NAMES + ["count", "sum", "min"])[:rng.integers(2, 9)])
        yield some + ["mode"] * ("mode" not in some)


def check_states(gpuhist, type_name, parts, names, found):
    """Saves the state of each part, and merges them, the first two before the others."""
    reduce = [gpuhist, "reduce", ",".join(names), "--binary", "-t", type_name, "-o", os.devnull]
    for i, part in enumerate(parts):
        subprocess.run([*reduce, "--save", f"state{i}"], input=part.tobytes(), check=True,
                       timeout=120)
    subprocess.run([gpuhist, "merge", "--save", "both", "-o", os.devnull, "state0", "state1"],
                   check=True, timeout=120)
    rest = [f"state{i}" for i in range(2, len(parts))]
    check([gpuhist, "merge", "-S", "1", "both", *rest], names, found)


def test_types(gpuhist):
    rng = np.random.default_rng(5)
    settings, chosen = itertools.cycle(SETTINGS), requests(rng)
    for type_name in TYPES:
        dtype = np.dtype(f"{type_name[0]}{int(type_name[1:].removesuffix('be')) // 8}")
        stored = dtype.newbyteorder(">" if type_name.endswith("be") else "<")
        for i, values in enumerate(distributions(dtype, rng)):
            found, names = expected(values), next(chosen)
            values.astype(stored).tofile("binary")
            kind = ["--binary", "-t", type_name]
            check([gpuhist, "reduce", ",".join(names), *kind, *next(settings), "binary"], names,
                  found)
            if i < 2:
                check_states(gpuhist, type_name, np.array_split(values.astype(stored), 3), names,
                             found)
                text = "".join(f"{value}\n" for value in values).encode()
                check([gpuhist, "reduce", ",".join(names), "--text", "-t", dtype.str[1] + type_name[
                    1:].removesuffix("be"), *next(settings)], names, found, text)


def rank_value(values, percent):
    """By the definition, in exact arithmetic."""
    rank = math.ceil(fractions.Fraction(percent) / 100 * len(values))
    return sorted(values)[max(rank, 1) - 1]


def test_every(gpuhist):
    names = ["p99.9", "distinct", "mode", "median", "sum", "p0.1"]
    process = subprocess.Popen([gpuhist, "reduce", ",".join(names), "--text", "--every", "10ms"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    values, last, seen = [], None, 0
    for batch in ([3, 1, 3], [2, 2, 2, -9], list(range(1000)), [999] * 5):
        values += batch
        process.stdin.write("".join(f"{value}\n" for value in batch).encode())
        process.stdin.flush()
        right = {"distinct": len(set(values)), "sum": sum(values), "median": rank_value(values, "50"),
                 "mode": min(set(values), key=lambda v: (-values.count(v), v)),
                 "p99.9": rank_value(values, "99.9"), "p0.1": rank_value(values, "0.1")}
        text = "".join(f"{name}\t{right[name]}\n" for name in names)
        while last != text:  # an older result may come first
            last = "".join(process.stdout.readline().decode() for _ in names)
            seen += 1
            if not last or seen > 1000:
                sys.exit(f"{text!r} is missing; the last result is {last!r}")
    rest, _ = process.communicate(timeout=60)
    if process.returncode or not rest.decode().endswith(text):
        sys.exit(f"status {process.returncode}, {rest!r} at the end instead of {text!r}")


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    {"types": test_types, "every": test_every}[sys.argv[2]](os.path.abspath(sys.argv[1]))
