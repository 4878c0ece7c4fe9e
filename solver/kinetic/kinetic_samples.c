/* The solid on the device: samples in their order, pose, and the band of nodes that they touch. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic.h"

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

static kf_status upload_indices(const kf_kinetic *kinetic, kf_buffer *buffer, const long long *values,
                                size_t count, kf_error *error) {
    if (kinetic->geometry.wide_index)
        return kf_buffer_upload(buffer, 0, values, count * sizeof(long long), error);
    int *narrow = kf_allocate(count * sizeof(int));
    for (size_t i = 0; i < count; i++)
        narrow[i] = (int)values[i];
    kf_status status = kf_buffer_upload(buffer, 0, narrow, count * sizeof(int), error);
    free(narrow);
    return status;
}

/* As kf_cell_of on the device: a sample on the last node belongs to the last cell; where the domain wraps,
 * the cell may lie beyond it. */
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

/* Of the sphere about the centre that holds every sample wherever the device's offsets, rounded to single
 * precision, put it. */
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

int kf_kinetic_wraps(const kf_scene *scene) {
    if (scene->samples.count == 0) return 0;
    const kf_motion *motion = &scene->motion;
    const double radius = motion->moving ? solid_radius(scene) : 0.0;
    int wraps = 0;
    for (int i = 0; i < 3; i++) {
        if (scene->faces[2 * i] != KF_PERIODIC) continue;
        const bool travels = motion->free || (motion->moving && motion->velocity[i] != 0.0);
        const double low = motion->moving ? motion->center[i] - radius : scene->solid_low[i],
                     high = motion->moving ? motion->center[i] + radius : scene->solid_high[i];
        if (travels || low < 0.0 || high > scene->nodes[i] - 1.0) wraps |= 1 << i;
    }
    return wraps;
}

bool kf_kinetic_is_bounced(const kf_scene *scene, int axis) {
    const kf_motion *motion = &scene->motion;
    if (scene->samples.count == 0) return false;
    const double radius = motion->moving ? solid_radius(scene) : 0.0;
    bool bounced = false;
    for (int i = 0; i < 3; i++) {
        const bool travels = motion->free || (motion->moving && motion->velocity[i] != 0.0);
        const double ends[2] = {motion->moving ? motion->center[i] - radius : scene->solid_low[i],
                                motion->moving ? motion->center[i] + radius : scene->solid_high[i]};
        const bool comes[2] = {travels || ends[0] < 1.0, travels || ends[1] > scene->nodes[i] - 2.0};
        for (int high = 0; high < 2 && i != axis; high++) {
            const kf_boundary kind = scene->faces[2 * i + high];
            bounced = bounced || (comes[high] && (kind == KF_WALL || kind == KF_INFLOW));
        }
    }
    return bounced;
}

/* The nodes that the solid touches, and the box that holds its cells, must not meet themselves across the
 * seam. */
kf_status kf_kinetic_check_solid(const kf_scene *scene, kf_error *error) {
    const int wraps = kf_kinetic_wraps(scene);
    const double diameter = scene->motion.moving ? 2.0 * ceil(solid_radius(scene)) : 0.0;
    for (int i = 0; i < 3; i++) {
        if (scene->nodes[i] < 4)
            return kf_fail(
                error, KF_BAD_INPUT,
                "a scene with a solid needs at least 4 nodes along every axis (%d x %d x %d given)",
                scene->nodes[0], scene->nodes[1], scene->nodes[2]);
        const double length = scene->motion.moving ? diameter : scene->solid_high[i] - scene->solid_low[i];
        if (wraps >> i & 1 && length + 4.0 > scene->nodes[i])
            return kf_fail(
                error, KF_BAD_INPUT,
                "the solid is too long to lie across the periodic faces across %c (%.4g of %d cells): "
                "make the domain 4 cells longer than it",
                "xyz"[i], length, scene -> nodes[i]);
    }
    return KF_OK;
}

kf_status kf_kinetic_upload_pose(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
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
    memcpy(pose.excess_inertia, motion->excess_inertia, sizeof pose.excess_inertia);
    for (int i = 0; i < 3; i++) {
        pose.weight[i] = motion->excess_mass * motion->gravity[i];
        for (int j = 0; j < 3; j++)
            pose.angular_momentum[i] += pose.excess_inertia[3 * i + j] * pose.angular_velocity[j];
    }
    return kf_buffer_upload(kinetic->pose, 0, &pose, sizeof pose, error);
}

