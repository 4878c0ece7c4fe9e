/* Several solids in one scene: joins their meshes, and refuses solids that overlap. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/crossings.h"

/* ---- Their meshes ---- */

/* The groups of triangles in a mesh, in this order: closed surfaces, sheets, inner ones. */
enum { GROUPS = 3 };
static void groups_of(const kf_mesh *mesh, size_t counts[GROUPS]) {
    counts[0] = mesh->triangle_count - mesh->sheet_count;
    counts[1] = mesh->sheet_count;
    counts[2] = mesh->inner_count;
}

/* Appends a mesh to another. Each group stays together. */
static void join_mesh(kf_mesh *all, const kf_mesh *more) {
    size_t old[GROUPS], added[GROUPS], from_old = 0, from_added = 0, to = 0;
    groups_of(all, old);
    groups_of(more, added);
    all->vertices =
        kf_reallocate(all->vertices, 3 * (all->vertex_count + more->vertex_count) * sizeof *all->vertices);
    memcpy(all->vertices + 3 * all->vertex_count, more->vertices,
           3 * more->vertex_count * sizeof *all->vertices);
    uint32_t *joined =
        kf_allocate(3 * (all->triangle_count + all->inner_count + more->triangle_count + more->inner_count) *
                    sizeof *joined);
    for (int g = 0; g < GROUPS; g++) {
        if (old[g] > 0) memcpy(joined + 3 * to, all->triangles + 3 * from_old, 3 * old[g] * sizeof *joined);
        from_old += old[g];
        to += old[g];
        for (size_t i = 0; i < 3 * added[g]; i++)
            joined[3 * to + i] = more->triangles[3 * from_added + i] + (uint32_t)all->vertex_count;
        from_added += added[g];
        to += added[g];
    }
    free(all->triangles);
    all->triangles = joined;
    all->vertex_count += more->vertex_count;
    all->triangle_count += more->triangle_count;
    all->sheet_count += more->sheet_count;
    all->inner_count += more->inner_count;
}

static size_t vertices_end(const kf_scene *scene, int solid) {
    return solid + 1 < scene->solid_count ? scene->solids[solid + 1].first_vertex : scene->mesh.vertex_count;
}

/* Copies the mesh of one solid. A triangle belongs to the solid of its first corner. */
kf_mesh kf_scene_solid_mesh(const kf_scene *scene, int solid) {
    const kf_mesh *all = &scene->mesh;
    const size_t first = scene->solids[solid].first_vertex, end = vertices_end(scene, solid);
    kf_mesh mesh = {.vertex_count = end - first};
    size_t counts[GROUPS], at = 0, found = 0;
    groups_of(all, counts);
    mesh.vertices = kf_allocate(3 * mesh.vertex_count * sizeof *mesh.vertices);
    memcpy(mesh.vertices, all->vertices + 3 * first, 3 * mesh.vertex_count * sizeof *mesh.vertices);
    mesh.triangles = kf_allocate(3 * (all->triangle_count + all->inner_count) * sizeof *mesh.triangles);
    for (int g = 0; g < GROUPS; g++)
        for (size_t t = 0; t < counts[g]; t++, at++) {
            const uint32_t *corner = all->triangles + 3 * at;
            if (corner[0] < first || corner[0] >= end) continue;
            for (size_t c = 0; c < 3; c++)
                mesh.triangles[3 * found + c] = corner[c] - (uint32_t)first;
            found++;
            mesh.triangle_count += g < 2;
            mesh.sheet_count += g == 1;
            mesh.inner_count += g == 2;
        }
    return mesh;
}

/* Turns the vertices of one of several solids to their position after this number of steps. */
static void place_vertices(const kf_scene *scene, int solid, double step, double *placed) {
    const kf_motion *motion = &scene->solids[solid].motion;
    double rotation[9], center[3];
    kf_motion_pose(motion, step, rotation, center);
    for (size_t v = scene->solids[solid].first_vertex; v < vertices_end(scene, solid); v++)
        for (size_t a = 0; a < 3; a++) {
            placed[3 * v + a] = center[a];
            for (size_t b = 0; b < 3; b++)
                placed[3 * v + a] +=
                    rotation[3 * a + b] * (scene->mesh.vertices[3 * v + b] - motion->center[b]);
        }
}

