/* The solid on the device: its ordered samples, and its pose. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_samples.h"

kf_status kf_kinetic_upload_reals(const kf_kinetic *kinetic, kf_buffer *buffer, const double *values,
                                  size_t count, kf_error *error) {
    if (kinetic->options.storage == KF_F64)
        return kf_buffer_upload(buffer, 0, values, count * sizeof(double), error);
    float *single = kf_allocate(count * sizeof(float));
    for (size_t i = 0; i < count; i++)
        single[i] = (float)values[i];
    kf_status status = kf_buffer_upload(buffer, 0, single, count * sizeof(float), error);
    free(single);
    return status;
}

kf_status kf_kinetic_upload_indices(const kf_kinetic *kinetic, kf_buffer *buffer, const long long *values,
                                    size_t count, kf_error *error) {
    if (kinetic->geometry.index64)
        return kf_buffer_upload(buffer, 0, values, count * sizeof(long long), error);
    int *narrow = kf_allocate(count * sizeof(int));
    for (size_t i = 0; i < count; i++)
        narrow[i] = (int)values[i];
    kf_status status = kf_buffer_upload(buffer, 0, narrow, count * sizeof(int), error);
    free(narrow);
    return status;
}

/* Returns the cell of a position, as kf_cell_of does on the device. A sample on the last node belongs to the
 * last cell. In a periodic domain the cell may lie beyond it. */
static int cell_of(const kf_kinetic *kinetic, int axis, double position) {
    const int nodes = kinetic->geometry.nodes[axis];
    int cell = (int)floor(position);
    if (kinetic->wraps >> axis & 1) return cell;
    return cell < 0 ? 0 : cell > nodes - 2 ? nodes - 2 : cell;
}

/* A node's place in the domain; of rows that are cut and periodic, among those that the part has memory for,
 * unless it has all samples of a moving solid, whose corners lie in the whole domain. */
static int home_of(const kf_kinetic *kinetic, int axis, int position) {
    const int nodes = kinetic->geometry.nodes[axis],
              first = axis == 1 && !kinetic->moving ? kinetic->geometry.rows_before : 0;
    if (!(kinetic->wraps >> axis & 1)) return position;
    return ((position - first) % nodes + nodes) % nodes + first;
}

static long long node_index(const kf_kinetic_geometry *g, long long x, long long y, long long z) {
    return g->origin + x + g->row_pitch * (y + 1) + g->plane_pitch * (z + 1);
}

long long kf_kinetic_cell_node(const kf_kinetic *kinetic, long long corner, int c) {
    const kf_kinetic_geometry *g = &kinetic->corners;
    const long long inside = corner - g->origin - (long long)g->row_pitch * g->rows_before,
                    in_plane = inside % g->plane_pitch;
    const int at[3] = {(int)(in_plane % g->row_pitch), (int)(in_plane / g->row_pitch) - 1 + g->rows_before,
                       (int)(inside / g->plane_pitch) - 1};
    return node_index(g, home_of(kinetic, 0, at[0] + (c & 1)), home_of(kinetic, 1, at[1] + (c >> 1 & 1)),
                      home_of(kinetic, 2, at[2] + (c >> 2)));
}

/* Returns the radius of the sphere about the centre that contains every sample. The device's offsets are
 * rounded to single precision. */
static double solid_radius(const kf_scene *scene) {
    double largest = 0;
    for (size_t s = 0; s < scene->samples.count; s++) {
        double x = scene->samples.x[s] - scene->motion.center[0],
               y = scene->samples.y[s] - scene->motion.center[1],
               z = scene->samples.z[s] - scene->motion.center[2];
        largest = fmax(largest, x * x + y * y + z * z);
    }
    return (1.0 + 1e-6) * sqrt(largest);
}

/* Finds the extent of the solids along an axis. A single moving solid counts with the sphere about its
 * centre. */
static void find_reach(const kf_scene *scene, int axis, double radius, double ends[2]) {
    const kf_motion *motion = &scene->motion;
    if (scene->solid_count > 0) {
        kf_kinetic_reach(scene, axis, ends);
        return;
    }
    ends[0] = motion->moving ? motion->center[axis] - radius : scene->solid_low[axis];
    ends[1] = motion->moving ? motion->center[axis] + radius : scene->solid_high[axis];
}

