#!/usr/bin/env python3
"""Compares variants of the Ahmed body with published drags: rank correlation and slope, for each way to bound the body.

Of a data set of such bodies it takes two tables: of measures, with the columns run, body-length, body-width, body-height,
front-arc-diameter, slant-surface-length and slant-angle-degrees (millimetres, degrees), and of drags, with run and cd. AhmedML
(Ashton and others, arXiv 2407.20801, CC-BY-SA) has them as geo_parameters_all.csv and force_mom_all.csv, whose drags are for one
area of 0.112 m^2. No figure of it is in this repository. The variants are spread evenly over the published drags.

A drag is corrected for the tunnel where kftune has a rule for it. The script leaves FOLDER/variants.md, the table, and a
folder for each run; a run that is there already is not run again. With --share I/N only every N-th run is made, the I-th
first, and no table: several devices share the runs, and a last call without it makes the table.
"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys

WAYS = {
    "law": ({"boundary": "links"}, {"wall": "law"}),
    "layers": ({"boundary": "links"}, {"wall": "law", "layers": "modelled"}),
    "links": ({"boundary": "links"}, {"rates": "k17"}),
    "immersed": ({}, {}),
}
MEASURES = {"body_length": ("body-length", 1), "body_width": ("body-width", 1), "body_height": ("body-height", 1),
            "nose_radius": ("front-arc-diameter", 0.5), "slant_length": ("slant-surface-length", 1)}


def read_table(path):
    """The rows of a table by their run; blanks around names and values do not count."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = [{(key or "").strip().lower(): (value or "").strip() for key, value in row.items()} for row in csv.DictReader(file)]
    if not rows or "run" not in rows[0]:
        sys.exit(f"{path}: no column is called run")
    return {row["run"]: row for row in rows}


def number(path, row, column):
    """A finite number from a row; otherwise the program ends."""
    try:
        value = float(row[column])
    except (KeyError, ValueError):
        sys.exit(f"{path}: run {row.get('run')}: no number in the column {column}")
    if not math.isfinite(value):
        sys.exit(f"{path}: run {row['run']}: {column} is not finite")
    return value


def read_variants(said):
    """Measures in metres and published drag of each run that both tables have, by drag."""
    measures, drags = read_table(said.measures), read_table(said.drags)
    variants = []
    for run in measures.keys() & drags.keys():
        body = {key: 1e-3 * factor * number(said.measures, measures[run], column) for key, (column, factor) in MEASURES.items()}
        body["slant_angle"] = number(said.measures, measures[run], "slant-angle-degrees")
        variants.append((number(said.drags, drags[run], "cd"), run, body))
    if len(variants) < said.count:
        sys.exit(f"{said.measures}, {said.drags}: {len(variants)} runs are in both, fewer than {said.count}")
    return sorted(variants)


def spread(variants, count):
    """This number of variants, evenly spread by rank."""
    return [variants[round(i * (len(variants) - 1) / max(1, count - 1))] for i in range(count)]


def make_scene(said, body, way):
    """A scene: the body on a road that moves with the wind, in a tunnel with a blockage of about 1 %.

    A tunnel half as wide and high, with half the distance to the inflow, raises drags by 4 to 12 %.
    """
    solid, model = WAYS[way]
    boxes = {"refine": {"around": "body", "levels": said.levels}} if said.levels else {}
    return {
        "solid": {"shape": "ahmed", "stilts": said.stilts, "clearance": said.clearance, **body, **solid,
                  "anchor": "origin", "position": [2.1, 1.575, 0]},
        "domain": {"cells": [int(cells) for cells in said.grid.split("x")], "size": [6.3, 3.15, 3.15]},
        "boundaries": {"xmin": "inflow", "xmax": "outflow", "ymin": "free_slip", "ymax": "free_slip",
                       "zmin": {"type": "wall", "velocity": [said.speed, 0, 0], "specular_share": 0.5}, "zmax": "free_slip"},
        "flow": {"speed": said.speed, "viscosity": said.viscosity, "reference_area": said.area, "lattice_speed": said.lattice_speed},
        "model": {**model, "rates": "k17"} if said.levels else model,
        **boxes,
    }


