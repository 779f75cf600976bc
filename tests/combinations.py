"""Compares gpuhist with plain Python over combinations of options, operations and files.

usage: combinations.py GPUHIST RUNS SEED ENGINE...

Every run has its own files, text or binary, plain, zstd or gzip, one of which may be standard
input; options for reading them, or none; and an operation with its options. The expected standard
output, standard error and status follow from the manual.
"""

import collections
import functools
import gzip
import operator
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unicodedata

TYPES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}
POLICIES = ("abort", "fail", "warn", "ignore")
OUTSIDE = ("report", "abort", "clamp", "ignore")
BITWISE = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
REDUCTIONS = ("count", "sum", "min", "max", *BITWISE)
RELATIONS = {"eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
             "gt": operator.gt, "ge": operator.ge}


# The characters with Unicode's property Bidi_Control.
BIDI_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


class Fault(Exception):
    """The error that ends a run: its message, and the number of values before it."""

    def __init__(self, message, before=0):
        super().__init__(message)
        self.before = before


def limits(kind):
    bits = int(kind[1:])
    return (0, 2**bits) if kind[0] == "u" else (-2**(bits - 1), 2**(bits - 1))


# --- the input ---------------------------------------------------------------------------------


def random_number(rng, kind):
    low, limit = limits(kind)
    return rng.choice([rng.randint(max(low, -30), min(limit - 1, 99)), rng.randint(max(low, -30), 99),
                       rng.randint(low, limit - 1), low, limit - 1])


def random_token(rng, kind, faults):
    if rng.random() < faults:
        low, limit = limits(kind)
        return rng.choice([b"-", b"+", b"x", b"1e5", b"0x1F", b"1.5", b"--5", b"5-", b"7\xc2\xa08",
                           b"7f00", b"12e5", b"bad7", b"face", b"3,4", b"3;4", b"5,x", b'"17"', b"{1", b"7\xff",
                           b"\xc3\xb6", b"a" * 41, b"9" * 50, b"%d" % limit, b"%d" % (low - 1)])
    number = random_number(rng, kind)
    return rng.choice([b"%d", b"%d", b"%+d", b"%05d"]) % number


def random_text(rng, kind, delimiter):
    faults = rng.choice([0, 0, 0.001, 0.2])
    gap = rng.choice([b" ", b"\t", b"  "]) if delimiter is None else delimiter
    lines = []
    for _ in range(rng.choice([0, 1, 3, 30, 30, 4000])):
        words = [random_token(rng, kind, faults) for _ in range(rng.choice([0, 1, 2, 3, 3, 3]))]
        if delimiter is not None and rng.random() < 0.2:
            words = [b" " + word + b"\t" for word in words]
        lines.append(gap.join(words) + rng.choice([b"\n", b"\n", b"\n", b"\r\n", b" \n"]))
    text = b"".join(lines)
    return text[:-1] if rng.random() < 0.2 and text.endswith(b"\n") else text


def random_binary(rng, kind, order):
    numbers = [random_number(rng, kind) for _ in range(rng.choice([0, 1, 5, 300, 30000]))]
    data = struct.pack(f"{order}{len(numbers)}{TYPES[kind]}", *numbers)
    return data + b"\1" * (rng.random() < 0.05)


def pack(rng, data, tools):
    """Returns the data, compressed as a whole or in several pieces, or unchanged."""
    tool = rng.choice(["plain", "plain", *tools])
    if tool == "plain":
        return data
    cuts = sorted(rng.randint(0, len(data)) for _ in range(rng.choice([0, 0, 2])))
    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)])]
    if tool == "gzip":
        return b"".join(gzip.compress(piece, 1) for piece in pieces)
    return b"".join(subprocess.run(["zstd", "-q", "-c"], input=piece, stdout=subprocess.PIPE,
                                   check=True).stdout for piece in pieces)


def is_text(block, ended):
    """True for UTF-8 without control characters except white space; its end may be cut off."""
    for cut in range(1 if ended else 4):
        try:
            characters = block[:len(block) - cut].decode()
        except UnicodeDecodeError:
            continue
        return all(unicodedata.category(c) != "Cc" or c in "\t\n\v\f\r\x85" for c in characters)
    return False


# --- reading it --------------------------------------------------------------------------------


