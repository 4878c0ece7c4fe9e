#include "solver/kinetic/kinetic.h"

#include <stdio.h>
#include <string.h>

#include "base/util/text.h"
#include "scene/scene.h"

static kf_status refuse(kf_error *error, const char *reason) {
    return kf_fail(error, KF_BAD_INPUT, "config: %s", reason);
}

bool kf_kinetic_splits(const kf_scene *scene) {
    return scene->collision != KF_ACM_MRT || scene->rate_rule != KF_RATE_KBC;
}

bool kf_kinetic_has_central_moments(const kf_scene *scene) {
    return scene->collision == KF_ACM_MRT && scene->rate_rule != KF_RATE_KBC;
}

bool kf_kinetic_has_one_high_order_rate(const kf_scene *scene) {
    const kf_rate_rule rule = scene->rate_rule;
    return scene->collision == KF_ACM_MRT && scene->basis == KF_BASIS_HERMITE &&
           (rule == KF_RATE_ADAPTIVE_2020 || rule == KF_RATE_CONSTANT || rule == KF_RATE_ONES);
}

bool kf_kinetic_is_regularised(const kf_scene *scene) {
    return scene->collision == KF_ACM_MRT && scene->rate_rule == KF_RATE_ONES &&
           scene->basis == KF_BASIS_HERMITE;
}

bool kf_kinetic_has_19_velocities(const kf_scene *scene) {
    const bool too_fast = scene->rate_rule == KF_RATE_CONSTANT && scene->high_order_rate > KF_LARGEST_RATE_19;
    return scene->collision == KF_BGK || (kf_kinetic_has_one_high_order_rate(scene) && !too_fast);
}

bool kf_kinetic_has_outflow(const kf_scene *scene) {
    bool outflow = false;
    for (int face = 0; face < KF_FACES; face++)
        outflow = outflow || scene->faces[face] == KF_OUTFLOW;
    return outflow;
}

