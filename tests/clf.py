"""Compares --clf with an independent reader, on random lines of web logs, many of them corrupt.

usage: clf.py GPUHIST [SEED [COUNT]]

Each command reads a document as a file, from a pipe, compressed or in two parts whose states are
merged, with 1 and 4 threads and chunks from the minimum size on.
"""

import collections
import os
import random
import re
import subprocess
import sys

import logfmt

SHARE = int(os.environ.get("SHARE", "1"))
FIELDS = ("ip", "ident", "user", "time", "request", "status", "bytes", "referer", "agent")
PARTS = ("method", "path", "query", "protocol")
FIELD = re.compile(rb'(?:"((?:[^"\\]|\\.)*)"|\[(.*?)\]|([^ \t"[](?:[^ \t"]|"(?:[^"\\]|\\.)*")*))(?:[ \t]+|$)', re.DOTALL)
ESCAPE = re.compile(rb'\\(?:x([0-9a-fA-F]{2})|(["\\bfnrtv]))')
LETTERS = dict(zip(b"bfnrtv", b"\b\f\n\r\t\v"))
QUOTED = (b"", b"-", b"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)", b'\\"a\\" b', b"\\\\", b"\\x0A\\xff\\x5c",
          b"\\q \\x4", b"[x] ]", b"http://a/?b=\xc3\xa9", b"t\tab", b"y" * 90)
REQUESTS = (b"GET / HTTP/1.1", b"GET /a?b=c?d HTTP/1.0", b"POST /a b/c?q= HTTP/2.0", b"GET /old", b"-", b"", b"\\x16\\x03", b"GET  HTTP/1.1",
            b"GET HTTP/1.1", b"GET / HTTP/", b"OPTIONS * RTSP/1.0", b'GET /\\"x\\"?\\\\ HTTP/1.1', b" HTTP/1.1", b"HEAD /%s HTTP/1.1" % (b"z" * 70))
TIMES = (b"10/Oct/2000:13:55:36 -0700", b"10/Oct/2000:13:55:37 -0700", b"", b"-", b"[x]", b"10/Oct/2000:13:55:36", b"10/Oct/2000:13:55] -0700",
         b"10/Oct/2000:13:5:366 -0700")
PLAIN = (b"-", b"192.0.2.7", b"::1", b"ann", b"a=\"x y\"", b"u\\", b"]", b"255.255.255.255", b"4")
DAMAGE = (b'"', b"\\", b"[", b"]", b" ", b"\t", b"\r", b'" "', b"] ", b'\\"', b" - ")


def decode(data):
    return ESCAPE.sub(lambda found: bytes((int(found[1], 16),)) if found[1] else bytes((LETTERS.get(found[2][0], found[2][0]),)), data)


def read_line(line):
    """Returns the values of a line by name, without missing ones; None: not a valid line."""
    raw, at, line = [], 0, line.strip(b" \t")
    while at < len(line):
        found = FIELD.match(line, at)
        if not found:
            return None
        raw.append((found[1], found[2] if found[1] is None and found[2] is not None else found[3], line[at:at + 1]))
        at = found.end()
    if len(raw) < 7 or raw[3][2] != b"[" or raw[4][2] != b'"':
        return None
    texts = [decode(quoted) if quoted is not None else other for quoted, other, _ in raw]
    values = {FIELDS[i] if i < 9 else str(i + 1): text for i, text in enumerate(texts)}
    for name in ("status", "bytes"):
        if values[name] == b"-":
            del values[name]
    request = raw[4][0]
    method, rest = request.split(b" ", 1) if b" " in request else (b"", b"")
    target, _, last = rest.rpartition(b" ")
    if not last.startswith(b"HTTP/"):
        target, last = rest, b""
    path, _, query = target.partition(b"?")
    values.update(zip(PARTS, map(decode, (method, path, query, last))))
    return values


def draw_line(rng):
    quote = lambda words: b'"%s"' % rng.choice(words)
    fields = [*rng.choices(PLAIN, k=3), b"[%s]" % rng.choice(TIMES[:2] if rng.randrange(4) else TIMES), quote(REQUESTS),
              rng.choice((b"200", b"200", b"404", b"-")), rng.choice((b"0", b"-", b"%d" % rng.randrange(10**rng.randrange(1, 9))))]
    if rng.randrange(3):
        fields += [quote(QUOTED), quote(QUOTED)]
        fields += [rng.choice((b"%d" % rng.randrange(9), b"[a b]", quote(QUOTED), rng.choice(PLAIN))) for _ in range(rng.choice((0, 0, 1, 2, 3)))]
    line = b"".join(field + rng.choice((b" ",) * 20 + (b"\t", b"  ")) for field in fields)
    line = line if rng.randrange(4) == 0 else line.strip()
    for _ in range(rng.choice((0, 0, 0, 0, 0, 1, 2))):
        at = rng.randrange(len(line) + 1)
        line = line[:at] + rng.choice(DAMAGE) + line[at + rng.randrange(3):]
    return line


def written(text):
    return text.replace(b"\\", b"\\\\").replace(b"\t", b"\\t").replace(b"\n", b"\\n")


