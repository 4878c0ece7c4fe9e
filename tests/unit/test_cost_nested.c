/* Tests the works of plans on nested grids against counts by hand. Faults: an exchange or a level's second
 * step is forgotten. */
#include <math.h>
#include <string.h>

#include "tests/unit/kinetic_works.h"
#include "tests/unit/nested_stage.h"

/* Each level of nested grids has its own works, and twice as many steps as the coarser one. Between two
 * levels the layer around the finer one's box is refined, with the values of 11 nodes a cell, and the rim
 * within it is coarsened, with those of 17. */
static void test_nested_grids(void **state) {
    (void)state;
    static const int nodes[3] = {12, 12, 12};
    static const double layers[] = {8 * 8 * 8 - 6 * 6 * 6, 7 * 7 * 8 - 5 * 5 * 6},
                        rims[] = {6 * 6 * 6 - 4 * 4 * 4, 5 * 5 * 6 - 3 * 3 * 4};
    const flow still = {.state = uniform, .nodes = 12};
    for (int levels = 1; levels <= 3; levels++) {
        stage s;
        kf_error error = {KF_OK, ""};
        begin(&s, still, nodes, 0.1, levels);
        if (nest(&s, two_boxes, levels, &error) != KF_OK) fail_msg("%s", error.message);
        const kf_config config = config_of("fused", "gather");
        kf_works works = works_of(s.whole[0], &config);
        int crossings[2] = {0, 0};
        double steps = 0.0;
        for (size_t i = 0; i < works.count; i++) {
            const kf_work *work = &works.list[i];
            const int which = strcmp(work->name, "refine") == 0    ? 0
                              : strcmp(work->name, "coarsen") == 0 ? 1
                                                                   : -1;
            if (strcmp(work->name, "stream_collide") == 0) steps += work->launches;
            if (which < 0) continue;
            const int level = crossings[which]++;
            near(work->name, "launches", work->launches, level + 1);
            near(work->name, "dram", work->amount[KF_COST_DRAM],
                 27 * 4 * (which == 0 ? 11 * layers[level] : 17 * rims[level]));
        }
        assert_int_equal(crossings[0], levels - 1);
        assert_int_equal(crossings[1], levels - 1);
        near("stream_collide", "steps", steps, (1 << levels) - 1);
        kf_works_free(&works);
        end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nested_grids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
