/* Nested grids of a scene: where their boxes lie, and the scene in finer cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/internal.h"

const kf_scene *kf_scene_finest(const kf_scene *scene) {
    return scene->finer_count > 0 ? scene->finer[scene->finer_count - 1] : scene;
}

int kf_scene_output_level(const kf_scene *scene) {
    const double nodes = kf_scene_level_nodes(scene, 0);
    int level = 0;
    while (level < scene->finer_count && ldexp(nodes, 3 * (level + 1)) <= KF_OUTPUT_NODES)
        level++;
    return level;
}

const kf_scene *kf_scene_of_outputs(const kf_scene *scene) {
    const int level = kf_scene_output_level(scene);
    return level > 0 ? scene->finer[level - 1] : scene;
}

double kf_scene_all_nodes(const kf_scene *scene) {
    double nodes = 0.0;
    for (int l = 0; l <= scene->finer_count; l++)
        nodes += kf_scene_level_nodes(scene, l);
    return nodes;
}

double kf_scene_step_updates(const kf_scene *scene) {
    double updates = 0.0;
    for (int l = 0; l <= scene->finer_count; l++)
        updates += ldexp(kf_scene_level_nodes(scene, l), l);
    return updates;
}

void kf_scene_level_cells(const kf_scene *scene, int level, int axis, int cells[2]) {
    cells[0] = level == 0 ? 0 : 2 * scene->boxes[level - 1].low[axis];
    cells[1] = level == 0 ? scene->nodes[axis] : 2 * scene->boxes[level - 1].high[axis];
}

double kf_scene_level_nodes(const kf_scene *scene, int level) {
    double nodes = 1.0;
    for (int a = 0; a < 3; a++) {
        int cells[2];
        kf_scene_level_cells(scene, level, a, cells);
        nodes *= cells[1] - cells[0];
    }
    return nodes;
}

/* ---- Checks ---- */

/* Returns the number of cells of a level along an axis of the whole domain. */
static int all_cells(const kf_scene *scene, int level, int axis) {
    return scene->nodes[axis] << level;
}

/* Refuses a side of a box that is too near the box around it, or at a face whose condition does not support
 * boxes. */
static kf_status check_side(const kf_scene *scene, int number, int axis, int side, kf_error *error) {
    const kf_cell_box *box = &scene->boxes[number - 1];
    const int most = all_cells(scene, number - 1, axis), at = side ? box->high[axis] : box->low[axis],
              end = side ? most : 0;
    int own[2];
    kf_scene_level_cells(scene, number - 1, axis, own);
    if (at == end && scene->faces[2 * axis + side] == KF_OUTFLOW)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: box %d touches the outflow across %c: let it end %d cells before the outflow",
                       scene->source, number, "xyz"[axis], KF_NESTED_MARGIN);
    const int room = side ? own[1] - at : at - own[0];
    if (room < 0 && own[side] != end)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: box %d reaches %d cells out of the box around it across %c: each box must lie in "
                       "the one before; give one box that contains both",
                       scene->source, number, -room, "xyz"[axis]);
    if (at != end && room < KF_NESTED_MARGIN)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: box %d ends %d cells from %s across %c: leave %d cells or more%s", scene->source,
                       number, abs(room), own[side] == end ? "the domain's face" : "the box around it",
                       "xyz"[axis], KF_NESTED_MARGIN, own[side] == end ? ", or none" : "");
    return KF_OK;
}

/* Refuses a box that leaves the domain, touches one of two periodic faces, or comes too near to another face.
 */
