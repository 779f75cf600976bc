#!/usr/bin/env python3
"""Draws the directories of the source and the includes between them: docs/layers.svg.

usage: layers.py SOURCE-TREE >layers.svg

The order is that of tests/includes.py. The purpose of a directory is the beginning of its row in
CONTRIBUTING.md. An arrow goes down from a directory to one whose headers it includes.
"""
import pathlib
import re
import sys

TOP = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(TOP / "tests"))
sys.dont_write_bytecode = True
from includes import INCLUDE, LAYERS, layer_of  # pylint: disable=wrong-import-position

LEFT, WIDTH, HEIGHT, STEP = 20, 400, 44, 66
STYLE = """text { font: bold 14px sans-serif; fill: #1f2430; } .what { font: 12px sans-serif; fill: #4a5060; }
rect { fill: #eef2f8; stroke: #3572b0; } path { fill: none; stroke: #3572b0; stroke-opacity: 0.55; }
@media (prefers-color-scheme: dark) { text { fill: #e6e9f0; } .what { fill: #b3b9c8; } rect { fill: #1f2937; } }"""


def purposes():
    """Returns the purpose of each directory, up to the first colon, semicolon or full stop."""
    rows = re.findall(r"^\| `(?:src/)?([a-z]+)(?:\.c|/)` \| (.*) \|$", (TOP / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    return {name: re.split(r"[:;.]", text, maxsplit=1)[0].replace("`", "") for name, text in rows}


def arrows():
    """Returns the pairs of directories in which the first includes the second."""
    files = [path for folder in ("src", "cuda") for path in (TOP / folder).rglob("*") if path.suffix in (".c", ".h", ".cu", ".cuh")]
    pairs = {(layer_of(path), header.rpartition("/")[0]) for path in files for header in INCLUDE.findall(path.read_text()) if "/" in header}
    return sorted(pair for pair in pairs if pair[0] != pair[1])


def main():
    what = purposes()
    height = STEP * len(LAYERS)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{height}" viewBox="0 0 720 {height}">')
    print(f"<title>The directories of gpuhist, and what they include</title>\n<style>{STYLE}</style>")
    print('<marker id="tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" '
          'orient="auto"><path d="M0 0 L6 3 L0 6" fill="none"/></marker>')
    for layer, target in arrows():
        above, below = LAYERS.index(layer), LAYERS.index(target)
        begin, end = above * STEP + 34, below * STEP + 22  # after the middle of one, before that of the other
        reach = LEFT + WIDTH + 30 * (below - above)
        print(f'<path d="M{LEFT + WIDTH} {begin} C{reach} {begin} {reach} {end} {LEFT + WIDTH + 4} {end}" '
              f'marker-end="url(#tip)"><title>{layer} includes {target}</title></path>')
    for i, layer in enumerate(LAYERS):
        name = {"main": "src/main.c", "cuda": "cuda/"}.get(layer, f"src/{layer}/")
        print(f'<rect x="{LEFT}" y="{i * STEP + 6}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
              f'<text x="{LEFT + 14}" y="{i * STEP + 33}">{name}</text>'
              f'<text class="what" x="{LEFT + 130}" y="{i * STEP + 33}">{what[layer]}</text>')
    print("</svg>")


if __name__ == "__main__":
    main()