/* Samples in the order of the plan: corner and fractions of a static solid, offsets from the centre of a
 * moving one. */
typedef struct ordered_samples {
    size_t count;
    double *coordinate[3], *area;
    long long *corner;
    int *identity;
} ordered_samples;

/* Whether the part works out the force of nodes in that plane. */
static bool reaches(const kf_kinetic *kinetic, int plane) {
    const int reach = kinetic->arguments.reach, low = kinetic->first_plane - reach,
              high = kinetic->first_plane + kinetic->planes - 1 + reach, nodes = kinetic->geometry.nodes[2];
    if (!(kinetic->wraps >> 2 & 1)) return plane >= low && plane <= high;
    return (plane >= low && plane <= high) || (plane - nodes >= low && plane - nodes <= high) ||
           (plane + nodes >= low && plane + nodes <= high);
}

/* The same of cells between a row and the next, where there are cuts across y. */
static bool reaches_rows(const kf_kinetic *kinetic, int cell) {
    const int reach = kinetic->arguments.reach;
    return kinetic->options.parts_y == 1 ||
           (cell + 1 >= kinetic->first_row - reach && cell < kinetic->first_row + kinetic->rows + reach);
}

/* A part of a team keeps the samples of a static solid whose cells touch such planes, in the order of all; of
 * a moving one it keeps all. */
static bool keeps(const kf_kinetic *kinetic, int row, int plane) {
    return kinetic->moving || (reaches_rows(kinetic, home_of(kinetic, 1, row)) &&
                               (reaches(kinetic, home_of(kinetic, 2, plane)) ||
                                reaches(kinetic, home_of(kinetic, 2, plane + 1))));
}

static ordered_samples order_samples(const kf_scene *scene, const kf_kinetic *kinetic) {
    const kf_samples *samples = &scene->samples;
    size_t count = samples->count;
    ordered_samples ordered = {.count = 0};
    for (int i = 0; i < 3; i++)
        ordered.coordinate[i] = kf_allocate(count * sizeof(double));
    ordered.area = kf_allocate(count * sizeof(double));
    double *areas = kf_scene_acting_areas(scene);
    ordered.corner = kf_allocate(count * sizeof(long long));
    ordered.identity = kf_allocate(count * sizeof(int));
    uint32_t *permutation = kf_allocate(count * sizeof(uint32_t));
    kf_ordering_sort(&kinetic->ordering, count, samples->x, samples->y, samples->z, permutation);
    for (size_t n = 0; n < count; n++) {
        const size_t s = permutation[n], r = ordered.count;
        const double position[3] = {samples->x[s], samples->y[s], samples->z[s]};
        int cell[3];
        if (!keeps(kinetic, cell_of(kinetic, 1, position[1]), cell_of(kinetic, 2, position[2]))) continue;
        ordered.count++;
        for (int i = 0; i < 3; i++) {
            cell[i] = cell_of(kinetic, i, position[i]);
            ordered.coordinate[i][r] =
                kinetic->moving ? position[i] - scene->motion.center[i] : position[i] - cell[i];
        }
        ordered.corner[r] = node_index(&kinetic->corners, home_of(kinetic, 0, cell[0]),
                                       home_of(kinetic, 1, cell[1]), home_of(kinetic, 2, cell[2]));
        ordered.area[r] = areas[s];
        ordered.identity[r] = (int)s;
    }
    free(permutation);
    free(areas);
    return ordered;
}

static void free_ordered(ordered_samples *ordered) {
    for (int i = 0; i < 3; i++)
        free(ordered->coordinate[i]);
    free(ordered->area);
    free(ordered->corner);
    free(ordered->identity);
}