static kf_status check_box(const kf_scene *scene, int number, kf_error *error) {
    const kf_cell_box *box = &scene->boxes[number - 1];
    for (int axis = 0; axis < 3; axis++) {
        const int low = box->low[axis], high = box->high[axis], most = all_cells(scene, number - 1, axis);
        if (low < 0 || high > most || low >= high)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: box %d reaches from cell %d to %d along %c: give it cells of the domain, 0 to %d",
                scene->source, number, low, high, "xyz"[axis], most);
        if (scene->faces[2 * axis] == KF_PERIODIC && (low == 0) != (high == most))
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: box %d touches one periodic face across %c: keep it away from both, or let "
                           "it extend from one to the other",
                           scene->source, number, "xyz"[axis]);
        for (int side = 0; side < 2; side++)
            KF_TRY(check_side(scene, number, axis, side, error));
    }
    return KF_OK;
}

/* Widens a box to the path of a point that turns about a motion's centre. A free solid counts at its initial
 * position. */
static void take_in(const kf_motion *motion, const double at[3], double low[3], double high[3]) {
    double from[3], to[3];
    const bool turns = motion->moving && !motion->free;
    if (turns) (void)kf_motion_reach(motion, at, from, to);
    for (int a = 0; a < 3; a++) {
        low[a] = fmin(low[a], turns ? motion->center[a] + from[a] : at[a]);
        high[a] = fmax(high[a], turns ? motion->center[a] + to[a] : at[a]);
    }
}

/* Finds the box of all samples at all times; for several solids, and for one by links, it is that of their
 * meshes. */
static void find_samples(const kf_scene *scene, double low[3], double high[3]) {
    const kf_samples *samples = &scene->samples;
    if (scene->linked) {
        memcpy(low, scene->solid_low, 3 * sizeof *low);
        memcpy(high, scene->solid_high, 3 * sizeof *high);
        return;
    }
    for (int a = 0; a < 3; a++) {
        low[a] = INFINITY;
        high[a] = -INFINITY;
    }
    for (int s = 0; s < scene->solid_count; s++)
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], scene->solids[s].low[a]);
            high[a] = fmax(high[a], scene->solids[s].high[a]);
        }
    for (size_t s = 0; s < samples->count && scene->solid_count == 0; s++)
        take_in(&scene->motion, (const double[3]){samples->x[s], samples->y[s], samples->z[s]}, low, high);
}

/* Refuses a solid that leaves the finest box or comes near its sides inside the domain. */
static kf_status check_solid(const kf_scene *scene, kf_error *error) {
    const kf_scene *fine = kf_scene_finest(scene);
    const int finest = scene->finer_count, least = fine->linked ? KF_NESTED_LINK_ROOM : KF_NESTED_ROOM;
    double low[3], high[3];
    find_samples(fine, low, high);
    for (int axis = 0; axis < 3 && (fine->linked || fine->samples.count > 0); axis++) {
        int own[2];
        kf_scene_level_cells(scene, finest, axis, own);
        const bool from_face = own[0] == 0, to_face = own[1] == all_cells(scene, finest, axis);
        if (fine->motion.velocity[axis] != 0.0 && !fine->motion.free && !(from_face && to_face))
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: the solid travels along %c and leaves the finest box: let the finest box "
                           "extend from one face of the domain to the other along this axis",
                           scene->source, "xyz"[axis]);
        const double before = low[axis] + 0.5 - own[0], behind = own[1] - 0.5 - high[axis];
        const double room = fmin(from_face ? INFINITY : before, to_face ? INFINITY : behind);
        if (room < least)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: the finest box has to hold the solid with %d of its cells around it: across %c "
                "%s %.2g cells; make the box larger",
                scene->source, least, "xyz"[axis], room < 0.0 ? "the solid leaves it by" : "there are",
                fabs(room));
    }
    return KF_OK;
}

kf_status kf_scene_check_boxes(const kf_scene *scene, kf_error *error) {
    for (int number = 1; number <= scene->finer_count; number++)
        KF_TRY(check_box(scene, number, error));
    /* A scene that is being made has boxes first, then the finer scenes, then the samples. */
    const bool made = scene->finer_count > 0 && scene->finer[scene->finer_count - 1] != NULL;
    return made ? check_solid(scene, error) : KF_OK;
}

