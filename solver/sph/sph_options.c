#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/space/options.h"
#include "base/util/vector.h"
#include "solver/sph/sph.h"

static const double PI = 3.14159265358979323846;

bool kf_sph_has_stress(const kf_particle_scene *scene) {
    return scene->material.law != KF_LAW_NEWTONIAN;
}

double kf_sph_neighbours(const kf_particle_scene *scene) {
    const double h = scene->support;
    return (scene->dimensions == 2 ? PI * h * h : 4.0 / 3.0 * PI * h * h * h) - 1.0;
}

static bool one_sum(const kf_particle_scene *scene) {
    return scene->scheme == KF_SCHEME_MODERN && !kf_sph_has_stress(scene);
}

bool kf_sph_keeps_slots(const kf_particle_scene *scene, const kf_sph_options *o) {
    return o->search == KF_SPH_STAGED && !one_sum(scene);
}

double kf_sph_stride(const kf_particle_scene *scene) {
    const double *g = scene->gravity, force = kf_length(g);
    double largest = 0.0, fall = 0.0;
    for (int i = 0; i < scene->dimensions; i++)
        fall += force > 0.0 ? fabs(g[i]) / force * scene->size[i] : 0.0;
    for (size_t k = 0; k < scene->count - scene->wall_count; k++) {
        const float *v = scene->velocity + 3 * k;
        largest = fmax(largest, sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]));
    }
    const double speed = sqrt(largest * largest + 2.0 * force * fall);
    const double step =
        scene->time_step > 0.0 ? scene->time_step : scene->courant * 0.5 * scene->support / (1.0 + speed);
    return (1.0 + 0.1 * scene->shifting) * speed * step;
}

int kf_sph_runs(const kf_sph_options *o) {
    static const int run[KF_SPH_CELL_ORDERS] = {0, 4, 2};
    const int width = 2 * o->reach + 1, side_by_side = run[o->cell_order];
    return o->cell_order == KF_SPH_ORDER_ROWS ? 1 : (width + side_by_side - 2) / side_by_side + 1;
}

int kf_sph_slots(const kf_particle_scene *scene, const kf_sph_options *o) {
    const double cell = scene->support / o->reach, row = (2 * o->reach + 1) * pow(cell, scene->dimensions);
    return o->reach == 1 && row < 28.0 ? 12 : 20;
}

/* Refuses options that the kernels do not have together, so that no config from a file gets past a plan's
 * buffers. */
static kf_status check_options(const kf_particle_scene *scene, const kf_sph_options *o, kf_error *error) {
    if (o->reach < 1 || o->reach > 2) return kf_options_refuse(error, "cells must be 1 or 2");
    if (o->prune && o->search == KF_SPH_CELLS) return kf_options_refuse(error, "prune needs rows of cells");
    if ((o->list_period > 1) != (o->skin > 0))
        return kf_options_refuse(error, "a list serves several steps when it has a skin, and only then");
    if (o->list_period > 1 && o->search != KF_SPH_LIST)
        return kf_options_refuse(error, "list_period and skin belong to search list");
    if (o->list_period < 1 || o->list_period > 64 || o->skin > 50)
        return kf_options_refuse(error, "list_period must be 1 to 64, skin 0 to 50");
    if (o->fused_count && o->list_period > 1)
        return kf_options_refuse(error, "cells are counted with the integration only where every step sorts");
    if (o->search == KF_SPH_MASKS && one_sum(scene))
        return kf_options_refuse(error, "masks need a scheme with several sums over the neighbours");
    if (o->search == KF_SPH_STAGED && o->threads > 256)
        return kf_options_refuse(error, "search staged takes up to 256 threads");
    if (o->cell_order != KF_SPH_ORDER_ROWS && scene->terrain.heights != NULL && scene->dimensions == 3)
        return kf_options_refuse(error, "on terrain cells are numbered along rows");
    if (o->lanes < 1 || o->lanes > 16 || (o->lanes & (o->lanes - 1)) != 0)
        return kf_options_refuse(error, "lanes must be 1, 2, 4, 8 or 16");
    if (o->lanes > 1 && (o->search == KF_SPH_MASKS || o->search == KF_SPH_STAGED))
        return kf_options_refuse(error,
                                 "lanes share what is looked through or listed: not with masks or staged");
    if (o->lanes > 1 && scene->count > (size_t)(INT_MAX / o->lanes))
        return kf_options_refuse(error, "too many particles for so many lanes");
    if (o->in_flight < 1 || o->in_flight > 16) return kf_options_refuse(error, "in_flight must be 1 to 16");
    if (o->threads < 32 || o->threads > 1024 || o->threads % 32 != 0)
        return kf_options_refuse(error, "threads must be a multiple of 32, 32 to 1024");
    if (o->parts > KF_SPH_PARTS)
        return kf_fail(error, KF_BAD_INPUT, "at most %d devices share particles, not %d", KF_SPH_PARTS,
                       o->parts);
    if (o->parts > 1 && (!o->ranked || o->cell_order != KF_SPH_ORDER_ROWS))
        return kf_options_refuse(error, "particles on several devices take order ranked and cell_order rows");
    if (o->resident_blocks < 0 || o->resident_blocks * o->threads > 2048)
        return kf_options_refuse(error, "resident_blocks times threads must be at most 2048");
    return KF_OK;
}