def words_of_line(line, field, delimiter):
    line = line[:-1] if line.endswith(b"\r") else line
    if not line.strip(b" \t"):
        return []
    if delimiter is None:
        words = re.split(rb"[ \t]+", line.strip(b" \t"))
    else:
        words = [word.strip(b" \t") for word in line.split(delimiter)]
    if field == 0:
        return words
    index = field - 1 if field > 0 else len(words) + field
    return [words[index] if 0 <= index < len(words) else len(words)]


def tokens(data, rules):
    """Returns (line, token) of a file; for a line that lacks the field, (line, its number of fields)."""
    field, delimiter, header = rules
    for number, line in enumerate(data.split(b"\n"), 1):
        if number <= header:
            continue
        words = line.split() if field == 0 and delimiter is None else \
            words_of_line(line, field, delimiter)
        yield from ((number, word) for word in words)


def shown_character(c):
    """Returns its UTF-8, or a ? for each byte that must not reach a terminal; c may be a bad byte."""
    raw = c.encode("utf-8", "surrogateescape")
    is_hidden = unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or c in BIDI_CONTROLS
    return b"?" * len(raw) if is_hidden else raw


def shown(token):
    text = token[:40].decode("utf-8", "surrogateescape")
    return b"".join(map(shown_character, text)) + b"..." * (len(token) > 40)


def reason(token, rules, kind):
    """Returns the reason why a token is invalid, without the hint after it."""
    field, _, _ = rules
    if isinstance(token, int):
        return b"missing field %d: the line has %d" % (field, token)
    if not re.fullmatch(rb"[+-]?[0-9]+", token):
        return b"invalid integer '%s'" % shown(token)
    return b"'%s' is out of range for %s" % (shown(token), kind.encode())


def read_text(files, kind, rules, policy):
    """Returns values with their places, and reports of invalid ones; or a Fault if the first one ends the run."""
    low, limit = limits(kind)
    values, reports, fault = [], [], None
    for name, data in files:
        for line, token in tokens(data, rules):
            place = b"%s:%d" % (name, line)
            if isinstance(token, bytes) and re.fullmatch(rb"[+-]?[0-9]+", token) and \
                    low <= int(token) < limit:
                values.append((int(token), place))
                continue
            reports.append(b"%s: %s" % (place, reason(token, rules, kind)))
            if policy == "abort":
                return values, [], Fault(reports[0], len(values))
    return values, reports, fault


def read_binary(files, kind, order):
    data = b"".join(content for _, content in files)
    width = struct.calcsize(TYPES[kind])
    count, left = divmod(len(data), width)
    numbers = struct.unpack(f"{order}{count}{TYPES[kind]}", data[:count * width])
    values = [(v, b"at byte %d of the input" % (i * width)) for i, v in enumerate(numbers)]
    fault = Fault(b"truncated input: %d byte%s left after the last %d-byte element" %
                  (left, b"" if left == 1 else b"s", width), count) if left else None
    return values, fault


# --- the operations ------------------------------------------------------------------------------


