#!/usr/bin/env python3
"""Holds what a run of a flow around a solid writes against itself. Faults: a number of run.json or a column of
forces.csv that disagrees with the others, in another unit, along another axis, of another row or of one solid of several.
usage: run-check.py FOLDER..., each with run.json; the tables of sweeps above them are held against their runs, too."""
import csv
import json
import math
import os
import sys


def near(a, b, relative=3e-6, least=1e-9):
    return abs(a - b) <= relative * max(abs(a), abs(b)) + least


def mean(values):
    return sum(values) / len(values)


def check_numbers(run, say):
    facts, rate = run["facts"], run["steps_per_second"]
    say(run["steps"] == run["last_step"] - run["first_step"], "steps are not the last less the first")
    say(near(run["steps"], rate * run["seconds"]), "steps a second are not steps over seconds")
    if run["update"] == "node":
        say(near(run["mlups"], 1e-6 * run["updates_per_second"]), "mlups are not a millionth of updates a second")
        if "finer_levels" not in facts:
            nodes = facts["size_x"] * facts["size_y"] * facts.get("size_z", 1)
            say(nodes == facts["node_count"] and near(run["updates_per_second"], nodes * rate),
                "updates a second are not nodes times steps a second")
    moved = run.get("coefficients") or {}
    if "simulated_s" in moved:
        say(near(moved["simulated_s"], facts["time_step"] * moved["to_step"]),
            "simulated seconds are not steps times the time step")


