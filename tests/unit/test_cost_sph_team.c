/* Tests the cost model of particles on teams, against counts of teams on the cpu and steps of four H200s
 * of a host. Faults: wrong numbers of particles that a device has, copies or sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/sph/sph_cost_tally.h"
#include "solver/systems.h"
#include "tests/unit/modelled_gpu.h"
#include "tests/unit/quick_compiler.h"
#include "tests/unit/sph_team_fixture.h"

static kf_problem *opened(const char *scene, int nodes) {
    const kf_problem_options options = {.nodes = {nodes, nodes, nodes}};
    kf_problem *problem = NULL;
    kf_error error = {KF_OK, ""};
    must(kf_problem_open(scene, "sph", &options, &problem, &error), &error);
    return problem;
}

/* Finds what the model says that the device with most particles has, and keeps. */
static void said_of(const kf_problem *problem, const kf_plan *plan, double *own, double *kept) {
    const kf_sph *system = plan->system;
    kf_sph_cost *cost = kf_cost_sph.open(problem, kf_backend_device(plan->backend));
    kf_sph_tally t = {.cost = cost, .scene = system->scene, .options = system->options};
    t.particles = (double)system->scene->count;
    t.support = system->scene->support * (1 + 0.01 * system->options.skin);
    t.cells = system->grid.cell_count;
    kf_sph_share_planes(&t);
    *own = t.particles;
    *kept = t.kept;
    kf_cost_sph.close(cost);
}

static void hold(const char *what, double said, double counted, double share) {
    if (fabs(said - counted) > share * counted) fail_msg("%s: %g, counted %g", what, said, counted);
}

/* Cuts are between planes and follow the cost, so no part has exactly its share. */
static void test_shares_follow_whole_planes(void **state) {
    (void)state;
    static const struct {
        const char *scene;
        int nodes;
        const char *const *fixed;
    } flows[] = {{"particles_32", 24, staged},
                 {"particles_32", 30, cells},
                 {"dam_break_2d", 240, staged},
                 {"avalanche", 200, staged}};
    for (size_t f = 0; f < sizeof flows / sizeof *flows; f++)
        for (int t = 0; t < TEAMS; t++) {
            kf_problem *problem = opened(flows[f].scene, flows[f].nodes);
            kf_plan *plan = open_plan(problem, flows[f].fixed, teams[t]);
            double own, kept, most = 0, most_kept = 0;
            advance(plan, 2);
            for (int part = 0; part < plan->part_count; part++) {
                const kf_sph_share share = share_of(plan, part);
                most = fmax(most, share.inside);
                most_kept = fmax(most_kept, share.gone);
            }
            said_of(problem, plan, &own, &kept);
            hold(flows[f].scene, own, most, 0.1);
            hold(flows[f].scene, kept, most_kept, 0.15);
            close_plan(plan);
            kf_problem_free(problem);
        }
}

static double predicted(const kf_problem *problem, int parts, const char *transfer) {
    kf_device_info device = gpu;
    kf_error error = {KF_OK, ""};
    kf_variables variables;
    kf_space *space;
    kf_config config;
    kf_cost_model *model;
    kf_prediction prediction;
    device.parts = parts;
    kf_system_sph.variables(problem, &device, &variables);
    must(kf_space_open("sph", kf_system_sph.space_file, &variables, NULL, 0, &space, &error), &error);
    must(kf_space_preset(space, "default", &config, &error), &error);
    kf_space_free(space);
    kf_config_set_name(&config, "transfer", transfer);
    kf_cost_model_open(problem, &device, NULL, &model);
    must(kf_cost_model_predict(model, &config, NULL, &prediction, &error), &error);
    kf_cost_model_close(model);
    return prediction.time_us;
}

/* With few particles the host of all four takes longer to launch a step than they take to do it. */
static void test_steps_of_four(void **state) {
    (void)state;
    static const struct {
        const char *scene;
        int nodes;
        double us;
    } measured[] = {{"dam_break_3d", 60, 335.6}, {"particles_bingham", 40, 350.5}};
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        kf_problem *problem = opened(measured[i].scene, measured[i].nodes);
        hold(measured[i].scene, predicted(problem, 4, "direct"), measured[i].us, 0.1);
        kf_problem_free(problem);
    }
}

/* More devices are faster where they have much to do, and a slower transfer makes them slower. */
static void test_more_devices_are_faster(void **state) {
    (void)state;
    kf_problem *problem = opened("particles_32", 110);
    double before = predicted(problem, 1, "direct");
    for (int parts = 2; parts <= 4; parts *= 2) {
        const double direct = predicted(problem, parts, "direct"),
                     copies = predicted(problem, parts, "copies"), host = predicted(problem, parts, "host");
        assert_true(direct < before && direct < copies && copies < host);
        assert_true(direct > before / 2);
        before = direct;
    }
    kf_problem_free(problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_follow_whole_planes),
        cmocka_unit_test(test_steps_of_four),
        cmocka_unit_test(test_more_devices_are_faster),
    };
    return cmocka_run_group_tests(tests, take_quick_compiler, NULL);
}
