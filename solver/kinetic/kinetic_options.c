/* Reads the parameters of a config, checks them, and says which variants of the method a scene allows. */
#include "solver/kinetic/kinetic.h"

#include <limits.h>
#include <string.h>

#include "base/space/options.h"
#include "scene/scene.h"
#include "solver/kinetic/nested.h"

bool kf_kinetic_splits(const kf_scene *scene) {
    return scene->collision != KF_ACM_MRT || scene->rate_rule != KF_RATE_KBC;
}

bool kf_kinetic_has_central_moments(const kf_scene *scene) {
    return scene->collision == KF_ACM_MRT && scene->rate_rule != KF_RATE_KBC;
}

bool kf_kinetic_has_one_high_order_rate(const kf_scene *scene) {
    return scene->collision == KF_ACM_MRT && scene->basis == KF_BASIS_HERMITE &&
           KF_IS_ONE_RATE(scene->rate_rule);
}

bool kf_kinetic_is_regularised(const kf_scene *scene) {
    return scene->collision == KF_ACM_MRT && scene->rate_rule == KF_RATE_ONES &&
           scene->basis == KF_BASIS_HERMITE;
}

bool kf_kinetic_has_19_velocities(const kf_scene *scene) {
    const bool too_fast = scene->rate_rule == KF_RATE_CONSTANT && scene->high_order_rate > KF_LARGEST_RATE_19;
    return scene->collision == KF_BGK || (kf_kinetic_has_one_high_order_rate(scene) && !too_fast);
}

bool kf_kinetic_is_adaptive(const kf_scene *scene, long velocities) {
    return scene->collision == KF_ACM_MRT && scene->rate_rule == KF_RATE_ADAPTIVE_2020 && velocities == 27;
}

bool kf_kinetic_may_be_hollow(const kf_scene *scene) {
    const kf_links *links = &scene->links;
    if (links->inside_count == 0 || links->leaves || kf_kinetic_is_adaptive(scene, 27)) return false;
    for (int face = 0; face < KF_FACES; face++) {
        const int edge = face % 2 == 1 ? scene->nodes[face / 2] - 1 : 0;
        for (size_t n = 0; scene->faces[face] == KF_OUTFLOW && n < links->inside_count; n++)
            if (links->inside[n][face / 2] == edge) return false;
    }
    return true;
}

bool kf_kinetic_puts_back(const kf_links *links, const kf_kinetic_options *options) {
    return links->thin_count == 0 && (links->wall_count > 0 || options->masked_band);
}

bool kf_kinetic_samples_move(const kf_scene *scene) {
    return scene->motion.moving && scene->samples.count > 0;
}

static bool within(long value, long low, long high) {
    return value >= low && value <= high;
}

/* Returns whether the kernel of plan moments computes the scene's collision in the form that is wanted. */
static bool moments_fit(const kf_scene *scene, const kf_kinetic_options *o) {
    return kf_kinetic_is_regularised(scene) && o->collision_form == KF_LOW_ORDER && o->layout != KF_AOS &&
           o->boundary_kernels == 0;
}

/* Refuses options with which a plan would overstep its buffers, or ask for kernels that do not exist. The
 * constraints of variants/kinetic.json say which values go together; kf_problem_check_config checks configs
 * from files against them. */
