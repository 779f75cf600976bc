"""Compares `gpuhist count` with Python's integers over engines, chunk sizes, values and predicates.

usage: count.py GPUHIST TYPE ENGINE...

The reference compares Python's integers one by one, and shares nothing with gpuhist.
"""

import collections
import os
import sys
import tempfile

import numpy as np

from engine_runs import EngineRuns, run

COUNT = 20011


def distributions(dtype, rng):
    """Names and arrays: typical values and the limits."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    uniform = rng.integers(low, high, COUNT, dtype=dtype, endpoint=True)
    yield "uniform", uniform
    yield "sorted", np.sort(uniform)
    yield "reversed", np.sort(uniform)[::-1]
    yield "small", rng.integers(max(low, -20), 99, COUNT, dtype=dtype, endpoint=True)
    yield "equal", np.full(COUNT, 77, dtype)
    yield "alternating", np.tile(np.array([low, high], dtype), COUNT // 2)
    yield "one", np.array([high], dtype)
    yield "empty", np.array([], dtype)


def interesting(dtype, values, rng):
    """Values to compare with: around the type's limits and beyond, around 0, and from the data."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    numbers = {low, low + 1, low - 1, high, high - 1, high + 1, low // 2, high // 2, -1, 0, 1, 77,
               -2**63 - 1, 2**64, 2**80, -2**80, 2**31, 2**32, -2**31, 300}
    for value in rng.choice(values, 6) if len(values) else []:
        numbers |= {int(value) - 1, int(value), int(value) + 1}
    return sorted(numbers)


def predicates(dtype, values, rng, directory):
    """(option, argument or None, function of a Python integer) without end."""
    numbers = interesting(dtype, values, rng)
    relations = {
        "eq": lambda a: lambda v: v == a, "ne": lambda a: lambda v: v != a,
        "lt": lambda a: lambda v: v < a, "le": lambda a: lambda v: v <= a,
        "gt": lambda a: lambda v: v > a, "ge": lambda a: lambda v: v >= a,
    }
    made = 0

    def pick():
        return numbers[int(rng.integers(len(numbers)))]

    def interval(a, b):
        return lambda v: a <= v < b

    while True:
        for name, relation in relations.items():
            number = pick()
            yield name, str(number), relation(number)
        a, b = sorted((pick(), pick()))
        b += a == b
        yield "in", f"{a}:{b}", interval(a, b)
        yield "all", None, lambda v: True
        chosen = {pick() for _ in range(int(rng.integers(0, 5)))}
        yield "any-of", ",".join(map(str, chosen)), chosen.__contains__
        made += 1
        chosen = some_set(dtype, values, rng, made)
        name = os.path.join(directory, f"set-{made % 40}")
        with open(name, "w", encoding="ascii") as file:
            for i, number in enumerate(list(chosen) + list(chosen)[:50]):
                file.write(f"{number:+d}" if i % 5 == 0 else str(number))
                file.write([",", "\n", " ", "\r\n", " ,\t"][i % 5])
        yield "any-of", "@" + name, chosen.__contains__


def some_set(dtype, values, rng, made):
    """A set of one to thousands, dense, sparse or in clusters, partly from the data."""
    info = np.iinfo(dtype)
    size = [1, 3, 40, 3000][made % 4]
    chosen = {int(v) for v in (rng.choice(values, size // 2 + 1) if len(values) else [])}
    if made % 3 == 0:
        chosen |= {int(v) for v in rng.integers(info.min, info.max, size, dtype=dtype)}
    elif made % 3 == 1:
        start = int(rng.integers(info.min, info.max, 1, dtype=dtype)[0])
        chosen |= set(range(start, start + size, 2))  # partly beyond the type
    else:
        chosen |= {int(info.max) - i * i for i in range(size)} | {int(info.min), 2**70}
    return chosen


def expected(chosen, counted):
    """Returns the output for those predicates, from (value, count) pairs."""
    wanted = ""
    for option, text, holds in chosen:
        label = option + (" " + text if text is not None else "") + "\t"
        wanted += label if len(chosen) > 1 else ""
        wanted += f"{sum(n for v, n in counted if holds(v))}\n"
    return wanted


def check(command, wanted, what):
    done = run(command)
    if done.returncode or done.stderr or done.stdout.decode() != wanted:
        sys.exit(f"{what}: {' '.join(command)}: status {done.returncode}, {done.stderr.decode()}\n"
                 f"{done.stdout.decode()}instead of\n{wanted}")


def main():
    runs = EngineRuns(sys.argv, [(1, "1M"), (2, "8"), (8, "64K"), (3, "4099"), (2, "20K")], gpu_share=9)
    numbers = [1, 24, 8, 3, 9, 60, 2, 17]  # of predicates
    with tempfile.TemporaryDirectory() as directory, tempfile.NamedTemporaryFile() as file:
        for what, values in distributions(runs.dtype, runs.rng):
            runs.store(file, values)
            counted = collections.Counter(map(int, values)).items()
            source = predicates(runs.dtype, values, runs.rng, directory)
            for _ in range(3):
                chosen = [next(source) for _ in range(numbers[runs.runs % len(numbers)])]
                options = [word for option, text, _ in chosen
                           for word in ("--" + option, text) if word is not None]
                commands = runs.commands("count", *options, file.name)
                wanted = expected(chosen, counted) if commands else ""
                for command in commands:
                    check(command, wanted, what)
    print(runs.summary())


main()
