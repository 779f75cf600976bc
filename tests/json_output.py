"""Formats json, jsonl and markdown of random jobs: valid JSON and tables with the numbers, names and order
of tsv and csv.

usage: json_output.py GPUHIST FIRST COUNT

Python's json reads JSON, here without NaN and duplicate members. Runs of the same job with tsv and csv
are the oracle of its contents; other tests compare tsv with Python.
"""

import codecs
import csv
import io
import json
import os
import random
import re
import subprocess
import sys

SHARE = int(os.environ.get("SHARE", "1"))  # runs one in SHARE jobs

# Names of columns, with all characters that JSON escapes, and names of other members.
NAMES = ["ms", "count", "value", "low", "high", "total", "bins", "inside", "groups", "operation", "column",
         "percent", "cumulative", "other", "quantiles", "by", "by_count", "by_by_total", "sum", "sum_value", "max",
         "p50", "ge 3", 'say "no"', "back\\slash", "a, b", "tab\there", "two\nlines", "\u20ac\U0001f600", "\x01\x1f",
         "\x7f", "\u0085", "\u202e", b"\xff", b"\xc3", b"caf\xe9", b"\xed\xa0\x80", "/", "</script>", "{}", " x ",
         "\\u0041", "null", "2017", "pi|pe", "a <br> b"]
TEXTS = [b"", b"x", b"GET /", b'say "no"', b"back\\slash", b"a,b", b"tab\t", b"two\nlines", b"\r", b"\x01\x1f\x7f",
         "\u20ac\U0001f600".encode(), b"\xff", b"\xc3(", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
         b"\\u0041", b"null", b"{}", b"\x00", b"q" * 70, b"\\" * 65, b" ",
         b"pi|pe", b" | ", b"|", b"<br>", b"\r\n", b"\\|"]
KINDS = {"int": "", "big": "", "hex": ":hex", "fixed": ":.2", "time": ":time.3", "local": ":localtime", "ip": ":ip",
         "text": ":text"}
ARE_STRINGS = ("time", "local", "ip", "text")
BAD = [b"-", b"1e5", b'"', b"nan"]


NOTE = re.compile(rb"gpuhist: note: \d+ texts? (is|are) not UTF-8: .*\n")  # of json


class Failure(Exception):
    pass


class Number(str):
    """A JSON number as written."""


codecs.register_error("bytes", lambda error: ("\ufffd", error.start + 1))  # one for each byte


def require(condition, *what):
    if not condition:
        raise Failure("\n".join(map(str, what)))


def members(pairs):
    require(len(dict(pairs)) == len(pairs), f"a member stands twice: {[name for name, _ in pairs]}")
    return dict(pairs)


def refuse(name):
    raise Failure(f"{name} is no JSON")


def parse(data):
    return json.loads(data.decode(), object_pairs_hook=members, parse_int=Number, parse_float=Number,
                      parse_constant=refuse)


# --- the input -----------------------------------------------------------------------------------


def draw_value(rng, kind, words):
    if kind == "big":
        return b"%d" % rng.choice([0, 2**63 - 1, -2**63, rng.randrange(-2**63, 2**63), 10**15])
    if kind == "hex":
        return b"%x" % rng.randrange(300)
    if kind == "fixed":
        return b"%d.%02d" % (rng.randrange(-20, 20), rng.randrange(100))
    if kind in ("time", "local"):
        return b"%d.%d" % (rng.choice([10**9 + 100, 1795268702, 9999999000]) + rng.randrange(-90, 90), rng.randrange(1000))
    if kind == "ip":
        return rng.choice([b"10.0.%d.1" % rng.randrange(4), b"2001:db8::%x" % rng.randrange(5), b"::"])
    return rng.choice(words) if kind == "text" else b"%d" % rng.randrange(-3, 40)


