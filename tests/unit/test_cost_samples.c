/* Tests the cost model's counts of samples, band and outflows in the kinetic system against exact counts.
 * Faults: a formula that is right for one shape of solid only. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/memory.h"
#include "cost_model/model.h"
#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/kinetic_cost.h"
#include "tests/unit/check.h"
#include "tests/unit/config_changes.h"
#include "tests/unit/modelled_gpu.h"
#include "tests/unit/problem_fixture.h"

static double sectors_counted(const kf_scene *scene, int block_length, bool morton) {
    const kf_samples *samples = &scene->samples;
    kf_ordering ordering;
    uint32_t *order = kf_allocate(samples->count * sizeof *order);
    kf_ordering_begin(&ordering, block_length, morton, scene->solid_low, scene->solid_high);
    kf_ordering_sort(&ordering, samples->count, samples->x, samples->y, samples->z, order);
    size_t total = 0, warps = samples->count / 32;
    for (size_t w = 0; w < warps; w++) {
        long long found[256];
        size_t count = 0;
        for (size_t i = 32 * w; i < 32 * (w + 1); i++)
            for (int c = 0; c < 8; c++) {
                long long x = (long long)floor(samples->x[order[i]]) + (c & 1),
                          y = (long long)floor(samples->y[order[i]]) + (c >> 1 & 1),
                          z = (long long)floor(samples->z[order[i]]) + (c >> 2);
                long long sector = (x + scene->nodes[0] * (y + scene->nodes[1] * z)) / 8;
                size_t known = 0;
                while (known < count && found[known] != sector)
                    known++;
                if (known == count) found[count++] = sector;
            }
        total += count;
    }
    free(order);
    return (double)total / (double)warps;
}

/* The survey looks at some warps, and its mean is about that of all. */
static void test_sectors_of_samples(void **state) {
    (void)state;
    const kf_scene_options options = {.nodes = {64, 48, 48}};
    kf_scene *scene = NULL;
    assert_int_equal(kf_scene_open("concave", &options, &scene, NULL), KF_OK);
    kf_sample_survey survey;
    kf_sample_survey_open(scene, &survey);
    assert_true(survey.band_nodes > 8 && survey.band_nodes < 64 * 48 * 48);
    assert_true(survey.samples_per_cell > 1);
    static const int lengths[] = {1, 2, 4, 16};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int morton = 0; morton < 2; morton++) {
            double surveyed = kf_sample_survey_sectors(&survey, lengths[i], morton != 0);
            double counted = sectors_counted(scene, lengths[i], morton != 0);
            print_message("block length %d, morton %d: %.1f sectors surveyed, %.1f counted\n", lengths[i],
                          morton, surveyed, counted);
            assert_true(surveyed > 0.75 * counted && surveyed < 1.35 * counted);
        }
    kf_sample_survey_close(&survey);
    kf_scene_free(scene);
}

static double amount_of(const kf_scene *scene, const kf_config *config, const char *name,
                        kf_resource resource) {
    const kf_problem *problem = problem_of(&kf_system_kinetic, scene);
    kf_error error = {KF_OK, ""};
    kf_works works = {.count = 0};
    void *model = kf_cost_kinetic.open(problem, &gpu);
    if (kf_cost_kinetic.works(model, config, &works, &error) != KF_OK) fail_msg("%s", error.message);
    double amount = 0;
    for (size_t i = 0; i < works.count; i++)
        if (strcmp(works.list[i].name, name) == 0) amount += works.list[i].amount[resource];
    kf_works_free(&works);
    kf_cost_kinetic.close(model);
    return amount;
}

static kf_config config_of(const char *plan) {
    kf_config config = {.system = "kinetic"};
    kf_config_set_name(&config, "plan", plan);
    change_config(&config, "layout=soa storage=f32 streaming=two_grids collision_form=factorised");
    kf_config_set_name(&config, "immersed_boundary", strcmp(plan, "fused") == 0 ? "aggregated" : "scatter");
    kf_config_set_integer(&config, "boundary_kernels", 1);
    return config;
}

