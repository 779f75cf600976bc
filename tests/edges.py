"""Makes `edges` in the current directory, and values with numpy's counts of them by these edges.

usage: edges.py TYPE

The values are in the files `uniform`, `near` (about the edges), `one` (all about three edges in a
row) and `skewed`, their counts in `uniform.wanted` and so on. There are more values than a CPU thread
counts before it looks bins up.
"""

import sys

import numpy as np

COUNT = 700001


def make_edges(dtype, rng):
    """Random edges, with three to six in a row here and there."""
    info = np.iinfo(dtype)
    starts = [int(edge) for edge in rng.integers(info.min, info.max - 10, 500, dtype=dtype)]
    close = [edge + i for edge in starts[:60] for i in range(1, int(rng.integers(3, 7)))]
    return np.array(sorted(set(starts + close)), dtype), np.array(starts[:60], dtype)


def make_values(kind, dtype, edges, clusters, rng):
    info = np.iinfo(dtype)
    near = rng.integers(0, 6, COUNT).astype(dtype)
    if kind == "uniform":
        return rng.integers(info.min, info.max, COUNT, dtype=dtype, endpoint=True)
    if kind == "near":
        return rng.choice(edges[2:-2], COUNT) + near - dtype.type(2)
    if kind == "one":
        return clusters[0] + near
    return (2.0**(rng.random(COUNT) * (info.bits - 2))).astype(dtype)


def main():
    name = sys.argv[1]
    dtype = np.dtype(("int" if name[0] == "i" else "uint") + name.strip("iube"))
    rng = np.random.default_rng(11)
    edges, clusters = make_edges(dtype, rng)
    for kind in "uniform", "near", "one", "skewed":
        values = make_values(kind, dtype, edges, clusters, rng)
        inside = values[(values >= edges[0]) & (values < edges[-1])]
        bins = np.searchsorted(edges, inside, side="right") - 1
        values.astype(dtype.newbyteorder(">" if name.endswith("be") else "<")).tofile(kind)
        np.bincount(bins, minlength=len(edges) - 1).astype("<u8").tofile(f"{kind}.wanted")
    with open("edges", "w", encoding="ascii") as file:
        file.writelines(f"{edge}\n" for edge in edges)


main()
