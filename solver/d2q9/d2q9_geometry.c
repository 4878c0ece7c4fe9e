/* Flags, links and open nodes of a scene's mask, as the kernels read them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/d2q9/d2q9.h"
#include "solver/flow/flow_problem.h"

static const int velocities[9][2] = {{0, 0}, {1, 0},  {0, 1},   {-1, 0}, {0, -1},
                                     {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};

typedef struct survey {
    const kf_scene *scene;
    const kf_d2q9_geometry *geometry;
    unsigned char *flags;          /* [capacity] */
    unsigned char *bounces;        /* the same, of the folded boundary, else NULL */
    bool half_way, in_place, ring; /* ring: of a slab, with a periodic face along y */
    int beside;                    /* rows beside geometry's that open nodes are wanted of, too */
    long long *links;
    size_t own_links[2]; /* of the rows that geometry is for: from which on, and to which */
    int *open_nodes;
    size_t link_count, open_count, link_capacity;
} survey;

static kf_node_kind kind_at(const kf_scene *scene, int x, int y) {
    if (scene->mask == NULL) return KF_NODE_FLUID;
    return (kf_node_kind)scene->mask[(size_t)x + (size_t)scene->nodes[0] * (size_t)y];
}

/* Finds the kind of the node one step from (x, y), across periodic faces. Returns false when a face lies
 * between. */
static bool neighbour(const kf_scene *scene, int x, int y, int cx, int cy, int at[2]) {
    const int moved[2] = {x + cx, y + cy};
    for (int axis = 0; axis < 2; axis++) {
        int n = scene->nodes[axis];
        at[axis] = (moved[axis] + n) % n;
        if (at[axis] != moved[axis] && scene->faces[2 * axis] != KF_PERIODIC) return false;
    }
    return true;
}

/* Returns whether a population that enters node (x, y) along i crosses no wall, and comes from a solid node:
 * one that a face mirrors or continues, or one across a periodic face. */
static bool enters_from_solid(const kf_scene *scene, int x, int y, int i) {
    int at[2] = {x - velocities[i][0], y - velocities[i][1]};
    for (int axis = 0; axis < 2; axis++) {
        const int n = scene->nodes[axis];
        if (at[axis] >= 0 && at[axis] < n) continue;
        const kf_boundary kind = scene->faces[2 * axis + (at[axis] >= n)];
        if (kind == KF_WALL) return false;
        at[axis] = kind == KF_PERIODIC ? (at[axis] + n) % n : at[axis] < 0 ? 0 : n - 1;
    }
    return kind_at(scene, at[0], at[1]) == KF_NODE_SOLID;
}

static long long node_index(const survey *s, int x, int y) {
    return s->geometry->origin + x + (long long)s->geometry->row_pitch * (y + 1);
}

static void add_link(survey *s, int x, int y, int direction) {
    if (s->link_count == s->link_capacity) {
        s->link_capacity = s->link_capacity == 0 ? 1024 : 2 * s->link_capacity;
        s->links = kf_reallocate(s->links, s->link_capacity * sizeof *s->links);
    }
    s->links[s->link_count++] = node_index(s, x, y) * 16 + direction;
}

static bool is_own(const survey *s, int y) {
    return y >= s->geometry->first_row && y < s->geometry->first_row + s->geometry->rows;
}

/* An open node, wherever the rows have it, perhaps beyond a periodic face too. */
static void put_open(survey *s, const int entry[5]) {
    const int first = s->geometry->first_row - s->beside, rows = s->geometry->rows + 2 * s->beside,
              ny = s->scene->nodes[1];
    for (int shift = s->ring ? -ny : 0; shift <= (s->ring ? ny : 0); shift += ny) {
        if (entry[1] + shift < first || entry[1] + shift >= first + rows) continue;
        const int put[5] = {entry[0], entry[1] + shift, entry[2], entry[3] + shift, entry[4]};
        s->open_nodes = kf_reallocate(s->open_nodes, 5 * (s->open_count + 1) * sizeof *s->open_nodes);
        memcpy(s->open_nodes + 5 * s->open_count++, put, sizeof put);
    }
}

/* Returns how well an open node takes its moments from the neighbour along i, so that a scene that is turned
 * has the same ones: along an axis first, then from within the domain, then where a given velocity leads. */
static double rank_neighbour(const kf_scene *scene, int x, int y, bool given, int i) {
    static const double AXIS = 64.0, WITHIN = 16.0;
    const int at[2] = {x, y}, *e = velocities[i];
    const double *u = scene->mask_velocity, speed = hypot(u[0], u[1]);
    double rank = e[0] * e[1] == 0 ? AXIS : 0.0;
    for (int axis = 0; axis < 2; axis++) {
        if (scene->faces[2 * axis] == KF_PERIODIC) continue;
        rank += WITHIN * e[axis] * ((at[axis] == 0) - (at[axis] == scene->nodes[axis] - 1));
    }
    return given && speed > 0.0 ? rank + (u[0] * e[0] + u[1] * e[1]) / speed : rank;
}

