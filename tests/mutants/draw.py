#!/usr/bin/env python3
"""Draws lines of code at random, weighted by lines, and a change of each by program.
usage: tests/mutants/draw.py ROOT SEED COUNT [FOLDER|FILE...], of all rooms or of these folders and files only
Writes COUNT faults as of tests/mutants/list.txt without programs: id, file, line, operator; from; to."""
import os, random, re, sys

root, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(seed)
ROOMS = sys.argv[4:] or ["base", "kernels", "scene", "solver", "cost_model", "results", "plots", "harness"]
NO_MACHINE = re.compile(r"base/backend/cuda|base/backend/team/cuda|cupti|nvml|world|harness/counters/ncu")  # need a GPU or MPI

def code_lines(path):
    inside, out = False, []
    depth = 0
    for n, line in enumerate(open(path, encoding="utf-8", errors="replace"), 1):
        text = line.rstrip("\n")
        s = text.strip()
        if inside:
            if "*/" in s: inside = False
            continue
        if s.startswith("/*") and "*/" not in s: inside = True; continue
        if not s or s.startswith("#") or s.startswith("//") or (s.startswith("/*") and s.endswith("*/")): continue
        if re.fullmatch(r"[{}()\[\];,\s]*|else \{|\} else \{|default:|break;|\}.*;", s): continue
        if s.endswith("\\"): continue
        out.append((n, text))
    return out

def files_of(room):
    path = os.path.join(root, room)
    if os.path.isfile(path): return [path]
    return [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]

pool = []
for rel in {os.path.relpath(path, root) for room in ROOMS for path in files_of(room)}:
    if NO_MACHINE.search(rel): continue
    if rel.endswith((".c", ".cu")) or (rel.endswith(".h") and rel.startswith("kernels")):
        pool += [(rel, n, t) for n, t in code_lines(os.path.join(root, rel))]
pool.sort()

def outside_strings(s):
    """positions that are not in string or character literals or comments"""
    ok, i, q = [], 0, None
    mask = [True] * len(s)
    while i < len(s):
        c = s[i]
        if q:
            mask[i] = False
            if c == "\\": 
                if i + 1 < len(s): mask[i + 1] = False
                i += 2; continue
            if c == q: q = None
        elif c in "\"'": q = c; mask[i] = False
        elif s.startswith("/*", i):
            e = s.find("*/", i)
            e = len(s) if e < 0 else e + 2
            for k in range(i, e): mask[k] = False
            i = e; continue
        i += 1
    return mask

def spots(regex, s, mask):
    return [m for m in re.finditer(regex, s) if all(mask[m.start():m.end()])]

def replace(s, m, new): return s[:m.start()] + new + s[m.end():]

def op_number(s, mask, ctx):
    ms = spots(r"(?<![\w.])(?:\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\d+)(?![\w.])", s, mask)
    if not ms: return None
    m = rng.choice(ms); t = m.group()
    if re.fullmatch(r"\d+", t):
        v = int(t); new = str(rng.choice([x for x in (v + 1, v - 1, 2 * v) if x != v and x >= 0]))
    else:
        v = float(t); new = repr(v * rng.choice([2, 0.5, 1.5]) if v else 1.0)
    return replace(s, m, new)

def op_sign(s, mask, ctx):
    ms = spots(r"(?<=[\w)\]] )[-+*/](?= [\w(\-&*])|(?<=[\w)\]])(?:\+\+|--)|[-+*/]=", s, mask)
    if not ms: return None
    m = rng.choice(ms)
    new = {"+": "-", "-": "+", "*": "/", "/": "*", "++": "--", "--": "++", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}[m.group()]
    return replace(s, m, new)

def op_compare(s, mask, ctx):
    ms = spots(r"(?<= )(?:<=|>=|<|>|==|!=|&&|\|\|)(?= )", s, mask)
    if not ms or s.lstrip().startswith("#"): return None
    m = rng.choice(ms)
    new = {"<": ["<=", ">"], "<=": ["<", ">="], ">": [">=", "<"], ">=": [">", "<="], "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"]}[m.group()]
    return replace(s, m, rng.choice(new))

