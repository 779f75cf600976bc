#!/usr/bin/python3
"""Format html: a page whose table has the cells of csv, with markup in names, that loads no other files.

usage: html_page.py GPUHIST [SEED] or html_page.py --page FILE COLUMN

The second form reads the page, with a click on that header at its end, to sort in a browser.
"""
import collections
import csv
import html.parser
import random
import subprocess
import sys
import tempfile

VOID = {"meta"}
NASTY = ["<b>bold</b>", "a&amp;b", "</td><script>alert(1)</script>", "\"quoted\"", "it's", "é", "x", "</table>", "a<!--b"]


class Page(html.parser.HTMLParser):
    """The elements, which must be closed in order, and the cells of the table."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.tags = []
        self.attributes = []
        self.rows = []
        self.texts = {"title": [], "pre": []}
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag in self.texts:
            self.texts[tag].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.open)

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        if self.open and self.open[-1] in self.texts:
            self.texts[self.open[-1]][-1] += data


def run(program, words, form):
    return subprocess.run([program, *words, "--format", form], stdout=subprocess.PIPE, check=True).stdout.decode()


def main(program, seed):
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/it's <in>&.csv"
        name = draw.choice(["<i>ms</i>", "ms & \"s\"", "ms"])
        with open(path, "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow([name, "path", "status", "at"])
            for _ in range(draw.randrange(1, 60)):
                writer.writerow([draw.randrange(-50, 2000), draw.choice(NASTY), draw.choice([200, 404]),
                                 f"2026-11-21T10:{draw.randrange(60):02}:00Z"])
        quoted = '"' + name.replace('"', '""') + '"'
        for words, pictures in (
                (["uniq", "-f", quoted], 1), (["histogram", "-f", quoted, "--width", "100"], 1),
                (["uniq", "-f", quoted, "--top", "3", "--percent"], 1), (["uniq", "-f", "path:text"], 1),
                (["uniq", "-f", "at:time/5m"], 1), (["uniq", "-f", "path:text", "--by", "status"], 0),
                (["uniq", "-f", quoted, "--quantiles", "50,99"], 0), (["histogram", "-f", "status", "--by", "path"], 0),
                (["reduce", "sum,max", "-f", quoted + ",status"], 0), (["reduce", "count,p50", "-f", quoted, "--by", "path"], 0),
                (["count", "--ge", "5", "--all", "-f", quoted], 0), (["histogram", "--log2", "-f", quoted], 1),
                (["uniq", "-f", "status", "--by", quoted], 1), (["histogram", "-f", quoted, "--by", "at:time/5m"], 1),
                (["histogram", "-f", quoted, "--by", "status", "--zeros", "--width", "50", "--percent"], 1),
                (["uniq", "-f", quoted, "--by", "status,path"], 0), (["uniq", "-f", quoted, "--by", "status", "--top", "2"], 0),
                (["uniq", "-f", "status", "--by", quoted, "--cumulative"], 1), (["uniq", "-f", quoted, "--cumulative"], 1),
                (["uniq", "-f", "-4", "--by", "3", "--header"], 1), (["uniq", "-f", "1", "--header"], 1),
                (["uniq", "-f", quoted, "--title", "</title><b>T", "--where", "path!=<b>"], 1)):
            words = [*words, "--csv", path]
            plain = [word for i, word in enumerate(words) if "--title" not in words[max(0, i - 1):i + 1]]
            text = run(program, words, "html")
            page = Page(text)
            rows = list(csv.reader(run(program, plain, "csv").splitlines()))
            assert page.rows[1:] == rows[1:], words
            if words[0] == "uniq" and "--quantiles" not in words:  # values are called as in the image
                label = words[words.index("-f") + 1].split(":")[0]
                label = name if label in (quoted, "1", "-4") else label
                rows[0] = [{"value": label, "by": "status"}.get(column, column) for column in rows[0]]
            assert page.rows[0] == rows[0], (words, page.rows[0], rows[0])
            if pictures:  # the same as in a separate file
                alone = [word for word in words if word != "--cumulative"]
                assert run(program, alone, "svg") in text, words
            tags = set(page.tags)
            assert tags <= {"html", "head", "meta", "style", "title", "body", "pre", "table", "thead", "tbody", "tr", "th",
                            "td", "script", "svg", "rect", "text", "path", "g"}, tags
            assert page.tags.count("svg") == pictures and page.tags.count("script") == 1, (words, page.tags)
            assert page.tags.count("table") == page.tags.count("tbody") == 1
            assert not [value for key, value in page.attributes if key in ("src", "href") or key.startswith("on")]
            shell = subprocess.run(["sh", "-c", "gpuhist() { printf '%s\\n' \"$@\"; }\n" + page.texts["pre"][0]],
                                   stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")[:-1]
            assert sorted(shell) == sorted([*words, "--format", "html"]), shell
            if "--title" in words:
                assert page.texts["title"][0] == "</title><b>T"
        # bytes that are not text, and characters that HTML does not support
        texts = [b"a\x80b", b"c\x01d", *(f"e{c}f".encode() for c in "\x7f\x85\ufffe\uffff\U0001fffe\U0010ffff\ufdd0\ufdef"), b"g\xed\xa0\x80h"]
        with open(path, "wb") as out:
            out.write(b"\n".join(texts) + b"\n")
        page = Page(run(program, ["uniq", "-f", "1:text", "--text", path], "html"))
        wanted = collections.Counter(["a\ufffdb", "c\ufffdd", *["e\ufffdf"] * 8, "g\ufffd\ufffd\ufffdh"])
        assert collections.Counter(row[0] for row in page.rows[1:]) == wanted, page.rows


def click(path, column):
    """Prints the page with a click on a header, and then its first column as one line."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    print(text.replace("</body>", f"<script>heads[{column}].click();heads[{column}].click();document.title="
                       "[...table.tBodies[0].rows].map(row=>row.cells[0].textContent).join()</script></body>"))


if __name__ == "__main__":
    if sys.argv[1] == "--page":
        click(sys.argv[2], sys.argv[3])
    else:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