static kf_status check_options(const kf_scene *scene, const kf_kinetic_options *o, kf_error *error) {
    const bool fused = o->plan == KF_PLAN_FUSED, moments = o->plan == KF_PLAN_MOMENTS,
               one_pass = fused || moments;
    if (o->alpha < 1 || (o->alpha & (o->alpha - 1)) != 0 || (o->layout == KF_CSOA) != (o->alpha > 1))
        return kf_options_refuse(error,
                                 "alpha must be a power of two, above 1 in layout csoa and 1 in the others");
    if (!within(o->collision_split, 0, 4) || one_pass != (o->collision_split == 0) ||
        (o->collision_split > 1 && (o->plan == KF_PLAN_BASELINE || !kf_kinetic_splits(scene))))
        return kf_options_refuse(
            error, "collision_split does not go with the plan, or with the scene's rule for rates");
    if (moments != within(o->march, 1, 65536) || (moments && !moments_fit(scene, o)))
        return kf_options_refuse(error,
                                 "march belongs to plan moments, and that to the rates 'ones' in one pass");
    if (one_pass ? o->immersed_boundary == KF_GATHER : o->immersed_boundary == KF_AGGREGATED)
        return kf_options_refuse(
            error, "immersed_boundary gather belongs to the unfused plans, aggregated to the others");
    if (o->velocities != 27 && (o->velocities != 19 || !fused || !kf_kinetic_has_19_velocities(scene) ||
                                (scene->collision != KF_BGK && o->collision_form != KF_LOW_ORDER)))
        return kf_options_refuse(
            error, "velocities must be 27, or 19 in plan fused with BGK, or the form low_order and "
                   "a rate of at most 1.7");
    if (!within(o->nodes_per_thread, 1, 2) || (o->nodes_per_thread == 2 && (!fused || o->layout == KF_AOS)))
        return kf_options_refuse(error,
                                 "nodes_per_thread must be 1, or 2 in plan fused with layout soa or csoa");
    if (!within(o->slab, 0, 65536) || (o->slab > 0 && !fused))
        return kf_options_refuse(error, "slab must be 0, or 1 to 65536 in plan fused");
    if (o->slab > 0 && o->layout == KF_CSOA && o->alpha > kf_kinetic_row_alignment(o))
        return kf_options_refuse(
            error, "streaming shift moves whole planes: alpha must be at most 32, in 16 bits 64");
    const bool rows = fused && !o->gpu && o->nodes_per_thread == 1 && o->layout != KF_AOS;
    if (o->staged_nodes != 0 &&
        (!within(o->staged_nodes, 16, 1024) || !rows ||
         (o->layout == KF_CSOA && (o->staged_nodes > 32 || o->alpha % o->staged_nodes != 0))))
        return kf_options_refuse(error, "staged_nodes does not go with the plan and layout");
    if (o->boundary_kernels != 6 && o->boundary_kernels != 1 && (o->boundary_kernels != 0 || !one_pass))
        return kf_options_refuse(error,
                                 "boundary_kernels must be 6 or 1, or 0 in the plans fused and moments");
    const bool lanes = o->segment_lanes == 8 || o->segment_lanes == 32;
    const bool patches = o->patch_length > 0;
    if (patches && (!scene->motion.moving || o->immersed_boundary != KF_AGGREGATED ||
                    (o->patch_length != 256 && o->patch_length != 512 && o->patch_length != 1024)))
        return kf_options_refuse(
            error, "patch_length must be 0, or of a moving solid with immersed_boundary aggregated "
                   "256, 512 or 1024");
    if (o->segment_lanes != 1 &&
        (!lanes || !o->gpu || o->immersed_boundary != KF_AGGREGATED || (scene->motion.moving && !patches) ||
         o->segment_length % o->segment_lanes != 0))
        return kf_options_refuse(
            error, "segment_lanes must be 1, or on a GPU 8 or 32, with segments of a multiple of it");
    const bool in_rows =
        !o->gpu && o->nodes_per_thread == 1 && (o->boundary_kernels == 0 || o->staged_nodes > 0);
    if (o->alternate && (!fused || o->slab > 0 || in_rows))
        return kf_options_refuse(error, "alternate belongs to plan fused between two grids, node by node");
    if (o->prefetch_rows != 0 && (!within(o->prefetch_rows, 0, 1024) || !fused ||
                                  (!o->gpu && o->staged_nodes == 0) || o->nodes_per_thread != 1))
        return kf_options_refuse(error, "prefetch_rows belongs to plan fused, one node a thread, not in "
                                        "place; on a cpu with staged_nodes");
    if (o->keep_streamed && (!fused || o->slab > 0))
        return kf_options_refuse(error, "keep_streamed belongs to plan fused between two grids");
    if (o->masked_band && (!fused || o->slab > 0 || kf_kinetic_samples_move(scene) || in_rows))
        return kf_options_refuse(error, "masked_band does not go with the plan, or with a moving solid");
    if (o->block[2] != 1 && one_pass)
        return kf_options_refuse(error, "block_z above 1 belongs to the plans baseline and paper");
    if (scene->solid_count > 0 &&
        (moments || o->parts > 1 || (o->immersed_boundary == KF_AGGREGATED && !patches)))
        return kf_options_refuse(
            error,
            "several solids are for the plans of populations on one device, with immersed_boundary gather, "
            "scatter, or aggregated by patches");
    const int *n = scene->nodes;
    if (o->boundary_rows_apart && (!fused || o->slab > 0 || o->boundary_kernels != 0 || in_rows ||
                                   o->parts > 1 || n[1] < 3 || n[2] < 3))
        return kf_options_refuse(
            error,
            "boundary_rows_apart belongs to plan fused between two grids with folded boundaries, on one "
            "device, and to domains with an inside");
    if (o->overlap && (!o->gpu || !o->masked_band || o->immersed_boundary != KF_AGGREGATED))
        return kf_options_refuse(
            error, "overlap belongs to masked_band with immersed_boundary aggregated, on a GPU");
    if (o->band_chain &&
        (!o->masked_band || o->immersed_boundary != KF_AGGREGATED || o->overlap || o->parts > 1))
        return kf_options_refuse(error,
                                 "band_chain belongs to masked_band with immersed_boundary aggregated and "
                                 "without overlap, on one device");
    return KF_OK;
}