class Table:
    """A CSV file, and the names of its columns on the command line."""

    def __init__(self, rng):
        self.kinds = ["int", rng.choice(["int", "big", "hex", "fixed", "time", "local"]),
                      *(rng.choice(list(KINDS)) for _ in range(2)), "weight"]
        self.names = [name if isinstance(name, bytes) else name.encode()
                      for name in rng.sample(NAMES, len(self.kinds))]
        words = rng.sample(TEXTS, 5)
        self.rows = [[draw_value(rng, kind, words) if kind != "weight" else b"%d" % rng.choice([0, 1, 9])
                      for kind in self.kinds] for _ in range(rng.choice([0, 1, 2, 30, 30, 30, 30, 300]))]
        if rng.random() < 0.2:
            for row in self.rows:
                row[4] = b"0"
        self.has_bad = rng.random() < 0.3
        if self.has_bad:
            for row in self.rows[::7]:
                row[rng.randrange(len(row))] = rng.choice(BAD)
        self.has_names = rng.random() < 0.8

    def data(self):
        rows = [self.names, *self.rows] if self.has_names else self.rows
        return b"".join(b",".join(b'"' + cell.replace(b'"', b'""') + b'"' for cell in row) + b"\n" for row in rows)

    def shown(self, i):
        """Returns a column's name in results."""
        return self.names[i].decode(errors="bytes") if self.has_names else str(i + 1)

    def column(self, i, width=b""):
        where = b'"' + self.names[i].replace(b'"', b'""') + b'"' if self.has_names else b"%d" % (i + 1)
        kind = KINDS.get(self.kinds[i], "") or (":int" if self.has_bad and not width else "")  # or found as text
        return where + kind.encode() + width


# --- the jobs ------------------------------------------------------------------------------------


class Job:
    def __init__(self, rng, table):
        self.table = table
        self.value, self.output, self.quantiles, self.columns = 0, [], [], []
        self.groups = rng.sample([1, 2, 3], rng.choice([0, 0, 1, 1, 2]))
        self.is_table = rng.random() < 0.7
        self.words = self.draw_table(rng) if self.is_table else self.draw_values(rng)
        self.words += ["--csv"] + (["--names"] if table.has_names else []) + ["--text"]
        if self.groups:
            width = {"int": b":int/10", "fixed": b"/0.5", "time": b"/1h", "ip": b"/24", "local": b"/1mo"}
            widths = [width.get(table.kinds[i], b"") if rng.random() < 0.3 else b"" for i in self.groups]
            self.words += ["--by", b",".join(map(table.column, self.groups, widths))]
        if rng.random() < 0.3:
            self.words += ["--where", table.column(0) + rng.choice([b">=0", b"<20", b"!=3", b"=99"])]
        self.words += ["--invalid", "warn"] if table.has_bad else []

    def group_names(self):
        return ["by"] if len(self.groups) == 1 and not self.table.has_names else list(map(self.table.shown, self.groups))

    def count_name(self):
        """Returns the name of the counts of histogram and uniq."""
        if not self.has_weights:
            return "count"
        name = self.table.shown(4) if self.table.has_names else "weight"
        is_taken = name in ("value", "low", "high", "percent", "cumulative", "other", "cumulative_percent",
                            *self.group_names())
        return ("sum_" if is_taken else "") + name

    def names(self):
        """Returns the names of the values of reduce and count."""
        if self.words[0] == "reduce":
            return self.words[1].split(",")
        words = self.words[1:self.words.index("-f")]
        return ["all", *(f"{name[2:]} {text}" for name, text in zip(words[1::2], words[2::2]))]

    def draw_table(self, rng):
        """Draws a job of histogram or uniq."""
        table = self.table
        way = rng.choice(["auto", "auto", "uniq", "uniq", "uniq", "bins", "range", "ends", "width", "log2", "edges"])
        self.value = rng.choice([1, 2, 3]) if way == "uniq" else rng.choice([0, 0, 1])
        words = {"auto": ["histogram"], "uniq": ["uniq"], "bins": ["-b", "20"], "ends": ["--range", "auto", "-b", "5"],
                 "range": ["-b", "13", "--range", "-3:40"], "width": ["-w", "3"], "log2": [rng.choice(["--log2", "--log2=2"])],
                 "edges": ["--edges", "-100,0,7,39"]}[way]
        if way in ("bins", "range", "edges"):
            self.value = 0
            words += ["--outside", rng.choice(["report", "clamp", "ignore"])]
        elif way == "width" and table.kinds[self.value] in ("time", "local"):
            words = ["-w", "1h"]
        elif way == "log2" and table.kinds[self.value] in ("time", "local"):
            words = ["uniq"]
        self.is_unit = words[0] == "uniq" or way == "bins"
        words += ["-f", table.column(self.value)]
        self.has_weights = rng.random() < 0.3
        words += ["--weight", table.column(4)] if self.has_weights else []
        if rng.random() < 0.3 and table.kinds[self.value] not in ("ip", "text"):
            self.quantiles = ["--quantiles", rng.choice(["50", "0,99.9,100", "50.50"])]
            if way == "auto":  # with only --quantiles it is uniq
                words[0], self.is_unit = "uniq", True
            return words
        self.output += ["--percent"] if rng.random() < 0.4 else []
        self.output += ["--cumulative"] if rng.random() < 0.4 else []
        if way in ("bins", "range", "edges"):
            self.output += ["--zeros"] if rng.random() < 0.3 else []
        if rng.random() < 0.4:
            self.output += rng.choice([["--top", "3"], ["--min-count", "2"], ["--top", "2", "--sort", "bin"]])
            self.output += ["--other"] if rng.random() < 0.5 else []
        elif rng.random() < 0.2:
            self.output += ["--sort", "count"]
        return words

    def draw_values(self, rng):
        """Draws a job of reduce or count."""
        table = self.table
        columns = rng.choice([[0], [0], [1], [0, 1], [1, 0]])
        are_times = any(table.kinds[i] in ("time", "local") for i in columns)
        self.columns = columns if len(columns) > 1 else []
        if rng.random() < 0.4:
            words = ["count", "--all"]
            for name in rng.sample(["--ge", "--lt", "--eq", "--any-of"], rng.randrange(4)):
                bound = "1700000003" if are_times else "3"  # seconds since 1970 have 9 digits or more
                words += [name, bound if name != "--any-of" else f"0,{bound}" if are_times else "1,2,3"]
        else:
            names = ["count", "sum", "min", "max", "mean", "variance", "stddev", "distinct", "mode", "median", "p99.9",
                     "q1", "iqr"] + (["svar", "sstdev"] if self.groups else [])
            words = ["reduce", ",".join(rng.sample(names, rng.randrange(1, 6)))]
            if re.search("median|p99|q1|iqr", words[1]) and not are_times and rng.random() < 0.5:
                words += ["--interpolate"]
        return words + ["-f", b",".join(map(table.column, columns))]


