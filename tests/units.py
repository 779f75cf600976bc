#!/usr/bin/env python3
"""Numbers with units against Python's fractions: a value is read whole, or rejected.

usage: units.py GPUHIST SEED

Draws durations and sizes, valid and invalid ones, for each kind and number of decimal places. A duration or a
size that the kind reads is counted as its exact value; any other is an invalid token. The model reads
them with one regular expression each. Then bounds, conditions, widths and edges are compared.
"""
import collections
import random
import re
import subprocess
import sys
from fractions import Fraction

SECONDS = {"d": Fraction(86400), "h": Fraction(3600), "min": Fraction(60), "m": Fraction(60), "sec": Fraction(1),
           "s": Fraction(1), "ms": Fraction(1, 1000), "us": Fraction(1, 10 ** 6), "µs": Fraction(1, 10 ** 6),
           "μs": Fraction(1, 10 ** 6), "ns": Fraction(1, 10 ** 9)}
KINDS = {"s": Fraction(1), "ms": Fraction(1, 1000), "us": Fraction(1, 10 ** 6), "ns": Fraction(1, 10 ** 9)}
NUMBER = r"(?:\d+\.?\d*|\.\d+)"
PART = rf"({NUMBER}) *(min|sec|ms|us|µs|μs|ns|d|h|m|s) *"


def fits(value):
    return -2 ** 63 <= value < 2 ** 63


def duration(text, kind, decimals):
    """Returns the value in multiples of 10^-decimals of the kind's unit; None: invalid."""
    sign = -1 if text.startswith("-") else 1
    text = text[1:] if text[:1] in ("-", "+") else text
    total = None
    clock = re.fullmatch(r"(\d+):([0-5]\d):([0-5]\d)(\.\d*)?", text)
    if re.fullmatch(NUMBER, text):
        total = Fraction("0" + text if text.startswith(".") else text.rstrip(".")) * KINDS[kind]
    elif clock and clock[4] != ".":
        total = int(clock[1]) * 3600 + int(clock[2]) * 60 + int(clock[3]) + Fraction("0" + (clock[4] or ""))
    elif re.fullmatch(rf"(?:{PART})+", text):
        parts = re.findall(PART, text)
        units = [SECONDS[unit] for _, unit in parts]
        if all(a > b for a, b in zip(units, units[1:])) and not any("." in number for number, _ in parts[:-1]):
            total = sum(Fraction(("0" + number).rstrip(".")) * SECONDS[unit] for number, unit in parts)
    if total is None:
        return None
    value = sign * total / KINDS[kind] * 10 ** decimals
    return int(value) if value.denominator == 1 and fits(value) else None


