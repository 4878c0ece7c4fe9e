#!/usr/bin/env python3
"""Fails the n-th allocation, open, write, rename, fsync, mapping or fork of each command, and looks at what it does then.

usage: faults.py KFTUNE SHIM FOLDER [--seconds S] [--points N] [--commands LIST] [--calls LIST] [--jobs N] [--limit S] [--seed N] [--table FILE]

KFTUNE: the program. SHIM: the shared object of tests/tools/fail_nth.c. FOLDER: to work in. Each command is first run
whole, which counts its calls and gives what it should write; then once for every n, or for as many, evenly spread, as the
limits allow (--points for a command and a call, --seconds for all). --jobs runs go side by side (every core), and
commands and calls take turns, so that those with few places are tried whole and the others share the time. A run that
takes longer than --limit seconds (300) hangs. Another --seed tries other places, where not all are tried. What a wrong run left stays in FOLDER, and what it printed there in `said`.
A run may end as the
whole one, and then all that it wrote is there and right, or with status 3 and a line that names the machine's lack. Nothing may be called
damaged, no config blamed, nothing lost that a store held, no temporary file left, nothing end by a signal or hang.
"""
import argparse
import itertools
import multiprocessing
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

CALLS = ["malloc", "open", "write", "rename", "fsync", "mmap", "fork"]
FIXED = ["--scene", "cavity2d", "--system", "d2q9", "--grid", "32x32x1", "--fix", "plan=pull", "--fix", "layout=soa",
         "--fix", "storage=f32", "--device", "cpu:1"]
RUN = ["run", "--scene", "cavity2d", "--system", "d2q9", "--grid", "32x32x1", "--fix", "plan=pull", "--device", "cpu:1",
       "--quiet"]
# Words of the command ({} is its own folder), and the files that must equal those of the whole run.
KINETIC = ["--system", "kinetic", "--samples-per-cell", "2", "--device", "cpu:1", "--quiet"]
SWEEP = ["run", "--scene", "torus", *KINETIC, "--grid", "16x12x12", "--yaw", "0,10", "--steps", "4", "--every", "4",
         "--fields", "velocity,pressure", "--picture", "none", "--output", "{}/w"]
