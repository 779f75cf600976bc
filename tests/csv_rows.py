"""Rows of CSV, also with NUL or CR as row end and with comments, are those of Python's csv module,
wherever the input is divided.

usage: csv_rows.py GPUHIST good|bad|open|words [SEED [COUNT]]

    good   COUNT files with valid columns of numbers, by several operations
    bad    files of any bytes: quotes everywhere, invalid numbers, reported with their lines
    open   an unclosed quote
    words  numbers between white space, with comments

Each is a plain file, a pipe, or compressed in frames whose ends cut rows anywhere. The first is drawn
from SEED, the next from SEED + 1, ... The environment variable ENGINE, by default cpu, counts supported jobs.
"""
import bz2
import collections
import csv
import gzip
import io
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import threading

import frames

SHARE = int(os.environ.get("SHARE", "1"))  # makes one in SHARE files
CHUNK = 4096  # the minimum for text


# --- drawing -------------------------------------------------------------------------------------

def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def word(rng, size=0):
    return rng.choice(["a", "-", "x=1", "some name", "\u00e9", "17", "0.5", 'say "hi"']) + \
        "".join(rng.choices('ab ,"\n7', [9, 9, 5, 3, 2, 2, 2], k=size))


def good_cell(rng, newlines, size=0):
    """Returns any contents."""
    text = word(rng, size)
    kind = rng.randrange(6)
    if kind < 2 or size:
        text = rng.choice(["", text, text + ", ", text + "\n", "\n\n", '"', "\r\n", "#\n#", text + "\n5\n"])
    elif kind < 4:
        return rng.choice(["", text.replace(",", "").lstrip(' "'), '5"', 'x"y"', "a b"])
    text = text if newlines else text.replace("\n", ";").replace("\r", ";")
    return quoted(text)


def number_cell(rng, value):
    return rng.choice([str(value), str(value), quoted(str(value)), f" {value} ", f'" {value}"'])


class File:
    """The bytes of a file, and the options to read it."""

    def __init__(self, rows, rng, end=None, comment=None):
        """`rows` are strings, between which comments may be inserted."""
        self.end = end or rng.choice(["\n", "\n", "\r\n"])
        self.words = ["--csv"]
        if comment:
            self.words += ["--comment", comment]
            for _ in range(len(rows) // 5 + 1):
                rows.insert(rng.randrange(len(rows) + 1),
                            comment + rng.choice(["", " x", '"', ' "a, ', ',"', '1,2,3', '"a"']))
        if self.end == "\0":
            self.words.append("-z")
        text = self.end.join(rows) + rng.choice(["", self.end])
        self.data = text.encode()


# --- the reference -------------------------------------------------------------------------------

class Row:
    def __init__(self, fields, begins, end, is_wrong, wrong_at):
        self.fields = fields
        self.begins = begins  # start of each field in the text
        self.end = end
        self.is_wrong = is_wrong  # its quotes are invalid
        self.wrong_at = wrong_at


def parse(text, comment=None):
    """Returns rows, read byte by byte, and True if the last one has an open quote. Agrees with Python's csv."""
    rows, at, is_open = [], 0, False
    while at < len(text):
        if comment and text[at] == comment:
            at = (text.find("\n", at) + 1) or len(text)
            continue
        fields, begins, wrong_at = [], [], None
        while True:
            begins.append(at)
            value = []
            if text[at:at + 1] == '"':
                at += 1
                while at < len(text):
                    if text[at] != '"':
                        value.append(text[at])
                    elif text[at + 1:at + 2] == '"':
                        value.append('"')
                        at += 1
                    else:
                        break
                    at += 1
                is_open = at >= len(text)
                at = min(at + 1, len(text))
                if text[at:at + 1] not in ("", ",", "\n") and not re.match(r"\r(\n|\Z)", text[at:at + 2]):
                    wrong_at = begins[-1] if wrong_at is None else wrong_at
            elif re.match(r'[ \t]+"', text[at:at + 9]):
                wrong_at = at if wrong_at is None else wrong_at
            while at < len(text) and text[at] not in ",\n" and not re.match(r"\r(\n|\Z)", text[at:at + 2]):
                value.append(text[at])
                at += 1
            fields.append("".join(value))
            if text[at:at + 1] != ",":
                break
            at += 1
        end = at
        at += len(re.match(r"\r?\n?", text[at:at + 2]).group())
        if "".join(fields).strip(" \t") or len(fields) > 1 or '"' in text[begins[0]:end]:
            rows.append(Row(fields, begins, end, wrong_at is not None, wrong_at))
    if not is_open and not comment:
        python = [row for row in csv.reader(io.StringIO(text, newline=""))]
        python = [row for row in python if row and (len(row) > 1 or row[0].strip(" \t"))]
        ours = [row.fields for row in rows if len(row.fields) > 1 or row.fields[0].strip(" \t")]
        assert ours == python, (text, ours, python)
    return rows, is_open


# --- files ---------------------------------------------------------------------------------------

FORMATS = {"zst": frames.zstd_file, "lz4": frames.lz4_file, "bgzf": frames.bgzf_file}
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress}


