/* The grids of nested levels: their positions and their scenes. */
#include "solver/kinetic/nested.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/internal.h"

static void initial_of_whole(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const kf_nested_level *level = context;
    kf_scene_initial(level->whole, i + level->origin[0], j + level->origin[1], k + level->origin[2], density,
                     velocity);
}

/* Copies the solid's samples, in coordinates of this level's grid. */
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
    if (all->count > 0) memcpy(own->area, all->area, all->count * sizeof(double));
    if (all->solid != NULL) own->solid = memcpy(kf_allocate(all->count), all->solid, all->count);
    for (int s = 0; s < level->scene.solid_count; s++)
        for (int axis = 0; axis < 3; axis++) {
            kf_solid *solid = &level->scene.solids[s];
            solid->motion.center[axis] -= level->origin[axis];
            solid->low[axis] -= level->origin[axis];
            solid->high[axis] -= level->origin[axis];
        }
}

static void move_node(const kf_nested_level *level, int node[3]) {
    for (int axis = 0; axis < 3; axis++)
        node[axis] -= level->origin[axis];
}

static void *copy_list(const void *list, size_t count, size_t each) {
    void *copy = kf_allocate((count + 1) * each);
    return count > 0 ? memcpy(copy, list, count * each) : copy;
}

/* Copies the solid's links, whose nodes count from this level's first one. */
static void take_links(kf_nested_level *level) {
    const kf_links *all = &level->whole->links;
    kf_links *own = &level->scene.links;
    if (all->count == 0) return;
    *own = *all;
    own->link = copy_list(all->link, all->count, sizeof *own->link);
    own->inside = copy_list(all->inside, all->inside_count, sizeof *own->inside);
    own->wall = copy_list(all->wall, all->wall_count, sizeof *own->wall);
    for (size_t n = 0; n < own->count; n++) {
        for (int i = 0; i <= KF_LINK_BEHIND; i++)
            move_node(level, own->link[n].at[i].node);
        move_node(level, own->link[n].inner.node);
    }
    for (size_t n = 0; n < own->inside_count; n++)
        move_node(level, own->inside[n]);
    for (size_t n = 0; n < own->wall_count; n++)
        move_node(level, own->wall[n].seen);
    own->layer = kf_allocate((all->layer_count + 1) * sizeof *own->layer);
    own->layer_count = 0;
    for (size_t n = 0; n < all->layer_count; n++) {
        kf_layer_node node = all->layer[n];
        bool inside = true;
        move_node(level, node.node);
        for (int a = 0; a < 3; a++)
            inside = inside && node.node[a] >= 0 &&
                     node.node[a] < 2 * level->cells[a] + level->ghosts[2 * a] + level->ghosts[2 * a + 1];
        if (inside) own->layer[own->layer_count++] = node;
    }
}

/* Makes a level's scene: the scene of the whole domain, restricted to the nodes of this grid. */
static void set_scene(kf_nested_level *level, bool finest) {
    level->scene = *level->whole;
    memset(&level->scene.samples, 0, sizeof level->scene.samples);
    memset(&level->scene.links, 0, sizeof level->scene.links);
    memset(&level->scene.mesh, 0, sizeof level->scene.mesh);
    level->scene.finer_count = 0;
    level->scene.initial_state = initial_of_whole;
    level->scene.initial_context = level;
    memcpy(level->scene.ghosts, level->ghosts, sizeof level->scene.ghosts);
    memcpy(level->scene.origin, level->origin, sizeof level->scene.origin);
    for (int face = 0; face < KF_FACES; face++)
        if (level->ghosts[face] > 0) level->scene.faces[face] = KF_FREE_SLIP;
    if (!finest && level->scene.outer_ones) level->scene.rate_rule = KF_RATE_ONES;
    if (finest) take_samples(level);
    if (finest) take_links(level);
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

static void cover(kf_nested_level *level, const kf_nested_level *finer) {
    for (int axis = 0; axis < 3; axis++) {
        level->scene.covered.low[axis] = finer->first[axis];
        level->scene.covered.high[axis] = finer->first[axis] + finer->cells[axis];
    }
}

/* Lays out the levels from the coarsest to the finest, each inside the next coarser one. */
kf_status kf_nested_make(const kf_scene *scene, kf_nested **nested, kf_error *error) {
    KF_TRY(kf_scene_check_boxes(scene, error));
    kf_nested *made = kf_allocate_zeroed(1, sizeof *made);
    for (int l = 0; l <= scene->finer_count; l++) {
        kf_nested_level *level = &made->level[l];
        level->whole = l == 0 ? scene : scene->finer[l - 1];
        if (l > 0) lay_out(level, level - 1, &scene->boxes[l - 1]);
        set_scene(level, l == scene->finer_count);
        for (int axis = 0; axis < 3 && l > 0; axis++)
            level->scene.nodes[axis] =
                2 * level->cells[axis] + level->ghosts[2 * axis] + level->ghosts[2 * axis + 1];
        if (l > 0) cover(&made->level[l - 1], level);
        made->count = l + 1;
    }
    *nested = made;
    return KF_OK;
}

void kf_nested_free(kf_nested *nested) {
    for (int l = 0; nested != NULL && l < nested->count; l++) {
        kf_samples *samples = &nested->level[l].scene.samples;
        free(samples->x);
        free(samples->y);
        free(samples->z);
        free(samples->area);
        free(samples->solid);
        kf_links_free(&nested->level[l].scene.links);
    }
    free(nested);
}

bool kf_nested_has_ghosts(const kf_scene *scene) {
    for (int face = 0; face < KF_FACES; face++)
        if (scene->ghosts[face] > 0) return true;
    return false;
}

double kf_nested_stepped_nodes(const kf_scene *scene) {
    static const double SHARE = 0.75; /* the first step skips one of two layers, the second both */
    const int *ghosts = scene->ghosts;
    double covered = 1.0, rows = 1.0;
    for (int axis = 0; axis < 3; axis++)
        covered *= scene->covered.high[axis] - scene->covered.low[axis];
    for (int axis = 1; axis < 3; axis++)
        rows *= scene->nodes[axis] - SHARE * (ghosts[2 * axis] + ghosts[2 * axis + 1]);
    return scene->nodes[0] * rows - covered;
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
