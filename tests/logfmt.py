"""Compares --logfmt with an independent reader, on random lines, many of them corrupt.

usage: logfmt.py GPUHIST [SEED [COUNT]]

Each command reads a document as a file, from a pipe, compressed or in two parts whose states are
merged, with 1 and 4 threads and chunks from the minimum size on.
"""

import collections
import json
import os
import random
import re
import subprocess
import sys

SHARE = int(os.environ.get("SHARE", "1"))
PAIR = re.compile(rb'([^ \t="]+)(?:=(?:"((?:[^"\\]|\\["\\ntr]|\\u[0-9a-fA-F]{4})*)"|([^ \t"]*)))?(?:[ \t]+|$)')
ESCAPES = re.compile(rb'((?:\\u[0-9a-fA-F]{4})+)|\\(.)')
LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}

KEYS = (b"n", b"m", b"k", b"level", b"ready", b"a.b", b"n2", b"\xc3\xa9", b"a-key-of-sixty-three-bytes-and-more" + b"y" * 40)
VALUES = (b"", b"7", b"-3", b"12345", b"99999999999999999999", b"1.5", b"x", b"error", b"info", b"/a?b=c", b"\\n", b"\xe2\x82\xac")
QUOTED = (*VALUES, b"two words", b'\\"', b"\\\\", b"\\n\\t\\r", b"\\u0041", b"\\u20AC", b"\\ud83d\\ude00", b"=", b" 8 ", b"y" * 70, b"\\/")
DAMAGE = (b'"', b"\\", b"=", b" ", b"\t", b"\r", b'="', b'" ', b"\\u12", b"\\ud800", b"\\x", b"n=4", b"k", b"{")


def read_line(line):
    """Returns the pairs of a line; None: invalid."""
    def decode(found):
        return bytes.fromhex(found[1].replace(b"\\u", b"").decode()).decode("utf-16-be").encode() if found[1] \
            else LETTERS.get(found[2], found[2])

    pairs, at, line = {}, 0, line.strip(b" \t")
    while at < len(line):
        found = PAIR.match(line, at)
        if not found:
            return None
        try:
            pairs[found[1]] = found[3] or b"" if found[2] is None else ESCAPES.sub(decode, found[2])
        except UnicodeDecodeError:
            return None
        at = found.end()
    return pairs


def draw_line(rng):
    line = b""
    for _ in range(rng.randrange(1, 7)):
        key = rng.choice(KEYS[:3] if rng.randrange(3) else KEYS)
        value = rng.choice((b"", b"=", b"=" + rng.choice(VALUES), b'="%s"' % rng.choice(QUOTED), b"=%d" % rng.randrange(5)))
        line += key + value + rng.choice((b" ", b" ", b"\t", b"  "))
    line = line if rng.randrange(4) == 0 else line.strip()
    for _ in range(rng.choice((0, 0, 0, 0, 0, 1, 2))):
        at = rng.randrange(len(line) + 1)
        line = line[:at] + rng.choice(DAMAGE) + line[at + rng.randrange(3):]
    return line


def read_integer(token):
    """Returns the value of an i64; None: invalid."""
    value = int(token) if token is not None and re.fullmatch(rb"[ \t]*[-+]?\d+[ \t]*", token) else None
    return value if value is not None and -2**63 <= value < 2**63 else None


def read_text(token):
    return token


