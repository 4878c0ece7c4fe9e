/* Files that hold a landscape: kftune's compact ones (docs/search.md), T4 results, Kernel Tuner caches.
 * Imports into a store and `kftune replay` use the same reader. */
#ifndef KF_RESULTS_LANDSCAPE_FILE_H
#define KF_RESULTS_LANDSCAPE_FILE_H

#include <cjson/cJSON.h>

#include "base/plan/facts.h"
#include "base/record/measurement.h"

/* A landscape's file and what holds for all its results. */
typedef struct kf_landscape_file {
    const char *path; /* owned by the caller */
    cJSON *root;
    char system[KF_NAME]; /* or the kernel's name; without either, the file's name */
    char scene[128];      /* "" when the file names none */
    kf_facts facts;       /* of the scene; for a file of another program, the problem's size */
    uint64_t seed;        /* of the scene; 0: not known */
    char device[128];
    char backend[16];        /* "" when not known */
    double peak_bandwidth;   /* of the device, bytes/s; 0 when not known */
    uint64_t l2_bytes;       /* its last-level cache; 0 when not known */
    const cJSON *parameters; /* {"alpha": [1, 2, 4], ...}; NULL: the file lists no values */
    double unit_us;          /* microseconds in a unit of its times */
} kf_landscape_file;

/* One result. */
typedef struct kf_landscape_entry {
    char where[4 * KF_NAME]; /* its place in the file: "results[3]" */
    const cJSON *json;
    int sequence;           /* number of the result if kftune wrote it, else its position in the file */
    char role[KF_NAME + 8]; /* as in a store; "import" when the file does not say */
    const char *timestamp;  /* as in the file; "" when it is missing */
    kf_config config;       /* a number with a fraction becomes a name, with its text in canonical JSON */
    /* State, reason, samples (32-bit floats, as in a store) with their summary, seconds (NAN: not known), and
     * what kftune itself adds. A result without single samples gets one, the file's time. */
    kf_measurement measurement;
    /* The time that the file gives a result with samples. Kernel Tuner's is the mean, which its published
     * searches use. Without one it is the median. */
    double time_us;
} kf_landscape_entry;

/* Opens plain or gzipped JSON of at most 1 GiB of text. The Kernel Tuner cache of a job that is still running
 * or was killed ends in a comma, perhaps after half an entry; it is read too. Close it with
 * kf_landscape_file_close. */
kf_status kf_landscape_file_open(const char *path, kf_landscape_file *file, kf_error *error);
void kf_landscape_file_close(kf_landscape_file *file);

/* Calls visit for every result in the order of the file, and frees the entry afterwards. visit may keep
 * entry->measurement.samples_us if it sets it to NULL. */
typedef kf_status (*kf_landscape_visit)(void *context, kf_landscape_entry *entry, kf_error *error);
kf_status kf_landscape_file_visit(const kf_landscape_file *file, kf_landscape_visit visit, void *context,
                                  kf_error *error);

/* Returns the known seconds of compiling, verifying and measuring together; NAN when none is known. */
double kf_landscape_seconds(const kf_measurement *measurement);

#endif
