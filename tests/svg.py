"""SVG images (--format svg), read as XML, against the rows that tsv prints.

usage: svg.py GPUHIST TEST
"""

import math
import os
import random
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ET
from decimal import Decimal

from pictures import SVG, are_grouped, expect, expect_equal, number, styled

GPUHIST, TEST = sys.argv[1:3]


def gpuhist(arguments, values):
    text = values if isinstance(values, str) else "".join(f"{v}\n" for v in values)
    run = subprocess.run([GPUHIST, *arguments, "--text", "-q"], text=True, capture_output=True,
                         timeout=60, input=text, env={**os.environ, "LC_ALL": "C"})
    expect_equal((run.stderr, run.returncode), ("", 0), arguments)
    return run.stdout


class Picture:
    """The parts of an image. Forbidden parts, such as references, are errors."""

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
        self.summary, _, self.note = self.words[1].partition("; ")
        self.axis = self.words[-1]
        self.is_logarithmic = any(re.fullmatch(r"\S+( in percent)? \(logarithmic\)", w) for w in self.words[2:-1])
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
        """Returns the position of a value on an axis, by its first and last tick."""
        (from_place, low), (to_place, high) = ticks[0], ticks[-1]
        value, low, high = float(value), float(low), float(high)
        if self.is_logarithmic and ticks is self.counts:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return from_place + (to_place - from_place) * (value - low) / (high - low)


def draw(arguments, values):
    return Picture(gpuhist([*arguments, "--format", "svg"], values))


def rows_of(arguments, values):
    """Returns (name, count, percent) of the non-empty rows of tsv."""
    for line in gpuhist([*(a for a in arguments if a != "--log-count"), "--percent"], values).splitlines():
        *bin, count, percent = line.split("\t")
        if bin != ["other"] and bin != ["other", ""] and int(count):
            yield "..".join(bin), int(count), percent


def check(arguments, values, is_linear=False):
    """Checks tooltips, and the positions of the bars by the ticks of both axes."""
    picture = draw(arguments, values)
    rows = list(rows_of(arguments, values))
    is_grouped = are_grouped(name for name, _, _ in rows)
    expect_equal(picture.tips, [f"{styled(n, is_grouped)}: {styled(str(c))} ({styled(p)}%)" for n, c, p in rows], arguments)
    for _, label in picture.values:
        expect(label == styled(label.replace(",", ""), is_grouped), "not alike", label, arguments)
    for bar, after, (name, _, _), (behind, _, _) in zip(picture.bars, picture.bars[1:], rows, rows[1:]):
        if ".." in name and name.split("..")[1] == behind.split("..")[0] and "count" not in arguments:
            between = int(after.get("x")) - int(bar.get("x")) - int(bar.get("width"))
            expect(between <= 11 or "--top" in arguments, "neighbours do not touch", name, between, arguments)
    for bar, (name, _, _) in zip(picture.bars, rows):
        expect(int(bar.get("width")) <= 400 or (".." in name and len(rows) > 1), "too wide a bar", name, arguments)
    wanted = [styled(str(count)) for _, count, _ in rows]
    if "--percent" not in arguments:
        expect(numbers_of(picture) in ([], wanted), "the numbers above the bars", numbers_of(picture), arguments)
    total = sum(count for _, count, _ in rows) if "--percent" in arguments else 100
    for bar, (name, count, _) in zip(picture.bars, rows):
        top, height = int(bar.get("y")), int(bar.get("height"))
        if len(picture.counts) > 1:
            wanted = picture.place(picture.counts, Decimal(count) * 100 / total)
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
    expect_equal(check(["--range", "-50:150", "--bins", "7"], values, is_linear=True).summary,
                 "2,000 values in 7 bins of width 28 or 29, 4 of them empty")
    expect_equal(check(["--width", "4"], values, is_linear=True).summary,
                 "2,000 values in 12 bins of width 4")
    check([], values, is_linear=True)
    check([], [v * v * 1000 for v in values], is_linear=True)
    check([], [v * 10**15 + 3 for v in values], is_linear=True)
    late = check(["--width", "100"], [1732000000 + 10 * v for v in values], is_linear=True)
    expect("1,732,000,200" in [label for _, label in late.values], late.values)
    expect_equal(check(["uniq"], [1, 1, 2, 6], is_linear=True).summary, "4 values, 3 distinct")
    fixed = check(["--decimals", "3", "--width", "2.5"], [f"{v / 3:.2f}" for v in values], is_linear=True)
    expect_equal(fixed.summary, "2,000 values in 6 bins of width 2.5")
    for values in [0], [-7], [2**64 - 1] * 3, [0, 2**64 - 1]:
        for binning in [], ["uniq"], ["--width", "10"], ["--log2"], ["--log10"]:
            check([*binning, "-t", "u64" if values[0] >= 0 else "i64"], values)


