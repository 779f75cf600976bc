"""What the checks of pictures share (svg.py, heat.py)."""

import re
import sys
from decimal import Decimal

SVG = "{http://www.w3.org/2000/svg}"
SUFFIXES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18,
            "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}


def expect(condition, *what):
    if not condition:
        sys.exit(" ".join(map(str, what)))


def expect_equal(got, wanted, *what):
    expect(got == wanted, *what, "\ngot   ", got, "\nwanted", wanted)


def number(label):
    match = re.fullmatch(r"(-?[0-9.]+)([KMGTPE]i?)?", label)
    expect(match, "not the label of a tick:", label)
    return Decimal(match[1]) * SUFFIXES[match[2] or ""]