/* Distinct nodes that the samples touch, ascending; caller frees. */
static long long *touched_nodes(const kf_kinetic *kinetic, const long long *corner, size_t count,
                                size_t *found) {
    const kf_kinetic_geometry *g = &kinetic->corners;
    size_t words = (size_t)(g->capacity + 63) / 64;
    uint64_t *marked = kf_allocate_zeroed(words, sizeof(uint64_t));
    for (size_t s = 0; s < count; s++) {
        if (s > 0 && corner[s] == corner[s - 1]) continue;
        for (int c = 0; c < 8; c++) {
            long long k = kf_kinetic_cell_node(kinetic, corner[s], c) + g->before;
            marked[k / 64] |= UINT64_C(1) << (k % 64);
        }
    }
    size_t total = 0;
    for (size_t w = 0; w < words; w++)
        total += (size_t)__builtin_popcountll(marked[w]);
    long long *nodes = kf_allocate((total + 1) * sizeof(long long));
    size_t n = 0;
    for (size_t w = 0; w < words; w++)
        for (uint64_t bits = marked[w]; bits != 0; bits &= bits - 1)
            nodes[n++] = (long long)(w * 64) + __builtin_ctzll(bits) - g->before;
    free(marked);
    *found = total;
    return nodes;
}

/* A moving solid's band is marked anew every step and may grow: it gets twice the place. */
static size_t band_places(const kf_kinetic *kinetic, size_t touched) {
    return kinetic->moving ? 2 * touched + 1024 : touched;
}

/* The aggregated variant finds the band through its segments and needs no map on the device. */
static kf_status make_band_buffers(kf_plan *plan, kf_kinetic *kinetic, size_t touched, kf_error *error) {
    size_t index_bytes = kinetic->geometry.wide_index ? sizeof(long long) : sizeof(int);
    size_t place = band_places(kinetic, touched);
    kf_kinetic_arguments *a = &kinetic->arguments;
    kf_buffer *field;
    if (place > 2147483647 / 8)
        return kf_fail(error, KF_MACHINE, "the solid touches too many nodes (%zu)", touched);
    KF_TRY(kf_plan_buffer(plan, place * index_bytes, &kinetic->band_node, error));
    KF_TRY(kf_plan_buffer(plan, place * 4 * kinetic->real_bytes, &field, error));
    KF_TRY(kf_plan_buffer(plan, place * 4 * sizeof(double), &kinetic->band_force, error));
    KF_TRY(kf_plan_buffer(plan, 3 * sizeof(int), &kinetic->band_count, error));
    const bool keeps = kinetic->options.keep_streamed;
    if (kinetic->options.in_place != 0 || kinetic->geometry.shift > 0 || keeps) {
        const size_t value = keeps ? kinetic->real_bytes : kinetic->store_bytes;
        kf_buffer *kept;
        KF_TRY(kf_plan_buffer(plan, (size_t)kinetic->node_values * place * value, &kept, error));
        a->band_kept = kf_buffer_address(kept);
    }
    if (kinetic->options.plan == KF_PLAN_MOMENTS && kinetic->listed == NULL) {
        KF_TRY(kf_plan_buffer(plan, 27 * place * kinetic->real_bytes, &kinetic->listed, error));
        a->listed = kf_buffer_address(kinetic->listed);
        a->listed_count = (int)place;
    }
    if (plan->all_parts == 1) kinetic->listed_all = a->listed_count;
    if (kinetic->passes > 1) {
        KF_TRY(kf_plan_buffer(plan, place * 4 * sizeof(double), &kinetic->band_total, error));
        a->band_total = kf_buffer_address(kinetic->band_total);
    }
    kinetic->band_count_static = kinetic->moving ? 0 : (int)touched;
    a->band_capacity = (int)place;
    a->band_node = kf_buffer_address(kinetic->band_node);
    a->band_field = kf_buffer_address(field);
    a->band_force = kf_buffer_address(kinetic->band_force);
    a->band_count = kf_buffer_address(kinetic->band_count);
    if (kinetic->segments) return KF_OK;
    KF_TRY(kf_plan_buffer(plan, (size_t)kinetic->geometry.capacity * sizeof(int), &kinetic->band_of, error));
    a->band_of = (int *)kf_buffer_address(kinetic->band_of) + kinetic->geometry.before;
    return kf_buffer_fill(kinetic->band_of, 0xff, error); /* -1: outside the band */
}

/* Rows of segments for the fullest cells, as the solid lies at first: half as many samples again have place.
 */