# --- runs and their results ------------------------------------------------------------------------


class Runs:
    def __init__(self, gpuhist):
        self.gpuhist = gpuhist

    def run(self, words, form, file="in"):
        self.last = [self.gpuhist, *words, "--format", form, file]
        done = subprocess.run(self.last, capture_output=True, check=False, timeout=60)
        return done.returncode, done.stdout, done.stderr


def cells_of_tsv(data):
    def plain(cell):
        return re.sub(rb"\\(.)", lambda m: {b"t": b"\t", b"n": b"\n"}.get(m[1], m[1]), cell).decode(errors="bytes")
    return [[plain(cell) for cell in line.split(b"\t")] for line in data.split(b"\n")[:-1]]


def cells_of_csv(data):
    rows = [[]]
    for quoted, plain, end in re.findall(rb'(?:"((?:[^"]|"")*)"|([^,\n]*))([,\n])', data):
        rows[-1].append(quoted.replace(b'""', b'"') or plain)
        rows += [[]] if end == b"\n" else []
    return rows[:-1]


def cells_of_markdown(line):
    """Returns the cells of a line; nothing else may end a cell, and all line ends are newlines."""
    require(line[:2] == b"| " and line[-2:] == b" |", line)
    tokens, cells = re.findall(rb"\\[\\|<]|<br>| \| |[^\\|<]", line[2:-2]), [b""]
    require(b"".join(tokens) == line[2:-2], line)
    for token in tokens:
        if token == b" | ":
            cells.append(b"")
        else:
            cells[-1] += b"\n" if token == b"<br>" else token[-1:]
    return cells


