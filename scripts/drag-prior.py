#!/usr/bin/env python3
"""Learns the error of the drag that a grid causes from flows whose drag is known, for accuracy/drag-prior.json.

usage: scripts/drag-prior.py accuracy/learnt.csv >accuracy/drag-prior.json

Rows are those of scripts/gpu/coverage.sh. A row needs so much of the grid's part that, with its tunnel's and its
statistics' parts added by squares, its interval just reaches the truth. The part is factor cells^-a max(1, y+)^b of the
drag, with the powers among a few for which the rows' parts are narrowest in the mean, and the factor that 95 of 100 rows
need at least. Rows that have not settled teach nothing.
"left_out" has, for each flow and for each kind of body, what is learnt without it: coverage is judged with these.
"""
import csv
import json
import math
import sys

SHARE = 0.95
LEAST = 0.005  # published values differ from each other by this much
CELLS_POWERS = [0.5, 1.0, 1.5, 2.0]  # a finer grid always has a smaller error
Y_PLUS_POWERS = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]


def number(row, key):
    return float(row[key]) if row[key] else 0.0


def needed(row):
    """Half of the grid's interval that reaches the truth, as a share of the drag."""
    published = row["how"] == "published"
    drag = number(row, "corrected" if published else "raw")
    off = abs(number(row, "answer") - drag)
    others = number(row, "statistics") ** 2 + (number(row, "tunnel") ** 2 if published else 0.0)
    return max(LEAST, math.sqrt(max(0.0, off * off - others)) / abs(drag))


def learn(rows):
    best = None
    for a in CELLS_POWERS:
        for b in Y_PLUS_POWERS:
            shapes = [number(r, "across") ** -a * max(1.0, number(r, "y_plus")) ** b for r in rows]
            scores = sorted(needed(r) / shape for r, shape in zip(rows, shapes))
            place = math.ceil(SHARE * len(scores))
            factor = scores[place - 1]
            width = factor * sum(shapes)
            if best is None or width < best[0] - 1e-12:
                best = (width, factor, a, b)
    return {"factor": round(best[1], 4), "cells_power": best[2], "y_plus_power": best[3]}


def main():
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["settled"] == "true" or row["statistics"]]
    prior = learn(rows)
    prior["least_cells_across"] = math.floor(10 * min(number(r, "across") for r in rows)) / 10
    prior["most_cells_across"] = max(number(r, "across") for r in rows)
    prior["most_y_plus"] = max(number(r, "y_plus") for r in rows)
    prior["flows"] = len({r["flow"] for r in rows})
    prior["rows"] = len(rows)
    prior["left_out"] = {f: learn([r for r in rows if r["flow"] != f]) for f in sorted({r["flow"] for r in rows})}
    prior["left_out_kind"] = {k: learn([r for r in rows if r["kind"] != k]) for k in sorted({r["kind"] for r in rows})}
    lines = []
    for key, value in prior.items():
        if isinstance(value, dict):
            inner = ",\n".join(f'    "{name}": {json.dumps(one)}' for name, one in value.items())
            lines.append(f'  "{key}": {{\n{inner}\n  }}')
        else:
            lines.append(f'  "{key}": {json.dumps(value)}')
    print("{\n" + ",\n".join(lines) + "\n}")


main()
