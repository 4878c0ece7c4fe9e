/* The roofs of a device: its best rates as measured (harness/roofs). */
#ifndef KF_BASE_RECORD_ROOFS_H
#define KF_BASE_RECORD_ROOFS_H

enum { KF_ROOFS = 64 };

typedef struct kf_roof {
    char name[24];      /* "dram_copy", "fp32_multiply_add", ... (docs/counters.md lists them) */
    char unit[12];      /* "GB/s", "GFLOP/s", "Gop/s", "us" */
    double value;       /* the best of several rounds, because any disturbance makes a round worse */
    double spread;      /* (median round - best round) / best round */
    double theoretical; /* in the same unit; NAN: not known */
} kf_roof;

typedef struct kf_roofs {
    kf_roof list[KF_ROOFS];
    int count;
} kf_roofs;

/* Finds a roof by its name; NULL when there is none. */
const kf_roof *kf_roofs_find(const kf_roofs *roofs, const char *name);

/* Returns how many rates have a larger spread than this. Latencies are not counted, because they always
 * scatter. */
int kf_roofs_scattered(const kf_roofs *roofs, double spread);

#endif
