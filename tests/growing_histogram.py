"""Compares growing histograms, --width W and automatic bins, with Python's integers and numpy.

usage: growing_histogram.py GPUHIST TYPE ENGINE...

The reference divides Python's integers, tries widths from 1 on, and shares nothing with gpuhist.
"""

import collections
import sys
import tempfile

import numpy as np

from engine_runs import EngineRuns, run

COUNT = 30011


def arrays(dtype, rng):
    """Names and arrays: ranges, positions and orders that windows must handle."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    uniform = rng.integers(low, high, COUNT, dtype=dtype, endpoint=True)
    small = rng.integers(max(low, -50), 99, COUNT, dtype=dtype, endpoint=True)
    reach = min(high, 300_000)
    middle = rng.integers(max(low, -reach), reach, COUNT, dtype=dtype, endpoint=True)
    yield "one", np.array([high], dtype)
    yield "smallest", np.array([low] * 5, dtype)
    yield "extremes", np.array([low, high], dtype)[rng.integers(0, 2, COUNT)]
    yield "uniform", uniform
    yield "ascending", np.sort(uniform)
    yield "descending", np.sort(uniform)[::-1]
    yield "middle", middle
    yield "middle ascending", np.sort(middle)
    yield "middle descending", np.sort(middle)[::-1]
    yield "outlier last", np.append(small, np.array([high], dtype))
    yield "outlier first", np.append(np.array([low], dtype), small)
    yield "places", np.concatenate([np.clip(np.array([low, 0, high // 2, high - 99], dtype)
                                            [(i * 7) % 4] + small.astype(dtype) % 50, low, high)
                                    for i in range(6)]).astype(dtype)
    yield "sentinels", np.where(rng.integers(0, 100, COUNT) == 0, np.array(low, dtype), small)
    yield "growing", np.concatenate([(small // type(small[0])(min(2 ** (10 - i), np.iinfo(small.dtype).max))) if i < 10 else middle
                                     for i in range(13)]).astype(dtype)
    yield "exponential", np.clip(np.power(2.0, rng.uniform(0, info.bits - 1.01, COUNT)), 0,
                                 float(high) * 0.99).astype(dtype)


def automatic_width(low, high):
    exponent = 0
    while True:
        for digit in 1, 2, 5:
            width = digit * 10 ** exponent
            if high // width - low // width + 1 <= 64:
                return width
        exponent += 1


def expected(values, width):
    """Returns the output for bins of that width, 0: automatic."""
    unique, counts = np.unique(values, return_counts=True)
    if width == 0:
        width = automatic_width(int(unique[0]), int(unique[-1])) if len(unique) else 1
    bins = collections.Counter()
    for value, count in zip(unique.tolist(), counts.tolist()):
        bins[value // width] += count
    if width == 1:
        return "".join(f"{b}\t{bins[b]}\n" for b in sorted(bins))
    return "".join(f"{b * width}\t{(b + 1) * width}\t{bins[b]}\n" for b in sorted(bins))


def widths(dtype):
    yield 0
    yield 1
    yield 7
    if np.iinfo(dtype).bits > 16:
        yield 10 ** 9
    yield 2 ** 63


def main():
    runs = EngineRuns(sys.argv, [(1, "1M"), (2, "4099"), (8, "16K"), (2, "64K")])
    with tempfile.NamedTemporaryFile() as file:
        for name, array in arrays(runs.dtype, runs.rng):
            runs.store(file, array)
            for bin_width in widths(runs.dtype):
                words = ["--width", str(bin_width)] if bin_width else []
                is_piped = runs.runs % 2
                commands = runs.commands(*words, *([] if is_piped else [file.name]))
                text = expected(array, bin_width) if commands else ""
                for command in commands:
                    with open(file.name, "rb") as data:
                        done = run(command, data.read() if is_piped else None)
                    if done.returncode or done.stderr or done.stdout.decode() != text:
                        sys.exit(f"{name}: {' '.join(command)}: status {done.returncode}, "
                                 f"{done.stderr.decode()!r}\n{done.stdout.decode()[:500]!r} "
                                 f"instead of\n{text[:500]!r}")
    print(runs.summary())


main()