int kf_kinetic_wraps(const kf_scene *scene) {
    if (scene->samples.count == 0) return 0;
    const kf_motion *motion = &scene->motion;
    const double radius = motion->moving ? solid_radius(scene) : 0.0;
    int wraps = 0;
    for (int i = 0; i < 3; i++) {
        if (scene->faces[2 * i] != KF_PERIODIC) continue;
        const bool travels = motion->free || (motion->moving && motion->velocity[i] != 0.0);
        double ends[2];
        find_reach(scene, i, radius, ends);
        if (travels || ends[0] < 0.0 || ends[1] > scene->nodes[i] - 1.0) wraps |= 1 << i;
    }
    return wraps;
}

/* Returns whether a solid reaches a wall or an inflow across another axis than `axis` (kinetic.h). A moving
 * solid may reach every face that its path does not exclude. */
bool kf_kinetic_is_bounced(const kf_scene *scene, int axis) {
    const kf_motion *motion = &scene->motion;
    if (scene->links.count > 0) return !scene->half_way;
    if (scene->samples.count == 0) return false;
    const double radius = motion->moving ? solid_radius(scene) : 0.0;
    bool bounced = false;
    for (int i = 0; i < 3; i++) {
        const bool travels = motion->free || (motion->moving && motion->velocity[i] != 0.0);
        double ends[2];
        find_reach(scene, i, radius, ends);
        const bool comes[2] = {travels || ends[0] < 1.0, travels || ends[1] > scene->nodes[i] - 2.0};
        for (int high = 0; high < 2 && i != axis; high++) {
            const kf_boundary kind = scene->faces[2 * i + high];
            bounced = bounced || (comes[high] && (kind == KF_WALL || kind == KF_INFLOW));
        }
    }
    return bounced;
}

/* Refuses a solid whose touched nodes, or whose box of cells, would overlap themselves across the seam. */
kf_status kf_kinetic_check_solid(const kf_scene *scene, kf_error *error) {
    const int wraps = kf_kinetic_wraps(scene);
    const double diameter = scene->motion.moving ? 2.0 * ceil(solid_radius(scene)) : 0.0;
    for (int i = 0; i < 3; i++) {
        if (scene->nodes[i] < 4)
            return kf_fail(
                error, KF_BAD_INPUT,
                "a scene with a solid needs at least 4 nodes along every axis (%d x %d x %d given)",
                scene->nodes[0], scene->nodes[1], scene->nodes[2]);
        double ends[2];
        find_reach(scene, i, 0.5 * diameter, ends);
        const double length = scene->motion.moving && scene->solid_count == 0 ? diameter : ends[1] - ends[0];
        if (wraps >> i & 1 && length + 4.0 > scene->nodes[i])
            return kf_fail(
                error, KF_BAD_INPUT,
                "the solid is too long to lie across the periodic faces across %c (%.4g of %d cells): "
                "make the domain 4 cells longer than it",
                "xyz"[i], length, scene -> nodes[i]);
    }
    return KF_OK;
}

/* Uploads the solid's pose at the start, with what its equations of motion need: excess mass and inertia,
 * weight, and angular momentum. */
static kf_status upload_pose(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    const kf_motion *motion = &scene->motion;
    kf_pose pose = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                    .angular_speed = motion->angular_speed,
                    .moving = motion->moving,
                    .free = motion->free,
                    .excess_mass = motion->excess_mass,
                    .quaternion = {1, 0, 0, 0},
                    .left_at = -1,
                    .radius = solid_radius(scene)};
    for (int i = 0; i < 3; i++) {
        double middle = 0.5 * (scene->solid_low[i] + scene->solid_high[i]);
        pose.center[i] = pose.center_start[i] = motion->moving ? motion->center[i] : middle;
        pose.velocity[i] = motion->moving ? motion->velocity[i] : 0.0;
        pose.axis[i] = motion->moving ? motion->axis[i] : 0.0;
        pose.angular_velocity[i] = motion->moving ? motion->angular_speed * motion->axis[i] : 0.0;
        pose.box_origin[i] =
            motion->moving ? (int)floor(pose.center[i] - pose.radius) : kinetic->ordering.origin[i];
    }
    /* The common box of several solids never moves. */
    for (int i = 0; i < 3 && scene->solid_count > 0; i++) {
        double ends[2];
        kf_kinetic_reach(scene, i, ends);
        pose.box_origin[i] = (int)floor(ends[0]);
    }
    memcpy(pose.excess_inertia, motion->excess_inertia, sizeof pose.excess_inertia);
    for (int i = 0; i < 3; i++) {
        pose.weight[i] = motion->excess_mass * motion->gravity[i];
        for (int j = 0; j < 3; j++)
            pose.angular_momentum[i] += pose.excess_inertia[3 * i + j] * pose.angular_velocity[j];
    }
    return kf_buffer_upload(kinetic->pose, 0, &pose, sizeof pose, error);
}

