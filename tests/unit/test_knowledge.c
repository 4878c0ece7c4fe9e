/* Tests which run of a store tells a new run what to try first, and which of its results. Faults: of runs
 * that differ in one thing the wrong one counts. */
#include "base/space/space_parts.h"
#include "harness/tune/knowledge.h"
#include "tests/unit/store_fixture.h"

enum { CONFIGS = 4 };

typedef struct past {
    const char *scene;   /* another name is another scene */
    double times_as_big; /* in nodes */
    const char *device;
    const char *sql; /* further changes of the run, with id = 1 in place of its own; or NULL */
} past;

static void scene_of(kf_problem *problem, const char *name, double times) {
    fixture_problem(problem, name);
    for (int i = 0; i < problem->facts.count; i++)
        if (strcmp(problem->facts.list[i].name, "node_count") == 0) problem->facts.list[i].value *= times;
}

/* A run of configs 1 to 4, of which 3 is the fastest that is right, and 4 lies outside of the space. */
static void add_run(kf_store *store, const past *p) {
    static const double times[CONFIGS] = {130, 120, 110, 100};
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_device_info device;
    kf_run_row run;
    kf_error error = {0};
    scene_of(problem, p->scene, p->times_as_big);
    fixture_device(&device);
    kf_copy_text(device.name, sizeof device.name, p->device);
    fixture_run(&run);
    if (kf_store_begin_run(store, problem, &device, &run, &error) != KF_OK) fail_msg("%s", error.message);
    for (int i = 0; i < CONFIGS; i++)
        assert_int_equal(fixture_add(store, &run, i + 1, times[i], &error), KF_OK);
    kf_config config;
    kf_measurement wrong;
    fixture_config(&config, 1);
    fixture_failure(&wrong, KF_STATE_WRONG_RESULT, "as the test wants it");
    assert_int_equal(kf_store_add(store, &run, 9, "search", &config, &wrong, &error), KF_OK);
    assert_int_equal(kf_store_end_run(store, &run, "finished", &error), KF_OK);
    if (p->sql != NULL) fixture_change(store, p->sql);
    kf_problem_free(problem);
}

static kf_similar similar_of(kf_store *store, const char *device_name, int parts, int64_t before) {
    kf_config configs[CONFIGS - 1];
    kf_space *space = NULL;
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_device_info device;
    kf_error error = {0};
    kf_similar similar;
    for (int i = 0; i < CONFIGS - 1; i++)
        fixture_config(&configs[i], i + 1);
    assert_int_equal(kf_space_from_configs("kinetic", configs, CONFIGS - 1, &space, &error), KF_OK);
    scene_of(problem, "beetle", 1);
    fixture_device(&device);
    kf_copy_text(device.name, sizeof device.name, device_name);
    device.parts = parts;
    const kf_similar_query query = {.problem = problem,
                                    .device = &device,
                                    .space = space,
                                    .before = before,
                                    .farthest = KF_SIMILAR_FARTHEST};
    if (kf_knowledge_similar(store, &query, &similar, &error) != KF_OK) fail_msg("%s", error.message);
    kf_space_free(space);
    kf_problem_free(problem);
    return similar;
}

/* Stores of up to three runs, and the number of the one that is taken; 0: none is. */
static void which_run_is_taken(void **state) {
    (void)state;
    static const char *const same = "beetle", *const one = "Test device", *const team = "2 x Test device";
    const struct {
        const char *what, *device;
        int parts, taken, before;
        past runs[3];
    } cases[] = {
        {"the newest of this scene", one, 1, 2, 0, {{same, 1, one, NULL}, {same, 1, one, NULL}}},
        {"before this run", one, 1, 1, 2, {{same, 1, one, NULL}, {same, 1, one, NULL}}},
        {"this scene, before a newer one like it",
         one,
         1,
         1,
         0,
         {{same, 1, one, NULL}, {"spot", 1, one, NULL}}},
        {"the nearest", one, 1, 1, 0, {{"near", 2, one, NULL}, {"far", 3, one, NULL}}},
        {"the nearest below", one, 1, 2, 0, {{"far", 1.0 / 3, one, NULL}, {"near", 0.5, one, NULL}}},
        {"none that is too far", one, 1, 0, 0, {{"far", 4.5, one, NULL}, {"far below", 1 / 4.5, one, NULL}}},
        {"of this device",
         one,
         1,
         1,
         0,
         {{same, 1, one, NULL}, {same, 1, "Other device", NULL}, {same, 1, team, NULL}}},
        {"of the team, before its device", team, 2, 1, 0, {{same, 1, team, NULL}, {same, 1, one, NULL}}},
        {"of the team's device", team, 2, 1, 0, {{same, 1, one, NULL}, {same, 1, "3 x Test device", NULL}}},
        {"of no night or import",
         one,
         1,
         1,
         0,
         {{same, 1, one, NULL},
          {same, 1, one, "UPDATE run SET origin = 'imported' WHERE id = 2"},
          {same, 1, one, "UPDATE run SET origin = 'nightly' WHERE id = 3"}}},
        {"of this system",
         one,
         1,
         1,
         0,
         {{same, 1, one, NULL}, {same, 1, one, "UPDATE run SET system = 'd2q9' WHERE id = 2"}}},
        {"that has results",
         one,
         1,
         1,
         0,
         {{same, 1, one, NULL}, {same, 1, one, "DELETE FROM result WHERE run = 2"}}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char path[KF_PATH], name[32];
        (void)snprintf(name, sizeof name, "similar-%zu.db", c);
        fixture_path(path, name);
        kf_store *store = fixture_open(path);
        for (int i = 0; i < 3 && cases[c].runs[i].scene != NULL; i++)
            add_run(store, &cases[c].runs[i]);
        const kf_similar similar = similar_of(store, cases[c].device, cases[c].parts, cases[c].before);
        const int taken = similar.found ? (int)similar.run : 0;
        if (taken != cases[c].taken) fail_msg("%s: run %d, not %d", cases[c].what, taken, cases[c].taken);
        if (taken != 0) {
            kf_config expected;
            char hashes[2][KF_HASH_HEX];
            fixture_config(&expected, 3);
            kf_config_hash(&expected, hashes[0]);
            kf_config_hash(&similar.config, hashes[1]);
            assert_string_equal(hashes[0], hashes[1]);
            assert_true(similar.time_us > 110 && similar.time_us < 112);
            assert_int_equal(similar.same_scene, strcmp(cases[c].runs[taken - 1].scene, same) == 0);
            assert_string_equal(similar.scene_name, cases[c].runs[taken - 1].scene);
        }
        kf_store_close(store);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(which_run_is_taken)};
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
