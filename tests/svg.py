"""Pictures (--format svg) as a reader of XML sees them, against the rows that tsv prints.

usage: svg.py GPUHIST TEST
"""

import math
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

from pictures import SVG, expect, expect_equal, number

GPUHIST, TEST = sys.argv[1:3]


def gpuhist(arguments, values):
    text = values if isinstance(values, str) else "".join(f"{v}\n" for v in values)
    run = subprocess.run([GPUHIST, *arguments, "--text", "-q"], text=True, capture_output=True,
                         timeout=60, input=text, env={**os.environ, "LC_ALL": "C"})
    expect_equal((run.stderr, run.returncode), ("", 0), arguments)
    return run.stdout


class Picture:
    """The parts of a picture. What it may not have, such as references, is an error."""

    def __init__(self, text):
        self.text = text
        self.root = ET.fromstring(text)
        elements = list(self.root.iter())
        expect_equal({e.tag for e in elements} - {SVG + t for t in (
            "svg", "title", "style", "rect", "text", "g", "path")}, set(), "other elements")
        expect(not re.search(r"href|url\(|@import|script|//(?!www\.w3\.org/2000/svg)", text), "a reference")
        self.width, self.height = map(int, self.root.get("viewBox").split()[2:])
        self.title = self.root.find(SVG + "title").text
        texts = [e for e in self.root.findall(SVG + "text")]
        self.words = [e.text or "" for e in texts]
        expect_equal(self.words[0], self.title, "the title that is drawn")
        self.note, self.axis = self.words[1], self.words[-1]
        self.is_logarithmic = "count (logarithmic)" in self.words
        self.bars = [e for e in elements if e.tag == SVG + "rect" and e.find(SVG + "title") is not None]
        self.tips = [bar.find(SVG + "title").text for bar in self.bars]
        # A tick is a path; the text after it is its label.
        self.counts, self.values = [], []
        for path, label in zip(elements, elements[1:]):
            across = re.fullmatch(r"M\d+ (\d+)H\d+", path.get("d", ""))
            up = re.fullmatch(r"M(\d+) \d+v40", path.get("d", ""))
            if across and label.get("class") == "end" and path.get("class") is None:
                self.counts.append((int(across[1]), float(number(label.text))))
            if up:
                self.values.append((int(up[1]), label.text))
        for bar in self.bars:
            x, y, width, height = (int(bar.get(key)) for key in ("x", "y", "width", "height"))
            expect(0 <= x and x + width <= self.width and 0 <= y and y + height <= self.height
                   and width > 0 and height > 0, "outside the picture", ET.tostring(bar))

    def place(self, ticks, value):
        """Where a value is on an axis, by its first and last tick."""
        (from_place, low), (to_place, high) = ticks[0], ticks[-1]
        if self.is_logarithmic and ticks is self.counts:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return from_place + (to_place - from_place) * (value - low) / (high - low)


def draw(arguments, values):
    return Picture(gpuhist([*arguments, "--format", "svg"], values))


def rows_of(arguments, values):
    """(name, count, percent) of the rows that tsv prints and that are not empty."""
    for line in gpuhist([*arguments, "--percent"], values).splitlines():
        *bin, count, percent = line.split("\t")
        if bin != ["other"] and bin != ["other", ""] and int(count):
            yield "..".join(bin), int(count), percent


def check(arguments, values, is_linear=False):
    """Tooltips, and the places of the bars by the ticks of both axes."""
    picture = draw(arguments, values)
    rows = list(rows_of(arguments, values))
    expect_equal(picture.tips, [f"{n}: {c} ({p}%)" for n, c, p in rows], arguments)
    for bar, (name, count, _) in zip(picture.bars, rows):
        top, height = int(bar.get("y")), int(bar.get("height"))
        if len(picture.counts) > 1:
            wanted = picture.place(picture.counts, count)
            expect(abs(top - wanted) < 3 or height == 10, "the top of", name, top, wanted, arguments)
        if is_linear:
            ticks = [(place, float(number(label))) for place, label in picture.values]
            low, _, high = name.partition("..")
            wanted = picture.place(ticks, (float(low) + float(high)) / 2 if high else float(low))
            middle = int(bar.get("x")) + int(bar.get("width")) / 2
            expect(abs(middle - wanted) < 6, "the middle of", name, middle, wanted, arguments)
    return picture


def test_bars():
    dice = random.Random(3)
    values = [round(dice.gauss(25, 6)) for _ in range(2000)]
    check(["--bins", "50"], values, is_linear=True)
    picture = check(["--bins", "50", "--zeros"], values, is_linear=True)
    expect_equal([picture.values[0][1], picture.values[-1][1]], ["0", "48"])
    expect_equal(check(["--range", "-50:150", "--bins", "7"], values, is_linear=True).title,
                 "2,000 values in bins of width 28 or 29")
    expect_equal(check(["--width", "4"], values, is_linear=True).title,
                 "2,000 values in bins of width 4")
    check([], values, is_linear=True)
    check([], [v * v * 1000 for v in values], is_linear=True)
    check([], [v * 10**15 + 3 for v in values], is_linear=True)
    late = check(["--width", "100"], [1732000000 + 10 * v for v in values], is_linear=True)
    expect("1732000200" in [label for _, label in late.values], late.values)
    expect_equal(check(["uniq"], [1, 1, 2, 6], is_linear=True).title, "4 values, 3 different")
    fixed = check(["--decimals", "3", "--width", "2.5"], [f"{v / 3:.2f}" for v in values], is_linear=True)
    expect_equal(fixed.title, "2,000 values in bins of width 2.500")
    for values in [0], [-7], [2**64 - 1] * 3, [0, 2**64 - 1]:
        for binning in [], ["uniq"], ["--width", "10"], ["--log2"], ["--log10"]:
            check([*binning, "-t", "u64" if values[0] >= 0 else "i64"], values)


