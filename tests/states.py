"""merge reads the state of --save and prints the run's result; it rejects the state of another job.

usage: states.py GPUHIST [JOBS [SEED]]      GPUHIST_TEST_ALL=1: continues after a failure

Draws JOBS jobs: an operation, its bins, reductions or predicates, columns of every kind, and an input
with them. For each, the run and the merge of its state print the same, in a random format. A second job
differs in one thing that changes the meaning of the result: merge rejects the two states together.
"""

import io
import json
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

INTEGERS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
LEAST_ACCEPTED = 0.6  # of the drawn jobs; the others are rejected because they fit no input
FORMATS = ["tsv", "tsv", "csv", "json", "jsonl"]


def run(*arguments, stdin=b""):
    return subprocess.run(arguments, input=stdin, capture_output=True, timeout=120)


def require(holds, *what):
    if not holds:
        raise SystemExit("\n".join(str(w) for w in what))


# --- columns: a kind, and the notation of its values ------------------------------------------------

def integer(rng):
    return str(rng.randrange(120) if rng.random() < 0.8 else rng.randrange(-120, 120))


def instant(rng):
    return f"2026-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}T{rng.randrange(24):02}:05:{rng.randrange(60):02}Z"


KINDS = {
    "": integer,
    ":int": integer,
    ":int/5": integer,
    ":int/9": integer,
    ":hex": lambda rng: f"{rng.randrange(256):x}",
    ":.1": lambda rng: f"{rng.randrange(-99, 100)}.{rng.randrange(10)}",
    ":.2": lambda rng: f"{rng.randrange(100)}.{rng.randrange(100):02}",
    ":.3": lambda rng: f"{rng.randrange(100)}.{rng.randrange(1000):03}",
    ":.1/0.5": lambda rng: f"{rng.randrange(100)}.{rng.randrange(10)}",
    ":time": instant,
    ":time.3": instant,
    ":time/1h": instant,
    ":time/9h": instant,
    ":time/2w": instant,
    ":time/1mo": instant,
    ":time/day-of-week": instant,
    ":localtime/hour-of-day": instant,
    ":localtime": instant,
    ":localtime/1d": instant,
    ":ip": lambda rng: f"10.0.{rng.randrange(3)}.{rng.randrange(3)}",
    ":ip/24": lambda rng: rng.choice(["10.1.2.3", "10.1.3.4", "2001:db8::7"]),
    ":text": lambda rng: rng.choice(["a", "bb", "c=1", "x\\y", "1"]),
}
OF_NUMBERS = [kind for kind in KINDS if "time" not in kind and "ip" not in kind and "text" not in kind]
NAMES = ["v", "w", "at", "a b", "count", "value", "x:int", 'q"q', "7", "column"]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Drawn:
    """A job and its input. `again` has another job that differs in one thing."""

    def __init__(self, rng):
        self.rng = rng
        self.input = rng.choice(["words", "fields", "delimited", "csv", "csv", "jsonl", "binary", "records",
                                 "records", "array", "rows", "rows"])
        self.is_text = self.input in ("words", "fields", "delimited", "csv", "jsonl")
        self.has_columns = self.input not in ("words", "binary", "array")
        self.operation = rng.choice(["histogram", "uniq", "reduce", "reduce", "count"])
        self.type = rng.choice(INTEGERS)
        several = self.operation in ("reduce", "count") and self.has_columns
        self.columns = rng.choice([1, 1, 2, 3]) if several else 1
        self.groups = rng.choice([0, 0, 1, 1, 2, 3]) if self.has_columns else 0
        self.weights = self.has_columns and self.operation in ("histogram", "uniq") and rng.random() < 0.3
        self.kinds = [self.draw_kind(i) for i in range(7)]
        self.types = [rng.choice(INTEGERS) for _ in range(7)]
        self.orders = [rng.choice(["", "le", "be"]) for _ in range(7)]
        self.from_end = [rng.random() < 0.2 for _ in range(7)]
        self.names = rng.sample(NAMES, 7)
        self.more = {"histogram": self.draw_bins, "uniq": lambda: [], "reduce": self.draw_reductions,
                     "count": self.draw_predicates}[self.operation]()
        self.has_type = self.is_text and rng.random() < 0.4
        self.decimals = rng.choice([0, 2]) if self.input in ("words", "fields", "delimited") else None
        self.rows = [[None] * 7 for _ in range(rng.choice([0, 1, 5, 40]))]
        self.fill = rng.randrange(2**32)
        self.printing = []
        if self.operation in ("histogram", "uniq"):
            self.printing = rng.choice([[], [], ["--top", "3"], ["--min-count", "2", "--other"], ["--percent"],
                                        ["--cumulative"], ["--sort", "count"],
                                        ["--zeros"] if "time" not in self.kinds[0] else []])  # not millions of lines
        self.printing = self.printing + ["--format", rng.choice(FORMATS)]

    def draw_kind(self, column):
        if not self.is_text:
            return self.rng.choice(["", "", ":int", ":.1", ":.2"] + [":int/5", ":.1/0.5"] * (column >= self.columns))
        if self.operation in ("uniq", "count", "reduce") and self.rng.random() < 0.5 or column >= self.columns:
            return self.rng.choice(list(KINDS))
        return self.rng.choice(OF_NUMBERS + [":time", ":time.3"])

    def draw_bins(self):
        return list(self.rng.choice([
            [], ["--bins", "100"], ["--bins", "100", "--outside", "clamp"], ["--bins", "40", "--range", "0:80"], ["--bins", "5", "--range", "auto"],
            ["--width", "10"], ["--width", "8", "--range", "-16:64"], ["--log2"], ["--log2=2"], ["--log10"],
            ["--edges", "0,5,50,100"]]))

    def draw_reductions(self):
        return [self.rng.choice(["count", "sum", "count,sum,min", "distinct", "count,distinct", "mode,p50,max",
                                 "mean,stddev", "and,or,xor", "median,p99.9,distinct"])] + \
            self.rng.choice([[], [], ["--interpolate"]])

    def draw_predicates(self):
        return list(self.rng.choice([["--all"], ["--ge", "5"], ["--ge", "5", "--lt", "50"], ["--any-of", "1,2 3"],
                                     ["--in", "3:30", "--all"]]))

    def where(self, column):
        if self.input == "records":
            return f"{self.types[column]}{self.orders[column]}@{8 * column}"
        if self.input in ("csv", "jsonl"):
            return quoted(self.names[column])
        return str(column - 7 if self.from_end[column] else column + 1)

    def command(self):
        names = [self.where(i) + self.kinds[i] for i in range(7)]
        words = [self.operation] + self.more
        first = self.columns
        if self.has_columns:
            words += ["-f", ",".join(names[:first])]
        if self.weights:
            words += ["--weight", self.where(first)]
        if self.groups:
            words += ["--by", ",".join(names[first + 1:first + 1 + self.groups])]
        if self.has_type or self.input == "binary":
            words += ["--type", self.type]
        if self.decimals and not self.kinds[0]:
            words += ["--decimals", str(self.decimals)]
        return words + {"binary": ["--binary"], "records": ["--record", "56"], "csv": ["--csv"],
                        "jsonl": ["--jsonl"], "delimited": ["-d", ";"]}.get(self.input, [])

    def data(self):
        rng = random.Random(self.fill)
        numbers = [[rng.randrange(120) for _ in range(7)] for _ in self.rows]
        rows = [[KINDS[kind](rng) for kind in self.kinds] for _ in self.rows]
        for row in rows:
            if self.weights:
                row[self.columns] = str(rng.randrange(9))
            if self.has_type and self.type[0] == "u":
                row[:] = [cell.lstrip("-") for cell in row]
        if self.input in ("binary", "array", "rows"):
            dtype = np.dtype(f"<{self.type[0]}{int(self.type[1:]) // 8}")
            table = np.array(numbers, dtype).reshape(len(numbers), 7)
            if self.input == "binary":
                return table[:, 0].tobytes()
            out = io.BytesIO()
            one = self.columns == 1 and not self.groups and not self.weights
            np.save(out, table[:, 0] if self.input == "array" else np.asfortranarray(table) if one and len(rows) > 4
                    else table)
            return out.getvalue()
        if self.input == "records":
            sizes = [int(name[1:]) // 8 for name in self.types]
            return b"".join(number.to_bytes(size, "big" if order == "be" else "little").ljust(8, b"\0") for row in numbers
                            for number, size, order in zip(row, sizes, self.orders))
        if self.input == "jsonl":
            return "".join(json.dumps(dict(zip(self.names, row))) + "\n" for row in rows).encode()
        if self.input == "csv":
            rows = [[quoted(name) for name in self.names]] + rows
        between = {"csv": ",", "delimited": ";"}.get(self.input, " ")
        return "".join(between.join(row[:1] if self.input == "words" else row) + "\n" for row in rows).encode()


def other(rng, job):
    """Returns another job that differs in one thing, and that thing; its input has the same places."""
    made = Drawn.__new__(Drawn)
    made.__dict__.update(job.__dict__, kinds=list(job.kinds), names=list(job.names), more=list(job.more),
                         types=list(job.types), rng=rng)
    counts_all = job.more[:1] in (["count"], ["--all"])
    named = list(range(job.columns)) * (job.columns > 1)
    named += range(job.columns + 1, job.columns + 1 + job.groups)
    what = rng.choice(["more", "groups", "group", "kind", "type", "name", "weights"])
    if what == "more":
        if job.operation == "uniq":
            made.operation, made.more = "reduce", ["distinct"]
        else:
            while made.more == job.more:
                made.more = {"histogram": made.draw_bins, "reduce": made.draw_reductions,
                             "count": made.draw_predicates}[job.operation]()
    elif what == "groups" and job.has_columns:
        made.groups = rng.choice([n for n in range(4) if n != job.groups])
    elif what == "group" and job.groups:
        of = job.columns + 1 + rng.randrange(job.groups)
        made.kinds[of] = rng.choice([kind for kind in (":int/9", ":.2", ":time/9h")[:3 if job.is_text else 2]
                                     if kind != job.kinds[of]])
    elif what == "kind" and job.is_text and job.has_columns and not counts_all:
        of = rng.randrange(job.columns)
        made.kinds[of] = rng.choice([kind for kind in (":.1", ":.3") if kind != job.kinds[of]])
    elif what == "type" and not counts_all and job.input in ("binary", "array", "rows"):
        made.type = rng.choice([t for t in INTEGERS if t != job.type])
    elif what == "type" and job.input == "records" and named:
        of = rng.choice(named)
        made.types[of] = rng.choice([t for t in INTEGERS if t != job.types[of]])
    elif what == "name" and job.input in ("csv", "jsonl") and named:
        made.names[rng.choice(named)] = "another"
    elif what == "weights" and job.has_columns and job.operation in ("histogram", "uniq"):
        made.weights = not job.weights
    else:
        return None, what
    return made, what


def save(gpuhist, job, state):
    done = run(gpuhist, *job.command(), *job.printing, "--save", state, stdin=job.data())
    if os.path.exists(state):
        return done
    values_are_refused = b"invalid integer" in done.stderr or b"out of range" in done.stderr
    require(done.returncode == 2 or done.returncode == 1 and values_are_refused, " ".join(job.command()), done)
    return None


def check(gpuhist, seed):
    """Returns whether the job was valid, and whether another was rejected."""
    rng = random.Random(seed)
    job = Drawn(rng)
    for state in ("one", "another"):
        if os.path.exists(state):
            os.unlink(state)
    done = save(gpuhist, job, "one")
    if not done:
        return False, False
    merged = run(gpuhist, "merge", *job.printing, "one")
    shown = [seed, " ".join(job.command()), job.data()[:200]]
    require((merged.returncode, merged.stdout) == (done.returncode, done.stdout), *shown, done, merged)
    made, what = other(rng, job)
    if not made or not save(gpuhist, made, "another"):
        return True, False
    merged = run(gpuhist, "merge", "one", "another")
    require(merged.returncode == 1 and not merged.stdout and b"another: " in merged.stderr and
            merged.stderr.count(b"\n") == 1, *shown, what, " ".join(made.command()), merged)
    return True, True


def main():
    gpuhist = os.path.abspath(sys.argv[1])
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 250
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    keep_going = "GPUHIST_TEST_ALL" in os.environ
    accepted = refused = failed = 0
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for seed in range(first, first + jobs):
            try:
                one, two = check(gpuhist, seed)
            except SystemExit as failure:
                if not keep_going:
                    os.chdir("/")
                    raise
                print(failure, end="\n\n")
                failed += 1
                continue
            accepted += one
            refused += two
        os.chdir("/")
    print(f"{jobs} jobs: {accepted} saved and merged, {refused} refused with another, {failed} failed")
    require(failed == 0 and accepted >= LEAST_ACCEPTED * jobs and refused >= accepted // 4, "too few")


main()
