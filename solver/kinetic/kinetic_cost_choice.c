#include "solver/kinetic/kinetic_cost_choice.h"

#include <math.h>
#include <string.h>

static const kf_collision_form forms[] = {{"factorised", 735, 48, 56, 56},
                                          {"low_order", 556, 64, 72, 56},
                                          {"shared", 2110, 128, 168, 84},
                                          {"expanded", 2620, 168, 255, 84}};

static double number(const kf_config *config, const char *name, double fallback) {
    long value;
    return kf_config_integer(config, name, &value, NULL) == KF_OK ? (double)value : fallback;
}

/* "" for a parameter that the config lacks. */
static const char *name_of(const kf_config *config, const char *name) {
    const char *given;
    return kf_config_name(config, name, &given, NULL) == KF_OK ? given : "";
}

static const kf_collision_form *read_form(const char *name) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(name, forms[i].name) == 0) return &forms[i];
    return forms;
}

static bool same(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

static void read_names(const kf_config *config, kf_kinetic_choice *choice) {
    const char *plan = name_of(config, "plan"), *streaming = name_of(config, "streaming"),
               *layout = name_of(config, "layout"), *storage = name_of(config, "storage"),
               *immersed = name_of(config, "immersed_boundary");
    choice->baseline = same(plan, "baseline");
    choice->moments = same(plan, "moments");
    choice->fused = choice->moments || same(plan, "fused");
    choice->in_place = same(streaming, "in_place");
    choice->esoteric = same(streaming, "esoteric");
    choice->form = read_form(name_of(config, "collision_form"));
    choice->aos = same(layout, "aos");
    choice->alpha = same(layout, "csoa") ? number(config, "alpha", 1) : choice->aos ? 1 : INFINITY;
    choice->gather = same(immersed, "gather");
    choice->aggregated = same(immersed, "aggregated");
    choice->fixed = same(name_of(config, "force_sum"), "fixed");
    choice->value_bytes = same(storage, "f64") ? 8 : same(storage, "f16") ? 2 : 4;
}

kf_kinetic_choice kf_read_kinetic_choice(const kf_config *config) {
    kf_kinetic_choice choice = {.morton = true};
    read_names(config, &choice);
    (void)kf_config_boolean(config, "morton", &choice.morton, NULL);
    (void)kf_config_boolean(config, "exchange", &choice.exchange, NULL);
    (void)kf_config_boolean(config, "concurrent_solid", &choice.concurrent, NULL);
    (void)kf_config_boolean(config, "keep_streamed", &choice.keeps, NULL);
    (void)kf_config_boolean(config, "masked_band", &choice.masked, NULL);
    (void)kf_config_boolean(config, "overlap", &choice.overlap, NULL);
    (void)kf_config_boolean(config, "band_chain", &choice.chain, NULL);
    (void)kf_config_boolean(config, "alternate", &choice.alternate, NULL);
    (void)kf_config_boolean(config, "shell_apart", &choice.shell_apart, NULL);
    choice.velocities = number(config, "velocities", 27);
    choice.slab = number(config, "slab", 0);
    choice.split = number(config, "collision_split", 0);
    choice.block_x = number(config, "block_x", 128);
    choice.block_y = number(config, "block_y", 1);
    choice.boundary_kernels = number(config, "boundary_kernels", 1);
    choice.block_length = number(config, "sample_block_length", 1);
    choice.segment = number(config, "segment_length", 16);
    choice.lanes = number(config, "segment_lanes", 1);
    choice.patch = number(config, "patch_length", 0);
    choice.reorder = number(config, "reorder_period", 0);
    choice.nodes_per_thread = number(config, "nodes_per_thread", 1);
    choice.register_cap = number(config, "register_cap", 0);
    choice.march = number(config, "march", 64);
    return choice;
}
