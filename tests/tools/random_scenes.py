#!/usr/bin/env python3
"""Random scenes of `kinetic` by two ways that must give the same forces: turned and mirrored, in other units, moved by whole
cells in a periodic box, by other plans, on teams, continued from a checkpoint, with other outputs.

usage: tests/tools/random_scenes.py KFTUNE FOLDER SEED COUNT [PROPERTY...]

Prints a line for each comparison: BAD where forces differ by more than the limit, relative to their largest value over the
later two thirds of the run. Samples of a turned surface lie elsewhere, so solids by samples have wide limits; those by links
have narrow ones. The folder keeps scenes and runs. Status 1: something was BAD."""
import copy
import csv
import json
import os
import random
import subprocess
import sys

AXES = "xyz"
FACES = [a + end for a in AXES for end in ("min", "max")]
LIMITS = {"links": 2e-3, "immersed": 3e-2, "turning": 8e-2, "free": 6e-2}
draw = random.Random()


class Runs:
    def __init__(self, kftune, folder):
        self.kftune, self.folder, self.count, self.bad = kftune, folder, 0, 0

    def run(self, scene, mesh, steps=60, extra=(), device=("--device", "cpu:1")):
        self.count += 1
        folder = f"{self.folder}/{os.getpid()}-{self.count}"
        os.makedirs(folder)
        with open(f"{folder}/scene.json", "w") as file:
            json.dump(scene, file, indent=1)
        with open(f"{folder}/mesh.obj", "w") as file:
            file.write(mesh)
        return self.go_on(folder, steps, extra, device)

    def go_on(self, folder, steps, extra, device=("--device", "cpu:1")):
        command = [self.kftune, "run", "--scene", f"{folder}/scene.json", *device, "--steps", str(steps), "--output",
                   f"{folder}/run", "--picture", "none", "--quiet", *extra]
        if "--fields" not in extra:
            command += ["--fields", "none"]
        done = subprocess.run(command, capture_output=True, text=True)
        result = {"folder": folder, "status": done.returncode, "said": (done.stderr.strip().splitlines() or [""])[-1]}
        if done.returncode == 0:
            with open(f"{folder}/run/forces.csv") as file:
                result["rows"] = {row["step"]: row for row in csv.DictReader(file)}
        return result

    def compare(self, name, kind, one, other, limit, change=lambda vector: vector, factor=1.0):
        """change: what becomes of the first run's vectors; factor: the other's forces over the first's."""
        if one["status"] != other["status"] or one["status"] not in (0, 2):
            return self.tell(name, kind, float("inf"), limit, other, other["said"])
        if one["status"] == 2:  # both refuse it
            return print("     refused", name, kind, one["said"][-120:], flush=True)
        steps = sorted(set(one["rows"]) & set(other["rows"]), key=int)
        steps = steps[len(steps) // 3:]
        first = [change([factor * value for value in force_of(one["rows"][step])]) for step in steps]
        second = [force_of(other["rows"][step]) for step in steps]
        scale = max(abs(value) for vector in first + second for value in vector) or 1.0
        most = max(abs(a - b) for u, v in zip(first, second) for a, b in zip(u, v)) / scale
        return self.tell(name, kind, most, limit, other, "")

    def tell(self, name, kind, most, limit, other, said):
        bad = not most <= limit
        self.bad += bad
        print("BAD " if bad else "ok  ", name, kind, f"{most:.2e}", other["folder"] if bad else "", said, flush=True)


def force_of(row):
    return [float(row[f"force_{axis}_m4_s2"]) for axis in AXES]


def hexahedron(size, order=(0, 1, 2), signs=(1, 1, 1)):
    """Returns a body without any symmetry, turned and mirrored, as OBJ text."""
    corners = [[size[0] * x * (1 - 0.15 * z), size[1] * y * (1 + 0.15 * x + 0.1 * y), size[2] * z * (1 + 0.2 * y)]
               for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
    sides = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    lines = ["v %.9g %.9g %.9g" % tuple(turned(corner, order, signs)) for corner in corners]
    for side in sides:
        for triangle in (side[:3], (side[0], side[2], side[3])):
            lines.append("f %d %d %d" % tuple(n + 1 for n in triangle[::handed(order, signs)]))
    return "\n".join(lines) + "\n"


def handed(order, signs):
    """Returns 1 for a rotation and -1 for a mirror image."""
    swaps = sum(order[j] > order[i] for i in range(3) for j in range(i))
    return signs[0] * signs[1] * signs[2] * (-1) ** swaps


def turned(vector, order, signs):
    return [signs[i] * vector[order[i]] for i in range(3)]


def random_scene():
    cells = [draw.randrange(24, 45), draw.randrange(18, 33), draw.randrange(18, 33)]
    width, speed, length = draw.choice([1, 0.1, 0.02]), draw.choice([1, 10, 0.3]), draw.uniform(6, 9)
    wind, sign, length = draw.randrange(3), draw.choice([1, -1]), length * width
    open_ends = draw.random() < 0.75
    faces = {}
    for axis in range(3):
        if axis == wind:
            ends = ("inflow", "outflow")[::sign] if open_ends else ("periodic", "periodic")
        else:
            ends = draw.choice([("free_slip",) * 2, ("wall",) * 2, ("periodic",) * 2, ("wall", "free_slip")])
        faces[AXES[axis] + "min"], faces[AXES[axis] + "max"] = ends
    flow = {"speed": speed, "reynolds": draw.choice([20, 100, 300]), "reference_length": length,
            "reference_area": length ** 2, "lattice_speed": draw.choice([0.04, 0.08])}
    if not open_ends:
        flow["initial_velocity"] = [sign * speed * (axis == wind) for axis in range(3)]
    for face in FACES:  # a wall that moves
        across = FACES.index(face) // 2
        if faces[face] == "wall" and draw.random() < 0.3:
            faces[face] = {"type": "wall", "velocity": [0.0 if axis == across else draw.uniform(-1, 1) * speed / 2
                                                        for axis in range(3)]}
    solid = {"mesh": "mesh.obj", "anchor": "origin",
             "position": [cells[axis] * width * draw.uniform(0.42, 0.5) for axis in range(3)]}
    if draw.random() < 0.5:
        solid["rotation"] = [{"axis": [draw.uniform(-1, 1) for _ in AXES], "degrees": draw.uniform(-180, 180)}]
    kind = draw.choice(["links", "links", "immersed", "turning", "free"])
    if kind == "links":
        solid["boundary"] = "links"
    elif kind == "turning":
        solid["motion"] = {"axis": [draw.uniform(-1, 1) for _ in AXES], "angular_velocity": speed / length}
    elif kind == "free":
        solid["motion"] = {"free": True, "density": draw.uniform(1.2, 3),
                           "gravity": [draw.uniform(-1, 1) * speed ** 2 / length for _ in AXES]}
    model = draw.choice([{"collision": "bgk"}, {"rates": "k17"}, {"rates": "adaptive_2020"}])
    scene = {"domain": {"cells": cells, "cell_size": width}, "boundaries": faces, "flow": flow, "solid": solid,
             "model": model, "sampling": {"samples_per_cell": 40}}
    return scene, kind, [0.5 * length, 0.3 * length, 0.35 * length]


def turn_scene(scene, order, signs):
    """Component i of the new scene is signs[i] times component order[i] of the old one."""
    new, hand = copy.deepcopy(scene), handed(order, signs)
    size = [count * scene["domain"]["cell_size"] for count in scene["domain"]["cells"]]
    new["domain"]["cells"] = [scene["domain"]["cells"][axis] for axis in order]
    for i in range(3):
        ends = [scene["boundaries"][AXES[order[i]] + end] for end in ("min", "max")][::signs[i]]
        for end, kind in zip(("min", "max"), ends):
            if isinstance(kind, dict):
                kind = {**kind, "velocity": turned(kind["velocity"], order, signs)}
            new["boundaries"][AXES[i] + end] = kind
    if "initial_velocity" in scene["flow"]:
        new["flow"]["initial_velocity"] = turned(scene["flow"]["initial_velocity"], order, signs)
    solid, position = new["solid"], scene["solid"]["position"]
    solid["position"] = [position[order[i]] if signs[i] > 0 else size[order[i]] - position[order[i]] for i in range(3)]
    for rotation in solid.get("rotation", []) + [m for m in [solid.get("motion", {})] if "axis" in m]:
        rotation["axis"] = [hand * value for value in turned(rotation["axis"], order, signs)]
    if "gravity" in solid.get("motion", {}):
        solid["motion"]["gravity"] = turned(solid["motion"]["gravity"], order, signs)
    return new


def check_turned(runs, scene, kind, size):
    order, signs = [0, 1, 2], [draw.choice([1, -1]) for _ in AXES]
    draw.shuffle(order)
    one = runs.run(scene, hexahedron(size))
    other = runs.run(turn_scene(scene, order, signs), hexahedron(size, order, signs))
    runs.compare(f"turned {order} {signs}", kind, one, other, LIMITS[kind], lambda force: turned(force, order, signs))


def check_units(runs, scene, kind, size):
    length, speed, new = draw.choice([10, 0.1]), draw.choice([7, 0.2]), copy.deepcopy(scene)
    new["domain"]["cell_size"] *= length
    new["solid"]["position"] = [length * value for value in new["solid"]["position"]]
    flow, motion = new["flow"], new["solid"].get("motion", {})
    for key, factor in (("speed", speed), ("reference_length", length), ("reference_area", length ** 2)):
        flow[key] *= factor
    for face in new["boundaries"].values():
        if isinstance(face, dict):
            face["velocity"] = [speed * value for value in face["velocity"]]
    if "initial_velocity" in flow:
        flow["initial_velocity"] = [speed * value for value in flow["initial_velocity"]]
    if "angular_velocity" in motion:
        motion["angular_velocity"] *= speed / length
    if "gravity" in motion:
        motion["gravity"] = [speed ** 2 / length * value for value in motion["gravity"]]
    one, other = runs.run(scene, hexahedron(size)), runs.run(new, hexahedron([length * value for value in size]))
    runs.compare("units", kind, one, other, 1e-2 if kind == "free" else 2e-3, factor=(length * speed) ** 2)


def check_moved(runs, scene, kind, size):
    new = copy.deepcopy(scene)
    new["boundaries"] = dict.fromkeys(FACES, "periodic")
    new["flow"].setdefault("initial_velocity", [new["flow"]["speed"], 0.0, 0.0])
    moved = copy.deepcopy(new)
    width, room = new["domain"]["cell_size"], 1.6 * max(size)
    for axis, cells in enumerate(new["domain"]["cells"]):
        at = new["solid"]["position"][axis]
        steps = [n for n in range(-12, 13) if room < at + n * width < cells * width - room]
        moved["solid"]["position"][axis] = at + draw.choice(steps or [0]) * width
    if kind != "turning":  # which may not cross a seam in so small a box
        runs.compare("moved", kind, runs.run(new, hexahedron(size)), runs.run(moved, hexahedron(size)), 2e-3)


def check_plans(runs, scene, kind, size):
    one = runs.run(scene, hexahedron(size))
    for fixed in ("plan=paper", "plan=baseline", "streaming=shift", "layout=aos", "storage=f64", "boundary_kernels=6"):
        other = runs.run(scene, hexahedron(size), extra=("--fix", fixed))
        if other["status"] != 2:  # not in the space of this scene
            runs.compare(fixed, kind, one, other, 1e-3)


def check_same(runs, scene, kind, size):
    fixed = ("--fix", "force_sum=fixed") if kind in ("turning", "free") else ()
    one = runs.run(scene, hexahedron(size), extra=fixed)
    if kind != "links":
        team = runs.run(scene, hexahedron(size), extra=fixed, device=("--devices", "cpu:1,cpu:1,cpu:1"))
        runs.compare("team", kind, one, team, 0.0)
    outputs = ("--every", "7", "--fields", "velocity,pressure,q,surface", "--probe", "w=1L,0,0", "--mean-from", "0")
    runs.compare("outputs", kind, one, runs.run(scene, hexahedron(size), extra=fixed + outputs), 0.0)
    begun = runs.run(scene, hexahedron(size), steps=40, extra=fixed)
    if begun["status"] == 0:
        restart = ("--restart", f"{begun['folder']}/run/checkpoint_000040.kfc")
        runs.compare("restart", kind, one, runs.go_on(begun["folder"], 20, fixed + restart), 0.0)


def main():
    kftune, folder, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    checks = {name[len("check_"):]: check for name, check in globals().items() if name.startswith("check_")}
    names, runs = sys.argv[5:] or list(checks), Runs(kftune, folder)
    for number in range(seed, seed + count):
        draw.seed(number)
        checks[names[number % len(names)]](runs, *random_scene())
    return 1 if runs.bad else 0


if __name__ == "__main__":
    sys.exit(main())