#define NUMBER(member)          KF_NUMBER(kf_sph_options, KF_OPTION_INT, member, #member, 0, 1 << 20)
#define FLAG(member, parameter) KF_FLAG(kf_sph_options, member, parameter)
#define CHOICE(member, ...)     KF_CHOICE(kf_sph_options, member, #member, __VA_ARGS__)
static const kf_config_field table[] = {
    CHOICE(search, "cells", "rows", "masks", "list", "staged"),
    CHOICE(layout, "float4", "float3", "soa"),
    CHOICE(cell_order, "rows", "bricks", "morton"),
    KF_SECOND(kf_sph_options, ranked, "order", "atomic", "ranked"),
    KF_NUMBER(kf_sph_options, KF_OPTION_INT, reach, "cells", 0, 1 << 20),
    NUMBER(list_period),
    NUMBER(skin),
    NUMBER(in_flight),
    NUMBER(lanes),
    NUMBER(threads),
    NUMBER(resident_blocks),
    FLAG(prune, "prune"),
    FLAG(fused_count, "fuse_count"),
    FLAG(graph, "graph"),
};
static const kf_config_field of_team[] = {CHOICE(transfer, "direct", "copies", "host", "nccl")};

/* Chooses the axis across which a team cuts the domain: the longest of those that are not the rows' axis. */
static int cut_axis_of(const kf_particle_scene *scene) {
    return scene->dimensions == 3 && scene->size[1] > scene->size[0] ? 1 : 0;
}

kf_status kf_sph_read_options(const kf_particle_scene *scene, const kf_config *config,
                              const kf_device_info *device, kf_sph_options *options, kf_error *error) {
    const bool gpu = kf_device_is_gpu(device);
    memset(options, 0, sizeof *options);
    options->gpu = gpu;
    options->parts = device->parts > 1 ? device->parts : 1;
    options->cut_axis = options->parts > 1 ? cut_axis_of(scene) : 0;
    KF_TRY(kf_options_read(config, table, sizeof table / sizeof *table, options, error));
    if (options->parts > 1 && kf_config_find(config, "transfer") != NULL)
        KF_TRY(kf_options_read(config, of_team, sizeof of_team / sizeof *of_team, options, error));
    if (options->resident_blocks > 0 && !gpu) return kf_options_refuse(error, "resident_blocks is for GPUs");
    if (options->lanes > 1 && !gpu) return kf_options_refuse(error, "lanes are a GPU's");
    if (options->graph && !gpu) return kf_options_refuse(error, "graph is for GPUs");
    return check_options(scene, options, error);
}

bool kf_sph_is_used(const kf_sph_options *options, kf_sph_source which) {
    return which != KF_SPH_CHECK && (which != KF_SPH_LISTS || options->search == KF_SPH_LIST);
}

/* Returns whether the scene has half-spaces or terrain. */
static bool has_walls(const kf_particle_scene *scene) {
    bool has = scene->terrain.heights != NULL;
    for (int f = 0; f < 2 * scene->dimensions; f++)
        has = has || kf_side_is_wall(scene->sides[f]);
    return has;
}