def test_kinds():
    dice = random.Random(4)
    values = [round(dice.lognormvariate(6, 2)) for _ in range(5000)] + [-1, -8, -9]
    powers = check(["--log2"], values)
    expect_equal((powers.title, powers.axis), ("5,003 values in bins by powers of 2", "value (logarithmic)"))
    labels = [label for _, label in powers.values]
    expect({"1", "1Ki"} < set(labels) or {"1", "4Ki"} < set(labels), labels)
    places = [int(bar.get("x")) for bar in powers.bars]
    expect(all(a < b for a, b in zip(places, places[1:])), places)
    labels = [label for _, label in check(["--log10"], values).values]
    expect({"-100", "-10", "0", "1", "10", "100", "1000", "1K"} >= set(labels[:6]), labels)
    edges = check(["--edges", "0,10,50,100,1000,5000"], values)
    expect_equal([label for _, label in edges.values], ["0", "10", "50", "100", "1000", "5000"])
    expect_equal(edges.axis, "value (bins are drawn equally wide)")
    expect_equal(edges.title, "5,003 values in bins of different widths")
    below, above = sum(v < 0 for v in values), sum(v >= 5000 for v in values)
    expect_equal(edges.note, f"below the bins: {below}; above the bins: {above}")
    # Few single values far apart have a bar each, with the count above it.
    statuses = [200] * 900 + [304] * 60 + [404] * 30 + [500]
    named = check(["--bins", "600"], statuses)
    expect_equal([label for _, label in named.values], ["200", "304", "404", "500"])
    expect_equal([e.text for e in named.root.find(SVG + "g").findall(SVG + "text")], ["900", "60", "30", "1"])
    expect_equal(check(["uniq"], statuses).values, named.values)
    expect_equal(check(["--bins", "600", "--zeros"], statuses, is_linear=True).note, "")
    # By count, in this order.
    top = check(["--width", "100", "--top", "3"], values)
    expect_equal(top.note, "only the 3 highest counts")
    check(["--width", "100", "--sort", "count", "--min-count", "2"], values)
    check(["--width", "100", "--top", "20", "--sort", "bin"], values, is_linear=True)
    check(["--log2", "--top", "5", "--sort", "bin"], values)
    other = draw(["--width", "100", "--min-count", "100", "--other"], values)
    left = sum(c for _, c, _ in rows_of(["--width", "100"], values) if c < 100)
    expect_equal(other.note, f"only counts of 100 or more; other: {left:,}")


def test_counts():
    expect(not check(["uniq"], [1] * 340 + [2, 3, 4], is_linear=True).is_logarithmic)
    skewed = check(["uniq"], [1] * 5000 + [2] * 14 + [3] * 2, is_linear=True)
    expect(skewed.is_logarithmic)
    expect_equal([label for _, label in skewed.counts], [1, 10, 100, 1000])
    tops = [int(bar.get("y")) for bar in skewed.bars]
    expect(tops[0] < tops[1] < tops[2] and min(int(b.get("height")) for b in skewed.bars) > 100, tops)


def test_many():
    """Neighbours share bars, and the file stays small."""
    dice = random.Random(5)
    values = sorted(dice.randrange(5_000_000) for _ in range(100_000))
    for binning in ["--bins", "5M"], ["uniq"]:
        picture = draw(binning, values)
        expect_equal(picture.note, "each bar combines 5,000 bins")
        expect(500 < len(picture.bars) <= 1000 and len(picture.text) < 150_000, len(picture.text))
        total = 0
        for tip in picture.tips:
            low, high, count = map(int, re.fullmatch(r"(\d+)\.\.(\d+): (\d+) \(\d\.\d{4}%\)", tip).groups())
            expect_equal(count, sum(low <= v < high for v in values[total:total + 2000]), tip)
            total += count
        expect_equal(total, len(values))
    edges = [i * (i + 1) for i in range(2500)]
    picture = draw(["--edges", ",".join(map(str, edges))], values[:2000])
    expect_equal(picture.note.partition(";")[0], "each bar combines 3 bins")
    order = draw(["--bins", "5M", "--sort", "count"], values)
    expect_equal(len(order.bars), 1000)
    expect_equal(order.note, f"{len(set(values)) - 1000:,} bins of lower counts are not drawn")
    expect_equal(order.tips, [f"{n}: {c} ({p}%)" for n, c, p in
                              rows_of(["--bins", "5M", "--top", "1000"], values)])
    expect_equal(draw(["--bins", "5M", "--top", "1500"], values).note,
                 "only the 1,500 highest counts; 500 bins of lower counts are not drawn")


def test_empty():
    for arguments in ["--bins", "5"], [], ["--log2"], ["uniq"], ["--edges", "0,1,5"]:
        for more in [], ["--zeros"], ["--top", "3"]:
            picture = draw([*arguments, *more], [])
            expect_equal(picture.title.split(" in ")[0], "0 values")
            expect_equal(picture.bars, [])


def test_escaping():
    """The name of a field is the only text that the user gives."""
    for name, shown in [("ms", "ms"), ("<a & \"b\">'", "<a & \"b\">'"), ("\u00e9\u4e2d\U0001f600", None),
                        ("]]>&amp;<script>", None), ("a\x01b\x7f", "a?b?"), ("\u202ex\ufffe", "???x???")]:
        text = gpuhist(["-d", "|", "-f", name, "--format", "svg"], f"{name}|other\n5|6\n")
        expect_equal(ET.fromstring(text).findall(SVG + "text")[-1].text, shown or name)
        expect("<script" not in text, text)


globals()["test_" + TEST]()
