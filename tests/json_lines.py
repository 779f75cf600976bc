"""Compares the scanner of JSON Lines with Python's json, on random documents, many of them damaged.

usage: json_lines.py JSON_VALUES [ISA]...     JSON_VALUES: tests/unit/json_values

What Python refuses is refused, and so are NaN, Infinity and halves of surrogate pairs; all else is
accepted, and its values are the same.
"""

import json
import os
import random
import subprocess
import sys

SHARE = int(os.environ.get("SHARE", "1"))
CASES = 30000 // SHARE
ENDS = (b"\n", b"\0")  # of rows

PATHS = [["a"], ["b"], ["b", "c"], ["b", "c", "a"], ["b.c"], [""], ["a key of many bytes"], ["\u00e9"]]
KINDS = ["missing", None, "string", "string", "number", True, False, dict, list]
KEYS = ["a", "b", "c", "b.c", "", "a key of many bytes", "a key of many bites", "\u00e9", "status"]
TEXTS = ["", "x", "GET /index.html", 'say "no"', "back\\slash", "{[,:]}", "tab\t\n", "\u20ac\U0001f600",
         "\x7f\x00", "/" * 70, "\\" * 63]
DAMAGE = [bytes([byte]) for byte in b'"\\{}[]:,01-.eEtfn u\t\n\r\x00\x01\x1f\x7f\x80\xc3\xff'] + [
    b'"a":', b'{"b":', b"\\u0061", b"\\ud83d", b"\\ude00", b"NaN", b"-Infinity", b"null", b'""', b"{}"]


def draw(rng, depth=0):
    """A value of JSON, objects as lists of pairs, so that keys may stand twice."""
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind == 0:
        return rng.choice([0, -1, 7, 12345678, 123456789, 10 ** rng.randrange(40), rng.randrange(1 << 63)])
    if kind == 1:
        return rng.choice([0.5, -1.25e-7, 1e300, rng.random()])
    if kind < 4:
        return rng.choice(TEXTS)
    if kind == 4:
        return rng.choice([True, False])
    if kind == 5:
        return None
    if kind == 6:
        return [draw(rng, depth + 1) for _ in range(rng.randrange(4))]
    return tuple((rng.choice(KEYS), draw(rng, depth + 1)) for _ in range(rng.randrange(6)))


def write(rng, value, end):
    """The value in JSON, with white space and escapes where they may be."""
    def space():
        return rng.choice(["", " ", "\t", "  ", "\r"] + ([] if end == b"\n" else ["\n"])) \
            if loose else ""

    def string(text):
        plain = json.dumps(text, ensure_ascii=rng.random() < 0.5)
        if loose and text and rng.random() < 0.3:
            plain = '"\\u%04x' % ord(text[0]) + json.dumps(text[1:])[1:] \
                if ord(text[0]) < 0xd800 else plain
        return plain

    loose = rng.random() < 0.5
    if isinstance(value, tuple):
        parts = [f"{space()}{string(key)}{space()}:{space()}{write(rng, item, end)}{space()}"
                 for key, item in value]
        return "{" + (",".join(parts) or space()) + "}"
    if isinstance(value, list):
        return "[" + (",".join(space() + write(rng, item, end) + space() for item in value) or
                      space()) + "]"
    return string(value) if isinstance(value, str) else json.dumps(value)


def damage(rng, data):
    for _ in range(rng.choice([0, 0, 1, 1, 1, 2, 5])):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(4)
        if how == 0:
            data = data[:at] + data[at + 1:]
        elif how == 1:
            data = data[:at] + rng.choice(DAMAGE) + data[at:]
        elif how == 2 and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]
        elif how == 3 and rng.random() < 0.1:
            data = data[:at]
    return data


def refuse(word):
    raise ValueError(word)


def parse(data):
    """The object, or None: what the scanner has to find in a row."""
    def check(pairs):
        json.dumps(pairs, ensure_ascii=False).encode("utf-8")  # halves of surrogate pairs raise
        return dict(pairs)

    try:
        # Bytes as characters: each surrogate then comes from an escape.
        json.loads(data.decode("latin-1"), object_pairs_hook=check, parse_constant=refuse)
        value = json.loads(data.decode("utf-8", "surrogateescape"), parse_constant=refuse)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def find(value, path):
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return "missing", None
        value = value[key]
    return "found", value


def is_same(printed, row, path):
    kind, _, data = printed.partition(":")
    kind, data = KINDS[int(kind)], bytes.fromhex(data).decode("utf-8", "surrogateescape")
    found, value = find(row, path)
    if found == "missing" or kind == "missing":
        return found == kind
    if kind == "string":
        return data == value
    if kind == "number":
        is_kind = isinstance(value, (int, float)) and not isinstance(value, bool)
    else:
        is_kind = isinstance(value, kind) if isinstance(kind, type) else value is kind
    return is_kind and json.loads(data) == value


def quoted(path):
    return "".join("." + json.dumps(key, ensure_ascii=len(key) % 2 == 0) for key in path)


def draw_rows(rng, end):
    """Rows, and of each the object that Python finds in it, or None."""
    rows = []
    for _ in range(CASES):
        value = draw(rng)
        while not isinstance(value, tuple) and rng.random() < 0.95:
            value = draw(rng)
        rows.append(damage(rng, write(rng, value, end).encode()))
    # damage may have made two rows of one
    rows = [(data, parse(data)) for data in end.join(rows).split(end)]
    accepted = sum(row is not None for _, row in rows)
    if min(accepted, len(rows) - accepted) < CASES // 10:
        sys.exit(f"{accepted} of {len(rows)} rows accepted: too few or too many to say much")
    return rows


def compare(json_values, isa, end, rows):
    text = end.join(data for data, _ in rows)
    paths = [path[0] if path in (["a"], ["b.c"]) else quoted(path) for path in PATHS]
    done = subprocess.run([json_values, "newline" if end == b"\n" else "nul", *paths], input=text,
                          stdout=subprocess.PIPE, check=True, timeout=300,
                          env={**os.environ, "GPUHIST_ISA": isa})
    lines = iter(done.stdout.decode().splitlines())
    offset = 0
    for data, row in rows:
        if data.strip(b" \t\r\n"):
            begin, *printed = next(lines).split(" ")
            if int(begin) != offset or (printed[0] == "!") != (row is None) or \
                    (row is not None and len(printed) != len(PATHS)) or \
                    not all(is_same(*both) for both in zip(printed, [row] * 99, PATHS)
                            if row is not None):
                sys.exit(f"{isa}: {data} at {offset}: {begin} {printed}")
            if row is None and not offset <= int(printed[1]) <= offset + len(data):
                sys.exit(f"{isa}: {data} at {offset}: a fault at {printed[1]}")
        offset += len(data) + 1
    if next(lines, None) is not None:
        sys.exit(f"{isa}: more rows than there are")


def main():
    json_values, *isas = sys.argv[1:]
    sys.set_int_max_str_digits(0)
    for seed, end in enumerate(ENDS):
        rows = draw_rows(random.Random(seed), end)
        for isa in isas or ["plain"]:
            compare(json_values, isa, end, rows)


main()
