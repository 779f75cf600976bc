"""Compares gpuhist reduce and count --by with Python's integers, for values of one type.

usage: by.py GPUHIST TYPE

The reference collects the values of each group in a dictionary, and reduces each list as reduce.py
does.
"""

import collections
import csv
import io
import json
import os
import random
import subprocess
import sys

import numpy as np

from reduce import NAMES, expected

COUNT = 1001
THREADS = ("1", "5")
CHUNKS = ("1M", "4099", "64")


def draw_values(info, count, rng):
    """Values of the type: its extremes, small ones, and any."""
    low, high = int(info.min), int(info.max)
    return [rng.choice((low, low + 1, high - 1, high, rng.randint(max(low, -9), 9),
                        rng.randint(low, high))) for _ in range(count)]


def draw_groups(kind, count, rng):
    """64-bit groups: one, few, many, extreme and close together, all distinct."""
    low, high = (0, 2**64 - 1) if kind == "u64" else (-2**63, 2**63 - 1)
    statuses = [200, 304, 404, 500, 0, max(low, -1), low, high]
    return rng.choice((
        lambda: [-7 if low else 7] * count,
        lambda: [rng.choice(statuses) for _ in range(count)],
        lambda: [rng.randint(max(low, -300), 300) for _ in range(count)],
        lambda: [rng.randint(low, high) for _ in range(count)],
        lambda: [low + rng.randrange(999) * 2**54 for _ in range(count)],
    ))()


def collect(groups, values):
    found = collections.defaultdict(list)
    for group, value in zip(groups, values):
        found[group].append(value)
    return dict(sorted(found.items()))


class Input:
    """A file of both columns, and the options that read it."""

    def __init__(self, kind, path, groups, values, rng):
        rows = list(zip(groups, values))
        self.group_name = "by"
        if kind == "blanks":
            text = "".join(f"  x{i} {g}\t{v}  \n" for i, (g, v) in enumerate(rows))
            self.options = ["-f", "3", "--by", "2"]
        elif kind == "first":
            text = "".join(f"{v};{i};{g}\r\n" for i, (g, v) in enumerate(rows))
            self.options = ["-d", ";", "-f", "1", "--by", "-1"]
        elif kind == "same":  # the values are the groups
            text = "".join(f"{v}\n" for g, v in rows)
            self.options = ["-f", "1", "--by", "1"]
        else:
            out = io.StringIO()
            writer = csv.writer(out, quoting=rng.choice((csv.QUOTE_ALL, csv.QUOTE_MINIMAL)))
            writer.writerow(["a, b", "of the \"group\"", "value"])
            writer.writerows((f"{i},\"", g, v) for i, (g, v) in enumerate(rows))
            text = out.getvalue()
            self.group_name = "of the \"group\""
            self.options = ["--csv", "-f", "value", "--by", self.group_name]
        with open(path, "w") as file:
            file.write(text)