void kf_scene_swept_box(const kf_scene *scene, double low[3], double high[3]) {
    const kf_mesh *mesh = &scene->mesh;
    memcpy(low, scene->solid_low, 3 * sizeof *low);
    memcpy(high, scene->solid_high, 3 * sizeof *high);
    for (int s = 0; s < scene->solid_count; s++)
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], scene->solids[s].low[a]);
            high[a] = fmax(high[a], scene->solids[s].high[a]);
        }
    for (size_t v = 0; v < mesh->vertex_count && scene->motion.moving && scene->solid_count == 0; v++)
        take_in(&scene->motion, mesh->vertices + 3 * v, low, high);
}

/* ---- Room ---- */

static int half_down(int cells) {
    return cells >= 0 ? cells / 2 : -((1 - cells) / 2);
}

static int half_up(int cells) {
    return -half_down(-cells);
}

/* Returns the cells between a box of a level and an outflow: KF_NESTED_MARGIN of each level around it. */
static int off_outflow(int level) {
    return KF_NESTED_MARGIN * ((2 << level) - 1); /* NOLINT(clang-analyzer-core.*): a few levels */
}

/* Widens a box of a level to its required content. Its sides then keep a distance from the domain's faces,
 * or are moved to them. Returns false if the content is too near an outflow. */
static bool widen(const kf_scene *scene, const int nodes[3], int level, const kf_cell_box *needed,
                  kf_cell_box *box) {
    for (int axis = 0; axis < 3; axis++) {
        const int most = nodes[axis] << level;
        int low = box->low[axis], high = box->high[axis];
        if (scene->faces[2 * axis] == KF_OUTFLOW && low < off_outflow(level)) low = off_outflow(level);
        if (scene->faces[2 * axis + 1] == KF_OUTFLOW && high > most - off_outflow(level))
            high = most - off_outflow(level);
        const int wanted_low = needed != NULL ? needed->low[axis] : low,
                  wanted_high = needed != NULL ? needed->high[axis] : high;
        if (scene->faces[2 * axis] == KF_OUTFLOW && wanted_low < off_outflow(level)) return false;
        if (scene->faces[2 * axis + 1] == KF_OUTFLOW && wanted_high > most - off_outflow(level)) return false;
        low = wanted_low < low ? wanted_low : low;
        high = wanted_high > high ? wanted_high : high;
        const bool to_low = low<KF_NESTED_MARGIN, to_high = high> most - KF_NESTED_MARGIN,
                   both = scene->faces[2 * axis] == KF_PERIODIC && (to_low || to_high);
        box->low[axis] = to_low || both ? 0 : low;
        box->high[axis] = to_high || both ? most : high;
        if (box->low[axis] >= box->high[axis]) return false;
    }
    return true;
}

/* Returns the box that gives the solid space, in cells of level finest - 1. It is somewhat larger than
 * required. */
static kf_cell_box room_of_solid(const double low[3], const double high[3], int finest) {
    enum { SOLID_ROOM = KF_NESTED_ROOM + 3 };
    kf_cell_box box;
    for (int axis = 0; axis < 3; axis++) {
        box.low[axis] = half_down((int)floor(ldexp(low[axis] + 0.5, finest)) - SOLID_ROOM);
        box.high[axis] = half_up((int)ceil(ldexp(high[axis] + 0.5, finest)) + SOLID_ROOM);
    }
    return box;
}

static bool widen_all(const kf_scene *scene, const int nodes[3], const double low[3], const double high[3],
                      int from, kf_cell_box boxes[KF_FINER_LEVELS]) {
    const int count = scene->finer_count;
    const bool solid = high[0] > low[0] || high[1] > low[1] || high[2] > low[2];
    for (int l = count - 1; l >= from; l--) {
        kf_cell_box needed;
        if (l + 1 == count) needed = room_of_solid(low, high, count);
        for (int axis = 0; axis < 3 && l + 1 < count; axis++) {
            needed.low[axis] = half_down(boxes[l + 1].low[axis] - KF_NESTED_MARGIN);
            needed.high[axis] = half_up(boxes[l + 1].high[axis] + KF_NESTED_MARGIN);
        }
        if (!widen(scene, nodes, l, l + 1 == count && !solid ? NULL : &needed, &boxes[l])) return false;
    }
    return true;
}

