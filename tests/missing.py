"""Compares --missing and conditions of missing values with a model, on random rows of every form.

usage: missing.py GPUHIST [SEED [COUNT]]

A cell is absent, null, empty or has a value. Columns a and c are integers, b is a string.
"""

import json
import os
import random
import re
import subprocess
import sys

import clf
import logfmt

SHARE = int(os.environ.get("SHARE", "1"))
ABSENT, NULL, EMPTY = "absent", "null", "empty"
NAMES = {"csv": "abc", "d": "123", "jsonl": "abc", "logfmt": "abc", "clf": ("status", "agent", "bytes")}


def draw_cell(rng, form, is_text):
    if rng.randrange(3) == 0:
        return rng.choice({"csv": (EMPTY,), "d": (EMPTY,), "jsonl": (ABSENT, NULL, EMPTY), "logfmt": (ABSENT, EMPTY),
                           "clf": (EMPTY,) if is_text else (NULL,)}[form])
    if is_text:
        return rng.choice((b"x", b"y", b"null", b"-"))
    return rng.choice((b"1", b"2", b"30", b"x", b"-"[:form != "clf"] or b"7"))


def write_row(rng, form, cells):
    a, b, c = cells
    if form in ("csv", "d"):
        quotes = ('""', '"%s"') if form == "csv" else ("", "%s")
        words = [rng.choice(("", quotes[0])) if cell == EMPTY else rng.choice(("%s", quotes[1])) % cell.decode() for cell in cells]
        words = [rng.choice(("", " ")) + word if i != 1 and not word.startswith('"') else word for i, word in enumerate(words)]
        return ",".join([*words, "end"]).encode()
    if form == "jsonl":
        members = {name: None if cell == NULL else "" if cell == EMPTY else cell.decode() for name, cell in zip("abc", cells) if cell != ABSENT}
        return json.dumps(members).encode()
    if form == "logfmt":
        return b" ".join([name + (rng.choice((b"", b"=", b'=""')) if cell == EMPTY else b"=" + cell)
                          for name, cell in zip((b"a", b"b", b"c"), cells) if cell != ABSENT] or [b"z"])
    word = lambda cell: b"-" if cell == NULL else cell
    return b'192.0.2.1 - - [21/Nov/2026:13:45:02 +0100] "GET / HTTP/1.1" %s %s "-"' % (word(a), word(c)) + \
        (b"" if b == ABSENT else b' "%s"' % (b"" if b == EMPTY else b))


