"""kftune from Python, with Kernel Tuner's names: tune_kernel(kernel_name, kernel_source, problem_size, arguments, tune_params, ...).

A script for Kernel Tuner runs with `import kftune as kernel_tuner`. The kernel and its arguments become a T1 problem file in a temporary
folder, which libkftune tunes as `kftune tune` does: every config is verified, and measured in a process of its own. What is not taken is an
error that names it; docs/python.md has all arguments. Arrays are numpy's, or whatever has Python's buffer protocol.
"""
import ctypes
import json
import math
import os
import re
import shutil
import sqlite3
import struct
import tempfile
from ctypes import byref, c_char_p, c_double, c_int, c_long, c_size_t, c_uint64, c_void_p

__all__ = ["tune_kernel", "KftuneError"]


class KftuneError(RuntimeError):
    """What libkftune says of a failure; status as the program's exit status: 1 no config is right, 2 wrong input, 3 the machine."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


# --- The library -----------------------------------------------------------------------------------------------------------


class _SceneOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("system", c_char_p), ("nodes", c_int * 3), ("samples_per_cell", c_double), ("seed", c_uint64)]


class _Options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("device", c_char_p), ("store", c_char_p), ("strategy", c_char_p),
                ("fixed", ctypes.POINTER(c_char_p)), ("seconds", c_double), ("evaluations", c_long), ("seed", c_uint64),
                ("metrics", ctypes.POINTER(c_char_p)), ("objective", c_char_p)]


_Log = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)


def _open_library():
    """The one that KFTUNE_LIBRARY names, else the system's."""
    library = ctypes.CDLL(os.environ.get("KFTUNE_LIBRARY", "libkftune.so.0"))
    for name, kind in (("error", c_char_p), ("version", c_char_p), ("json", c_char_p)):
        getattr(library, "kftune_" + name).restype = kind
    for name in ("json", "free", "close"):
        getattr(library, "kftune_" + name).argtypes = [c_void_p]
    library.kftune_log.argtypes = [_Log, c_void_p]
    return library


# --- Values ----------------------------------------------------------------------------------------------------------------

_FLOATS = {("e", 2): "half", ("f", 4): "float", ("d", 8): "double", ("Zf", 8): "float2", ("Zd", 16): "double2"}


def _view(value, what):
    """Its memory, of an array or a numpy or ctypes scalar."""
    try:
        return memoryview(value)
    except TypeError:
        kind = type(value).__name__
        cure = "give it a type of the kernel's: numpy.int32(5), or ctypes.c_float(2.5)" if kind in ("int", "float", "bool") else \
            "kftune takes numpy arrays and scalars, and whatever has Python's buffer protocol"
        raise TypeError("%s is of Python's type %s: %s" % (what, kind, cure)) from None


def _type_of(view, what):
    """The type's name in a T1 file."""
    form = view.format.lstrip("@=<")
    if (form, view.itemsize) in _FLOATS:
        return _FLOATS[form, view.itemsize]
    if form == "?":
        return "bool"
    if form in "bhilq" and form:
        return "int%d" % (8 * view.itemsize)
    if form in "BHILQ" and form:
        return "uint%d" % (8 * view.itemsize)
    raise TypeError("%s has values of the kind '%s', which kernels do not take" % (what, view.format))


def _scalar(view, what):
    if view.format.lstrip("@=<").startswith("Z"):
        raise TypeError("%s is a complex number; give it as an array" % what)
    form = view.format.lstrip("@=<")
    value = struct.unpack("@" + form, view.tobytes())[0]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("%s is %s, which a problem file cannot hold" % (what, value))
    return int(value) if isinstance(value, bool) else value


def _bytes(view, column_first=False):
    """Its values without gaps, in the order of C or of Fortran."""
    return view.tobytes("F" if column_first else "C")


def _is_column_first(view):
    return view.f_contiguous and not view.c_contiguous


def _root_mean_square(view):
    """Of its values, complex ones by their size; what makes `atol` relative. Of zeros it is that of a single 1."""
    form = view.format.lstrip("@=<")
    count = view.nbytes // view.itemsize
    total = math.fsum(v[0] * v[0] for v in struct.iter_unpack("=" + form.lstrip("Z").translate({ord("l"): "q", ord("L"): "Q"}), _bytes(view)))
    return math.sqrt(total / count) or 1 / math.sqrt(count)


