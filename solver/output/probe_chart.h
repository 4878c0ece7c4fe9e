/* The picture of a probe, with velocity above and pressure below: over time for a point, means along a line,
 * or the pressure along a cut. */
#ifndef KF_SOLVER_OUTPUT_PROBE_CHART_H
#define KF_SOLVER_OUTPUT_PROBE_CHART_H

#include "solver/output/prober.h"

/* A point of a curve. */
typedef struct kf_probe_curve {
    double at; /* s, or m */
    double value[KF_PROBED];
} kf_probe_curve;

/* Writes the picture of a report. It appears whole or not at all. */
kf_status kf_probe_chart(const kf_plan *plan, const kf_probe *probe, const kf_probe_report *report,
                         const kf_probe_curve *curve, size_t count, kf_error *error);

#endif
