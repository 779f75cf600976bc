"""Compares the scanner of JSON Lines with Python's json, on random documents, many of them corrupt.

usage: json_lines.py JSON_VALUES [ISA]...     JSON_VALUES: tests/unit/json_values

Input that Python rejects is rejected, and so are NaN, Infinity and halves of surrogate pairs; all
other input is accepted, with the same values.
"""

import json
import os
import random
import subprocess
import sys

SHARE = int(os.environ.get("SHARE", "1"))
CASES = 18000 // SHARE
ENDS = (b"\n", b"\0")  # of rows

EACH = slice(None)  # of an array
PATHS = [["a"], ["b"], ["b", "c"], ["b", "c", "a"], ["b.c"], [""], ["a key of many bytes"], ["\u00e9"],
         ["a", 0], ["a", -1], ["b", 1, "c"], ["b", "c", 2, -2], ["c", -3, 0, "b.c"]]
# Each with an end. The first three are not members of that name, because their keys are quoted.
EACHES = [["c", EACH], ["b.c", EACH, "b"], ["", 0, EACH], ["a", EACH], ["b", "c", EACH, "a"], ["b", EACH, -1], ["c", 0, "b", EACH]]
KINDS = ["missing", None, "dash", "string", "string", "number", True, False, dict, list]
KEYS = ["a", "b", "c", "b.c", "", "a key of many bytes", "a key of many bites", "\u00e9", "status", "a", "b", "c",
        "a[0]", "a[-1]", "b[1]", "a[]", "b[]"]
TEXTS = ["", "x", "GET /index.html", 'say "no"', "back\\slash", "{[,:]}", "tab\t\n", "\u20ac\U0001f600",
         "\x7f\x00", "/" * 70, "\\" * 63]
DAMAGE = [bytes([byte]) for byte in b'"\\{}[]:,01-.eEtfn u\t\n\r\x00\x01\x1f\x7f\x80\xc3\xff'] + [
    b'"a":', b'{"b":', b"\\u0061", b"\\ud83d", b"\\ude00", b"NaN", b"-Infinity", b"null", b'""', b"{}"]


def draw(rng, depth=0):
    """A value of JSON, objects as lists of pairs, which allow duplicate keys."""
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
    """Returns the value in JSON, with random white space and escapes."""
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
    """Returns the object that the scanner must find in a row, or None."""
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


MISSING = object()


def follow(value, path):
    """Returns the values of a path: one for each element of an array."""
    for at, key in enumerate(path):
        if key is EACH and isinstance(value, list):
            return [found for item in value for found in follow(item, path[at + 1:])]
        if isinstance(key, str):
            value = value.get(key, MISSING) if isinstance(value, dict) else MISSING
        else:
            is_in = isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value)
            value = value[key] if is_in else MISSING
    return [value]


def find(row, path):
    """Like follow(), but a member with exactly the path's name precedes elements."""
    text = spell(path)
    if "[" in text and '"' not in text:
        member = follow(row, text[1:].split("."))
        if member[0] is not MISSING:
            return member
    return follow(row, path)


def is_same(printed, value):
    kind, _, data = printed.partition(":")
    kind, data = KINDS[int(kind)], bytes.fromhex(data).decode("utf-8", "surrogateescape")
    if value is MISSING or kind == "missing":
        return (value is MISSING) == (kind == "missing")
    if kind == "string":
        return data == value
    if kind == "number":
        is_kind = isinstance(value, (int, float)) and not isinstance(value, bool)
    else:
        is_kind = isinstance(value, kind) if isinstance(kind, type) else value is kind
    return is_kind and json.loads(data) == value


def spell(path):
    """Returns the path as typed."""
    if path in (["a"], ["b.c"]):
        return path[0]
    has_quotes = path in EACHES[:3] or any(isinstance(key, str) and not key.isalpha() for key in path) or EACH not in path and \
        all(isinstance(key, str) for key in path)
    return "".join("[]" if key is EACH else f"[{key}]" if isinstance(key, int) else
                   "." + (json.dumps(key, ensure_ascii=len(key) % 2 == 0) if has_quotes else key) for key in path)


def draw_rows(rng, end):
    """Returns rows, and for each the object that Python finds, or None."""
    rows = []
    for _ in range(CASES):
        value = draw(rng)
        while not isinstance(value, tuple) and rng.random() < 0.95:
            value = draw(rng)
        rows.append(damage(rng, write(rng, value, end).encode()))
    # corruption may have split a row in two
    rows = [(data, parse(data)) for data in end.join(rows).split(end)]
    accepted = sum(row is not None for _, row in rows)
    if min(accepted, len(rows) - accepted) < CASES // 10:
        sys.exit(f"{accepted} of {len(rows)} rows accepted: too few or too many to say much")
    return rows


def compare(json_values, isa, end, rows, paths):
    text = end.join(data for data, _ in rows)
    done = subprocess.run([json_values, "newline" if end == b"\n" else "nul", *map(spell, paths)], input=text,
                          stdout=subprocess.PIPE, check=True, timeout=300,
                          env={**os.environ, "GPUHIST_ISA": isa})
    lines = iter(done.stdout.decode().splitlines())
    offset = 0
    for data, row in rows:
        if data.strip(b" \t\r\n"):
            values = [find(row, path) for path in paths] if row is not None else [[None]]
            for number in range(max(map(len, values)) if all(values) else 0):
                begin, *printed = next(lines, "none").split(" ")
                if int(begin) != offset or (printed[0] == "!") != (row is None) or \
                        (row is not None and (len(printed) != len(paths) or not all(
                            is_same(text, of[number if len(of) > 1 else 0]) for text, of in zip(printed, values)))):
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
        for number, isa in enumerate(isas or ["plain"]):
            compare(json_values, isa, end, rows, PATHS)
            for third in range(3):
                each = EACHES[(6 * number + 3 * seed + third) % len(EACHES)]
                compare(json_values, isa, end, rows[third::3], [PATHS[8], each, PATHS[0]])


main()
