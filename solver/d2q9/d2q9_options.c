#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/space/options.h"
#include "base/util/text.h"
#include "scene/scene.h"
#include "solver/d2q9/d2q9.h"

/* 16-bit storage needs this accuracy, as in variants/d2q9.json. Its error is 0.0005 to 0.003 in ten steps. */
static const double f16_accuracy = 0.005;

/* Bytes of the kernel temporal's shared memory. */
static long shared_bytes(const kf_d2q9_options *o) {
    enum { RING_ROWS = 20 };
    long real = o->storage == KF_D2Q9_F64 ? sizeof(double) : sizeof(float);
    return (o->steps_per_launch - 1L) * (o->threads + 2L) * RING_ROWS * real;
}

/* Refuses what plan temporal cannot do: even numbers of steps, open faces, more shared memory than a block
 * has. */
static kf_status check_temporal(const kf_scene *scene, const kf_d2q9_options *o, kf_error *error) {
    enum { SHARED_LIMIT = 49152, MOST_STEPS = 7 };
    bool temporal = o->plan == KF_D2Q9_TEMPORAL;
    if (temporal != (o->steps_per_launch > 1) || temporal != (o->tile_rows > 0))
        return kf_options_refuse(
            error, "steps_per_launch > 1 and tile_rows > 0 belong to plan temporal, and to it alone");
    if (!temporal) return KF_OK;
    if (o->steps_per_launch % 2 == 0 || o->steps_per_launch < 3 || o->steps_per_launch > MOST_STEPS)
        return kf_options_refuse(error, "steps_per_launch must be 1, 3, 5 or 7");
    if (o->tile_rows > 16384) return kf_options_refuse(error, "tile_rows must be at most 16384");
    if (kf_d2q9_is_open(scene))
        return kf_options_refuse(error,
                                 "plan temporal needs faces that are walls or periodic, and no open nodes");
    if (shared_bytes(o) > SHARED_LIMIT)
        return kf_options_refuse(error,
                                 "plan temporal needs more than 48 KiB of shared memory a block: use fewer "
                                 "threads or fewer steps a launch");
    return KF_OK;
}

/* Refuses options that the kernels do not have together, so that no config from a file gets past a plan's
 * buffers. */
static kf_status check_options(const kf_scene *scene, const kf_d2q9_options *o, kf_error *error) {
    bool toelke = o->plan == KF_D2Q9_TOELKE, solid = kf_d2q9_has_solid(scene);
    if (o->storage == KF_D2Q9_F16 && scene->accuracy < f16_accuracy)
        return kf_options_refuse(
            error, "storage f16 needs a scene whose model.accuracy allows an error of 0.005 or more");
    if (o->alpha < 1 || (o->alpha & (o->alpha - 1)) != 0 || o->alpha > 1L << 30)
        return kf_options_refuse(error, "alpha must be a power of two");
    if ((o->layout == KF_D2Q9_CSOA) != (o->alpha > 1))
        return kf_options_refuse(error, "alpha > 1 belongs to layout csoa, and to it alone");
    if (o->full_way && !solid)
        return kf_options_refuse(error, "bounce_back full_way needs a scene with solid nodes");
    if (toelke && (o->layout != KF_D2Q9_SOA || (solid && !o->full_way)))
        return kf_options_refuse(
            error, "plan toelke has layout soa, and bounce_back full_way where there are solid nodes");
    if (o->threads < 32 || o->threads > 1024 || o->threads % 32 != 0)
        return kf_options_refuse(error, "threads must be a multiple of 32, 32 to 1024");
    if (o->nodes_per_thread != 1 && o->nodes_per_thread != 2 && o->nodes_per_thread != 4)
        return kf_options_refuse(error, "nodes_per_thread must be 1, 2 or 4");
    bool vector = o->plan == KF_D2Q9_PULL || o->plan == KF_D2Q9_SEPARATE;
    if (o->nodes_per_thread > 1 && (!vector || o->layout == KF_D2Q9_AOS ||
                                    (o->layout == KF_D2Q9_CSOA && o->alpha < o->nodes_per_thread)))
        return kf_options_refuse(error,
                                 "several nodes a thread need plan pull or separate, and a layout that keeps "
                                 "them side by side");
    if (o->folded_boundary && ((o->plan != KF_D2Q9_PULL && o->plan != KF_D2Q9_IN_PLACE) ||
                               o->nodes_per_thread != 1 || kf_d2q9_is_open(scene)))
        return kf_options_refuse(
            error,
            "folded_boundary needs plan pull or inplace, one node a thread, and faces that are walls or "
            "periodic, without open nodes");
    if (o->resident_blocks < 0 || o->resident_blocks * o->threads > 2048)
        return kf_options_refuse(error, "resident_blocks times threads must be at most 2048");
    return check_temporal(scene, o, error);
}

