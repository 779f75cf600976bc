#!/usr/bin/env python3
"""Compares numbers with exponents and rounded numbers with Python's Decimal.

usage: rounded.py GPUHIST SEED

Draws numbers of any form, among them halves and their neighbours, tiny and long ones, at every number
of decimal places. `int` and `.N` read a number if it is exact, `round.N` rounds it half to even; others are
invalid. Then bounds, conditions and widths are compared.
"""
import collections
import json
import random
import re
import struct
import subprocess
import sys
from decimal import ROUND_HALF_EVEN, Context, Decimal

GPUHIST, SEED = sys.argv[1], int(sys.argv[2])
random.seed(SEED)
EXACT = Context(prec=5000, Emax=10 ** 9, Emin=-10 ** 9)
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\Z")
LEAST, LIMIT = -2 ** 63, 2 ** 63


def read(kind, decimals, text):
    """Returns the value in multiples of 10^-decimals; None: invalid for the kind."""
    if not NUMBER.match(text) or (kind == "int" and "." in text and not re.search("[eE]", text)):
        return None
    sign, digits, exponent = re.match(r"([-+]?)([\d.]+)(?:[eE](.*))?", text).groups()
    exponent = max(-3000, min(3000, int(exponent or 0)))
    value = EXACT.scaleb(Decimal(sign + digits), exponent + decimals)
    whole = value.to_integral_value(ROUND_HALF_EVEN, EXACT)
    return int(whole) if (kind == "round" or whole == value) and LEAST <= whole < LIMIT else None


def shift(digits, places):
    """Writes the integer of these digits times 10^-places with a point."""
    digits = digits.rjust(places + 1, "0")
    return digits[:len(digits) - places] + "." + digits[len(digits) - places:]


def draw(decimals):
    sign = random.choice(("", "", "-", "+"))
    form = random.randrange(9)
    whole = str(random.choice((0, 1, 9, 10, random.randrange(10 ** random.randrange(1, 20)), 2 ** 63 - 1, 2 ** 63)))
    if form < 3:  # a half of the last decimal place, and its neighbours
        after = random.choice(("5", "4" + "9" * random.randrange(1, 40), "5" + "0" * random.randrange(40) + random.choice("01"), "50"))
        return sign + shift(whole + after, decimals + len(after))
    text = random.choice((whole, whole + ".", shift(whole, random.randrange(25)), "." + whole,
                          "0" * random.randrange(30) + whole, whole + "." + "0" * random.randrange(30)))
    if form < 6:
        text += random.choice("eE") + random.choice(("", "+", "-")) + \
            random.choice(("0", "1", "7", str(decimals), str(random.randrange(40)), "0003", "400", "99999999999999999999"))
    if form == 8:
        text = random.choice(("1e", "e5", "1e+", "1e5.", ".e1", "1.e2", ".", "1e5e5", "0x10", "NaN", "inf", "1 e5", text + "x", "1_0",
                              "0e99", "1e--5"))
    return sign + text


