/* Makes the samples of a scene's solid, or of each of several solids. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "scene/internal.h"

/* Interpolation reads nodes floor(x) and floor(x) + 1, even after x is rounded to single precision. */
static const double EDGE_MARGIN = 1e-3;

static bool sample_fits(const kf_scene *scene, double x, int a) {
    return scene->faces[2 * a] == KF_PERIODIC ||
           (x >= EDGE_MARGIN && x <= scene->nodes[a] - 1.0 - EDGE_MARGIN);
}

/* Removes samples beyond the outermost nodes. A solid that stands on a face extends into the half cell
 * between them and the face. */
static void clip_samples(kf_scene *scene, kf_text *notes) {
    kf_samples *s = &scene->samples;
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!sample_fits(scene, s->x[i], 0) || !sample_fits(scene, s->y[i], 1) ||
            !sample_fits(scene, s->z[i], 2))
            continue;
        s->x[kept] = s->x[i];
        s->y[kept] = s->y[i];
        s->z[kept] = s->z[i];
        s->area[kept++] = s->area[i];
    }
    if (kept < s->count)
        kf_note(notes, "samples: %zu of %zu lie within half a cell of the domain's faces and were left out",
                s->count - kept, s->count);
    if (kept > 0) scene->solid_area = s->area[0] * (double)kept;
    s->count = kept;
}

/* Notes that the surface has many layers close together, where fewer samples were placed. Reduces the solid's
 * area accordingly. */
static void note_crowd(kf_scene *scene, size_t wanted, kf_text *notes) {
    const size_t count = scene->samples.count;
    if (count == wanted) return;
    kf_note(notes,
            "samples: %zu of %zu were left out, because a dozen or more layers of the surface lie within a "
            "fraction of a cell there",
            wanted - count, wanted);
    scene->solid_area *= (double)count / (double)wanted;
}

static double node_count(const kf_scene *scene) {
    return (double)scene->nodes[0] * scene->nodes[1] * scene->nodes[2];
}

/* Prints the size of a large scene before its data are made. */
static void tell_claims(const kf_scene *scene, double samples) {
    /* Density and velocity. */
    static const double NODE_BYTES = 16;
    const double nodes = node_count(scene);
    char fields[32], memory[32];
    if (nodes < KF_MANY_NODES && samples < KF_MANY_SAMPLES) return;
    kf_human_bytes(NODE_BYTES * nodes, fields);
    kf_human_bytes((double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), memory);
    kf_info(
        "%s: %.3g nodes, of which density and velocity alone are %s (this machine has %s), and %.2g samples "
        "on the solid, which are placed first; that may take minutes",
        scene->source, nodes, fields, memory, samples);
}

/* Counts the samples of the solid, and refuses more than a scene can have. A solid by links has none. */
static kf_status count_samples(kf_scene *scene, double *wanted, kf_error *error) {
    kf_scene_set_depth(scene);
    if (scene->linked) return kf_scene_cut_links(scene, error);
    *wanted = fmax(1.0, nearbyint(scene->samples_per_cell * scene->solid_area));
    if (*wanted > KF_SAMPLES_LIMIT)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %g samples per cell on %.4g cells of surface are more than %d "
                       "samples; lower samples_per_cell",
                       scene->source, scene->samples_per_cell, scene->solid_area, KF_SAMPLES_LIMIT);
    return KF_OK;
}

/* Fails for a solid without samples, and names the reason: it lies outside, or is far smaller than a cell, as
 * a mesh in another unit may be. */
static kf_status fail_without_samples(const kf_scene *scene, kf_error *error) {
    double longest = 0.0;
    for (int a = 0; a < 3; a++)
        longest = fmax(longest, scene->solid_high[a] - scene->solid_low[a]);
    if (longest < 1.0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: no sample of the solid lies inside the domain: its longest side is %.3g m, a "
                       "cell %.3g m; give the solid's length, if the mesh is in another unit",
                       scene->source, longest * scene->cell_size, scene->cell_size);
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: no sample of the solid lies inside the domain; move it with "
                   "solid.position",
                   scene->source);
}

