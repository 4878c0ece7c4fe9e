#include "solver/kinetic/kinetic.h"

#include <limits.h>
#include <math.h>
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

static bool has_outflow(const kf_scene *scene) {
    bool outflow = false;
    for (int face = 0; face < KF_FACES; face++)
        outflow = outflow || scene->faces[face] == KF_OUTFLOW;
    return outflow;
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

static bool samples_move(const kf_scene *scene) {
    return scene->motion.moving && scene->samples.count > 0;
}

static bool within(long value, long low, long high) {
    return value >= low && value <= high;
}

/* Rows begin with a line of the GPU's cache, 128 bytes, in 64 bits with two; on the cpu with one of 64 bytes,
 * as long as no group of the layout is longer: what fills a row up is fetched with it. */
static int row_alignment(const kf_kinetic_options *o) {
    if (!o->gpu && o->layout == KF_SOA) return o->storage == KF_F16 ? 32 : o->storage == KF_F32 ? 16 : 8;
    return o->storage == KF_F16 ? 64 : 32;
}

/* The moments plan in a form that its kernel does not have would be another flow's. */
static bool moments_fit(const kf_scene *scene, const kf_kinetic_options *o) {
    return kf_kinetic_is_regularised(scene) && o->collision_form == KF_LOW_ORDER && o->layout != KF_AOS &&
           o->boundary_kernels == 0;
}

/* Refuses what would take a plan past its buffers, or to kernels that there are not. variants/kinetic.json
 * says what belongs together, and what comes from a file is held against it (kf_problem_check_config). */
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
    if (o->slab > 0 && o->layout == KF_CSOA && o->alpha > row_alignment(o))
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
    if (o->masked_band && (!fused || o->slab > 0 || samples_move(scene) || in_rows))
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

/* A level of nested grids may have no solid although its config is that of a scene with one: its kernels then
 * have no band to look up. A solid by links has none either. */
static void leave_samples_out(const kf_scene *scene, kf_kinetic_options *options) {
    options->concurrent_solid = options->overlap = options->band_chain = false;
    options->masked_band = options->masked_band && kf_kinetic_may_be_hollow(scene);
}

/* The other parameters are those of the moments plan's default. */
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

/* The march of a config is for the scene's largest level. One with fewer blocks than the defaults give a
 * large grid (variants/kinetic.json) walks less far: else a GPU waits for the few that there are. */
static void shorten_march(const kf_scene *scene, const kf_device_info *device, kf_kinetic_options *options) {
    enum { BLOCKS = 11 }; /* of a multiprocessor */
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
    bool morton = true; /* what older landscapes say of the order */
    if (kf_config_boolean(config, "morton", &morton, NULL) == KF_OK && !morton)
        options->sample_order = KF_ORDER_CELLS;
}

/* Returns whether a part of a team counts nodes from its own first plane on, which keeps indices short. It
 * does not where the layout has strides as long as the domain, or a node reaches the domain's other end. */
static bool counts_from_its_planes(const kf_scene *scene, const kf_kinetic_options *options,
                                   const kf_kinetic_geometry *g) {
    return options->parts > 1 && options->layout != KF_SOA && g->plane_pitch % options->alpha == 0 &&
           g->plane_pitch % 32 == 0 && scene->faces[KF_ZMIN] != KF_PERIODIC;
}

/* Rows or planes of the largest of so many parts along an axis. */
static int longest(const kf_scene *scene, const kf_kinetic_options *options, int axis, int parts) {
    int first[KF_MOST_PARTS + 1], most = 0;
    kf_kinetic_cut(scene, options->sample_cost, axis, parts, first);
    for (int part = 0; part < parts; part++)
        most = first[part + 1] - first[part] > most ? first[part + 1] - first[part] : most;
    return most;
}

void kf_kinetic_lay_out(const kf_scene *scene, const kf_kinetic_options *options,
                        kf_kinetic_geometry *geometry) {
    const int alignment = row_alignment(options);
    memcpy(geometry->nodes, scene->nodes, sizeof geometry->nodes);
    long long pitch = (scene->nodes[0] + 2 + alignment - 1) / alignment * alignment;
    /* Strides of a high power of two would map all streams to the same cache sets and memory channels. */
    if (pitch % 128 == 0) pitch += alignment;
    geometry->row_pitch = (int)pitch;
    /* A part that is cut across y has memory for as many rows as the largest one and those beside it. */
    int rows = scene->nodes[1];
    if (options->parts_y > 1)
        rows = longest(scene, options, 1, options->parts_y) + 2 * kf_kinetic_halo_width(scene);
    geometry->rows_before = 0;
    geometry->plane_pitch = pitch * (rows + 2);
    geometry->origin = alignment;
    /* A launch overwrites what was read at least two launches before, of which two may run at once; on the
     * cpu one. */
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
    enum { BESIDE = 16 }; /* planes of neighbours that a part reaches, and some */
    /* The index of its first node is taken from others in the same width, so it counts, too. */
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

bool kf_kinetic_has_band(const kf_kinetic_options *options) {
    return options->plan == KF_PLAN_FUSED || options->plan == KF_PLAN_MOMENTS;
}

bool kf_kinetic_has_chain(const kf_scene *scene, const kf_kinetic_options *options) {
    return options->band_chain && scene->samples.count > 0 && scene->immersed_passes <= 1;
}

bool kf_kinetic_uses(const kf_scene *scene, const kf_kinetic_options *options, kf_kinetic_source which) {
    bool solid = scene->samples.count > 0;
    if (which == KF_SOURCE_BOUNDARY) return options->boundary_kernels > 0 || has_outflow(scene);
    if (which == KF_SOURCE_IMMERSED) return solid;
    if (which == KF_SOURCE_LINKS) return scene->links.count > 0 && !scene->links.leaves;
    if (which == KF_SOURCE_MOVING_LINKS) return scene->links.leaves;
    if (which == KF_SOURCE_WALL) return scene->links.wall_count > 0;
    if (which == KF_SOURCE_MOTION) return solid && scene->motion.moving;
    if (which == KF_SOURCE_ORDER) return solid && options->immersed_boundary == KF_GATHER;
    return true;
}

/* Names the file of a source; those of flow and immersed boundary depend on the plan. */
static const char *file_of(const kf_kinetic_options *options, kf_kinetic_source which) {
    static const char *const files[KF_SOURCES] = {[KF_SOURCE_BOUNDARY] = "kernels/kinetic/boundary.cu",
                                                  [KF_SOURCE_STATE] = "kernels/kinetic/state.cu",
                                                  [KF_SOURCE_MOTION] = "kernels/kinetic/motion.cu",
                                                  [KF_SOURCE_ORDER] = "kernels/kinetic/order.cu",
                                                  [KF_SOURCE_LINKS] = "kernels/kinetic/links.cu",
                                                  [KF_SOURCE_WALL] = "kernels/kinetic/wall.cu",
                                                  [KF_SOURCE_MOVING_LINKS] =
                                                      "kernels/kinetic/moving_links.cu",
                                                  [KF_SOURCE_VELOCITY] = "kernels/kinetic/velocity.cu"};
    if (which == KF_SOURCE_IMMERSED)
        return kf_kinetic_has_band(options) ? "kernels/kinetic/immersed_band.cu"
                                            : "kernels/kinetic/immersed.cu";
    if (which != KF_SOURCE_FLOW) return files[which];
    return options->plan == KF_PLAN_MOMENTS ? "kernels/kinetic/moments.cu"
           : options->plan == KF_PLAN_FUSED ? "kernels/kinetic/fused.cu"
                                            : "kernels/kinetic/separate.cu";
}

/* Defines where nodes and vectors lie. */
static void define_layout(const kf_kinetic_options *options, const kf_kinetic_geometry *geometry,
                          kf_defines *defines) {
    kf_define_to(defines, "KF_LAYOUT", (long)options->layout);
    kf_define_to(defines, "KF_ALPHA_LOG2", options->alpha_log2);
    kf_define_to(defines, "KF_ALIGNED_ROWS",
                 geometry->row_pitch % options->alpha == 0 && geometry->origin % options->alpha == 0);
}

/* Defines a layout for files that touch no field with components. */
static void define_no_layout(kf_defines *defines) {
    kf_define_to(defines, "KF_LAYOUT", KF_SOA);
    kf_define_to(defines, "KF_ALPHA_LOG2", 0);
}

/* Defines what a node keeps, and what its velocity is. */
static void define_populations(const kf_scene *scene, const kf_kinetic_options *options,
                               kf_kinetic_source which, kf_defines *defines) {
    const bool moments = options->plan == KF_PLAN_MOMENTS;
    const double *force = scene->body_force;
    if (which != KF_SOURCE_BOUNDARY || moments)
        kf_define_to(defines, "KF_BODY_FORCE", force[0] != 0.0 || force[1] != 0.0 || force[2] != 0.0);
    if (options->velocities != 27) kf_define_to(defines, "KF_VELOCITIES", options->velocities);
    if (!moments) return;
    kf_define_to(defines, "KF_MOMENTS", 1);
    kf_define_to(defines, "KF_LISTED", scene->samples.count > 0);
    if (options->storage == KF_F16) kf_define_to(defines, "KF_PACKED", 1);
}

static void define_faces(const kf_scene *scene, kf_defines *defines) {
    static const char *const faces[KF_FACES] = {"KF_FACE_0", "KF_FACE_1", "KF_FACE_2",
                                                "KF_FACE_3", "KF_FACE_4", "KF_FACE_5"};
    long mirrors = 0;
    for (int face = 0; face < KF_FACES; face++) {
        kf_define_to(defines, faces[face], (long)scene->faces[face]);
        if (scene->specular_share[face] > 0.0) mirrors |= 1L << face;
    }
    kf_define_to(defines, "KF_SPECULAR", mirrors);
}

/* The collision, and for one kernel how it is cut up and what it finds on the band. */
static void define_flow(const kf_scene *scene, const kf_kinetic_options *options, kf_defines *defines) {
    kf_define_to(defines, "KF_COLLISION", (long)scene->collision);
    if (scene->collision != KF_BGK) kf_define_to(defines, "KF_RATE_RULE", (long)scene->rate_rule);
    if (scene->collision == KF_ACM_MRT) kf_define_to(defines, "KF_BASIS", (long)scene->basis);
    kf_define_to(defines, "KF_FORM", (long)options->collision_form);
    const bool folded = options->boundary_kernels == 0;
    if (folded) define_faces(scene, defines);
    if (scene->covered.high[0] > scene->covered.low[0]) kf_define_to(defines, "KF_COVERED", 1);
    if (kf_nested_has_ghosts(scene)) kf_define_to(defines, "KF_GHOSTS", 1);
    const long edges = kf_kinetic_edge_sides(scene, options);
    if (edges != 0) kf_define_to(defines, "KF_EDGES", edges);
    if (options->plan == KF_PLAN_MOMENTS) {
        kf_define_to(defines, "KF_TILE_X", options->block[0]);
        kf_define_to(defines, "KF_TILE_Y", options->block[1]);
    }
    if (options->plan == KF_PLAN_FUSED) {
        kf_define_to(defines, "KF_FOLDED_BOUNDARY", folded);
        if (options->slab > 0) kf_define_to(defines, "KF_SLABS", 1);
        if (options->alternate) kf_define_to(defines, "KF_ALTERNATE", 1);
        /* With ghosts from elsewhere branches take 78 registers instead of 56. */
        if (options->boundary_choices || edges != 0) kf_define_to(defines, "KF_BOUNDARY_CHOICES", 1);
        if (options->keep_streamed) kf_define_to(defines, "KF_KEEP_STREAMED", 1);
        if (options->masked_band)
            kf_define_to(defines, scene->links.count > 0 ? "KF_HOLLOW" : "KF_MASKED_BAND", 1);
        const bool long_rows = scene->nodes[0] > 32 * options->nodes_per_thread;
        if (options->boundary_rows_apart) kf_define_to(defines, "KF_BOUNDARY_ROWS_APART", long_rows ? 1 : 2);
        kf_define_to(defines, "KF_NODES_PER_THREAD", options->nodes_per_thread);
    }
    if (options->prefetch_rows > 0) kf_define_to(defines, "KF_PREFETCH_ROWS", options->prefetch_rows);
    if (kf_kinetic_has_chain(scene, options)) {
        kf_define_to(defines, "KF_BAND_CHAIN", 1);
        kf_define_to(defines, "KF_SEGMENT_LENGTH", options->segment_length);
        kf_define_to(defines, "KF_WRAP", kf_kinetic_wraps(scene));
    }
    if (options->collision_split > 0) {
        kf_define_to(defines, "KF_SPLIT", options->collision_split);
        return;
    }
    kf_define_to(defines, "KF_FIXED_POINT_FORCE", options->fixed_point_force);
    /* After several passes the flow finds the force added up by band_join. */
    const bool aggregated = options->immersed_boundary == KF_AGGREGATED;
    kf_define_to(defines, "KF_SEGMENTS", aggregated && !samples_move(scene) && scene->immersed_passes <= 1);
    if (options->segment_lanes > 1) kf_define_to(defines, "KF_SEGMENT_LANES", options->segment_lanes);
    if (options->overlap) kf_define_to(defines, "KF_OVERLAP", 1);
    kf_define_to(defines, "KF_MOVING", samples_move(scene));
    if (options->staged_nodes > 0) {
        enum { LONG_ROW = 64 };
        kf_define_to(defines, "KF_STAGED", options->staged_nodes);
        kf_define_to(defines, "KF_LONG_ROWS", scene->nodes[0] >= LONG_ROW);
    }
    if (options->register_cap > 0)
        kf_define_text(defines, "KF_LAUNCH_BOUNDS", "__maxnreg__(%ld)", options->register_cap);
}

static void define_samples(const kf_scene *scene, kf_defines *defines) {
    kf_define_to(defines, "KF_MOVING", scene->motion.moving);
    kf_define_to(defines, "KF_WRAP", kf_kinetic_wraps(scene));
    if (scene->solid_count > 0) kf_define_to(defines, "KF_SOLIDS", 1);
}

bool kf_kinetic_sorts_with_pose(const kf_scene *scene, const kf_kinetic_options *options) {
    return options->patch_length > 0 && !scene->motion.free && scene->solid_count == 0;
}

/* Defines the sides at which a free solid leaves the box of a level. */
static void define_inner_sides(const kf_scene *scene, kf_defines *defines) {
    long sides = 0;
    for (int face = 0; face < KF_FACES; face++)
        if (scene->ghosts[face] > 0) sides |= 1L << face;
    if (!scene->motion.free || sides == 0) return;
    kf_define_to(defines, "KF_INNER_SIDES", sides);
    kf_define_to(defines, "KF_INNER_ROOM", KF_NESTED_GHOSTS + KF_NESTED_ROOM - 1);
}

static void define_immersed(const kf_scene *scene, const kf_kinetic_options *options, kf_defines *defines) {
    const bool aggregated = options->immersed_boundary == KF_AGGREGATED;
    define_samples(scene, defines);
    kf_define_to(defines, "KF_FREE", scene->motion.free);
    define_inner_sides(scene, defines);
    if (!kf_kinetic_has_band(options)) return;
    kf_define_to(defines, "KF_FIXED_POINT_FORCE", options->fixed_point_force);
    kf_define_to(defines, "KF_SEGMENTS", aggregated && !scene->motion.moving);
    kf_define_to(defines, "KF_CELLS", aggregated && scene->motion.moving);
    if (options->patch_length > 0) kf_define_to(defines, "KF_PATCH", options->patch_length);
    if (kf_kinetic_sorts_with_pose(scene, options)) kf_define_to(defines, "KF_OWN_POSE", 1);
    kf_define_to(defines, "KF_SEGMENT_LENGTH", aggregated ? options->segment_length : 1);
    if (options->segment_lanes > 1) kf_define_to(defines, "KF_SEGMENT_LANES", options->segment_lanes);
    if (options->overlap) kf_define_to(defines, "KF_OVERLAP", 1);
}

/* Defines the periodic axes whose seam a solid by links comes near; arms of torques are then those of the
 * nearest image. */
static void define_seams(const kf_scene *scene, kf_defines *defines) {
    long seams = 0;
    for (int a = 0; a < 3; a++)
        if (scene->faces[2 * a] == KF_PERIODIC &&
            (scene->solid_low[a] < 1.0 || scene->solid_high[a] > scene->nodes[a] - 2.0))
            seams |= 1L << a;
    if (seams != 0) kf_define_to(defines, "KF_SEAMS", seams);
}

/* Only what a file reads is defined, so that configs that differ in nothing else share the compiled module.
 */
void kf_kinetic_define(const kf_scene *scene, const kf_kinetic_options *options,
                       const kf_kinetic_geometry *geometry, kf_kinetic_source which, kf_source *source,
                       kf_defines *defines) {
    /* Samples and their order are in the precision of the arithmetic. */
    const bool samples = which == KF_SOURCE_IMMERSED || which == KF_SOURCE_ORDER;
    defines->count = 0;
    if (which == KF_SOURCE_MOTION) {
        kf_define_to(defines, "KF_FREE", scene->motion.free);
        if (scene->motion.free && options->parts > 1) kf_define_to(defines, "KF_TEAM", 1);
        if (scene->solid_count > 0) kf_define_to(defines, "KF_SOLIDS", 1);
    } else {
        const bool words = samples || options->plan == KF_PLAN_MOMENTS; /* kernels/kinetic/packed.h */
        kf_define_to(defines, "KF_STORAGE",
                     (long)(options->storage == KF_F16 && words ? KF_F32 : options->storage));
        const bool whole =
            which == KF_SOURCE_STATE || which == KF_SOURCE_VELOCITY || which == KF_SOURCE_BOUNDARY;
        kf_define_to(defines, "KF_INDEX64", whole ? geometry->domain_index64 : geometry->index64);
        if (options->parts > 1) kf_define_to(defines, "KF_TEAM", 1);
        if (options->parts_y > 1) kf_define_to(defines, "KF_CUT_Y", 1);
        if (samples && (which == KF_SOURCE_ORDER || kf_kinetic_has_band(options)))
            define_no_layout(defines);
        else
            define_layout(options, geometry, defines);
        if (!samples) define_populations(scene, options, which, defines);
    }
    if (which == KF_SOURCE_STATE && options->parts > 1) {
        if (options->parts_y > 1 && kf_kinetic_is_bounced(scene, 1)) kf_define_to(defines, "KF_BOUNCED_Y", 1);
        if (kf_kinetic_is_bounced(scene, 2)) kf_define_to(defines, "KF_BOUNCED_Z", 1);
    }
    if (which == KF_SOURCE_FLOW) define_flow(scene, options, defines);
    /* So many threads of a multiprocessor take 96 registers instead of 168, and more nodes are on their way.
     */
    enum { WALL_THREADS = 640 };
    if (which == KF_SOURCE_WALL && options->gpu)
        kf_define_text(defines, "KF_LAUNCH_BOUNDS", "__launch_bounds__(%ld, %ld)", options->solid_block,
                       WALL_THREADS / options->solid_block);
    /* With 128 registers instead of 163 the nodes of a large solid take three turns instead of four. Blocks
     * of the box have 128 threads (kinetic_moving_links.c). */
    enum { MOVING_THREADS = 512, BOX_THREADS = 128 };
    const long most = options->solid_block > BOX_THREADS ? options->solid_block : BOX_THREADS;
    if (which == KF_SOURCE_MOVING_LINKS && options->gpu)
        kf_define_text(defines, "KF_LAUNCH_BOUNDS", "__launch_bounds__(%ld, %ld)", most,
                       most < MOVING_THREADS ? MOVING_THREADS / most : 1L);
    if (which == KF_SOURCE_LINKS || which == KF_SOURCE_WALL) define_seams(scene, defines);
    if (which == KF_SOURCE_LINKS && scene->motion.moving) kf_define_to(defines, "KF_TURNING", 1);
    if (which == KF_SOURCE_BOUNDARY) define_faces(scene, defines);
    if (which == KF_SOURCE_IMMERSED) define_immersed(scene, options, defines);
    if (which == KF_SOURCE_ORDER) define_samples(scene, defines);
    *source = (kf_source){
        .file = file_of(options, which), .defines = defines->list, .define_count = defines->count};
}
