/* Snapshots hold what a plan's state can be asked for: quantities on nodes or on particles, in the units
 * that a user sees. */
#ifndef KF_BASE_PLAN_SNAPSHOT_H
#define KF_BASE_PLAN_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util/status.h"

typedef enum kf_carrier { KF_ON_NODES, KF_ON_PARTICLES } kf_carrier;

typedef struct kf_quantity {
    char name[48]; /* "velocity", "pressure_coefficient" */
    char unit[24]; /* "m/s"; "1" for a pure number */
    int components;
    float *values; /* [node or particle][component], nodes as [z][y][x]; owned by the snapshot */
} kf_quantity;

typedef struct kf_snapshot {
    kf_carrier on;
    size_t count;     /* nodes or particles */
    int nodes[3];     /* along x, y, z; only on nodes */
    bool periodic[3]; /* known to be so: the neighbour of the axis' last node is its first; only on nodes */
    double origin[3], spacing[3]; /* of node (0,0,0) from the domain's lower corner, and between nodes, m */
    size_t triangle_count;        /* on particles that are a surface's vertices: its triangles */
    const uint32_t *triangles;    /* [triangle_count][3]; somebody else's */
    double time;                  /* s */
    uint64_t step;
    kf_quantity *quantities; /* owned; on particles one is "position" (m, three components) */
    size_t quantity_count, quantity_room;
} kf_snapshot;

/* Empty ones, of nodes a distance of spacing apart whose first lies at origin (m), or of particles. */
void kf_snapshot_of_nodes(kf_snapshot *snapshot, const int nodes[3], double origin, double spacing);
void kf_snapshot_of_particles(kf_snapshot *snapshot, size_t count);
/* Adds a quantity and returns its values, to be filled in: valid as long as the snapshot. */
float *kf_snapshot_add(kf_snapshot *snapshot, const char *name, const char *unit, int components);
/* NULL: it has none of this name. */
const kf_quantity *kf_snapshot_find(const kf_snapshot *snapshot, const char *name);
/* KF_GATE_FAILED that names step, quantity and place where a value is not finite. */
kf_status kf_snapshot_check(const kf_snapshot *snapshot, kf_error *error);
void kf_snapshot_free(kf_snapshot *snapshot); /* its contents */

#endif
