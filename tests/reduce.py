"""Compares gpuhist reduce with Python's integers over engines, threads, chunk sizes and values.

usage: reduce.py GPUHIST TYPE ENGINE...

The reference adds Python's integers, rounds with the decimal module, and shares nothing with
gpuhist.
"""

import decimal
import functools
import math
import operator
import sys
import tempfile

import numpy as np

from engine_runs import EngineRuns, run

COUNT = 50021
NAMES = "count sum min max mean variance stddev and or xor".split()
DIGITS = decimal.Context(prec=17, rounding=decimal.ROUND_HALF_EVEN)
EXACT = decimal.Context(prec=400)


def distributions(dtype, rng):
    """Names and arrays: typical values of a reduction and its limits."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    uniform = rng.integers(low, high, COUNT, dtype=dtype, endpoint=True)
    yield "uniform", uniform
    yield "alternating", np.resize(np.array([low, high], dtype), COUNT)
    yield "largest", np.full(COUNT, high, dtype)
    # So close together that the variance is wrong if the squares lose a bit or a carry.
    near = math.isqrt(high * high // 2)
    yield "near", rng.integers(near - 3, near, COUNT, dtype=dtype, endpoint=True)
    yield "near smallest", rng.integers(low, low + 3, COUNT, dtype=dtype, endpoint=True)
    yield "sorted", np.sort(uniform)
    yield "smallest", np.full(COUNT - 1, low, dtype)
    yield "reversed", np.sort(uniform)[::-1]
    yield "equal", np.full(COUNT, 99, dtype)
    yield "zeros", np.zeros(COUNT, dtype)
    yield "one", np.array([high - 2], dtype)
    yield "two", np.array([low, low + 1], dtype)
    yield "three", np.array([0, 0, 1], dtype)


def shape(value):
    """Returns a decimal of 17 digits like printf's %.17g, without trailing zeros."""
    value = DIGITS.plus(value)
    if value == 0:
        return "0"
    sign, digits, _ = value.as_tuple()
    exponent = value.adjusted()
    text = "".join(map(str, digits)).rstrip("0")
    if exponent < -4 or exponent >= 17:
        text = text[0] + "." * (len(text) > 1) + text[1:] + f"e{exponent:+03d}"
    elif exponent < 0:
        text = "0." + "0" * (-exponent - 1) + text
    else:
        text = text.ljust(exponent + 1, "0")
        rest = text[exponent + 1:]
        text = text[:exponent + 1] + "." * bool(rest) + rest
    return "-" * sign + text


def expected(values):
    """Returns the output of every reduction, by its name."""
    numbers = [int(v) for v in values]
    n, total, squares = len(numbers), sum(numbers), sum(v * v for v in numbers)
    variance = EXACT.divide(decimal.Decimal(n * squares - total * total), decimal.Decimal(n * n))
    return {
        "count": str(n),
        "sum": str(total),
        "min": str(min(numbers)),
        "max": str(max(numbers)),
        "mean": shape(EXACT.divide(decimal.Decimal(total), decimal.Decimal(n))),
        "variance": shape(variance),
        "stddev": shape(EXACT.sqrt(variance)),
        "and": str(functools.reduce(operator.and_, numbers)),
        "or": str(functools.reduce(operator.or_, numbers)),
        "xor": str(functools.reduce(operator.xor, numbers)),
    }


def requests(rng, distribution):
    """Yields the requested reductions: all, and for the first array also each one and some sets in any order."""
    yield []
    if distribution == "uniform":
        yield from ([name] for name in NAMES)
        for _ in range(4):
            yield list(rng.permutation(NAMES)[:rng.integers(2, len(NAMES))])


def check(command, request, values):
    done = run(command)
    text = values[request[0]] + "\n" if len(request) == 1 else \
        "".join(f"{name}\t{values[name]}\n" for name in request or NAMES)
    if done.returncode or done.stderr or done.stdout.decode() != text:
        sys.exit(f"{' '.join(command)}: status {done.returncode}, {done.stderr.decode()!r},\n"
                 f"{done.stdout.decode()!r} instead of\n{text!r}")


def main():
    settings = [(1, "1M"), (3, "4099"), (8, "64K"), (2, "16")]
    runs = EngineRuns(sys.argv, settings, gpu_share=5, gpu_settings=settings[:3])
    with tempfile.NamedTemporaryFile() as file:
        for name, array in distributions(runs.dtype, runs.rng):
            runs.store(file, array)
            values = None
            for request in requests(runs.rng, name):
                words = [",".join(request)] if request else []
                for command in runs.commands("reduce", *words, file.name):
                    values = values or expected(array)
                    check(command, request, values)
    print(runs.summary())


if __name__ == "__main__":
    main()