bool kf_kinetic_is_adaptive(const kf_scene *scene, long velocities) {
    return scene->collision == KF_ACM_MRT && scene->rate_rule == KF_RATE_ADAPTIVE_2020 && velocities == 27;
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

/* variants/kinetic.json says what belongs together, and what comes from a file is held against it
 * (kf_problem_check_config). Here only what would take a plan past its buffers, or to kernels that there are
 * not. */
static kf_status check_options(const kf_scene *scene, const kf_kinetic_options *o, kf_error *error) {
    const bool fused = o->plan == KF_PLAN_FUSED, moments = o->plan == KF_PLAN_MOMENTS,
               one_pass = fused || moments;
    if (o->alpha < 1 || (o->alpha & (o->alpha - 1)) != 0 || (o->layout == KF_CSOA) != (o->alpha > 1))
        return refuse(error, "alpha must be a power of two, above 1 in layout csoa and 1 in the others");
    if (!within(o->collision_split, 0, 4) || one_pass != (o->collision_split == 0) ||
        (o->collision_split > 1 && (o->plan == KF_PLAN_BASELINE || !kf_kinetic_splits(scene))))
        return refuse(error, "collision_split does not go with the plan, or with the scene's rule for rates");
    if (moments != within(o->march, 1, 65536) || (moments && !moments_fit(scene, o)))
        return refuse(error, "march belongs to plan moments, and that to the rates 'ones' in one pass");
    if (one_pass ? o->immersed == KF_GATHER : o->immersed == KF_AGGREGATED)
        return refuse(error,
                      "immersed_boundary gather belongs to the unfused plans, aggregated to the others");
    if (o->velocities != 27 && (o->velocities != 19 || !fused || !kf_kinetic_has_19_velocities(scene) ||
                                (scene->collision != KF_BGK && o->collision_form != KF_LOW_ORDER)))
        return refuse(error, "velocities must be 27, or 19 in plan fused with BGK, or the form low_order and "
                             "a rate of at most 1.7");
    if (!within(o->nodes_per_thread, 1, 2) || (o->nodes_per_thread == 2 && (!fused || o->layout == KF_AOS)))
        return refuse(error, "nodes_per_thread must be 1, or 2 in plan fused with layout soa or csoa");
    if (o->in_place != 0 && (!fused || o->nodes_per_thread != 1))
        return refuse(error, "streaming in one grid belongs to plan fused with nodes_per_thread 1");
    if (o->shell_choices && o->in_place != 0)
        return refuse(error, "shell_choices does not go with streaming in_place or esoteric");
    if (!within(o->slab, 0, 65536) || (o->slab > 0 && !fused))
        return refuse(error, "slab must be 0, or 1 to 65536 in plan fused");
    if (o->slab > 0 && o->layout == KF_CSOA && o->alpha > row_alignment(o))
        return refuse(error, "streaming shift moves whole planes: alpha must be at most 32, in 16 bits 64");
    const bool rows = fused && !o->gpu && o->in_place == 0 && o->nodes_per_thread == 1 && o->layout != KF_AOS;
    if (o->staged_nodes != 0 &&
        (!within(o->staged_nodes, 16, 1024) || !rows ||
         (o->layout == KF_CSOA && (o->staged_nodes > 32 || o->alpha % o->staged_nodes != 0))))
        return refuse(error, "staged_nodes does not go with the plan and layout");
    if (o->boundary_kernels != 6 && o->boundary_kernels != 1 && (o->boundary_kernels != 0 || !one_pass))
        return refuse(error, "boundary_kernels must be 6 or 1, or 0 in the plans fused and moments");
    const bool lanes = o->segment_lanes == 8 || o->segment_lanes == 32;
    const bool patches = o->patch_length > 0;
    if (patches && (!scene->motion.moving || o->immersed != KF_AGGREGATED ||
                    (o->patch_length != 256 && o->patch_length != 512 && o->patch_length != 1024)))
        return refuse(error, "patch_length must be 0, or of a moving solid with immersed_boundary aggregated "
                             "256, 512 or 1024");
    if (o->segment_lanes != 1 &&
        (!lanes || !o->gpu || o->immersed != KF_AGGREGATED || (scene->motion.moving && !patches) ||
         o->segment_length % o->segment_lanes != 0))
        return refuse(error,
                      "segment_lanes must be 1, or on a GPU 8 or 32, with segments of a multiple of it");
    const bool in_rows =
        !o->gpu && o->nodes_per_thread == 1 && (o->boundary_kernels == 0 || o->staged_nodes > 0);
    if (o->alternate && (!fused || o->in_place != 0 || o->slab > 0 || in_rows))
        return refuse(error, "alternate belongs to plan fused between two grids, node by node");
    if (o->ahead != 0 &&
        (!within(o->ahead, 0, 1024) || !fused || (o->gpu ? o->parts > 1 : o->staged_nodes == 0) ||
         o->in_place != 0 || o->nodes_per_thread != 1))
        return refuse(
            error,
            "ahead belongs to plan fused, one node a thread, not in place; on a cpu with staged_nodes");
    if (o->keep_streamed && (!fused || o->in_place != 0 || o->slab > 0))
        return refuse(error, "keep_streamed belongs to plan fused between two grids");
    if (o->masked_band && (!fused || o->in_place != 0 || o->slab > 0 || scene->motion.moving || in_rows))
        return refuse(error, "masked_band does not go with the plan, or with a moving solid");
    const int *n = scene->nodes;
    if (o->shell_apart && (!fused || o->in_place != 0 || o->slab > 0 || o->boundary_kernels != 0 || in_rows ||
                           o->parts > 1 || n[1] < 3 || n[2] < 3))
        return refuse(error,
                      "shell_apart belongs to plan fused between two grids with folded boundaries, on one "
                      "device, and to domains with an inside");
    if (o->shell_lane != KF_SHELL_OWN &&
        (!o->shell_apart || (o->shell_lane == KF_SHELL_SOLID && !o->concurrent_solid)))
        return refuse(error, "shell_lane belongs to shell_apart, and 'solid' to concurrent_solid");
    if (o->overlap && (!o->gpu || !o->masked_band || o->immersed != KF_AGGREGATED))
        return refuse(error, "overlap belongs to masked_band with immersed_boundary aggregated, on a GPU");
    if (o->band_chain && (!o->masked_band || o->immersed != KF_AGGREGATED || o->overlap || o->parts > 1))
        return refuse(error, "band_chain belongs to masked_band with immersed_boundary aggregated and "
                             "without overlap, on one device");
    if (!within(o->segment_length, 1, 4096) || o->sample_block_length < 1 ||
        !within(o->reorder_period, 0, 1000000) || !within(o->solid_block, 32, 1024) ||
        !within(o->block[0], 1, 65536) || !within(o->block[1], 1, 1024))
        return refuse(error, "a length, a period or a block's size is out of all bounds");
    return KF_OK;
}

kf_status kf_kinetic_read_options(const kf_scene *scene, const kf_config *config,
                                  const kf_device_info *device, kf_kinetic_options *options,
                                  kf_error *error) {
    static const char *const plans[] = {"baseline", "paper", "fused", "moments"};
    static const char *const layouts[] = {"aos", "soa", "csoa"};
    static const char *const immersed[] = {"gather", "scatter", "aggregated"};
    static const char *const storages[] = {"f16", "f32", "f64"};
    static const char *const sums[] = {"float", "fixed"};
    static const char *const streamings[] = {"two_grids", "in_place", "esoteric", "shift"};
    static const char *const forms[] = {"factorised", "expanded", "shared", "low_order"};
    static const char *const shell_lanes[] = {"own", "solid", "flow"};
    static const char *const transfers[] = {"direct", "copies", "host", "nccl"};
    enum { SHIFT = 3 };
    int transfer, plan, layout, variant, storage, sum, form, streaming, shell_lane;
    long block_x, block_y, sample_cost, parts_y;
    memset(options, 0, sizeof *options);
    KF_TRY(kf_config_choice(config, "plan", plans, 4, &plan, error));
    KF_TRY(kf_config_choice(config, "layout", layouts, 3, &layout, error));
    KF_TRY(kf_config_choice(config, "immersed_boundary", immersed, 3, &variant, error));
    KF_TRY(kf_config_choice(config, "storage", storages, 3, &storage, error));
    KF_TRY(kf_config_choice(config, "force_sum", sums, 2, &sum, error));
    KF_TRY(kf_config_choice(config, "collision_form", forms, 4, &form, error));
    KF_TRY(kf_config_choice(config, "streaming", streamings, 4, &streaming, error));
    KF_TRY(kf_config_choice(config, "transfer", transfers, 4, &transfer, error));
    KF_TRY(kf_config_integer(config, "sample_cost", &sample_cost, error));
    KF_TRY(kf_config_integer(config, "parts_y", &parts_y, error));
    KF_TRY(kf_config_integer(config, "velocities", &options->velocities, error));
    KF_TRY(kf_config_integer(config, "alpha", &options->alpha, error));
    KF_TRY(kf_config_integer(config, "sample_block_length", &options->sample_block_length, error));
    KF_TRY(kf_config_boolean(config, "morton", &options->morton, error));
    KF_TRY(kf_config_boolean(config, "streaming_stores", &options->streaming_stores, error));
    KF_TRY(kf_config_boolean(config, "alternate", &options->alternate, error));
    KF_TRY(kf_config_boolean(config, "shell_choices", &options->shell_choices, error));
    KF_TRY(kf_config_boolean(config, "exchange", &options->exchange, error));
    KF_TRY(kf_config_boolean(config, "concurrent_solid", &options->concurrent_solid, error));
    KF_TRY(kf_config_boolean(config, "keep_streamed", &options->keep_streamed, error));
    KF_TRY(kf_config_boolean(config, "masked_band", &options->masked_band, error));
    KF_TRY(kf_config_boolean(config, "overlap", &options->overlap, error));
    KF_TRY(kf_config_boolean(config, "band_chain", &options->band_chain, error));
    KF_TRY(kf_config_boolean(config, "shell_apart", &options->shell_apart, error));
    KF_TRY(kf_config_choice(config, "shell_lane", shell_lanes, 3, &shell_lane, error));
    KF_TRY(kf_config_integer(config, "collision_split", &options->collision_split, error));
    KF_TRY(kf_config_integer(config, "register_cap", &options->register_cap, error));
    KF_TRY(kf_config_integer(config, "nodes_per_thread", &options->nodes_per_thread, error));
    KF_TRY(kf_config_integer(config, "block_x", &block_x, error));
    KF_TRY(kf_config_integer(config, "block_y", &block_y, error));
    KF_TRY(kf_config_integer(config, "boundary_kernels", &options->boundary_kernels, error));
    KF_TRY(kf_config_integer(config, "segment_length", &options->segment_length, error));
    KF_TRY(kf_config_integer(config, "segment_lanes", &options->segment_lanes, error));
    KF_TRY(kf_config_integer(config, "solid_block", &options->solid_block, error));
    KF_TRY(kf_config_integer(config, "patch_length", &options->patch_length, error));
    KF_TRY(kf_config_integer(config, "staged_nodes", &options->staged_nodes, error));
    KF_TRY(kf_config_integer(config, "slab", &options->slab, error));
    KF_TRY(kf_config_boolean(config, "prefetch", &options->prefetch, error));
    KF_TRY(kf_config_integer(config, "ahead", &options->ahead, error));
    KF_TRY(kf_config_integer(config, "march", &options->march, error));
    KF_TRY(kf_config_integer(config, "reorder_period", &options->reorder_period, error));
    options->gpu = strcmp(device->backend, "cuda") == 0;
    options->parts = device->parts > 1 ? device->parts : 1;
    if (!within(parts_y, 1, KF_MOST_PARTS)) return refuse(error, "parts_y must be 1 or more");
    options->parts_y = options->parts > 1 ? (int)parts_y : 1;
    options->plan = (kf_kinetic_plan)plan;
    options->layout = (kf_kinetic_layout)layout;
    options->immersed = (kf_immersed)variant;
    options->storage = (kf_storage)storage;
    options->sample_cost = kf_kinetic_sample_cost(scene, sample_cost);
    options->transfer = options->parts > 1 ? (kf_kinetic_transfer)transfer : KF_DIRECT;
    options->shell_lane = (kf_shell_lane)shell_lane;
    options->in_place = streaming < SHIFT ? streaming : 0;
    if ((streaming == SHIFT) != (options->slab > 0))
        return refuse(error, "slab > 0 belongs to streaming shift, and to it alone");
    options->collision_form = (kf_collision_form)form;
    options->fixed_point_force = sum == 1;
    options->block[0] = (int)block_x;
    options->block[1] = (int)block_y;
    options->block[2] = 1;
    while (1L << options->alpha_log2 < options->alpha)
        options->alpha_log2++;
    KF_TRY(check_options(scene, options, error));
    return kf_kinetic_check_team(scene, options, error);
}

/* Whether a part of a team counts nodes from its own first plane on, which keeps indices short: not where the
 * layout has strides as long as the domain, or a node reaches the domain's other end. */
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
        rows = longest(scene, options, 1, options->parts_y) + 2 * kf_kinetic_near_planes(scene);
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
    geometry->wide_domain = geometry->wide_index =
        !options->gpu || geometry->capacity > 2147483647LL / options->velocities;
    geometry->most_planes = scene->nodes[2];
    geometry->before = 0;
    if (options->parts == 1) return;
    geometry->most_planes = longest(scene, options, 2, options->parts / options->parts_y);
    enum { BESIDE = 16 }; /* planes of neighbours that a part reaches, and some */
    if (counts_from_its_planes(scene, options, geometry))
        geometry->wide_index = !options->gpu || geometry->plane_pitch * (geometry->most_planes + BESIDE) >
                                                    2147483647LL / options->velocities;
}

