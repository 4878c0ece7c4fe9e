/* Declares what a tuning run may cost. */
#ifndef KF_HARNESS_TUNE_BUDGET_H
#define KF_HARNESS_TUNE_BUDGET_H

/* Holds one of these limits; the others are 0. */
typedef struct kf_budget {
    double seconds;        /* of wall time, compiling and the final included */
    double device_seconds; /* of verifying and measuring, the final included: what others cannot use the
                              device */
    long evaluations;      /* configs measured, the presets included; less effort counts less */
} kf_budget;

#endif