COMMANDS = {
    "tune": (["tune", *FIXED, "--rounds", "0", "--budget", "2evals", "--store", "{}/s.db", "--out", "{}/best.json"], []),
    "run": ([*RUN, "--steps", "20", "--every", "10", "--output", "{}/r"],
            ["r/fields_000020.vtkhdf", "r/speed_000020.png", "r/checkpoint_000020.kfc"]),
    "restart": ([*RUN, "--steps", "10", "--every", "10", "--output", "{}/r", "--restart", "{}/begun.kfc"],
                ["r/fields_000020.vtkhdf", "r/checkpoint_000020.kfc"]),
    "import": (["store", "import", "{}/in.t4.json", "--store", "{}/s.db"], []),
    "merge": (["store", "import", "{}/other.db", "--store", "{}/s.db"], []),
    # This continues in the folder of the run before, whose tables and lists of files grow.
    "again": ([*RUN, "--steps", "10", "--every", "10", "--output", "{}/first", "--restart", "{}/first/checkpoint_000010.kfc"],
              ["first/fields_000020.vtkhdf", "first/fields.vtkhdf.series"]),
    # This runs into the folder of a run that got further.
    "longer": ([*RUN, "--steps", "5", "--output", "{}/first", "--fields", "none", "--picture", "none"], []),
    "team": ([word.replace("cpu:1", "cpu:1,cpu:1").replace("--device", "--devices") for word in RUN] +
             ["--steps", "20", "--every", "20", "--output", "{}/r"], ["r/fields_000020.vtkhdf"]),
    "nested": (["run", "--scene", "ball", *KINETIC, "--grid", "24x16x16", "--refine", "1", "--steps", "2", "--every", "2",
                "--fields", "velocity", "--picture", "surface", "--probe", "p=2L,0,0", "--probe-every", "1", "--output", "{}/r"],
               ["r/fields_000002.vtkhdf", "r/forces.csv", "r/probe_p.csv"]),
    "links": (["run", "--scene", "{}/linked.json", *KINETIC, "--steps", "4", "--every", "2", "--mean-from", "0.001", "--fields",
               "velocity,surface", "--picture", "speed", "--output", "{}/r"], ["r/fields_000004.vtkhdf", "r/forces.csv"]),
    "moving": (["run", "--scene", "{}/moving.json", *KINETIC, "--steps", "4", "--every", "2", "--fields", "velocity,surface,solid",
                "--picture", "speed,y_plus", "--output", "{}/r"], ["r/fields_000004.vtkhdf", "r/surface_000004.vtkhdf", "r/forces.csv"]),
    "sweep": (SWEEP, ["w/yaw0/forces.csv", "w/yaw10/fields_000004.vtkhdf"]),
    "smoke": (["run", "--scene", "torus", *KINETIC, "--grid", "16x12x12", "--steps", "4", "--every", "4", "--fields", "none",
               "--picture", "none", "--smoke", "--film", "--smoke-size", "64x48", "--output", "{}/r"], []),
    "compare": (["compare", "w/yaw0", "w/yaw10", "--pictures", "p"], []),
    "gltf": (["scene", "{}/box.gltf", "--cells", "8", "--grid", "24x16x16"], []),
    "scene": (["scene", "{}/cube.stl", "--cells", "8", "--grid", "24x16x16", "--write", "{}/s.json", "--picture", "{}/p.png"],
              ["p.png", "s.json"]),
    "scenes": (["list", "scenes"], []),
    "space": (["space", "--scene", "ball", "--system", "kinetic", "--device", "cpu:1"], []),
    "judge": (["judge", "{}/candidates", "--problem", "{}/add.t1.json", "--device", "cpu:1"], []),
    "night": (["nightly", "--suite", "{}/suite.json", "--store", "{}/s.db", "--device", "cpu:1"], []),
    "shard": (["landscape", *FIXED, "--shard", "0/2", "--configs", "2", "--effort", "0.01", "--store", "{}/s.db"], []),
    "plot": (["plot", "convergence", "--store", "{}/s.db", "--out", "{}/p.svg"], []),
    "report": (["report", "--store", "{}/s.db", "--out", "{}/report.html"], []),
}
for form in ["csv", "t4", "kernel-tuner", "github-benchmark", "landscape"]:
    COMMANDS["export-" + form] = (["store", "export", "--format", form, "--store", "{}/s.db", "--out", "{}/e"], ["e"])
# For these, the printed output must also be as in the whole run.
PRINTED = ["compare", "scene", "scenes", "space", "export-csv"]
# Commands whose whole run ends with another status than 0: a run that would overwrite a longer one, and runs that
# cannot be distinguished.
ENDS = {"longer": 2, "compare": 1}
# Files that stay as they are, however the command ends.
KEPT = {"longer": ["first/fields_000010.vtkhdf", "first/run.json", "first/checkpoint_000010.kfc"]}
# Files that some commands also need, made by a command.
NEEDED = {"compare": [SWEEP]}
BLAME = ["damaged", "not valid JSON", "contradict", "is not a store", "lacks what a store"]


def cube():
    """Returns a box as STL text with twelve triangles."""
    lines = ["solid cube"]
    for axis in range(3):
        for side in (0, 1):
            for corners in ((0, 0), (1, 0), (1, 1)), ((0, 0), (1, 1), (0, 1)):
                lines += ["facet normal 0 0 0", "outer loop"]
                for first, second in corners if side else corners[::-1]:
                    place = [0, 0, 0]
                    place[axis], place[(axis + 1) % 3], place[(axis + 2) % 3] = side, first, second
                    lines.append("vertex %d %d %d" % tuple(place))
                lines += ["endloop", "endfacet"]
    return "\n".join(lines + ["endsolid cube", ""])