static kf_status make_cell_buffers(kf_plan *plan, kf_kinetic *kinetic, const long long *corner,
                                   kf_error *error) {
    kf_kinetic_arguments *a = &kinetic->arguments;
    const size_t nodes = (size_t)kinetic->geometry.capacity, samples = (size_t)a->sample_count;
    const long length = kinetic->options.segment_length;
    int *counts = kf_allocate_zeroed((size_t)kinetic->corners.capacity, sizeof(int)), fullest = 0;
    for (size_t s = 0; s < samples; s++)
        if (++counts[corner[s] + kinetic->corners.before] > fullest)
            fullest = counts[corner[s] + kinetic->corners.before];
    free(counts);
    a->cell_rows = (int)((3L * fullest / 2 + length - 1) / length);
    kf_buffer *filled, *rank, *crowded;
    const size_t places = (size_t)a->cell_rows * (size_t)a->band_capacity;
    if (places > 2147483647)
        return kf_fail(error, KF_MACHINE,
                       "%d samples in one cell are too many for immersed_boundary aggregated", fullest);
    KF_TRY(kf_plan_buffer(plan, nodes * sizeof(int), &kinetic->cell_count, error));
    KF_TRY(kf_plan_buffer(plan, samples * sizeof(int), &rank, error));
    KF_TRY(kf_plan_buffer(plan, samples * sizeof(int), &crowded, error));
    KF_TRY(kf_plan_buffer(plan, places * (size_t)length * 4 * kinetic->real_bytes, &filled, error));
    a->cell_count = (int *)kf_buffer_address(kinetic->cell_count) + kinetic->geometry.before;
    a->sample_rank = kf_buffer_address(rank);
    a->crowded = kf_buffer_address(crowded);
    a->segment_samples = kf_buffer_address(filled);
    return kf_buffer_fill(kinetic->cell_count, 0, error);
}

int kf_kinetic_patches(const kf_kinetic *kinetic) {
    const long length = kinetic->options.patch_length;
    return (int)((kinetic->arguments.sample_count + length - 1) / length);
}

size_t kf_kinetic_patch_words(const kf_kinetic *kinetic) {
    const int *box = kinetic->arguments.box;
    return ((size_t)box[0] + 32) / 32 * ((size_t)box[1] + 1) * ((size_t)box[2] + 1);
}

/* Each patch's samples and runs. A cell goes by its corner's place in 32 bits. */
static kf_status make_patch_buffers(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    const size_t patches = (size_t)kf_kinetic_patches(kinetic),
                 length = (size_t)kinetic->options.patch_length;
    const size_t words = kf_kinetic_patch_words(kinetic);
    kf_buffer *sorted, *runs;
    if (kinetic->geometry.capacity > 2147483647 || words > 2147483647)
        return kf_fail(error, KF_MACHINE, "patches are for grids of less than 2^31 nodes");
    KF_TRY(kf_plan_buffer(plan, patches * length * 4 * kinetic->real_bytes, &sorted, error));
    KF_TRY(kf_plan_buffer(plan, patches * (2 * length + 2) * sizeof(int), &runs, error));
    kinetic->arguments.segment_samples = kf_buffer_address(sorted);
    KF_TRY(kf_plan_buffer(plan, words * sizeof(unsigned), &kinetic->patch_band, error));
    kinetic->arguments.patch_runs = kf_buffer_address(runs);
    kinetic->arguments.patch_band = kf_buffer_address(kinetic->patch_band);
    return kf_buffer_fill(kinetic->patch_band, 0, error);
}

/* The band's map of a static solid's samples that are spread one by one. */
static kf_status upload_map(const kf_kinetic *kinetic, const long long *nodes, size_t touched,
                            kf_error *error) {
    const size_t bytes = (size_t)kinetic->geometry.capacity * sizeof(int);
    int *map = kf_allocate(bytes);
    memset(map, 0xff, bytes);
    for (size_t n = 0; n < touched; n++)
        map[nodes[n] + kinetic->geometry.before] = (int)n;
    kf_status status = kf_buffer_upload(kinetic->band_of, 0, map, bytes, error);
    free(map);
    return status;
}