void kf_kinetic_lay_out_part(const kf_scene *scene, const kf_kinetic_options *options, int first_plane,
                             int first_row, kf_kinetic_geometry *geometry) {
    if (options->parts_y > 1 && (first_row > 0 || scene->faces[KF_YMIN] == KF_PERIODIC)) {
        geometry->rows_before = first_row - kf_kinetic_near_planes(scene);
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
    if (which == KF_SOURCE_BOUNDARY) return options->boundary_kernels > 0 || kf_kinetic_has_outflow(scene);
    if (which == KF_SOURCE_IMMERSED) return solid;
    if (which == KF_SOURCE_MOTION) return solid && scene->motion.moving;
    if (which == KF_SOURCE_ORDER)
        return solid &&
               (options->immersed == KF_GATHER || (scene->motion.moving && options->reorder_period > 0));
    return true;
}

static const char *file_of(const kf_kinetic_options *options, kf_kinetic_source which) {
    static const char *const files[KF_SOURCES] = {[KF_SOURCE_BOUNDARY] = "kernels/kinetic/boundary.cu",
                                                  [KF_SOURCE_STATE] = "kernels/kinetic/state.cu",
                                                  [KF_SOURCE_MOTION] = "kernels/kinetic/motion.cu",
                                                  [KF_SOURCE_ORDER] = "kernels/kinetic/order.cu",
                                                  [KF_SOURCE_VELOCITY] = "kernels/kinetic/velocity.cu"};
    if (which == KF_SOURCE_IMMERSED)
        return kf_kinetic_has_band(options) ? "kernels/kinetic/immersed_band.cu"
                                            : "kernels/kinetic/immersed.cu";
    if (which != KF_SOURCE_FLOW) return files[which];
    return options->in_place != 0             ? "kernels/kinetic/in_place.cu"
           : options->plan == KF_PLAN_MOMENTS ? "kernels/kinetic/moments.cu"
           : options->plan == KF_PLAN_FUSED   ? "kernels/kinetic/fused.cu"
                                              : "kernels/kinetic/separate.cu";
}

static void define(kf_kinetic_defines *defines, const char *name, long value) {
    kf_define *entry = &defines->list[defines->count++];
    entry->name = name;
    (void)snprintf(entry->value, sizeof entry->value, "%ld", value);
}

/* Where nodes and vectors lie. */
static void define_layout(const kf_kinetic_options *options, const kf_kinetic_geometry *geometry,
                          kf_kinetic_defines *defines) {
    define(defines, "KF_LAYOUT", (long)options->layout);
    define(defines, "KF_ALPHA_LOG2", options->alpha_log2);
    define(defines, "KF_ALIGNED_ROWS",
           geometry->row_pitch % options->alpha == 0 && geometry->origin % options->alpha == 0);
}

/* Of files that touch no field with components. */
static void define_no_layout(kf_kinetic_defines *defines) {
    define(defines, "KF_LAYOUT", KF_SOA);
    define(defines, "KF_ALPHA_LOG2", 0);
}

/* What a node keeps, and what its velocity is. */
static void define_populations(const kf_scene *scene, const kf_kinetic_options *options,
                               kf_kinetic_source which, kf_kinetic_defines *defines) {
    const bool moments = options->plan == KF_PLAN_MOMENTS;
    const double *force = scene->body_force;
    if (which != KF_SOURCE_BOUNDARY || moments)
        define(defines, "KF_BODY_FORCE", force[0] != 0.0 || force[1] != 0.0 || force[2] != 0.0);
    define(defines, "KF_IN_PLACE", options->in_place);
    if (options->velocities != 27) define(defines, "KF_VELOCITIES", options->velocities);
    if (!moments) return;
    define(defines, "KF_MOMENTS", 1);
    define(defines, "KF_LISTED", scene->samples.count > 0);
    if (options->storage == KF_F16) define(defines, "KF_PACKED", 1);
}

static void define_faces(const kf_scene *scene, kf_kinetic_defines *defines) {
    static const char *const faces[KF_FACES] = {"KF_FACE_0", "KF_FACE_1", "KF_FACE_2",
                                                "KF_FACE_3", "KF_FACE_4", "KF_FACE_5"};
    long mirrors = 0;
    for (int face = 0; face < KF_FACES; face++) {
        define(defines, faces[face], (long)scene->faces[face]);
        if (scene->specular_share[face] > 0.0) mirrors |= 1L << face;
    }
    define(defines, "KF_SPECULAR", mirrors);
}

/* The collision, and for one kernel how it is cut up and what it finds on the band. */
static void define_flow(const kf_scene *scene, const kf_kinetic_options *options,
                        kf_kinetic_defines *defines) {
    define(defines, "KF_COLLISION", (long)scene->collision);
    if (scene->collision != KF_BGK) define(defines, "KF_RATE_RULE", (long)scene->rate_rule);
    if (scene->collision == KF_ACM_MRT) define(defines, "KF_BASIS", (long)scene->basis);
    define(defines, "KF_FORM", (long)options->collision_form);
    const bool folded = options->boundary_kernels == 0;
    if (folded) define_faces(scene, defines);
    if (options->plan == KF_PLAN_MOMENTS) {
        define(defines, "KF_TILE_X", options->block[0]);
        define(defines, "KF_TILE_Y", options->block[1]);
        define(defines, "KF_PREFETCH", options->prefetch);
    }
    if (options->plan == KF_PLAN_FUSED) {
        define(defines, "KF_FOLDED_BOUNDARY", folded);
        if (options->slab > 0) define(defines, "KF_SLABS", 1);
        if (options->alternate) define(defines, "KF_ALTERNATE", 1);
        if (options->shell_choices) define(defines, "KF_SHELL_CHOICES", 1);
        if (options->keep_streamed) define(defines, "KF_KEEP_STREAMED", 1);
        if (options->masked_band) define(defines, "KF_MASKED_BAND", 1);
        const bool long_rows = scene->nodes[0] > 32 * options->nodes_per_thread;
        if (options->shell_apart) define(defines, "KF_SHELL_APART", long_rows ? 1 : 2);
        if (options->shell_lane == KF_SHELL_FLOW) define(defines, "KF_SHELL_LEADS", 1);
        if (options->in_place == 0)
            define(defines, "KF_NODES_PER_THREAD", options->nodes_per_thread);
        else
            define(defines, "KF_EXCHANGE", options->exchange);
    }
    if (options->ahead > 0) define(defines, "KF_AHEAD", options->ahead);
    if (kf_kinetic_has_chain(scene, options)) {
        define(defines, "KF_BAND_CHAIN", 1);
        define(defines, "KF_SEGMENT_LENGTH", options->segment_length);
        define(defines, "KF_WRAP", kf_kinetic_wraps(scene));
    }
    if (options->collision_split > 0) {
        define(defines, "KF_SPLIT", options->collision_split);
        return;
    }
    define(defines, "KF_FIXED_POINT_FORCE", options->fixed_point_force);
    /* After several passes the flow finds the force added up by band_join. */
    const bool aggregated = options->immersed == KF_AGGREGATED;
    define(defines, "KF_SEGMENTS", aggregated && !scene->motion.moving && scene->immersed_passes <= 1);
    if (options->segment_lanes > 1) define(defines, "KF_SEGMENT_LANES", options->segment_lanes);
    if (options->overlap) define(defines, "KF_OVERLAP", 1);
    define(defines, "KF_MOVING", scene->motion.moving);
    define(defines, "KF_STREAMING_STORES", options->streaming_stores);
    if (options->staged_nodes > 0) {
        enum { LONG_ROW = 64 };
        define(defines, "KF_STAGED", options->staged_nodes);
        define(defines, "KF_LONG_ROWS", scene->nodes[0] >= LONG_ROW);
    }
    if (options->register_cap == 0) return;
    define(defines, "KF_LAUNCH_BOUNDS", 0);
    (void)snprintf(defines->list[defines->count - 1].value, sizeof defines->list->value, "__maxnreg__(%ld)",
                   options->register_cap);
}

static void define_samples(const kf_scene *scene, kf_kinetic_defines *defines) {
    define(defines, "KF_MOVING", scene->motion.moving);
    define(defines, "KF_WRAP", kf_kinetic_wraps(scene));
}

bool kf_kinetic_sorts_with_pose(const kf_scene *scene, const kf_kinetic_options *options) {
    return options->patch_length > 0 && !scene->motion.free && options->reorder_period == 0;
}

static void define_immersed(const kf_scene *scene, const kf_kinetic_options *options,
                            kf_kinetic_defines *defines) {
    const bool aggregated = options->immersed == KF_AGGREGATED;
    define_samples(scene, defines);
    define(defines, "KF_FREE", scene->motion.free);
    if (!kf_kinetic_has_band(options)) return;
    define(defines, "KF_FIXED_POINT_FORCE", options->fixed_point_force);
    define(defines, "KF_SEGMENTS", aggregated && !scene->motion.moving);
    define(defines, "KF_CELLS", aggregated && scene->motion.moving);
    if (options->patch_length > 0) define(defines, "KF_PATCH", options->patch_length);
    if (kf_kinetic_sorts_with_pose(scene, options)) define(defines, "KF_OWN_POSE", 1);
    define(defines, "KF_SEGMENT_LENGTH", aggregated ? options->segment_length : 1);
    if (options->segment_lanes > 1) define(defines, "KF_SEGMENT_LANES", options->segment_lanes);
    if (options->overlap) define(defines, "KF_OVERLAP", 1);
}

/* Only what a file reads is defined, so that configs that differ in nothing else share the compiled module.
 */
void kf_kinetic_define(const kf_scene *scene, const kf_kinetic_options *options,
                       const kf_kinetic_geometry *geometry, kf_kinetic_source which, kf_source *source,
                       kf_kinetic_defines *defines) {
    /* Samples and their order are in the precision of the arithmetic. */
    const bool samples = which == KF_SOURCE_IMMERSED || which == KF_SOURCE_ORDER;
    defines->count = 0;
    if (which == KF_SOURCE_MOTION) {
        define(defines, "KF_FREE", scene->motion.free);
        if (scene->motion.free && options->parts > 1) define(defines, "KF_TEAM", 1);
    } else {
        const bool words = samples || options->plan == KF_PLAN_MOMENTS; /* kernels/kinetic/packed.h */
        define(defines, "KF_STORAGE",
               (long)(options->storage == KF_F16 && words ? KF_F32 : options->storage));
        const bool whole =
            which == KF_SOURCE_STATE || which == KF_SOURCE_VELOCITY || which == KF_SOURCE_BOUNDARY;
        define(defines, "KF_INDEX64", whole ? geometry->wide_domain : geometry->wide_index);
        if (options->parts > 1) define(defines, "KF_TEAM", 1);
        if (options->parts_y > 1) define(defines, "KF_CUT_Y", 1);
        if (samples && (which == KF_SOURCE_ORDER || kf_kinetic_has_band(options)))
            define_no_layout(defines);
        else
            define_layout(options, geometry, defines);
        if (!samples) define_populations(scene, options, which, defines);
    }
    if (which == KF_SOURCE_STATE && options->parts > 1) {
        if (options->parts_y > 1 && kf_kinetic_is_bounced(scene, 1)) define(defines, "KF_BOUNCED_Y", 1);
        if (kf_kinetic_is_bounced(scene, 2)) define(defines, "KF_BOUNCED_Z", 1);
    }
    if (which == KF_SOURCE_FLOW) define_flow(scene, options, defines);
    if (which == KF_SOURCE_BOUNDARY) define_faces(scene, defines);
    if (which == KF_SOURCE_IMMERSED) define_immersed(scene, options, defines);
    if (which == KF_SOURCE_ORDER) define_samples(scene, defines);
    source->file = file_of(options, which);
    source->defines = defines->list;
    source->define_count = defines->count;
}