# --- From Kernel Tuner's words to a T1 file -----------------------------------------------------------------------------------

_NOT_TAKEN = {
    "verify": "outputs are held against `answer`, or against what the first config computes",
    "platform": "there is one platform",
    "texmem_args": "textures are not in T1 files",
    "compiler": "kernels are compiled by NVRTC, or the C compiler that `kftune doctor` names",
    "simulation_mode": "use `kftune replay --landscape CACHE`",
    "observers": "use `kftune tune --counters`, or --objective energy, on the T1 file",
}
_STRATEGIES = {"brute_force": "enumerate", "random_sample": "random", "bayes_opt": "model", "simulated_annealing": "annealing"}
_OWN_STRATEGIES = ("model", "local", "annealing", "random", "enumerate")
_LANGUAGES = {"CUDA": "CUDA", "CUPY": "CUDA", "NVCUDA": "CUDA", "HIP": "HIP", "OPENCL": "OpenCL", "C": "C", "C++": "C++"}


def _refuse(name, cure):
    raise ValueError("tune_kernel: '%s' is not taken: %s" % (name, cure))


def _source(kernel_source, lang):
    """The text of all files in one, with the folder of the first, and the language."""
    sources = kernel_source if isinstance(kernel_source, (list, tuple)) else [kernel_source]
    texts, folder = [], None
    for one in sources:
        if callable(one):
            _refuse("kernel_source", "a function that makes the source; give the source, or a file")
        one = os.fspath(one)
        if "\n" not in one and "{" not in one:
            if folder is None:
                folder = os.path.dirname(os.path.abspath(one))
            with open(one, encoding="utf-8") as file:
                one = file.read()
        texts.append(one)
    text = "\n".join(texts)
    if lang is None:
        lang = "CUDA" if "__global__" in text else "OpenCL" if re.search(r"\b(__)?kernel\b", text) else "C"
    if str(lang).upper() not in _LANGUAGES:
        _refuse("lang", "%s; there are %s" % (lang, ", ".join(sorted(set(_LANGUAGES.values())))))
    return text, folder, _LANGUAGES[str(lang).upper()]


def _parameter(name, values):
    values = [v.item() if hasattr(v, "item") else v for v in values]
    if not values:
        raise ValueError("tune_kernel: parameter '%s' has no values" % name)
    kinds = {type(v) for v in values}
    if kinds == {bool}:
        kind = "bool"
    elif kinds == {int}:
        kind = "int"
    elif kinds <= {int, float}:
        kind, values = "float", [float(v) for v in values]
    elif kinds == {str}:
        kind = "string"
    else:
        raise TypeError("tune_kernel: parameter '%s' has values of several kinds: %s" % (name, sorted(k.__name__ for k in kinds)))
    return {"Name": name, "Type": kind, "Values": values, "Default": values[0]}


def _expressions(name, value):
    """A list of numbers and expressions, of what may be one of them."""
    if value is None:
        return None
    if callable(value):
        _refuse(name, "a function; give expressions over the parameters, in strings")
    value = [value] if isinstance(value, (str, int)) or hasattr(value, "item") else list(value)
    for one in value:
        if callable(one):
            _refuse(name, "a function; give expressions over the parameters, in strings")
    return [one.item() if hasattr(one, "item") else one for one in value]


def _const_parameters(text, kernel_name, count):
    """Which of the kernel's parameters point to what is const, as its source says; none where it cannot be told."""
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    found = re.search(r"\b%s\s*\(([^()]*)\)" % re.escape(re.split(r"[<:]", kernel_name)[-1] or kernel_name), plain)
    parameters = found.group(1).split(",") if found else []
    if len(parameters) != count:
        return [False] * count
    return [bool(re.search(r"\bconst\b[^*]*\*", p)) for p in parameters]


def _write(folder, name, view, column_first=False):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(_bytes(view, column_first))
    return name


