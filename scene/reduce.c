#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/internal.h"

enum { FEWEST_NODES = 12 };

static int coarse_count(int nodes, double factor) {
    const int fewest = nodes < FEWEST_NODES ? nodes : FEWEST_NODES;
    const int count = (int)lround(nodes * factor);
    return count < fewest ? fewest : count > nodes ? nodes : count;
}

static double node_product(const int nodes[3]) {
    return (double)nodes[0] * nodes[1] * nodes[2];
}

/* Finds the finest grid of the same proportions with at most limit nodes. */
static bool coarse_grid(const int nodes[3], long limit, int coarse[3]) {
    const double start = fmin(1.0, cbrt((double)limit / node_product(nodes)) * 1.05);
    for (int attempt = 0; attempt < 2000; attempt++) {
        for (int a = 0; a < 3; a++)
            coarse[a] = coarse_count(nodes[a], start * pow(0.995, attempt));
        if (node_product(coarse) <= (double)limit) return true;
    }
    return false;
}

/* Returns the ratio of lengths along an axis. Between faces the outermost nodes map to outermost nodes, so
 * everything between them stays there. */
static double axis_ratio(const kf_scene *scene, const int coarse[3], int a) {
    const bool wraps = scene->faces[2 * a] == KF_PERIODIC || scene->nodes[a] == 1;
    return wraps ? (double)coarse[a] / scene->nodes[a] : (coarse[a] - 1.0) / (scene->nodes[a] - 1.0);
}

static double map_coordinate(const kf_scene *scene, const int coarse[3], int a, double x) {
    const double edge = scene->faces[2 * a] == KF_PERIODIC || scene->nodes[a] == 1 ? 0.5 : 0.0;
    return (x + edge) * axis_ratio(scene, coarse, a) - edge;
}

/* Returns the point of the solid that moves with the grid. The solid shrinks around it. */
static double anchor_of(const kf_scene *scene, int axis) {
    return scene->motion.moving ? scene->motion.center[axis]
                                : 0.5 * (scene->solid_low[axis] + scene->solid_high[axis]);
}

/* Shrinks the solid with the grid around its centre, together with its motion and inertia. */
static void scale_solid(kf_scene *scene, const int coarse[3], double factor) {
    double from[3], to[3], offset[3];
    /* The centre moves with the grid, and the body shrinks around it. */
    for (int a = 0; a < 3; a++) {
        from[a] = anchor_of(scene, a);
        to[a] = map_coordinate(scene, coarse, a, from[a]);
        offset[a] = to[a] - factor * from[a];
        scene->solid_low[a] = factor * scene->solid_low[a] + offset[a];
        scene->solid_high[a] = factor * scene->solid_high[a] + offset[a];
        scene->motion.center[a] = factor * scene->motion.center[a] + offset[a];
        scene->moment_center[a] = factor * scene->moment_center[a] + offset[a];
    }
    const double matrix[9] = {factor, 0, 0, 0, factor, 0, 0, 0, factor};
    kf_mesh_transform(&scene->mesh, matrix, offset);
    scene->motion.angular_speed /= factor;
    scene->motion.excess_mass *= pow(factor, 3);
    for (int i = 0; i < 9; i++)
        scene->motion.excess_inertia[i] *= pow(factor, 5);
    for (int a = 0; a < 3; a++)
        scene->motion.gravity[a] /= factor;
    for (int s = 0; s < scene->solid_count; s++) {
        kf_solid *solid = &scene->solids[s];
        solid->motion.angular_speed /= factor;
        for (int a = 0; a < 3; a++) {
            solid->motion.center[a] = factor * solid->motion.center[a] + offset[a];
            solid->low[a] = factor * solid->low[a] + offset[a];
            solid->high[a] = factor * solid->high[a] + offset[a];
        }
    }
}

static double factor_of(const kf_scene *scene, const int coarse[3]) {
    double factor = 1.0;
    for (int a = 0; a < 3; a++)
        factor = fmin(factor, axis_ratio(scene, coarse, a));
    return factor;
}

/* Sets the coarser grid. Lattice speeds do not change and lengths shrink by factor. So the viscosity shrinks
 * and accelerations grow. */
static void take_grid(kf_scene *scene, const int coarse[3]) {
    const double factor = factor_of(scene, coarse);
    if (scene->mesh.triangle_count > 0) scale_solid(scene, coarse, factor);
    if (scene->mask != NULL) kf_mask_coarsen(scene, coarse);
    memcpy(scene->nodes, coarse, sizeof scene->nodes);
    /* A reduced grid has no smoke. */
    scene->smoke.count = 0;
    scene->cell_size /= factor;
    scene->time_step /= factor;
    scene->reference_length *= factor;
    scene->reference_area *= factor * factor;
    scene->viscosity *= factor;
    scene->trip *= factor;
    for (int a = 0; a < 3; a++)
        scene->body_force[a] /= factor;
}