def test_kinds():
    dice = random.Random(4)
    values = [round(dice.lognormvariate(6, 2)) for _ in range(5000)] + [-1, -8, -9]
    powers = check(["--log2"], values)
    expect_equal(powers.title, "Count by value")
    expect_equal((powers.summary, powers.axis), ("5,003 values in 27 bins by powers of 2, 5 of them empty", "value (logarithmic)"))
    labels = [label for _, label in powers.values]
    expect({"1", "1,024"} < set(labels) or {"1", "4,096"} < set(labels), labels)
    places = [int(bar.get("x")) for bar in powers.bars]
    expect(all(a < b for a, b in zip(places, places[1:])), places)
    labels = [label for _, label in check(["--log10"], values).values]
    expect({"-100", "-10", "0", "1", "10", "100", "1,000", "10,000", "1,000,000"} >= set(labels[:6]), labels)
    parts = check(["--log2=3"], values)
    expect("1,024" in [label for _, label in parts.values] and ", each in 8 parts, " in parts.summary, parts.summary)
    edges = check(["--edges", "0,10,50,100,1000,5000"], values)
    expect_equal([label for _, label in edges.values], ["0", "10", "50", "100", "1000", "5000"])
    expect_equal(edges.axis, "value (bins are drawn equally wide)")
    below, above = sum(v < 0 for v in values), sum(v >= 5000 for v in values)
    expect_equal(edges.summary, f"{len(values) - below - above:,} values in 5 bins of different widths")
    expect_equal(edges.note, f"below the bins: {styled(str(below))}; above the bins: {styled(str(above))}")
    # Few single values far apart have a bar each, with the count above it.
    statuses = [200] * 900 + [304] * 60 + [404] * 30 + [500]
    named = check(["--bins", "600"], statuses)
    expect_equal([label for _, label in named.values], ["200", "304", "404", "500"])
    expect_equal(numbers_of(named), ["900", "60", "30", "1"])
    expect_equal(check(["uniq"], statuses).values, named.values)
    expect_equal(check(["--bins", "600", "--zeros"], statuses, is_linear=True).note, "")
    # By count, in this order.
    top = check(["--width", "100", "--top", "3"], values)
    expect_equal(top.note, "only the top 3")
    check(["--width", "100", "--sort", "count", "--min-count", "2"], values)
    check(["--width", "100", "--top", "20", "--sort", "bin"], values, is_linear=True)
    check(["--log2", "--top", "5", "--sort", "bin"], values)
    other = draw(["--width", "100", "--min-count", "100", "--other"], values)
    left = sum(c for _, c, _ in rows_of(["--width", "100"], values) if c < 100)
    expect_equal(other.note, f"only counts of 100 or more; other: {styled(str(left))}")
    # Empty bins are counted as such.
    expect_equal(check(["--width", "10"], [1, 2, 35]).summary, "3 values in 4 bins of width 10, 2 of them empty")
    expect_equal(check(["--bins", "5", "--range", "0:100"], [1, 2, 35, 200]).summary,
                 "3 values in 5 bins of width 20, 3 of them empty")
    expect_equal(check(["--bins", "9", "--zeros"], [1, 2, 3, 3]).summary, "4 values, 3 distinct")
    many = draw(["--bins", "3000", "--zeros", "--sort", "count"], [*range(1500), 7])
    expect_equal(many.note, "500 bins of lower counts are not drawn; 1,500 empty bins are not drawn")
    many = draw(["--bins", "3000", "--zeros", "--sort", "count"], [7, 7, 8])
    expect_equal(many.note, "2,000 empty bins are not drawn")
    expect_equal(draw(["--decimals", "4", "--width", "0.02"], ["0.01", "0.05"]).summary,
                 "2 values in 3 bins of width 0.02, 1 of them empty")