def _argument(folder, number, value, answer, constant, judged, atol):
    what = "argument %d" % number
    view = _view(value, what)
    entry = {"Name": "argument_%d" % number, "Type": _type_of(view, what)}
    if view.ndim == 0:
        if answer is not None:
            raise ValueError("answer %d: argument %d is a scalar, which a kernel cannot write" % (number, number))
        return dict(entry, MemoryType="Scalar", FillValue=_scalar(view, what))
    if view.nbytes == 0:
        raise ValueError("%s is an empty array" % what)
    entry.update(MemoryType="Vector", Size=view.nbytes // view.itemsize, AccessType="ReadOnly" if constant else "ReadWrite",
                 FillType="BinaryRaw", DataSource=_write(folder, "argument_%d.raw" % number, view, _is_column_first(view)))
    if answer is not None:
        right = _view(answer, "answer %d" % number)
        if (right.nbytes, _type_of(right, "answer %d" % number)) != (view.nbytes, entry["Type"]):
            raise ValueError("answer %d is not of the type and size of argument %d" % (number, number))
        entry["AccessType"] = "ReadWrite"
        entry["ReferenceSource"] = _write(folder, "answer_%d.raw" % number, right, _is_column_first(view))
        if atol is not None:
            entry["ValidationThreshold"] = atol / _root_mean_square(right)
    elif judged and not constant:
        entry["Output"] = False
    return entry


def _compiler_options(options, defines, folder):
    words = [options] if isinstance(options, str) else list(options or [])
    for name, value in (defines or {}).items():
        if callable(value):
            _refuse("defines", "'%s' is a function; give its value" % name)
        words.append("-D%s=%s" % (name, value))
    if folder is not None:
        words.append("-I" + folder)
    return words


