#!/usr/bin/python3
"""Conditions mean what the user typed: quoted lists, notes about conditions that no row meets, and
advice, which is run. The oracles are the csv module and Python's comparisons.

usage: conditions.py GPUHIST [SEED [ROUNDS]]
"""
import csv
import io
import random
import re
import shlex
import subprocess
import sys

PROGRAM = sys.argv[1]
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 60
draw = random.Random(SEED)
WORDS = ["", "Doe", "Smith, John", 'a "b" c', '"', ",", "@x", "Oslo, N", "a,b,\"c\"", "*", "~", "x y", "é"]


def run(text, *arguments):
    done = subprocess.run([PROGRAM, *arguments], input=text.encode(), capture_output=True,
                          check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def item(text):
    """Returns an item of a list, quoted if required, else at random."""
    must = not text or text[0] in '"@ ' or text[-1] == " " or "," in text
    return quoted(text) if must or draw.random() < 0.3 else text


def table(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([["k", "s", "ms"], *rows])
    return out.getvalue()


def same(got, wanted, *what):
    if got != wanted:
        sys.exit(f"seed {SEED}: got {got!r}, wanted {wanted!r}: {what!r}")


def drawn_rows():
    return [(draw.choice(WORDS), draw.choice([200, 304, 404, 499, 500, 503, 599, 600, 1000]),
             draw.randrange(3000)) for _ in range(draw.randrange(1, 40))]


def check_list():
    """= and != of strings, quoted as in CSV."""
    rows = drawn_rows()
    some = [draw.choice(WORDS) for _ in range(draw.randrange(1, 4))]
    sign = draw.choice(["=", "!="])
    condition = f"k:text{sign}{','.join(map(item, some))}"
    wanted = sum((k in some) == (sign == "=") for k, s, ms in rows)
    threads = draw.choice("12")
    status, out, err = run(table(rows), "count", "--all", "--csv", "--threads", threads,
                           "--where", condition)
    same((status, out), (0, f"{wanted}\n"), condition, rows, err)
    same("no row has k" in err, wanted == 0, condition, rows, err)
    same("is not a pattern" in err, "*" in condition or condition[len("k:text" + sign):][0] == "~", condition, err)


def check_note():
    """Returns the first condition that no row meets that met the earlier ones, whatever its reading."""
    rows = [(s, ms % 50, draw.randrange(4)) for k, s, ms in drawn_rows()]
    compare = {"=": lambda a, b: a == b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, "!=": lambda a, b: a != b}
    conditions = [(draw.randrange(3), draw.choice([*compare]), draw.choice([0, 2, 3, 60, 500, 601]))
                  for _ in range(draw.randrange(1, 5))]
    wanted = []
    starts = [i == 0 or draw.randrange(3) == 0 for i in range(len(conditions))]
    rest, left, has_note = rows, rows, False
    for i, (column, sign, value) in enumerate(conditions):
        if starts[i]:
            rest = rest if i == 0 else [row for row in rest if row not in left]
            left, has_note = rest, False
        left = [row for row in left if compare[sign](row[column], value)]
        if not left and not has_note:
            has_note = True
            before = "" if starts[i] else "that meets the conditions before it "
            wanted.append((f"gpuhist: note: no {'other ' * any(starts[1:i + 1])}row {before}has ", column, f" {sign} '{value}'\n"))
    form = draw.choice(["text", "csv", "jsonl", "record"])
    names = {"text": ["1", "2", "3"], "csv": ["a", "b", "c"], "jsonl": [".a", ".b", ".c"],
             "record": ["i32@0", "i32@4", "i32@8"]}[form]
    options = {"text": [], "csv": ["--csv"], "jsonl": ["--jsonl"], "record": ["--record", "12"]}[form]
    if form == "record":
        data = b"".join(number.to_bytes(4, sys.byteorder) for row in rows for number in row)
    elif form == "jsonl":
        data = "".join('{"a":%d,"b":%d,"c":%d}\n' % row for row in rows).encode()
    else:
        lines = [("a", "b", "c")] * (form == "csv") + rows
        data = "".join(("," if form == "csv" else " ").join(map(str, row)) + "\n" for row in lines).encode()
    where = [word for i, (column, sign, value) in enumerate(conditions)
             for word in (*["--or"] * (i > 0 and starts[i]), "--where", f"{names[column]}{sign}{value}")]
    command = draw.choice([["count", "--all"], ["reduce", "sum,count", "-f", names[1]],
                           ["reduce", "sum", "-f", ",".join(names[:2])], ["uniq", "-f", names[0]],
                           ["reduce", "count", "-f", names[0], "--by", names[2]]])
    if form == "record" and command[0] == "count":
        command = ["count", "--all", "-f", names[0]]
    how = [*options, *where, "--threads", draw.choice("123"), "--chunk-size", draw.choice(["16", "64", "1M"])]
    done = subprocess.run([PROGRAM, *command, *how], input=data, capture_output=True, check=False)
    wanted = "".join(before + names[column] + after for before, column, after in wanted)
    same((done.returncode, done.stderr.decode()), (0, wanted), command, how, rows)
    done = subprocess.run([PROGRAM, *command, *how, "-q"], input=data, capture_output=True, check=False)
    same(done.stderr, b"", command, how, rows)


ADVICE = [  # the typed condition, and its meaning for a row; None: no command is named
    ("s=5xx", lambda k, s, ms: 500 <= s < 600),
    ("s=50x", lambda k, s, ms: 500 <= s < 510),
    ("s=500..599", lambda k, s, ms: 500 <= s <= 599),
    ("s = 404-500", lambda k, s, ms: 404 <= s <= 500),
    ("s>=400 and ms>100", lambda k, s, ms: s >= 400 and ms > 100),
    ("s>=400 && ms>100 && ms<2000", lambda k, s, ms: s >= 400 and 100 < ms < 2000),
    ("s=404 or s=500", lambda k, s, ms: s in (404, 500)),
    ("s>=600 && ms<9||s=404 || ms>2500", lambda k, s, ms: (s >= 600 and ms < 9) or s == 404 or ms > 2500),
    ("ms>1e3", lambda k, s, ms: ms > 1000),
    ("ms<1.25E+3", lambda k, s, ms: ms < 1250),
    ("ms>=1,234", lambda k, s, ms: ms >= 1234),
    ("ms<=1_234", lambda k, s, ms: ms <= 1234),
    ("s=0x1F4", lambda k, s, ms: s == 500),
    ("ms>12.5", lambda k, s, ms: ms > 12.5),
    ("ms>12.123", lambda k, s, ms: ms > 12.123),
    ("s=500,0.25", lambda k, s, ms: s in (500, 0.25)),
    ("k=Doe", lambda k, s, ms: k == "Doe"),
    ("k!=Doe,x y", lambda k, s, ms: k not in ("Doe", "x y")),
    ("k=", lambda k, s, ms: k == ""),
    ("k=Do*", lambda k, s, ms: k.startswith("Do")),
    ("k=*mit*", lambda k, s, ms: "mit" in k),
    ("k=3f2a", lambda k, s, ms: k == "3f2a"),
    ("ms>12ms", None), ("ms>100%", None), ("s!=5xx", None),
    ("s=>500", None), ("s=~5", None), ("k=*a*b*", None), ("s=5xx,404", None), ("s", None),
]


def check_advice(typed, asks):
    rows = drawn_rows()
    status, out, err = run(table(rows), "count", "--all", "--csv", "--where", typed)
    if status == 0 and typed[0] == "k" and "*" in typed:  # strings: a note names the operator
        same("is not a pattern: *= is contains" in err, True, typed, err)
        return
    if status == 0 and asks:  # the found kind answers it
        same(out, f"{sum(asks(*row) for row in rows)}\n", typed, rows, err)
        return
    same((status, out), (2, ""), typed, err)
    said = re.search(r"\((?:try|repeat --where:) ([^()]*'[^()]*)\)", err)
    same(said is not None, asks is not None, typed, err)
    same(":text" in err, asks is not None and typed[0] == "k", typed, err)
    if said:
        words = shlex.split(said[1])
        words = words if words[0] == "--where" else ["--where", *words]
        status, out, err = run(table(rows), "count", "--all", "--csv", *words)
        same((status, out), (0, f"{sum(asks(*row) for row in rows)}\n"), typed, words, err)


def check_quotes():
    """Quoted cells with any separator: after any first attempt, one piece of advice reads them."""
    separator = draw.choice(";|\t")
    shown = {"\t": "\\t"}.get(separator, separator)
    names = draw.choice([["n", "v"], ['"n"', '"v"']])
    rows = [[f'"a{draw.choice([separator, " "])}b"', str(draw.randrange(100))] for _ in range(3)]
    data = "".join(separator.join(row) + "\n" for row in [names, *rows])
    field = draw.choice(["v", "2"])
    header = ["--header"] * (field == "2")
    options = draw.choice([["--csv"], ["-d", shown]])
    status, out, err = run(data, "reduce", "sum", *options, *header, "-f", field)
    wanted = sum(int(row[1]) for row in rows)
    if status == 0:
        same(out, f"{wanted}\n", options, data)
        return
    said = re.search(r"\(try (--csv -d [^()]*)\)", err)
    same(said is not None, True, options, field, data, err)
    same(run(data, "reduce", "sum", *shlex.split(said[1]), *header, "-f", field), (0, f"{wanted}\n", ""), data, err)


for _ in range(ROUNDS):
    check_quotes()
    check_list()
    check_note()
for question in ADVICE:
    check_advice(*question)
