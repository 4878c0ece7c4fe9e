#!/usr/bin/env python3
"""libkftune from Python, with ctypes: tunes a scene (or a T1 file), then a Python function, and asks the store for both.
usage: scene.py STORE SCENE [NX NY NZ]"""
import ctypes
import sys
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_double, c_int, c_int64, c_long, c_size_t, c_uint64, c_void_p

kftune = ctypes.CDLL("libkftune.so.0")
for name, kind in (("error", c_char_p), ("version", c_char_p), ("json", c_char_p), ("time_us", c_double), ("integer", c_int64)):
    getattr(kftune, "kftune_" + name).restype = kind
kftune.kftune_best_config.restype = c_void_p
kftune.kftune_integer.argtypes = [c_void_p, c_char_p, c_int64]
for name in ("json", "time_us", "best_config", "exact", "free", "close"):
    getattr(kftune, "kftune_" + name).argtypes = [c_void_p]


class SceneOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("system", c_char_p), ("nodes", c_int * 3), ("samples_per_cell", c_double), ("seed", c_uint64)]


class Options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("device", c_char_p), ("store", c_char_p), ("strategy", c_char_p),
                ("fixed", POINTER(c_char_p)), ("seconds", c_double), ("evaluations", c_long), ("seed", c_uint64)]


Prepare = CFUNCTYPE(c_int, c_void_p, c_void_p)
Run = CFUNCTYPE(c_int, c_void_p)
Check = CFUNCTYPE(c_int, c_void_p, POINTER(c_double), POINTER(c_double))


class Functions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("context", c_void_p), ("prepare", Prepare), ("run", Run), ("check", Check), ("release", c_void_p)]


def must(status):
    if status != 0:
        sys.exit("kftune: " + kftune.kftune_error().decode())


def tune_and_ask(problem, options):
    for call in (kftune.kftune_tune, kftune.kftune_best):
        result = c_void_p()
        must(call(problem, byref(options), byref(result)))
        print("%.1f us  %s" % (kftune.kftune_time_us(result), kftune.kftune_json(result).decode()[:300]))
        kftune.kftune_free(result)


def main():
    store, scene = sys.argv[1], sys.argv[2]
    print("libkftune", kftune.kftune_version().decode())
    options = Options(size=ctypes.sizeof(Options), device=b"cpu", store=store.encode(), evaluations=1)
    nodes = (c_int * 3)(*[int(n) for n in sys.argv[3:6]])
    problem = c_void_p()
    must(kftune.kftune_open_scene(scene.encode(), byref(SceneOptions(size=ctypes.sizeof(SceneOptions), nodes=nodes)), byref(problem)))
    tune_and_ask(problem, options)
    kftune.kftune_close(problem)

    # A sum in chunks: how large should they be?
    numbers, state = list(range(20000)), {}

    @Prepare
    def prepare(_, config):
        state["chunk"] = kftune.kftune_integer(config, b"chunk", 1)
        return 0

    @Run
    def run(_):
        chunk = state["chunk"]
        state["sum"] = sum(sum(numbers[i:i + chunk]) for i in range(0, len(numbers), chunk))
        return 0

    @Check
    def check(_, deviation, bound):
        deviation[0], bound[0] = abs(state["sum"] - 19999 * 10000), 0
        return 0

    functions = Functions(size=ctypes.sizeof(Functions), prepare=prepare, run=run, check=check)
    space = b'{"parameters": [{"name": "chunk", "type": "integer", "values": [1, 10, 1000], "default": 1}]}'
    must(kftune.kftune_open_functions(b"python-sum", space, byref(functions), byref(problem)))
    options.evaluations = 3
    tune_and_ask(problem, options)
    kftune.kftune_close(problem)


main()