/* Returns whether the part works out the force of nodes in that plane. */
static bool reaches(const kf_kinetic *kinetic, int plane) {
    const int reach = kinetic->arguments.part.reach, low = kinetic->first_plane - reach,
              high = kinetic->first_plane + kinetic->planes - 1 + reach, nodes = kinetic->geometry.nodes[2];
    if (!(kinetic->wraps >> 2 & 1)) return plane >= low && plane <= high;
    return (plane >= low && plane <= high) || (plane - nodes >= low && plane - nodes <= high) ||
           (plane + nodes >= low && plane + nodes <= high);
}

/* Returns whether the part works out the force of nodes of cells between a row and the next, where there
 * are cuts across y. */
static bool reaches_rows(const kf_kinetic *kinetic, int cell) {
    const int reach = kinetic->arguments.part.reach;
    return kinetic->options.parts_y == 1 ||
           (cell + 1 >= kinetic->first_row - reach && cell < kinetic->first_row + kinetic->rows + reach);
}

/* Returns whether a part of a team keeps a sample. Of a static solid it keeps those whose cells touch its
 * planes, in the common order. Of a moving solid it keeps all. */
static bool keeps(const kf_kinetic *kinetic, int row, int plane) {
    return kinetic->moving || (reaches_rows(kinetic, home_of(kinetic, 1, row)) &&
                               (reaches(kinetic, home_of(kinetic, 2, plane)) ||
                                reaches(kinetic, home_of(kinetic, 2, plane + 1))));
}

/* Orders the samples by the config's blocks of cells, and keeps those whose cells the part reaches. Their
 * data are coordinates (in a cell, or about a moving solid's centre), first nodes, acting areas and numbers.
 */
kf_ordered_samples kf_kinetic_order_samples(const kf_scene *scene, const kf_kinetic *kinetic) {
    const kf_samples *samples = &scene->samples;
    const size_t count = samples->count;
    /* This space includes the samples that fill the last patch of each of several solids. */
    const size_t room = count + (size_t)scene->solid_count * (size_t)kinetic->options.patch_length;
    kf_ordered_samples ordered = {.count = 0};
    for (int i = 0; i < 3; i++)
        ordered.coordinate[i] = kf_allocate(room * sizeof(double));
    ordered.area = kf_allocate(room * sizeof(double));
    double *areas = kf_kinetic_acting_areas(scene);
    ordered.corner = kf_allocate(room * sizeof(long long));
    ordered.identity = kf_allocate(room * sizeof(int));
    ordered.solid = samples->solid != NULL ? kf_allocate(room) : NULL;
    uint32_t *permutation = kf_allocate(count * sizeof(uint32_t));
    kf_ordering_sort(&kinetic->ordering, count, samples->x, samples->y, samples->z, permutation);
    kf_kinetic_group_by_solid(samples, permutation);
    for (size_t n = 0; n < count; n++) {
        const size_t s = permutation[n], r = ordered.count;
        const double position[3] = {samples->x[s], samples->y[s], samples->z[s]};
        const int solid = samples->solid != NULL ? samples->solid[s] : -1;
        const double *center = solid < 0 ? scene->motion.center : scene->solids[solid].motion.center;
        int cell[3];
        if (!keeps(kinetic, cell_of(kinetic, 1, position[1]), cell_of(kinetic, 2, position[2]))) continue;
        ordered.count++;
        for (int i = 0; i < 3; i++) {
            cell[i] = cell_of(kinetic, i, position[i]);
            ordered.coordinate[i][r] = kinetic->moving ? position[i] - center[i] : position[i] - cell[i];
        }
        ordered.corner[r] = node_index(&kinetic->corners, home_of(kinetic, 0, cell[0]),
                                       home_of(kinetic, 1, cell[1]), home_of(kinetic, 2, cell[2]));
        ordered.area[r] = areas[s];
        ordered.identity[r] = (int)s;
        if (solid < 0) continue;
        ordered.solid[r] = (unsigned char)solid;
        if (n + 1 == count || samples->solid[permutation[n + 1]] != solid)
            kf_kinetic_fill_patch(kinetic, &ordered);
    }
    free(permutation);
    free(areas);
    return ordered;
}

