#!/usr/bin/env python3
"""Tunes under mpirun again and again, and each time does something to a process of it, at random.

usage: rank_faults.py KFTUNE SHIM FOLDER [--seconds S] [--ranks N] [--seed N] [--limit S] [--table FILE] [--faults LIST]

KFTUNE: the program. SHIM: tests/tools/failing_shim.c, built as tests/e2e/ranks-fail.sh builds it. FOLDER: to work in.
A fault is a signal, memory or files that a process no longer gets, a message that MPI does not take, or a kernel that ends
its process; its rank and its moment are drawn: some seconds after the beginning, or so many results. After a fault all processes must end within --limit seconds (60), with a line
of kftune's or, where mpirun ends them first, of mpirun's; no process and no shared memory may be left; the store must be whole
and hold all that it held; and `--resume` must go on. A process that was only stopped for two seconds must not end anything.
"""
import argparse
import glob
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

SIGNALS = ["KILL", "STOP", "SEGV", "ABRT", "BUS", "TERM", "HUP", "INT", "QUIT", "PIPE", "USR1"]
FAULTS = ["SIG" + name for name in SIGNALS] + ["pause of 2 s", "no memory", "no files", "message", "kernel"]
SCENES = [
    ["--scene", "cavity2d", "--system", "d2q9", "--grid", "48x64x1"],
    ["--scene", "cylinder2d", "--system", "d2q9", "--grid", "96x64x1"],
    ["--scene", "ball", "--system", "kinetic", "--grid", "32x24x32", "--fix", "storage=f32"],
]
ENDLESS = 100000  # configs: more than are measured before the fault comes
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_btl": "self,vader", "OMPI_MCA_orte_tmpdir_base": "/tmp", "OMPI_MCA_hwloc_base_binding_policy": "none",
       "OMPI_MCA_mpi_yield_when_idle": "1"}
ENDING_COMPILER = """#!/bin/sh
for word; do
    case $word in -DKF_LAYOUT=1) set -- "$@" -include "$(dirname "$0")/ends.h"; break ;; esac
done
exec cc -O1 "$@"
"""
ENDS = "#include <signal.h>\n__attribute__((constructor)) static void end(void) { raise(SIGSEGV); }\n"


def children(parent):
    """Returns the processes that mpirun has started, by rank."""
    found = []
    with open(f"/proc/{parent}/task/{parent}/children") as file:
        for pid in file.read().split():
            try:
                with open(f"/proc/{pid}/comm") as name:
                    if name.read().strip() == "kftune":
                        found.append(int(pid))
            except OSError:
                pass
    return sorted(found)