static kf_scene *opened_scene(void) {
    const kf_scene_options options = {.nodes = {64, 48, 40}};
    kf_error error = {KF_OK, ""};
    kf_scene *scene = NULL;
    if (kf_scene_open("ball", &options, &scene, &error) != KF_OK) fail_msg("%s", error.message);
    return scene;
}

/* An outflow reads all 27 values of a face's nodes: across x each in a sector of its own, otherwise eight
 * in one. */
static void test_works_of_outflows(void **state) {
    (void)state;
    kf_scene *scene = opened_scene();
    const kf_config config = config_of("baseline");
    for (int axis = 0; axis < 3; axis++) {
        for (int face = 0; face < KF_FACES; face++)
            scene->faces[face] = KF_FREE_SLIP;
        scene->faces[2 * axis + 1] = KF_OUTFLOW;
        const int *n = scene->nodes;
        const double area = (double)n[0] * n[1] * n[2] / n[axis];
        assert_near(amount_of(scene, &config, "convect_outflow", KF_COST_SCATTERED),
                    axis == 0 ? 27 * area : 27 * area / 8, 1e-12);
    }
    kf_scene_free(scene);
}

/* The band's nodes, counted: of three values of each one is a partial access. */
static void test_works_on_the_band(void **state) {
    (void)state;
    kf_scene *scene = opened_scene();
    const kf_config config = config_of("fused");
    const int *n = scene->nodes;
    unsigned char *touched = kf_allocate_zeroed((size_t)n[0] * (size_t)n[1] * (size_t)n[2], 1);
    size_t band = 0;
    for (size_t s = 0; s < scene->samples.count; s++)
        for (int c = 0; c < 8; c++) {
            const size_t x = (size_t)floor(scene->samples.x[s]) + (c & 1),
                         y = (size_t)floor(scene->samples.y[s]) + (c >> 1 & 1),
                         z = (size_t)floor(scene->samples.z[s]) + (c >> 2 & 1),
                         node = x + (size_t)n[0] * (y + (size_t)n[1] * z);
            band += touched[node] == 0;
            touched[node] = 1;
        }
    free(touched);
    assert_near(amount_of(scene, &config, "band_macroscopic", KF_COST_PARTIAL), 27.0 / 3 * (double)band,
                1e-12);
    assert_near(amount_of(scene, &config, "band_collide", KF_COST_PARTIAL), 54.0 / 3 * (double)band, 1e-12);
    kf_scene_free(scene);
}

/* With one sample in each cell of a row, any 32 in sequence touch the sectors of four rows of nodes. The
 * survey of some is compared with the mean over all. */
static void test_sectors_of_a_row(void **state) {
    (void)state;
    enum { CELLS = 60 };
    kf_scene *scene = opened_scene();
    assert_true(scene->samples.count > CELLS);
    scene->samples.count = CELLS;
    for (int i = 0; i < CELLS; i++) {
        scene->samples.x[i] = 1.5 + i;
        scene->samples.y[i] = scene->samples.z[i] = 8.5;
    }
    for (int axis = 0; axis < 3; axis++) {
        scene->solid_low[axis] = axis == 0 ? 1.5 : 8.5;
        scene->solid_high[axis] = axis == 0 ? 0.5 + CELLS : 8.5;
    }
    double expected = 0;
    for (int first = 1; first <= CELLS; first++) {
        const int last = first + 32 <= CELLS + 1 ? first + 32 : CELLS + 1; /* nodes */
        const int sectors = last / 8 - first / 8 + 1;
        expected += 4.0 * sectors / CELLS;
    }
    kf_sample_survey survey;
    kf_sample_survey_open(scene, &survey);
    assert_true(survey.band_nodes == 4 * (CELLS + 1) && survey.samples_per_cell == 1);
    const double surveyed = kf_sample_survey_sectors(&survey, 64, true);
    print_message("%.2f sectors surveyed, %.2f expected, %d where all picks begin at the block\n", surveyed,
                  expected, 20);
    assert_near(surveyed, expected, 0.12);
    kf_sample_survey_close(&survey);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sectors_of_samples),
        cmocka_unit_test(test_works_of_outflows),
        cmocka_unit_test(test_works_on_the_band),
        cmocka_unit_test(test_sectors_of_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