def decoded(gpuhist):
    info = subprocess.run([gpuhist, "info"], stdout=subprocess.PIPE, check=True).stdout.decode()
    names = {"zst": "zstd", "lz4": "lz4", "bgzf": "gzip", "gz": "gzip", "bz2": "bzip2"}
    return [form for form, name in names.items() if f"\n{name}: yes" in info]


def places(data, rng, count):
    """By quotes and newlines, and anywhere."""
    marks = [i for i, c in enumerate(data) if c in b'"\n\0\r'] or [0]
    found = [rng.choice(marks) + rng.randrange(-1, 3) if rng.randrange(2) else rng.randrange(len(data) + 1)
             for _ in range(count)]
    return sorted(min(max(place, 0), len(data)) for place in found)


def cut(data, ends):
    return [data[a:b] for a, b in zip([0, *ends], [*ends, len(data)])]


class Failed(Exception):
    pass


def run(gpuhist, words, data, rng):
    """Runs on the data in some form. Returns the status, the output, and the input's name."""
    form = rng.choice(["plain", "plain", "pipe", *decoded(gpuhist)])
    pieces = cut(data, places(data, rng, rng.choice([0, 1, 3, 9])))
    chunk = rng.choice([CHUNK, CHUNK, CHUNK + rng.randrange(99), rng.randrange(CHUNK, 1 << 16), 1 << 20])
    engine = os.environ.get("ENGINE", "cpu") if not {"--by", "--where"} & set(words) else "cpu"
    words = [*words, "--engine", engine, "--threads", str(rng.choice([1, 2, 3, 16])), "--chunk-size", str(chunk)]
    name = f"x.{form}"
    stdin, thread = subprocess.DEVNULL, None
    if form == "pipe":
        name = "standard input"
        stdin, writing = os.pipe()
        thread = threading.Thread(target=frames.feed, args=([p for p in pieces if p], writing, rng.choice([0, 0.001])))
        thread.start()
    else:
        frames.write(name, FORMATS[form](pieces, rng) if form in FORMATS
                     else [PACKERS[form](piece) for piece in pieces] if form in PACKERS else pieces)
        words = [*words, name]
    try:
        done = subprocess.run([gpuhist, *words], capture_output=True, timeout=100, check=False, stdin=stdin)
    except subprocess.TimeoutExpired:
        raise Failed(f"{shlex.join(words)}: hangs") from None
    finally:
        if thread:
            os.close(stdin)
            thread.join()
    told = re.sub("gpuhist: note: no row .*\n", "", done.stderr.decode())
    return done.returncode, done.stdout.decode(), told, name, words


def check(gpuhist, words, data, rng, wanted, errors=None):
    status, out, err, name, words = run(gpuhist, words, data, rng)
    wanted_errors = [error.replace("NAME", name) for error in errors or []]
    lines = [re.match(r"gpuhist: .*?:\d+:|gpuhist: \d+ more|.*", line).group() for line in err.splitlines()]
    if (status, out) != wanted or lines != wanted_errors:
        if "KEEP" in os.environ:
            frames.write(os.environ["KEEP"], [data])
        raise Failed(f"{shlex.join(['gpuhist', *words])} of {len(data)} bytes\n"
                     f"got    {status} {out[:400]!r} {err[:400]!r}\n"
                     f"wanted {wanted[0]} {wanted[1][:400]!r} {wanted_errors}")