def _problem(folder, kernel_name, kernel_source, problem_size, arguments, tune_params, given):
    """Writes the T1 file with all that belongs to it; returns its path and the language."""
    text, beside, language = _source(kernel_source, given["lang"])
    blocks = list(given["block_size_names"] or ["block_size_x", "block_size_y", "block_size_z"])
    names = list(tune_params)
    answer = given["answer"]
    if answer is not None and len(answer) != len(arguments):
        raise ValueError("tune_kernel: answer has %d entries for %d arguments" % (len(answer), len(arguments)))
    judged = answer is not None and any(one is not None for one in answer)
    constant = _const_parameters(text, kernel_name, len(arguments))
    suffix = {"C": ".c", "C++": ".cc", "OpenCL": ".cl"}.get(language, ".cu")
    with open(os.path.join(folder, "kernel" + suffix), "w", encoding="utf-8") as file:
        file.write(text)
    kernel = {
        "Language": language, "KernelName": kernel_name, "KernelFile": "kernel" + suffix,
        "ProblemSize": _expressions("problem_size", problem_size),
        "CompilerOptions": _compiler_options(given["compiler_options"], given["defines"], beside),
        "Arguments": [_argument(folder, i, value, answer[i] if judged else None, constant[i], judged, given["atol"])
                      for i, value in enumerate(arguments)],
    }
    local = {axis: name for axis, name in zip("XYZ", blocks) if name in names}
    if local and language not in ("C", "C++"):
        kernel["LocalSize"] = local
    for axis, name in zip("XYZ", blocks):
        divisors = _expressions("grid_div_" + axis.lower(), given["grid_div_" + axis.lower()])
        if divisors is None and name in names:
            divisors = [name]
        if divisors:
            kernel["GridDiv" + axis] = [str(one) for one in divisors]
    if given["smem_args"]:
        kernel["SharedMemory"] = given["smem_args"]["size"]
    for name, value in (given["cmem_args"] or {}).items():
        view = _view(value, "cmem_args['%s']" % name)
        kernel["Arguments"].append({
            "Name": name, "Type": _type_of(view, name), "MemoryType": "Vector", "MemType": "Constant", "AccessType": "ReadOnly",
            "Size": max(1, view.nbytes // view.itemsize), "FillType": "BinaryRaw", "DataSource": _write(folder, name + ".raw", view)})
    restrictions = given["restrictions"]
    if callable(restrictions):
        _refuse("restrictions", "a function; give expressions over the parameters, in strings")
    restrictions = [restrictions] if isinstance(restrictions, str) else list(restrictions or [])
    if any(not isinstance(one, str) for one in restrictions):
        _refuse("restrictions", "a function; give expressions over the parameters, in strings")
    problem = {
        "General": {"BenchmarkName": re.sub(r"[^A-Za-z0-9_.-]", "_", kernel_name)[:39]},
        "ConfigurationSpace": {"TuningParameters": [_parameter(n, v) for n, v in tune_params.items()],
                               "Conditions": [{"Expression": one} for one in restrictions]},
        "KernelSpecification": kernel,
    }
    path = os.path.join(folder, "problem.t1.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(problem, file)
    return path, language


# --- Tuning ----------------------------------------------------------------------------------------------------------------


def _measured(parameters, time_us, energy):
    """A result as a script sees it: time in milliseconds, and the energy in joules where the device tells it."""
    return dict(parameters, time=time_us / 1000, **({} if energy is None else {"energy": energy}))


def _results(store):
    """Every config of the last run: its parameters and its time in milliseconds, or its state where it has none."""
    base = sqlite3.connect("file:%s?mode=ro" % store.replace("?", "%3f").replace("#", "%23"), uri=True)
    rows = base.execute("SELECT config.json, result.state, result.step_us, result.reason, result.energy_j FROM result JOIN config ON config.id = result.config "
                        "WHERE result.run = (SELECT max(id) FROM run WHERE origin = 'measured') ORDER BY result.sequence").fetchall()
    base.close()
    configs = {}
    for text, state, time, reason, energy in rows:
        if state == "ok" or text not in configs:
            configs[text] = (state, time, reason, energy)
    good, bad = [], []
    for text, (state, time, reason, energy) in configs.items():
        parameters = json.loads(text)["parameters"]
        if state == "ok":
            good.append(_measured(parameters, time, energy))
        else:
            bad.append(dict(parameters, state=state, reason=reason))
    return good, bad


def _strategy(name, options):
    options = dict(options or {})
    found = {"seconds": float(options.pop("time_limit", 0)), "evaluations": int(options.pop("max_fevals", 0)),
             "seed": int(options.pop("seed", 0))}
    for other in options:
        _refuse("strategy_options", "'%s'; there are max_fevals, time_limit and seed" % other)
    if name is not None and name not in _STRATEGIES and str(name).split(":")[0] not in _OWN_STRATEGIES:
        _refuse("strategy", "'%s'; there are %s and, of Kernel Tuner's, %s" % (name, ", ".join(_OWN_STRATEGIES), ", ".join(sorted(_STRATEGIES))))
    found["strategy"] = _STRATEGIES.get(name, name)
    if name == "brute_force" and not found["seconds"] and not found["evaluations"]:
        found["evaluations"] = 1000000000
    return found


_QUANTITIES = ("time", "energy", "power", "edp")
_LARGE_IS_BETTER = ("GFLOP/s", "TFLOP/s", "GB/s", "TB/s", "GFLOPS/W", "TFLOPS/W", "GFLOP/J", "TFLOP/J")


def _needed(names, metrics):
    """The metrics that these need, in the order given, as kftune has them: its time is in seconds, that of scripts in milliseconds."""
    wanted, waiting = set(), [name for name in names if name not in _QUANTITIES]
    while waiting:
        name = waiting.pop()
        if name not in metrics:
            _refuse("objective", "there is no metric '%s'; give time, energy, power, edp or the name of one of `metrics`" % name)
        if callable(metrics[name]):
            _refuse("objective", "'%s' is a function, which only Python can work out; give the metric as an expression in a string" % name)
        wanted.add(name)
        words = set(re.findall(r"[A-Za-z_]\w*", metrics[name]))
        waiting += [other for other in metrics if other in words and other not in wanted]
    return ["%s=%s" % (name, re.sub(r"\btime\b", "(1000*time)", metrics[name])) for name in metrics if name in wanted]


def _objective(objective, higher, metrics):
    """The objective in kftune's words, and the metrics it needs."""
    names = [objective or "time"] if objective is None or isinstance(objective, str) else list(objective)
    directions = list(higher) if isinstance(higher, (list, tuple)) else [higher] * len(names)
    if len(directions) != len(names):
        raise ValueError("tune_kernel: objective_higher_is_better has %d entries for %d objectives" % (len(directions), len(names)))
    words, needed = [], _needed(names, metrics or {})
    for name, direction in zip(names, directions):
        if direction is None and name not in _QUANTITIES and name not in _LARGE_IS_BETTER:
            raise ValueError("tune_kernel: say with objective_higher_is_better whether '%s' is to be large" % name)
        words.append(("max:" if direction or (direction is None and name in _LARGE_IS_BETTER) else "") + name)
    return ",".join(words), needed


def _add_metrics(results, metrics):
    for result in results:
        for name, metric in (metrics or {}).items():
            result[name] = metric(result) if callable(metric) else eval(metric, {"__builtins__": {}}, dict(result))  # The caller's own text.


def tune_kernel(kernel_name, kernel_source, problem_size, arguments, tune_params, grid_div_x=None, grid_div_y=None, grid_div_z=None,
                restrictions=None, answer=None, atol=None, verify=None, verbose=False, lang=None, device=0, platform=0, smem_args=None,
                cmem_args=None, texmem_args=None, compiler=None, compiler_options=None, defines=None, log=None, iterations=None,
                block_size_names=None, quiet=False, strategy=None, strategy_options=None, cache=None, metrics=None, simulation_mode=False,
                observers=None, objective=None, objective_higher_is_better=None, **others):
    """Tunes a kernel. Returns (results, env): a dict for each config that is right, of its parameters, "time" in milliseconds and the metrics;
    and what is known of the device and the run, with "best" by the objective, "front" of several objectives, and "failed", the other configs
    with their state and reason. iterations, log and
    verbose change nothing: a config is measured until its time is known well enough."""
    given = dict(locals())
    for name, cure in _NOT_TAKEN.items():
        if given[name]:
            _refuse(name, cure)
    for name in others:
        _refuse(name, "tune_kernel has no such argument here")
    goal, expressions = _objective(objective, objective_higher_is_better, metrics)
    chosen = _strategy(strategy, strategy_options)
    library = _open_library()
    folder = tempfile.mkdtemp(prefix="kftune-python-")
    problem, result = c_void_p(), c_void_p()
    line = _Log(lambda _, text: None if quiet else print(text.decode(errors="replace")))

    def must(status):
        if status != 0:
            raise KftuneError(status, library.kftune_error().decode())

    try:
        path, language = _problem(folder, kernel_name, kernel_source, problem_size, arguments, tune_params, given)
        store = os.path.join(folder, "store.db") if cache is None else re.sub(r"\.json$", "", os.fspath(cache)) + ".db"
        where = "cpu" if language in ("C", "C++") else "cuda:%d" % device
        library.kftune_log(line, None)
        must(library.kftune_open_scene(path.encode(), byref(_SceneOptions(size=ctypes.sizeof(_SceneOptions))), byref(problem)))
        options = _Options(size=ctypes.sizeof(_Options), device=where.encode(), store=store.encode(), seconds=chosen["seconds"],
                           strategy=chosen["strategy"].encode() if chosen["strategy"] else None,
                           evaluations=chosen["evaluations"], seed=chosen["seed"], objective=goal.encode(),
                           metrics=(c_char_p * (len(expressions) + 1))(*[one.encode() for one in expressions], None))
        must(library.kftune_tune(problem, byref(options), byref(result)))
        told = json.loads(library.kftune_json(result).decode())
        results, failed = _results(store)
    finally:
        library.kftune_free(result)
        library.kftune_close(problem)
        library.kftune_log(_Log(0), None)
        shutil.rmtree(folder, ignore_errors=True)
    _add_metrics(results, metrics)
    best, *front = [_measured(one["config"]["parameters"], one["time_us"], one["energy_j"]) for one in [told["best"]] + told["front"]]
    _add_metrics([best] + front, metrics)
    return results, {"device_name": told["device"]["name"], "best": best, "front": front, "failed": failed, "kftune": told}
