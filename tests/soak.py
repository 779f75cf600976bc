#!/usr/bin/env python3
"""Draws the cases of laws.py for SECONDS seconds, and shrinks those that fail.

usage: soak.py GPUHIST SECONDS [SEED [LAW]]

Each case is a law and a number, from SEED on. A failing case is tried again with fewer rows and
conditions, read in a plain way, as long as it fails. Its shortest command is printed with the arguments
that draw it again. Its files stay in the working directory. Ends with status 1 if a case failed.

A sanitizer that ends the program is a failure like any other: a soak of such a build needs no more.
"""
import os
import random
import sys
import tempfile
import time

import laws

SHRINK_SECONDS = 60  # for each case that fails


def try_case(gpuhist, law, number, limits):
    """Returns the reason of the case's failure, or None."""
    laws.LIMITS.clear()
    laws.LIMITS.update(limits)
    try:
        laws.run_case(gpuhist, law, number)
    except laws.Failure as failure:
        return str(failure)
    except (AssertionError, ArithmeticError, LookupError, ValueError) as error:  # unreadable output
        return f"{type(error).__name__}: {error}"
    return None


def count_rows(law, number):
    if law == "read":
        return 60
    return len(laws.draw_table(random.Random(f"{law} {number}")).rows)


def shrink(gpuhist, law, number, reason):
    """Shrinks a failing case. Returns its limits, and the reason of its failure."""
    ends = time.monotonic() + SHRINK_SECONDS
    laws.LIMITS.clear()
    best, rows = {}, list(range(count_rows(law, number)))

    def accept(limits):
        nonlocal best, reason
        found = try_case(gpuhist, law, number, limits)
        if found:
            best, reason = limits, found
        return bool(found)

    for more in ({"way": "file"}, {"how": ["--threads", "1"]}, {"conditions": 0}, {"conditions": 1}):
        if not set(more) & set(best):
            accept({**best, **more})
    size = max(1, len(rows) // 2)
    while rows and time.monotonic() < ends:  # omits this many rows at a time
        at, left_out = 0, False
        while at < len(rows) and time.monotonic() < ends:
            fewer = rows[:at] + rows[at + size:]
            if accept({**best, "rows": fewer}):
                rows, left_out = fewer, True
            else:
                at += size
        if size == 1 and not left_out:
            break
        size = max(1, min(size // 2, len(rows)))
    return best, reason


def main():
    gpuhist, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else random.randrange(10**9)
    names = [sys.argv[4]] if len(sys.argv) > 4 and sys.argv[4] else list(laws.CHECKS)
    print(f"soak.py: seed {seed}", flush=True)
    ends, cases, failed = time.monotonic() + seconds, 0, 0
    top = os.getcwd()
    while time.monotonic() < ends:
        law, number = names[cases % len(names)], seed + cases // len(names)
        with tempfile.TemporaryDirectory(prefix="soak.") as place:
            os.chdir(place)
            reason = try_case(gpuhist, law, number, {})
            os.chdir(top)
        cases += 1
        if not reason:
            continue
        failed += 1
        place = os.path.join(top, f"soak.{law}.{number}")
        os.makedirs(place, exist_ok=True)
        os.chdir(place)
        limits, reason = shrink(gpuhist, law, number, reason)
        for name in os.listdir("."):
            os.unlink(name)
        reason = try_case(gpuhist, law, number, limits) or reason
        os.chdir(top)
        print(f"soak.py: laws.py {law} {number} 1 fails; with {limits}, in {place}:\n{reason[:4000]}\n", flush=True)
    print(f"soak.py: {cases} cases from seed {seed}, {failed} failed", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