#define NUMBER(member, low, high) KF_NUMBER(kf_kinetic_options, KF_OPTION_LONG, member, #member, low, high)
#define FLAG(member)              KF_FLAG(kf_kinetic_options, member, #member)
#define CHOICE(member, ...)       KF_CHOICE(kf_kinetic_options, member, #member, __VA_ARGS__)
static const kf_config_field table[] = {
    CHOICE(plan, "baseline", "paper", "fused", "moments"),
    CHOICE(layout, "aos", "soa", "csoa"),
    CHOICE(storage, "f16", "f32", "f64"),
    CHOICE(collision_form, "factorised", "expanded", "shared", "low_order"),
    CHOICE(sample_order, "none", "cells", "morton"),
    CHOICE(transfer, "direct", "copies", "host", "nccl"),
    CHOICE(streaming, "two_grids", "shift"),
    CHOICE(immersed_boundary, "gather", "scatter", "aggregated"),
    KF_SECOND(kf_kinetic_options, fixed_point_force, "force_sum", "float", "fixed"),
    NUMBER(alpha, 1, LONG_MAX),
    NUMBER(velocities, 19, 27),
    NUMBER(collision_split, 0, 4),
    NUMBER(sample_block_length, 1, LONG_MAX),
    NUMBER(segment_length, 1, 4096),
    NUMBER(segment_lanes, 1, 32),
    NUMBER(solid_block, 32, 1024),
    NUMBER(patch_length, 0, 1024),
    NUMBER(boundary_kernels, 0, 6),
    NUMBER(staged_nodes, 0, 1024),
    NUMBER(slab, 0, 65536),
    NUMBER(nodes_per_thread, 1, 2),
    NUMBER(register_cap, 0, 255),
    NUMBER(march, 0, 65536),
    NUMBER(prefetch_rows, 0, 1024),
    FLAG(boundary_choices),
    FLAG(alternate),
    FLAG(concurrent_solid),
    FLAG(keep_streamed),
    FLAG(masked_band),
    FLAG(overlap),
    FLAG(band_chain),
    FLAG(boundary_rows_apart),
    KF_NUMBER(kf_kinetic_options, KF_OPTION_INT, parts_y, "parts_y", 1, KF_MOST_PARTS),
    KF_NUMBER(kf_kinetic_options, KF_OPTION_LONG, sample_tenths, "sample_cost", 0, LONG_MAX),
    KF_NUMBER(kf_kinetic_options, KF_OPTION_INT, block[0], "block_x", 1, 65536),
    KF_NUMBER(kf_kinetic_options, KF_OPTION_INT, block[1], "block_y", 1, 1024),
    KF_NUMBER(kf_kinetic_options, KF_OPTION_INT, block[2], "block_z", 1, 64),
};

/* Turns off the options of a solid's samples and their band. A level of nested grids may have no solid
 * although its config is that of a scene with one, and a solid by links has no samples. */
static void leave_samples_out(const kf_scene *scene, kf_kinetic_options *options) {
    options->concurrent_solid = options->overlap = options->band_chain = false;
    options->masked_band = options->masked_band && kf_kinetic_may_be_hollow(scene);
}

/* Chooses the plan moments for an outer level with rates of 1. The plan's parameters get the defaults of that
 * plan. */
