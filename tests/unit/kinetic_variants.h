/* The space of the kinetic system on the cpu, and the configs of it that tests use. */
#ifndef KF_TESTS_UNIT_KINETIC_VARIANTS_H
#define KF_TESTS_UNIT_KINETIC_VARIANTS_H

#include "base/space/space_nearest.h"
#include "solver/kinetic/kinetic.h"
#include "tests/unit/kinetic_fixture.h"
#include "tests/unit/sanitized.h"

static inline kf_scene *open_scene(const char *name, long nodes) {
    kf_scene *scene = open_shipped_scene(name, nodes);
    scene->accuracy = 0.02;
    return scene;
}

enum {
    LEAST_VALUES = 3,
    LEAST_VARIANTS = SANITIZED ? LEAST_VALUES : 6
}; /* that a test verifies; a filter that wants fewer shows */

/* Opens a scene for tests of many variants. Sanitizers do not look into kernels, so under them it has the
 * collision that compiles fastest. */
static inline kf_scene *open_scene_of_variants(const char *name, long nodes) {
    kf_scene *scene = open_scene(name, nodes);
    if (SANITIZED) {
        scene->collision = KF_BGK;
        scene->viscosity = 0.05;
    }
    return scene;
}

/* Opens a space. With `blocks` it has blocks of one size, for tests that visit the whole space. */
static inline kf_space *open_space_with(const kf_scene *scene, bool blocks) {
    static const char *const fixed[] = {"register_cap=0",
                                        "concurrent_solid=false",
                                        "boundary_choices=false", /* of no use on the cpu */
                                        "slab=0",                 /* test_kinetic_shift.c */
                                        "masked_band=false",
                                        "overlap=false", /* of a GPU's launches */
                                        "boundary_rows_apart=false",
                                        "band_chain=false",
                                        "solid_block=128",
                                        "segment_lanes=1", /* test_kinetic_band.c */
                                        "patch_length=0",
                                        "keep_streamed=false",
                                        "prefetch_rows=0",
                                        "alternate=false", /* test_kinetic_shift.c */
                                        "block_x=64",
                                        "block_y=2"};
    const int count = (int)(sizeof fixed / sizeof *fixed);
    return open_space_with_gpu(scene, fixed, blocks ? count : count - 2);
}
static inline kf_space *open_space(const kf_scene *scene) {
    return open_space_with(scene, false);
}

/* Takes a preset of a GPU's space. If that has what only a GPU can do, the preset goes without. */
static inline void take_preset(const kf_space *space, const char *name, kf_config *config) {
    kf_error error = {0};
    must(kf_space_preset(space, name, config, &error), &error);
    if (strcmp(kf_backend_device(backend)->backend, "cpu") != 0) return;
    kf_config_set_integer(config, "segment_lanes", 1);
    kf_config_set_boolean(config, "alternate", false);
    kf_config_set_boolean(config, "masked_band", false);
    kf_config_set_boolean(config, "overlap", false);
    kf_config_set_boolean(config, "boundary_rows_apart", false);
    kf_config_set_integer(config, "register_cap", 0);
}

/* Returns the config that has these values ("PARAMETER=VALUE") and otherwise the device's defaults, as far
 * as the constraints allow. */
static inline kf_config nearest_config(const kf_scene *scene, const char *const *values, int count) {
    kf_error error = {KF_OK, ""};
    kf_config config;
    kf_space *space =
        open_space_of(scene, strcmp(kf_backend_device(backend)->backend, "cpu") != 0, values, count);
    must(kf_space_nearest(space, &config, &error), &error);
    kf_space_free(space);
    return config;
}

/* Verifies the configs nearest to sets of one or two values after 20 steps, and prints how far each is off.
 */
enum { NEAREST_STEPS = 20, MOST_VALUES = 2 };
static inline void verify_nearest(const kf_scene *scene, const char *const (*values)[MOST_VALUES],
                                  int count) {
    kf_error error = {KF_OK, ""};
    kf_reference *reference;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), NEAREST_STEPS, &reference, &error),
         &error);
    for (int c = 0; c < count; c++) {
        const kf_config config = nearest_config(scene, values[c], values[c][1] != NULL ? 2 : 1);
        const double off = verify_config(kinetic_system, scene, &config, reference, NEAREST_STEPS);
        print_message("%s: off by %.2g\n", values[c][0], off);
    }
    kinetic_system->free_reference(reference);
}

