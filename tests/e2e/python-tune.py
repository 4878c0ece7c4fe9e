#!/usr/bin/env python3
"""kftune.py as a script for Kernel Tuner meets it: kernels in plain C, what is not taken, and what a GPU's kernels become.
usage: python-tune.py KFTUNE SCRATCH; kftune.py, libkftune and its data are found as installed."""
import array
import ctypes
import json
import os
import subprocess
import sys

import kftune as kernel_tuner

program, scratch = sys.argv[1], sys.argv[2]
n = 50000
values = array.array("f", [float(i % 97) for i in range(n)])
right = array.array("f", [2.5 * v for v in values])
source = """
void scale(float *out, const float *in, float factor, int n) {
    for (int i = 0; i < n; i += chunk)
        for (int k = i; k < n && k < i + chunk; k++) out[k] = (wrong && k == 7 ? 2 : 1) * factor * in[k];
}
"""
failures = 0


def complain(what):
    global failures
    failures += 1
    print("python-tune.py: " + what)


def tuned(parameters, out=None, given=source, **others):
    arguments = [array.array("f", bytes(4 * n)) if out is None else out, values, ctypes.c_float(2.5), ctypes.c_int(n)]
    others.setdefault("strategy_options", {"max_fevals": 20})
    return kernel_tuner.tune_kernel("scale", given, n, arguments, parameters, quiet=True, **others)


# Every config has a state: right ones a time, wrong ones the fault, by the caller's answer and by the first config.
choices = {"chunk": [4, 64, 1024], "wrong": [0, 1]}
for answer in ([right, None, None, None], None):
    results, env = tuned(choices, answer=answer, metrics={"per_ms": "50000 / time", "twice": lambda p: 2 * p["time"]})
    kinds = {one["state"] for one in env["failed"]}
    if not results or any(one["wrong"] for one in results) or not kinds <= {"wrong_result", "skipped"} or "wrong_result" not in kinds:
        complain("answer %s: right: %s, others: %s" % (answer is not None, results, env["failed"]))
    if sum(one["wrong"] for one in env["failed"]) != 3 or len(results) + len(env["failed"]) != 6:
        complain("not every config is told: %s %s" % (results, env["failed"]))
    best = env["best"]
    if best["wrong"] or abs(best["per_ms"] * best["time"] - 50000) > 1e-6 or best["twice"] != 2 * best["time"]:
        complain("best: %s" % best)

# The objective may be a metric, also one derived from others, but not one that only Python can compute. Times are in
# milliseconds, too.
seeking = {"strategy_options": {"max_fevals": 20}, "restrictions": ["wrong == 0"]}
units = {"size": "chunk * 2", "GB/s": "8e-9 * 50000 * size / time", "late": lambda p: 2 * p["time"]}
results, env = tuned(choices, metrics=units, objective="size", objective_higher_is_better=True, **seeking)
if env["best"]["chunk"] != 1024 or env["best"]["size"] != 2048 or env["kftune"]["objective"] != "max:size":
    complain("the largest size does not win: %s" % env["best"])
results, env = tuned(choices, metrics=units, objective=["GB/s", "size"], objective_higher_is_better=[True, False], **seeking)
told = env["kftune"]["best"]["metrics"]["GB/s"]
if not env["front"] or {one["chunk"] for one in env["front"]} - {4, 64, 1024} or abs(told / env["best"]["GB/s"] - 1) > 1e-9:
    complain("two objectives: %s, %s" % (env["front"], env["best"]))
for objective, says in (("late", "a function"), ("size", "objective_higher_is_better")):
    try:
        tuned(choices, metrics=units, objective=objective, **seeking)
        complain("the objective %s is taken" % objective)
    except ValueError as fault:
        if says not in str(fault):
            complain("objective %s: %s" % (objective, fault))

# Restrictions are obeyed. A store that is kept has the configs.
results, env = tuned(choices, restrictions=["chunk > 4", "wrong == 0"], cache=os.path.join(scratch, "kept.json"))
if {one["chunk"] for one in results + env["failed"]} != {64, 1024}:
    complain("restrictions: %s %s" % (results, env["failed"]))
listed = subprocess.run([program, "store", "list", "--store", os.path.join(scratch, "kept.db")], capture_output=True, text=True).stdout
if "scale" not in listed:
    complain("the cache is no store: %s" % listed)

# The source is in a file, with defines.
with open(os.path.join(scratch, "scale.c"), "w", encoding="utf-8") as file:
    file.write(source)
results, env = tuned({"chunk": [8, 16]}, given=os.path.join(scratch, "scale.c"), defines={"wrong": 0}, lang="C", answer=[right, None, None, None])
if not results:
    complain("a file: %s" % env["failed"])

# numpy's arrays and scalars have the same effect.
try:
    import numpy
except ImportError:
    print("python-tune.py: no numpy here: its arrays are skipped")