# --- checks --------------------------------------------------------------------------------------

def counted(values):
    return "".join(f"{v}\t{n}\n" for v, n in sorted(collections.Counter(values).items()))


NAMES = ['id', 'a "b"', "two\nlines", "x, y", "last"]


def good_check(gpuhist, rng):
    """id, cell, value, cell, group: names of a header row, or column numbers."""
    end = rng.choice([None, None, "\0", "\r"])
    newlines = end != "\r"
    comment = rng.choice([None, None, "#"])
    rows, held = [], []
    count = rng.choice([1, 5, 60, 600, 3000])
    longs = {rng.randrange(count) for _ in range(rng.choice([0, 0, 1, 3]))}
    for i in range(count):
        value, group = rng.choice([rng.randrange(9), rng.randrange(-10**9, 10**9)]), rng.randrange(3)
        size = rng.choice([1, 2, 3]) * CHUNK + rng.randrange(-90, 9) if i in longs else 0
        rows.append(",".join([number_cell(rng, i), good_cell(rng, newlines, size), number_cell(rng, value),
                              good_cell(rng, newlines), number_cell(rng, group)]))
        held.append((i, value, group))
    where = rng.choice([["--header"], ["--names"], []]) if end != "\0" else rng.choice([["--header"], []])
    names = NAMES if where == ["--names"] else ["1", "2", "3", "4", "5"]
    if where:
        rows.insert(0, ",".join(quoted(n if newlines else n.replace("\n", " ")) for n in NAMES))
        names = [n if newlines else n.replace("\n", " ") for n in names]
    file = File(rows, rng, end, comment)
    file.words += where
    third, last = names[2], names[4]
    operation = rng.randrange(6)
    values = [value for _, value, _ in held]
    if operation == 0:
        words, wanted = ["uniq", "-f", third], counted(values)
    elif operation == 1:
        words = ["reduce", "count,sum,min,max", "-f", third]
        wanted = f"count\t{len(values)}\nsum\t{sum(values)}\nmin\t{min(values)}\nmax\t{max(values)}\n"
    elif operation == 2:
        words = ["count", "--lt", "5", "-f", third]
        wanted = f"{sum(v < 5 for v in values)}\n"
    elif operation == 3:
        words = ["reduce", "sum,count", "-f", third, "--by", last]
        wanted = "".join(f"{g}\t{sum(v for _, v, h in held if h == g)}\t{sum(h == g for _, _, h in held)}\n"
                         for g in sorted({g for _, _, g in held}))
    elif operation == 4:
        words = ["uniq", "-f", names[0], "--where", f"{last}=1"]
        wanted = counted(i for i, _, g in held if g == 1)
    else:
        words, wanted, best = ["stalin-sort", "-f", third], "", None
        for value in values:
            if best is None or value >= best:
                best, wanted = value, wanted + f"{value}\n"
    check(gpuhist, [*words, *file.words], file.data, rng, (0, wanted))


ALPHABETS = ['"""12,,\n', '"1,\n', '12 ",\n', '1234567\n', '"1, \r\n', '"ab,\n1']