class Command:
    """A job: its options, and the model of its rows."""

    def __init__(self, rng, form):
        self.form, self.skips = form, rng.randrange(2) == 0
        names = NAMES[form]
        self.kind = ["int", "text", "int"]
        spell = lambda index: f"{names[index]}:{self.kind[index]}"
        way = rng.choice(("sums", "pair", "uniq", "weight", "count"))
        self.way = way
        self.values = {"sums": [0], "pair": [0, 2], "uniq": [1], "weight": [1], "count": [0]}[way]
        self.rest = [2] if way == "weight" else []
        self.words = {"sums": ["reduce", "count,sum"], "pair": ["reduce", "count,sum"], "count": ["count", "--ge", "2"]}.get(way, ["uniq"])
        self.words += ["-f", ",".join(map(spell, self.values))]
        if self.rest:
            self.words += ["--weight", names[2]]
        self.group = rng.choice((None, 1, 2)) if way != "count" else None
        if self.group is not None:
            self.words += ["--by", spell(self.group)]
            self.rest.append(self.group)
        self.conditions = []
        for _ in range(rng.choice((0, 0, 1, 1, 2))):
            index, sign = rng.randrange(3), rng.choice(("=", "!="))
            value = rng.choice(("", "", "x" if index == 1 else "2"))
            self.conditions.append((index, sign, value))
            self.words += ["--where", f"{spell(index)}{sign}{value}"]
        if self.skips:
            self.words += ["--missing", "skip"]

    def is_missing(self, index, cell):
        return cell in (ABSENT, NULL) or (cell == EMPTY and self.kind[index] == "int")

    def read(self, index, cell, is_weight=False):
        if cell == EMPTY:
            cell = b""
        value = cell if self.kind[index] == "text" else logfmt.read_integer(cell)
        return None if is_weight and value is not None and value < 0 else value

    def count(self, rows):
        """Returns the output, and the numbers of invalid tokens and of skipped rows."""
        counts, invalid, left_out = {}, 0, 0
        for cells in rows:
            bad = lambda index: "missing" if self.is_missing(index, cells[index]) else \
                "invalid" if self.read(index, cells[index]) is None else ""
            stop, is_left_out, wrong = False, False, 0
            for index, sign, value in self.conditions:
                if value == "":
                    holds = self.is_missing(index, cells[index]) or cells[index] == EMPTY
                elif bad(index):
                    stop = True
                    is_left_out = self.skips and bad(index) == "missing"
                    wrong = not is_left_out
                    break
                else:
                    holds = self.read(index, cells[index]) == self.read(index, value.encode())
                if holds != (sign == "="):
                    stop = True
                    break
            found = []
            for place, index in enumerate([] if stop else [*self.values, *self.rest]):
                if not bad(index) and (self.way != "weight" or place != 1 or self.read(index, cells[index], True) is not None):
                    found.append(self.read(index, cells[index]))
                    continue
                if self.skips and bad(index) == "missing":
                    is_left_out = True
                else:
                    wrong += 1
                found.append(None)
                if len(self.values) == 1 or place >= len(self.values):
                    stop = True
                    break
            invalid += wrong
            left_out += is_left_out
            if stop:
                continue
            group = (found[-1],) if self.group is not None else ()
            for value, index in zip(found, self.values):
                if value is None:
                    continue
                if self.way in ("sums", "pair", "count"):
                    key = (*group, *([index] if self.way == "pair" else []))
                    row = counts.setdefault(key, [0, 0])
                    row[0] += self.way != "count" or value >= 2
                    row[1] += value
                else:
                    row = counts.setdefault((*group, value), [0, 0])
                    row[0] += found[1] if self.way == "weight" else 1
        if self.way == "pair" and self.group is None and counts:
            for index in self.values:
                counts.setdefault((index,), [0, 0])
        return counts, invalid, left_out

    def write(self, counts):
        text = lambda value: value.decode() if isinstance(value, bytes) else str(value)
        lines = []
        for key, (count, total) in counts.items():
            if self.way == "pair":
                name = NAMES[self.form][key[-1]]
                lines += [f"{name}\tcount\t{count}", f"{name}\tsum\t{total}"] if self.group is None else \
                    ["\t".join([name, *map(text, key[:-1]), str(count), str(total)])]
            elif self.way == "sums":
                lines += [f"count\t{count}", f"sum\t{total}"] if self.group is None else [f"{text(key[0])}\t{count}\t{total}"]
            elif self.way == "count":
                lines.append(f"{count}")
            else:
                lines.append("\t".join([*map(text, key), str(count)]))
        return sorted(lines)


def check(gpuhist, rng):
    form = rng.choice(list(NAMES))
    command = Command(rng, form)
    rows = [[draw_cell(rng, form, index == 1) for index in range(3)] for _ in range(rng.choice((1, 20, 200)))]
    lines = [write_row(rng, form, cells) for cells in rows]
    header = b"a,b,c,end\n" if form == "csv" else b""
    data = header + b"".join(line + rng.choice((b"\n", b"\n", b"\r\n")) for line in lines)
    options = {"csv": ["--csv"], "d": ["-d", ","]}.get(form, ["--" + form])
    counts, invalid, left_out = command.count(rows)
    words = [gpuhist, *command.words, *options, "--invalid", "ignore", "--threads", rng.choice("14"),
             "--chunk-size", rng.choice(("8", "64", str(rng.randrange(8, 300)), "1M"))]
    if rng.randrange(2):
        with open("in", "wb") as file:
            file.write(data)
        words, data = [*words, "in"], None
    status, output, messages = logfmt.run(words, data)
    told = sum(map(int, re.findall(r"skipped (\d+) invalid values?", messages))) + \
        sum(map(int, re.findall(r"all input was invalid and ignored: (\d+) value", messages)))
    told_left = sum(map(int, re.findall(r"(\d+) rows? with (?:a )?missing values? left out", messages)))
    found, wanted = sorted(output.decode().splitlines()), command.write(counts)
    if not counts:
        found = wanted = []
    if status not in (0, 0 if counts else 1) or found != wanted or (told, told_left) != (invalid, left_out):
        return f"{' '.join(words)}: status {status}, {told} invalid, not {invalid}, {told_left} left out, not {left_out}; " \
            f"{sorted(set(found) ^ set(wanted))[:6]}; {messages}"
    return None


def main():
    gpuhist = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for number in range(seed, seed + (int(sys.argv[3]) if len(sys.argv) > 3 else 100), SHARE):
        failure = check(gpuhist, random.Random(number))
        if failure:
            sys.exit(f"missing.py {number} 1: {failure}")


if __name__ == "__main__":
    main()