/* Notes which fluid neighbour an open node takes its moments from. Returns whether there is one. */
static bool add_open(survey *s, int x, int y, kf_node_kind kind) {
    const bool given = kind == KF_NODE_INFLOW && !s->scene->mask_has_pressure;
    const int what = given ? KF_OPEN_VELOCITY : kind == KF_NODE_INFLOW ? KF_OPEN_DENSITY : KF_OPEN_REFERENCE;
    double best = -INFINITY;
    int from[2] = {-1, -1};
    for (int i = 1; i < 9; i++) {
        const int fx = x + velocities[i][0], fy = y + velocities[i][1];
        if (fx < 0 || fy < 0 || fx >= s->scene->nodes[0] || fy >= s->scene->nodes[1]) continue;
        if (kind_at(s->scene, fx, fy) != KF_NODE_FLUID) continue;
        const double rank = rank_neighbour(s->scene, x, y, given, i);
        if (!(rank > best)) continue;
        best = rank;
        from[0] = fx;
        from[1] = fy;
    }
    if (from[0] < 0) return false;
    put_open(s, (const int[5]){x, y, from[0], from[1], what});
    return true;
}

/* Notes what a node is: solid, open or beside a solid or a face, with the directions in which it bounces
 * back. */
static void survey_node(survey *s, int x, int y) {
    kf_node_kind kind = kind_at(s->scene, x, y);
    unsigned char unused = 0, *flags = is_own(s, y) ? &s->flags[node_index(s, x, y)] : &unused,
                  *bounces = is_own(s, y) && s->bounces != NULL ? &s->bounces[node_index(s, x, y)] : &unused;
    if (kind == KF_NODE_SOLID) *flags |= KF_NODE_SOLID_BIT;
    /* The link is left out. */
    if (kind == KF_NODE_SOLID && s->half_way && s->in_place) *bounces = 255;
    const bool open = kind == KF_NODE_INFLOW || kind == KF_NODE_OUTFLOW;
    /* An open node without fluid beside it prescribes nothing: it is as a fluid node. */
    const bool fluid = kind == KF_NODE_FLUID || (open && !add_open(s, x, y, kind));
    for (int i = 1; i < 9; i++) {
        int from[2];
        const bool inside = neighbour(s->scene, x, y, -velocities[i][0], -velocities[i][1], from);
        const bool link = inside && fluid && kind_at(s->scene, from[0], from[1]) == KF_NODE_SOLID;
        if (!inside || link) *flags |= KF_NODE_LINK_BIT;
        if (link || (!inside && fluid && enters_from_solid(s->scene, x, y, i))) add_link(s, x, y, i);
        if (!inside || (link && s->half_way)) *bounces |= (unsigned char)(1U << (i - 1));
    }
}

/* Marks, for each place along the faces, the velocities (bits) with which a population would come from a
 * solid node beyond the face. NULL: there is none. */
unsigned char *kf_d2q9_beyond(const kf_scene *scene) {
    const int nx = scene->nodes[0], ny = scene->nodes[1];
    bool found = false;
    if (scene->mask == NULL) return NULL;
    unsigned char *beyond = kf_allocate_zeroed(2 * ((size_t)nx + (size_t)ny), 1);
    for (int place = 0; place < 2 * (nx + ny); place++) {
        const bool row = place < 2 * nx;
        const int count = row ? nx : ny, number = row ? place : place - 2 * nx;
        const bool high = number >= count;
        const int at = high ? number - count : number, end = high ? (row ? ny : nx) - 1 : 0;
        for (int i = 1; i < 9; i++) {
            const int inward = velocities[i][row ? 1 : 0], aside = velocities[i][row ? 0 : 1];
            if (inward != (high ? -1 : 1)) continue;
            if (!enters_from_solid(scene, row ? at : end, row ? end : at, i)) continue;
            beyond[place] |= (unsigned char)(1U << (aside + 1));
            found = true;
        }
    }
    if (found) return beyond;
    free(beyond);
    return NULL;
}

/* Uploads a byte per node, which every part of a team reads. */
static kf_status upload_nodes(kf_plan *plan, const kf_d2q9 *system, const unsigned char *data,
                              kf_buffer **buffer, kf_error *error) {
    KF_TRY(kf_d2q9_spread(plan, system, 1, 1, buffer, error));
    return kf_buffer_upload(*buffer, 0, data, (size_t)system->geometry.capacity, error);
}