def check_markdown(job, table, rows):
    """Checks the rows of csv, after a header row and a line that aligns numbers to the right."""
    header, rules, *found = map(cells_of_markdown, table.split(b"\n")[:-1])
    rows = [[re.sub(rb"\r\n?", b"\n", cell) for cell in row] for row in rows]
    require([header, *found] == rows, header, found, rows)
    known = ["text"] * bool(job.columns) + [job.table.kinds[i] for i in job.groups]
    if job.is_table:
        known += ["int"] * bool(job.quantiles) + \
            [job.table.kinds[job.value]] * sum(name in (b"value", b"low", b"high") for name in header[len(known):])
    for i, rule in enumerate(rules):
        cells = [row[i] for row in found if row[i]]
        is_text = known[i] in ARE_STRINGS if i < len(known) else any(b":" in cell for cell in cells)
        require(rule == (b":---" if is_text else b"---:") or (i >= len(known) and (job.columns or not cells)),
                header, rules, i)


def text_of(row):
    return ["" if cell is None else str(cell) for cell in row]


def check_kinds(row, kinds):
    """Numbers are numbers, and other values are strings."""
    for cell, kind in zip(row, kinds):
        require(cell is None or isinstance(cell, Number) == (kind not in ARE_STRINGS), f"{cell!r} as {kind}")


def check_names(found, wanted):
    """Checks that names are the columns', except for the prefix of names that another member has."""
    require(len(found) == len(wanted), found, wanted)
    for name, plain in zip(found, wanted):
        require(re.fullmatch("(by_)*" + re.escape(plain), name, re.DOTALL), found, wanted)


def check_part(job, part, names, group, edges):
    """Returns a result of histogram or uniq as the rows of tsv, and those of its percentiles."""
    totals = {key: int(part[key]) for key in ("total", "inside", "below", "above")}
    require(totals["total"] == totals["inside"] + totals["below"] + totals["above"], totals)
    counts = [job.count_name()] + [name for name in ("percent", "cumulative") if "--" + name in job.output] + \
        ["cumulative_percent"] * ("--percent" in job.output and "--cumulative" in job.output)
    require(names == [*totals, "bins"] + ["other"] * ("--other" in job.output) + ["quantiles"] * bool(job.quantiles), names)
    rows = []
    for row in part["bins"]:
        check_names(list(row), [*edges, *counts])
        check_kinds(row.values(), [job.table.kinds[job.value]] * len(edges))
        rows.append([*group, *row.values()])
    if "other" in part:
        check_names(list(part["other"]), counts)
        rows.append([*group, "other", *[""] * (len(edges) - 1), *part["other"].values()])
    if not {"--top", "--min-count"} & {*job.output}:
        require(sum(int(row[job.count_name()]) for row in part["bins"]) == totals["inside"], part)
    quantiles = part.get("quantiles", [])
    for quantile in quantiles:
        check_names(list(quantile), ["percent", *edges])
        check_kinds(quantile.values(), ["int"] + [job.table.kinds[job.value]] * len(edges))
        require(totals["total"] or set(list(quantile.values())[1:]) == {None}, quantile)
    return rows, [[*group, *quantile.values()] for quantile in quantiles if totals["total"]]


def table_rows(job, document):
    """Histogram and uniq: the rows of tsv, and those of percentiles."""
    rows, quantiles, skip = [], [], len(job.groups)
    edges = ["value"] if job.is_unit else ["low", "high"]
    require(list(document)[0] == "operation", list(document))
    for part in document["groups"] if skip else [document]:
        names, group = list(part), list(part.values())[:skip]
        check_names(names[:skip], job.group_names())
        check_kinds(group, [job.table.kinds[i] for i in job.groups])
        for own, them in zip(check_part(job, part, names[skip or 1:], group, edges), (rows, quantiles)):
            them += own
    return rows, quantiles


def value_rows(job, document):
    """Reduce and count: the rows of tsv, and the values of each object of jsonl."""
    rows, objects = [], []
    require(list(document) == ["operation"] + (["columns"] if job.columns else ["groups"] if job.groups else job.names()),
            list(document))
    parts = document["columns"] if job.columns else [document]
    require(len(parts) == max(1, len(job.columns)), parts)
    for i, part in enumerate(parts):
        front = [part["column"]] if job.columns else []
        require(front == [job.table.shown(c) for c in job.columns[i:i + 1]], front)
        for each in part["groups"] if job.groups else [{key: part[key] for key in list(part)[1:]}]:
            check_names(list(each), job.group_names() + job.names())
            check_kinds(each.values(), [job.table.kinds[c] for c in job.groups])
            objects.append([*front, *each.values()])
            if job.groups:
                rows.append(objects[-1])
            else:
                rows += [[*front, *([name] if len(each) > 1 else []), each[name]] for name in each]
    return rows, objects


