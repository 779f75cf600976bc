#!/usr/bin/env python3
"""`.a[]`: each element of an array counts like a separate row.

usage: json_elements.py GPUHIST SEED

Draws rows of JSON with arrays, and a job. With -f and the path of each element, the result is that of the
job over the rows that Python's json makes from them: one for each element, none for an empty array. Counts
of uniq are also compared with Python's. tests/json_lines.py tests the values of all paths.
"""
import collections
import json
import os
import random
import subprocess
import sys

GPUHIST, RANDOM = sys.argv[1], random.Random(int(sys.argv[2]))
ABSENT = object()
PATHS = {".v[]": lambda item: item, ".o.v[]": lambda item: item, ".v[].k": lambda item: member(item, "k"),
         ".v[].k[1]": lambda item: element(member(item, "k"), 1), ".v[][-1]": lambda item: element(item, -1),
         '."v"[]': lambda item: item}


def member(item, key):
    return item.get(key, ABSENT) if isinstance(item, dict) else ABSENT


def element(item, at):
    return item[at] if isinstance(item, list) and -len(item) <= at < len(item) else ABSENT


def draw_item(path, is_good):
    if not is_good and RANDOM.randrange(12) == 0:
        return RANDOM.choice((None, "", "x", {}, [], {"k": None}, {"k": []}, [1.5], "]"))
    value = RANDOM.choice((RANDOM.randrange(30), str(RANDOM.randrange(-9, 9)), RANDOM.randrange(10**6)))
    more = RANDOM.choice((7, "}", [[]], {"k": 3}, None))
    return {".v[].k": {"a": more, "k": value}, ".v[].k[1]": {"k": [more, value, more]}, ".v[][-1]": [more] * RANDOM.randrange(3) + [value]}.get(
        path, value)


def draw_rows(path, is_good):
    rows = []
    for _ in range(RANDOM.choice((1, 3, 40, 300))):
        size = RANDOM.choice((0, 1, 2, 5, 5, 40))
        array = [draw_item(path, is_good) for _ in range(size)]
        if not is_good and RANDOM.randrange(12) == 0:
            array = RANDOM.choice((ABSENT, None, 5, {"k": 1}))
        row = {"g": RANDOM.choice("abc"), "w": RANDOM.randrange(4), "n": RANDOM.randrange(20)}
        if array is not ABSENT:
            row = {"v": array, **row} if path != ".o.v[]" else {**row, "o": {"v": array}}
        if RANDOM.randrange(12) == 0:  # a member with that very name
            row[path[1:]] = RANDOM.choice((3, "4"))
        rows.append(row)
    return rows


def explode(rows, path):
    """Returns the rows of one value each."""
    made = []
    for row in rows:
        rest = {key: row[key] for key in "gwn"}
        array = row.get("v", ABSENT) if path != ".o.v[]" else member(row.get("o", ABSENT), "v")
        if path[1:] in row and "." not in path[1:] and '"' not in path:
            items = [row[path[1:]]]
        else:
            items = [PATHS[path](item) for item in array] if isinstance(array, list) else [ABSENT]
        made += [rest if item is ABSENT else {"x": item, **rest} for item in items]
    return made


def write(rows, has_blanks):
    separators = (" , ", " : ") if has_blanks else (",", ":")
    return "".join(json.dumps(row, separators=separators) + "\n" for row in rows).encode()


def run(words, data):
    how = ["--threads", RANDOM.choice("14"), "--chunk-size", RANDOM.choice(("4K", "1M"))]
    if RANDOM.randrange(2):
        with open("in", "wb") as file:
            file.write(data)
        return subprocess.run([GPUHIST, *words, *how, "in"], capture_output=True, check=False)
    return subprocess.run([GPUHIST, *words, *how], input=data, capture_output=True, check=False)


def job(number):
    path = RANDOM.choice(list(PATHS))
    is_good = RANDOM.randrange(2) == 0
    rows = draw_rows(path, is_good)
    has_blanks = RANDOM.randrange(2) == 0
    data, plain = write(rows, has_blanks), write(explode(rows, path), has_blanks)
    kind = RANDOM.choice((":int", ":int", ":text", ":.1"))
    words = RANDOM.choice((["uniq"], ["uniq"], ["uniq", "--top", "3"], ["reduce", "count,distinct,mode"], ["reduce", "sum,p50,max"],
                           ["--width", "5"], ["count", "--ge", "7", "--all"], ["stalin-sort"]))
    if kind == ":text":
        words = RANDOM.choice((["uniq"], ["uniq", "--format", "json"], ["reduce", "count,distinct,mode"]))
    words = words + ["--jsonl"] + RANDOM.choice(([], ["--where", "n:int<15"], ["--where", "n:int>3", "--or", "--where", "g:text=a"]))
    if words[0] in ("uniq", "--width"):
        words += RANDOM.choice(([], ["--weight", "w"]))
    if words[0] != "stalin-sort":
        words += RANDOM.choice(([], ["--by", "g:text"], ["--by", "g:text,n:int"]))
    words += RANDOM.choice((["--invalid", "ignore"], ["--invalid", "ignore", "--missing", "skip"], ["--missing", "skip"], []))
    found, wanted = run([*words, "-q", "-f", path + kind], data), run([*words, "-q", "-f", "x" + kind], plain)
    if (found.returncode, found.stdout) != (wanted.returncode, wanted.stdout.replace(b'"column":"x"', b'"column":"%s"' % path.encode())):
        sys.exit(f"job {number}: {words} {path}: status {found.returncode}, not {wanted.returncode}: {found.stderr!r} {found.stdout[:300]!r}, "
                 f"not {wanted.stdout[:300]!r} {wanted.stderr!r}")
    if words[:2] == ["uniq", "--jsonl"] and found.returncode == 0 and not {"--by", "--weight", "--where"} & set(words) and kind == ":text":
        counts = collections.Counter(row["x"] if isinstance(row["x"], str) else json.dumps(row["x"], separators=(",", ":"))
                                     for row in explode(rows, path) if row.get("x") is not None)
        counts = collections.Counter({text.replace(" ", ""): count for text, count in counts.items()})
        lines = [line.split("\t") for line in found.stdout.decode().replace(" ", "").splitlines()]
        if {text.replace("\\\\", "\\"): int(count) for text, count in lines} != counts:
            sys.exit(f"job {number}: {words} {path}: {lines}, not {counts}")
    if words[0] != "stalin-sort" and found.returncode == 0 and RANDOM.randrange(3) == 0:
        cut = RANDOM.randrange(len(rows) + 1)
        for state, part in (("a", rows[:cut]), ("b", rows[cut:])):
            run([*words, "-q", "-f", path + kind, "--save", state, "-o", os.devnull], write(part, has_blanks))
        printing = ["--top", "3"] if "--top" in words else ["--format", "json"] if "--format" in words else []
        merged = subprocess.run([GPUHIST, "merge", "-q", *printing, "a", "b"], capture_output=True, check=False)
        if merged.stdout != found.stdout:
            sys.exit(f"job {number}: {words} {path}: merged {merged.stdout[:300]!r} {merged.stderr!r}, not {found.stdout[:300]!r}")


for at in range(60):
    job(at)