class Command:
    """For matching rows, by k: their number, and the sum of n and m, or of one weighted by the other."""

    def __init__(self, rng):
        self.is_uniq = rng.randrange(2) == 0
        self.columns = [(b"n", read_integer)] if self.is_uniq or rng.randrange(2) else [(b"n", read_integer), (b"m", read_integer)]
        self.values = len(self.columns)
        self.words = ["uniq"] if self.is_uniq else ["reduce", "count,sum"]
        self.words += ["-f", ",".join(key.decode() + ":int" for key, _ in self.columns)]
        self.has_weights = self.is_uniq and rng.randrange(3) == 0
        if self.has_weights:
            self.columns.append((b"m", lambda token: None if (read_integer(token) or 0) < 0 else read_integer(token)))
            self.words += ["--weight", "m"]
        self.columns.append((b"k", read_text))
        self.words += ["--by", "k:text", "--logfmt", "--invalid", "ignore"]
        self.condition = rng.choice((None, (b"level", b"error"), (b"k", b"x"), (b"k", b"")))
        if self.condition:
            self.words += ["--where", "{}:text={}".format(*map(bytes.decode, self.condition))]

    def count(self, lines):
        """Returns the rows of the result, and the number of invalid tokens."""
        counts, invalid = collections.defaultdict(lambda: [0, 0]), 0
        for line in lines:
            if line.strip(b" \t") == b"":
                continue
            pairs = read_line(line)
            if pairs is None:
                invalid += 1
                continue
            if self.condition and pairs.get(self.condition[0], b"" if self.condition[1] == b"" else None) != self.condition[1]:
                invalid += self.condition[0] not in pairs and self.condition[1] != b""
                continue
            found = []
            for index, (key, read) in enumerate(self.columns):
                found.append(read(pairs.get(key)))
                if found[-1] is None:
                    invalid += 1
                    if self.values == 1 or index >= self.values:
                        break
            if found[-1] is None and (self.values == 1 or len(found) > self.values):
                continue
            group, times = found[-1], found[1] if self.has_weights else 1
            for index, value in enumerate(found[:self.values]):
                if value is None:
                    continue
                row = counts[(group, value if self.is_uniq else self.columns[index][0])]
                row[0] += times
                row[1] += times * value
        return counts, invalid

    def read(self, output):
        """Returns the result in the form of count()."""
        counts = {}
        for line in output.splitlines():
            row = json.loads(line)
            column = row.get("column", "n").encode()
            count = row["m"] if self.has_weights and self.is_uniq else row["count"]
            counts[(row["k"].encode(), row["value"] if self.is_uniq else column)] = [count, row.get("sum")]
        return counts


def run(words, data=None):
    done = subprocess.run(words, input=data, stdin=subprocess.DEVNULL if data is None else None,
                          capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def feed(rng, words, data, lines):
    """Runs a command over a document. Returns its output and its messages."""
    way = rng.choice(("file", "pipe", "zst", "parts"))
    words = [*words, "--threads", rng.choice("14"), "--chunk-size", rng.choice(("8", "64", "1000", "1M"))]
    with open("in", "wb") as file:
        file.write(data)
    if way == "zst":
        subprocess.run(["zstd", "-qf", "in"], check=True)
    if way != "parts":
        words = [*words, "--format", "jsonl"] + {"file": ["in"], "zst": ["in.zst"], "pipe": []}[way]
        return (words, *run(words, data if way == "pipe" else None))
    messages, cut = "", rng.randrange(len(lines) + 1)
    for name, part in ("a", lines[:cut]), ("b", lines[cut:]):
        _, _, some = run([*words, "--save", name + ".state", "-o", "none"], b"".join(line + b"\n" for line in part))
        messages += some
    words = [words[0], "merge", "--format", "jsonl", "a.state", "b.state"]
    status, output, _ = run(words)
    return words, status, output, messages


def check(gpuhist, rng):
    lines = [draw_line(rng) if rng.randrange(20) else rng.choice((b"", b"  ", b"\t")) for _ in range(rng.choice((0, 1, 30, 300)))]
    lines = [line.replace(b"\r", b"") if line.endswith(b"\r") else line for line in lines]
    command = Command(rng)
    counts, invalid = command.count(lines)
    data = b"".join(line + rng.choice((b"\n", b"\n", b"\r\n")) for line in lines)
    words, status, output, messages = feed(rng, [gpuhist, *command.words], data, lines)
    told = sum(map(int, re.findall(r"skipped (\d+) invalid values?", messages))) + \
        sum(map(int, re.findall(r"all input was invalid and ignored: (\d+) value", messages)))
    found = command.read(output.decode())
    wanted = {key: [row[0], None if command.is_uniq else row[1]] for key, row in counts.items()}
    if (status, found, told) != (0, wanted, invalid):
        differ = [(key, found.get(key), wanted.get(key)) for key in {*found, *wanted} if found.get(key) != wanted.get(key)]
        return f"{' '.join(words)}: status {status}, {told} invalid, not {invalid}; {differ[:5]}; {messages}"
    return None


def main():
    gpuhist = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for number in range(seed, seed + (int(sys.argv[3]) if len(sys.argv) > 3 else 100), SHARE):
        failure = check(gpuhist, random.Random(number))
        if failure:
            sys.exit(f"logfmt.py {number} 1: {failure}")


if __name__ == "__main__":
    main()