bool kf_scene_fit_boxes(const kf_scene *scene, const int nodes[3], const double low[3], const double high[3],
                        kf_cell_box boxes[KF_FINER_LEVELS]) {
    for (int l = 0; l < scene->finer_count; l++)
        for (int axis = 0; axis < 3; axis++) {
            const double ratio = (double)nodes[axis] / scene->nodes[axis];
            boxes[l].low[axis] = (int)floor(scene->boxes[l].low[axis] * ratio + 1e-9);
            boxes[l].high[axis] = (int)ceil(scene->boxes[l].high[axis] * ratio - 1e-9);
        }
    return widen_all(scene, nodes, low, high, 0, boxes);
}

/* ---- Boxes around the body ---- */

/* Finds the direction of the stream along each axis, -1 to 1. */
static void find_stream(const kf_scene *scene, double stream[3]) {
    double speed = kf_scene_fastest_face(scene, KF_INFLOW, stream);
    if (speed == 0.0 && scene->initial == KF_INITIAL_UNIFORM) {
        memcpy(stream, scene->initial_velocity, 3 * sizeof *stream);
        speed = sqrt(stream[0] * stream[0] + stream[1] * stream[1] + stream[2] * stream[2]);
    }
    for (int a = 0; a < 3 && speed > 0.0; a++)
        stream[a] /= speed;
}

/* Returns the mean width of the solid across the stream, which sets the size of its wake. */
static double width_of(const kf_scene *scene, const double stream[3]) {
    double squares[3], product = 1.0, most = 0.0;
    int along = 0;
    for (int a = 1; a < 3; a++)
        if (fabs(stream[a]) > fabs(stream[along])) along = a;
    double low[3], high[3];
    kf_scene_swept_box(scene, low, high);
    for (int a = 0; a < 3; a++) {
        squares[a] = high[a] - low[a];
        if (a != along) product *= squares[a];
        if (a != along) most = fmax(most, squares[a]);
    }
    return fmax(sqrt(product), 0.25 * most);
}

/* Returns the sign of a solid's motion along an axis: of its prescribed velocity, or of a free solid's
 * weight. */
static double way_of(const kf_motion *motion, int axis) {
    return motion->free ? motion->excess_mass * motion->gravity[axis] : motion->velocity[axis];
}

/* Places boxes around the solid, its path and its wake. The finest box reaches 3/4 of the solid's width
 * upstream, 2 widths downstream and 5/8 of a width to each side. Each coarser box reaches twice as far. A
 * sphere's drag at Re 100 is then within 0.1 % of that on uniform fine cells (docs/physics.md, nested
 * grids). */
static void surround_body(kf_scene *scene, double reach) {
    static const double BEFORE = 0.75, BEHIND = 2.0, BESIDE = 0.625;
    double stream[3], body_low[3], body_high[3];
    find_stream(scene, stream);
    kf_scene_swept_box(scene, body_low, body_high);
    const double width = width_of(scene, stream);
    for (int l = 0; l < scene->finer_count; l++)
        for (int axis = 0; axis < 3; axis++) {
            const double along = fabs(stream[axis]), far = ldexp(reach * width, scene->finer_count - 1 - l),
                         before = (BESIDE + along * (BEFORE - BESIDE)) * far,
                         behind = (BESIDE + along * (BEHIND - BESIDE)) * far;
            const double low = body_low[axis] + 0.5 - (stream[axis] < 0.0 ? behind : before),
                         high = body_high[axis] + 0.5 + (stream[axis] < 0.0 ? before : behind);
            const double way = way_of(&scene->motion, axis);
            scene->boxes[l].low[axis] = way < 0.0 ? 0 : (int)fmax(floor(ldexp(low, l)), 0.0);
            scene->boxes[l].high[axis] = way > 0.0
                                             ? all_cells(scene, l, axis)
                                             : (int)fmin(ceil(ldexp(high, l)), all_cells(scene, l, axis));
        }
}

