/* The layout of a grid's nodes in memory: pitches, alignment, and the width of indices. */
#include "solver/kinetic/kinetic.h"

#include <math.h>
#include <string.h>

/* A row begins with a cache line: on a GPU with one of 128 bytes, or with two of them in 64 bits; on the cpu
 * with one of 64 bytes. Wider alignment would add padding, which is fetched with the row. A layout whose
 * groups are longer needs the wide one. */
int kf_kinetic_row_alignment(const kf_kinetic_options *o) {
    if (!o->gpu && o->layout == KF_SOA) return o->storage == KF_F16 ? 32 : o->storage == KF_F32 ? 16 : 8;
    return o->storage == KF_F16 ? 64 : 32;
}

/* Returns whether a part of a team counts nodes from its own first plane, which keeps indices short. It does
 * not when the layout has strides as long as the domain, or when a node reads from the domain's other end. */
static bool counts_from_its_planes(const kf_scene *scene, const kf_kinetic_options *options,
                                   const kf_kinetic_geometry *g) {
    return options->parts > 1 && options->layout != KF_SOA && g->plane_pitch % options->alpha == 0 &&
           g->plane_pitch % 32 == 0 && scene->faces[KF_ZMIN] != KF_PERIODIC;
}

/* Returns the rows or planes of the largest of `parts` parts along an axis. */
static int longest(const kf_scene *scene, const kf_kinetic_options *options, int axis, int parts) {
    int first[KF_MOST_PARTS + 1], most = 0;
    kf_kinetic_cut(scene, options->sample_cost, axis, parts, first);
    for (int part = 0; part < parts; part++)
        most = first[part + 1] - first[part] > most ? first[part + 1] - first[part] : most;
    return most;
}

void kf_kinetic_lay_out(const kf_scene *scene, const kf_kinetic_options *options,
                        kf_kinetic_geometry *geometry) {
    const int alignment = kf_kinetic_row_alignment(options);
    memcpy(geometry->nodes, scene->nodes, sizeof geometry->nodes);
    long long pitch = (scene->nodes[0] + 2 + alignment - 1) / alignment * alignment;
    /* Strides of a high power of two would map all streams to the same cache sets and memory channels. */
    if (pitch % 128 == 0) pitch += alignment;
    geometry->row_pitch = (int)pitch;
    /* A part that is cut across y has memory for as many rows as the largest part, and for the neighbouring
     * rows. */
    int rows = scene->nodes[1];
    if (options->parts_y > 1)
        rows = longest(scene, options, 1, options->parts_y) + 2 * kf_kinetic_halo_width(scene);
    geometry->rows_before = 0;
    geometry->plane_pitch = pitch * (rows + 2);
    geometry->origin = alignment;
    /* A launch overwrites what was read at least two launches before, because two may run at once. On the cpu
     * it is one. */
    geometry->shift = (int)(options->slab == 0 ? 0 : (options->gpu ? 2 : 1) * options->slab + 2);
    long long capacity = geometry->plane_pitch * (scene->nodes[2] + 2 + geometry->shift) + 2 * alignment;
    long long group = options->layout == KF_CSOA && options->alpha > alignment ? options->alpha : alignment;
    geometry->capacity = (capacity + group - 1) / group * group;
    /* Compilers of the cpu see that neighbours lie side by side only when addresses are worked out in 64
     * bits. */
    geometry->domain_index64 = geometry->index64 =
        !options->gpu || geometry->capacity > 2147483647LL / options->velocities;
    geometry->most_planes = scene->nodes[2];
    geometry->before = 0;
    if (options->parts == 1) return;
    geometry->most_planes = longest(scene, options, 2, options->parts / options->parts_y);
    /* The neighbours' planes within reach of a part, and a margin. */
    enum { BESIDE = 16 };
    /* The index of its first node is computed in the same width, so it must fit too. */
    if (counts_from_its_planes(scene, options, geometry))
        geometry->index64 =
            !options->gpu || geometry->capacity > 2147483647LL ||
            geometry->plane_pitch * (geometry->most_planes + BESIDE) > 2147483647LL / options->velocities;
}

kf_status kf_kinetic_check_size(const kf_scene *scene, int parts, double most_nodes, kf_error *error) {
    static const double limit = 2147483647.0;
    const int *n = scene->nodes;
    if (most_nodes <= limit) return KF_OK;
    return kf_fail(
        error, KF_MACHINE,
        "the grid %dx%dx%d gives %s %.0f nodes, but a device can hold at most %.0f: share it among "
        "%.0f or more (--devices), or make it coarser",
        n[0], n[1], n[2], parts > 1 ? "a device" : "one device", most_nodes, limit,
        ceil((double)n[0] * n[1] * n[2] / limit) + (parts > 1));
}

void kf_kinetic_lay_out_part(const kf_scene *scene, const kf_kinetic_options *options, int first_plane,
                             int first_row, kf_kinetic_geometry *geometry) {
    if (options->parts_y > 1 && (first_row > 0 || scene->faces[KF_YMIN] == KF_PERIODIC)) {
        geometry->rows_before = first_row - kf_kinetic_halo_width(scene);
        geometry->origin -= (long long)geometry->row_pitch * geometry->rows_before;
    }
    if (!counts_from_its_planes(scene, options, geometry)) return;
    geometry->before = geometry->plane_pitch * first_plane;
    geometry->origin -= geometry->before;
}

long long kf_kinetic_origin(const kf_kinetic_geometry *geometry) {
    return geometry->origin + geometry->before + (long long)geometry->row_pitch * geometry->rows_before;
}
