"""Gives the program small files that claim much work, and counts its allocations and the memory that it asks for.

usage: claims.py KFTUNE SHIM FOLDER

SHIM: the shared object of tests/tools/fail_nth.c, which counts. Each file is refused with status 2 and a line.
"""
import gzip
import json
import os
import struct
import subprocess
import sys

MOST_CALLS = 200_000
MOST_BYTES = 400 << 20  # one copy or two of the longest text that is read
LIBRARY = os.path.join(os.environ["KFTUNE_DATA"], "scene", "library")


def changed(name, **changes):
    """Returns a shipped scene with other values, given as section__key=value."""
    with open(os.path.join(LIBRARY, name + ".json"), encoding="utf-8") as file:
        scene = json.load(file)
    for path, value in changes.items():
        *sections, key = path.split("__")
        target = scene
        for section in sections:
            target = target.setdefault(section, {})
        target[key] = value
    return json.dumps(scene).encode()


def zeros(count):
    return b"[" + b"0," * count + b"0]"


def solid(mesh):
    return changed("ball", solid={"mesh": mesh})


GLB = struct.pack("<4sIIII", b"glTF", 2, 0xFFFFFFF0, 0xFFFFFFE0, 0x4E4F534A)
PLY = b"ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\n" \
      b"property float z\nelement face 4000000000\nproperty list uchar int vertex_indices\nend_header\n"
CHECKPOINT = b'{"kftune_checkpoint": 1, "system": "d2q9", "scene": "a", "step": 1, "state_bytes": 9000000000000000000}\n'
MANY = {"kftune_landscape": 1, "parameters": {"p%d" % i: list(range(100)) for i in range(10)}}
# Name of the file, its content, and the command ({}: the file).
FILES = [
    ("bomb.json.gz", gzip.compress(zeros(80 << 20)), "replay --landscape {}"),
    ("text.json.gz", gzip.compress(b'{"a":"' + b"a" * (160 << 20) + b'"}'), "store import {} --store s.db"),
    ("spacing.json", changed("pool", particles__spacing=0.05), "scene {}"),
    ("dust.json", changed("pool_thesis", particles__spacing=1e-9), "scene {}"),
    ("shaken.json", changed("particles_80", particles__spacing=1e-4), "scene {}"),
    ("valley.json", changed("river", particles__spacing=0.001), "scene {}"),
    ("cells.json", changed("ball", domain__cells=[16384, 16384, 16384], domain__size=[1, 1, 1]), "scene {}"),
    ("samples.json", changed("ball", sampling__samples_per_cell=1000, domain__cells=[960, 480, 480]), "scene {}"),
    ("plume.json", changed("plume", domain__cells=[1 << 30, 1 << 30]), "scene {}"),
    ("plume3d.json", changed("plume3d", domain__cells=[4096, 4096, 4096]), "scene {}"),
    ("deep.json", b"[" * (1 << 20), "scene {}"),
    ("triangles.stl", b"\0" * 80 + struct.pack("<I", 0xFFFFFFFF) + b"\0" * 50, "scene {}"),
    ("triangles.ply", PLY + b"\0" * 64, "scene {}"),
    ("triangles.glb", GLB, "scene {}"),
    ("state.kfc", CHECKPOINT, "run --scene cavity2d --device cpu --grid 16x16x1 --output r --restart {}"),
    ("landscape.json", json.dumps(MANY).encode(), "replay --landscape {}"),
]


def main():
    kftune, shim, folder = (os.path.abspath(word) for word in sys.argv[1:4])
    os.makedirs(folder, exist_ok=True)
    state = os.path.join(folder, "calls")
    bad = 0
    for name, content, command in FILES:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content)
        with open(state, "wb") as file:
            file.write(struct.pack("qq", 0, 0))
        environment = dict(os.environ, LD_PRELOAD=shim, KF_FAIL_CALL="malloc", KF_FAIL_NTH="0", KF_FAIL_STATE=state,
                           XDG_CACHE_HOME=os.path.join(folder, "cache"))
        done = subprocess.run([kftune] + command.replace("{}", path).split(), cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        with open(state, "rb") as file:
            calls, size = struct.unpack("qq", file.read())
        said = done.stderr.decode(errors="replace").strip().splitlines() or [""]
        words = []
        if done.returncode != 2 or not said[-1].startswith("kftune: "):
            words.append("ends with %d: %s" % (done.returncode, said[-1]))
        if calls == 0 or calls > MOST_CALLS:
            words.append("%d allocations" % calls)
        if size > MOST_BYTES:
            words.append("asks for %d MiB" % (size >> 20))
        print("%-16s %9d bytes  %7d allocations  %5d MiB  %s" % (name, len(content), calls, size >> 20, said[-1][:150]))
        if len(content) > 1 << 20:
            words.append("is no small file")
        for word in words:
            print("FAILED %s: %s" % (name, word))
        bad += len(words)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
