#!/usr/bin/env python3
"""The law of found kinds: the result is that of the same command with a typed kind, or an error.

usage: found_kinds.py GPUHIST SEED

Draws columns of numbers, timestamps, IP addresses and strings, pure and mixed, in CSV, JSON Lines,
cells and words, as files, pipes and compressed files; uses them as values, groups and conditions. A
model returns the kind of each. The command without a kind must print, to the byte, the output of the
one with it, or fail if the model has two possible kinds; the message names them, and both work.
"""
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
from decimal import Decimal

GPUHIST, SEED = sys.argv[1], int(sys.argv[2])
COUNT = 250 // int(os.environ.get("SHARE", "1"))
random.seed(SEED)


PLACEHOLDERS = ("-", ".", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "\\N")


def draw_column():
    """Returns values; some may be empty or placeholders for missing values."""
    kind = random.choice(("int", "int", "zeros", "fixed", "mixed", "time", "local", "zone", "ip", "text", "text", "port",
                          "plus", "exponent", "long", "numbers and texts", "times and texts", "empty"))
    rng = random.randrange
    decimals = rng(1, 5)
    one = {
        "int": lambda: str(rng(-9, 300)),
        "zeros": lambda: "%05d" % rng(3000),
        "fixed": lambda: "%d.%0*d" % (rng(-9, 300), decimals, rng(10 ** decimals)),
        "mixed": lambda: random.choice(("%d.%d" % (rng(20), rng(10)), str(rng(9)), "%d.%02d" % (rng(20), rng(100)), ".5", "5.")),
        "time": lambda: "2026-11-%02dT%02d:%02d:%02d%sZ" % (rng(1, 30), rng(24), rng(60), rng(60), random.choice(("", ".5", ".125"))),
        "zone": lambda: "2026-11-%02dT%02d:%02d:00%s" % (rng(1, 30), rng(24), rng(60), random.choice(("+01:00", "Z", "-0330", ""))),
        "local": lambda: random.choice(("2026-11-%02d" % rng(1, 30), "2026-11-%02dT%02d:00" % (rng(1, 30), rng(24)))),
        "ip": lambda: random.choice(("10.0.%d.%d" % (rng(3), rng(5)), "2001:db8::%x" % rng(1, 9))),
        "port": lambda: random.choice(("10.0.0.%d:443", "[2001:db8::%d]")) % rng(1, 9),
        "text": lambda: random.choice(("a", "b", "/index", "x-y", "5ms", "v1.2", "é", "true")),
        "plus": lambda: random.choice(("+5", "7", "+12")),
        "exponent": lambda: random.choice(("1e5", "2.5e-3", "7", "-1.25E+2", "0e9", "0.5")),
        "long": lambda: random.choice(("%d.%d" % (rng(9), 10 ** 18 + rng(10 ** 18)), "0.000%d" % rng(10 ** 17), "-3.5")),
        "numbers and texts": lambda: random.choice(("5", "7.5", "n/a")),
        "times and texts": lambda: random.choice(("2026-11-21T00:00:00Z", "never")),
        "empty": lambda: "",
    }[kind]
    share = random.choice((0, 0, 0, 0.1, 0.5, 1))
    return [random.choice(PLACEHOLDERS) if random.random() < share else one() for _ in range(rng(1, 60))]


INTEGER, NUMBER = re.compile(r"-?\d+\Z"), re.compile(r"[-+]?(\d*)\.?(\d*)\Z")
EXPONENT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+\Z")
TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[-+]\d\d:?\d\d)?)?\Z")
ADDRESS = re.compile(r"10\.0\.\d+\.\d+\Z|2001:db8::[1-9a-f]\Z")


def rounds(values):
    """Returns whether numbers have exponents, or more digits than a column reads exactly."""
    whole = max(len(re.match(r"[-+]?(\d*)", value)[1]) for value in values)
    decimals = max(len(value.partition(".")[2]) for value in values)
    return any(map(EXPONENT.match, values)) or (decimals and whole + decimals > 18)


def model(values, use):
    """Returns the kinds that are possible: one, or two for an error. "": no kind."""
    all_values = [value for value in values if value]
    values = [value for value in all_values if value not in PLACEHOLDERS]
    if all_values and not values:
        return ["" if use == "number" else "text"]
    numbers = [value for value in values if re.search(r"\d", value) and NUMBER.match(value)]
    times = [value for value in values if TIME.match(value)]
    addresses = [value for value in values if ADDRESS.match(value)]
    if not values:
        return [""]
    amounts = [Decimal(value) for value in values if NUMBER.match(value) or EXPONENT.match(value)] if not addresses + times else []
    if len(amounts) == len(values) and rounds(values):
        sizes = [value.normalize() for value in amounts if value] or [Decimal(1)]
        places = max(0, *(-value.as_tuple().exponent for value in sizes), 0)
        whole = max(0, *(value.adjusted() + 1 for value in sizes), 0)
        digits = places if whole + places <= 18 else min(18, max(0, 5 - min(value.adjusted() for value in sizes)))
        return [f"round.{digits}", "text" if use == "key" else f"round.{digits}"]
    if len(numbers) == len(values):
        if use == "key" and all(map(INTEGER.match, values)) and any(re.match(r"-?0\d", value) for value in values):
            return ["text"]
        decimals = [len(NUMBER.match(value)[2]) for value in values]
        if not max(decimals):
            return [""]
        kind = f".{max(decimals)}"
        return [kind, "text"] if use == "key" and min(decimals) < max(decimals) else [kind]
    if len(times) == len(values):
        digits = max(len((TIME.match(value)[3] or ".")[1:]) for value in values)
        name = "time" if any(TIME.match(value)[4] for value in values) else "localtime"
        return [name + (f".{digits}" if digits else "")]
    if use == "number":
        return [""]
    if len(addresses) == len(values):
        return ["ip"]
    return ["text" if not numbers and not times and not addresses and not any(map(EXPONENT.match, values)) else ""]


