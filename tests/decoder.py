"""Damages a compressed file in every way, and looks at what decode_file then says.

usage: decoder.py DECODE_FILE FORMAT cut PLAIN FILE [END]...   cut at every byte
       decoder.py DECODE_FILE FORMAT flip PLAIN FILE [TOOL]... every bit flipped

PLAIN is what FILE decodes to. Cut at an END a file is whole; else it is an error, and what is printed
before is the beginning of the data. A flipped bit is an error, or the data are right: how many such
there are is printed. TOOL, a command that decodes its standard input, has to say the same.
"""

import pathlib
import subprocess
import sys


def decode(decode_file, form, data):
    """The status and the output for these bytes, in pieces of 7; what is told is looked at here."""
    pathlib.Path("damaged").write_bytes(data)
    done = subprocess.run([decode_file, form, "0", "7", "7", "damaged"], capture_output=True,
                          timeout=60, check=False)
    told = done.stderr
    is_right = told == b"" if done.returncode == 0 else \
        done.returncode == 1 and told.startswith(b"gpuhist: damaged: ") and told.count(b"\n") == 1 \
        and told.endswith(b"\n")
    return done.returncode if is_right else f"{done.returncode}, {told}", done.stdout


def check_cuts(decode_file, form, plain, data, ends):
    for n in range(len(data)):
        status, output = decode(decode_file, form, data[:n])
        wanted = 0 if n in (0, *ends) else 1
        if status != wanted or not plain.startswith(output):
            sys.exit(f"cut at {n}: status {status} for {wanted}, output {output}")


def takes(tool, data):
    """Whether the tool decodes these bytes without complaint."""
    done = subprocess.run(tool, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          timeout=60, check=False)
    return done.returncode == 0


def check_flips(decode_file, form, plain, data, tool):
    harmless = 0
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        status, output = decode(decode_file, form, flipped)
        if status not in (0, 1) or (status == 0 and output != plain):
            sys.exit(f"bit {bit % 8} of byte {bit // 8}: status {status}, output {output}")
        if tool and takes(tool, flipped) != (status == 0):
            sys.exit(f"bit {bit % 8} of byte {bit // 8}: status {status}, not as {tool[0]} has it")
        harmless += status == 0
    print(harmless)


def main():
    decode_file, form, how, plain, file, *rest = sys.argv[1:]
    plain, data = (pathlib.Path(name).read_bytes() for name in (plain, file))
    if how == "cut":
        check_cuts(decode_file, form, plain, data, [int(end) for end in rest])
    else:
        check_flips(decode_file, form, plain, data, rest)


main()