/* Places boxes for this number of levels around the body, as large as the number of nodes allows. Sets
 * *least to the smallest number of nodes that was found. Returns whether the boxes are possible. */
static bool fit_levels(kf_scene *scene, int levels, double nodes, bool whole, double *least) {
    static const double REACHES[] = {1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4};
    double low[3], high[3];
    kf_scene_swept_box(scene, low, high);
    scene->finer_count = levels;
    *least = INFINITY;
    for (size_t i = 0; i < (whole ? 1 : sizeof REACHES / sizeof *REACHES); i++) {
        surround_body(scene, REACHES[i]);
        if (!widen_all(scene, scene->nodes, low, high, 0, scene->boxes)) continue;
        *least = fmin(*least, kf_scene_all_nodes(scene));
        if (nodes == 0.0 || *least <= nodes) return true;
    }
    return false;
}

/* Chooses the number of levels around the body, and their boxes. The number is given, or follows from the
 * cells of the body's length, or from the number of nodes. Boxes shrink before their nodes are too many. */
static kf_status choose_levels(const kf_description *d, kf_scene *scene, kf_error *error) {
    const kf_refine_description *r = &d->refine;
    const bool by_nodes = r->levels == 0 && r->cells_a_length == 0.0;
    const double wanted = by_nodes ? KF_FINER_LEVELS : log2(r->cells_a_length / scene->reference_length);
    int levels = r->levels > 0 ? r->levels : (int)fmin(fmax(ceil(wanted - 1e-9), 1.0), KF_FINER_LEVELS);
    double least;
    if (ldexp(scene->reference_length, KF_FINER_LEVELS) < r->least_cells * (1.0 - 1e-9))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: refine.cells_a_length: %d levels make %.4g cells of %.4g at most, not %.4g: make the "
            "domain's cells smaller",
            d->source, KF_FINER_LEVELS, ldexp(scene->reference_length, KF_FINER_LEVELS),
            scene->reference_length, r->least_cells);
    while (by_nodes && levels > 1 && !fit_levels(scene, levels, r->nodes, true, &least))
        levels--;
    if (fit_levels(scene, levels, r->nodes, false, &least)) return KF_OK;
    if (isfinite(least))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: refine: %d finer level%s around the solid take%s %.3g nodes at least, and refine.nodes "
            "allows %.3g; allow more, or take fewer levels or a coarser grid",
            d->source, levels, levels == 1 ? "" : "s", levels == 1 ? "s" : "", least, r->nodes);
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: refine: the boxes around the solid come too near the outflow: make the domain "
                   "longer, the grid finer, or the levels (%d) fewer",
                   d->source, levels);
}

static kf_status set_around_body(const kf_description *d, kf_scene *scene, kf_text *notes, kf_error *error) {
    if (scene->mesh.triangle_count == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: refine: there is no solid to refine around; give boxes, or remove the key",
                       d->source);
    KF_TRY(choose_levels(d, scene, error));
    kf_note(notes,
            "refine: %d finer level%s around the solid and its wake, %.3g cells a length in the finest",
            scene->finer_count, scene->finer_count == 1 ? "" : "s",
            ldexp(scene->reference_length, scene->finer_count));
    return KF_OK;
}

/* Shortens a box that reaches an outflow, because only the coarsest grid has outflows. The box ends before
 * the outflow, with space for the boxes around it. */
