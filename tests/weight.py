#!/usr/bin/env python3
"""Weights with decimal places and units against Python's Decimal: exact sums in every result.

usage: weight.py GPUHIST SEED

Draws rows of a value, a group and a weight in usual notations, and a job of uniq or histogram. The model
reads weights with laws.py, adds them up as integers, and writes sums with the decimal places of their column.
Saved and merged parts of the rows are the whole.
"""
import collections
import csv
import fractions
import io
import json
import os
import random
import subprocess
import sys

import laws

GPUHIST, RANDOM = sys.argv[1], random.Random(int(sys.argv[2]))
KINDS = [("int", 0), ("hex", 0), *(("fixed", n) for n in (1, 2, 3, 9)), *(("round", n) for n in (0, 1, 2, 6)),
         ("ms", 0), ("ms", 3), ("s", 6), ("us", 0), ("bytes", 0), ("ibytes", 0)]
INVALID = ("-1", "-0.5", "x", "", "1.23456789012345678", "99999999999999999999", "5q", "1..2", "nan")


def draw_weight(kind, decimals):
    places = RANDOM.randrange(decimals + 1 + 3 * (kind == "round"))
    value = RANDOM.choice((0, 1, 5, RANDOM.randrange(10**4), RANDOM.randrange(10**7)))
    text = laws.written(value, places)
    if kind == "hex":
        return f"{value:x}"
    if kind in ("fixed", "round"):
        return RANDOM.choice((text, text, "+" + text, f"{value}e-{places}", f"{text}00", f"{value}E-{places:02}"))
    if kind in laws.DURATIONS:
        return RANDOM.choice((str(value), text, f"{value}s", f"{value}{kind}", f"{value % 60}m{value % 7}s", "00:01:02"))
    if kind in laws.SIZES:
        return RANDOM.choice((str(value), f"{value}K", f"{value % 9}.5Ki", f"{value}B"))
    return RANDOM.choice((str(value), f"{value % 1000}e2"))


def write_rows(rows, form):
    if form == "jsonl":
        return "".join(json.dumps({"v": v, "g": g, "w": w}) + "\n" for v, g, w in rows)
    if form == "csv":
        return "v,g,w\r\n" + "".join(f'{v},{g},"{w}"\r\n' for v, g, w in rows)
    return "v g w\n" + "".join(f"{v} {g} {w or '-'}\n" for v, g, w in rows)


def run(*words, data=None, status=0):
    done = subprocess.run([GPUHIST, *words], input=data, capture_output=True, check=False)
    if done.returncode != status:
        sys.exit(f"{words}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


def percent(part, whole):
    """Rounded half to even, of the exact quotient."""
    value = round(fractions.Fraction(part * 10**6, whole)) if whole else 0
    return laws.written(value, 4)


def job(number):
    kind, decimals = RANDOM.choice(KINDS)
    name = {"fixed": f".{decimals}", "round": f"round.{decimals}"}.get(kind, kind + f".{decimals}" * (decimals > 0))
    form = RANDOM.choice(("csv", "jsonl", "words"))
    rows = [(RANDOM.choice((RANDOM.randrange(-5, 30), RANDOM.randrange(1000))), RANDOM.choice("abc"),
             draw_weight(kind, decimals) if RANDOM.randrange(12) else RANDOM.choice(INVALID))
            for _ in range(RANDOM.choice((1, 5, 60, 900)))]
    sums = collections.defaultdict(int)
    values = collections.defaultdict(int)
    has_groups, has_condition = RANDOM.randrange(2), RANDOM.randrange(3) == 0
    width = RANDOM.choice((None, None, 10, 250))
    for value, group, text in rows:
        if has_condition and group == "b":
            continue
        weight = laws.read_token(text.encode(), kind, decimals)
        if weight is None or not 0 <= weight < 2**63:
            continue
        low = value // width * width if width else value
        sums[(group,) * has_groups + (low,)] += weight
        values[(group,) * has_groups] += weight
    if width:
        sums = {key: weight for key, weight in sums.items() if weight}
    if not sums:
        return
    words = ["--width", str(width)] if width else ["uniq"]
    words += ["-f", "v:int", "--weight", f"w:{name}", "--invalid", "ignore", "-q"]
    words += ["--by", "g:text"] * has_groups + ["--where", "g:text!=b"] * has_condition
    words += {"csv": ["--csv"], "jsonl": ["--jsonl"], "words": []}[form]
    printing = RANDOM.choice(([], ["--percent"], ["--cumulative"], ["--percent", "--cumulative"], ["--min-count", "7"]))
    output = RANDOM.choice(("tsv", "csv", "jsonl", "json"))
    names = ["g"] * has_groups + (["low", "high"] if width else ["value"]) + ["w"]
    names += [word[2:] for word in printing[:2] if word.startswith("--") and word != "--min-count"]
    names += ["cumulative_percent"] * (len(printing) == 2 and "7" not in printing)
    wanted, totals = [], collections.Counter()
    for key in sorted(sums):
        if "7" in printing and sums[key] < 7 * 10**decimals:
            continue
        whole = values[key[:-1]]
        totals[key[:-1]] += sums[key]
        cells = [*map(str, key), *([str(key[-1] + width)] if width else []), laws.written(sums[key], decimals)]
        if "--percent" in printing:
            cells.append(percent(sums[key], whole))
        if "--cumulative" in printing:
            cells.append(laws.written(totals[key[:-1]], decimals))
        if len(printing) == 2 and "7" not in printing:
            cells.append(percent(totals[key[:-1]], whole))
        wanted.append(cells)
    data = write_rows(rows, form).encode()
    if RANDOM.randrange(2):
        with open("in", "wb") as file:
            file.write(data)
        found = run(*words, *printing, "--format", output, "--threads", RANDOM.choice("13"), "--chunk-size", "4K", "in")
    else:
        found = run(*words, *printing, "--format", output, data=data)
    compare(number, words + printing, parse(found, output, has_groups, names), wanted)
    cut = RANDOM.randrange(len(rows) + 1)
    for state, part in (("a", rows[:cut]), ("b", rows[cut:])):
        run(*words, "--save", state, "-o", os.devnull, data=write_rows(part, form).encode())
    compare(number, ["merge", *words, *printing], parse(run("merge", *printing, "--format", output, "a", "b", "-q"), output, has_groups, names),
            wanted)


def parse(text, output, has_groups, names):
    if output == "tsv":
        return [line.split("\t") for line in text.splitlines()]
    if output == "csv":
        header, *rows = csv.reader(io.StringIO(text))
        assert header == names, (header, names)
        return rows
    exact = {"parse_float": str, "parse_int": str}
    if output == "jsonl":
        objects = [json.loads(line, **exact) for line in text.splitlines()]
    else:
        whole = json.loads(text, **exact)
        objects = []
        for part in whole["groups"] if has_groups else [whole]:
            assert part["total"] == part["inside"] and float(part["below"]) == float(part["above"]) == 0
            objects += [{**({"g": part["g"]} if has_groups else {}), **row} for row in part["bins"]]
    return [[row[name] for name in names] for row in objects]


def compare(number, words, found, wanted):
    if found != wanted:
        at = next((i for i, (a, b) in enumerate(zip(found, wanted)) if a != b), min(len(found), len(wanted)))
        sys.exit(f"job {number}: {words}: row {at}: {found[at:at + 1]}, not {wanted[at:at + 1]}")


for at in range(150 // int(os.environ.get("SHARE", "1")) + 1):
    job(at)