def check_forces(run, rows, say):
    to, last = run["columns_refer_to"], rows[-1]
    said = run["records"]["forces"]
    if list(said) != list(last):
        say(False, "records have other columns than forces.csv")
        return
    for name, value in said.items():
        say(value is None and math.isnan(last[name]) or value is not None and near(value, last[name]),
            "the last row's %s is %s, and %s in run.json" % (name, last[name], value))
    unit = to["cell_size"] ** 4 / to["time_step"] ** 2
    pressure = 0.5 * to["reference_speed"] ** 2 * to["reference_area"]
    for number, row in enumerate(rows):
        at = "step %d: " % row["step"]
        if number > 0:
            say(row["step"] > rows[number - 1]["step"], at + "follows step %d" % rows[number - 1]["step"])
        say(near(row["time_s"], row["step"] * to["time_step"]), at + "time is not step times time step")
        force = [row["force_%s_m4_s2" % a] for a in "xyz"]
        for a, value in zip("xyz", force):
            say(near(value, unit * row["lattice_force_" + a], 3e-6, 1e-7 * abs(force[0])), at + "force along %s" % a)
        # Whatever the wind's direction, drag, lift and side force are the same vector, and so are moments.
        if pressure == 0.0:
            continue
        size = math.hypot(*force) / pressure
        parts = [row[name + "_coefficient"] for name in ("drag", "lift", "side")]
        body = [row["body_drag_coefficient"], row["lift_coefficient"], row["body_side_coefficient"]]
        moments = [row[name + "_moment_coefficient"] for name in ("roll", "pitch", "yaw")]
        torque = [row["torque_%s_m5_s2" % a] for a in "xyz"]
        say(near(math.hypot(*parts), size), at + "drag, lift and side force are not the force")
        say(near(math.hypot(*body), size), at + "the forces along the body are not the force")
        say(near(math.hypot(*moments), math.hypot(*torque) / pressure / to["reference_length"], 1e-4, 1e-6),
            at + "roll, pitch and yaw moment are not the torque")
    for name in ("drag", "lift") if rows[0]["step"] == 1 and pressure > 0.0 else ():
        values = [row[name + "_coefficient"] for row in rows]
        for n in range(1, len(rows) + 1):
            later = mean(values[n // 2:n])
            say(near(rows[n - 1][name + "_running_mean"], later, 1e-5, 1e-7 * abs(values[0])),
                "running mean of %s at row %d: %.9g, not %.9g" % (name, n, rows[n - 1][name + "_running_mean"], later))


def check_coefficients(run, rows, say):
    c = run["coefficients"]
    within = [row for row in rows if c["from_step"] <= row["step"] <= c["to_step"]]
    for name in ("drag", "lift", "side"):
        values = [row[name + "_coefficient"] for row in within]
        spread = math.sqrt(mean([(v - mean(values)) ** 2 for v in values]))
        say(near(c[name]["mean"], mean(values), 1e-5, 1e-8), "the mean of %s is not that of its rows" % name)
        low, high = c[name]["interval_95"] or (c[name]["mean"], c[name]["mean"])
        say(near(0.5 * (low + high), c[name]["mean"], 1e-6, 1e-9), "the mean of %s is not amid its interval" % name)
        say(near(c[name]["rms"], spread, 1e-5, 1e-8), "the rms of %s" % name)
    body = c["body_axes"]
    say(body["lift"] == c["lift"], "the lift along the body is not the lift")
    say(body["yaw_degrees"] != 0.0 or body["drag"] == c["drag"] and body["side"] == c["side"],
        "without yaw the body's forces are not the wind's")
    say(near(math.hypot(body["drag"]["mean"], body["side"]["mean"]), math.hypot(c["drag"]["mean"], c["side"]["mean"])),
        "the mean forces along the body are not those along the wind")
    say(near(c["reference_area_m2"], run["columns_refer_to"]["reference_area"]), "another area of reference")
    say(near(c["speed_m_s"], run["columns_refer_to"]["reference_speed"]), "another speed of reference")
    facts, to = run["facts"], run["columns_refer_to"]
    if "viscosity" in facts:
        viscosity = facts["viscosity"] * to["cell_size"] ** 2 / to["time_step"]
        say(near(c["reynolds"], c["speed_m_s"] * to["reference_length"] / viscosity, 1e-4), "the Reynolds number")
    say(near(c["reynolds"], facts["reynolds"], 1e-5), "another Reynolds number")
    say(near(facts["cell_size"], to["cell_size"]) and near(facts["time_step"], to["time_step"]), "other units in the facts")
    finest = to["cell_size"] / 2 ** facts.get("finer_levels", 0)
    say(near(c["cells_a_length"], to["reference_length"] / finest), "cells a length")
    drag = c.get("open_stream_drag")
    if drag:
        say(near(drag["raw"], c["drag"]["mean"]), "the raw drag is not the mean")
        known = [p["half_of_interval_95"] for p in drag["parts"].values() if p["half_of_interval_95"] is not None]
        if known:
            whole = drag["half_of_interval_95"]
            say(whole is not None and max(known) * 0.999999 <= whole <= sum(known) * 1.000001, "the drag's interval is not of its parts")
        say(drag["complete"] == (len(known) == len(drag["parts"])), "whether the interval is complete")


def half_of(interval):
    return math.nan if interval is None else 0.5 * (interval[1] - interval[0])


def unknown(value):
    return math.nan if value is None else value


def alike(a, b):
    return math.isnan(a) and math.isnan(b) or near(a, b, 1e-5, 1e-12)


def row_of(run):
    """The columns of a sweep's table, from its run's record."""
    c = run["coefficients"]
    drag, parts = c["open_stream_drag"], c["open_stream_drag"]["parts"]
    row = {"settled": c["settled"], "flow_throughs": c["flow_throughs"], "reference_area_m2": c["reference_area_m2"],
           "speed_m_s": c["speed_m_s"], "reynolds": c["reynolds"], "cells_a_length": c["cells_a_length"],
           "body_drag": c["body_axes"]["drag"]["mean"], "body_side": c["body_axes"]["side"]["mean"],
           "open_stream_drag": drag["corrected"]}
    for name in ("drag", "lift", "side"):
        row[name] = c[name]["mean"]
        row[name + "_half_of_interval_95"] = half_of(c[name]["interval_95"])
    for name in ("statistics", "grid", "tunnel"):
        row["half_" + name] = unknown(parts[name]["half_of_interval_95"])
    whole = [row["half_" + name] for name in ("statistics", "grid", "tunnel")]
    row["open_stream_half"] = math.nan if any(map(math.isnan, whole)) else math.hypot(*whole)
    return row


def check_sweep(folder):
    wrong = []
    with open(os.path.join(folder, "sweep.csv"), encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    told = json.load(open(os.path.join(folder, "sweep.json"), encoding="utf-8"))["runs"]
    for row, entry in zip(rows, told):
        record = os.path.join(folder, os.path.basename(row["folder"]), "run.json")
        if not os.path.exists(record):
            continue
        run = json.load(open(record, encoding="utf-8"))
        if run["state"] != "finished" or not run.get("coefficients") or not run["coefficients"].get("open_stream_drag"):
            continue
        expected = row_of(run)
        for name, value in row.items():
            if name in expected and not alike(float(value), float(expected[name])):
                wrong.append("%s of %s is %s, and %s in its run" % (name, row["folder"], value, expected[name]))
        for name in ("drag", "lift", "side"):
            if not alike(entry[name]["mean"], expected[name]):
                wrong.append("sweep.json has another %s of %s" % (name, row["folder"]))
        drag, own = entry["open_stream_drag"], run["coefficients"]["open_stream_drag"]
        same = [alike(unknown(drag[key]), unknown(own[key])) for key in ("raw", "corrected", "half_of_interval_95")]
        if os.path.basename(entry["folder"]) != os.path.basename(row["folder"]) or entry["state"] != run["state"] or \
                entry["settled"] != run["coefficients"]["settled"] or drag["parts"] != own["parts"] or not all(same):
            wrong.append("sweep.json has another entry for %s" % row["folder"])
    if len(rows) != len(told):
        wrong.append("%d rows in sweep.csv, %d in sweep.json" % (len(rows), len(told)))
    for words in wrong[:5]:
        print("run-check.py: %s: %s" % (folder, words), file=sys.stderr)
    return not wrong


def check(folder):
    wrong = []

    def say(right, words):
        if not right:
            wrong.append(words)

    run = json.load(open(os.path.join(folder, "run.json"), encoding="utf-8"))
    if run["state"] not in ("finished", "interrupted"):
        return True
    check_numbers(run, say)
    for path in run["outputs"]:
        name = os.path.join(folder, os.path.basename(path))
        say(os.path.getsize(name) > 0 if os.path.exists(name) else "checkpoint" in name, "there is no %s" % path)
    series = os.path.join(folder, "fields.vtkhdf.series")
    if os.path.exists(series):
        for file in json.load(open(series, encoding="utf-8"))["files"]:
            step = int(file["name"].split("_")[-1].split(".")[0])
            say(near(file["time"], step * run["facts"]["time_step"]), "the time of %s" % file["name"])
    table = os.path.join(folder, "forces.csv")
    if os.path.exists(table) and "reference_area" in (run.get("columns_refer_to") or {}):
        with open(table, encoding="utf-8") as lines:
            rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(lines)]
        for row in rows:
            row["step"] = int(row["step"])
        check_forces(run, rows, say)
        if run.get("coefficients"):
            check_coefficients(run, rows, say)
    for words in wrong[:5]:
        print("run-check.py: %s: %s" % (folder, words), file=sys.stderr)
    return not wrong


above = {os.path.dirname(os.path.abspath(folder)) for folder in sys.argv[1:]}
sweeps = [folder for folder in sorted(above) if os.path.exists(os.path.join(folder, "sweep.json"))]
sys.exit(0 if all([check(folder) for folder in sys.argv[1:]] + [check_sweep(folder) for folder in sweeps]) else 1)
