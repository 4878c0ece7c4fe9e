/* The ceilings of the cpu, and their place in the store. */
#include "tests/unit/store_fixture.h"

#include "harness/roofs/roofs.h"

static void check_roof(const kf_roofs *roofs, const char *name, const char *unit) {
    const kf_roof *roof = kf_roofs_find(roofs, name);
    if (roof == NULL) fail_msg("no roof %s", name);
    assert_string_equal(roof->unit, unit);
    assert_true(roof->value > 0.0 && isfinite(roof->value));
    assert_true(roof->spread >= 0.0);
    assert_true(kf_roof_about(name)[0] != '\0');
}

static void same_roofs(const kf_roofs *a, const kf_roofs *b) {
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        assert_string_equal(a->list[i].name, b->list[i].name);
        assert_string_equal(a->list[i].unit, b->list[i].unit);
        assert_memory_equal(&a->list[i].value, &b->list[i].value, sizeof a->list[i].value);
        assert_memory_equal(&a->list[i].spread, &b->list[i].spread, sizeof a->list[i].spread);
        assert_int_equal(isnan(a->list[i].theoretical), isnan(b->list[i].theoretical));
    }
}

/* Measured once; physics says which must be higher than which. */
static void test_cpu(void **state) {
    (void)state;
    kf_backend *backend = NULL;
    kf_error error = {0};
    kf_roofs roofs;
    assert_int_equal(kf_backend_open("cpu", &backend, &error), KF_OK);
    if (kf_roofs_measure(backend, KF_ROOFS_ALL, &roofs, &error) != KF_OK) fail_msg("%s", error.message);
    static const char *const rates[] = {"dram_copy", "dram_copy_kernel", "dram_copy_nt", "dram_streams_27",
                                        "l1_copy"};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        check_roof(&roofs, rates[i], "GB/s");
    check_roof(&roofs, "fp32_multiply_add", "GFLOP/s");
    check_roof(&roofs, "fp64_multiply_add", "GFLOP/s");
    check_roof(&roofs, "atomic_scattered", "Gop/s");
    check_roof(&roofs, "launch", "us");
    check_roof(&roofs, "graph_node", "us");
    assert_true(kf_roofs_find(&roofs, "l1_copy")->value > kf_roofs_find(&roofs, "dram_copy_kernel")->value);
    assert_null(kf_roofs_find(&roofs, "fp16_multiply_add"));
    assert_string_equal(kf_roof_about("unheard of"), "");
    for (int i = 0; i < roofs.count; i++) /* every name once */
        assert_ptr_equal(kf_roofs_find(&roofs, roofs.list[i].name), &roofs.list[i]);

    char path[KF_PATH];
    fixture_path(path, "measured.db");
    kf_store *store = NULL;
    kf_roofs stored;
    assert_int_equal(kf_store_open(path, false, &store, &error), KF_OK);
    assert_int_equal(kf_store_save_roofs(store, kf_backend_device(backend), &roofs, &error), KF_OK);
    assert_int_equal(kf_store_roofs(store, kf_backend_device(backend)->identity, &stored, &error), KF_OK);
    same_roofs(&roofs, &stored);
    kf_store_close(store);
    kf_backend_close(backend);
}

static void test_newest_replaces(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "roofs.db");
    kf_store *store = NULL;
    kf_error error = {0};
    kf_roofs stored, roofs = {.count = 2,
                              .list = {{"dram_copy", "GB/s", 100.0, 0.1, (double)NAN},
                                       {"l2_copy", "GB/s", 300.0, 0.0, 500.0}}};
    const kf_device_info one = {.identity = "one", .driver = "1.0"}, other = {.identity = "other"};
    assert_int_equal(kf_store_open(path, false, &store, &error), KF_OK);
    assert_int_equal(kf_store_roofs(store, "one", &stored, &error), KF_OK);
    assert_int_equal(stored.count, 0);
    assert_int_equal(kf_store_save_roofs(store, &one, &roofs, &error), KF_OK);
    assert_int_equal(kf_store_save_roofs(store, &other, &roofs, &error), KF_OK);
    roofs.list[0].value = 120.0;
    roofs.count = 1;
    assert_int_equal(kf_store_save_roofs(store, &one, &roofs, &error), KF_OK);
    assert_int_equal(kf_store_roofs(store, "one", &stored, &error), KF_OK);
    same_roofs(&roofs, &stored);
    assert_int_equal(kf_store_roofs(store, "other", &stored, &error), KF_OK);
    assert_int_equal(stored.count, 2);
    assert_true(stored.list[1].theoretical > 499.0);
    /* A roof that is none is refused, and what was there stays. */
    roofs.list[0].value = -1.0;
    assert_int_equal(kf_store_save_roofs(store, &one, &roofs, &error), KF_BAD_INPUT);
    assert_int_equal(kf_store_roofs(store, "one", &stored, &error), KF_OK);
    assert_int_equal(stored.count, 1);
    kf_store_close(store);
}

/* What carries the planes of a team: a link between each device and the next. */
static void test_links(void **state) {
    (void)state;
    kf_backend *backend = NULL;
    kf_error error = {0};
    kf_roofs roofs;
    assert_int_equal(kf_backend_open("cpu:1,cpu:1,cpu:1", &backend, &error), KF_OK);
    if (kf_links_measure(backend, &roofs, &error) != KF_OK) fail_msg("%s", error.message);
    static const char *const rates[] = {"link_0_1_copy", "link_0_1_both", "link_0_1_host",
                                        "link_1_2_copy", "link_1_2_both", "link_1_2_host"};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        check_roof(&roofs, rates[i], "GB/s");
    check_roof(&roofs, "link_1_2_order", "us");
    assert_int_equal(roofs.count, 8);
    assert_string_equal(kf_roof_about("link_0_1_speed"), "");
    kf_backend_close(backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_newest_replaces),
    };
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