def size(text, kind):
    match = re.fullmatch(rf"([-+]?)({NUMBER}) *(?:([kKMGTPE])(i?))?B?", text)
    if not match:
        return None
    sign, number, letter, binary = match.groups()
    value = Fraction(("0" + number).rstrip("."))
    if letter:
        base = 1024 if binary or kind == "ibytes" else 1000
        value *= base ** ("KMGTPE".index(letter.upper()) + 1)
        value = Fraction(-(-value.numerator // value.denominator))  # away from zero
    value = -value if sign == "-" else value
    return int(value) if value.denominator == 1 and fits(value) else None


def number():
    digits = str(random.choice((0, 1, 7, 59, 60, 100, 999, 10 ** random.randrange(25), random.randrange(10 ** 6))))
    fraction = "".join(random.choice("0000123456789") for _ in range(random.randrange(1, 20)))
    return random.choice((digits, digits, digits + "." + fraction, digits + ".", "." + fraction, digits + ".5"))


def draw_duration():
    sign = random.choice(("", "", "", "-", "+"))
    form = random.randrange(10)
    if form < 2:
        text = number()
    elif form < 4:
        text = "%d:%02d:%02d" % (random.randrange(30), random.randrange(62), random.randrange(62)) + \
            random.choice(("", ".", ".5", ".%09d" % random.randrange(10 ** 9)))
    elif form < 6:
        text = number() + random.choice(list(SECONDS))
    elif form < 9:
        units = sorted(random.sample(list(SECONDS), random.randrange(1, 4)), key=lambda unit: -SECONDS[unit])
        text = "".join(str(random.randrange(60)) + unit for unit in units[:-1]) + number() + units[-1]
    else:
        text = random.choice(("", ".", "s", "5x", "1:30", "1e3", "5S", "1s5", "3s2m", "1s1s", "1m1min", "0x5", "--1", "1.s5",
                              "1,5s", "5 s", "1 h 2 m", "1.5h2m", "\u00b5s", "1\u00b5", "1:2:3", "1.5:02:03", "1.:02:03", "01:02:03:04", "5ms ms"))
    return sign + text


def draw_size():
    text = random.choice(("", "", "", "-", "+")) + number() + random.choice(("", " ", "")) + \
        random.choice(("", "K", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ei")) + random.choice(("", "", "B"))
    return random.choice((text, text, text, text + "x", "K", "B", "1b", "1KK", "1iB", "5m", "1e3"))


def run(*arguments, data):
    done = subprocess.run([GPUHIST, *arguments], input=data, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def written(value, decimals):
    sign, digits = "-" if value < 0 else "", str(abs(value)).rjust(decimals + 1, "0")
    return sign + (digits[:-decimals] + "." + digits[-decimals:] if decimals else digits)


def compare(kind, decimals, texts, read):
    """Counts the values of a column of CSV, each as a cell and as the first word of a line."""
    column = kind + (f".{decimals}" if decimals else "")
    for words in (False, True):
        some = [text for text in texts if text and " " not in text] if words else texts
        values = collections.Counter(value for value in map(read, some) if value is not None)
        data = "".join(text + " x\n" if words else f'"{text}",x\n' for text in some).encode()
        command = ["uniq", "-f", "1:" + column, "--invalid", "ignore", "-q", "--threads", random.choice("14"),
                   "--chunk-size", random.choice(("4096", "1M"))] + ([] if words else ["--csv", "--header=0"])
        status, out, err = run(*command, data=data)
        expected = "".join(f"{written(value, decimals)}\t{count}\n" for value, count in sorted(values.items()))
        if status not in (0, 1) or out != expected:
            got = dict(line.split("\t") for line in out.splitlines())
            wanted = dict(line.split("\t") for line in expected.splitlines())
            for text in some:
                value = read(text)
                shown = None if value is None else written(value, decimals)
                status, one, _ = run(*command, data=(text + " x\n" if words else f'"{text}",x\n').encode())
                if one != ("" if shown is None else shown + "\t1\n"):
                    sys.exit(f"{' '.join(command)}: {text!r} is {one!r}, expected {shown}")
            sys.exit(f"{' '.join(command)}: {set(got.items()) ^ set(wanted.items())}: {err}")


def bounds():
    """Bounds in any form have the same meaning as the number in the unit of the column."""
    for _ in range(30):
        kind, decimals = random.choice(list(KINDS)), random.randrange(4)
        column = f"1:{kind}" + (f".{decimals}" if decimals else "")
        values = [duration(text, kind, decimals) for text in (draw_duration() for _ in range(300))]
        values = [value for value in values if value is not None and abs(value) < 10 ** 15]
        data = "".join(written(value, decimals) + "\n" for value in values).encode()
        low, high = "0", random.choice(("1.5s", "2m", "00:01:00", "90 s", "1h"))
        top = duration(high, kind, decimals)
        if top is None or top > 10 ** 14:
            continue
        inside = sum(1 for value in values if 0 <= value < top)
        _, out, _ = run("--range", f"{low}:{high}", "--bins", "1", "-f", column, "-q", data=data)
        assert out == (f"{written(0, decimals)}\t{written(top, decimals)}\t{inside}\n" if inside else ""), (column, high, out)
        above = sum(1 for value in values if value >= top)
        assert run("count", "--all", "-f", column, "--where", f"{column}>={high}", "-q", data=data)[1] == f"{above}\n"
        assert run("count", "--ge", high, "-f", column, data=data)[1] == f"{above}\n"
        equal = sum(1 for value in values if value in (top, 0))
        assert run("count", "--all", "-f", column, "--where", f"{column}={low},{high}", "-q", data=data)[1] == f"{equal}\n"
        _, out, err = run("--edges", f"{low},{high.replace(' ', '')}", "-f", column, "-q", data=data)
        assert out == (f"{written(0, decimals)}\t{written(top, decimals)}\t{inside}\n" if inside else ""), (column, high, err)
        floored = collections.Counter(value // top * top for value in values)
        if ":" in high:  # the last colon would begin the kind
            continue
        expected = "".join(f"{written(value, decimals)}\t{count}\n" for value, count in sorted(floored.items()))
        assert run("uniq", "-f", f"{column}/{high}", data=data)[1] == expected, (column, high)


def main():
    for kind in KINDS:
        for decimals in (0, random.randrange(1, 9), 9):
            compare(kind, decimals, [draw_duration() for _ in range(400)],
                    lambda text, k=kind, d=decimals: duration(text, k, d))
    for kind in ("bytes", "ibytes"):
        compare(kind, 0, [draw_size() for _ in range(800)], lambda text, k=kind: size(text, k))
    bounds()


if __name__ == "__main__":
    GPUHIST, SEED = sys.argv[1], int(sys.argv[2])
    random.seed(SEED)
    main()