def bad_check(gpuhist, rng):
    """Any bytes; field N of all rows with valid quotes, and the lines of invalid tokens."""
    comment = rng.choice([None, None, None, "#"])
    pieces = []
    for _ in range(rng.choice([1, 4, 40, 400])):
        if rng.randrange(4):
            cells = [rng.choice([number_cell(rng, rng.randrange(99)), good_cell(rng, True), '"1"x', ' "1"', '"2" ', ""])
                     for _ in range(rng.randrange(1, 4))]
            pieces.append(",".join(cells) + "\n")
        else:
            alphabet = rng.choice(ALPHABETS) + ("#" if comment else "")
            pieces.append("".join(rng.choices(alphabet, k=rng.choice([3, 30, 300]))) + rng.choice(["\n", '"\n', ""]))
    text = re.sub(r"\r(?!\n)", "", "".join(pieces))
    rows, is_open = parse(text, comment)
    if is_open:
        text += '"\n'
        rows, is_open = parse(text, comment)
    if is_open:
        return
    field = rng.choice([1, 1, 2, 3])
    values, invalid = [], []
    for row in rows:
        if row.is_wrong:
            at = row.wrong_at
        elif len(row.fields) < field:
            at = row.end
        elif re.fullmatch(r"[ \t]*[+-]?[0-9]+[ \t]*", row.fields[field - 1]) and \
                -2**63 <= int(row.fields[field - 1]) < 2**63:
            values.append(int(row.fields[field - 1]))
            continue
        else:
            at = row.begins[field - 1]
        invalid.append(f"gpuhist: NAME:{text.count(chr(10), 0, at) + 1}:")
    words = ["uniq", "--csv", "-f", str(field), *(["--comment", comment] if comment else [])]
    if values and rng.randrange(2):
        check(gpuhist, [*words, "--invalid", "ignore", "-q"], text.encode(), rng, (0, counted(values)))
    elif values:
        more = [f"gpuhist: {len(invalid) - 10} more"] if len(invalid) > 10 else []
        check(gpuhist, [*words, "--invalid", "warn"], text.encode(), rng, (0, counted(values)), invalid[:10] + more)


def open_check(gpuhist, rng):
    """Rows whose last one has an open quote: its line is reported, whatever --invalid says."""
    count = rng.choice([0, 3, 300, 3000])
    rows = [f"{rng.randrange(99)},{good_cell(rng, True)}" for _ in range(count)]
    text = "".join(row + "\n" for row in rows)
    line = text.count("\n") + 1
    tail = "".join(rng.choices(['a', ",", "\n", '""', " "], k=rng.choice([0, 5, 500, 9000])))
    inner = rng.choice(["", '"x\ny",'])
    text += f'5,{inner}"' + tail + rng.choice(["", "\n"])
    line += inner.count("\n")
    policy = rng.choice(["abort", "fail", "warn", "ignore"])
    words = [*rng.choice([["reduce", "sum"], ["uniq"], ["count", "--all"]]), "--csv", "-f", "1", "--invalid", policy]
    status, out, err, name, words = run(gpuhist, words, text.encode(), rng)
    wanted = f"gpuhist: {name}:{line}: a quote is never closed\n"
    if (status, out, err) != (1, "", wanted):
        raise Failed(f"{shlex.join(words)} of {len(text)} bytes\ngot {status} {out[:99]!r} {err[:300]!r}\nwanted {wanted!r}")


def words_check(gpuhist, rng):
    values, lines = [], []
    for _ in range(rng.choice([1, 30, 3000])):
        if rng.randrange(4) == 0:
            lines.append("#" + "".join(rng.choices("# 17ab\t", k=rng.choice([0, 3, 30, CHUNK]))))
            continue
        row = [rng.randrange(-99, 99) for _ in range(rng.randrange(5))]
        values += row
        lines.append(rng.choice(["", " "]) + rng.choice([" ", "\t"]).join(map(str, row)))
    end = rng.choice(["\n", "\r\n", "\0", "\r"])
    text = end.join(lines) + rng.choice(["", end])
    if "\r" == end and "\r" not in text:
        return
    words = ["uniq", "--text", "--comment", "#", *(["-z"] if end == "\0" else [])]
    check(gpuhist, words, text.encode(), rng, (0, counted(values)))


CHECKS = {"good": good_check, "bad": bad_check, "open": open_check, "words": words_check}


def main():
    gpuhist, kind = os.path.abspath(sys.argv[1]), sys.argv[2]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 100
    for each in range(seed, seed + count, SHARE):
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            try:
                CHECKS[kind](gpuhist, random.Random(each))
            except Failed as failed:
                print(f"csv_rows.py {kind} {each} 1: {failed}", flush=True)
                sys.exit(1)
            finally:
                os.chdir("/")


main()