def run(*arguments, data):
    done = subprocess.run([GPUHIST, *arguments], input=data.encode(), capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def written(value, decimals):
    return ("-" if value < 0 else "") + (shift(str(abs(value)), decimals) if decimals else str(abs(value)))


def table(values, decimals):
    return "".join(f"{written(value, decimals)}\t{count}\n" for value, count in sorted(collections.Counter(values).items()))


def compare(kind, decimals):
    """Reads numbers as words, fields, cells and members, and reports one that is read wrongly."""
    texts = [draw(decimals) for _ in range(120)]
    column = {"int": "int", "fixed": f".{decimals}", "round": f"round.{decimals}"}[kind]
    option = {"fixed": str(decimals), "round": f"round.{decimals}"}.get(kind)
    form = random.choice(("words", "cells", "json") + (("tokens", "tokens") if option else ()))
    words = [text for text in texts if " " not in text]
    arguments, texts, line = {
        "tokens": (["--decimals", option or ""], words, lambda text: text + random.choice(" \n")),
        "words": (["-f", f"1:{column}"], words, lambda text: text + " x\n"),
        "cells": (["--csv", "--header=0", "-f", f"2:{column}"], texts, lambda text: f'x,"{text}"\n'),
        "json": (["--jsonl", "-f", f"a:{column}"], texts, lambda text: json.dumps({"a": text}) + "\n"),
    }[form]
    command = ["uniq", "--text", *arguments, "--invalid", "ignore", "-q", "--threads", random.choice("13"), "--chunk-size",
               random.choice(("4096", "1M"))]
    values = [value for value in (read(kind, decimals, text) for text in texts) if value is not None]
    _, out, err = run(*command, data="".join(map(line, texts)))
    if out == table(values, decimals):
        return
    for text in texts:
        value = read(kind, decimals, text)
        _, one, err = run(*command, data=line(text))
        if one != ("" if value is None else written(value, decimals) + "\t1\n"):
            sys.exit(f"seed {SEED}: {command}: {text!r} is {one!r}, expected {value}: {err}")
    sys.exit(f"seed {SEED}: {command}: {texts}: {out!r}, {err}")


def bounds(decimals):
    """Bounds also have exponents, and no more decimal places than the column."""
    column = f"1:round.{decimals}"
    texts = [shift(str(random.randrange(10 ** 6)), random.randrange(9)) for _ in range(100)]
    values = [read("round", decimals, text) for text in texts]
    data = "".join(text + "\n" for text in texts)
    unit = random.randrange(1, 10 ** 5)
    bound = f"{unit}e-{decimals}"
    assert run("count", "--ge", bound, "-f", column, data=data)[1] == f"{sum(value >= unit for value in values)}\n", bound
    some = [value for value in values if value < unit]
    assert run("uniq", "-f", column, "--where", f"{column}<{bound}", "-q", data=data)[1] == table(some, decimals), bound
    floored = [value // unit * unit for value in values]
    assert run("uniq", "-f", f"{column}/{bound}", data=data)[1] == table(floored, decimals), bound
    equal = sum(value in (unit, 0) for value in values)
    assert run("count", "--any-of", f"0,{bound}", "-f", column, data=data)[1] == f"{equal}\n"
    status, _, err = run("count", "--ge", f"1e-{decimals + 1}", "-f", column, data=data)
    assert status == 2 and "a number with no more decimals than its column" in err, err
    wanted = f"{written(sum(values), decimals)}\n"
    assert run("reduce", "sum", "--decimals", f"round.{decimals}", data=data)[1] == wanted


FLOATS = {"f64": ("d", 64), "f32": ("f", 32), "f16": ("e", 16), "bf16": ("f", 16)}


def draw_float(kind, decimals):
    """Draws the bits of a float: halves and their neighbours, subnormals, any bits."""
    form, bits = FLOATS[kind]
    if random.randrange(3) == 0:
        return random.getrandbits(bits)
    half = Decimal(random.choice((1, -1)) * (2 * random.randrange(10 ** random.randrange(1, 8)) + 1)) / (2 * 10 ** decimals)
    number = random.choice((float(half), random.randrange(4000) / 2 ** random.randrange(14), random.uniform(-10, 10), 0.0, -0.0))
    try:
        found = int.from_bytes(struct.pack("<" + form, number), "little") >> (16 if kind == "bf16" else 0)
    except OverflowError:
        found = 0
    return (found + random.choice((0, 0, -1, 1))) % 2 ** bits if random.randrange(8) else random.randrange(64)


def floats(kind, decimals):
    """Rounds the exact value of binary floats."""
    form, bits = FLOATS[kind]
    drawn = [draw_float(kind, decimals) for _ in range(300)]
    values = []
    for word in drawn:
        wide = word << 16 if kind == "bf16" else word
        number = struct.unpack("<" + form, wide.to_bytes(struct.calcsize(form), "little"))[0]
        value = None if number - number != 0 else int(EXACT.scaleb(Decimal(number), decimals).to_integral_value(ROUND_HALF_EVEN, EXACT))
        values.append(value if value is not None and LEAST <= value < LIMIT else None)
    order = random.choice(("", "le", "be"))
    data = b"".join(word.to_bytes(bits // 8, "big" if order == "be" else "little") for word in drawn)
    command = ["-t", kind + order, "--decimals", f"round.{decimals}"]
    if random.randrange(2):
        data = b"".join(b"x" + data[i:i + bits // 8] for i in range(0, len(data), bits // 8))
        command = ["--record", str(bits // 8 + 1), "-f", f"{kind}{order}@1:round.{decimals}"]
    done = subprocess.run([GPUHIST, "uniq", *command, "--invalid", "warn"], input=data, capture_output=True, check=False)
    assert done.stdout.decode() == table([value for value in values if value is not None], decimals), (SEED, command, done.stderr)
    invalid = values.count(None)
    assert (f"note: {invalid} number" in done.stderr.decode()) == (invalid > 0), (SEED, command, done.stderr)


def main():
    for decimals in range(19):
        for kind in FLOATS:
            floats(kind, decimals)
        compare("round", decimals)
        compare("round", decimals)
        compare("fixed", decimals)
        compare("int", 0)
    for decimals in random.sample(range(9), 4):
        bounds(decimals)


main()
