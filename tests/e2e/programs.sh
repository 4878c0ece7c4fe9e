#!/bin/bash
# Tests that a file runs a program only where its name or an option says so, and that SECURITY.md's table names
# everything that runs code. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
root=$(realpath "$(dirname "$0")/../..")
cd "$scratch" || exit 3

# The kernel of a T1 problem leaves a mark where it is loaded. The problem has the name of a scene.
cat >evil.c <<END
#include <fcntl.h>
__attribute__((constructor)) static void mark(void) { (void)open("$scratch/mark", O_CREAT | O_WRONLY, 0600); }
void k(float *a) { a[0] = 1; }
END
cat >kernel.t1.json <<'END'
{"ConfigurationSpace": {"TuningParameters": [{"Name": "x", "Type": "int", "Values": [1, 2], "Default": 1}]},
 "KernelSpecification": {"Language": "C", "KernelName": "k", "KernelFile": "evil.c", "LocalSize": {"X": "1", "Y": "1", "Z": "1"},
  "ProblemSize": [1], "Arguments": [{"Name": "a", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadWrite", "Size": 1}]}}
END
cp kernel.t1.json car.json
sed '1s/{/{"system": "kinetic", "domain": {"cells": [16, 16, 16]}, "flow": {},/' kernel.t1.json >both.json
cp kernel.t1.json car.scene.json
ran() { [ -e mark ] && rm mark; }
for file in car.json both.json car.scene.json; do
    for command in "tune --device cpu:1 --budget 2evals --store own.db" "landscape --device cpu:1 --store own.db" "space" \
        "predict --device cpu:1" "run --device cpu:1 --store own.db --steps 1"; do
        # shellcheck disable=SC2086
        expect 2 $command --scene $file
        says "compiled and run"
        ran && complain "$command runs the kernel of $file"
    done
    expect 2 scene $file
    says "compiled and run"
done
cat >suite.json <<'END'
{"suite": "s", "benchmarks": [{"name": "a", "scene": "car.json", "device": "cpu:1", "processes": 5}]}
END
"$kftune" nightly --suite suite.json --store night.db >"$out" 2>"$err" </dev/null
cat "$out" "$err" | grep -q "compiled and run" || complain "a suite does not say that its scene is a program"
ran && complain "a suite that does not name the system runs the kernel"

# Its name, or the option, declares that it is a program. Describing it prints that, and runs nothing.
expect 0 scene kernel.t1.json
shows "a kernel that will be compiled and run"
expect 0 space --scene kernel.t1.json
ran && complain "looking at a T1 problem runs its kernel"
"$kftune" tune --device cpu:1 --budget 2evals --store own.db --scene kernel.t1.json --out best.json >"$out" 2>"$err" </dev/null
ran || complain "a T1 problem does not run its kernel: this test sees nothing"
"$kftune" tune --device cpu:1 --budget 2evals --store own.db --system t1 --scene car.json --out best.json >"$out" 2>"$err" </dev/null
ran || complain "--system t1 does not run the kernel"
# A config is not a program, whatever problem it names.
expect 2 run --config best.json --steps 1
ran && complain "run --config runs the kernel"

# The table has each variable that the program reads, each program that it starts and each library that it loads, and
# nothing else.
sources=$(cd "$root" && find base harness solver scene results plots cost_model -name '*.c')
(cd "$root" && grep -hoE '(getenv\(|count_in\(|override = |environ.get\(|personal_folder\(|variables\[\] = \{.*)"[A-Z_]+"|"\$[A-Z_]+(_PATH|_HOME|_PREFIX|_ENV)|open_mpi[^;]*;' $sources harness/library/kftune.py | grep -oE '[A-Z_]{4,}' | sort -u) >variables
starters=$(cd "$root" && grep -lE 'kf_spawn_start|kf_await|kf_program_run' $sources)
(cd "$root" && grep -hoE '(words|tool|candidates|show)\[[^]]*\] = \{[ ]*"[a-z]+"' $starters | grep -oE '"[a-z]+"' | tr -d '"' | sort -u) >programs
(cd "$root" && grep -hoE '"lib[a-z-]+\.so' $sources harness/library/kftune.py | tr -d '"' | sed 's/\.so$//' | sort -u | grep -vE '^lib(gomp|omp)$') >libraries # OpenMP's is only looked for
[ "$(wc -l <variables)" -ge 16 ] || complain "too few variables are found in the source: $(tr '\n' ' ' <variables)"
[ "$(wc -l <programs)" -ge 4 ] || complain "too few programs are found in the source: $(tr '\n' ' ' <programs)"
[ "$(wc -l <libraries)" -ge 8 ] || complain "too few libraries are found in the source: $(tr '\n' ' ' <libraries)"
while read -r name; do
    case $name in OMPI_* | PMI* | SLURM_* | MPI_*) name="${name%%_*}_" ;; esac
    grep -q -- "\b$name" "$root/SECURITY.md" || complain "SECURITY.md says nothing of $name"
done < <(cat variables programs)
while read -r name; do
    own=KFTUNE_$(tr '[:lower:]-' '[:upper:]_' <<<"${name#lib}")
    grep -qE "\b($name|$own)\b" "$root/SECURITY.md" || complain "SECURITY.md says nothing of the library $name"
done <libraries
grep -oE '\bKFTUNE_[A-Z_]+' "$root/SECURITY.md" | sort -u | while read -r name; do
    grep -qx "$name" variables || echo "$name"
done >gone
[ ! -s gone ] || complain "SECURITY.md names what the program does not ask for: $(tr '\n' ' ' <gone)"
# A new file that starts programs or loads libraries must be added to the table first.
(cd "$root" && grep -lE '\b(dlopen|dlmopen|exec[lv][a-z]*|posix_spawnp?|popen|system|fork)\(' $sources | sort) >runners
cat >known <<END
base/backend/cpu/cpu.c
base/backend/cpu/program.c
base/backend/cuda/child.c
base/backend/library.c
base/backend/team/world.c
base/util/confined.c
base/util/spawn.c
harness/counters/cupti_library.c
harness/worker/await.c
harness/worker/child.c
END
diff known runners >difference || complain "files that run or load something: $(tr '\n' ' ' <difference)"
finish
