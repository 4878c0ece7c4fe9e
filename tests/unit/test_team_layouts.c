/* Tests layouts with memory of which a part keeps a range. Faults: a byte that kernels touch and the part
 * does not keep. */
#include "base/backend/team/team.h"
#include "tests/unit/kinetic_teams.h"
#include "tests/unit/quick_compiler.h"

/* Runs a plan with another alpha. */
static void with_alpha(const char *const *fixed, const char alpha[32], const char *with[32]) {
    int count = 0;
    for (; fixed[count] != NULL; count++)
        with[count] = strncmp(fixed[count], "alpha=", 6) == 0 ? alpha : fixed[count];
    with[count] = NULL;
}

/* Finds the largest power of two that is at most this many planes of the scene's grid on one device, and
 * in the space. */
static void alpha_of_planes(const kf_scene *scene, const char *const *fixed, int planes, char alpha[32]) {
    kf_error error = {KF_OK, ""};
    kf_backend *backend;
    long long nodes = 1;
    must(kf_backend_open("cpu:1", &backend, &error), &error);
    kf_plan *plan = open_plan(scene, fixed, backend);
    const long long most = planes * ((const kf_kinetic *)plan->system)->geometry.plane_pitch,
                    all = (long long)scene->nodes[0] * scene->nodes[1] * scene->nodes[2];
    while (2 * nodes <= most && 2 * nodes <= all)
        nodes *= 2;
    (void)snprintf(alpha, 32, "alpha=%lld", nodes);
    kf_plan_free(plan);
    kf_backend_close(backend);
}

static kf_scene *fine_ball(void) {
    return open_scene("ball", 60000);
}

/* Groups of one, two and sixteen planes' nodes begin before a part's planes and end behind them. */
static void test_groups_of_several_planes(void **state) {
    (void)state;
    static const int planes[3] = {1, 2, 16};
    static const struct {
        kf_scene *(*open)(void);
        const char *const *plan, *cut;
        int team;
    } cases[] = {{fine_ball, two_grids[0], NULL, 2},      {fine_ball, two_grids[0], "parts_y=2", 2},
                 {seam_scene, two_grids[0], NULL, 1},     {moving_scene, moving[0], NULL, 2},
                 {solid_of_moments, moments[0], NULL, 2}, {moments_on_a_torus, moments[3], "parts_y=2", 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kf_scene *scene = cases[c].open();
        const size_t first = c == 0 ? 0 : c % 3, count = c == 0 ? 3 : cases_taken(1, 3); /* in turn */
        for (size_t i = 0; i < count; i++) {
            const size_t p = (first + i) % 3;
            outcome one, team;
            char alpha[32], what[96];
            const char *with[32];
            alpha_of_planes(scene, cases[c].plan, planes[p], alpha);
            with_alpha(cases[c].plan, alpha, with);
            run(scene, with, "cpu:1", &one);
            for (int t = 0; t < 2; t++) {
                (void)snprintf(what, sizeof what, "case %zu, %s, %s", c, alpha, transfers[t]);
                run_cut(scene, with, cases[c].cut, transfers[t], teams[cases[c].team], &team);
                same(&one, &team, what);
                outcome_free(&team);
            }
            outcome_free(&one);
        }
        kf_scene_free(scene);
    }
}

/* With memory in which neighbours' planes can be read, every alpha is valid. */
static void test_groups_in_shared_memory(void **state) {
    (void)state;
    kf_scene *scene = fine_ball();
    outcome one, team;
    char alpha[32];
    const char *with[32];
    alpha_of_planes(scene, two_grids[0], 16, alpha);
    with_alpha(two_grids[0], alpha, with);
    run(scene, with, "cpu:1", &one);
    run_copying(scene, with, direct, teams[2], &team);
    same(&one, &team, alpha);
    outcome_free(&team);
    outcome_free(&one);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups_of_several_planes),
                                       cmocka_unit_test(test_groups_in_shared_memory)};
    return cmocka_run_group_tests(tests, take_quick_compiler, NULL);
}