class Histogram:
    def __init__(self, rng, kind):
        low, limit = limits(kind)
        self.low, self.high = 0, rng.choice([1, 7, 100])
        self.bins, self.options = self.high, []
        if rng.random() < 0.5:
            self.low = rng.choice([low, 0, max(low, -17)])
            self.high = rng.choice([limit, self.low + 50, min(limit, self.low + 1000)])
            self.bins = min(rng.choice([1, 3, 50, 997]), self.high - self.low)
            self.options = ["--range", f"{self.low}:{self.high}"]
        self.outside, self.zeros = rng.choice(OUTSIDE), rng.random() < 0.3
        self.raw, self.quiet = rng.random() < 0.2, rng.random() < 0.2
        self.words = ["--bins", str(self.bins), *self.options, "--outside", self.outside]
        self.words += ["--zeros"] * self.zeros + ["--format", "raw"] * self.raw + ["-q"] * self.quiet

    def first_fault(self, values, is_text_input):
        for i, (value, place) in enumerate(values):
            if self.outside == "abort" and not self.low <= value < self.high:
                text = (b"%s: value %d is" % (place, value) if is_text_input else
                        b"value %d %s is" % (value, place)) + b" out of range"
                return Fault(text, i)
        return None

    def result(self, values):
        counts = [0] * self.bins
        width = self.high - self.low
        below = above = 0
        for value in values:
            inside = min(max(value, self.low), self.high - 1)
            if inside == value or self.outside == "clamp":
                counts[(inside - self.low) * self.bins // width] += 1
            elif self.outside == "report":
                below, above = below + (value < self.low), above + (value > inside)
        advice = b" (try --outside)" if any(counts) else b" (try --width or uniq)"
        if self.low == 0 and self.bins == self.high:
            advice = b" (try --range auto)"
        told = [b"values out of range: %d below, %d above%s" % (below, above, advice)] \
            if below + above > 0 and not self.quiet else []
        if self.raw:
            return struct.pack(f"<{self.bins}Q", *counts), told, None
        edges = [self.low - -b * width // self.bins for b in range(self.bins + 1)]
        lines = (b"%d\t%d\n" % (edges[b], n) if width == self.bins else
                 b"%d\t%d\t%d\n" % (edges[b], edges[b + 1], n)
                 for b, n in enumerate(counts) if n or self.zeros)
        return b"".join(lines), told, None


class Uniq:
    def __init__(self, rng, _):
        self.raw, self.top = rng.random() < 0.2, rng.choice([0, 0, 1, 5])
        self.by_count = self.top > 0 and not self.raw
        self.words = [rng.choice(["uniq", "distinct"]), *rng.choice([[], ["-S", "1M"], ["-T", "/"]])]
        self.words += ["--format", "raw"] if self.raw else ["--top", str(self.top)] * self.by_count

    def first_fault(self, *_):
        return None

    def result(self, values):
        rows = sorted(collections.Counter(values).items())
        if self.raw:
            return b"".join(struct.pack("<QQ", v % 2**64, n) for v, n in rows), [], None
        if self.by_count:
            rows = sorted(rows, key=lambda row: -row[1])[:self.top]
        return b"".join(b"%d\t%d\n" % row for row in rows), [], None


class Reduce:
    def __init__(self, rng, _):
        self.names = rng.sample(REDUCTIONS, rng.randint(1, len(REDUCTIONS)))
        self.words = ["reduce", ",".join(self.names)]

    def first_fault(self, *_):
        return None

    def result(self, values):
        known = {"count": len(values), "sum": sum(values)}
        if values:
            known |= {"min": min(values), "max": max(values)}
            known |= {name: functools.reduce(f, values) for name, f in BITWISE.items()}
        lines = [b"%s\t%d\n" % (name.encode(), known[name]) for name in self.names if name in known]
        if len(self.names) == 1:
            lines = [line.split(b"\t")[1] for line in lines]
        if any(name not in known for name in self.names): # nothing but the error is printed
            return b"", [], Fault(b"")
        return b"".join(lines), [], None


class Count:
    def __init__(self, rng, kind):
        self.predicates, self.words = [], ["count"]
        for _ in range(rng.choice([1, 1, 2, 5])):
            a, b = random_number(rng, kind), random_number(rng, kind)
            name = rng.choice([*RELATIONS, "in", "any-of", "all"])
            argument = {"in": f"{min(a, b)}:{max(a, b) + 1}", "any-of": f"{a},{b},{a}",
                        "all": None}.get(name, str(a))
            self.predicates.append((name if argument is None else f"{name} {argument}", {
                "in": functools.partial(lambda a, b, v: min(a, b) <= v <= max(a, b), a, b),
                "any-of": (a, b).__contains__, "all": lambda v: True,
            }.get(name) or functools.partial(lambda f, a, v: f(v, a), RELATIONS[name], a)))
            self.words += ["--" + name] + ([] if argument is None else [argument])

    def first_fault(self, *_):
        return None

    def result(self, values):
        lines = [(label, sum(map(bool, map(holds, values)))) for label, holds in self.predicates]
        if len(lines) == 1:
            return b"%d\n" % lines[0][1], [], None
        return b"".join(b"%s\t%d\n" % (label.encode(), n) for label, n in lines), [], None


class StalinSort:
    def __init__(self, rng, _):
        self.strict, self.descending = rng.random() < 0.5, rng.random() < 0.5
        self.purges = rng.random() < 0.5
        self.words = ["stalin-sort"] + ["--strict"] * self.strict + ["--descending"] * self.descending

    def first_fault(self, *_):
        return None

    def sort(self, values):
        """Returns the kept values and the dropped values."""
        rows = {(False, False): operator.ge, (True, False): operator.gt,
                (False, True): operator.le, (True, True): operator.lt}
        passes, kept, purged = rows[self.strict, self.descending], [], []
        for value in values:
            good = not kept or passes(value, kept[-1])
            (kept if good else purged).append(value)
        return kept, purged


# --- a run -----------------------------------------------------------------------------------


class Case:
    """Options, files and the expected result."""

    def __init__(self, rng, directory, tools):
        self.rng, self.directory = rng, directory
        self.kind = rng.choice(list(TYPES))
        self.order, self.is_text = "<", rng.random() < 0.7
        self.field = self.header = 0
        self.delimiter, self.policy = None, rng.choice(POLICIES)
        self.words = ["-t", self.kind]
        contents = self.choose_text() if self.is_text else self.choose_binary()
        self.decodes = rng.random() < 0.93
        self.words += [] if self.decodes else ["--decompress=none"]
        self.files, self.names, self.stdin = [], [], None
        for i, content in enumerate(contents):
            self.add_file(i, content, tools)
        self.detect()
        self.operation = rng.choice([Histogram, Uniq, Reduce, Count, StalinSort])(rng, self.kind)
        self.output, self.names_output = os.path.join(directory, "output"), rng.random() < 0.2
        self.purged, self.has_fault = None, False

    def choose_text(self):
        rng = self.rng
        self.delimiter = rng.choice([None, None, b",", b";", b"\t"])
        self.field = rng.choice([0, 0, 1, 2, -1, -2])
        self.header = rng.choice([0, 0, 0, 1, 3])
        said = ["-d", self.delimiter.decode()] if self.delimiter else []
        said += ["-f", str(self.field)] if self.field else []
        said += ["--header" if self.header == 1 else f"--header={self.header}"] if self.header else []
        self.said = rng.choice([True, bool(said)])
        self.words += said + ["--text"] * (self.said and (not said or rng.random() < 0.3))
        self.words += ["--invalid", self.policy]
        return [random_text(rng, self.kind, self.delimiter) for _ in range(rng.choice([1, 1, 2, 3]))]

    def choose_binary(self):
        rng = self.rng
        self.policy = "abort"
        self.order = rng.choice("<<>")
        self.said = self.order == ">" or rng.random() < 0.7
        if self.order == ">" or (self.said and rng.random() < 0.3):
            self.words[1] += "be" if self.order == ">" else "le"
        elif self.said:
            self.words.append("--binary")
        return [random_binary(rng, self.kind, self.order) for _ in range(rng.choice([1, 1, 2, 3]))]

    def add_file(self, i, content, tools):
        rng = self.rng
        packed = pack(rng, content, tools)
        content = content if self.decodes else packed
        path = os.path.join(self.directory, f"file {i}")
        offset = rng.choice([0, 0, 3]) if packed == content else 0
        with open(path, "wb") as file:
            file.write(b"\0" * offset + packed)
        if self.stdin is None and rng.random() < 0.4:
            self.stdin = (path, offset, rng.random() < 0.5, packed)
            self.names.append("-")
            self.files.append((b"standard input", content))
            return
        if offset > 0:
            os.truncate(path, 0)
            with open(path, "wb") as file:
                file.write(packed)
        self.names.append(path)
        self.files.append((path.encode(), content))

    def detect(self):
        """Returns the format of the input if no option gives it."""
        if self.said:
            return
        first = next((data for _, data in self.files if data), b"")
        self.is_text = is_text(first[:65536], len(first) < 65536)
        if self.is_text:
            self.order = "<"

    def written(self, values):
        """Returns values as stalin-sort writes them."""
        if self.is_text:
            return b"".join(b"%d\n" % value for value in values)
        return struct.pack(f"{self.order}{len(values)}{TYPES[self.kind]}", *values)

    def output_files(self):
        """Returns -o and --purged, each if its file is to be written."""
        purges = getattr(self.operation, "purges", False)
        return ["-o", self.output] * self.names_output + ["--purged", self.output + ".purged"] * purges

    def expect(self):
        """Returns the status, the output, and the lines on standard error, None for a line of any text."""
        if self.is_text:
            values, reports, fault = read_text(self.files, self.kind,
                                               (self.field, self.delimiter, self.header), self.policy)
        else:
            reports = []
            values, fault = read_binary(self.files, self.kind, self.order)
        numbers = [value for value, _ in values]
        outside = self.operation.first_fault(values, self.is_text)
        fault = outside if outside and (not fault or outside.before < fault.before or
                                        self.is_text) else fault
        self.has_fault = fault is not None
        if isinstance(self.operation, StalinSort):
            output, self.purged = map(self.written, self.operation.sort(numbers))
            self.purged = None if fault or not self.operation.purges else self.purged
            told, verdict = [], None
        else:
            output, told, verdict = self.operation.result(numbers)
            output = output if fault is None else b""
        self.has_fault = self.has_fault or verdict is not None
        if fault:
            return 1, output, [fault.args[0]]
        if self.policy != "ignore":
            told += reports[:10]
            told += [b"%d more invalid integers" % (len(reports) - 10)] * (len(reports) > 10)
        elif reports and not (values and getattr(self.operation, "quiet", False)):
            told.append((b"note: skipped %d invalid value%s" if values else
                         b"all input was invalid and ignored: %d value%s") %
                        (len(reports), b"s" * (len(reports) > 1)))
        if reports and self.policy == "fail" and verdict is None:
            return 1, output, told + [b"%d invalid integer%s in the input" %
                                      (len(reports), b"s" * (len(reports) > 1))]
        return int(verdict is not None), output, told + [None] * (verdict is not None)

    def run(self, command):
        """The status, output and errors of gpuhist."""
        path, offset, is_pipe, packed = self.stdin or (os.devnull, 0, False, b"")
        if is_pipe:
            done = subprocess.run(command, input=packed, capture_output=True, timeout=60, check=False)
        else:
            with open(path, "rb", buffering=0) as file:
                file.seek(offset)
                done = subprocess.run(command, stdin=file, capture_output=True, timeout=60,
                                      check=False)
        return done.returncode, done.stdout, done.stderr


def content(path):
    """Returns the contents of a file, or None if there is none."""
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def without_hint(line):
    """Returns a line without its advice and without the number of tokens that are numbers."""
    line = re.sub(rb"^(gpuhist: (?:note: skipped \d+ invalid values?|\d+ more invalid integers|"
                  rb"all input was invalid and ignored: \d+ values?)), .*", rb"\1", line)
    return re.sub(rb"(: invalid integer '.*'| is out of range for \w+|: the line has \d+) \([^()]*\)$", rb"\1", line)


def is_told(errors, wanted, binary_fault):
    lines = [without_hint(line) for line in errors.split(b"\n")[:-1]]
    return len(lines) == len(wanted) and all(
        line.startswith(b"gpuhist: ") and (text is None or (
            line.endswith(text) if binary_fault else line[9:] == text))
        for line, text in zip(lines, wanted))


def main():
    gpuhist, runs, seed, engines = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    rng = random.Random(seed)
    tools = ["zstd"] if shutil.which("zstd") else []
    if subprocess.run([gpuhist, "reduce", "sum"], input=gzip.compress(b"1\n"), capture_output=True,
                      check=False).returncode == 0:
        tools.append("gzip")
    for run in range(runs):
        with tempfile.TemporaryDirectory() as directory:
            case = Case(rng, directory, tools)
            command = [gpuhist, *case.operation.words, *case.words, "--engine", rng.choice(engines),
                       "--threads", rng.choice("1234"),
                       "--chunk-size", rng.choice(["4096", "4099", "64K", "1M"]),
                       *case.output_files(), "--", *case.names]
            status, output, told = case.expect()
            done = case.run(command)
            if case.names_output: # a file that is complete or missing
                output = None if case.has_fault else output
                done = (done[0], content(case.output) if not done[1] else done[1], done[2])
            is_right = done[:2] == (status, output) and is_told(done[2], told, not case.is_text)
            if not is_right or content(case.output + ".purged") != case.purged:
                kept = "failed-combination"
                shutil.copytree(directory, kept, dirs_exist_ok=True)
                sys.exit(f"seed {seed}, run {run}, files kept in {kept}: {command}\n"
                         f"stdin {case.stdin and case.stdin[:3]}\n"
                         f"status {done[0]} for {status}\nerrors {done[2]}\n   for {told}\n"
                         f"output {str(done[1])[:300]}\n   for {str(output)[:300]}\n"
                         f"purged {str(content(case.output + '.purged'))[:300]}\n"
                         f"   for {str(case.purged)[:300]}")
    print(f"{runs} runs")


main()