/* The bits of the band's nodes, for the flow's kernel to leave them out. */
static kf_status upload_mask(kf_plan *plan, kf_kinetic *kinetic, const long long *nodes, size_t touched,
                             kf_error *error) {
    const size_t words = ((size_t)kinetic->geometry.capacity + 31) / 32;
    kf_buffer *buffer;
    KF_TRY(kf_plan_buffer(plan, words * sizeof(unsigned), &buffer, error));
    unsigned *mask = kf_allocate_zeroed(words, sizeof *mask);
    for (size_t n = 0; n < touched; n++)
        mask[(nodes[n] + kinetic->geometry.before) / 32] |= 1U << (nodes[n] + kinetic->geometry.before) % 32;
    /* Planes begin with a word: a part's first one has the bits from its first node on. */
    kinetic->arguments.band_mask =
        (const unsigned *)kf_buffer_address(buffer) + kinetic->geometry.before / 32;
    const kf_status status = kf_buffer_upload(buffer, 0, mask, words * sizeof *mask, error);
    free(mask);
    return status;
}

/* That of segments stays on the host, and is mostly memory that is never touched. */
static kf_status make_segments(kf_plan *plan, kf_kinetic *kinetic, const ordered_samples *ordered,
                               const long long *nodes, size_t touched, kf_error *error) {
    int *map = kf_allocate_zeroed((size_t)kinetic->geometry.capacity, sizeof(int));
    for (size_t n = 0; n < touched; n++)
        map[nodes[n] + kinetic->geometry.before] = (int)n + 1;
    double *const values[4] = {ordered->coordinate[0], ordered->coordinate[1], ordered->coordinate[2],
                               ordered->area};
    kf_status status = kf_kinetic_make_segments(plan, kinetic, ordered->corner, values,
                                                map + kinetic->geometry.before, (int)touched, error);
    free(map);
    return status;
}

/* Cells of a solid at rest, from its bounding box; a sample of a face that lies on a plane of the lattice may
 * round into the cell before it. */
static void begin_ordering(const kf_scene *scene, kf_kinetic *kinetic) {
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
    kf_ordering_begin(&kinetic->ordering, (int)kinetic->options.sample_block_length, kinetic->options.morton,
                      low, high);
}

/* Plane of a node with that index. */
static int plane_of(const kf_kinetic *kinetic, long long node) {
    return (int)((node - kinetic->geometry.origin) / kinetic->geometry.plane_pitch) - 1;
}

/* Of a team's part: the first of its own nodes is where those of the parts below end. The band of a moving
 * solid has the places that there are for the part. */
static void place_in_list(kf_kinetic *kinetic, const long long *nodes, size_t touched) {
    size_t first = 0;
    while (!kinetic->moving && !kinetic->works_beside && first < touched &&
           plane_of(kinetic, nodes[first]) < kinetic->first_plane)
        first++;
    kinetic->arguments.listed_from = kinetic->listed_before - (int)first;
}

kf_status kf_kinetic_share_list(kf_plan *plan, kf_kinetic *kinetics, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    if (plan->all_parts == 1 || kinetics->options.plan != KF_PLAN_MOMENTS || !kinetics->has_solid)
        return KF_OK;
    if (!kinetics->works_beside && plan->near_parts < plan->all_parts)
        return kf_fail(
            error, KF_BAD_INPUT,
            "in plan moments with a solid planes are read in place on all devices, or on none; use "
            "transfer=copies, host or nccl");
    kf_kinetic whole = *kinetics;
    whole.first_plane = 0;
    whole.planes = scene->nodes[2];
    if (kinetics->options.parts_y > 1) { /* a part has memory for some rows alone */
        whole.first_row = 0;
        whole.rows = scene->nodes[1];
        whole.options.parts = whole.options.parts_y = 1;
        kf_kinetic_lay_out(scene, &whole.options, &whole.geometry);
        whole.corners = whole.geometry;
    }
    begin_ordering(scene, &whole);
    ordered_samples ordered = order_samples(scene, &whole);
    size_t touched, ends[KF_MOST_PARTS], n = 0;
    long long *nodes = touched_nodes(&whole, ordered.corner, ordered.count, &touched);
    int first[KF_MOST_PARTS + 1];
    kf_kinetic_cut(scene, kinetics->options.sample_cost, 2, plan->all_parts, first);
    const size_t each = band_places(kinetics, touched);
    for (int part = 0; part < plan->all_parts && !kinetics->works_beside; part++) {
        const int own = part - plan->first_part;
        if (own >= 0 && own < plan->part_count) kinetics[own].listed_before = (int)n;
        while (!kinetics->moving && n < touched && plane_of(&whole, nodes[n]) < first[part + 1])
            n++;
        if (kinetics->moving) n += each;
        ends[part] = n * kinetics->real_bytes;
    }
    free(nodes);
    free_ordered(&ordered);
    for (int part = 0; part < plan->part_count; part++)
        kinetics[part].listed_all = (int)each;
    if (kinetics->works_beside) return KF_OK;
    if (n > 2147483647 / 8) return kf_fail(error, KF_MACHINE, "the solid touches too many nodes (%zu)", n);
    kf_buffer *list;
    const size_t row = n * kinetics->real_bytes;
    KF_TRY(kf_plan_spread(plan, 27 * row, row, ends, &list, error));
    for (int part = 0; part < plan->part_count; part++) {
        kinetics[part].listed = list;
        kinetics[part].arguments.listed = kf_buffer_address(list);
        kinetics[part].arguments.listed_count = (int)n;
    }
    return KF_OK;
}

