#!/usr/bin/env python3
"""Scores of Kernel Tuner's own strategies on the spaces of the benchmark hub, by evaluations, as a table in Markdown.

usage: scripts/kernel-tuner-scores.py CACHEFILES [--strategies NAME ...] [--repeats N] [--most EVALUATIONS]
Needs Kernel Tuner (pip install kernel_tuner), which searches in its simulation mode, with its options as they are. The score is that of `kftune replay --score`. A space whose budget is above --most is left out.
"""
import argparse
import contextlib
import gzip
import io
import json
import math
import pathlib
import random
import statistics
import sys
import tempfile

import numpy


def times_of(cache):
    """Times of all configs in ms, ascending; those that failed are as slow as the slowest that did not."""
    good = sorted(row["time"] for row in cache["cache"].values() if not isinstance(row["time"], str))
    return good, good + [good[-1]] * (len(cache["cache"]) - len(good))


def budget_of(good, times):
    """Evaluations after which random search is expected 95 % of the way from the median to the optimum."""
    near = good[0] + 0.05 * (statistics.median(good) - good[0])
    count = max(1, sum(time <= near for time in times))
    return int(min(max(math.ceil((len(times) + 1) / count - 1), 1), len(times)))


def random_search(times, budget):
    """The expected best of 1, 2, ... draws without repetition."""
    found, n = [], len(times)
    for m in range(1, budget + 1):
        chance, mean = m / n, 0.0
        for k in range(1, n + 1):
            mean += chance * times[k - 1]
            chance *= max(0, n - k - m + 1) / (n - k) if k < n else 0
            if chance <= 0:
                break
        found.append(mean)
    return found


def search(kernel_tuner, cache, file, strategy, budget, seed):
    """Times of the configs that a search tried, in its order; None: it failed."""
    names = cache["tune_params_keys"]
    known = {tuple(str(row[name]) for name in names) for row in cache["cache"].values()}
    random.seed(seed)
    numpy.random.seed(seed)
    parameters = {name: cache["tune_params"][name] for name in names}

    def is_known(config):
        return tuple(str(config[name]) for name in names) in known

    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = kernel_tuner.tune_kernel(
            cache["kernel_name"], "", cache["problem_size"], [], parameters, simulation_mode=True, cache=str(file), strategy=strategy,
            restrictions=[is_known], strategy_options={"max_fevals": budget}, quiet=True)
    return [row["time"] if isinstance(row["time"], (int, float)) else None for row in results]


def score_of(searches, times, budget):
    chance, ahead = random_search(times, budget), []
    means = [0.0] * budget
    for found in searches:
        best = times[-1]
        for i in range(budget):
            if i < len(found) and found[i] is not None:
                best = min(best, found[i])
            means[i] += best / len(searches)
    for expected, mean in zip(chance, means):
        if expected > times[0]:
            ahead.append((expected - mean) / (expected - times[0]))
    return sum(ahead) / len(ahead)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--strategies", nargs="+", default=["hybrid_vndx", "adaptive_tabu_greywolf", "genetic_algorithm"])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--most", type=int, default=5000)
    arguments = parser.parse_args()
    try:
        import kernel_tuner
    except ImportError as fault:
        sys.exit("%s: pip install kernel_tuner" % fault)
    print("| space | budget | " + " | ".join("`%s`" % name for name in arguments.strategies) + " |")
    print("| --- | ---: |" + " ---: |" * len(arguments.strategies))
    for path in sorted(f for f in arguments.folder.glob("*/*.json.gz") if not f.name.endswith(("_T4.json.gz", "_original.json.gz"))):
        with gzip.open(path, "rt") as stream:
            cache = json.load(stream)
        good, times = times_of(cache)
        budget = budget_of(good, times)
        if budget > arguments.most:
            continue
        cells = []
        with tempfile.NamedTemporaryFile("w", suffix=".json") as plain:
            json.dump(cache, plain)
            plain.flush()
            for strategy in arguments.strategies:
                found = [search(kernel_tuner, cache, plain.name, strategy, budget, seed) for seed in range(arguments.repeats)]
                cells.append("%.2f" % score_of(found, times, budget))
        print("| %s, %s | %d | %s |" % (path.parent.name.removesuffix("_milo"), path.name.removesuffix(".json.gz"), budget, " | ".join(cells)), flush=True)


if __name__ == "__main__":
    main()
