/* Files that hold a landscape: kftune's own compact ones (docs/search.md), T4 results, Kernel Tuner caches.
 * One reader for the import into a store and for replay. */
#ifndef KF_RESULTS_LANDSCAPE_FILE_H
#define KF_RESULTS_LANDSCAPE_FILE_H

#include <cjson/cJSON.h>

#include "base/plan/facts.h"
#include "base/record/measurement.h"

/* A landscape's file, and what it says of all its results. */
typedef struct kf_landscape_file {
    const char *path; /* the caller's */
    cJSON *root;
    char system[KF_NAME]; /* or the kernel's name; the file's own name when it says neither */
    char scene[128];      /* "" when the file names none */
    kf_facts facts;       /* of the scene; the problem's size where the file is another program's */
    uint64_t seed;        /* of the scene; 0: not known */
    char device[128];
    char backend[16];        /* "" when not known */
    double peak_bandwidth;   /* of the device, bytes/s; 0 when not known */
    uint64_t l2_bytes;       /* its last-level cache; 0 when not known */
    const cJSON *parameters; /* {"alpha": [1, 2, 4], ...}; NULL: the file lists no values */
    double unit_us;          /* of its times */
} kf_landscape_file;

/* One result. */
typedef struct kf_landscape_entry {
    char where[4 * KF_NAME]; /* in the file: "results[3]" */
    const cJSON *json;
    int sequence;           /* kftune's own number of it, else its place in the file */
    char role[KF_NAME + 8]; /* as in a store; "import" when the file does not say */
    const char *timestamp;  /* as it stands there; "" when it is missing */
    kf_config config; /* numbers with a fraction are names, in the text that canonical JSON has for them */
    /* State, reason, samples (32-bit floats, as a store keeps them) with their summary, seconds (NAN: not
     * known), and what kftune itself adds. A result without single samples has one, the file's own time. */
    kf_measurement measurement;
    /* The file's own figure for a result with samples: the mean with Kernel Tuner, whose published searches
     * are held against it; where there is none, the median. */
    double time_us;
} kf_landscape_entry;

/* Reads plain and gzipped JSON, at most 1 GiB of text, also the Kernel Tuner cache of a job that still runs
 * or was killed (it ends in a comma, perhaps after half an entry). */
kf_status kf_landscape_file_open(const char *path, kf_landscape_file *file, kf_error *error);
void kf_landscape_file_close(kf_landscape_file *file);

/* Calls visit for every result in the file's order. The entry is freed after the visit; visit may take
 * entry->measurement.samples_us and leave NULL. */
typedef kf_status (*kf_landscape_visit)(void *context, kf_landscape_entry *entry, kf_error *error);
kf_status kf_landscape_file_visit(const kf_landscape_file *file, kf_landscape_visit visit, void *context,
                                  kf_error *error);

/* Seconds that compiling, verifying and measuring took, as far as they are known; NAN when none is. */
double kf_landscape_seconds(const kf_measurement *measurement);

#endif