/* The band of a static solid, once. */
static kf_status fill_band(kf_plan *plan, kf_kinetic *kinetic, const ordered_samples *ordered,
                           const long long *nodes, size_t touched, kf_error *error) {
    KF_TRY(upload_indices(kinetic, kinetic->band_node, nodes, touched, error));
    if (kinetic->options.masked_band) KF_TRY(upload_mask(plan, kinetic, nodes, touched, error));
    return kinetic->segments ? make_segments(plan, kinetic, ordered, nodes, touched, error)
                             : upload_map(kinetic, nodes, touched, error);
}

static kf_status make_band(kf_plan *plan, kf_kinetic *kinetic, const ordered_samples *ordered,
                           kf_error *error) {
    size_t touched;
    long long *nodes = touched_nodes(kinetic, ordered->corner, ordered->count, &touched);
    kf_status status = make_band_buffers(plan, kinetic, touched, error);
    if (kinetic->options.plan == KF_PLAN_MOMENTS && kinetic->options.parts > 1)
        place_in_list(kinetic, nodes, touched);
    if (status == KF_OK && !kinetic->moving)
        status = fill_band(plan, kinetic, ordered, nodes, touched, error);
    if (status == KF_OK && kinetic->cells) status = make_cell_buffers(plan, kinetic, ordered->corner, error);
    if (status == KF_OK && kinetic->patches) status = make_patch_buffers(plan, kinetic, error);
    free(nodes);
    return status;
}

static kf_status upload_ordered(const kf_kinetic *kinetic, const ordered_samples *ordered, kf_error *error) {
    const size_t count = ordered->count;
    for (int i = 0; i < 3; i++)
        KF_TRY(kf_kinetic_upload_reals(kinetic, kinetic->samples[i], ordered->coordinate[i], count, error));
    KF_TRY(kf_kinetic_upload_reals(kinetic, kinetic->samples[3], ordered->area, count, error));
    if (kinetic->identity != NULL)
        KF_TRY(kf_buffer_upload(kinetic->identity, 0, ordered->identity, count * sizeof(int), error));
    if (!kinetic->moving)
        KF_TRY(upload_indices(kinetic, kinetic->sample_corner, ordered->corner, count, error));
    return KF_OK;
}

