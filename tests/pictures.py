"""Functions for all checks of images (svg.py, heat.py)."""

import re
import sys
from decimal import Decimal

SVG = "{http://www.w3.org/2000/svg}"


def expect(condition, *what):
    if not condition:
        sys.exit(" ".join(map(str, what)))


def expect_equal(got, wanted, *what):
    expect(got == wanted, *what, "\ngot   ", got, "\nwanted", wanted)


def styled(text, is_grouped=True):
    """Returns a number, or LOW..HIGH, as in images: no trailing zeros, with thousands separators."""
    parts = [Decimal(part) for part in text.split("..")]
    return "..".join(f"{p.normalize():,f}" if is_grouped and abs(p) >= 1000 else f"{p.normalize():f}" for p in parts)


def are_grouped(texts):
    """Returns whether all values have thousands separators: if one has five digits."""
    return any(abs(Decimal(part.replace(",", ""))) >= 10000 for text in texts for part in text.split(".."))


def number(label):
    match = re.fullmatch(r"(-?[0-9.,]+)%?", label)
    expect(match, "not the label of a tick:", label)
    value = Decimal(match[1].replace(",", ""))
    expect(match[1] in (styled(str(value)), styled(str(value), False)), "the style of a number", label)
    return value
