/* Declares the budget of a tuning run. */
#ifndef KF_HARNESS_TUNE_BUDGET_H
#define KF_HARNESS_TUNE_BUDGET_H

/* One of these limits; the others are 0. */
typedef struct kf_budget {
    double seconds;        /* wall time, including compiling and the final */
    double device_seconds; /* time for verifying and measuring, including the final, during which other runs
                              cannot use the device */
    long evaluations;      /* number of measured configs, including presets */
} kf_budget;

#endif