# Inputs, which no command changes.
FILES = {
    "cube.stl": cube(),
    "box.gltf": open(os.path.join(os.path.dirname(__file__), "../data/cases/box-y-up.gltf"), encoding="utf-8").read(),
    "linked.json": """{"solid": {"shape": "ball", "radius": 0.05, "position": [0.15, 0.1, 0.1], "boundary": "links"},
"domain": {"cells": [24, 16, 16], "size": [0.3, 0.2, 0.2]}, "boundaries": {"xmin": "inflow", "xmax": "outflow",
"ymin": "free_slip", "ymax": "free_slip", "zmin": "free_slip", "zmax": "free_slip"},
"flow": {"speed": 1.0, "reynolds": 1000, "reference_length": 0.1, "lattice_speed": 0.05}}""",
    "moving.json": """{"solid": {"shape": "plate", "chord": 0.3, "width": 0.2, "thickness": 0.15, "position": [0.5, 0.5, 0.5],
"boundary": "links", "motion": {"axis": [0, 1, 0], "angular_velocity": 1}}, "domain": {"cells": [16, 16, 16], "size": [1, 1, 1]},
"boundaries": {"xmin": "wall", "xmax": "wall", "ymin": "periodic", "ymax": "periodic", "zmin": "wall", "zmax": "wall"},
"flow": {"speed": 0.15, "reynolds": 200, "reference_length": 0.3, "lattice_speed": 0.05}}""",
    "add.t1.json": """{"ConfigurationSpace": {"TuningParameters": [{"Name": "x", "Type": "int", "Values": [1, 2], "Default": 1}]},
"KernelSpecification": {"Language": "C", "KernelName": "k", "KernelFile": "add.c", "LocalSize": {"X": "1", "Y": "1", "Z": "1"},
"ProblemSize": [64], "Arguments": [{"Name": "a", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadWrite", "Size": 64}]}}""",
    "add.c": "void k(float *a) { for (int i = 0; i < 64; i++) a[i] = a[i] + 1; }\n",
    "candidates/one.c": "void k(float *a) { for (int i = 63; i >= 0; i--) a[i] = a[i] + 1; }\n",
    "candidates/two.c": "void k(float *a) { for (int i = 0; i < 64; i++) a[i] += 1; }\n",
    "program/solver.sh": "#!/bin/sh\necho 'time: 1.5 ms'\n",
    "suite.json": """{"suite": "s", "benchmarks": [{"name": "a", "kind": "command", "command": ["/bin/sh", "program/solver.sh"],
"keep": ["program"], "time": {"printed": "time:", "unit": "ms"}, "warm_up": 0, "repeats": 1, "processes": 5, "timeout": 20}]}""",
}