/* Uploads what the plan needs of flags, bounces, links and open nodes. */
static kf_status upload_survey(kf_plan *plan, kf_d2q9 *system, const survey *s, kf_error *error) {
    kf_d2q9_arguments *a = &system->arguments;
    kf_buffer *buffer;
    if (system->options.full_way || system->options.plan == KF_D2Q9_TEMPORAL ||
        (s->bounces != NULL && s->in_place)) {
        KF_TRY(upload_nodes(plan, system, s->flags, &buffer, error));
        a->flags = kf_buffer_address(buffer);
    }
    if (s->bounces != NULL) {
        KF_TRY(upload_nodes(plan, system, s->bounces, &buffer, error));
        a->bounces = kf_buffer_address(buffer);
    }
    unsigned char *beyond = system->options.full_way ? NULL : kf_d2q9_beyond(s->scene);
    if (beyond != NULL) {
        const size_t bytes = 2 * ((size_t)s->scene->nodes[0] + (size_t)s->scene->nodes[1]);
        const kf_status status = kf_plan_buffer_of(plan, beyond, bytes, &buffer, error);
        free(beyond);
        KF_TRY(status);
        a->beyond = kf_buffer_address(buffer);
    }
    if (s->link_count > INT32_MAX / 2) return kf_fail(error, KF_MACHINE, "the mask has too many solid edges");
    system->first_link = (int)s->own_links[0];
    system->own_links = (int)(s->own_links[1] - s->own_links[0]);
    a->link_count = (int)s->link_count;
    a->open_count = (int)s->open_count;
    if (s->link_count > 0) {
        KF_TRY(kf_plan_buffer_of(plan, s->links, s->link_count * sizeof *s->links, &buffer, error));
        a->links = kf_buffer_address(buffer);
    }
    if (s->open_count > 0) {
        KF_TRY(kf_plan_buffer_of(plan, s->open_nodes, 5 * s->open_count * sizeof *s->open_nodes, &buffer,
                                 error));
        a->open_nodes = kf_buffer_address(buffer);
    }
    return KF_OK;
}

/* Finds in kinds[x] whether column x holds anything but fluid in the rows y - 1, y, y + 1, or in those of
 * them that exist. */
static void merge_rows(const kf_scene *scene, int y, unsigned char *kinds) {
    const size_t nx = (size_t)scene->nodes[0];
    memset(kinds, KF_NODE_FLUID, nx);
    for (int row = y > 0 ? y - 1 : 0; row <= y + 1 && row < scene->nodes[1]; row++)
        for (size_t x = 0; x < nx; x++)
            kinds[x] |= scene->mask[(size_t)row * nx + x];
}

/* Most nodes have only fluid around them. They have no flags, and their neighbours need no test. */
static void survey_row(survey *s, int y, unsigned char *kinds) {
    const kf_scene *scene = s->scene;
    const int nx = scene->nodes[0];
    const bool first_or_last = y == 0 || y == scene->nodes[1] - 1;
    if (scene->mask != NULL) merge_rows(scene, y, kinds);
    for (int x = 0; x < nx; x++) {
        if (scene->mask == NULL && !first_or_last && x == 1 && nx > 2) x = nx - 1;
        const bool rim = first_or_last || x == 0 || x == nx - 1;
        if (rim || (kinds[x - 1] | kinds[x] | kinds[x + 1]) != KF_NODE_FLUID) survey_node(s, x, y);
    }
}

static long count_solid(const kf_scene *scene) {
    const size_t count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1];
    long solid = 0;
    for (size_t n = 0; scene->mask != NULL && n < count; n++)
        solid += scene->mask[n] == KF_NODE_SOLID;
    return solid;
}

/* Goes through the mask row by row, notes flags, links and open nodes of the rows that this plan has, and
 * uploads them. */
kf_status kf_d2q9_upload_geometry(kf_plan *plan, kf_d2q9 *system, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    survey s = {.scene = scene,
                .geometry = &system->geometry,
                .half_way = !system->options.full_way,
                .ring = system->options.slab && scene->faces[KF_YMIN] == KF_PERIODIC,
                .beside = system->options.slab ? 1 : 0,
                .in_place = system->options.plan == KF_D2Q9_IN_PLACE};
    if (system->options.folded_boundary) s.bounces = kf_allocate_zeroed((size_t)system->geometry.capacity, 1);
    s.flags = kf_allocate_zeroed((size_t)system->geometry.capacity, 1);
    unsigned char *kinds = kf_allocate_zeroed((size_t)scene->nodes[0], 1);
    for (int y = 0; y < scene->nodes[1]; y++) {
        if (y == system->geometry.first_row) s.own_links[0] = s.link_count;
        survey_row(&s, y, kinds);
        if (is_own(&s, y)) s.own_links[1] = s.link_count;
    }
    system->body_nodes = count_solid(scene);
    kf_status status = upload_survey(plan, system, &s, error);
    free(kinds);
    free(s.flags);
    free(s.bounces);
    free(s.links);
    free(s.open_nodes);
    return status;
}