class Command:
    """Counts matching rows by a column: the counts of another column's values, or the sum of integers."""

    def __init__(self, rng):
        names = (*FIELDS, *PARTS, "10", "11")
        self.is_uniq = rng.randrange(2) == 0
        self.value = rng.choice(names) if self.is_uniq else rng.choice(("status", "bytes", "10:int"))
        self.group = rng.choice(names)
        self.words = ["uniq", "-f", self.value + ":text"] if self.is_uniq else ["reduce", "count,sum", "-f", self.value]
        self.words += ["--by", self.group + ":text", "--clf", "--invalid", "ignore"]
        self.condition = rng.choice((None, None, ("status", b"200"), ("path", b"/a"), ("agent", b"-"), ("10:text", b"4"),
                                     ("10:int", b"")))
        if self.condition:
            self.words += ["--where", f"{self.condition[0]}={self.condition[1].decode()}"]

    def count(self, lines):
        """Returns the rows of the result, and the number of invalid tokens."""
        counts, invalid = collections.defaultdict(lambda: [0, 0]), 0
        for line in lines:
            if line.strip(b" \t") == b"":
                continue
            values = read_line(line)
            if values is None:
                invalid += 1
                continue
            if self.condition and self.condition[1] == b"":  # missing values, such as a dash
                if values.get("10", b"").strip(b" \t") not in (b"", b"-"):
                    continue
            elif self.condition:
                value = values.get(self.condition[0].split(":")[0])
                if self.condition[0] == "status" and value is not None and logfmt.read_integer(value) is None:
                    value = None
                if value is None:
                    invalid += 1
                    continue
                if value != self.condition[1] and not (self.condition[0] == "status" and int(value) == 200):
                    continue
            value = values.get(self.value.split(":")[0])
            if not self.is_uniq:
                value = logfmt.read_integer(value)
            if value is None or self.group not in values:
                invalid += 1
                continue
            row = counts[(values[self.group], value if self.is_uniq else b"")]
            row[0] += 1
            row[1] += 0 if self.is_uniq else value
        return counts, invalid

    def write(self, counts):
        lines = []
        for (group, value), (count, total) in sorted(counts.items()):
            lines += [b"%s\t%s\t%d\n" % (written(group), written(value), count)] if self.is_uniq else \
                [b"%s\t%d\t%d\n" % (written(group), count, total)]
        return b"".join(lines)


def feed(rng, words, data, cut):
    """Runs a command over a document. Returns its output and its messages."""
    way = rng.choice(("file", "pipe", "zst", "parts"))
    words = [*words, "--threads", rng.choice("14"), "--chunk-size", rng.choice(("8", "64", str(rng.randrange(8, 400)), "1M"))]
    with open("in", "wb") as file:
        file.write(data)
    if way == "zst":
        subprocess.run(["zstd", "-qf", "in"], check=True)
    if way != "parts":
        words = words + {"file": ["in"], "zst": ["in.zst"], "pipe": []}[way]
        return (words, *logfmt.run(words, data if way == "pipe" else None))
    messages = ""
    for name, part in ("a", data[:cut]), ("b", data[cut:]):
        _, _, some = logfmt.run([*words, "--save", name + ".state", "-o", "none"], part)
        messages += some
    words = [words[0], "merge", "a.state", "b.state"]
    status, output, _ = logfmt.run(words)
    return words, status, output, messages


def check(gpuhist, rng):
    lines = [draw_line(rng) if rng.randrange(20) else rng.choice((b"", b"  ", b"\t")) for _ in range(rng.choice((0, 1, 30, 300)))]
    lines = [line.replace(b"\r", b"") if line.endswith(b"\r") else line for line in lines]
    command = Command(rng)
    counts, invalid = command.count(lines)
    ended = [line + rng.choice((b"\n", b"\n", b"\r\n")) for line in lines]
    data, cut = b"".join(ended), len(b"".join(ended[:rng.randrange(len(lines) + 1)]))
    # without any newline, lines would end with CR
    if lines and lines[-1].strip(b" \t") and rng.randrange(3) == 0 and b"\n" in data.rstrip(b"\r\n"):
        data = data.rstrip(b"\r\n")
    words, status, output, messages = feed(rng, [gpuhist, *command.words], data, cut)
    told = sum(map(int, re.findall(r"skipped (\d+) invalid values?", messages))) + \
        sum(map(int, re.findall(r"all input was invalid and ignored: (\d+) value", messages)))
    wanted = command.write(counts)
    if status not in (0, 1 if not counts else 0) or output != wanted or told != invalid:
        with open("failed", "wb") as file:
            file.write(data)
        differ = sorted(set(output.splitlines()) ^ set(wanted.splitlines()))[:6]
        return f"{' '.join(words)}: status {status}, {told} invalid, not {invalid}; {differ}; {messages}"
    return None


def main():
    gpuhist = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for number in range(seed, seed + (int(sys.argv[3]) if len(sys.argv) > 3 else 100), SHARE):
        failure = check(gpuhist, random.Random(number))
        if failure:
            sys.exit(f"clf.py {number} 1: {failure}")


if __name__ == "__main__":
    main()
