/* Divides the domain between the parts of a team by cost: into slabs across z, or boxes across y and z. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic.h"

/* Costs of a sample in updates of a node: at 400^3 nodes 1.5 million samples of a static solid take 1.8 %
 * of an H200's step, those of a turning one about three times that (results/log/performance.md). A config
 * may say another (sample_cost), because the ratio differs from device to device and plan to plan. There
 * 552,344 links took 125 us of an H200, and with a law of the wall 244 us, where a node takes 54 ps
 * (results/measured/h200-wall-table.md). */
static const double static_sample_cost = 0.8, moving_sample_cost = 2.4, link_cost = 4.2, wall_link_cost = 8.2;

/* Returns how far links reach across a cut. Interpolated links read nodes up to two planes away, and so does
 * a law of the wall: the node three steps out is never the one nearest to two cells. When planes are copied,
 * both sides compute links of the first plane. With a law these are all links, because it needs all
 * populations of the next two planes. For averages they are the links into the part's own planes. */
static int link_reach(const kf_scene *scene) {
    const int own = scene->half_way ? 1 : 2;
    return own + (scene->links.wall_count > 0 ? 2 : kf_kinetic_is_adaptive(scene, 27));
}

int kf_kinetic_halo_width(const kf_scene *scene) {
    if (scene->links.count > 0) return link_reach(scene);
    const int passes = scene->immersed_passes > 1 ? scene->immersed_passes : 1;
    return scene->samples.count > 0 ? passes + 1 : 1;
}

/* Returns the planes of the smallest part. The force on a node needs data within two planes of it, and two
 * more for each further pass of the immersed boundary. With links one part may write a plane that the part
 * beyond it must not read. */
static int least_planes(const kf_scene *scene) {
    if (scene->links.count > 0 && kf_kinetic_halo_width(scene) < 3) return 3;
    return kf_kinetic_halo_width(scene) + (scene->samples.count > 0 ? 1 : 0);
}

/* Rows or planes of the least part. Rows that are cut and periodic lie once in what a part keeps of them. */
static int least_along(const kf_scene *scene, int axis) {
    const int least = least_planes(scene), twice = 2 * kf_kinetic_halo_width(scene);
    return axis == 1 && scene->faces[KF_YMIN] == KF_PERIODIC && twice > least ? twice : least;
}

int kf_kinetic_most_parts(const kf_scene *scene) {
    const int most = scene->nodes[2] / least_planes(scene);
    return most < KF_MOST_PARTS ? most : KF_MOST_PARTS;
}

double kf_kinetic_sample_cost(const kf_scene *scene, long tenths) {
    if (scene->links.count > 0) return scene->links.wall_count > 0 ? wall_link_cost : link_cost;
    return tenths > 0 ? 0.1 * (double)tenths : scene->motion.moving ? moving_sample_cost : static_sample_cost;
}

void kf_kinetic_cut(const kf_scene *scene, double sample_cost, int axis, int parts,
                    int first[KF_MOST_PARTS + 1]) {
    const int planes = scene->nodes[axis], least = least_along(scene, axis);
    const double node_cost = (double)scene->nodes[0] * scene->nodes[3 - axis];
    const double *position = axis == 2 ? scene->samples.z : scene->samples.y;
    /* The cost of all planes before this one. */
    double *until = kf_allocate_zeroed((size_t)planes + 1, sizeof *until);
    for (size_t s = 0; s < scene->samples.count; s++) {
        int plane = (int)position[s];
        plane = plane < 0 ? 0 : plane >= planes ? planes - 1 : plane;
        until[plane + 1] += sample_cost;
    }
    for (size_t n = 0; n < scene->links.count; n++)
        until[scene->links.link[n].at[0].node[axis] + 1] += sample_cost;
    for (int z = 0; z < planes; z++)
        until[z + 1] += until[z] + node_cost;
    first[0] = 0;
    for (int part = 1, z = 0; part < parts; part++) {
        const double share = until[planes] * part / parts;
        const int low = first[part - 1] + least, high = planes - least * (parts - part);
        while (z < planes && until[z] < share)
            z++;
        if (z > 0 && share - until[z - 1] < until[z] - share) z--;
        first[part] = z < low ? low : z > high ? high : z;
    }
    first[parts] = planes;
    free(until);
}