def numbers_of(picture):
    return [e.text for e in picture.root.find(SVG + "g").findall(SVG + "text")]


def test_widths():
    """Bars have the width of their bins, those of single values at most 40 pixels; counts are above if they fit."""
    for arguments in ["uniq"], ["--width", "10"], [], ["--log2"]:
        picture = check(arguments, [5] * 1234)
        expect_equal([(int(bar.get("width")), 2 * int(bar.get("x")) + int(bar.get("width"))) for bar in picture.bars],
                     [(400, 700 + 9360)], arguments)
        expect_equal(numbers_of(picture), ["1,234"], arguments)
    for bins in 2, 9, 20, 50, 100, 140, 150, 300, 900:
        values = [i for i in range(bins) for _ in range(1 + i % 7 * 30)]
        picture = check(["uniq"], values, is_linear=True)
        space = 8660 / bins
        if space < 59:
            expect_equal(picture.root.find(SVG + "g").get("class"), "bars tips")
        for bar in picture.bars:
            width, wanted = int(bar.get("width")), min(400, max(10, space - 10 * (space > 60)))
            expect(abs(width - wanted) <= 1 or 59 <= space <= 61, bins, width, wanted)
        expect_equal(len(numbers_of(picture)) > 0, space >= 3 * 80, bins, space)


def test_counts():
    expect(not check(["uniq"], [1] * 340 + [2, 3, 4], is_linear=True).is_logarithmic)
    few = [1] * 5000 + [2] * 14 + [3] * 2
    expect(not check(["uniq"], few, is_linear=True).is_logarithmic, "logarithmic unasked")
    skewed = check(["uniq", "--log-count"], few, is_linear=True)
    expect(skewed.is_logarithmic)
    expect_equal([label for _, label in skewed.counts], [1, 10, 100, 1000])
    tops = [int(bar.get("y")) for bar in skewed.bars]
    expect(tops[0] < tops[1] < tops[2] and min(int(b.get("height")) for b in skewed.bars) > 100, tops)
    near = check(["uniq", "--log-count"], [1] * 120 + [2] * 330, is_linear=True)
    expect_equal([label for _, label in near.counts], [100, 200])
    # Shares instead of counts, on either scale.
    dice = random.Random(6)
    values = [round(dice.gauss(25, 6)) for _ in range(2345)]
    share = check(["--bins", "50", "--percent"], values, is_linear=True)
    expect("count in percent" in share.words, share.words)
    expect(re.search(">[1-9]%<", share.text), "the labels of percentages")
    check(["--bins", "50", "--percent", "--log-count"], values, is_linear=True)
    named = check(["uniq", "--percent"], [200] * 900 + [304] * 60 + [404] * 30 + [500] * 10)
    expect_equal(numbers_of(named), ["90%", "6%", "3%", "1%"])