def write_records(path, dtype, name, groups, values, rng):
    """Binary records with both columns at any offsets; returns the options."""
    kind = rng.choice(("i8", "u8", "i16be", "u16", "i32", "u32be", "i64be", "u64"))
    bits = int(kind[1:].removesuffix("be"))
    stored = (">" if kind.endswith("be") else "<") + f"{kind[0]}{bits // 8}"
    info = np.iinfo(np.dtype(stored))
    groups[:] = [(g - int(info.min)) % 2**bits + int(info.min) for g in groups]
    size = rng.randint(bits // 8 + dtype.itemsize, 40)
    offset = rng.randint(0, size - bits // 8 - dtype.itemsize)
    behind = rng.randint(offset + dtype.itemsize, size - bits // 8)
    records = np.zeros(len(groups), np.dtype({"names": ["v", "g"], "formats": [dtype, stored],
                                              "offsets": [offset, behind], "itemsize": size}))
    records["v"], records["g"] = values, groups
    records.tofile(path)
    return ["--record", str(size), "--offset", str(offset), "--by", f"{kind}@{behind}"]


def run(*command):
    done = subprocess.run(command, capture_output=True, timeout=120)
    if done.returncode or done.stderr:
        sys.exit(f"{' '.join(command)}: status {done.returncode}, {done.stderr.decode()!r}")
    return done.stdout.decode()


def require_equal(command, found, wanted):
    if found != wanted:
        sys.exit(f"{' '.join(command)}:\n{found[:3000]!r} instead of\n{wanted[:3000]!r}")


def check_reduce(command, names, group_name, collected):
    """Prints the reductions of each group in each format."""
    results = {group: expected(values) for group, values in collected.items()}
    form = random.choice(("tsv", "csv", "json"))
    command = [*command[:1], "reduce", ",".join(names), *command[1:], "--format", form]
    found = run(*command)
    if form == "json":
        wanted = {"operation": "reduce", "groups": [
            {group_name: group, **{name: result[name] for name in names}}
            for group, result in results.items()]}
        found = json.loads(found, parse_float=str, parse_int=str)
        for group in found["groups"]:
            group[group_name] = int(group[group_name])
        require_equal(command, repr(found), repr(wanted))
        return
    separator = "," if form == "csv" else "\t"
    lines = [separator.join([str(group), *(result[name] for name in names)])
             for group, result in results.items()]
    if form == "csv":
        quoted = '"%s"' % group_name.replace('"', '""') if '"' in group_name else group_name
        lines.insert(0, ",".join([quoted, *names]))
    require_equal(command, found, "".join(line + "\n" for line in lines))


def check_count(command, info, collected):
    """The counts of each group, of predicates of every form."""
    bound = random.choice((int(info.min), 0, 5, int(info.max)))
    predicates = {f"--eq={bound}": lambda v: v == bound, f"--ne={bound}": lambda v: v != bound,
                  f"--lt={bound}": lambda v: v < bound, f"--ge={bound}": lambda v: v >= bound,
                  "--in=-3:7": lambda v: -3 <= v < 7, "--all": lambda v: True,
                  f"--any-of=1,2,{bound}": lambda v: v in (1, 2, bound),
                  f"--any-of={int(info.min)},0,{int(info.max)}":
                      lambda v: v in (int(info.min), 0, int(info.max))}
    options = random.sample(list(predicates), random.randint(1, len(predicates)))
    command = [*command[:1], "count", *options, *command[1:]]
    wanted = "".join("\t".join([str(group), *(str(sum(map(predicates[o], values)))
                                             for o in options)]) + "\n"
                     for group, values in collected.items())
    require_equal(command, run(*command), wanted)


def check_merged(command, path, rng):
    """States of parts of the input add up to one run."""
    whole = run(*command, path)
    with open(path) as file:
        lines = file.readlines()
    edge = rng.randint(0, len(lines))
    for name, part in ((path + ".1", lines[:edge]), (path + ".2", lines[edge:])):
        with open(name, "w") as file:
            file.writelines(part)
        run(*command, "--save", name + ".state", "-o", os.devnull, name)
    merged = [command[0], "merge", path + ".1.state", path + ".2.state"]
    require_equal(merged, run(*merged), whole)


def main():
    gpuhist, name = sys.argv[1:]
    rng = random.Random(name)
    random.seed(name)
    stored = np.dtype((">" if name.endswith("be") else "<") +
                      f"{name[0]}{int(name[1:].removesuffix('be')) // 8}")
    info = np.iinfo(stored)
    path = "by.in"
    for kind in ("blanks", "first", "same", "csv", "records", "records"):
        if kind != "records" and name.endswith("be"):
            continue
        values = draw_values(info, COUNT, rng)
        groups = draw_groups(name, COUNT, rng)
        if kind == "same":
            groups = values
        group_name = "by"
        if kind == "records":
            options = write_records(path, stored, name, groups, values, rng)
        else:
            made = Input(kind, path, groups, values, rng)
            options, group_name = made.options, made.group_name
        collected = collect(groups, values)
        command = [gpuhist, "-t", name, *options]
        for threads, chunk in zip(THREADS, rng.sample(CHUNKS, 2)):
            how = ["--threads", threads, "--chunk-size", chunk]
            check_reduce([*command, *how, path], rng.sample(NAMES, rng.randint(1, len(NAMES))),
                         group_name, collected)
            check_count([*command, *how, path], info, collected)
        if kind in ("blanks", "first", "same"):
            check_merged([gpuhist, "reduce", *command[1:]], path, rng)
            check_merged([gpuhist, "count", "--lt=5", "--all", "--any-of=1,5", *command[1:]], path,
                         rng)


main()