static void end_before_outflows(kf_scene *scene, int item, int level, kf_text *notes) {
    kf_cell_box *box = &scene->boxes[level];
    for (int face = 0; face < KF_FACES; face++) {
        const int axis = face / 2, off = off_outflow(level), most = all_cells(scene, level, axis) - off;
        const bool near = face % 2 == 0 ? box->low[axis] < off : box->high[axis] > most;
        if (scene->faces[face] != KF_OUTFLOW || !near) continue;
        if (face % 2 == 0)
            box->low[axis] = off;
        else
            box->high[axis] = most;
        kf_note(notes, "refine[%d].box: ends %d cells of the level around it before the outflow at %s", item,
                off, kf_face_names[face]);
    }
}

/* Converts a box from metres to cells of its level. The boxes of the coarser levels that belong to it extend
 * as far beyond it as they must. */
static kf_status set_box(const kf_description *d, int item, kf_scene *scene, kf_text *notes,
                         kf_error *error) {
    const int first = scene->finer_count, last = first + d->refine.boxes[item].levels - 1;
    const double slack = 1e-6;
    for (int axis = 0; axis < 3; axis++) {
        const double cell = ldexp(d->cell_size, -last), end = all_cells(scene, last, axis),
                     low = d->refine.boxes[item].low[axis] / cell,
                     high = d->refine.boxes[item].high[axis] / cell;
        if (low < -slack * end || high > end * (1.0 + slack))
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: refine[%d].box reaches from %.4g m to %.4g m along %c, out of the domain (0 to "
                "%.4g m)",
                d->source, item, low * cell, high * cell, "xyz"[axis], end * cell);
        scene->boxes[last].low[axis] = (int)fmax(floor(low + slack), 0.0);
        scene->boxes[last].high[axis] = (int)fmin(ceil(high - slack), end);
    }
    end_before_outflows(scene, item, last, notes);
    scene->finer_count = last + 1;
    for (int l = last - 1; l >= first; l--)
        scene->boxes[l] =
            (kf_cell_box){{half_down(scene->boxes[l + 1].low[0]), half_down(scene->boxes[l + 1].low[1]),
                           half_down(scene->boxes[l + 1].low[2])},
                          {half_up(scene->boxes[l + 1].high[0]), half_up(scene->boxes[l + 1].high[1]),
                           half_up(scene->boxes[l + 1].high[2])}};
    for (int l = last - 1; l >= first; l--) {
        kf_cell_box needed;
        for (int axis = 0; axis < 3; axis++) {
            needed.low[axis] = half_down(scene->boxes[l + 1].low[axis] - KF_NESTED_MARGIN);
            needed.high[axis] = half_up(scene->boxes[l + 1].high[axis] + KF_NESTED_MARGIN);
        }
        (void)widen(scene, scene->nodes, l, &needed, &scene->boxes[l]);
    }
    return KF_OK;
}

/* Refuses scenes that do not support nested grids. Then makes the boxes: the given ones, or boxes around the
 * body. */
kf_status kf_scene_set_boxes(const kf_description *d, kf_scene *scene, kf_text *notes, kf_error *error) {
    if (d->refine.count == 0 && !d->refine.around_body) return KF_OK;
    if (scene->nodes[2] == 1 || scene->mask != NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: refine: nested grids are three-dimensional; remove the key",
                       d->source);
    if (d->solid.linked && scene->motion.moving)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: refine: in nested grids a solid by \"links\" is at rest; remove its motion, or use "
            "\"immersed\"",
            d->source);
    if (d->refine.around_body) KF_TRY(set_around_body(d, scene, notes, error));
    for (int item = 0; item < d->refine.count; item++)
        KF_TRY(set_box(d, item, scene, notes, error));
    if (ldexp(scene->viscosity, scene->finer_count) > KF_LARGEST_VISCOSITY)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: refine: the lattice viscosity of the finest level is %.3g, above %g, where the "
                       "method is inaccurate; make flow.lattice_speed smaller",
                       d->source, ldexp(scene->viscosity, scene->finer_count), KF_LARGEST_VISCOSITY);
    return kf_scene_check_boxes(scene, error);
}

