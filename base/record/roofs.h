/* The ceilings of a device, as they were measured (harness/roofs). */
#ifndef KF_BASE_RECORD_ROOFS_H
#define KF_BASE_RECORD_ROOFS_H

enum { KF_ROOFS = 64 };

typedef struct kf_roof {
    char name[24];      /* "dram_copy", "fp32_multiply_add", ... (docs/counters.md lists them) */
    char unit[12];      /* "GB/s", "GFLOP/s", "Gop/s", "us" */
    double value;       /* the best round: whatever disturbs makes a round worse, never better */
    double spread;      /* (median round - best round) / best round */
    double theoretical; /* in the same unit; NAN: not known */
} kf_roof;

typedef struct kf_roofs {
    kf_roof list[KF_ROOFS];
    int count;
} kf_roofs;

/* NULL when there is none of this name. */
const kf_roof *kf_roofs_find(const kf_roofs *roofs, const char *name);

/* How many rates (not times, which are latencies and scatter anyway) have a larger spread than this. */
int kf_roofs_scattered(const kf_roofs *roofs, double spread);

#endif
