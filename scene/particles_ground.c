/* Compares the terrain with the box. Terrain beside, above or below the box is refused or noted, with both
 * extents. */
#include <math.h>

#include "scene/particles_internal.h"

/* Returns the extent of the box without its layers of particles, in spacings. */
static void inner_box(const kf_particle_scene *s, int axis, double *low, double *high) {
    *low = s->origin[axis];
    *high = kf_particle_box_end(s, axis);
}

/* How much of the box the terrain covers along an axis, and both extents, in metres. */
typedef struct cover {
    double terrain, box, share;
    /* The terrain covers all but at most a cell at each end. */
    bool whole;
} cover;

static cover cover_along(const kf_particle_scene *s, int axis) {
    const kf_terrain *t = &s->terrain;
    double low, high;
    inner_box(s, axis, &low, &high);
    const double begin = t->origin[axis] - 0.5 * t->cell, end = begin + t->nodes[axis] * t->cell;
    return (cover){.terrain = (end - begin) * s->spacing,
                   .box = (high - low) * s->spacing,
                   .share = fmax(0.0, fmin(end, high) - fmax(begin, low)) / (high - low),
                   .whole = begin <= low + t->cell && end >= high - t->cell};
}

static bool looks_like_degrees(const kf_particle_scene *s) {
    const kf_terrain *t = &s->terrain;
    return t->cell * s->spacing < 0.1 && fabs(t->corner[0]) <= 360.0 && fabs(t->corner[1]) <= 90.0 &&
           (t->corner[0] != 0.0 || t->corner[1] != 0.0);
}

/* Refuses terrain that covers less than half of the box, and notes terrain that covers only a part. */
static kf_status check_extent(const char *file, const kf_particle_scene *s, kf_text *notes, kf_error *error) {
    static const double LEAST_SHARE = 0.5;
    cover covers[2] = {{.whole = true, .share = 1.0}, {.whole = true, .share = 1.0}};
    const int axes = s->dimensions - 1;
    for (int i = 0; i < axes; i++)
        covers[i] = cover_along(s, i);
    if (covers[0].whole && covers[1].whole) return KF_OK;
    if (covers[0].share < LEAST_SHARE || covers[1].share < LEAST_SHARE)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: terrain: %.4g x %.4g m, less than half of the box's %.4g x %.4g m%s; "
                       "make box.size smaller, or take a larger terrain",
                       file, covers[0].terrain, covers[1].terrain, covers[0].box, covers[1].box,
                       looks_like_degrees(s) ? " (are its cells in degrees? project it to metres)" : "");
    kf_note(
        notes,
        "terrain: %.4g x %.4g m of a box of %.4g x %.4g m: beyond it the ground is as high as at its edge",
        covers[0].terrain, covers[1].terrain, covers[0].box, covers[1].box);
    return KF_OK;
}

/* Finds the lowest and highest of the nodes in or next to the box, in metres above its floor. */
static void heights_in_box(const kf_particle_scene *s, double *lowest, double *highest) {
    const kf_terrain *t = &s->terrain;
    int first[2] = {0, 0}, last[2] = {0, 0};
    for (int i = 0; i < s->dimensions - 1; i++) {
        double low, high;
        inner_box(s, i, &low, &high);
        first[i] = (int)fmin(fmax(0.0, floor((low - t->origin[i]) / t->cell)), t->nodes[i] - 1.0);
        last[i] = (int)fmin(fmax(first[i], ceil((high - t->origin[i]) / t->cell)), t->nodes[i] - 1.0);
    }
    *lowest = INFINITY;
    *highest = -INFINITY;
    for (int i = first[0]; i <= last[0]; i++)
        for (int j = first[1]; j <= last[1]; j++) {
            const double height = t->heights[(size_t)i * (size_t)t->nodes[1] + (size_t)j];
            *lowest = fmin(*lowest, height);
            *highest = fmax(*highest, height);
        }
    const double floor_height = s->origin[s->dimensions - 1];
    *lowest = (*lowest - floor_height) * s->spacing;
    *highest = (*highest - floor_height) * s->spacing;
}

/* Notes ground that does not go on across periodic faces: what crosses them lands above or below it. */
static void note_seams(const kf_particle_scene *s, kf_text *notes) {
    static const double SAME = 0.1; /* of a spacing */
    for (int axis = 0; axis < s->dimensions - 1; axis++) {
        double ends[2], sides[2] = {0}, step = 0.0;
        if (s->sides[2 * axis] != KF_SIDE_PERIODIC) continue;
        inner_box(s, axis, &ends[0], &ends[1]);
        if (s->dimensions == 3) inner_box(s, 1 - axis, &sides[0], &sides[1]);
        const int places = (int)((sides[1] - sides[0]) / s->terrain.cell);
        for (int i = 0; i <= places; i++) {
            const double beside = sides[0] + i * s->terrain.cell;
            const double first = axis == 0 ? kf_terrain_height(&s->terrain, ends[0], beside, NULL)
                                           : kf_terrain_height(&s->terrain, beside, ends[0], NULL),
                         last = axis == 0 ? kf_terrain_height(&s->terrain, ends[1], beside, NULL)
                                          : kf_terrain_height(&s->terrain, beside, ends[1], NULL);
            step = fmax(step, fabs(last - first));
        }
        if (step > SAME)
            kf_note(
                notes,
                "terrain: a step of up to %.4g m lies between the periodic faces along %c, and what crosses "
                "them falls down it or is pushed up; for an endless slope tilt \"gravity\" instead",
                step * s->spacing, "xyz"[axis]);
    }
}

kf_status kf_particle_check_terrain(const char *file, const kf_particle_scene *scene, kf_text *notes,
                                    kf_error *error) {
    double low, high, lowest, highest;
    if (scene->terrain.heights == NULL) return KF_OK;
    KF_TRY(check_extent(file, scene, notes, error));
    inner_box(scene, scene->dimensions - 1, &low, &high);
    heights_in_box(scene, &lowest, &highest);
    const double top = (high - low) * scene->spacing;
    if (lowest >= top || highest < 0.0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: terrain: from %.6g to %.6g m high, all of it %s the box, which goes from 0 to %.6g m; "
            "%s its heights by %.6g m, or change box.size",
            file, lowest, highest, lowest >= top ? "above" : "below", top, lowest >= top ? "lower" : "raise",
            fabs(floor(lowest)));
    kf_note(notes, "terrain: %d x %d nodes %.4g m apart, from %.6g to %.6g m high in a box of %.6g m",
            scene->terrain.nodes[0], scene->terrain.nodes[1], scene->terrain.cell * scene->spacing, lowest,
            highest, top);
    if (lowest < 0.0) kf_note(notes, "terrain: where it is below 0 the box's floor is the ground");
    if (highest > top) kf_note(notes, "terrain: where it is above %.6g m the box has no room for fluid", top);
    note_seams(scene, notes);
    return KF_OK;
}
