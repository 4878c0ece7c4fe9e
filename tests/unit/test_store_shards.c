/* Tests the check of a store's shards, against the whole text of its answer. Faults: a missing shard that
 * is not named, or a slow chip that is not seen. */
#include "base/util/json.h"
#include "harness/cli/store_shards.h"
#include "tests/unit/store_fixture.h"

typedef struct shard {
    const char *strategy, *device, *identity;
    uint64_t seed;
    double anchor_us; /* of the default; with 0 it failed */
    int results;      /* besides */
    bool ended;
} shard;

static void add(kf_store *store, const shard *s) {
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_measurement *m = kf_allocate(sizeof *m);
    kf_device_info device;
    kf_run_row run;
    kf_config config;
    kf_error error = {0};
    fixture_problem(problem, "beetle");
    fixture_device(&device);
    kf_copy_text(device.name, sizeof device.name, s->device);
    kf_copy_text(device.identity, sizeof device.identity, s->identity);
    fixture_run(&run);
    kf_copy_text(run.strategy, sizeof run.strategy, s->strategy);
    run.seed = s->seed;
    if (kf_store_begin_run(store, problem, &device, &run, &error) != KF_OK) fail_msg("%s", error.message);
    fixture_config(&config, 1);
    if (s->anchor_us > 0.0)
        fixture_measurement(m, s->anchor_us, 1);
    else
        fixture_failure(m, KF_STATE_CRASH, "as the test wants it");
    assert_int_equal(kf_store_add(store, &run, 0, "preset:default", &config, m, &error), KF_OK);
    kf_measurement_free(m);
    free(m);
    for (int i = 0; i < s->results; i++)
        assert_int_equal(fixture_add(store, &run, i + 2, 50.0, &error), KF_OK);
    if (s->ended) assert_int_equal(kf_store_end_run(store, &run, "finished", &error), KF_OK);
    kf_problem_free(problem);
}

static void check(const char *name, const shard *shards, int count, int missing, const char *expected) {
    char path[KF_PATH];
    kf_error error = {0};
    int found = -1;
    fixture_path(path, name);
    kf_store *store = fixture_open(path);
    for (int i = 0; i < count; i++)
        add(store, &shards[i]);
    cJSON *root = cJSON_CreateObject();
    if (kf_check_shards(store, root, &found, &error) != KF_OK) fail_msg("%s", error.message);
    char *text = cJSON_PrintUnformatted(root);
    assert_string_equal(text, expected);
    assert_int_equal(found, missing);
    free(text);
    cJSON_Delete(root);
    kf_store_close(store);
}

/* A shard that was begun twice counts if one of its runs ended. Other seeds, numbers of shards and devices
 * make other landscapes. Their missing shards add up. */
static void landscapes_that_miss_shards(void **state) {
    (void)state;
    static const char *const h = "H200", *const chip = "GPU-1";
    const shard shards[] = {{"shard:i=0:n=3:x", h, chip, 1, 100, 2, true},
                            {"shard:i=1:n=3:x", h, chip, 1, 100, 2, true},
                            {"shard:i=1:n=2:x", h, chip, 1, 100, 3, true},
                            {"shard:i=2:n=3:x", h, chip, 2, 100, 0, true},
                            {"shard:i=1:n=3:x", h, chip, 1, 100, 1, false},
                            {"shard:i=0:n=2:x", "A100", chip, 1, 100, 1, true},
                            {"model", h, chip, 1, 1, 5, true}};
    check("missing.db", shards, 7, 1 + 1 + 2 + 1,
          "{\"landscapes\":[{\"missing\":[2],\"scene\":\"beetle\",\"device\":\"H200\",\"shards\":3,"
          "\"configs\":8,"
          "\"chips\":[{\"identity\":\"GPU-1\",\"shards\":3,\"factor\":1,\"apart\":false}]},"
          "{\"missing\":[0],\"scene\":\"beetle\",\"device\":\"H200\",\"shards\":2,\"configs\":4,"
          "\"chips\":[{\"identity\":\"GPU-1\",\"shards\":1,\"factor\":1,\"apart\":false}]},"
          "{\"missing\":[0,1],\"scene\":\"beetle\",\"device\":\"H200\",\"shards\":3,\"configs\":1,"
          "\"chips\":[{\"identity\":\"GPU-1\",\"shards\":1,\"factor\":1,\"apart\":false}]},"
          "{\"missing\":[1],\"scene\":\"beetle\",\"device\":\"A100\",\"shards\":2,\"configs\":2,"
          "\"chips\":[{\"identity\":\"GPU-1\",\"shards\":1,\"factor\":1,\"apart\":false}]}]}");
}

/* Of three chips two are alike, and one takes 1.5 times as long, by the medians of their own shards. A
 * chip whose default failed is unknown. */
static void chips_that_are_apart(void **state) {
    (void)state;
    static const char *const h = "H200";
    const shard shards[] = {
        {"shard:i=0:n=6:x", h, "GPU-1", 1, 128, 0, true},  {"shard:i=1:n=6:x", h, "GPU-2", 1, 129, 0, true},
        {"shard:i=2:n=6:x", h, "GPU-3", 1, 192, 0, true},  {"shard:i=3:n=6:x", h, "GPU-1", 1, 128, 0, true},
        {"shard:i=4:n=6:x", h, "GPU-1", 1, 512, 0, true},  {"shard:i=5:n=6:x", h, "GPU-4", 1, 0, 0, true},
        {"shard:i=0:n=7:x", h, "GPU-3", 1, 1000, 0, true}, {"shard:i=1:n=6:x", h, "GPU-2", 2, 1, 0, true}};
    char path[KF_PATH];
    kf_error error = {0};
    int missing = -1;
    fixture_path(path, "chips.db");
    kf_store *store = fixture_open(path);
    for (size_t i = 0; i < sizeof shards / sizeof *shards; i++)
        add(store, &shards[i]);
    cJSON *root = cJSON_CreateObject();
    if (kf_check_shards(store, root, &missing, &error) != KF_OK) fail_msg("%s", error.message);
    const cJSON *chips =
        cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "landscapes"), 0), "chips");
    static const struct {
        const char *identity;
        int shards;
        /* The factor of the median of all, which are 129 of 128, 128, 129, 192, 512. With 0 it is unknown. */
        double factor;
        bool apart;
    } expected[] = {{"GPU-1", 3, 128.0 / 129, false},
                    {"GPU-2", 1, 1, false},
                    {"GPU-3", 1, 192.0 / 129, true},
                    {"GPU-4", 1, 0, false}};
    assert_int_equal(cJSON_GetArraySize(chips), 4);
    for (int i = 0; i < 4; i++) {
        const cJSON *chip = cJSON_GetArrayItem(chips, i), *factor = cJSON_GetObjectItem(chip, "factor");
        assert_string_equal(cJSON_GetObjectItem(chip, "identity")->valuestring, expected[i].identity);
        assert_int_equal(cJSON_GetObjectItem(chip, "shards")->valueint, expected[i].shards);
        if (expected[i].factor > 0.0)
            assert_true(fabs(factor->valuedouble - expected[i].factor) < 1e-6);
        else
            assert_true(cJSON_IsNull(factor));
        assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItem(chip, "apart")), expected[i].apart);
    }
    cJSON_Delete(root);
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(landscapes_that_miss_shards),
                                       cmocka_unit_test(chips_that_are_apart)};
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
