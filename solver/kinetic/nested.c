/* The grids of nested levels: where they lie, and their scenes. */
#include "solver/kinetic/nested.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"

static void initial_of_whole(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const kf_nested_level *level = context;
    kf_scene_initial(level->whole, i + level->origin[0], j + level->origin[1], k + level->origin[2], density,
                     velocity);
}

/* Refuses a box that is empty, leaves the domain, comes nearer than KF_NESTED_MARGIN to the sides of the
 * level that it lies in, or touches a face that knows nothing of boxes. */
static kf_status check_box(const kf_nested_level *in, const kf_cell_box *box, int number, kf_error *error) {
    const kf_scene *whole = in->whole;
    for (int axis = 0; axis < 3; axis++) {
        const int low = box->low[axis], high = box->high[axis], most = whole->nodes[axis];
        const bool periodic = whole->faces[2 * axis] == KF_PERIODIC;
        if (low < 0 || high > most || low >= high)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: box %d reaches from cell %d to %d along %c: give it cells of the domain, 0 to %d",
                whole->source, number, low, high, "xyz"[axis], most);
        if (periodic && (low == 0) != (high == most))
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: box %d touches one periodic face across %c: keep it off both, or let it "
                           "reach from one to the other",
                           whole->source, number, "xyz"[axis]);
        for (int side = 0; side < 2; side++) {
            const int face = 2 * axis + side, at = side ? high : low, end = side ? most : 0;
            const int inner = side ? in->origin[axis] + in->scene.nodes[axis] - in->ghosts[face]
                                   : in->origin[axis] + in->ghosts[face];
            if (at == end && whole->faces[face] == KF_OUTFLOW)
                return kf_fail(error, KF_BAD_INPUT,
                               "%s: box %d touches the outflow across %c: end it %d cells before",
                               whole->source, number, "xyz"[axis], KF_NESTED_MARGIN);
            if (at != end && abs(at - inner) < KF_NESTED_MARGIN)
                return kf_fail(error, KF_BAD_INPUT,
                               "%s: box %d ends %d cells from %s across %c: leave %d cells or more%s",
                               whole->source, number, abs(at - inner),
                               inner == end ? "the domain's face" : "the box around it", "xyz"[axis],
                               KF_NESTED_MARGIN, inner == end ? ", or none" : "");
        }
    }
    return KF_OK;
}

/* The solid's samples where they lie in this grid. */
static void take_samples(kf_nested_level *level) {
    const kf_samples *all = &level->whole->samples;
    kf_samples *own = &level->scene.samples;
    double *const from[3] = {all->x, all->y, all->z}, **to[3] = {&own->x, &own->y, &own->z};
    own->count = all->count;
    for (int axis = 0; axis < 3; axis++) {
        *to[axis] = kf_allocate(all->count * sizeof(double));
        for (size_t s = 0; s < all->count; s++)
            (*to[axis])[s] = from[axis][s] - level->origin[axis];
        level->scene.solid_low[axis] -= level->origin[axis];
        level->scene.solid_high[axis] -= level->origin[axis];
        level->scene.moment_center[axis] -= level->origin[axis];
        level->scene.motion.center[axis] -= level->origin[axis];
    }
    own->area = kf_allocate(all->count * sizeof(double));
    memcpy(own->area, all->area, all->count * sizeof(double));
}

/* Makes a level's scene: that of the whole domain, on the nodes of this grid. */
static void set_scene(kf_nested_level *level, bool finest) {
    level->scene = *level->whole;
    memset(&level->scene.samples, 0, sizeof level->scene.samples);
    memset(&level->scene.mesh, 0, sizeof level->scene.mesh);
    level->scene.finer_count = 0;
    level->scene.initial_state = initial_of_whole;
    level->scene.initial_context = level;
    for (int face = 0; face < KF_FACES; face++)
        if (level->ghosts[face] > 0) level->scene.faces[face] = KF_FREE_SLIP;
    if (finest) take_samples(level);
}

static void lay_out(kf_nested_level *level, const kf_nested_level *in, const kf_cell_box *box) {
    for (int axis = 0; axis < 3; axis++) {
        const bool from_face = box->low[axis] == 0, to_face = box->high[axis] == in->whole->nodes[axis];
        level->ghosts[2 * axis] = from_face ? 0 : KF_NESTED_GHOSTS;
        level->ghosts[2 * axis + 1] = to_face ? 0 : KF_NESTED_GHOSTS;
        level->first[axis] = box->low[axis] - in->origin[axis];
        level->cells[axis] = box->high[axis] - box->low[axis];
        level->origin[axis] = 2 * box->low[axis] - level->ghosts[2 * axis];
    }
}

kf_status kf_nested_make(const kf_scene *scene, kf_nested **nested, kf_error *error) {
    kf_nested *made = kf_allocate_zeroed(1, sizeof *made);
    kf_status status = KF_OK;
    for (int l = 0; l <= scene->finer_count && status == KF_OK; l++) {
        kf_nested_level *level = &made->level[l];
        level->whole = l == 0 ? scene : scene->finer[l - 1];
        if (l > 0) {
            status = check_box(level - 1, &scene->boxes[l - 1], l, error);
            if (status != KF_OK) break;
            lay_out(level, level - 1, &scene->boxes[l - 1]);
        }
        set_scene(level, l == scene->finer_count);
        for (int axis = 0; axis < 3 && l > 0; axis++)
            level->scene.nodes[axis] =
                2 * level->cells[axis] + level->ghosts[2 * axis] + level->ghosts[2 * axis + 1];
        made->count = l + 1;
    }
    if (status != KF_OK)
        kf_nested_free(made);
    else
        *nested = made;
    return status;
}

void kf_nested_free(kf_nested *nested) {
    for (int l = 0; nested != NULL && l < nested->count; l++) {
        kf_samples *samples = &nested->level[l].scene.samples;
        free(samples->x);
        free(samples->y);
        free(samples->z);
        free(samples->area);
    }
    free(nested);
}

double kf_nested_place(const kf_nested_level *level, int axis, int node) {
    return level->first[axis] - 0.25 + 0.5 * (node - level->ghosts[2 * axis]);
}

bool kf_nested_covers(const kf_nested_level *finer, const int cell[3]) {
    for (int axis = 0; axis < 3; axis++)
        if (cell[axis] < finer->first[axis] || cell[axis] >= finer->first[axis] + finer->cells[axis])
            return false;
    return true;
}

bool kf_nested_is_rim(const kf_nested_level *finer, const int cell[3]) {
    bool near = false;
    for (int axis = 0; axis < 3; axis++) {
        const int inside = cell[axis] - finer->first[axis];
        near = near || (finer->ghosts[2 * axis] > 0 && inside < KF_NESTED_RIM) ||
               (finer->ghosts[2 * axis + 1] > 0 && finer->cells[axis] - 1 - inside < KF_NESTED_RIM);
    }
    return near && kf_nested_covers(finer, cell);
}