static kf_status check_team(const kf_scene *scene, const kf_d2q9_options *options, kf_error *error) {
    if (options->parts == 1) return KF_OK;
    if (options->plan == KF_D2Q9_TEMPORAL)
        return kf_options_refuse(error, "plan temporal runs on one device; use another plan");
    if (options->parts > scene->nodes[1])
        return kf_fail(error, KF_BAD_INPUT, "%d devices are too many for %d rows", options->parts,
                       scene->nodes[1]);
    return KF_OK;
}

#define NUMBER(member)      KF_NUMBER(kf_d2q9_options, KF_OPTION_INT, member, #member, 0, 1 << 30)
#define FLAG(member)        KF_FLAG(kf_d2q9_options, member, #member)
#define CHOICE(member, ...) KF_CHOICE(kf_d2q9_options, member, #member, __VA_ARGS__)
static const kf_config_field table[] = {
    CHOICE(plan, "toelke", "separate", "pull", "push", "inplace", "temporal"),
    CHOICE(layout, "aos", "soa", "csoa"),
    CHOICE(storage, "f16", "f32", "f64"),
    KF_SECOND(kf_d2q9_options, full_way, "bounce_back", "half_way", "full_way"),
    KF_NUMBER(kf_d2q9_options, KF_OPTION_LONG, alpha, "alpha", LONG_MIN, LONG_MAX),
    NUMBER(threads),
    NUMBER(nodes_per_thread),
    NUMBER(steps_per_launch),
    NUMBER(tile_rows),
    NUMBER(resident_blocks),
    FLAG(graph),
    FLAG(folded_boundary),
    FLAG(overlap),
    FLAG(alternate),
};

kf_status kf_d2q9_read_options(const kf_scene *scene, const kf_config *config, const kf_device_info *device,
                               kf_d2q9_options *options, kf_error *error) {
    const bool gpu = kf_device_is_gpu(device);
    memset(options, 0, sizeof *options);
    KF_TRY(kf_options_read(config, table, sizeof table / sizeof *table, options, error));
    if (options->overlap && (!gpu || !options->folded_boundary))
        return kf_options_refuse(error, "overlap belongs to folded_boundary, on a GPU");
    if (options->alternate && !options->folded_boundary)
        return kf_options_refuse(error, "alternate belongs to folded_boundary");
    if (options->resident_blocks > 0 && !gpu) return kf_options_refuse(error, "resident_blocks is for GPUs");
    if (options->graph && !gpu) return kf_options_refuse(error, "graph is for GPUs");
    while (1L << options->alpha_log2 < options->alpha)
        options->alpha_log2++;
    options->parts = device->parts > 1 ? device->parts : 1;
    /* A step waits for the neighbouring parts. */
    if (options->parts > 1) options->overlap = false;
    KF_TRY(check_team(scene, options, error));
    return check_options(scene, options, error);
}

bool kf_d2q9_has_solid(const kf_scene *scene) {
    if (scene->mask == NULL) return false;
    return memchr(scene->mask, KF_NODE_SOLID, (size_t)scene->nodes[0] * (size_t)scene->nodes[1]) != NULL;
}

bool kf_d2q9_is_open(const kf_scene *scene) {
    for (int face = 0; face < 4; face++)
        if (scene->faces[face] != KF_PERIODIC && scene->faces[face] != KF_WALL) return true;
    if (scene->mask == NULL) return false;
    size_t count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1];
    return memchr(scene->mask, KF_NODE_INFLOW, count) != NULL ||
           memchr(scene->mask, KF_NODE_OUTFLOW, count) != NULL;
}

bool kf_d2q9_is_linear(const kf_scene *scene) {
    return scene->collision == KF_BGK_LINEAR || scene->collision == KF_MRT_LINEAR;
}

void kf_d2q9_rates(const kf_scene *scene, double rates[4]) {
    double v = 1.0 / (3.0 * scene->viscosity + 0.5); /* Eq. 7 */
    rates[0] = rates[1] = rates[2] = rates[3] = v;
    if (scene->collision == KF_MRT) rates[1] = rates[2] = rates[3] = 1.0;
    if (scene->collision == KF_MRT_LINEAR) rates[2] = 8.0 * (2.0 - v) / (8.0 - v); /* Eq. 9 */
}

/* Columns that a temporal tile writes: whole sectors of 32 bytes. */
int kf_d2q9_tile_width(const kf_d2q9_options *options) {
    return (options->threads - 2 * (options->steps_per_launch - 1)) / 8 * 8;
}

