/* A solid by links: where they are cut, and what the fluid feels of them. */
#include <math.h>

#include "solver/kinetic/kinetic.h"
#include "solver/systems.h"
#include "tests/unit/plan_fixture.h"

static const char *model = "";
static void write_scene(const char *file, const char *boundary, double reynolds, double acceleration) {
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fprintf(out,
            "{\"solid\": {\"shape\": \"ball\", \"radius\": 4, \"position\": [12.3, 12.1, 12.2], \"boundary\": \"%s\"}, "
            "\"domain\": {\"cells\": [24, 24, 24], \"size\": [24, 24, 24]}, \"boundaries\": {\"xmin\": \"periodic\", "
            "\"xmax\": \"periodic\", \"ymin\": \"periodic\", \"ymax\": \"periodic\", \"zmin\": \"periodic\", \"zmax\": "
            "\"periodic\"}, \"flow\": {\"speed\": 1, \"reynolds\": %g, \"reference_length\": 8, \"lattice_speed\": 0.05, "
            "\"initial_velocity\": [0, 0, 0], \"acceleration\": [%g, 0, 0]}%s}",
            boundary, reynolds, acceleration, model);
    assert_int_equal(fclose(out), 0);
}

static void run_array(const char *boundary, double reynolds, double acceleration, int steps) {
    kf_error error = {KF_OK, ""};
    kf_problem *problem;
    kf_space *space;
    kf_config config;
    kf_plan *plan;
    const kf_problem_options options = {.nodes = {0, 0, 0}};
    write_scene("/tmp/wall-array.json", boundary, reynolds, acceleration);
    must(kf_problem_open("/tmp/wall-array.json", "kinetic", &options, &problem, &error), &error);
    must(kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error), &error);
    must(kf_space_preset(space, "default", &config, &error), &error);
    must(problem->system->plan(problem, &config, backend, &plan, &error), &error);
    must(kf_plan_initialise(plan, &error), &error);
    for (int k = 0; k < 4; k++) {
        must(kf_plan_advance(plan, (uint64_t)steps / 4, &error), &error);
        double *values, sum = 0;
        kf_solid_load load;
        must(kf_kinetic_read(plan, &values, &error), &error);
        must(plan->methods->flow->load(plan, &load, &error), &error);
        const kf_scene *scene = kf_plan_scene(plan);
        const size_t nodes = 13824;
        const double count = 13824;
        for (size_t n = 0; n < nodes; n++)
            sum += values[nodes + n];
        free(values);
        const double U = sum / count, g = scene->body_force[0], inside = (double)scene->links.inside_count;
        const double K = load.force[0] / (6 * 3.14159265 * scene->viscosity * 4 * U), sphere = 4. / 3 * 3.14159265 * 64;
        printf("%s nu %g U %g force %g driven %g (volume: %g), K %g (1.832), K driven %g; inside %g of %g, Re %g\n", boundary,
               scene->viscosity, U, load.force[0], g * (count - inside), g * (count - sphere), K,
               g * (count - sphere) / (6 * 3.14159265 * scene->viscosity * 4 * U), inside, sphere, U * 8 / scene->viscosity);
    }
    kf_plan_free(plan);
    kf_space_free(space);
    kf_problem_free(problem);
}

static void test_array(void **state) {
    (void)state;
    model = ", \"model\": {\"rates\": \"constant\", \"high_order_rate\": 0.148}";
    run_array("links", 40, 1.7e-7 / 0.0025, 24000);
    model = "";
    run_array("links", 40, 1.7e-7 / 0.0025, 24000);
    run_array("immersed", 40, 1.7e-7 / 0.0025, 24000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_array)};
    return cmocka_run_group_tests(tests, open_backend, close_backend);
}