def test_many():
    """Neighbours share bars, and the file stays small."""
    dice = random.Random(5)
    values = sorted(dice.randrange(5_000_000) for _ in range(100_000))
    for binning in ["--bins", "5M"], ["uniq"]:
        picture = draw(binning, values)
        expect_equal(picture.note, "each bar combines 5000 values")
        # Bars of less than two pixels are one outline, and their tooltips lie above it unseen.
        paths = picture.root.find(SVG + "g").findall(SVG + "path")
        expect_equal((len(paths), picture.root.find(SVG + "g").get("class")), (1, "bars tips"))
        outline = re.findall(r"([MVHz])(\d*)(?: (\d+))?", paths[0].get("d"))
        tops = [int(y) for (c, y, _), after in zip(outline, outline[1:]) if c == "V" and after[0] == "H"]
        expect_equal(tops, [int(bar.get("y")) for bar in picture.bars], "the outline")
        expect(500 < len(picture.bars) <= 1000 and len(picture.text) < 150_000, len(picture.text))
        total = 0
        for tip in picture.tips:
            low, high, count = map(int, re.fullmatch(r"(\d+)\.\.(\d+): (\d+) \(\d\.?\d*%\)", tip.replace(",", "")).groups())
            expect_equal(count, sum(low <= v < high for v in values[total:total + 2000]), tip)
            total += count
        expect_equal(total, len(values))
    edges = [i * (i + 1) for i in range(2500)]
    picture = draw(["--edges", ",".join(map(str, edges))], values[:2000])
    expect_equal(picture.note.partition(";")[0], "each bar combines 5 bins")
    order = draw(["--bins", "5M", "--sort", "count"], values)
    expect_equal(len(order.bars), 1000)
    expect_equal(order.note, f"{styled(str(len(set(values)) - 1000))} bins of lower counts are not drawn")
    expect_equal(order.tips, [f"{styled(n)}: {styled(str(c))} ({styled(p)}%)" for n, c, p in
                              rows_of(["--bins", "5M", "--top", "1000"], values)])
    expect_equal(draw(["--bins", "5M", "--top", "1500"], values).note,
                 "only the top 1,500; 500 bins of lower counts are not drawn")


