"""Compares `gpuhist` with Python's integers over all options for bins.

usage: binnings.py GPUHIST TYPE ENGINE...

The reference finds each value's bin among its edges in integers of any size, and shares nothing
with gpuhist.
"""

import bisect
import collections
import sys
import tempfile

import numpy as np

from engine_runs import EngineRuns, run

COUNT = 6011


def distributions(dtype, rng):
    """Names and arrays: typical values and the limits."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    powers = [value for k in range(64) for d in (-1, 0, 1) for sign in (1, -1)
              if low <= (value := sign * 2**k + d) <= high]
    tens = [value for k in range(20) for d in (-1, 0, 1) for sign in (1, -1)
            if low <= (value := sign * 10**k + d) <= high]
    yield "uniform", rng.integers(low, high, COUNT, dtype=dtype, endpoint=True)
    yield "powers", np.array(powers + tens, dtype)
    yield "small", rng.integers(max(low, -120), min(high, 5000), COUNT, dtype=dtype)
    yield "skewed", (2.0**(rng.random(COUNT) * (info.bits - 2))).astype(dtype)
    yield "empty", np.array([], dtype)


def power_edges(base, values):
    """Edges of powers on both sides of 0, beyond all values."""
    edges, power = [0], 1
    most = max([abs(int(v)) for v in values] + [1])
    while power <= most * base:
        edges += [power, 1 - power] if 1 - power else [power]
        power *= base
    return sorted(set(edges + [1 - power]))


def width_edges(low, high, width):
    return list(range(low, high, width)) + [high]


def binnings(dtype, values, rng, file):
    """Yields (options, edges, True if the bins have width 1)."""
    info = np.iinfo(dtype)
    floor = 0 if dtype == np.uint64 else -2**63
    yield ["--log2"], power_edges(2, values), False
    yield ["--log10"], power_edges(10, values), False
    for width in 1, 7, 100, 4096:
        low = max(floor, int(rng.integers(-300, 300)))
        high = low + int(rng.integers(1, 300)) * width
        yield ["--range", f"{low}:{high}", "-w", str(width)], width_edges(low, high, width), width == 1
    low, high = int(info.min), int(info.max) + 1
    if high < 2**63:
        width = (high - low) // 37
        yield ["--range", f"{low}:{high}", "-w", str(width)], width_edges(low, high, width), False
    for count in 2, 3, 40, 900, 3000:
        gap = max(1, int(rng.integers(1, max(2, (high - low) // count), dtype=np.uint64)))
        numbers = np.cumsum(rng.integers(1, min(gap, 2**40) + 1, count, dtype=np.uint64))
        start = int(rng.choice(values)) if len(values) and count > 3 else max(floor, -500)
        edges = [start + int(n) for n in numbers]
        edges = [edge for edge in edges if edge < (2**64 if dtype == np.uint64 else 2**63)]
        if len(edges) < 2:
            continue
        if count < 100:
            yield ["--edges", ",".join(map(str, edges))], edges, False
        else:
            file.seek(0)
            file.truncate()
            file.write("\n".join(map(str, edges)).encode())
            file.flush()
            yield ["--edges", "@" + file.name], edges, False


def expected(values, edges, is_unit):
    """Returns the lines, and the numbers of values below and above."""
    counts = collections.Counter()
    below = above = 0
    for value, count in collections.Counter(map(int, values)).items():
        if value < edges[0]:
            below += count
        elif value >= edges[-1]:
            above += count
        else:
            counts[bisect.bisect_right(edges, value) - 1] += count
    lines = [f"{edges[i]}\t{counts[i]}" if is_unit else f"{edges[i]}\t{edges[i + 1]}\t{counts[i]}"
             for i in sorted(counts)]
    advice = " (try --outside)" if counts else " (try --width or uniq)"
    if is_unit and edges[0] == 0:
        advice = " (try --range auto)"
    report = f"gpuhist: values out of range: {below} below, {above} above{advice}\n"
    return "".join(line + "\n" for line in lines), report if below or above else ""


def main():
    runs = EngineRuns(sys.argv, [(1, "1M"), (2, "8"), (8, "64K"), (3, "4099")], gpu_share=9)
    with tempfile.NamedTemporaryFile() as data, tempfile.NamedTemporaryFile() as list_file:
        for what, values in distributions(runs.dtype, runs.rng):
            runs.store(data, values)
            for options, edges, is_unit in binnings(runs.dtype, values, runs.rng, list_file):
                commands = runs.commands(*options, data.name)
                wanted, report = expected(values, edges, is_unit) if commands else ("", "")
                for command in commands:
                    done = run(command)
                    if done.returncode or done.stdout.decode() != wanted or \
                            done.stderr.decode() != report:
                        sys.exit(f"{what}: {' '.join(command)}: status {done.returncode}, "
                                 f"{done.stderr.decode()}{done.stdout.decode()[:2000]}instead of\n"
                                 f"{report}{wanted[:2000]}")
    print(runs.summary())


main()
