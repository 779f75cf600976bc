#!/usr/bin/env python3
"""Checks that #include goes down the list of rooms alone, and prints each one that does not.

usage: includes.py SOURCE-TREE

A file of src/ and cuda/ may include headers of its own room and of the rooms below it, written with
their folder: "input/source.h". There are no exceptions: src/main.c stands above all rooms, and
app/ is the one room from which cuda/ can be named.
"""
import pathlib
import re
import sys

# From the top down.
ROOMS = ["main", "app", "print", "plot", "exec", "cuda", "ops", "cpu", "engine", "count",
         "partial", "table", "input", "decoder", "text", "job", "output", "base"]
# The rooms whose files may name cuda/.
ABOVE_CUDA = {"app", "cuda"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def room_of(path):
    """The room that a file lies in: its folder, for src/main.c its name."""
    return "main" if path.parent.name == "src" else path.parent.name


def find_fault(top, room, header):
    """What is wrong with including the header from that room, or None."""
    target = header.rpartition("/")[0]
    if target not in ROOMS:
        return "not written with its room"
    if not any((folder / header).exists() for folder in (top, top / "src")):
        return "no such file"
    if ROOMS.index(target) < ROOMS.index(room):
        return f"goes up, from {room} to {target}"
    if target == "cuda" and room not in ABOVE_CUDA:
        return f"{room} may not know cuda"
    return None


def main():
    top = pathlib.Path(sys.argv[1])
    files = sorted(path for folder in ("src", "cuda") for path in (top / folder).rglob("*")
                   if path.suffix in (".c", ".h", ".cu", ".cuh"))
    if not files:
        sys.exit(f"includes.py: no source files in {top}")
    faults = 0
    for path in files:
        for header in INCLUDE.findall(path.read_text()):
            fault = header != "config.h" and find_fault(top, room_of(path), header)
            if fault:
                print(f'{path.relative_to(top)}: #include "{header}": {fault}')
                faults += 1
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