def test_names():
    """Strings and IP addresses are horizontal bars, with their names, counts and percentages."""
    dice = random.Random(7)
    for kind, draw_one in (("text", lambda: "/" + "".join(dice.choice("ab<&>\"'\u00e9\u4e2da\u0301") for _ in range(
            dice.choice((0, 3, 30, 60))))), ("ip", lambda: f"10.{dice.randrange(9)}.0.{dice.randrange(300) % 256}")):
        pool = [draw_one() for _ in range(200)]
        for many in 3, 60, 2000:
            values = [dice.choice(pool[: many // 2 + 1]) for _ in range(many)]
            for more in [], ["--top", "7"], ["--top", "100"], ["--sort", "count"], ["--min-count", "3"], ["--log-count"]:
                arguments = ["uniq", "-f", f"0:{kind}", *more]
                picture = draw(arguments, values)
                rows = [line.rsplit("\t", 1) for line in gpuhist(
                    [a for a in arguments if a != "--log-count"], values).splitlines()]
                kept = sorted(range(len(rows)), key=lambda i: -int(rows[i][1]))[:50]  # stable: earlier ones first
                shown = [rows[i] for i in sorted(kept)]
                numbers = [f"{styled(n)} ({Decimal(int(n) * 100) / len(values) + Decimal('1e-9'):.1f}%)" for _, n in shown]
                expect_equal(picture.tips, [f"{name}: {number}" for (name, _), number in zip(shown, numbers)], arguments)
                group = picture.root.find(SVG + "g")
                names, counts = [e.text for e in group.findall(SVG + "text")][::2], [e.text for e in group.findall(SVG + "text")][1::2]
                expect_equal(counts, numbers, arguments)
                for name, (whole, _) in zip(names, shown):
                    head, dots, tail = name.partition("\u2026")
                    expect(name == whole or dots and whole.startswith(head) and whole.endswith(tail)
                           and abs(width_of(name) - 43) <= 2 and abs(width_of(head) - width_of(tail)) <= 3, name, whole)
                    expect(dots or width_of(whole) <= 44, name)
                widths = [int(bar.get("width")) for bar in picture.bars]
                most = max((int(n) for _, n in shown), default=1)
                if "--log-count" in more:
                    expect_equal(sorted(widths), [w for _, w in sorted(zip([int(n) for _, n in shown], widths))])
                for width, (_, n) in zip([] if "--log-count" in more else widths, shown):
                    expect(abs(width - max(widths) * int(n) / most) <= 1 or width == 10, arguments, width, n)
                left = len(rows) - len(shown)
                expect_equal(f"{left} values of lower counts are not drawn" in picture.note, left > 0, picture.note)
                expect_equal((picture.title, picture.axis), ("Count by line", "line"))
    rare = draw(["uniq", "-f", "0:text"], ["a"] * 2100 + ["b"] + ["c"] * 2)
    expect_equal(rare.tips, ["a: 2,100 (99.9%)", "b: 1 (<0.1%)", "c: 2 (0.1%)"])
    odd = draw(["uniq", "-f", "0:text", "--title", "T", "--label", "L"], "a\x1bb\n")
    expect_equal((odd.tips, odd.title, odd.axis, odd.summary), (["a?b: 1 (100.0%)"], "T", "L", "1 value"))
    expect_equal(draw(["uniq", "-f", "0:text"], "").bars, [])
    weighted = draw(["uniq", "-f", "1:text", "--weight", "2", "--top", "1", "--other"], "a 5\nb 70\na 20\n")
    expect_equal((weighted.tips, weighted.title, weighted.note),
                 (["b: 70 (73.7%)"], "Sum of field 2 by field 1", "only the top 1; other: 25"))


def width_of(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def test_empty():
    for arguments in ["--bins", "5"], [], ["--log2"], ["uniq"], ["--edges", "0,1,5"]:
        for more in [], ["--zeros"], ["--top", "3"], ["--log-count"], ["--percent", "--log-count"]:
            picture = draw([*arguments, *more], [])
            expect_equal(picture.summary.split(" in ")[0], "0 values")
            expect_equal(picture.bars, [])


def test_escaping():
    """Strings from the user: the name of a field, the title and the label."""
    for title, shown in [("a & <b> \"c\" 'd'", None), ("]]></title><script>", None), ("\x1b[31m\u4e2d\n", "?[31m\u4e2d?"),
                         ("\u00e9" * 500, None), ("", None)]:
        text = gpuhist(["uniq", "--format", "svg", "--title", title, "--label", title], [3, 3, 5])
        picture = ET.fromstring(text)
        words = [e.text or "" for e in picture.findall(SVG + "text")]
        shown = title if shown is None else shown
        expect_equal((picture.find(SVG + "title").text or "", words[0], words[-1]), (shown,) * 3)
        expect_equal(words[1], "3 values, 2 distinct")
        expect("<script" not in text, text)
    log = "at ms\n2026-11-21T10:00:00Z 5\n2026-11-21T11:00:00Z 7\n"
    for arguments, title, axis in (
            (["-f", "ms"], "Count by ms", "ms"), (["-f", "ms", "--percent"], "Percent of count by ms", "ms"),
            (["-f", "at"], "Count by at", "at"), (["-f", "1:time", "--invalid=ignore"], "Count by time", "time"),
            (["-f", "2", "--weight", "2", "--invalid=ignore"], "Sum of field 2 by field 2", "field 2"),
            (["uniq", "-f", "-1", "--invalid=ignore"], "Count by field -1", "field -1"),
            (["uniq", "-f", "ms", "--weight", "ms", "--label", "&"], "Sum of ms by &", "&")):
        picture = draw(arguments, log)
        expect_equal((picture.title, picture.axis), (title, axis))
        counted = re.fullmatch("(?:Percent of |Sum of )?(.*) by .*", title)[1]
        expect(counted.lower() + " in percent" * title.startswith("Percent") in picture.words, picture.words)
    for name, shown in [("ms", "ms"), ("<a & \"b\">'", "<a & \"b\">'"), ("\u00e9\u4e2d\U0001f600", None),
                        ("]]>&amp;<script>", None), ("a\x01b\x7f", "a?b?"), ("\u202ex\ufffe", "???x???")]:
        text = gpuhist(["-d", "|", "-f", name, "--format", "svg"], f"{name}|other\n5|6\n")
        expect_equal(ET.fromstring(text).findall(SVG + "text")[-1].text, shown or name)
        expect("<script" not in text, text)


globals()["test_" + TEST]()