void kf_kinetic_choose_outer_plan(const kf_scene *scene, kf_kinetic_options *o) {
    if (o->plan != KF_PLAN_FUSED || o->march == 0 || !scene->outer_ones) return;
    if (scene->covered.high[0] == scene->covered.low[0]) {
        o->march = 0;
        return;
    }
    o->plan = KF_PLAN_MOMENTS;
    o->collision_form = KF_LOW_ORDER;
    o->block[0] = 32, o->block[1] = 8, o->block[2] = 1;
    o->register_cap = o->gpu ? 64 : 0;
    o->nodes_per_thread = 1;
    o->boundary_kernels = o->staged_nodes = o->prefetch_rows = 0;
    o->boundary_choices = o->alternate = o->keep_streamed = o->boundary_rows_apart = false;
    leave_samples_out(scene, o);
}

/* Shortens the march on small levels of nested grids, as a config's march is meant for the largest one. A
 * level with few blocks would leave multiprocessors of a GPU idle. */
static void shorten_march(const kf_scene *scene, const kf_device_info *device, kf_kinetic_options *options) {
    /* The blocks of a multiprocessor. */
    enum { BLOCKS = 11 };
    const long tiles = ((scene->nodes[0] + options->block[0] - 1) / options->block[0]) *
                       ((scene->nodes[1] + options->block[1] - 1) / options->block[1]);
    const bool is_level = kf_nested_has_ghosts(scene) || scene->covered.high[0] > scene->covered.low[0];
    while (is_level && options->march >= 2 * KF_SHORTEST_WALK &&
           tiles * ((scene->nodes[2] + options->march - 1) / options->march) <
               BLOCKS * device->multiprocessors)
        options->march /= 2;
}

kf_status kf_kinetic_read_options(const kf_scene *scene, const kf_config *config,
                                  const kf_device_info *device, kf_kinetic_options *options,
                                  kf_error *error) {
    memset(options, 0, sizeof *options);
    KF_TRY(kf_options_read(config, table, sizeof table / sizeof *table, options, error));
    options->gpu = kf_device_is_gpu(device);
    options->parts = device->parts > 1 ? device->parts : 1;
    if (options->parts == 1) {
        options->parts_y = 1;
        options->transfer = KF_DIRECT;
    }
    options->sample_cost = kf_kinetic_sample_cost(scene, options->sample_tenths);
    if ((options->streaming == KF_STREAMING_SHIFT) != (options->slab > 0))
        return kf_options_refuse(error, "slab > 0 belongs to streaming shift, and to it alone");
    while (1L << options->alpha_log2 < options->alpha)
        options->alpha_log2++;
    kf_kinetic_choose_outer_plan(scene, options);
    KF_TRY(check_options(scene, options, error));
    if (scene->samples.count == 0) leave_samples_out(scene, options);
    shorten_march(scene, device, options);
    return kf_kinetic_check_team(scene, options, error);
}

/* Reads the options that a config has and leaves the others at values that make no difference. */
void kf_kinetic_read_known_options(const kf_config *config, kf_kinetic_options *options) {
    *options = (kf_kinetic_options){.plan = KF_PLAN_PAPER,
                                    .layout = KF_SOA,
                                    .storage = KF_F32,
                                    .immersed_boundary = KF_SCATTER,
                                    .velocities = 27,
                                    .alpha = 1,
                                    .block = {128, 1, 1},
                                    .boundary_kernels = 1,
                                    .sample_block_length = 1,
                                    .sample_order = KF_ORDER_MORTON,
                                    .segment_length = 16,
                                    .segment_lanes = 1,
                                    .nodes_per_thread = 1,
                                    .march = 64};
    kf_options_read_known(config, table, sizeof table / sizeof *table, options);
    /* Older landscapes have this parameter in place of sample_order. */
    bool morton = true;
    if (kf_config_boolean(config, "morton", &morton, NULL) == KF_OK && !morton)
        options->sample_order = KF_ORDER_CELLS;
}

bool kf_kinetic_has_band(const kf_kinetic_options *options) {
    return options->plan == KF_PLAN_FUSED || options->plan == KF_PLAN_MOMENTS;
}

bool kf_kinetic_has_chain(const kf_scene *scene, const kf_kinetic_options *options) {
    return options->band_chain && scene->samples.count > 0 && scene->immersed_passes <= 1;
}

bool kf_kinetic_sorts_with_pose(const kf_scene *scene, const kf_kinetic_options *options) {
    return options->patch_length > 0 && !scene->motion.free && scene->solid_count == 0;
}
