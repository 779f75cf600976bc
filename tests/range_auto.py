"""Compares --range auto --bins N with Python, for random jobs.

usage: range_auto.py GPUHIST [SEED [COUNT [ENGINE...]]]

Bin b of N begins at LOW + ceil(b * (HIGH + 1 - LOW) / N), where LOW is the smallest value and HIGH the
largest; a range of fewer than N integers has a bin for each. Values, weights and groups are drawn,
and written as decimal or hexadecimal integers, decimal numbers, timestamps, or binary records. Each
job is also saved in parts and merged, and run with a typed range.
"""
import bisect
import csv
import datetime
import io
import json
import os
import random
import re
import struct
import subprocess
import sys

SHARE = int(os.environ.get("SHARE", "1"))
PERCENTS = ["0", "50", "99.9", "100"]
TYPES = {f"{sign}{bits}": (-2**(bits - 1) if sign == "i" else 0, 2**(bits - (sign == "i")) - 1)
         for sign in "iu" for bits in (8, 16, 32, 64)}
KINDS = ("int", "int", "hex", "fixed", "time", "record")
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def draw_values(rng, low, high):
    """Values of the type: none, one, equal ones, few, its extremes, small ones, any."""
    span = rng.choice((0, 1, 2, 5, 99, 1000, 10**6, high - low))
    start = rng.choice((low, max(low, min(high - span, rng.choice((-3, 0, 7, 10**9)))), max(low, high - span)))
    end = min(high, start + span)
    count = rng.choice((0, 1, 2, 3, 10, 400, 3000))
    draw = rng.choice((lambda: rng.randint(start, end), lambda: rng.choice((start, end)),
                       lambda: start + int((end - start) * rng.random()**4)))
    return [min(max(draw(), start), end) for _ in range(count)]


