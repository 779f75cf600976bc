#!/usr/bin/env python3
"""Checks that includes only go down the list of directories, and prints each one that does not.

usage: includes.py SOURCE-TREE

A file of src/ and cuda/ may include headers of its own directory and of lower ones, written with
their directory: "input/source.h". There are no exceptions: src/main.c is above all directories, and
only app/ can include cuda/.
"""
import pathlib
import re
import sys

# From the top down.
LAYERS = ["main", "cli", "result", "cuda", "engine", "aggregate", "input", "text", "value", "lib"]
# The directories whose files may include cuda/.
ABOVE_CUDA = {"cli", "cuda"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def layer_of(path):
    """Returns the directory of a file, for src/main.c its name."""
    return "main" if path.parent.name == "src" else path.parent.name


def find_fault(top, layer, header):
    """Returns the error in including the header from that layer, or None."""
    target = header.rpartition("/")[0]
    if target not in LAYERS:
        return "not written with its directory"
    if not any((folder / header).exists() for folder in (top, top / "src")):
        return "no such file"
    if LAYERS.index(target) < LAYERS.index(layer):
        return f"goes up, from {layer} to {target}"
    if target == "cuda" and layer not in ABOVE_CUDA:
        return f"{layer} may not know cuda"
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
            fault = header != "config.h" and find_fault(top, layer_of(path), header)
            if fault:
                print(f'{path.relative_to(top)}: #include "{header}": {fault}')
                faults += 1
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