/* Wants one value of each parameter that only divides the work in other ways. The order of samples and the
 * number of boundary kernels go together, so that each of their values occurs in every combination of the
 * others. */
static inline bool is_representative(const kf_scene *scene, const kf_config *config) {
    const bool one_high_order_rate = kf_kinetic_has_one_high_order_rate(scene);
    kf_error error = {0};
    long alpha = integer_of(config, "alpha"), length = integer_of(config, "sample_block_length");
    long boundaries = integer_of(config, "boundary_kernels");
    bool folded = boundaries == 0, six = boundaries == 6, csoa = alpha == 32, single_cells = length == 1;
    const char *plan = "", *storage = "", *layout = "", *form = "", *streams = "", *order = "";
    must(kf_config_name(config, "plan", &plan, &error), &error);
    must(kf_config_name(config, "storage", &storage, &error), &error);
    must(kf_config_name(config, "layout", &layout, &error), &error);
    must(kf_config_name(config, "collision_form", &form, &error), &error);
    must(kf_config_name(config, "streaming", &streams, &error), &error);
    must(kf_config_name(config, "sample_order", &order, &error), &error);
    bool fused = strcmp(plan, "fused") == 0, soa = strcmp(layout, "soa") == 0;
    bool single = strcmp(storage, "f32") == 0, half = strcmp(storage, "f16") == 0;
    if (strcmp(form, one_high_order_rate && fused && (soa || half) ? "low_order" : "factorised") != 0 ||
        integer_of(config, "collision_split") > 2)
        return false;                                /* test_collision.c */
    if (strcmp(streams, "shift") == 0) return false; /* test_kinetic_shift.c */
    if (strcmp(order, single_cells || fused ? "morton" : "cells") != 0)
        return false; /* test_kinetic_plans.c */
    /* The whole collision of doubles in groups takes the compiler 40 s, so two of these three are taken
     * each time. */
    if (!fused && !single && !half && csoa && integer_of(config, "collision_split") == 1) return false;
    bool pairs = half ? csoa : single && soa && fused && !single_cells;
    long segment = integer_of(config, "segment_length");
    bool folds = fused && !single_cells &&
                 (single || half ? csoa : soa); /* the slowest to compile: once for each storage type */
    return (alpha == 1 || csoa) && length <= 2 &&
           (single_cells ? six
            : folds      ? folded
                         : boundaries == 1) &&
           (segment == 16 || (single_cells && single && soa && segment == 4)) &&
           integer_of(config, "nodes_per_thread") == (pairs ? 2 : 1) && integer_of(config, "block_x") == 64 &&
           integer_of(config, "block_y") == 2 &&
           integer_of(config, "block_z") <= 2; /* 256 threads: as many as a GPU takes of any kernel */
}

/* Wants half of the variants: those with one order of the samples. */
static inline bool is_enough(const kf_scene *scene, const kf_config *config) {
    return is_representative(scene, config) && integer_of(config, "sample_block_length") == 2;
}

/* Wants configs that differ in what happens to samples and band, with one storage type and layout. */
static inline bool is_about_samples(const kf_scene *scene, const kf_config *config) {
    kf_error error = {0};
    const char *storage = "", *layout = "";
    must(kf_config_name(config, "storage", &storage, &error), &error);
    must(kf_config_name(config, "layout", &layout, &error), &error);
    return is_enough(scene, config) && strcmp(storage, "f32") == 0 && strcmp(layout, "soa") == 0;
}

/* Verify the wanted configs. The second does so for a scene in which pairs of values need not occur again. */
static inline int verify_variants(const kf_scene *scene, int steps, config_filter wanted) {
    return verify_configs(scene, open_space_with(scene, true), steps, wanted, true);
}
static inline int verify_values(const kf_scene *scene, int steps, config_filter wanted) {
    return verify_configs(scene, open_space_with(scene, true), steps, wanted, false);
}

/* Returns the fields after this number of steps of the default config. The caller frees them. */
static inline kf_fields fields_after(const kf_scene *scene, uint64_t steps) {
    kf_error error = {0};
    kf_space *space = open_space(scene);
    kf_config config;
    kf_fields fields = {0};
    take_preset(space, "default", &config);
    kf_plan *plan = open_plan(scene, &config);
    advance(plan, steps);
    must(plan->methods->flow->fields(plan, &fields, &error), &error);
    kf_plan_free(plan);
    kf_space_free(space);
    return fields;
}

#endif