void kf_kinetic_free_ordered(kf_ordered_samples *ordered) {
    for (int i = 0; i < 3; i++)
        free(ordered->coordinate[i]);
    free(ordered->area);
    free(ordered->corner);
    free(ordered->identity);
    free(ordered->solid);
}

/* A sample's place within its cell has 4096 values, for some tens of samples. */
enum { CELL_BITS = 4 };

/* Cells of a solid at rest, from its bounding box; a sample of a face that lies on a plane of the lattice may
 * round into the cell before it. */
void kf_kinetic_begin_ordering(const kf_scene *scene, kf_kinetic *kinetic) {
    const double *const position[3] = {scene->samples.x, scene->samples.y, scene->samples.z};
    double low[3], high[3];
    for (int i = 0; i < 3; i++) {
        low[i] = scene->solid_low[i];
        high[i] = scene->solid_high[i];
        for (size_t s = 0; s < scene->samples.count; s++) {
            const double cell = cell_of(kinetic, i, position[i][s]);
            low[i] = fmin(low[i], cell);
            high[i] = fmax(high[i], cell);
        }
    }
    const kf_kinetic_options *o = &kinetic->options;
    kf_ordering_begin(&kinetic->ordering,
                      o->sample_order == KF_ORDER_NONE ? KF_WHOLE_BOX : (int)o->sample_block_length,
                      o->sample_order == KF_ORDER_MORTON, low, high);
    /* The source's plans order single samples, those of one pass whole cells. */
    if (o->sample_order == KF_ORDER_MORTON && (o->plan == KF_PLAN_BASELINE || o->plan == KF_PLAN_PAPER))
        kf_ordering_refine(&kinetic->ordering, CELL_BITS);
}

static kf_status upload_ordered(const kf_kinetic *kinetic, const kf_ordered_samples *ordered,
                                kf_error *error) {
    const size_t count = ordered->count;
    for (int i = 0; i < 3; i++)
        KF_TRY(kf_kinetic_upload_reals(kinetic, kinetic->samples[i], ordered->coordinate[i], count, error));
    KF_TRY(kf_kinetic_upload_reals(kinetic, kinetic->samples[3], ordered->area, count, error));
    if (kinetic->identity != NULL)
        KF_TRY(kf_buffer_upload(kinetic->identity, 0, ordered->identity, count * sizeof(int), error));
    if (!kinetic->moving)
        KF_TRY(kf_kinetic_upload_indices(kinetic, kinetic->sample_corner, ordered->corner, count, error));
    return KF_OK;
}

/* Makes the device's memory for pose, loads, a free solid's sums and, unless segments hold them, the
 * samples. */
