/* A snapshot: the fields of a plan's state at one moment, on nodes or on particles, in the user's units. */
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
    size_t count; /* nodes or particles */
    int nodes[3]; /* along x, y, z; only on nodes */
    /* Known to be periodic: the last node of the axis is a neighbour of its first; only on nodes. */
    bool periodic[3];
    /* In m: node (0,0,0) from the domain's lower corner, and the distance between nodes. */
    double origin[3], spacing[3];
    size_t triangle_count;     /* if the particles are vertices of a surface, the number of its triangles */
    const uint32_t *triangles; /* [triangle_count][3] indices of vertices; not owned */
    double time;               /* s */
    uint64_t step;
    kf_quantity *quantities; /* owned; on particles one is "position" (m, three components) */
    size_t quantity_count, quantity_room;
} kf_snapshot;

/* Make an empty snapshot: on nodes that lie `spacing` apart, the first at `origin` along each axis (m), or on
 * particles. */
void kf_snapshot_of_nodes(kf_snapshot *snapshot, const int nodes[3], double origin, double spacing);
void kf_snapshot_of_particles(kf_snapshot *snapshot, size_t count);
/* Adds a quantity and returns its values for the caller to fill in. The pointer is valid as long as the
 * snapshot. */
float *kf_snapshot_add(kf_snapshot *snapshot, const char *name, const char *unit, int components);
/* Finds a quantity by its name; NULL: there is none. */
const kf_quantity *kf_snapshot_find(const kf_snapshot *snapshot, const char *name);
/* KF_GATE_FAILED if a value is not finite. The message names step, quantity and place. */
kf_status kf_snapshot_check(const kf_snapshot *snapshot, kf_error *error);
void kf_snapshot_free(kf_snapshot *snapshot); /* its contents */

#endif