class Sweep:
    def __init__(self, asked):
        self.asked = asked
        self.folder = os.path.abspath(asked.folder)
        self.base = os.path.join(self.folder, "base")
        self.environment = dict(os.environ, XDG_CACHE_HOME=os.environ.get("XDG_CACHE_HOME", self.folder + "/cache"))
        if "KFTUNE_DATA" in os.environ:
            self.environment["KFTUNE_DATA"] = os.path.abspath(os.environ["KFTUNE_DATA"])  # commands run in other folders
        self.deadline = time.monotonic() + asked.seconds
        self.wholes = {}

    def run(self, words, place, fail=None):
        environment = dict(self.environment, XDG_DATA_HOME=os.path.join(place, "data"))
        if fail is not None:
            state = os.path.join(place, "calls")
            with open(state, "wb") as file:
                file.write(struct.pack("qq", 0, 0))
            environment.update(LD_PRELOAD=os.path.abspath(self.asked.shim), KF_FAIL_CALL=fail[0], KF_FAIL_NTH=str(fail[1]),
                               KF_FAIL_STATE=state)
        words = [os.path.abspath(self.asked.kftune)] + [word.replace("{}", place) for word in words]
        try:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, env=environment, cwd=place,
                                  timeout=self.asked.limit, check=False)
        except subprocess.TimeoutExpired:
            return None, "", "hangs"
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def must(self, words, place, expected=0):
        status, out, said = self.run(words, place)
        if status != expected:
            sys.exit("faults.py: %s: status %s: %s" % (" ".join(words), status, said + out))
        return out

    def prepare(self):
        """Makes a store with a run of two configs, another with other runs, a file to import, and a checkpoint."""
        os.makedirs(self.base)
        begin = COMMANDS["tune"][0]
        for name in ["s.db", "other.db"]:
            self.must([word.replace("s.db", name) for word in begin], self.base)
        self.must(["store", "export", "--format", "t4", "--store", "{}/other.db", "--out", "{}/in.t4.json"], self.base)
        self.must([*RUN, "--steps", "10", "--every", "10", "--output", "{}/first"], self.base)
        shutil.copy(self.base + "/first/checkpoint_000010.kfc", self.base + "/begun.kfc")
        os.remove(self.base + "/best.json")
        for words in [words for name in self.asked.commands for words in NEEDED.get(name, [])]:
            self.must(words, self.base)
        for name, text in FILES.items():
            os.makedirs(os.path.dirname(os.path.join(self.base, name)), exist_ok=True)
            with open(os.path.join(self.base, name), "w", encoding="utf-8") as file:
                file.write(text)

    def fresh(self, name):
        place = os.path.join(self.folder, name)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.base, place)
        return place

    @staticmethod
    def results(store):
        """Returns the numbers of results and of those that blame a config, or None if the store is damaged."""
        database = sqlite3.connect(store)
        try:
            if database.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
                return None
            if database.execute("PRAGMA foreign_key_check").fetchall():
                return None
            count = database.execute("SELECT count(*) FROM result").fetchone()[0]
            states = "'crash','compile','invalid','wrong_result','timeout','out_of_memory'"
            blamed = database.execute("SELECT reason FROM result WHERE state IN (%s)" % states).fetchall()
            return count, blamed
        except sqlite3.DatabaseError:
            return None
        finally:
            database.close()

    @staticmethod
    def content(path):
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError:
            return None

    def judge(self, name, fail, place, ended):
        """Returns the status, and a line with the fault or None."""
        status, printed, said = ended
        whole = self.wholes[name]
        words = []
        ends = ENDS.get(name, 0)
        if status not in (ends, 3):
            words.append("ends with %s" % status)
        if status == 3 and not [line for line in said.splitlines() if line.startswith("kftune: ")]:
            words.append("ends without a line")
        words += ["says '%s'" % word for word in BLAME if word in said]
        found = self.results(place + "/s.db")
        if found is None:
            words.append("the store is damaged")
        else:
            if found[0] < whole["before"]:
                words.append("%d results are lost" % (whole["before"] - found[0]))
            if found[1]:
                words.append("blames a config: %s" % found[1][0])
            if status == ends and found[0] != whole["results"]:
                words.append("status 0 with %d results instead of %d" % (found[0], whole["results"]))
        if status == ends:
            words += ["status 0 with another %s" % path for path, text in whole["files"].items()
                      if not (path.endswith(".png") and "pictures have a plain font: " in said) and self.content(os.path.join(place, path)) != text]
            if name in PRINTED and printed.replace(place, "") != whole["printed"]:
                words.append("status 0 and prints something else")
            words += ["status 0 without %s" % path for path in whole["there"]
                      if not os.path.exists(os.path.join(place, path))]
        words += ["changes %s" % path for path in KEPT.get(name, [])
                  if self.content(os.path.join(place, path)) != self.content(os.path.join(self.base, path))]
        for folder, _, files in os.walk(place):
            words += ["leaves %s" % os.path.join(folder, file) for file in files
                      if file.endswith((".tmp", ".new", ".part"))]
        if not words:
            return status, None
        return status, "%s, %s %d: %s; last: %s" % (name, fail[0], fail[1], "; ".join(words), (said.splitlines() or [""])[-1])

    def whole(self, name):
        place = self.fresh("whole-" + name)
        words, files = COMMANDS[name]
        before = self.results(place + "/s.db")[0]
        present = set(os.path.relpath(os.path.join(f, x), place) for f, _, fs in os.walk(place) for x in fs)
        printed = self.must(words, place, ENDS.get(name, 0)).replace(place, "")
        now = set(os.path.relpath(os.path.join(f, x), place) for f, _, fs in os.walk(place) for x in fs)
        there = [path for path in now - present if not path.startswith("s.db")]
        return {"before": before, "results": self.results(place + "/s.db")[0], "there": there,
                "printed": printed, "files": {path: self.content(os.path.join(place, path)) for path in files}}

    def count(self, name, call):
        """Returns how many calls the command makes, and what is wrong when none of them fails."""
        place = self.fresh("count-%s-%s" % (name, call))
        wrong = self.judge(name, (call, 0), place, self.run(COMMANDS[name][0], place, (call, 0)))[1]
        with open(place + "/calls", "rb") as file:
            total = struct.unpack("qq", file.read())[0]
        shutil.rmtree(place, ignore_errors=True)
        return total, wrong

    def points(self, total):
        most = min(total, self.asked.points) if self.asked.points else total
        draw = random.Random(self.asked.seed)
        chosen = [1 + (i * total + draw.randrange(total)) // most for i in range(most)]
        draw.shuffle(chosen)  # so that what time is left for is spread too
        return chosen

    def try_one(self, case):
        """Returns the command and call of the case, and how it ended, or no end where time is up."""
        name, call, nth = case
        if time.monotonic() > self.deadline:
            return (name, call), None
        place = self.fresh("%s-%s-%d" % case)
        done = self.run(COMMANDS[name][0], place, (call, nth))
        ended = self.judge(name, (call, nth), place, done)
        if ended[1] is None:
            shutil.rmtree(place, ignore_errors=True)
        else:
            with open(place + "/said", "w", encoding="utf-8") as file:
                file.write(done[1] + done[2])
        return (name, call), ended

    def sweep(self):
        """Returns the rows of the table and what is wrong, and prints each fault when it is found."""
        bad = []

        def note(wrong):
            if wrong is not None:
                bad.append(wrong)
                print("FAILED " + wrong, flush=True)

        pairs = [(name, call) for name in self.asked.commands for call in self.asked.calls]
        totals = {}
        with ThreadPoolExecutor(self.asked.jobs) as pool:
            # The whole runs compile the kernels, so that the runs that count find them in the cache.
            self.wholes = dict(zip(self.asked.commands, pool.map(self.whole, self.asked.commands)))
            for pair, (totals[pair], wrong) in zip(pairs, pool.map(lambda pair: self.count(*pair), pairs)):
                note(wrong)
        dead = [name for name in self.asked.commands if not any(totals[name, call] for call in self.asked.calls)]
        if dead:
            sys.exit("faults.py: no call of %s is counted: the program must be called kftune" % ", ".join(dead))
        turns = itertools.zip_longest(*([(name, call, nth) for nth in self.points(totals[name, call])] for name, call in pairs))
        cases = [case for turn in turns for case in turn if case is not None]
        ends = {pair: [] for pair in pairs}
        # Processes are used, because Python runs between two runs, and of its threads only one at a time.
        with multiprocessing.get_context("fork").Pool(self.asked.jobs) as pool:
            for pair, ended in pool.imap_unordered(self.try_one, cases):
                if ended is not None:
                    ends[pair].append(ended)
                    note(ended[1])
        rows = []
        for name, call in pairs:
            states = [status for status, _ in ends[name, call]]
            wrongs = [wrong for _, wrong in ends[name, call] if wrong is not None]
            if totals[name, call] > 0:
                rows.append((name, call, totals[name, call], len(states), states.count(ENDS.get(name, 0)), states.count(3), len(wrongs)))
        return rows, bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kftune")
    parser.add_argument("shim")
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--points", type=int, default=0)
    parser.add_argument("--commands", type=lambda text: text.split(","), default=list(COMMANDS))
    parser.add_argument("--calls", type=lambda text: text.split(","), default=CALLS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table")
    sweep = Sweep(parser.parse_args())
    sweep.prepare()
    rows, bad = sweep.sweep()
    lines = ["| command | call | calls | tried | done | status 3 | wrong |", "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    lines += ["| %s | %s | %d | %d | %d | %d | %d |" % row for row in rows]
    print("\n".join(lines))
    if sweep.asked.table:
        with open(sweep.asked.table, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    print("%d places are wrong" % len(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
