/* Parts of the cpu backend. Only base/backend/cpu*.c and the doctor include this. */
#ifndef KF_BASE_BACKEND_CPU_CPU_H
#define KF_BASE_BACKEND_CPU_CPU_H

#include "base/backend/backend.h"
#include "base/util/file.h"

/* --- A program without a shell (cpu_program.c) -------------------------------------------------------- */

typedef struct kf_program_result {
    int exit_status; /* -1: ended by a signal */
    int signal;
    char *output; /* what it printed on both streams, at most 256 KiB, zero-terminated; caller frees */
} kf_program_result;

/* Runs a program: `words` is its name (looked for on PATH) and arguments, NULL-terminated. Messages come
 * in English. KF_HOST when it cannot be started; KF_INTERRUPTED when the user pressed Ctrl-C meanwhile. */
kf_status kf_program_run(const char *const *words, kf_program_result *result, kf_error *error);

/* --- cpu_compiler.c ------------------------------------------------------------------------------------ */

enum { KF_COMMAND = 1024 };

typedef struct kf_host_compiler {
    char command[KF_COMMAND]; /* "gcc" or "ccache gcc": words, the first is the program, quoted like a shell's
                               * where they have spaces; or the path of a program, spaces and all */
    char version[128];        /* first line of --version */
    char architecture[32];    /* what -march=native means here: name and hash of the predefined macros */
} kf_host_compiler;

/* $KFTUNE_CC, else the compiler kftune was built with, cc, gcc or clang, whichever answers first. Looked for
 * once in a process (again when KFTUNE_CC or PATH change); safe in threads. KF_HOST with the cure when
 * there is none. */
kf_status kf_host_compiler_find(kf_host_compiler *compiler, kf_error *error);

/* The flags every kernel is built with, as one line. */
extern const char kf_host_compiler_flags[];

/* Builds source into the shared object at output. The compiler's complaint is KF_MACHINE, first error line
 * first; KF_HOST when it cannot be started, or lacks room or memory. */
kf_status kf_host_compile(const kf_host_compiler *compiler, const kf_source *source, const char *output,
                          kf_error *error);

/* --- cpu_device.c -------------------------------------------------------------------------------------- */

/* Returns what the control groups, whose files lie in the folder `groups`, leave of a machine's bytes: at
 * most their limits, less what their processes use if that is to be subtracted. */
uint64_t kf_cpu_memory_within(const char *groups, uint64_t bytes, bool subtract_usage);
/* Bytes that can still be allocated: what the kernel calls available, within the control group's limit and
 * that of the address space (`ulimit -v`). */
uint64_t kf_cpu_available_memory(void);
/* Mean current clock of the processors in MHz, NAN when unknown. */
double kf_cpu_clock_mhz(void);
/* Used by the processors since some moment; NAN when it cannot be read (often only root may). */
double kf_cpu_energy_joules(void);

#endif