const kf_scene *kf_scene_placed(const kf_scene *scene, double step) {
    const size_t bytes = 3 * scene->mesh.vertex_count * sizeof(double);
    if (scene->solid_count == 0) return scene;
    kf_scene *placed = kf_allocate(sizeof *placed);
    *placed = *scene;
    placed->mesh.vertices = memcpy(kf_allocate(bytes), scene->mesh.vertices, bytes);
    for (int s = 0; s < scene->solid_count; s++)
        if (scene->solids[s].motion.moving)
            place_vertices(scene, s, ldexp(step, scene->level), placed->mesh.vertices);
    return placed;
}

void kf_scene_free_placed(const kf_scene *scene, const kf_scene *placed) {
    if (placed == scene) return;
    free(placed->mesh.vertices);
    free((kf_scene *)placed);
}

/* ---- Overlap ---- */

/* Makes the cylinder that a turning solid sweeps at most, slightly wider. whole: it has a volume; that of a
 * sheet across its axis has none. */
static kf_mesh swept_cylinder(const kf_mesh *mesh, const kf_motion *motion, bool *whole) {
    enum { SIDES = 96 };
    static const double FLAT = 1e-6;
    double low = INFINITY, high = -INFINITY, radius = 0.0, from[3], to[3];
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        double along = 0.0, square = 0.0;
        for (int a = 0; a < 3; a++) {
            const double arm = mesh->vertices[3 * v + (size_t)a] - motion->center[a];
            along += arm * motion->axis[a];
            square += arm * arm;
        }
        low = fmin(low, along);
        high = fmax(high, along);
        radius = fmax(radius, sqrt(fmax(0.0, square - along * along)));
    }
    for (int a = 0; a < 3; a++) {
        from[a] = motion->center[a] + low * motion->axis[a];
        to[a] = motion->center[a] + high * motion->axis[a];
    }
    *whole = high - low > FLAT && radius > FLAT;
    radius /= cos(3.14159265358979323846 / SIDES);
    const double profile[2][2] = {{0.0, radius}, {1.0, radius}};
    kf_mesh_builder builder = {.vertex_capacity = 0};
    kf_loft_tube(&builder, from, to, SIDES, 2, profile);
    return builder.mesh;
}

/* Makes the mesh of the space that one of several solids occupies at any time. The caller frees it. whole: it
 * is a closed body. */
static kf_mesh taken_up(const kf_scene *scene, int solid, bool *whole) {
    const kf_motion *motion = &scene->solids[solid].motion;
    kf_body body;
    kf_mesh mesh = kf_scene_solid_mesh(scene, solid);
    if (motion->moving) {
        kf_mesh swept = swept_cylinder(&mesh, motion, whole);
        kf_mesh_free(&mesh);
        return swept;
    }
    *whole = mesh.sheet_count == 0 && kf_mesh_body(&mesh, false, &body) == 0 && body.volume > 0.0;
    return mesh;
}

/* Finds the common box of two solids. Returns false when there is none, or they only touch. A flat box of a
 * sheet counts when it lies inside the other box. */
static bool common_box(const kf_solid *one, const kf_solid *other, kf_box *box) {
    static const double TOUCH = 1e-6;
    for (int a = 0; a < 3; a++) {
        const bool flat = one->high[a] - one->low[a] < TOUCH || other->high[a] - other->low[a] < TOUCH;
        const double least = flat ? -TOUCH : TOUCH;
        box->low[a] = fmax(one->low[a], other->low[a]);
        box->high[a] = fmin(one->high[a], other->high[a]);
        if (box->high[a] - box->low[a] < least) return false;
    }
    return true;
}

/* Returns the length of a column that lies in both bodies. */
static double common_length(const kf_crossings *one, const kf_crossings *other, size_t column) {
    const kf_crossings *const both[2] = {one, other};
    size_t at[2] = {one->first[column], other->first[column]};
    int around[2] = {0, 0};
    double length = 0.0, last = 0.0;
    while (at[0] < one->first[column + 1] || at[1] < other->first[column + 1]) {
        double height[2];
        for (int i = 0; i < 2; i++)
            height[i] =
                at[i] < both[i]->first[column + 1] ? (double)both[i]->list[at[i]].height : (double)INFINITY;
        const int next = height[0] <= height[1] ? 0 : 1;
        if (around[0] != 0 && around[1] != 0) length += height[next] - last;
        last = height[next];
        around[next] += both[next]->list[at[next]++].turn;
    }
    return length;
}