class Job:
    def __init__(self, rng):
        self.rng = rng
        self.kind = rng.choice(KINDS)
        self.type = rng.choice(sorted(TYPES)) if self.kind in ("int", "hex", "record") else "i64"
        low, high = TYPES[self.type]
        if self.kind == "time":
            low, high = -10**9, 4 * 10**9
        self.decimals = rng.randrange(1, 4) if self.kind == "fixed" else 0
        self.bins = rng.choice((1, 2, 3, 10, 64, 1000))
        self.values = draw_values(rng, low, high)
        self.weights = [rng.choice((0, 0, 1, 2, 1000)) for _ in self.values]
        self.groups = [rng.randrange(rng.choice((1, 4))) for _ in self.values]
        self.has_weights = rng.random() < 0.4
        self.has_groups = rng.random() < 0.4
        self.where = rng.random() < 0.3

    def write(self, value):
        if self.kind == "time":
            return (EPOCH + datetime.timedelta(seconds=value)).strftime("%Y-%m-%dT%H:%M:%SZ")
        if self.kind != "fixed":
            return str(value)
        whole, rest = divmod(abs(value), 10**self.decimals)
        return f"{'-' * (value < 0)}{whole}.{rest:0{self.decimals}d}"

    def lines(self, rows):
        """The input of some rows."""
        if self.kind == "record":
            code = {8: "b", 16: "h", 32: "i", 64: "q"}[int(self.type[1:])]
            code = "<" + (code if self.type[0] == "i" else code.upper()) + "IB"
            return b"".join(struct.pack(code, *row) for row in rows)
        hexadecimal = self.kind == "hex"
        return "".join(f"{f'{v:x}' if hexadecimal else self.write(v)}\t{w}\t{g}\n" for v, w, g in rows).encode()

    def options(self):
        if self.kind == "record":
            size = int(self.type[1:]) // 8
            value, weight, group = f"{self.type}@0", f"u32@{size}", f"u8@{size + 4}"
            words = ["--record", str(size + 5), "-f", value]
        else:
            suffix = {"int": "", "hex": ":hex", "time": ":time", "fixed": f":.{self.decimals}"}[self.kind]
            value, weight, group = "1" + suffix, "2", "3"
            words = ["-f", value] + (["-t", self.type] if self.kind in ("int", "hex") else [])
        words += ["--weight", weight] if self.has_weights else []
        words += ["--by", group] if self.has_groups else []
        return words + (["--where", f"{group}!=1"] if self.where else [])

    def parts(self):
        """Returns the values and weights of each group, only from matching rows."""
        rows = [row for row in zip(self.values, self.weights, self.groups) if not self.where or row[2] != 1]
        groups = sorted({g for _, _, g in rows}) if self.has_groups else [None]
        return {g: [(v, w if self.has_weights else 1) for v, w, h in rows if g in (None, h)] for g in groups}

    def count(self, rows):
        """Returns the edges of the bins of rows, and their counts."""
        low, high = min(v for v, _ in rows), max(v for v, _ in rows) + 1
        bins = min(self.bins, high - low)
        edges = [low + -(-b * (high - low) // bins) for b in range(bins + 1)]
        counts = [0] * bins
        for value, weight in rows:
            counts[bisect.bisect_right(edges, value) - 1] += weight
        return edges, counts

    def expected(self, percents, zeros, has_header=False, has_ends=False):
        """
        Returns the lines of tsv, as lists of cells, with no group column without groups. The ends of bins of
        width 1 are omitted, except with groups below a header row, or if has_ends is true.
        """
        lines = []
        for group, rows in self.parts().items():
            if not rows:
                continue
            edges, counts = self.count(rows)
            is_unit = edges[-1] - edges[0] == len(counts) and not has_ends and \
                not (has_header and group is not None)
            front = [] if group is None else [str(group)]
            name = lambda b: [self.write(edges[b])] + ([] if is_unit else [self.write_edge(edges[b + 1])])
            total = sum(counts)
            for percent in percents if total > 0 else ():
                digits = percent.partition(".")[2]
                number = int(percent.replace(".", ""))
                rank = max(1, -(-number * total // (100 * 10**len(digits))))
                bin_of = next(b for b in range(len(counts)) if sum(counts[:b + 1]) >= rank)
                lines.append([*front, percent, *name(bin_of)])
            if not percents:
                lines += [[*front, *name(b), str(n)] for b, n in enumerate(counts) if n or zeros]
        return lines

    def write_edge(self, value):
        return self.write(value)


def run(command, data=None, status=0):
    done = subprocess.run(command, input=data, capture_output=True, timeout=120, check=False)
    notes = re.sub(b"gpuhist: note: no row .*\n", b"", done.stderr)
    if done.returncode != status or (notes and status == 0):
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.decode()!r}, of\n{(data or b'')[:500]!r}")
    return done.stdout


def require(found, wanted, command):
    if found != wanted:
        at = next((i for i, (a, b) in enumerate(zip(found, wanted)) if a != b), min(len(found), len(wanted)))
        sys.exit(f"{' '.join(command)}: {len(found)}, not {len(wanted)}; at {at}: "
                 f"{found[at:at + 3]!r}, not {wanted[at:at + 3]!r}")


def check(gpuhist, rng, engines):
    job = Job(rng)
    rows = list(zip(job.values, job.weights, job.groups))
    data = job.lines(rows)
    with open("in", "wb") as file:
        file.write(data)
    engine = [] if job.has_weights or job.has_groups or job.where or job.kind in ("record", "time") else \
        ["--engine", rng.choice(engines)]
    how = ["--threads", rng.choice(("1", "2", "16")), "--chunk-size", rng.choice(("4096", "65536", "1M")), *engine]
    how += rng.choice(([], [], ["-S", "1"]))
    start = [gpuhist, "--range", "auto", "--bins", str(job.bins)]
    words = [*start, *job.options(), *how]
    zeros = rng.random() < 0.3
    total = sum(sum(w for _, w in part) for part in job.parts().values())
    plain = [*words, *(["--zeros"] if zeros else [])]
    cells = lambda out: [line.split("\t") for line in out.decode().splitlines()]
    wanted = job.expected((), zeros)
    if rng.random() < 0.5:
        require(cells(run([*plain, "in"])), wanted, plain)
    else:
        require(cells(run(plain, data)), wanted, plain)
    if total > 0:
        command = [*words, "--quantiles", ",".join(PERCENTS), "in"]
        if not job.has_groups or all(sum(w for _, w in part) for part in job.parts().values()):
            require(cells(run(command)), job.expected(PERCENTS, False), command)
    # formats
    command = [*plain, "--format", "csv", "in"]
    table = list(csv.reader(io.StringIO(run(command).decode())))
    require(table[1:], job.expected((), zeros, True), command)
    command = [*plain, "--format", "jsonl", "in"]
    found = [list(json.loads(line, parse_float=str, parse_int=str).values()) for line in run(command).splitlines()]
    require(found, job.expected((), zeros, has_ends=True), command)
    command = [*plain, "--format", "json", "in"]
    found = json.loads(run(command), parse_float=str, parse_int=str)
    require(found["operation"], "histogram", command)
    flat = [list(row.values()) for row in found.get("bins", [])]
    flat += [[group["by"], *row.values()] for group in found.get("groups", []) for row in group["bins"]]
    require(flat, job.expected((), zeros, has_ends=True), command)
    part = job.parts().get(None)
    if part:
        edges, counts = job.count(part)
        command = [*words, "--format", "raw", "in"]
        require(list(struct.unpack(f"<{len(counts)}Q", run(command))), counts, command)
        typed = f"{job.write(edges[0])}:{job.write(edges[-1])}" if job.kind != "hex" else f"{edges[0]}:{edges[-1]}"
        command = [gpuhist, "--range", typed, "--bins", str(len(counts)), *words[5:], "--percent", "in"]
        require(run(command), run([*words, "--percent", "in"]), command)
        command = [*words, "--top", "2", "in"]
        order = sorted((b for b in range(len(counts)) if counts[b]), key=lambda b: -counts[b])[:2]
        require([int(line[-1]) for line in cells(run(command))], [counts[b] for b in order], command)
    # parts that are saved and merged
    cut = sorted(rng.randrange(len(rows) + 1) for _ in range(2))
    states = []
    for number, (a, b) in enumerate(zip([0, *cut], [*cut, len(rows)])):
        states.append(f"state{number}")
        run([*words, "--save", states[-1], "-o", os.devnull], job.lines(rows[a:b]))
    rng.shuffle(states)
    command = [gpuhist, "merge", *(["--zeros"] if zeros else []), "--save", "again", *states]
    require(cells(run(command)), wanted, command)
    require(cells(run([gpuhist, "merge", *(["--zeros"] if zeros else []), "again"])), wanted, command)


def main():
    gpuhist = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    for number in range(seed, seed + count, SHARE):
        try:
            check(gpuhist, random.Random(number), sys.argv[4:] or ["cpu"])
        except SystemExit:
            print(f"range_auto.py {number} 1", file=sys.stderr)
            raise


if __name__ == "__main__":
    main()