def run_one(said, run, body, way):
    """The drag, its interval's half that is statistics, and the lift; None if the run failed."""
    folder = said.folder / f"{run}-{way}"
    result = folder / "run.json"
    if not result.exists():
        scene = said.folder / f"{run}-{way}.json"
        scene.write_text(json.dumps(make_scene(said, body, way)), encoding="utf-8")
        command = [said.kftune, "run", "--scene", str(scene), "--device", said.device, "--flow-throughs",
                   str(said.flow_throughs), "--every", "1000000000", "--checkpoints", "0", "--fields", "none", "--picture", "none",
                   "--output", str(folder), "--force"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            print(f"run {run}, {way}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            return None
    coefficients = json.loads(result.read_text(encoding="utf-8"))["coefficients"]
    low, high = coefficients["drag"]["interval_95"] or (None, None)
    corrected = coefficients.get("open_stream_drag", {}).get("corrected", coefficients["drag"]["mean"])
    return corrected, 0.5 * (high - low) if low is not None and high is not None else math.nan, coefficients["lift"]["mean"]


def ranks(values):
    """Ranks, equal values sharing theirs."""
    order = sorted(values)
    return [order.index(value) + 0.5 * (order.count(value) - 1) for value in values]


def slope_and_correlation(one, other):
    """Of `other` over `one`, by least squares; not a number if one of them does not vary."""
    middle = [sum(values) / len(values) for values in (one, other)]
    xx = sum((x - middle[0]) ** 2 for x in one)
    yy = sum((y - middle[1]) ** 2 for y in other)
    xy = sum((x - middle[0]) * (y - middle[1]) for x, y in zip(one, other))
    return (xy / xx, xy / math.sqrt(xx * yy)) if xx > 0 and yy > 0 else (math.nan, math.nan)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measures", help="table of measures")
    parser.add_argument("drags", help="table of drags")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--kftune", default="build/kftune")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--grid", default="384x192x192", help="with --levels the coarsest cells")
    parser.add_argument("--levels", type=int, default=0, help="of nested grids around each body")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["law", "immersed"])
    parser.add_argument("--flow-throughs", type=float, default=4)
    parser.add_argument("--speed", type=float, default=40, help="m/s")
    parser.add_argument("--viscosity", type=float, default=1.5e-5, help="m^2/s")
    parser.add_argument("--lattice-speed", type=float, default=0.08)
    parser.add_argument("--clearance", type=float, default=0.05, help="m")
    parser.add_argument("--area", type=float, default=0.112, help="m^2 that the drags are for")
    parser.add_argument("--stilts", action="store_true")
    parser.add_argument("--share", metavar="I/N", help="make the I-th of N shares of the runs and no table")
    said = parser.parse_args()
    said.folder.mkdir(parents=True, exist_ok=True)
    chosen = spread(read_variants(said), said.count)
    if said.share:
        first, step = (int(part) for part in said.share.split("/"))
        runs = [(run, body, way) for way in said.ways for _, run, body in chosen]
        sys.exit(None in [run_one(said, *one) for one in runs[first - 1::step]])
    lines = ["Drag +- statistics, lift", "", "| run | published | " + " | ".join(said.ways) + " |", "| --- | ---: |" + " ---: |" * len(said.ways)]
    got = {way: [] for way in said.ways}
    for published, run, body in chosen:
        cells = []
        for way in said.ways:
            drag = run_one(said, run, body, way)
            cells.append("-" if drag is None else f"{drag[0]:.4g} +- {drag[1]:.2g}, {drag[2]:.2f}")
            if drag is not None:
                got[way].append((published, drag[0]))
        lines.append(f"| {run} | {published:.4g} | " + " | ".join(cells) + " |")
    for way, pairs in got.items():
        if len(pairs) < 3:
            lines.append(f"\n{way}: {len(pairs)} runs, too few to compare")
            continue
        one, other = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        lines.append(f"\n{way}: {len(pairs)} runs, rank correlation {slope_and_correlation(ranks(one), ranks(other))[1]:.3f}, "
                     f"slope {slope_and_correlation(one, other)[0]:.3f}, mean ratio {sum(other) / sum(one):.3f}")
    text = "\n".join(lines) + "\n"
    (said.folder / "variants.md").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
