/* Declarations that the files of the cpu backend share. Only base/backend/cpu/ and the doctor include
 * this. */
#ifndef KF_BASE_BACKEND_CPU_CPU_H
#define KF_BASE_BACKEND_CPU_CPU_H

#include "base/backend/backend.h"
#include "base/util/file.h"

/* --- Running a program without a shell (cpu_program.c) --- */

typedef struct kf_program_result {
    int exit_status; /* -1: ended by a signal */
    int signal;
    char *output; /* what it printed on both streams, at most 256 KiB, zero-terminated; caller frees */
} kf_program_result;

/* Runs a program. words: its name (looked for in PATH) and arguments, NULL-terminated. The program is asked
 * for English messages. KF_HOST when it cannot be started; KF_INTERRUPTED when the user pressed Ctrl-C
 * meanwhile. */
kf_status kf_program_run(const char *const *words, kf_program_result *result, kf_error *error);

/* --- cpu_compiler.c ------------------------------------------------------------------------------------ */

enum { KF_COMMAND = 1024 };

typedef struct kf_host_compiler {
    /* Either words like "gcc" or "ccache gcc", of which the first is the program and which are quoted as in a
     * shell where they have spaces, or the path of a program, which may have spaces. */
    char command[KF_COMMAND];
    char version[128]; /* first line of --version */
    /* The target of -march=native on this machine: its name and a hash of the predefined macros. */
    char architecture[32];
} kf_host_compiler;

/* Finds the compiler: $KFTUNE_CC, else the first that answers of the compiler with which kftune was built,
 * cc, gcc and clang. The search happens once in a process, and again when KFTUNE_CC or PATH change. Threads
 * may call it. KF_HOST with the cure when there is none. */
kf_status kf_host_compiler_find(kf_host_compiler *compiler, kf_error *error);

/* The flags of every kernel, as one line. */
extern const char kf_host_compiler_flags[];

/* Compiles source into the shared object `output`. An error of the compiler is KF_MACHINE; the message begins
 * with its first error line. KF_HOST when the compiler cannot be started or lacks disk or memory. */
kf_status kf_host_compile(const kf_host_compiler *compiler, const kf_source *source, const char *output,
                          kf_error *error);

/* --- cpu_device.c -------------------------------------------------------------------------------------- */

/* Returns the part of a machine's memory (bytes) that control groups allow: at most their limits, less the
 * memory in use if subtract_usage. groups: the folder with their files. */
uint64_t kf_cpu_memory_within(const char *groups, uint64_t bytes, bool subtract_usage);
/* Returns the bytes that can still be allocated: the kernel's available memory, within the limits of the
 * control group and of the address space (`ulimit -v`). */
uint64_t kf_cpu_available_memory(void);
/* What the machine answered when it was last asked, or zeros. */
typedef struct kf_cpu_memory {
    uint64_t available;   /* bytes that it had left */
    uint64_t since_asked; /* bytes of buffers since then */
} kf_cpu_memory;
/* Returns how many bytes are available before a buffer is created. The machine is asked for each MiB and not
 * for each small buffer, because the answer takes longer than a small buffer. */
uint64_t kf_cpu_available_for(kf_cpu_memory *memory, size_t bytes);
/* Returns the mean present clock of the processors in MHz; NAN when unknown. */
double kf_cpu_clock_mhz(void);
/* Returns the energy that the processors have used since some past moment, in J. NAN when it cannot be read
 * (often only root may). */
double kf_cpu_energy_joules(void);

#endif