def op_drop(s, mask, ctx):
    t = s.strip()
    if re.match(r"(return|case|break|continue|goto|typedef|extern|static const|const |enum|struct|else)\b", t): return None
    m = re.match(r"^(\s*)if \((.*)\) (return .*;|continue;|break;)$", s)
    if m: return f"{m[1]}if (0 && ({m[2]})) {m[3]}"
    if not t.endswith(";") or t.count("(") != t.count(")") or t.count("{") != t.count("}"): return None
    # a declaration is not dropped
    if re.match(r"^(?:(?:unsigned|signed|static|const|struct|long|int|double|float|bool|char|size_t|uint\w+|int\w+|kf_[a-z0-9_]+|cJSON|FILE|void)\b[ *]+)+[a-z_]", t) : return None
    if not re.match(r"^[A-Za-z_(*]", t) or not ctx["previous"].rstrip().endswith((";", "{", "}", ":", "*/")) : return None
    return re.match(r"^\s*", s).group() + "(void)0;"

def op_swap(s, mask, ctx):
    ms = spots(r"\(([^(),]+), ([^(),]+)(?=[,)])", s, mask)
    ms += spots(r"(?<=, )([^(),]+), ([^(),]+)(?=[,)])", s, mask)
    ms = [m for m in ms if m.group(1) != m.group(2)]
    if not ms: return None
    m = rng.choice(ms)
    lead = "(" if m.group().startswith("(") else ""
    return replace(s, m, f"{lead}{m.group(2)}, {m.group(1)}")

KEY = set("if for while return else switch case int double float char bool const static void unsigned long size_t struct sizeof NULL true false do break continue enum default".split())
def op_name(s, mask, ctx):
    word = r"(?<![\w.>\"])[a-z_]\w*(?![\w(])|(?<=->)[a-z_]\w*(?!\w)(?!\()|(?<=\.)[a-z_]\w*(?![\w(])|\b[A-Z][A-Z0-9_]{3,}\b|\bkf_\w+(?=\()"
    ms = [m for m in spots(word, s, mask) if m.group() not in KEY]
    if not ms: return None
    m = rng.choice(ms); t = m.group()
    def kind(text, a, b):
        if text[a - 2:a] == "->" or text[a - 1:a] == ".": return "member"
        if text[a:b].isupper(): return "constant"
        if text[b:b + 1] == "(": return "call"
        return "name"
    k = kind(s, m.start(), m.end())
    others = set()
    for line in ctx["around"]:
        lm = outside_strings(line)
        for o in spots(word, line, lm):
            if o.group() not in KEY and o.group() != t and kind(line, o.start(), o.end()) == k: others.add(o.group())
    if not others: return None
    return replace(s, m, rng.choice(sorted(others)))

OPS = {"number": op_number, "sign": op_sign, "compare": op_compare, "drop": op_drop, "swap": op_swap, "name": op_name}
lines_of = {}
out, tries = [], 0
seen = set()
while len(out) < count:
    tries += 1
    rel, n, text = pool[rng.randrange(len(pool))]
    if (rel, n) in seen: continue
    if rel not in lines_of: lines_of[rel] = open(os.path.join(root, rel), encoding="utf-8", errors="replace").read().split("\n")
    all_lines = lines_of[rel]
    ctx = {"previous": next((l for l in reversed(all_lines[:n - 1]) if l.strip()), ""), "around": all_lines[max(0, n - 12):n + 10]}
    names = sorted(OPS); rng.shuffle(names)
    for name in names:
        new = OPS[name](text, outside_strings(text), ctx)
        if new is not None and new != text: break
    else: continue
    seen.add((rel, n))
    out.append((rel, n, name, text, new))
print(f"seed {seed}: {len(pool)} lines, {tries} drawn for {count}", file=sys.stderr)
for i, (rel, n, name, a, b) in enumerate(out, 1):
    print(f"A{i} {rel} {n} {name}\n- {a}\n+ {b}")
