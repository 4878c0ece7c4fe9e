/* Declares the checks of `kftune doctor`. Each prints one line. */
#ifndef KF_HARNESS_DOCTOR_CHECKS_H
#define KF_HARNESS_DOCTOR_CHECKS_H

#include <stdbool.h>

#include "base/util/processors.h"
#include "base/util/status.h"

typedef enum kf_check_state { KF_CHECK_OK, KF_CHECK_DEGRADED, KF_CHECK_MISSING } kf_check_state;

typedef struct kf_diagnosis {
    const char *name;
    bool backend; /* plans can run if at least one of these checks succeeds */
    bool gpu;     /* the check is left out on a machine without a GPU */
    void (*run)(struct kf_diagnosis *check);
    /* `run` fills these. Before, they are ok and empty. */
    kf_check_state state;
    char detail[384]; /* what was found */
    char cure[384];   /* how to repair it; empty if the state is ok */
} kf_diagnosis;

/* Sets the state, the detail (printf) and the cure of a check. */
void kf_check_report(kf_diagnosis *check, kf_check_state state, const char *cure, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reports a library that only some commands need: ok, or degraded with the reason. */
void kf_check_library(kf_diagnosis *check, kf_status status, const kf_error *why, const char *ok,
                      const char *cure);

/* Opens the device, compiles a kernel, runs it and checks its result. */
void kf_check_device(kf_diagnosis *check, const char *spec, const char *cure);

/* These judge given numbers: bytes of memory, usable processors, threads of other programs. */
void kf_check_memory_of(kf_diagnosis *check, double free_bytes, double all_bytes);
void kf_check_threads_of(kf_diagnosis *check, const kf_processors *found, int threads, int lanes);
void kf_check_load_of(kf_diagnosis *check, double load, int processors);

/* checks.c */
void kf_check_cpu(kf_diagnosis *check);
void kf_check_gnuplot(kf_diagnosis *check);
void kf_check_store(kf_diagnosis *check);
void kf_check_cache(kf_diagnosis *check);
void kf_check_memory(kf_diagnosis *check);
void kf_check_threads(kf_diagnosis *check);
void kf_check_load(kf_diagnosis *check);
void kf_check_papi(kf_diagnosis *check);
void kf_check_fftw(kf_diagnosis *check);

/* checks_clock.c */
void kf_check_clock(kf_diagnosis *check);
void kf_check_sharing(kf_diagnosis *check);

/* checks_cuda.c */
void kf_check_driver(kf_diagnosis *check);
void kf_check_nvrtc(kf_diagnosis *check);
void kf_check_cuda(kf_diagnosis *check);
void kf_check_nvml(kf_diagnosis *check);
void kf_check_cupti(kf_diagnosis *check);
void kf_check_nccl(kf_diagnosis *check);
void kf_check_cufft(kf_diagnosis *check);

#endif