static kf_status make_sample_buffers(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    kf_kinetic_arguments *a = &kinetic->arguments;
    const size_t count = (size_t)a->sample_count;
    KF_TRY(kf_plan_buffer(plan, sizeof(kf_pose), &kinetic->pose, error));
    KF_TRY(kf_plan_buffer(plan, 6 * KF_LOAD_SLOTS * sizeof(long long), &kinetic->load_sums, error));
    a->pose = kf_buffer_address(kinetic->pose);
    a->load_sums = kf_buffer_address(kinetic->load_sums);
    if (kinetic->free) {
        const size_t bytes = KF_BODY_PLACES * sizeof(long long);
        KF_TRY(kf_plan_buffer(plan, bytes, &kinetic->body_sums, error));
        a->body_sums = kf_buffer_address(kinetic->body_sums);
        if (plan->all_parts > 1) {
            KF_TRY(kf_plan_buffer(plan, (size_t)kf_kinetic_sum_places(plan) * bytes, &kinetic->team_body,
                                  error));
            KF_TRY(kf_plan_buffer(plan, bytes, &kinetic->no_body, error));
            KF_TRY(kf_buffer_fill(kinetic->no_body, 0, error));
        }
    }
    if (kinetic->segments || count == 0) return KF_OK;
    for (int i = 0; i < 4; i++)
        KF_TRY(kf_plan_buffer(plan, count * kinetic->real_bytes, &kinetic->samples[i], error));
    if (!kinetic->moving)
        KF_TRY(kf_plan_buffer(plan, count * (kinetic->geometry.wide_index ? sizeof(long long) : sizeof(int)),
                              &kinetic->sample_corner, error));
    if (kf_kinetic_uses(kf_plan_scene(plan), &kinetic->options, KF_SOURCE_ORDER))
        KF_TRY(kf_plan_buffer(plan, count * sizeof(int), &kinetic->identity, error));
    if (!kinetic->band) {
        kf_buffer *force;
        KF_TRY(kf_plan_buffer(plan, 3 * count * kinetic->real_bytes, &force, error));
        a->sample_force = kf_buffer_address(force);
    }
    a->sample_x = kf_buffer_address(kinetic->samples[0]);
    a->sample_y = kf_buffer_address(kinetic->samples[1]);
    a->sample_z = kf_buffer_address(kinetic->samples[2]);
    a->sample_area = kf_buffer_address(kinetic->samples[3]);
    if (kinetic->sample_corner != NULL) a->sample_corner = kf_buffer_address(kinetic->sample_corner);
    return KF_OK;
}

kf_status kf_kinetic_upload_samples(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    if (scene->samples.count > 2147483647 / 8)
        return kf_fail(error, KF_MACHINE, "%zu samples are too many (at most %d)", scene->samples.count,
                       2147483647 / 8);
    begin_ordering(scene, kinetic);
    ordered_samples ordered = order_samples(scene, kinetic);
    kinetic->arguments.sample_count = (int)ordered.count;
    kinetic->has_samples = ordered.count > 0;
    int moving_edge = 2 * (int)ceil(solid_radius(scene)) + 2;
    for (int i = 0; i < 3; i++)
        kinetic->arguments.box[i] = kinetic->moving ? moving_edge : kinetic->ordering.cells[i];
    kf_status status = make_sample_buffers(plan, kinetic, error);
    if (status == KF_OK && !kinetic->segments && kinetic->has_samples)
        status = upload_ordered(kinetic, &ordered, error);
    if (status == KF_OK && kinetic->band && kinetic->has_samples)
        status = make_band(plan, kinetic, &ordered, error);
    else if (status == KF_OK && kinetic->options.masked_band) /* the flow's kernel is that of all parts */
        status = upload_mask(plan, kinetic, NULL, 0, error);
    free_ordered(&ordered);
    return status;
}

/* Back to step 0: the pose, the samples' first order, the counters. */
kf_status kf_kinetic_reset_samples(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    KF_TRY(kf_kinetic_upload_pose(plan, kinetic, error));
    KF_TRY(kf_buffer_fill(kinetic->load_sums, 0, error));
    if (kinetic->free) KF_TRY(kf_buffer_fill(kinetic->body_sums, 0, error));
    if (kinetic->moving && kinetic->identity != NULL) {
        ordered_samples ordered = order_samples(kf_plan_scene(plan), kinetic);
        kf_status status = upload_ordered(kinetic, &ordered, error);
        free_ordered(&ordered);
        KF_TRY(status);
    }
    if (!kinetic->band || !kinetic->has_samples) return KF_OK;
    const int counts[3] = {kinetic->band_count_static, 0, 0};
    if (kinetic->moving) KF_TRY(kf_buffer_fill(kinetic->band_of, 0xff, error));
    if (kinetic->cells) KF_TRY(kf_buffer_fill(kinetic->cell_count, 0, error));
    if (kinetic->patches) KF_TRY(kf_buffer_fill(kinetic->patch_band, 0, error));
    return kf_buffer_upload(kinetic->band_count, 0, counts, sizeof counts, error);
}
