"""Reads every mesh below a folder by kftune and by the readers and the raster of this file, which share no code with it:
a table of boxes and of frontal areas along x. usage: real-meshes.py KFTUNE FOLDER [NAME...]: of all
meshes, or the rows of those names alone."""
import base64, collections, gzip, json, math, os, re, struct, subprocess, sys, tempfile, urllib.parse

ROWS = 600
ENDINGS = (".obj", ".stl", ".ply", ".gltf", ".glb")


class Unread(Exception):
    """A mesh that the readers here cannot read, although kftune may."""


def read_obj(data):
    places, faces = [], []
    text = data.decode("latin-1").replace("\\\r\n", " ").replace("\\\n", " ")
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            places.append(tuple(float(w) for w in words[1:4]))
        elif words[:1] == ["f"]:
            corners = [int(w.split("/")[0]) for w in words[1:]]
            faces.append([c - 1 if c > 0 else len(places) + c for c in corners])
    return places, faces


def read_stl(data):
    count = struct.unpack("<I", data[80:84])[0] if len(data) >= 84 else -1
    if data.lstrip()[:5].lower() == b"solid" and 84 + 50 * count != len(data):
        numbers = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", data, re.I)
        places = [tuple(float(n.replace(b",", b".")) for n in p) for p in numbers]
    else:
        places = [struct.unpack_from("<3f", data, 84 + 50 * t + 12 + 12 * c) for t in range(count) for c in range(3)]
    return places, [[i, i + 1, i + 2] for i in range(0, len(places), 3)]


