"""Corrupts a compressed file in every way, and checks the output of decode_file.

usage: decoder.py DECODE_FILE FORMAT cut PLAIN FILE [END]...   cut at every byte
       decoder.py DECODE_FILE FORMAT flip PLAIN FILE [TOOL]... every bit flipped

PLAIN is the decoded FILE. A file cut at an END is complete; any other cut is an error, after the
beginning of the data is printed. A flipped bit is an error, or the data are right: the number of such
bits is printed. TOOL, a command that decodes its standard input, must agree.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

SHARE = int(os.environ.get("SHARE", "1"))  # the tool tests one in SHARE flips
BATCH = 500  # maximum number of files per process


def outcome(name):
    """Returns the status and the output of a decoded file; checks its messages."""
    status = int(pathlib.Path(f"{name}.status").read_text())
    told = pathlib.Path(f"{name}.err").read_bytes()
    is_right = told == b"" if status == 0 else \
        status == 1 and told.startswith(b"gpuhist: %s: " % name.encode()) and \
        told.count(b"\n") == 1 and told.endswith(b"\n")
    return status if is_right else f"{status}, {told}", pathlib.Path(f"{name}.out").read_bytes()


def decode_all(decode_file, form, variants):
    """Returns the status and the output of each, in pieces of 7."""
    names = [f"damaged{i}" for i in range(len(variants))]
    for name, data in zip(names, variants):
        pathlib.Path(name).write_bytes(data)
    batches = -(-len(names) // BATCH)
    for i in range(batches):
        done = subprocess.run([decode_file, form, "0", "7", "7", *names[i::batches]], timeout=60,
                              check=False)
        if done.returncode:
            sys.exit(f"decode_file ends with status {done.returncode}")
    return [outcome(name) for name in names]


def check_cuts(outcomes, plain, ends):
    for n, (status, output) in enumerate(outcomes):
        wanted = 0 if n in (0, *ends) else 1
        if status != wanted or not plain.startswith(output):
            sys.exit(f"cut at {n}: status {status} for {wanted}, output {output}")


def takes(tool, data):
    """Returns whether the tool decodes these bytes without an error."""
    done = subprocess.run(tool, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          timeout=60, check=False)
    return done.returncode == 0


def check_flips(outcomes, plain, variants, tool):
    harmless = 0
    for bit, (status, output) in enumerate(outcomes):
        if status not in (0, 1) or (status == 0 and output != plain):
            sys.exit(f"bit {bit % 8} of byte {bit // 8}: status {status}, output {output}")
        if tool and bit % SHARE == 0 and takes(tool, variants[bit]) != (status == 0):
            sys.exit(f"bit {bit % 8} of byte {bit // 8}: status {status}, not as {tool[0]} has it")
        harmless += status == 0
    print(harmless)


def flipped(data, bit):
    data = bytearray(data)
    data[bit // 8] ^= 1 << bit % 8
    return bytes(data)


def main():
    decode_file, form, how, plain, file, *rest = sys.argv[1:]
    plain, data = (pathlib.Path(name).read_bytes() for name in (plain, file))
    variants = [data[:n] for n in range(len(data))] if how == "cut" else \
        [flipped(data, bit) for bit in range(8 * len(data))]
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        outcomes = decode_all(decode_file, form, variants)
        os.chdir("/")
    if how == "cut":
        check_cuts(outcomes, plain, [int(end) for end in rest])
    else:
        check_flips(outcomes, plain, variants, rest)


main()