/* Places samples on the solid's surface, sinks them, and removes those outside the domain. */
static kf_status sample_solid(kf_scene *scene, double wanted, kf_text *notes, kf_error *error) {
    tell_claims(scene, wanted);
    uint32_t *triangles = kf_allocate((size_t)wanted * sizeof *triangles);
    const bool whole = kf_sample_mesh(&scene->mesh, (size_t)wanted, scene->seed, &scene->samples, triangles);
    if (whole) note_crowd(scene, (size_t)wanted, notes);
    if (whole) kf_scene_sink_samples(scene, triangles);
    free(triangles);
    if (!whole)
        return kf_fail(error, KF_INTERRUPTED, "interrupted while the samples of %s were placed",
                       scene->source);
    clip_samples(scene, notes);
    if (scene->samples.count == 0) return fail_without_samples(scene, error);
    return KF_OK;
}

/* ---- Several solids ---- */

/* Makes a scene with one of several solids. It shares everything but mesh and samples with the whole scene.
 */
static kf_scene *alone_of(const kf_scene *scene, int solid) {
    kf_scene *alone = kf_allocate(sizeof *alone);
    *alone = *scene;
    memset(&alone->samples, 0, sizeof alone->samples);
    alone->solid_count = 0;
    alone->mesh = kf_scene_solid_mesh(scene, solid);
    const kf_box box = kf_mesh_bounds(&alone->mesh);
    memcpy(alone->solid_low, box.low, sizeof box.low);
    memcpy(alone->solid_high, box.high, sizeof box.high);
    return alone;
}

static void free_alone(kf_scene *alone) {
    kf_mesh_free(&alone->mesh);
    kf_samples_free(&alone->samples);
    free(alone);
}

/* Appends the samples of another solid. */
static void join_samples(kf_samples *all, const kf_samples *more, int solid) {
    const size_t count = all->count + more->count;
    double **const to[4] = {&all->x, &all->y, &all->z, &all->area};
    double *const from[4] = {more->x, more->y, more->z, more->area};
    for (int i = 0; i < 4; i++) {
        *to[i] = kf_reallocate(*to[i], count * sizeof **to[i]);
        memcpy(*to[i] + all->count, from[i], more->count * sizeof **to[i]);
    }
    all->solid = kf_reallocate(all->solid, count);
    memset(all->solid + all->count, solid, more->count);
    all->count = count;
}

/* Counts the samples of each solid as if it were alone, and sums the values that a scene reports for all. */
kf_status kf_scene_count_samples(kf_scene *scene, double *wanted, kf_error *error) {
    kf_status status = KF_OK;
    if (scene->solid_count == 0) return count_samples(scene, wanted, error);
    scene->open_edges = 0;
    scene->solid_area = scene->surface_depth = *wanted = 0.0;
    for (int s = 0; s < scene->solid_count && status == KF_OK; s++) {
        kf_scene *alone = alone_of(scene, s);
        double own = 0.0;
        status = count_samples(alone, &own, error);
        scene->open_edges += alone->open_edges;
        scene->solid_area += alone->solid_area;
        scene->surface_depth = fmax(scene->surface_depth, alone->surface_depth);
        *wanted += own;
        free_alone(alone);
    }
    KF_TRY(status);
    if (*wanted <= KF_SAMPLES_LIMIT) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: the solids have %.4g samples together, more than %d; lower "
                   "samples_per_cell",
                   scene->source, *wanted, KF_SAMPLES_LIMIT);
}

/* Samples each of several solids as if it were alone. So it has the same samples as it has in a scene without
 * the others. */
kf_status kf_scene_place_samples(kf_scene *scene, double wanted, kf_text *notes, kf_error *error) {
    kf_status status = KF_OK;
    if (scene->solid_count == 0) return sample_solid(scene, wanted, notes, error);
    scene->solid_area = 0.0;
    for (int s = 0; s < scene->solid_count && status == KF_OK; s++) {
        kf_scene *alone = alone_of(scene, s);
        double own = 0.0;
        status = count_samples(alone, &own, error);
        if (status == KF_OK) status = sample_solid(alone, own, notes, error);
        if (status == KF_OK) join_samples(&scene->samples, &alone->samples, s);
        scene->solid_area += alone->solid_area;
        free_alone(alone);
    }
    return status;
}