def restore_signals():
    """Restores signals that a shell ignores in its background jobs, and in all that these start."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


class Hour:
    def __init__(self, asked):
        self.asked = asked
        self.folder = os.path.abspath(asked.folder)
        self.random = random.Random(asked.seed)
        self.environment = dict(os.environ, **MPI)
        self.bad, self.rows = [], {}
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.compiler = os.path.join(self.folder, "ending-compiler")
        for name, text in (("ending-compiler", ENDING_COMPILER), ("ends.h", ENDS)):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)
        os.chmod(self.compiler, 0o755)

    def show(self, *words):
        return subprocess.run([self.asked.kftune, "store", *words, "--store", self.store], capture_output=True, text=True,
                              env=self.environment)

    def count(self):
        """Returns the results so far, while the run continues."""
        try:
            with sqlite3.connect(f"file:{self.store}?mode=ro", uri=True) as store:
                return store.execute("SELECT count(*) FROM result").fetchone()[0]
        except sqlite3.Error:
            return 0

    def results(self):
        """Returns how many results the store has, or None if it is damaged."""
        if not os.path.exists(self.store):
            return 0
        if self.show("check").returncode != 0:
            return None
        with sqlite3.connect(self.store) as store:
            return store.execute("SELECT count(*) FROM result").fetchone()[0]

    def words(self, scene, evaluations, kind, rank):
        """Returns the command of mpirun. One of its ranks may have an environment of its own."""
        ranks = self.asked.ranks
        tune = [self.asked.kftune, "tune", *scene, "--devices", "cpu:1", "--budget", f"{evaluations}evals", "--rounds", "0",
                "--effort", "0.01", "--store", self.store, "--out", os.path.join(self.folder, "best.json"), "--resume",
                "--seed", str(self.random.randrange(1, 1 << 30))]
        if kind == "message":
            own = ["env", "KFTUNE_MPI_SHIM=" + self.asked.shim, f"KFTUNE_TEST_MESSAGE={self.random.randrange(1, 300)}"]
        elif kind == "kernel":
            own = ["env", f"XDG_CACHE_HOME={self.folder}/other-cache", "KFTUNE_CC=" + self.compiler]
        else:
            return ["mpirun", "-n", str(ranks), *tune]
        parts = [(rank, []), (1, own), (ranks - rank - 1, [])]
        words = ["mpirun"]
        for count, before in parts:
            if count > 0:
                words += ([":"] if len(words) > 1 else []) + ["-n", str(count), *before, *tune]
        return words

    def strike(self, kind, rank, mpirun):
        """Does it to a rank. Returns False if none was left."""
        pids = children(mpirun.pid)
        if len(pids) <= rank:
            return False
        pid = pids[rank]
        try:
            if kind.startswith("SIG"):
                os.kill(pid, getattr(signal, kind))
            elif kind == "pause of 2 s":
                os.kill(pid, signal.SIGSTOP)
                time.sleep(2)
                os.kill(pid, signal.SIGCONT)
            elif kind == "no memory":
                with open(f"/proc/{pid}/statm") as file:
                    used = int(file.read().split()[0]) * resource.getpagesize()
                resource.prlimit(pid, resource.RLIMIT_AS, (used + self.random.randrange(1 << 20), resource.RLIM_INFINITY))
            elif kind == "no files":
                used = len(os.listdir(f"/proc/{pid}/fd"))
                resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + self.random.randrange(2), used + 2))
        except (ProcessLookupError, FileNotFoundError):
            return False
        return True

    def limit(self, kind):
        """Returns the seconds until all must have ended. If a rank is stopped before it has joined the others, these have their
        time limit for joining. After an interrupt there is the time of the config that is being compiled and measured."""
        return self.asked.limit + (180 if kind in ("SIGSTOP", "SIGTERM", "SIGHUP", "SIGINT", "SIGUSR1") else 0)

    def once(self, number):
        faults = self.asked.faults
        kind = faults[number % len(faults)] if number < 2 * len(faults) else self.random.choice(faults)
        scene, rank = self.random.choice(SCENES), self.random.randrange(self.asked.ranks)
        fresh = number % 4 == 0
        self.store = os.path.join(self.folder, f"store-{number // 4}.db")
        if fresh:
            for file in glob.glob(os.path.join(self.folder, "store-*")):
                os.unlink(file)
            self.scene = scene
        before = self.results()
        outside = kind not in ("message", "kernel")
        out = os.path.join(self.folder, "out")
        with open(out, "w") as file:
            began = time.monotonic()
            mpirun = subprocess.Popen(self.words(self.scene, ENDLESS if outside else 12, kind, rank), stdout=file,
                                      stderr=subprocess.STDOUT, env=self.environment, stdin=subprocess.DEVNULL,
                                      preexec_fn=restore_signals)
            pids, struck, status = [], not outside, None
            early = [] if kind == "SIGSTOP" and number >= 2 * len(faults) else [0.3, 1]
            moment, wanted = self.random.choice([*early, 3, 6, 0, 0, 0, 0]) * self.random.uniform(0.5, 1.5), 0
            if moment == 0:  # so many results, or a minute
                moment, wanted = 60, (before or 0) + int(10 ** self.random.uniform(0, 2))
            at = began + moment
            while status is None:
                pids = children(mpirun.pid) or pids
                if not struck and wanted > 0 and self.count() >= wanted:
                    at, wanted = time.monotonic(), 0
                if not struck and time.monotonic() >= at:
                    struck = self.strike(kind, rank, mpirun)
                    at = time.monotonic() + (0 if struck else 0.2)
                waited = time.monotonic() - at
                if kind in ("pause of 2 s", "SIGPIPE", "no memory", "no files") and struck and waited > 8:
                    mpirun.send_signal(signal.SIGINT)  # it goes on: enough
                    at = time.monotonic()
                    kind += ", then Ctrl-C"
                elif struck and waited > (self.limit(kind) if outside or "," in kind else 600):
                    break
                time.sleep(0.02)
                status = mpirun.poll()
        took = time.monotonic() - at
        text = open(out, errors="replace").read()
        self.judge(kind if struck else kind + ", not met", rank, number, before, status, took, text, pids, mpirun)

    def judge(self, kind, rank, number, before, status, took, text, pids, mpirun):
        own = [line for line in text.split("\n") if line.startswith("kftune: ") and "warning" not in line]
        wrong = []
        if status is None:
            wrong.append("hangs")
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            mpirun.kill()
            mpirun.wait()
        if status == 0 and "not met" not in kind and kind not in ("message", "kernel", "no memory", "no files", "SIGPIPE"):
            wrong.append("ends with status 0")
        if not own and "-----" not in text and status != 0 and "Ctrl-C" not in kind:
            wrong.append("says nothing")
        time.sleep(0.3)
        left = [pid for pid in pids if os.path.exists(f"/proc/{pid}") and open(f"/proc/{pid}/stat").read().split()[2] != "Z"]
        if left and status is not None:
            wrong.append(f"{len(left)} processes are left")
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        after = self.results()
        if after is None:
            wrong.append("the store is not whole")
        elif before is not None and after < before:
            wrong.append(f"results are lost: {before} before, {after} after")
        row = self.rows.setdefault(kind, {"times": 0, "own": 0, "zero": 0, "longest": 0.0, "statuses": {}, "wrong": 0})
        row["times"] += 1
        row["own"] += bool(own)
        row["zero"] += status == 0
        row["statuses"][str(status)] = row["statuses"].get(str(status), 0) + 1
        row["wrong"] += bool(wrong)
        if "message" not in kind and "kernel" not in kind and "not met" not in kind:
            row["longest"] = max(row["longest"], took)
        print(f"{number}: {kind}, rank {rank}: status {status}, {took:.1f} s, {before} -> {after} results: "
              f"{'; '.join(wrong) or 'as it must'} | {(own or text.strip().split(chr(10)))[0][:150]}", flush=True)
        if wrong:
            self.bad.append(f"{number} {kind} {wrong}")
            shutil.copy(os.path.join(self.folder, "out"), os.path.join(self.folder, f"wrong-{number}.txt"))

    def table(self):
        lines = ["| fault | times | with a line of kftune's | statuses | longest to the end (s) | wrong |",
                 "| --- | ---: | ---: | --- | ---: | ---: |"]
        for kind in sorted(self.rows):
            r = self.rows[kind]
            statuses = ", ".join(f"{s} ({n})" for s, n in sorted(r["statuses"].items()))
            longest = f"{r['longest']:.1f}" if r["longest"] > 0 else ""
            lines.append(f"| {kind} | {r['times']} | {r['own']} | {statuses} | {longest} | {r['wrong']} |")
        return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    for name in ("kftune", "shim", "folder"):
        parser.add_argument(name)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--table")
    parser.add_argument("--faults", type=lambda text: text.split(","), default=FAULTS)
    asked = parser.parse_args()
    asked.kftune, asked.shim = os.path.abspath(asked.kftune), os.path.abspath(asked.shim)
    hour, until, number = Hour(asked), time.monotonic() + asked.seconds, 0
    while time.monotonic() < until:
        hour.once(number)
        number += 1
        if asked.table:
            with open(asked.table, "w") as file:
                file.write(hour.table())
    print(hour.table())
    print(f"{number} runs, {len(hour.bad)} wrong")
    for line in hour.bad:
        print("WRONG", line)
    return 1 if hour.bad else 0


if __name__ == "__main__":
    sys.exit(main())
