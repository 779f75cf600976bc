#!/usr/bin/env python3
"""Prints functions and macros over 100 lines, lines over 100 columns, files that do not begin with a
comment, places outside the table of kinds that name a kind, and comparisons with an output format.

usage: style.py SOURCE-TREE [FOLDER...]        (default: src cuda tests/unit)

Relies on .clang-format: only the braces of a function are on separate lines of the same
indentation. A function's lines include its declaration.
"""
import pathlib
import re
import sys

LINES_MAX = 100
COLUMNS_MAX = 100
# The table, and the code that gives the kind of numbers without a column.
KINDS_ARE_NAMED = ("src/value/kind.h", "src/value/kind.c", "src/cli/options_columns.c")
BEFORE_DECLARATION = re.compile(r"^$|^\s*#|[;}\\]$|\*/$|^\s*//")


def find_functions(lines):
    """Yields the first line and the number of lines of each function."""
    for brace, line in enumerate(lines):
        if line.strip() == "{":
            first = brace
            while first > 0 and not BEFORE_DECLARATION.search(lines[first - 1]):
                first -= 1
            end = line.replace("{", "}")
            last = next(i for i in range(brace, len(lines)) if lines[i].startswith(end))
            yield "function", first + 1, last - first + 1


def find_macros(lines):
    """Yields the first line and the number of lines of each macro."""
    for first, line in enumerate(lines):
        if re.match(r"\s*#\s*define\b", line):
            last = next(i for i in range(first, len(lines)) if not lines[i].endswith("\\"))
            yield "macro", first + 1, last - first + 1


def find_kinds(lines):
    """Yields the lines that name a row of the table of kinds: other code asks for properties of a kind."""
    for number, line in enumerate(lines, 1):
        for name in re.findall(r"\bKIND_(?:INT|HEX|FIXED|TIME|LOCAL_TIME|IP|TEXT)\b", line):
            yield number, f"{name} outside the table of kinds"


def find_formats(lines):
    """Yields the lines that compare the output format: other code asks for properties of a format."""
    for number, line in enumerate(lines, 1):
        if re.search(r"[=!]= &print_[a-z]+\b", line):
            yield number, "a comparison with a format"


def find_faults(path, text):
    lines = text.split("\n")
    if path.parts[0] in ("src", "cuda") and path.as_posix() not in KINDS_ARE_NAMED:
        yield from find_kinds(lines)
    yield from find_formats(lines)
    if not re.match(r"/\*\s*\S", text):
        yield 1, "no comment that says what the file is for"
    yield from ((number, f"{len(line)} columns") for number, line in enumerate(lines, 1)
                if len(line) > COLUMNS_MAX)
    yield from ((first, f"{what} of {count} lines")
                for what, first, count in [*find_functions(lines), *find_macros(lines)]
                if count > LINES_MAX)


top = pathlib.Path(sys.argv[1])
files = [path for folder in sys.argv[2:] or ["src", "cuda", "tests/unit"]
         for path in sorted((top / folder).rglob("*")) if path.suffix in (".c", ".h", ".cu", ".cuh")]
faults = [f"{path.relative_to(top)}:{line}: {fault}" for path in files
          for line, fault in find_faults(path.relative_to(top), path.read_text())]
if not files:
    faults.append(f"style.py: no source files in {top}")
listed = set(re.findall(r"[\w./]+\.\w+", (top / "Makefile.am").read_text()))
faults += [f"{path.relative_to(top)}: not in Makefile.am" for path in files
           if path.parts[len(top.parts)] == "src" and path.relative_to(top).as_posix() not in listed]
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