/* Cuts the domain into the boxes of all parts. Their numbers run along y first. */
void kf_kinetic_cut_all(const kf_scene *scene, const kf_kinetic_options *options,
                        kf_kinetic_box boxes[KF_MOST_PARTS]) {
    const int along_y = options->parts_y;
    int rows[KF_MOST_PARTS + 1], planes[KF_MOST_PARTS + 1];
    kf_kinetic_cut(scene, options->sample_cost, 1, along_y, rows);
    kf_kinetic_cut(scene, options->sample_cost, 2, options->parts / along_y, planes);
    for (int part = 0; part < options->parts; part++) {
        const int *row = rows + part % along_y, *plane = planes + part / along_y;
        boxes[part] = (kf_kinetic_box){{row[0], plane[0]}, {row[1] - row[0], plane[1] - plane[0]}};
    }
}

/* Refuses what a team cannot run that is cut across y. */
static kf_status check_cuts(const kf_scene *scene, const kf_kinetic_options *options, kf_error *error) {
    const int along_y = options->parts_y, rows = least_along(scene, 1), planes = least_along(scene, 2);
    if (options->parts % along_y != 0)
        return kf_fail(error, KF_BAD_INPUT, "%d devices cannot be arranged with %d along y; use parts_y=1",
                       options->parts, along_y);
    if (along_y > scene->nodes[1] / rows || options->parts / along_y > scene->nodes[2] / planes)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%d devices along y and %d along z are too many for %d rows and %d planes: a part has at "
            "least %d rows and %d planes",
            along_y, options->parts / along_y, scene->nodes[1], scene->nodes[2], rows, planes);
    if ((options->plan != KF_PLAN_FUSED && options->plan != KF_PLAN_MOMENTS) || options->boundary_kernels > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "cuts across y need plan fused or moments with boundary_kernels=0; use parts_y=1");
    if (options->transfer == KF_DIRECT)
        return kf_fail(error, KF_BAD_INPUT,
                       "cuts across y need copies of rows: use transfer=copies, host or nccl, or parts_y=1");
    return KF_OK;
}

/* Refuses what a team cannot run. */
kf_status kf_kinetic_check_team(const kf_scene *scene, const kf_kinetic_options *options, kf_error *error) {
    if (options->parts == 1) return KF_OK;
    if (options->parts_y > 1) KF_TRY(check_cuts(scene, options, error));
    const int most = kf_kinetic_most_parts(scene);
    if (options->parts_y == 1 && options->parts > most)
        return kf_fail(error, KF_BAD_INPUT,
                       "%d devices are too many for %d planes along z: this scene can be cut into %d parts",
                       options->parts, scene->nodes[2], most);
    KF_TRY(kf_kinetic_check_world(options, error));
    if (options->transfer != KF_DIRECT && kf_kinetic_has_band(options) && options->boundary_kernels > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "plans fused and moments copy planes with boundary_kernels=0; set that, or "
                       "use transfer=direct");
    if (options->slab > 0 && options->transfer == KF_DIRECT)
        return kf_fail(error, KF_BAD_INPUT,
                       "streaming shift moves the grid of each device, so that others cannot read it; use "
                       "transfer=copies, host or nccl");
    const int passes = scene->immersed_passes > 1 ? scene->immersed_passes : 1;
    if (options->slab > 0 && options->slab < 2 * passes + 1)
        return kf_fail(error, KF_BAD_INPUT,
                       "streaming shift on several devices needs slabs of at least %d planes, not %ld",
                       2 * passes + 1, options->slab);
    return KF_OK;
}