void kf_d2q9_lay_out(const kf_scene *scene, const kf_d2q9_options *options, int first_row, int rows,
                     kf_d2q9_geometry *geometry) {
    /* In nodes. Several nodes per thread reach beyond the end of a row. */
    enum { ALIGNMENT = 32, PAST_END = 3 };
    /* Rows on both sides. */
    const int beyond = options->slab ? KF_D2Q9_BESIDE + 1 : 1;
    geometry->first_row = first_row;
    geometry->rows = rows;
    long long pitch = (scene->nodes[0] + 2 + PAST_END + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    geometry->row_pitch = (int)pitch;
    geometry->origin = ALIGNMENT - pitch * (first_row - beyond + 1);
    long long capacity = pitch * (rows + 2 * beyond) + 2 * ALIGNMENT;
    long long group =
        options->layout == KF_D2Q9_CSOA && options->alpha > ALIGNMENT ? options->alpha : ALIGNMENT;
    capacity = (capacity + group - 1) / group * group;
    /* Arrays a high power of two apart would map all nine to the same cache sets and memory channels. */
    if (options->layout == KF_D2Q9_SOA && capacity % 2048 == 0) capacity += 3 * ALIGNMENT;
    geometry->capacity = capacity;
    geometry->index64 = capacity > 2147483647LL / 9;
}

static long model_number(kf_collision collision) {
    const bool linear = collision == KF_BGK_LINEAR || collision == KF_MRT_LINEAR,
               mrt = collision == KF_MRT || collision == KF_MRT_LINEAR;
    return (linear ? KF_LINEAR_MODEL : 0) + (mrt ? KF_MRT_MODEL : 0);
}

/* Defines what the flow's kernel needs of config and scene. */
static void define_flow(const kf_scene *scene, const kf_d2q9_options *options, kf_defines *defines) {
    kf_define_to(defines, "KF_FULL_WAY", options->full_way);
    if (options->plan == KF_D2Q9_TOELKE || options->plan == KF_D2Q9_TEMPORAL)
        kf_define_to(defines, "KF_THREADS", options->threads);
    else
        kf_define_to(defines, "KF_NODES", options->nodes_per_thread);
    if (options->folded_boundary) kf_define_to(defines, "KF_FOLDED", 1);
    if (options->folded_boundary && options->parts > 1) kf_define_to(defines, "KF_TEAM", 1);
    if (options->overlap) kf_define_to(defines, "KF_OVERLAP", 1);
    if (options->alternate) kf_define_to(defines, "KF_ALTERNATE", 1);
    if (options->folded_boundary || options->plan == KF_D2Q9_TEMPORAL) {
        kf_define_to(defines, "KF_PERIODIC_X", scene->faces[KF_XMIN] == KF_PERIODIC);
        kf_define_to(defines, "KF_PERIODIC_Y", !options->slab && scene->faces[KF_YMIN] == KF_PERIODIC);
    }
    if (options->resident_blocks > 0) {
        kf_define_text(defines, "KF_LAUNCH_BOUNDS", "__launch_bounds__(%d,%d)", options->threads,
                       options->resident_blocks);
    }
    if (options->plan != KF_D2Q9_TEMPORAL) return;
    kf_define_to(defines, "KF_LEVELS", options->steps_per_launch);
    kf_define_to(defines, "KF_TILE_WIDTH", kf_d2q9_tile_width(options));
    kf_define_to(defines, "KF_HALF_WAY", kf_d2q9_has_solid(scene) && !options->full_way);
}

/* Defines only macros that a file reads, so that configs without other differences share the compiled module.
 */
void kf_d2q9_define(const kf_scene *scene, const kf_d2q9_options *options, const kf_d2q9_geometry *geometry,
                    kf_d2q9_source which, kf_source *source, kf_defines *defines) {
    static const char *const faces[4] = {"KF_FACE_0", "KF_FACE_1", "KF_FACE_2", "KF_FACE_3"};
    const double *force = scene->body_force;
    defines->count = 0;
    kf_define_to(defines, "KF_STORAGE", (long)options->storage);
    kf_define_to(defines, "KF_LAYOUT", (long)options->layout);
    kf_define_to(defines, "KF_ALPHA_LOG2", options->alpha_log2);
    kf_define_to(defines, "KF_INDEX64", geometry->index64);
    if (which == KF_D2Q9_BOUNDARY) {
        for (int face = 0; face < 4; face++) {
            const bool cut = options->slab && face / 2 == 1 && scene->faces[face] == KF_PERIODIC;
            kf_define_to(defines, faces[face], cut ? KF_COPIED_FACE : (long)scene->faces[face]);
        }
        kf_define_to(defines, "KF_PARABOLIC", scene->parabolic_inflow);
        if (options->slab) kf_define_to(defines, "KF_SLAB", 1);
        unsigned char *beyond = kf_d2q9_beyond(scene);
        if (beyond != NULL) kf_define_to(defines, "KF_SOLID_BEYOND", 1);
        free(beyond);
    } else {
        kf_define_to(defines, "KF_MODEL", model_number(scene->collision));
        kf_define_to(defines, "KF_BODY_FORCE", force[0] != 0.0 || force[1] != 0.0);
    }
    if (which == KF_D2Q9_FLOW) define_flow(scene, options, defines);
    *source = (kf_source){.file = which == KF_D2Q9_BOUNDARY           ? "kernels/d2q9/boundary.cu"
                                  : which == KF_D2Q9_STATE            ? "kernels/d2q9/state.cu"
                                  : options->plan == KF_D2Q9_TOELKE   ? "kernels/d2q9/toelke.cu"
                                  : options->plan == KF_D2Q9_TEMPORAL ? "kernels/d2q9/temporal.cu"
                                                                      : "kernels/d2q9/step.cu",
                          .defines = defines->list,
                          .define_count = defines->count};
}
