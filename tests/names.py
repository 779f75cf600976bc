"""Misspelt columns: compares gpuhist's suggestion from a random header with Python's.

usage: names.py GPUHIST RUNS SEED

The distance is computed by recursion from its definition: letters inserted, deleted or replaced, and
neighbours exchanged, none of them twice.
"""
import functools
import random
import re
import subprocess
import sys


def distance(a, b):
    @functools.lru_cache(maxsize=None)
    def of(i, j):
        if i == 0 or j == 0:
            return i + j
        found = [of(i - 1, j) + 1, of(i, j - 1) + 1, of(i - 1, j - 1) + (a[i - 1] != b[j - 1])]
        if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            found.append(of(i - 2, j - 2) + 1)
        return min(found)
    return of(len(a), len(b))


def meant(typed, names):
    """Returns the nearest name, if one is near; otherwise None."""
    limit = 0 if len(typed) < 2 else 1 if len(typed) < 5 else 2
    near = [(distance(typed.lower(), name.lower()), i) for i, name in enumerate(names)]
    return names[min(near)[1]] if min(near)[0] <= limit else None


def misspell(rng, name):
    letters = list(name)
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        place = rng.randrange(len(letters) + 1)
        change = rng.randrange(4)
        if change == 0:
            letters.insert(place, rng.choice("abAB_"))
        elif change == 1 and place < len(letters) > 1:
            del letters[place]
        elif change == 2 and place < len(letters):
            letters[place] = rng.choice("abAB_")
        elif place + 1 < len(letters):
            letters[place:place + 2] = letters[place + 1], letters[place]
    return "".join(letters)


def main():
    gpuhist, runs, rng = sys.argv[1], int(sys.argv[2]), random.Random(int(sys.argv[3]))
    hints = 0
    for _ in range(runs):
        names = ["".join(rng.choices("abAB_cd", k=rng.randint(1, 10))) for _ in range(rng.randint(1, 5))]
        typed = misspell(rng, rng.choice(names))
        if typed in names:
            continue
        done = subprocess.run([gpuhist, "reduce", "sum", "--csv", "-f", typed], input=",".join(names) + "\n",
                              capture_output=True, text=True, check=False)
        said = re.fullmatch(r"gpuhist: standard input: unknown column '(.*?)': the header is '(.*?)'"
                            r"(?: \(did you mean '(.*)'\?\))?\n", done.stderr)
        if done.returncode != 1 or not said or said[1] != typed or said[2] != ",".join(names):
            sys.exit(f"{typed} in {names}: status {done.returncode}, {done.stderr!r}")
        if said[3] != meant(typed, names):
            sys.exit(f"{typed} in {names}: gpuhist has {said[3]}, Python {meant(typed, names)}")
        hints += said[3] is not None
    if hints < runs / 10:
        sys.exit(f"only {hints} hints")


main()