def check_lines(job, rows, tsv, end):
    """Checks that tsv has these rows. It omits the ends of bins of width 1, `end` columns after the groups."""
    lines = cells_of_tsv(tsv)
    require(len(rows) == len(lines), rows, lines)
    for row, line in zip(map(text_of, rows), lines):
        if len(line) < len(row) and not job.is_unit:
            del row[len(job.groups) + end]
        skip = bool(job.columns)  # a name; tsv prints its printable part
        require(row[skip:] == line[skip:], row, line)


def check_job(runs, job):
    words = job.words + job.output + job.quantiles
    status, out, messages = runs.run([*words, "--save", "state"], "json")
    plain = runs.run(words, "tsv")
    require(status != 2 and plain[0] == status and plain[2] == NOTE.sub(b"", messages), messages, plain)
    if not out:
        require(status == 1 and not plain[1], messages)
        return False
    document, whole = parse(out), out
    if job.is_table:
        rows, quantiles = table_rows(job, document)
        objects = quantiles if job.quantiles else rows
    else:
        rows, objects = value_rows(job, document)
    if job.quantiles:
        check_lines(job, quantiles, plain[1], 2)
        plain = runs.run(job.words + job.output, "tsv")
    check_lines(job, rows, plain[1], 1)
    status, out, _ = runs.run(words, "jsonl")
    found = [parse(line) for line in out.split(b"\n")[:-1]]
    for each, wanted in zip(found, objects):
        values = list(each.values())
        if each.get("other") is True:
            values[list(each).index("other")] = "other"
            wanted = wanted[:len(job.groups) + 1] + wanted[len(job.groups) + 1 + (not job.is_unit):]
        require(values == wanted, "jsonl", values, wanted)
    require(len(found) == len(objects), "jsonl", found, objects)
    check_markdown(job, runs.run(words, "markdown")[1], cells_of_csv(runs.run(words, "csv")[1]))
    again = runs.run(["merge", *job.output, *job.quantiles], "json", "state")
    require(again[1] == whole, "a state", again, whole)
    return True


def parse_report(text):
    """Returns a result of --every without its time, the first member."""
    report = parse(text)
    name, time = next(iter(report.items()))
    require(name == "reported" and re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", time), name, time)
    del report[name]
    return report


def check_every(gpuhist):
    """Intermediate results, each one that of a run over a part of the input."""
    row, words = b'"a\tb",7,-0.50\n', ["--csv", "-f", "2", "--by", "1:text,3:.2", "--format", "json", "--percent"]
    run = subprocess.Popen([gpuhist, "uniq", *words, "--every", "20ms"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    results, text = [], b""
    for n in range(1, 4):
        run.stdin.write(row)
        run.stdin.flush()
        while len(results) < n:
            data = os.read(run.stdout.fileno(), 1 << 16)
            require(data, "no more results")
            text += data
            *whole, text = text.split(b"\n\n")
            for result in map(parse_report, whole):
                if result["groups"] and result not in results[-1:]:
                    results.append(result)
    run.stdin.close()
    last = list(map(parse_report, (text + run.stdout.read()).split(b"\n\n")))
    require(run.wait() == 0 and all(result == results[-1] for result in last), last, results)
    for n, result in enumerate(results, 1):
        done = subprocess.run([gpuhist, "uniq", *words], input=row * n, stdout=subprocess.PIPE, check=True)
        require(parse(done.stdout) == result, result)


def main():
    gpuhist, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    runs, printed = Runs(gpuhist), 0
    check_every(gpuhist)
    for number in range(first, first + count, SHARE):
        rng = random.Random(number)
        table = Table(rng)
        with open("in", "wb") as file:
            file.write(table.data())
        job = Job(rng, table)
        try:
            printed += check_job(runs, job)
        except (Failure, ValueError) as failure:
            sys.exit(f"json_output.py {number} 1\n{runs.last}\n{failure}")
    if printed < count // SHARE // 2:
        sys.exit(f"only {printed} results")


main()