def write(form, rows):
    if form == "json":
        return "".join(json.dumps({"a": a, "b": b}) + "\n" for a, b in rows)
    if form == "csv":
        return "a,b\n" + "".join(f'"{a}",{b}\n' for a, b in rows)
    return "".join(f"{a};{b}\n" for a, b in rows)


def run(arguments, data, how, place):
    """Runs a command over the data, from a file or a pipe, plain or compressed."""
    text = data.encode()
    if how.startswith("zst"):
        text = subprocess.run(["zstd", "-qc"], input=text, capture_output=True, check=True).stdout
    if how.endswith("file"):
        with open(os.path.join(place, "in"), "wb") as file:
            file.write(text)
        done = subprocess.run([GPUHIST, *arguments, os.path.join(place, "in")], capture_output=True, check=False)
    else:
        done = subprocess.run([GPUHIST, *arguments], input=text, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def condition(values):
    """Draws an operator and a value for a column, and returns them with the kinds of the model."""
    kind, *other = model(values, "condition")
    sign = random.choice(("=", "!=", "<", ">=", "^=", "*=", "~", "!~"))
    if "~" in sign:
        some = random.choice([value for value in values if value] or ["x"])[:3]
        return sign, re.sub(r"([][.*+?(){}|^$\\])", r"\\\1", some), ["text"]
    if sign in ("^=", "*="):
        return sign, random.choice([value for value in values if value] or ["x"])[:3], ["text"]
    if other:
        return sign, "5", [kind, kind]
    numbers = kind == "" or kind[0] == "."
    value = random.choice([value for value in values if value] or ["5"])
    if numbers and random.randrange(2):
        value = random.choice(("5", "7.25", "-1", "05", "0.5", "7.125", "5e0", "725e-2"))
    if kind == "text" and sign in ("<", ">="):
        return sign, value, None
    rest = [value for value in values if value and value not in PLACEHOLDERS]
    has_numbers = all(re.search(r"\d", value) and NUMBER.match(value) for value in rest)
    if value in PLACEHOLDERS and rest and has_numbers and sign in ("=", "!="):
        return sign, value, ["text"]
    if has_numbers and EXPONENT.match(value):
        decimals = max(0, -Decimal(value).normalize().as_tuple().exponent)
        known = int(kind[1:]) if kind else 0
        return sign, value, ["text" if sign in ("=", "!=") else f".{max(decimals, known)}" if decimals or known else ""]
    if has_numbers and re.search(r"\d", value) and NUMBER.match(value):
        if sign in ("=", "!=") and (value[0] == "+" or re.match(r"[-+]?0\d", value)):
            return sign, value, ["text"]
        decimals = len(NUMBER.match(value)[2])
        known = int(kind[1:]) if kind else 0
        return sign, value, [f".{max(decimals, known)}" if decimals or known else ""]
    return sign, value, [kind]


# Values of one kind; others that it reads, but are errors after such values; the two kinds in the message.
LATER = (
    ("int", "key", ("200", "404", "-5", "0", "12345678901234567"), ("01234", "+7", "12e4", "-007", "-0"), ("int", "text")),
    (".2", "key", ("1.25", "0.50", "-3.10"), ("3.1", "01.50", "+1.25", ".50", "3", "-0.00", "125e-2"), (".2", "text")),
    ("ip", "key", ("10.0.0.1", "2001:db8::1", "::1"), ("2001:DB8::1", "10.0.0.1:80", "[::1]", "0:0::1"), ("ip", "text")),
    ("localtime", "any", ("2026-11-21T13:45:02", "2026-11-22T00:00:00"), ("2026-11-21T13:45:02Z", "2026-11-21T13:45:02+01:00"), ("time", "localtime")),
    ("localtime.1", "any", ("2026-11-21T13:45:02.5", "2026-11-21T13:45:02"), ("2026-11-21T13:45:02.25",), ("time.2", "localtime.2")),
    ("time", "any", ("2026-11-21T13:45:02Z", "2026-11-22T13:45:02+01:00"), ("2026-11-21T13:45:02.125Z",), ("time.3", "localtime.3")),
    ("localtime", "blanks", ("2026-11-21T13:45:02",), ("2026-11-21 13:45:02", "2026-11-21 13:45"), ("time", "localtime")),
)


def check_later():
    """A value in another notation, long after those that decide the kind, is an error; others read as if typed."""
    kind, use, values, others, named = random.choice(LATER)
    form = "blanks" if use == "blanks" else random.choice(("json", "csv", "cells"))
    rows = [(random.choice(values), "x") for _ in range(15000 + random.randrange(3000))]
    other = random.choice(others) if random.randrange(4) else ""
    if other:
        rows[random.randrange(14000, len(rows))] = (other, "x")
    data = "".join(f"{a} {b}\n" for a, b in rows) if form == "blanks" else write(form, rows)
    first = "a" if form in ("json", "csv") else "1"
    options = {"json": ["--jsonl"], "csv": ["--csv"], "cells": ["-d", ";"], "blanks": []}[form]
    options += ["--threads", random.choice("14"), "--chunk-size", random.choice(("4K", "100K", "1M"))] + random.choice(([], ["--invalid", "ignore"]))
    jobs = [lambda kind: ["uniq", "-f", first + kind], lambda kind: ["reduce", "distinct", "-f", first + kind],
            lambda kind: ["reduce", "count", "-f", f"{'b' if first == 'a' else '2'}:text", "--by", first + kind]]
    if use != "key":
        jobs += [lambda kind: ["reduce", "max", "-f", first + kind], lambda kind: ["count", "--where", f"{first}{kind}>=2026-11-22"]]
    job, how = random.choice(jobs), random.choice(("file", "pipe", "zst file", "zst pipe"))
    with tempfile.TemporaryDirectory() as place:
        found = run(job("") + options, data, how, place)
        shown = f"seed {SEED}: {shlex.join(job('') + options)} ({how}) of {other!r} after {values}: {found}"
        if other:
            assert found[0] == 1 and not found[1], shown
            assert all(f"'{first}:{name}'" in found[2] for name in named), shown
            assert all(run(job(f":{name}") + options, data, how, place)[0] == 0 for name in named), shown
        else:
            wanted = run(job(f":{kind}") + options, data, how, place)
            assert found[:2] == wanted[:2], f"{shown}, but {kind}: {wanted[0]} {wanted[2]}"


def main():
    jobs = ((["uniq"], "key"), (["reduce", "sum"], "number"), (["reduce", "distinct"], "key"), (["reduce", "count,p50"], "number"), (["reduce", "mode,count"], "key"),
            (["--bins", "7", "--range", "auto"], "number"), (["uniq"], "key"))
    checked = 0
    for _ in range(COUNT):
        form = random.choice(("json", "csv", "cells"))
        a, b = draw_column(), draw_column()
        a, b = a[:min(len(a), len(b))], b[:min(len(a), len(b))]
        data = write(form, list(zip(a, b)))
        names = ("1", "2") if form == "cells" else ("a", "b")
        options = {"json": ["--jsonl"], "csv": ["--csv"], "cells": ["-d", ";"]}[form] + ["--invalid", "ignore", "-q"]
        job, use = random.choice(jobs)
        # a bound of any kind is read as the found kind
        shape, end = random.choice(("value", "group", "condition")), ""
        if shape == "value":
            kinds, typed = model(a, use), lambda kind: job + ["-f", f"{names[0]}{kind and ':'}{kind}"]
        elif shape == "group":
            kinds, typed = model(b, "key"), lambda kind: ["reduce", "count", "-f", f"{names[0]}:text", "--by",
                                                          f"{names[1]}{kind and ':'}{kind}"]
        else:
            sign, value, kinds = condition(b)
            if '"' in value or "," in value:
                continue
            end = sign + value
            typed = lambda kind: ["uniq", "-f", f"{names[0]}:text", "--where", f"{names[1]}{kind and ':'}{kind}{sign}{value}"]
        how = random.choice(("file", "pipe", "zst file", "zst pipe"))
        with tempfile.TemporaryDirectory() as place:
            found = run(typed("") + options, data, how, place)
            shown = f"seed {SEED}: {shlex.join(typed('') + options)} ({how}) of {data!r}: {found}"
            if kinds is None:
                assert found[0] == 2 and "add a type" in found[2], shown
            elif len(kinds) == 2:
                assert found[0] == 2 and not found[1], shown
                for kind in kinds:
                    assert f":{kind}{end}'" in found[2], shown
                    assert run(typed(kind) + options, data, how, place)[0] == 0, shown
            elif kinds[0]:
                wanted = run(typed(kinds[0]) + options, data, how, place)
                assert found[:2] == wanted[:2], f"{shown}, but {kinds[0]}: {wanted}"
            else:  # as it was: integers
                wanted = run(typed("int") + options, data, how, place)
                assert found[:2] == wanted[:2], f"{shown}, but int: {wanted}"
        checked += 1
    assert checked > COUNT // 2
    for _ in range(COUNT // 20):
        check_later()


main()