/* Finds the crossings of a mesh with columns over a box. */
static kf_crossings cross_box(kf_mesh *mesh, const kf_box *box, const int columns[2]) {
    double matrix[9] = {0, 0, 0, 0, 0, 0, 0, 0, 1}, offset[3] = {0};
    for (int a = 0; a < 2; a++) {
        matrix[4 * a] = columns[a] / (box->high[a] - box->low[a]);
        offset[a] = -box->low[a] * matrix[4 * a];
    }
    kf_mesh_transform(mesh, matrix, offset);
    return kf_crossings_of(mesh, columns);
}

/* Returns whether two bodies overlap by more than rounding, along columns over their common box. */
static bool overlap(kf_mesh *one, kf_mesh *other, const kf_box *box) {
    static const double ROUNDING = 0.01; /* cells */
    const int columns[2] = {256, 256};
    kf_crossings first = cross_box(one, box, columns), second = cross_box(other, box, columns);
    bool common = false;
    for (size_t column = 0; column < (size_t)columns[0] * (size_t)columns[1] && !common; column++)
        common = common_length(&first, &second, column) > ROUNDING;
    kf_crossings_free(&first);
    kf_crossings_free(&second);
    return common;
}

/* Refuses two solids that overlap at some time, or for which this cannot be decided. */
static kf_status check_pair(const kf_scene *scene, int one, int other, kf_error *error) {
    const kf_solid *a = &scene->solids[one], *b = &scene->solids[other];
    kf_box box;
    bool whole[2];
    if (!common_box(a, b, &box)) return KF_OK;
    kf_mesh first = taken_up(scene, one, &whole[0]), second = taken_up(scene, other, &whole[1]);
    const bool common = whole[0] && whole[1] && overlap(&first, &second, &box);
    kf_mesh_free(&first);
    kf_mesh_free(&second);
    if (!whole[0] || !whole[1])
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: solids: the boxes around \"%s\" and \"%s\" overlap, and the mesh of \"%s\" is open or "
            "a sheet, so that kftune cannot decide whether they overlap; close the mesh, or move one of them",
            scene->source, a->name, b->name, whole[0] ? b->name : a->name);
    if (!common) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: solids: \"%s\" and \"%s\" overlap%s; move one of them, or make it smaller",
                   scene->source, a->name, b->name,
                   a->motion.moving || b->motion.moving
                       ? ", a turning one with all of the cylinder about its axis that holds it"
                       : "");
}

/* ---- The scene of them ---- */

void kf_scene_add_solid(kf_scene *scene, const char *name, const kf_motion *motion, kf_mesh *mesh,
                        const double low[3], const double high[3]) {
    kf_solid *solid = &scene->solids[scene->solid_count++];
    const kf_box box = kf_mesh_bounds(mesh);
    const bool first = scene->solid_count == 1;
    *solid = (kf_solid){.motion = *motion, .first_vertex = scene->mesh.vertex_count};
    kf_copy_text(solid->name, sizeof solid->name, name);
    for (int a = 0; a < 3; a++) {
        solid->low[a] = low[a];
        solid->high[a] = high[a];
        scene->solid_low[a] = first ? box.low[a] : fmin(scene->solid_low[a], box.low[a]);
        scene->solid_high[a] = first ? box.high[a] : fmax(scene->solid_high[a], box.high[a]);
    }
    join_mesh(&scene->mesh, mesh);
    kf_mesh_free(mesh);
}

kf_status kf_scene_end_solids(kf_scene *scene, const double about[3], kf_error *error) {
    kf_motion *motion = &scene->motion;
    *motion = (kf_motion){.moving = true, .axis = {0, 0, 1}};
    for (int a = 0; a < 3; a++)
        motion->center[a] = scene->moment_center[a] =
            about != NULL ? about[a] : 0.5 * (scene->solid_low[a] + scene->solid_high[a]);
    for (int one = 0; one < scene->solid_count; one++)
        for (int other = one + 1; other < scene->solid_count; other++)
            KF_TRY(check_pair(scene, one, other, error));
    return KF_OK;
}

kf_status kf_scene_refuse_solids(const kf_scene *scene, const char *system, kf_error *error) {
    if (scene->solid_count == 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: several \"solids\" are for the system kinetic; take --system kinetic, or one solid",
                   system);
}
