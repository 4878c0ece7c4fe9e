/* The exchange with nodes beyond the ends of rows, for a level of nested grids (kernels/kinetic/edges.h). */
#include <limits.h>

#include "kernels/kinetic/edge_columns.h"
#include "solver/kinetic/kinetic.h"

/* On a cpu a row's kernel has the lines of memory in the cache that they lie in, and plan moments has a third
 * of the values. */
long kf_kinetic_edge_sides(const kf_scene *scene, const kf_kinetic_options *options) {
    /* No column is at both sides. */
    enum { NARROWEST = 2 * KF_EDGE_INNER };
    const bool low = scene->ghosts[KF_XMIN] > 0, high = scene->ghosts[KF_XMAX] > 0;
    const bool reads_them = options->gpu && options->parts == 1 && options->plan == KF_PLAN_FUSED &&
                            options->boundary_kernels == 0 && options->nodes_per_thread == 1 &&
                            options->streaming == KF_STREAMING_TWO_GRIDS && options->velocities == 27;
    const int inside = scene->nodes[0] - scene->ghosts[KF_XMIN] - scene->ghosts[KF_XMAX];
    const double values = 2.0 * 27 * scene->nodes[1] * scene->nodes[2] * KF_EDGE_INNER;
    /* Kernels count them in int. */
    if (!reads_them || inside < NARROWEST || values > INT_MAX) return 0;
    return (low ? 1L : 0L) | (high ? 2L : 0L);
}

kf_status kf_kinetic_make_edges(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    static const size_t columns[2] = {KF_EDGE_GHOSTS, KF_EDGE_INNER};
    const kf_scene *scene = kf_plan_scene(plan);
    const size_t rows = (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    if (kf_kinetic_edge_sides(scene, &kinetic->options) == 0) return KF_OK;
    for (int i = 0; i < 2; i++)
        KF_TRY(kf_plan_buffer(plan,
                              2 * (size_t)kinetic->node_values * rows * columns[i] * kinetic->store_bytes,
                              &kinetic->edges[i], error));
    return KF_OK;
}