/* ---- The scene in finer cells ---- */

static double finer_place(double place, double factor) {
    return (place + 0.5) * factor - 0.5;
}

void kf_scene_place_on_level(const kf_scene *level, const double coarsest[3], double place[3]) {
    for (int a = 0; a < 3; a++)
        place[a] = level->level == 0 ? coarsest[a] : finer_place(coarsest[a], ldexp(1.0, level->level));
}

static void copy_mesh(const kf_mesh *mesh, double factor, kf_mesh *copy) {
    const size_t vertices = 3 * mesh->vertex_count * sizeof *mesh->vertices,
                 triangles = 3 * (mesh->triangle_count + mesh->inner_count) * sizeof *mesh->triangles;
    const double matrix[9] = {factor, 0, 0, 0, factor, 0, 0, 0, factor},
                 offset[3] = {finer_place(0.0, factor), finer_place(0.0, factor), finer_place(0.0, factor)};
    *copy = *mesh;
    copy->vertices = memcpy(kf_allocate(vertices), mesh->vertices, vertices);
    copy->triangles = memcpy(kf_allocate(triangles), mesh->triangles, triangles);
    kf_mesh_transform(copy, matrix, offset);
}

/* Converts a motion to finer cells and shorter steps. Masses are in cells of fluid. */
static void refine_motion(kf_motion *motion, double factor) {
    motion->angular_speed /= factor;
    motion->excess_mass *= pow(factor, 3);
    for (int i = 0; i < 9; i++)
        motion->excess_inertia[i] *= pow(factor, 5);
    for (int a = 0; a < 3; a++) {
        motion->gravity[a] /= factor;
        motion->center[a] = finer_place(motion->center[a], factor);
    }
}

/* Makes the same flow in cells 2^level times as fine, by acoustic scaling: speeds in cells a step do not
 * change. */
static kf_scene *make_level(const kf_scene *scene, int level) {
    const double factor = ldexp(1.0, level);
    kf_scene *finer = kf_allocate(sizeof *finer);
    *finer = *scene;
    memset(&finer->mesh, 0, sizeof finer->mesh);
    memset(&finer->samples, 0, sizeof finer->samples);
    memset(&finer->links, 0, sizeof finer->links);
    memset(finer->finer, 0, sizeof finer->finer);
    finer->finer_count = 0;
    finer->level = level;
    finer->notes = NULL;
    kf_scene_copy_sections(scene, finer);
    if (scene->mesh.triangle_count > 0 &&
        (level == scene->finer_count || level == kf_scene_output_level(scene)))
        copy_mesh(&scene->mesh, factor, &finer->mesh);
    finer->smoke.count = 0;
    finer->cell_size /= factor;
    finer->time_step /= factor;
    finer->reference_length *= factor;
    finer->reference_area *= factor * factor;
    finer->frontal_area *= factor * factor;
    finer->solid_area *= factor * factor;
    finer->viscosity *= factor;
    finer->trip *= factor;
    refine_motion(&finer->motion, factor);
    for (int s = 0; s < finer->solid_count; s++) {
        refine_motion(&finer->solids[s].motion, factor);
        for (int a = 0; a < 3; a++) {
            finer->solids[s].low[a] = finer_place(finer->solids[s].low[a], factor);
            finer->solids[s].high[a] = finer_place(finer->solids[s].high[a], factor);
        }
    }
    for (int a = 0; a < 3; a++) {
        finer->nodes[a] <<= level;
        finer->body_force[a] /= factor;
        finer->solid_low[a] = finer_place(scene->solid_low[a], factor);
        finer->solid_high[a] = finer_place(scene->solid_high[a], factor);
        finer->moment_center[a] = finer_place(scene->moment_center[a], factor);
    }
    return finer;
}

void kf_scene_make_finer(kf_scene *scene) {
    for (int l = 0; l < scene->finer_count; l++)
        scene->finer[l] = make_level(scene, l + 1);
}
