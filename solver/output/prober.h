/* Records velocity and pressure at probes over time: for each probe a table, its means with Reynolds
 * stresses, and a picture. */
#ifndef KF_SOLVER_OUTPUT_PROBER_H
#define KF_SOLVER_OUTPUT_PROBER_H

#include <stdio.h>

#include "base/plan/plan.h"
#include "base/statistics/series.h"
#include "scene/probes.h"

enum { KF_PROBED = 4, KF_STRESSES = 6 };

/* The results of a probe. */
typedef struct kf_probe_report {
    char table[KF_PATH], means[KF_PATH], picture[KF_PATH]; /* files; "" where there is none */
    size_t rows;                                           /* number of rows over which the means are taken */
    uint64_t from_step, to_step;
    double at[3];                         /* the first point, m */
    kf_series_mean mean[KF_PROBED];       /* the means at this point: velocity in m/s, and pressure */
    double stress[KF_STRESSES];           /* m2/s2 */
    const char *pressure, *pressure_unit; /* its name and unit; NULL: the system has no pressure */
} kf_probe_report;

typedef struct kf_prober {
    const kf_plan *plan;
    const kf_probe *probes;
    size_t count;
    FILE **tables;            /* [count] only in the process that writes */
    kf_probe_report *reports; /* [count]; owned */
    const char *pressure, *pressure_unit;
} kf_prober;

/* Opens the tables probe_NAME.csv in a folder if `writes` is true. A table of a run that continues keeps its
 * rows up to the plan's step; others are new. */
kf_status kf_prober_open(kf_prober *prober, kf_plan *plan, const kf_probe *probes, size_t count,
                         const char *folder, bool writes, kf_error *error);
/* Adds a row for each point of each probe, at the plan's step. All processes of a run call it. */
kf_status kf_prober_add(kf_prober *prober, kf_plan *plan, kf_error *error);
/* Computes means over the rows from from_step on (0: over the later half), writes probe_NAME_mean.csv and
 * probe_NAME.png, and fills in the reports. */
kf_status kf_prober_conclude(kf_prober *prober, const char *folder, uint64_t from_step, bool pictures,
                             kf_error *error);
void kf_prober_close(kf_prober *prober); /* closes the tables; the reports stay valid */

/* Returns where a picture of means draws a point: on a line its distance from the first one, on a cut its x.
 */
double kf_probe_along(const kf_probe *probe, size_t point);

enum { KF_CORNERS = 8 }; /* nodes around a point */
/* Interpolates the pressure between the nodes around a point, by their weights. Nodes inside a solid without
 * fluid have the pressure 0 and no share in it, unless all with a weight are such nodes: then it is 0. */
double kf_pressure_between(const double weight[KF_CORNERS], const float pressure[KF_CORNERS]);

/* Computes velocity (m/s) and pressure of the plan's present state at points (m), trilinear between nodes.
 * Beside a wall the velocity tends to the wall's, and the pressure is that of the outermost node. Nodes
 * inside a solid without fluid have no share in the pressure. *pressure and *unit: name and unit of the
 * pressure; NULL, with NAN as value, if the system has none. */
kf_status kf_probe_values(kf_plan *plan, const double (*points)[3], size_t count, double (*values)[KF_PROBED],
                          const char **pressure, const char **unit, kf_error *error);

#endif
