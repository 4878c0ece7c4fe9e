#!/usr/bin/env python3
"""Scores of search strategies on the spaces of the autotuning community's benchmark hub (kftune replay --score), as a table in Markdown.

usage: scripts/hub-scores.py CACHEFILES [--strategies NAME ...] [--repeats N] [--kftune PROGRAM]
Random search has 0 by definition. CACHEFILES: the hub's folder of that name, with KERNEL/DEVICE.json.gz. A file that is not there, or is a pointer to one, is named below the table.
"""
import argparse
import json
import pathlib
import subprocess
import sys


def scored(program, file, strategy, repeats):
    command = [program, "replay", "--landscape", str(file), "--strategy", strategy, "--score", "--repeats", str(repeats), "--quiet", "--json"]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode == 130 or answer.returncode < 0:
        sys.exit(answer.returncode)
    if answer.returncode != 0:
        raise ValueError(answer.stderr.strip())
    return json.loads(answer.stdout)["score"]


def figure(score, key):
    return "%.2f" % score[key] if key in score else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--strategies", nargs="+", default=["model", "local", "annealing"])
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--kftune", default="kftune")
    arguments = parser.parse_args()
    files = sorted(f for f in arguments.folder.glob("*/*.json.gz") if not f.name.endswith(("_T4.json.gz", "_original.json.gz")))
    if not files:
        sys.exit("%s: has no KERNEL/DEVICE.json.gz" % arguments.folder)
    sums = {name: [0.0, 0.0] for name in arguments.strategies}
    missing, count = [], 0
    print("| space | budget | " + " | ".join("`%s`" % name for name in arguments.strategies) + " |")
    print("| --- | ---: |" + " ---: |" * len(arguments.strategies))
    for file in files:
        name = "%s, %s" % (file.parent.name.removesuffix("_milo"), file.name.removesuffix(".json.gz"))
        try:
            scores = [scored(arguments.kftune, file, strategy, arguments.repeats) for strategy in arguments.strategies]
        except ValueError as fault:
            missing.append("%s: %s" % (name, fault))
            continue
        count += 1
        cells = []
        for strategy, score in zip(arguments.strategies, scores):
            cells.append("%s / %s" % (figure(score, "by_evaluations"), figure(score, "by_seconds")))
            sums[strategy][0] += score.get("by_evaluations", 0)
            sums[strategy][1] += score.get("by_seconds", 0)
        print("| %s | %d | %s |" % (name, scores[0]["budget_evaluations"], " | ".join(cells)), flush=True)
    if count:
        print("| mean of %d | | %s |" % (count, " | ".join("%.2f / %.2f" % (s[0] / count, s[1] / count) for s in sums.values())))
    for line in missing:
        print("\n" + line)


if __name__ == "__main__":
    main()