else:
    arguments = [numpy.zeros(n, numpy.float32), numpy.array(values), numpy.float32(2.5), numpy.int32(n)]
    results, env = kernel_tuner.tune_kernel("scale", source, n, arguments, choices, answer=[numpy.array(right), None, None, None], quiet=True)
    if not results or any(one["wrong"] for one in results):
        complain("numpy: %s" % results)

# `atol` holds for every type: the threshold is relative to the answer's root mean square, of an answer of zeros to 1.
shown = {"f": array.array("f", [3, 4] * 50), "d": array.array("d", [3, 4] * 50), "i": array.array("i", [3, -4] * 50), "B": array.array("B", [3, 4] * 50),
         "zeros": array.array("f", bytes(400))}
if "numpy" in sys.modules:
    shown.update(half=numpy.array([3, 4] * 50, numpy.float16), complex=numpy.array([5j, -5] * 50, numpy.complex64), bool=numpy.ones(100, numpy.bool_))
for name, answer in shown.items():
    size = {"complex": 5, "bool": 1, "zeros": 0.1}.get(name, 12.5 ** 0.5)
    entry = kernel_tuner._argument(scratch, 0, answer, answer, False, True, 0.02)
    if abs(entry["ValidationThreshold"] * size / 0.02 - 1) > 1e-9:
        complain("atol of %s: %s" % (name, entry))

# A matrix in the order of Fortran goes to the kernel as it lies in memory, and its answer in the same order.
if "numpy" in sys.modules:
    matrix = numpy.asfortranarray(numpy.arange(12, dtype=numpy.float32).reshape(3, 4))
    for answer in (matrix, numpy.ascontiguousarray(matrix)):
        kernel_tuner._argument(scratch, 9, matrix, answer, False, True, None)
        for name in ("argument_9.raw", "answer_9.raw"):
            with open(os.path.join(scratch, name), "rb") as file:
                if file.read() != matrix.T.tobytes():
                    complain("%s is not in the order of Fortran" % name)

# If no config is right, it says so and leaves no files behind.
try:
    tuned({"chunk": [4], "wrong": [1]}, answer=[right, None, None, None])
    complain("a wrong kernel is taken")
except kernel_tuner.KftuneError as fault:
    if fault.status != 1 or "wrong" not in str(fault):
        complain("a wrong kernel: %d, %s" % (fault.status, fault))

# Unsupported arguments are named.
for name, value in {
        "verify": print, "platform": 1, "texmem_args": {"t": 1}, "compiler": "nvcc", "simulation_mode": True, "observers": [1],
        "objective": "speed", "restrictions": lambda p: True, "grid_div_x": lambda p: 1, "strategy": "pso", "lang": "Fortran",
        "strategy_options": {"popsize": 3}, "no_such": 1}.items():
    try:
        tuned(choices, **{name: value})
        complain("%s is taken" % name)
    except ValueError as fault:
        if "'%s'" % name not in str(fault):
            complain("%s is not named: %s" % (name, fault))
for arguments, says in (([right, values, 2.5, ctypes.c_int(n)], "argument 2"), ([right, values, ctypes.c_float(1), None], "argument 3")):
    try:
        kernel_tuner.tune_kernel("scale", source, n, arguments, choices, quiet=True)
        complain("%s is taken" % says)
    except TypeError as fault:
        if says not in str(fault):
            complain("not %s: %s" % (says, fault))

# A GPU's kernel becomes a problem file that kftune reads, with its blocks and its grid.
folder = os.path.join(scratch, "cuda")
os.makedirs(folder)
given = dict.fromkeys(("lang", "block_size_names", "answer", "atol", "compiler_options", "defines", "grid_div_x", "grid_div_y", "grid_div_z",
                       "smem_args", "cmem_args", "restrictions"))
given.update(cmem_args={"weights": array.array("f", [1, 2, 3])}, smem_args={"size": "block_size_x * 4"}, grid_div_y=["block_size_y", "rows"],
             compiler_options=["-std=c++17"])
cuda = "__constant__ float weights[3];\n__global__ void blur(float *out, const float *in) {}"
path, language = kernel_tuner._problem(folder, "blur", cuda, (64, "32 * 2"), [values, right],
                                       {"block_size_x": [16, 32], "block_size_y": [1, 2], "rows": [1, 2]}, given)
kernel = json.load(open(path, encoding="utf-8"))["KernelSpecification"]
if (language, kernel["LocalSize"], kernel["GridDivX"], kernel["GridDivY"], [a["AccessType"] for a in kernel["Arguments"]]) != \
        ("CUDA", {"X": "block_size_x", "Y": "block_size_y"}, ["block_size_x"], ["block_size_y", "rows"], ["ReadWrite", "ReadOnly", "ReadOnly"]):
    complain("a CUDA kernel: %s" % kernel)
space = subprocess.run([program, "space", "--scene", path], capture_output=True, text=True)
if space.returncode != 0:
    complain("kftune does not read it: %s" % space.stderr)
sys.exit(1 if failures else 0)