static kf_status make_sample_buffers(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    kf_kinetic_arguments *a = &kinetic->arguments;
    const size_t count = (size_t)a->samples.count;
    KF_TRY(kf_plan_buffer(plan, 2 * sizeof(kf_pose), &kinetic->pose,
                          error)); /* and what patch_sort leaves behind it */
    KF_TRY(
        kf_plan_buffer(plan, KF_LOAD_SUMS * KF_LOAD_SLOTS * sizeof(long long), &kinetic->load_sums, error));
    a->samples.pose = kf_buffer_address(kinetic->pose);
    a->body.load_sums = kf_buffer_address(kinetic->load_sums);
    if (kinetic->free) {
        KF_TRY(kf_kinetic_make_sums(plan, kinetic, KF_SUM_BODY, error));
        a->body.sums = kf_buffer_address(kinetic->sums[KF_SUM_BODY].own);
    }
    if (kinetic->segments || count == 0) return KF_OK;
    for (int i = 0; i < 4; i++)
        KF_TRY(kf_plan_buffer(plan, count * kinetic->real_bytes, &kinetic->samples[i], error));
    if (!kinetic->moving)
        KF_TRY(kf_plan_buffer(plan, count * (kinetic->geometry.index64 ? sizeof(long long) : sizeof(int)),
                              &kinetic->sample_corner, error));
    if (kf_kinetic_uses(kf_plan_scene(plan), &kinetic->options, KF_SOURCE_ORDER))
        KF_TRY(kf_plan_buffer(plan, count * sizeof(int), &kinetic->identity, error));
    if (!kinetic->band) {
        kf_buffer *force;
        KF_TRY(kf_plan_buffer(plan, 3 * count * kinetic->real_bytes, &force, error));
        a->samples.force = kf_buffer_address(force);
    }
    a->samples.x = kf_buffer_address(kinetic->samples[0]);
    a->samples.y = kf_buffer_address(kinetic->samples[1]);
    a->samples.z = kf_buffer_address(kinetic->samples[2]);
    a->samples.area = kf_buffer_address(kinetic->samples[3]);
    if (kinetic->sample_corner != NULL) a->samples.corner = kf_buffer_address(kinetic->sample_corner);
    return KF_OK;
}

/* Orders the part's samples, makes their memory, and uploads them and the band that they touch. */
kf_status kf_kinetic_upload_samples(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    if (scene->samples.count > 2147483647 / 8)
        return kf_fail(error, KF_MACHINE, "%zu samples are too many (at most %d)", scene->samples.count,
                       2147483647 / 8);
    kf_kinetic_begin_ordering(scene, kinetic);
    kf_ordered_samples ordered = kf_kinetic_order_samples(scene, kinetic);
    kinetic->arguments.samples.count = (int)ordered.count;
    kinetic->has_samples = ordered.count > 0;
    int moving_edge = 2 * (int)ceil(solid_radius(scene)) + 2;
    for (int i = 0; i < 3; i++)
        kinetic->arguments.samples.box[i] = kinetic->moving ? moving_edge : kinetic->ordering.cells[i];
    for (int i = 0; i < 3 && scene->solid_count > 0; i++) {
        double ends[2];
        kf_kinetic_reach(scene, i, ends);
        kinetic->arguments.samples.box[i] = (int)ceil(ends[1]) - (int)floor(ends[0]) + 2;
    }
    kf_status status = make_sample_buffers(plan, kinetic, error);
    if (status == KF_OK && !kinetic->segments && kinetic->has_samples)
        status = upload_ordered(kinetic, &ordered, error);
    if (status == KF_OK) status = kf_kinetic_upload_solids(plan, kinetic, &ordered, error);
    if (status == KF_OK && kinetic->band && kinetic->has_samples)
        status = kf_kinetic_make_band(plan, kinetic, &ordered, error);
    else if (status == KF_OK && kinetic->options.masked_band) /* the flow's kernel is that of all parts */
        status = kf_kinetic_upload_mask(plan, kinetic, NULL, 0, error);
    kf_kinetic_free_ordered(&ordered);
    return status;
}

/* Resets the pose and the counters to step 0. */
kf_status kf_kinetic_reset_samples(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    KF_TRY(upload_pose(plan, kinetic, error));
    KF_TRY(kf_buffer_fill(kinetic->load_sums, 0, error));
    KF_TRY(kf_kinetic_reset_solids(kf_plan_scene(plan), kinetic, error));
    if (kinetic->free) KF_TRY(kf_kinetic_clear_sums(kinetic, KF_SUM_BODY, error));
    if (!kinetic->band || !kinetic->has_samples) return KF_OK;
    const int counts[3] = {kinetic->band_count_static, 0, 0};
    if (kinetic->moving) KF_TRY(kf_buffer_fill(kinetic->band_of, 0xff, error));
    if (kinetic->cells) KF_TRY(kf_buffer_fill(kinetic->cell_count, 0, error));
    if (kinetic->patches) KF_TRY(kf_buffer_fill(kinetic->patch_band, 0, error));
    return kf_buffer_upload(kinetic->band_count, 0, counts, sizeof counts, error);
}