/* Defines the scene's model for the kernels: equation of state, law, walls, viscosity, and launch bounds. */
static void define_model(const kf_particle_scene *scene, const kf_sph_options *o, kf_defines *d) {
    const kf_material *m = &scene->material;
    kf_define_to(d, "KF_TERRAIN", scene->terrain.heights != NULL);
    kf_define_to(d, "KF_YIELD", (long)m->yield_kind);
    kf_define_to(d, "KF_FLOW", (long)m->branch);
    kf_define_to(d, "KF_NEWTONIAN", m->exponent == 1.0);
    kf_define_to(d, "KF_FUSED_COUNT", o->fused_count);
    kf_define_to(d, "KF_LISTS_KEPT", o->list_period > 1);
    if (scene->scheme == KF_SCHEME_THESIS) {
        kf_define_to(d, "KF_XSPH", scene->thesis.xsph > 0.0);
    } else {
        kf_define_to(d, "KF_STIFF", m->stiff);
        kf_define_to(d, "KF_TENSION", scene->tension);
        kf_define_to(d, "KF_DROPS", scene->tension && !kf_sph_has_stress(scene) && has_walls(scene));
        kf_define_to(d, "KF_BOUNDED", has_walls(scene));
        kf_define_to(d, "KF_SHIFTS", scene->shifting > 0.0);
        kf_define_to(d, "KF_DUMMIES", scene->wall_count > 0);
        kf_define_to(d, "KF_ARTIFICIAL", scene->artificial > 0.0);
        if (scene->impact > 0.0) kf_define_to(d, "KF_IMPACT", 1);
        if (scene->central_viscosity) kf_define_to(d, "KF_CENTRAL", 1);
        kf_define_to(d, "KF_VISCOUS", m->viscosity > 0.0);
    }
    if (o->resident_blocks == 0) return;
    kf_define_text(d, "KF_LAUNCH_BOUNDS", "__launch_bounds__(%d,%d)", o->threads, o->resident_blocks);
}

/* Defines only macros that a file reads, so that configs without other differences share the compiled module.
 */
void kf_sph_define(const kf_particle_scene *scene, const kf_sph_options *options, kf_sph_source which,
                   kf_source *source, kf_defines *defines) {
    static const int layouts[KF_SPH_LAYOUTS] = {4, 3, 1};
    static const char *const files[KF_SPH_SOURCES] = {"kernels/sph/modern.cu", "kernels/sph/sort.cu",
                                                      "kernels/sph/state.cu", "kernels/sph/lists.cu",
                                                      "kernels/sph/check.cu"};
    long periodic = 0;
    for (int axis = 0; axis < scene->dimensions; axis++)
        if (scene->sides[2 * axis] == KF_SIDE_PERIODIC) periodic |= 1L << axis;
    defines->count = 0;
    kf_define_to(defines, "KF_DIMENSIONS", scene->dimensions);
    kf_define_to(defines, "KF_LAYOUT", layouts[options->layout]);
    kf_define_to(defines, "KF_COLUMNS", scene->terrain.heights != NULL && scene->dimensions == 3);
    if (which != KF_SPH_STATE && options->cell_order != KF_SPH_ORDER_ROWS)
        kf_define_to(defines, "KF_CELL_ORDER", (long)options->cell_order);
    kf_define_to(defines, "KF_PERIODIC", periodic);
    if (options->parts > 1 && (options->gpu || which == KF_SPH_SORT)) kf_define_to(defines, "KF_TEAM", 1);
    kf_define_to(defines, "KF_STRESS", kf_sph_has_stress(scene));
    if (which == KF_SPH_SCHEME || which == KF_SPH_LISTS || which == KF_SPH_CHECK) {
        const kf_sph_search search = which == KF_SPH_LISTS ? KF_SPH_STAGED : options->search;
        kf_define_to(defines, "KF_REACH", options->reach);
        kf_define_to(defines, "KF_PRUNE", options->prune);
        kf_define_to(defines, "KF_SEARCH", (long)search);
        kf_define_to(defines, "KF_IN_FLIGHT", options->in_flight);
        if (search == KF_SPH_STAGED) {
            kf_define_to(defines, "KF_STAGE_SLOTS", kf_sph_slots(scene, options));
            kf_define_to(defines, "KF_SUM_THREADS",
                         which == KF_SPH_SCHEME ? options->threads : KF_SPH_THREADS);
            kf_define_to(defines, "KF_KEEPS_SLOTS", kf_sph_keeps_slots(scene, options));
        }
    }
    if (options->lanes > 1 && (which == KF_SPH_SCHEME || which == KF_SPH_CHECK))
        kf_define_to(defines, "KF_LANES", options->lanes);
    if (which == KF_SPH_SCHEME) define_model(scene, options, defines);
    if (which == KF_SPH_STATE) kf_define_to(defines, "KF_STIFF", scene->material.stiff);
    if (which == KF_SPH_STATE && scene->scheme == KF_SCHEME_THESIS) kf_define_to(defines, "KF_CLIPPED", 1);
    *source = (kf_source){.file = which == KF_SPH_SCHEME && scene->scheme == KF_SCHEME_THESIS
                                      ? "kernels/sph/thesis.cu"
                                      : files[which],
                          .defines = defines->list,
                          .define_count = defines->count};
}
