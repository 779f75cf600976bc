"""What the checks of pictures share (svg.py, heat.py)."""

import re
import sys
from decimal import Decimal

SVG = "{http://www.w3.org/2000/svg}"


def expect(condition, *what):
    if not condition:
        sys.exit(" ".join(map(str, what)))


def expect_equal(got, wanted, *what):
    expect(got == wanted, *what, "\ngot   ", got, "\nwanted", wanted)


def styled(text):
    """A number, or LOW..HIGH, as pictures write them: no zeros at the end, digits in groups."""
    parts = [Decimal(part) for part in text.split("..")]
    return "..".join(f"{p.normalize():,f}" if abs(p) >= 10000 else f"{p.normalize():f}" for p in parts)


def number(label):
    match = re.fullmatch(r"(-?[0-9.,]+)%?", label)
    expect(match, "not the label of a tick:", label)
    value = Decimal(match[1].replace(",", ""))
    expect_equal(styled(str(value)), match[1], "the style of a number")
    return value
