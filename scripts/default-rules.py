#!/usr/bin/env python3
"""Makes rules for a space's defaults (docs/space-format.md) from landscapes of its system.

usage: scripts/default-rules.py [--space variants/kinetic.json] [--loss 0.01] LANDSCAPE.json[.gz] ... > RULES.json

A value fits a landscape when the best config that has it is at most --loss slower than the best of all. Landscapes are
put together by what solid their scene has, and sorted by nodes. Of each parameter a value is kept over as many sizes as
it fits, the space's own default before others; between two sizes the limit is their geometric mean. stderr tells what
each rule costs where it was measured. Values are judged one by one: check a table with `kftune bench` before it is
taken over.
"""
import argparse
import gzip
import json
import math
import os
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def solid_of(scene):
    """The condition of a scene's class, over the space's variables."""
    path = os.path.join(HERE, "scene", "library", scene["name"] + ".json")
    if scene.get("samples", 0) == 0:
        return "not solid"
    if not os.path.exists(path):
        sys.exit(f"default-rules.py: {scene['name']}: no shipped scene, so it is not known whether its solid moves")
    return "moving" if "motion" in read(path).get("solid", {}) else "solid and not moving"


def today(config, former):
    """The config with present names; None: it has a value that no longer exists."""
    for entry in former:
        if entry["name"] not in config:
            continue
        value = config.pop(entry["name"])
        if "becomes" not in entry:
            if value != entry["value"]:
                return None
        else:
            name = value if isinstance(value, str) else json.dumps(value)
            if name not in entry.get("values", {name: value}):
                return None
            config[entry["becomes"]] = entry.get("values", {name: value})[name]
    return config


def best_by_value(landscape, former):
    """(best time, {parameter: {value: best time of a config that has it}}) of what ran and passed."""
    names = list(landscape["parameters"])
    best, found = math.inf, {}
    for row in landscape["results"]:
        time = row[len(names)] if len(row) > len(names) else None
        if not isinstance(time, (int, float)) or time <= 0:
            continue
        config = {name: landscape["parameters"][name][row[i]] for i, name in enumerate(names)}
        config = today(config, former)
        if config is None:
            continue
        best = min(best, time)
        for name, value in config.items():
            times = found.setdefault(name, {})
            times[value] = min(times.get(value, math.inf), time)
    return best, found


def limit(below, above):
    """A round number between two sizes."""
    middle = math.sqrt(below * above)
    digit = 10 ** (math.floor(math.log10(middle)) - 1)
    return round(middle / digit) * digit


def longest(sizes, first, name, own, loss):
    """The value that fits the most sizes from the first on, and behind which one it ends."""
    def end_of(value):
        end = first
        while end < len(sizes):
            best, found = sizes[end][1:]
            if name in found and found[name].get(value, math.inf) > (1 + loss) * best:
                break
            end += 1
        return end

    values = [value for value in sizes[first][2].get(name, {})]
    best, found = sizes[first][1:]
    values.sort(key=lambda value: (value != own, found[name][value]))
    return max(values, key=end_of), max(end_of(value) for value in values)


def rules_of(condition, sizes, parameters, loss):
    """{"when": ..., "set": ...} of one class: per parameter from the smallest grids to the largest."""
    table = {}
    for parameter in parameters:
        name, own = parameter["name"], parameter["default"]
        if isinstance(own, dict):
            own = None  # an expression
        first = 0
        while first < len(sizes):
            if name not in sizes[first][2]:
                first += 1
                continue
            value, end = longest(sizes, first, name, own, loss)
            end = max(end, first + 1)
            top = math.inf if end == len(sizes) else limit(sizes[end - 1][0], sizes[end][0])
            for nodes, best, found in sizes[first:end]:
                cost = found.get(name, {}).get(value, best) / best - 1
                print(f"{condition:22} {nodes:>10} nodes  {name}={value}  {100 * cost:.2f} %", file=sys.stderr)
            if end < len(sizes) or value != own:
                table.setdefault(top, {})[name] = value
            first = end
    return [{"when": condition + ("" if top == math.inf else f" and node_count < {top}"), "set": table[top]}
            for top in sorted(table)]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("--space", default=os.path.join(HERE, "variants", "kinetic.json"))
    options.add_argument("--loss", type=float, default=0.01)
    options.add_argument("landscapes", nargs="+")
    given = options.parse_args()
    space = read(given.space)
    classes, backends = {}, set()
    for path in given.landscapes:
        landscape = read(path)
        if landscape.get("system") != space["system"]:
            print(f"{path}: of system {landscape.get('system')}, left out", file=sys.stderr)
            continue
        best, found = best_by_value(landscape, space.get("former", []))
        if best == math.inf:
            print(f"{path}: nothing in it ran", file=sys.stderr)
            continue
        backends.add(landscape["device"]["backend"])
        classes.setdefault(solid_of(landscape["scene"]), []).append(
            (math.prod(landscape["scene"]["nodes"]), best, found))
    if len(backends) > 1:
        sys.exit("default-rules.py: landscapes of a GPU and of a cpu have no defaults in common: take one kind")
    gpu = {"cuda": "gpu and ", "cpu": "not gpu and "}.get(next(iter(backends), ""), "")
    rules = []
    for condition in sorted(classes):
        rules += rules_of(gpu + condition, sorted(classes[condition], key=lambda size: size[0]),
                          space["parameters"], given.loss)
    json.dump({"defaults": rules}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