/* Returns the node updates per step of nested grids with these boxes. */
static double work_of(const int nodes[3], const kf_cell_box *boxes, int count) {
    double work = node_product(nodes);
    for (int l = 0; l < count; l++) {
        double cells = 1.0;
        for (int a = 0; a < 3; a++)
            cells *= boxes[l].high[a] - boxes[l].low[a];
        work += 8.0 * cells * (2 << l);
    }
    return work;
}

/* Computes the boxes on a coarser grid, around the coarser solid. */
static bool coarse_boxes(const kf_scene *scene, const int coarse[3], kf_cell_box boxes[KF_FINER_LEVELS]) {
    const double factor = factor_of(scene, coarse);
    double low[3], high[3];
    kf_scene_swept_box(scene, low, high);
    for (int a = 0; a < 3; a++) {
        const double anchor = anchor_of(scene, a), there = map_coordinate(scene, coarse, a, anchor);
        low[a] = there + factor * (low[a] - anchor);
        high[a] = there + factor * (high[a] - anchor);
    }
    return kf_scene_fit_boxes(scene, coarse, low, high, boxes);
}

/* Finds a coarser grid for nested grids. Boxes need distance from each other, so the coarsest grid does not
 * always have the least work. Grids are tried from few nodes upwards. More than three levels give no more
 * information about a config. */
static kf_status coarsen_nested(kf_scene *scene, kf_error *error) {
    enum { FEWEST = 1500, KEPT = 2 };
    const double MORE = 1.3, all = node_product(scene->nodes);
    kf_cell_box boxes[KF_FINER_LEVELS], least[KF_FINER_LEVELS];
    int coarse[3], best[3];
    double least_work = INFINITY;
    scene->finer_count = scene->finer_count < KEPT ? scene->finer_count : KEPT;
    /* NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter,cert-flp30-c): limits that grow by a factor */
    for (double limit = FEWEST; limit < MORE * all; limit *= MORE) {
        if (!coarse_grid(scene->nodes, (long)fmin(limit, all), coarse) || !coarse_boxes(scene, coarse, boxes))
            continue;
        const double work = work_of(coarse, boxes, scene->finer_count);
        if (!(work < least_work)) continue;
        least_work = work;
        memcpy(best, coarse, sizeof best);
        memcpy(least, boxes, sizeof least);
    }
    if (!isfinite(least_work))
        return kf_fail(error, KF_BAD_INPUT, "%s: on no smaller grid do the boxes of nested grids fit",
                       scene->source);
    take_grid(scene, best);
    memcpy(scene->boxes, least, sizeof least);
    return KF_OK;
}

kf_status kf_scene_coarsen(kf_scene *scene, long node_limit, kf_error *error) {
    int coarse[3];
    if (kf_scene_all_nodes(scene) <= (double)node_limit) return KF_OK;
    if (scene->finer_count > 0) return coarsen_nested(scene, error);
    if (!coarse_grid(scene->nodes, node_limit, coarse))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: cannot be reduced to %ld nodes: %d along each axis are the fewest", scene->source,
                       node_limit, FEWEST_NODES);
    take_grid(scene, coarse);
    return KF_OK;
}

/* Makes a copy of the scene on a coarser grid of at most node_limit nodes, with its own samples. The caller
 * frees it. */
kf_status kf_scene_reduce(const kf_scene *scene, long node_limit, kf_scene **reduced, kf_error *error) {
    kf_scene *copy = kf_allocate(sizeof *copy);
    *copy = *scene;
    memset(&copy->samples, 0, sizeof copy->samples);
    memset(copy->finer, 0, sizeof copy->finer);
    memset(&copy->links, 0, sizeof copy->links);
    copy->notes = NULL;
    kf_scene_copy_sections(scene, copy);
    const size_t nodes = (size_t)scene->nodes[0] * (size_t)scene->nodes[1];
    if (scene->mask != NULL) copy->mask = memcpy(kf_allocate(nodes), scene->mask, nodes);
    const size_t vertices = 3 * scene->mesh.vertex_count * sizeof *scene->mesh.vertices;
    const size_t triangles =
        3 * (scene->mesh.triangle_count + scene->mesh.inner_count) * sizeof *scene->mesh.triangles;
    if (scene->mesh.triangle_count > 0) {
        copy->mesh.vertices = memcpy(kf_allocate(vertices), scene->mesh.vertices, vertices);
        copy->mesh.triangles = memcpy(kf_allocate(triangles), scene->mesh.triangles, triangles);
    }
    kf_text notes = {0};
    kf_status status = kf_scene_coarsen(copy, node_limit, error);
    if (status == KF_OK) kf_scene_make_finer(copy);
    if (status == KF_OK) status = kf_scene_finish(copy, NULL, &notes, error);
    copy->notes = notes.text;
    *reduced = status == KF_OK ? copy : NULL;
    if (status != KF_OK) kf_scene_free(copy);
    return status;
}
