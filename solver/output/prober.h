/* Asks a plan for velocity and pressure at probes over time: a table of each probe, its means with Reynolds
 * stresses, and its picture. */
#ifndef KF_SOLVER_OUTPUT_PROBER_H
#define KF_SOLVER_OUTPUT_PROBER_H

#include <stdio.h>

#include "base/plan/plan.h"
#include "base/statistics/series.h"
#include "scene/probes.h"

enum { KF_PROBED = 4, KF_STRESSES = 6 };

/* A probe comes to this. */
typedef struct kf_probe_report {
    char table[KF_PATH], means[KF_PATH], picture[KF_PATH]; /* files; "" where there is none */
    size_t rows;                                           /* that the means are taken over */
    uint64_t from_step, to_step;
    double at[3];                         /* m: the first point, */
    kf_series_mean mean[KF_PROBED];       /* and its means, velocity in m/s and the pressure */
    double stress[KF_STRESSES];           /* m2/s2 */
    const char *pressure, *pressure_unit; /* its name and unit; NULL: the system has no pressure */
} kf_probe_report;

typedef struct kf_prober {
    const kf_plan *plan;
    const kf_probe *probes;
    size_t count;
    FILE **tables;            /* [count], of the process that writes */
    kf_probe_report *reports; /* [count]; owned */
    const char *pressure, *pressure_unit;
} kf_prober;

/* Opens the tables probe_NAME.csv in a folder, where writes is true: afresh, or behind the rows up to the
 * plan's step. */
kf_status kf_prober_open(kf_prober *prober, kf_plan *plan, const kf_probe *probes, size_t count,
                         const char *folder, bool writes, kf_error *error);
/* Adds a row for each point of each probe, at the plan's step. All processes of a run call it. */
kf_status kf_prober_add(kf_prober *prober, kf_plan *plan, kf_error *error);
/* Takes means over the rows from a step on (0: over the later half), writes probe_NAME_mean.csv and
 * probe_NAME.png, and fills the reports. */
kf_status kf_prober_conclude(kf_prober *prober, const char *folder, uint64_t from_step, bool pictures,
                             kf_error *error);
void kf_prober_close(kf_prober *prober); /* the tables; the reports stay */

/* Velocity (m/s) and pressure of a plan's present state at points (m), trilinear between nodes; beside a wall
 * the velocity goes to the wall's, and the pressure stays the outermost node's. *pressure: its name, unit:
 * likewise; NULL and NAN where the system has none. */
kf_status kf_probe_values(kf_plan *plan, const double (*points)[3], size_t count, double (*values)[KF_PROBED],
                          const char **pressure, const char **unit, kf_error *error);

#endif