def read_ply(data):
    end = re.search(rb"end_header\s*?\r?\n", data)
    header = data[: end.start()].decode("latin-1").split("\n")
    form, elements = None, []
    letters = {"char": "b", "int8": "b", "uchar": "B", "uint8": "B", "short": "h", "int16": "h", "ushort": "H",
               "uint16": "H", "int": "i", "int32": "i", "uint": "I", "uint32": "I", "float": "f", "float32": "f",
               "double": "d", "float64": "d"}
    for line in header:
        words = line.split()
        if words[:1] == ["format"]:
            form = words[1]
        elif words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        elif words[:1] == ["property"]:
            elements[-1][2].append(words[1:])
    at, order = end.end(), ">" if form == "binary_big_endian" else "<"
    words = iter(data[at:].split()) if form == "ascii" else None

    def number(kind):
        nonlocal at
        if words is not None:
            return float(next(words))
        value = struct.unpack_from(order + letters[kind], data, at)[0]
        at += struct.calcsize(order + letters[kind])
        return value

    places, faces = [], []
    for name, count, properties in elements:
        for _ in range(count):
            values = {}
            for p in properties:
                if p[0] == "list":
                    values[p[3]] = [int(number(p[2])) for _ in range(int(number(p[1])))]
                else:
                    values[p[1]] = number(p[0])
            if name == "vertex":
                places.append((values["x"], values["y"], values["z"]))
            elif name == "face":
                faces.append(values.get("vertex_indices", values.get("vertex_index")))
            elif name == "tristrips":
                raise Unread("strips")
    return places, faces


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def matrix_of(node):
    if "matrix" in node:
        m = node["matrix"]
        return [[m[4 * j + i] for j in range(4)] for i in range(4)]
    x, y, z, w = node.get("rotation", [0, 0, 0, 1])
    s, t = node.get("scale", [1, 1, 1]), node.get("translation", [0, 0, 0])
    r = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
         [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
         [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
    return [[r[i][j] * s[j] for j in range(3)] + [t[i]] for i in range(3)] + [[0, 0, 0, 1]]


def read_gltf(data, folder):
    chunk = None
    if data[:4] == b"glTF":
        length = struct.unpack_from("<I", data, 12)[0]
        chunk = data[20 + length + 8:]
        data = data[20:20 + length]
    root = json.loads(data)
    if not root.get("asset", {}).get("version", "1").startswith("2"):
        raise Unread("glTF 1.0")
    if root.get("extensionsRequired"):
        raise Unread("needs " + ", ".join(root["extensionsRequired"]))
    buffers = []
    for b in root.get("buffers", []):
        uri = b.get("uri")
        if uri is None:
            buffers.append(chunk)
        elif uri.startswith("data:"):
            buffers.append(base64.b64decode(uri.split(",", 1)[1]))
        else:
            with open(os.path.join(folder, urllib.parse.unquote(uri)), "rb") as file:
                buffers.append(file.read())
    places, faces = [], []

    def values(index, each):
        a = root["accessors"][index]
        if "sparse" in a or "bufferView" not in a:
            raise Unread("sparse accessors")
        view = root["bufferViews"][a["bufferView"]]
        letter = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}[a["componentType"]]
        size = struct.calcsize("<" + letter)
        stride = view.get("byteStride", size * each)
        start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
        return [struct.unpack_from("<%d%s" % (each, letter), buffers[view["buffer"]], start + i * stride)
                for i in range(a["count"])]

    def walk(number, outer):
        node = root["nodes"][number]
        m = product(outer, matrix_of(node))
        for p in root["meshes"][node["mesh"]]["primitives"] if "mesh" in node else []:
            mode = p.get("mode", 4)
            if mode < 4 or "POSITION" not in p["attributes"]:
                continue
            first, own = len(places), values(p["attributes"]["POSITION"], 3)
            places.extend(tuple(m[i][0] * x + m[i][1] * y + m[i][2] * z + m[i][3] for i in range(3)) for x, y, z in own)
            index = [v[0] for v in values(p["indices"], 1)] if "indices" in p else list(range(len(own)))
            index = [first + i for i in index]
            if mode == 4:
                faces.extend(index[i:i + 3] for i in range(0, len(index) - 2, 3))
            else:
                faces.extend([index[0] if mode == 6 else index[i], index[i + 1], index[i + 2]]
                             for i in range(len(index) - 2))
        for child in node.get("children", []):
            walk(child, m)

    identity = [[float(i == j) for j in range(4)] for i in range(4)]
    for number in root["scenes"][root.get("scene", 0)]["nodes"]:
        walk(number, identity)
    return places, faces


def own_reading(path, data):
    """Box of what faces use, and the area of the faces' shadow along x: rows of pixels, even and odd for each face."""
    ending = os.path.splitext(path)[1].lower()
    if ending in (".gltf", ".glb"):
        places, faces = read_gltf(data, os.path.dirname(path))
    else:
        places, faces = {".obj": read_obj, ".stl": read_stl, ".ply": read_ply}[ending](data)
    faces = [f for f in faces if len(f) >= 3]
    if not faces:
        raise Unread("no faces")
    used = [places[i] for f in faces for i in f]
    low, high = ([pick(p[a] for p in used) for a in range(3)] for pick in (min, max))
    width, height = high[1] - low[1], high[2] - low[2]
    if width <= 0 or height <= 0:
        return [h - l for l, h in zip(low, high)], 0.0
    rows = [bytearray(ROWS) for _ in range(ROWS)]
    scale_y, scale_z = ROWS / width, ROWS / height
    for f in faces:
        flat = [((places[i][1] - low[1]) * scale_y, (places[i][2] - low[2]) * scale_z) for i in f]
        first = max(0, math.ceil(min(q[1] for q in flat) - 0.5))
        last = min(ROWS - 1, math.floor(max(q[1] for q in flat) - 0.5))
        for row in range(first, last + 1):
            z = row + 0.5
            cuts = []
            for (ya, za), (yb, zb) in zip(flat, flat[1:] + flat[:1]):
                if (za > z) != (zb > z):
                    cuts.append(ya + (yb - ya) * (z - za) / (zb - za))
            cuts.sort()
            for begin, end in zip(cuts[::2], cuts[1::2]):
                i, j = max(0, math.ceil(begin - 0.5)), min(ROWS, math.ceil(end - 0.5))
                if j > i:
                    rows[row][i:j] = b"\1" * (j - i)
    return [h - l for l, h in zip(low, high)], sum(sum(r) for r in rows) / (scale_y * scale_z)


def by_kftune(kftune, path, folder):
    """Box and frontal area in the file's unit, or why not."""
    command = [kftune, "scene", path, "--up", "z", "--wind", "+x", "--road", "no", "--grid", "48x32x32", "--reynolds",
               "10", "--samples-per-cell", "1", "--json"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=300, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return None, "takes longer than 300 s"
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "status %d" % done.returncode
        return None, said.replace("kftune: ", "").replace(path, "").lstrip(":0123456789 ")
    seen = json.loads(done.stdout)
    return (seen["solid_m"], seen["frontal_area_m2"]), ""


def main():
    kftune, folder, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    found = sorted(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names
                   if re.sub(r"\.gz$", "", name.lower()).endswith(ENDINGS))
    called = {path: "/".join(os.path.relpath(path, folder).split("/")[-3:]) for path in found}
    unknown = [name for name in wanted if name not in called.values()]
    if unknown:
        sys.exit("real-meshes.py: no mesh is called " + ", ".join(unknown))
    if wanted:
        found = [path for path in found if called[path] in wanted]
    counts, table = collections.Counter(), []
    with tempfile.TemporaryDirectory() as work:
        for path in found:
            with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
                data = file.read()
            copy = path
            if path.endswith(".gz"):
                copy = os.path.join(work, os.path.basename(path)[:-3])
                with open(copy, "wb") as file:
                    file.write(data)
            seen, why = by_kftune(kftune, copy, work)
            try:
                own, unread = own_reading(copy, data), ""
            except Exception as error:  # any fault of a file
                own, unread = None, str(error) or type(error).__name__
            name = called[path]
            if seen is None:
                counts["refused"] += 1
                table.append((name, "refused", why[:150]))
            elif own is None:
                counts["read, not compared"] += 1
                table.append((name, "read", "not compared: " + unread[:60]))
            else:
                unit = max(seen[0]) / max(own[0])
                box = max(abs(s / unit - o) for s, o in zip(seen[0], own[0])) / max(own[0])
                area = seen[1] / unit**2 if seen[1] is not None else 0.0
                off = area / own[1] - 1 if own[1] > 0 else 0.0
                verdict = "same" if box < 2e-3 and abs(off) < 0.02 else "differs"
                counts["read, " + verdict] += 1
                table.append((name, verdict, "box %.4f %%, area %+.2f %%" % (100 * box, 100 * off)))
    rows = ["| %s |" % " | ".join(cell.replace("|", "/") for cell in row) for row in table]
    if wanted:
        print("\n".join(rows))
        return
    print("# Real meshes of three Debian packages\n")
    print("`scripts/real-meshes.sh`: %d meshes of `assimp-testmodels`, `openfoam-examples` and `gmsh-doc`, the box of each and its"
          % len(found))
    print("area along x, by kftune and by other readers and a raster of %d x %d pixels of even and odd.\n" % (ROWS, ROWS))
    print('"Same" is a box to 0.2 % and an area to 2 %. Refused are points, lines, damage, infinities, UTF-16, wrong indices and'
          " glTF 1.0.\n")
    print("| outcome | meshes |\n| --- | ---: |")
    for outcome, count in sorted(counts.items()):
        print("| %s | %d |" % (outcome, count))
    print("\n| mesh | outcome | largest difference of the box, in the longest side; area; or why |\n| --- | --- | --- |")
    print("\n".join(rows))


main()
