/* Tests the ceilings of the cpu, and their place in the store. Faults: a rate that cannot be, or one that
 * is stored for another machine. */
#include "tests/unit/store_fixture.h"

#include "base/backend/team/team.h"
#include "base/util/clock.h"
#include "harness/roofs/roofs.h"
#include "kernels/roofs/arguments.h"
#include "tests/unit/small_memory.h"

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

/* Returns a size of this process in bytes ("VmHWM", "VmRSS"); 0: not known. */
static double process_size(const char *name) {
    char line[256];
    double kib = 0.0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0) (void)sscanf(line + strlen(name) + 1, "%lf", &kib);
    if (file != NULL) (void)fclose(file);
    return 1024.0 * kib;
}

/* Measures roofs and returns by how much the process grew meanwhile at most; 0: not known. */
static double growth_of(kf_backend *backend, unsigned groups, kf_roofs *roofs) {
    kf_error error = {0};
    FILE *peak = fopen("/proc/self/clear_refs", "we");
    const bool known = peak != NULL && fputs("5", peak) >= 0;
    const double before = process_size("VmRSS");
    if (peak != NULL && fclose(peak) != 0) return 0.0;
    if (kf_roofs_measure(backend, groups, roofs, &error) != KF_OK) fail_msg("%s", error.message);
    return known && before > 0.0 ? process_size("VmHWM") - before : 0.0;
}

/* Roofs are measured once. Physics says which must be higher than which. */
static void test_roofs_are_in_the_order_of_physics(void **state) {
    (void)state;
    kf_backend *backend = NULL;
    kf_error error = {0};
    kf_roofs roofs;
    /* The larger the arrays, the longer it takes to clear their pages. */
    leave_memory(1 << 30);
    assert_int_equal(kf_backend_open("cpu", &backend, &error), KF_OK);
    leave_memory(0);
    /* Arrays for rates of memory are far larger than caches: here an eighth of the memory each. */
    const double growth = growth_of(backend, KF_ROOFS_ALL, &roofs);
    if (growth > 0.0 && growth < 2e8) fail_msg("arrays take only %g bytes", growth);
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

static void test_scattered_roofs_are_counted(void **state) {
    (void)state;
    const kf_roofs roofs = {.list = {{"dram_copy", "GB/s", 10.0, 0.3, 0.0},
                                     {"l1_copy", "GB/s", 10.0, 0.25, 0.0},
                                     {"launch", "us", 10.0, 9.0, 0.0},
                                     {"fp32_multiply_add", "GFLOP/s", 10.0, 3.8, 0.0}},
                            .count = 4};
    assert_int_equal(kf_roofs_scattered(&roofs, 0.25), 2);
    assert_int_equal(kf_roofs_scattered(&roofs, 4.0), 0);
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
    /* A roof that is not positive is refused, and the earlier one stays. */
    roofs.list[0].value = -1.0;
    assert_int_equal(kf_store_save_roofs(store, &one, &roofs, &error), KF_BAD_INPUT);
    assert_int_equal(kf_store_roofs(store, "one", &stored, &error), KF_OK);
    assert_int_equal(stored.count, 1);
    kf_store_close(store);
}

/* The bare kernel of a roof: its work and time, independent of the roof's own account. */
typedef struct bare_kernel {
    kf_backend *backend;
    kf_function *function;
    kf_buffer *target, *lanes;
} bare_kernel;

static void run_bare(const bare_kernel *kernel, int items, int repeats) {
    kf_error error = {0};
    kf_launch launch;
    const kf_roof_arguments arguments = {.extent = {items, 1, 1},
                                         .repeats = repeats,
                                         .target = kf_buffer_address(kernel->target),
                                         .lanes = kf_buffer_address(kernel->lanes)};
    kf_launch_set(&launch, "multiply_add", kernel->function, (const int[3]){1, 1, 1}, &arguments,
                  sizeof arguments);
    if (kf_backend_launch(kernel->backend, &launch, &error) != KF_OK ||
        kf_backend_synchronize(kernel->backend, &error) != KF_OK)
        fail_msg("%s", error.message);
}

/* Returns the multiply-adds of an item in one repeat, from its results. Chains begin with 0, 1, ... and
 * approach 1 by sum = 0.999 sum + 0.001. After n of these the sum of c chains is c + (0 + 1 + ... - c)
 * 0.999^n. */
static double multiply_adds(const bare_kernel *kernel) {
    enum { REPEATS = 10, MOST_LANES = 16 };
    double sums[MOST_LANES + 1] = {0};
    kf_error error = {0};
    int lanes = 0;
    assert_int_equal(kf_buffer_fill(kernel->target, 0, &error), KF_OK);
    run_bare(kernel, 1, 10000);
    assert_int_equal(kf_buffer_download(kernel->target, 0, sums, sizeof sums, &error), KF_OK);
    while (lanes < MOST_LANES && sums[lanes] > 0.0)
        lanes++;
    const double chains = nearbyint(sums[0]);
    run_bare(kernel, 1, REPEATS);
    assert_int_equal(kf_buffer_download(kernel->target, 0, sums, sizeof sums, &error), KF_OK);
    const double of_a_chain =
        log((sums[0] - chains) / (chains * (chains - 1.0) / 2.0 - chains)) / log(0.999) / REPEATS;
    assert_true(of_a_chain > 0.5 && fabs(of_a_chain - nearbyint(of_a_chain)) < 1e-6);
    return lanes * chains * nearbyint(of_a_chain);
}

static double best_seconds(const bare_kernel *kernel, int items, int repeats) {
    double best = INFINITY;
    for (int i = 0; i < 100; i++) {
        const double begin = kf_clock_seconds();
        run_bare(kernel, items, repeats);
        best = fmin(best, kf_clock_seconds() - begin);
    }
    return best;
}

/* The ceilings of a run are those of all its GPUs together, except for times. The cpus of one machine
 * share theirs. */
static void test_ceilings_of_a_team(void **state) {
    (void)state;
    static const struct {
        const char *backend, *name;
        double parts;
    } devices[] = {{"cuda", "Test device", 1}, {"cuda", "4 x Test device", 4}, {"cpu", "4 x Test cpu", 1}};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        char path[KF_PATH], name[32];
        kf_error error = {0};
        kf_device_info device;
        kf_run_row run;
        kf_roofs roofs = {.count = 2,
                          .list = {{.name = "memory", .unit = "B/s", .value = 3e12, .theoretical = 4e12},
                                   {.name = "launch", .unit = "us", .value = 5, .theoretical = 6}}};
        double peak = 0.0;
        kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
        (void)snprintf(name, sizeof name, "team-%zu.db", i);
        fixture_path(path, name);
        kf_store *store = fixture_open(path);
        fixture_problem(problem, "beetle");
        fixture_run(&run);
        fixture_device(&device);
        kf_copy_text(device.backend, sizeof device.backend, devices[i].backend);
        kf_copy_text(device.name, sizeof device.name, devices[i].name);
        assert_int_equal(kf_store_begin_run(store, problem, &device, &run, &error), KF_OK);
        assert_int_equal(kf_store_save_roofs(store, &device, &roofs, &error), KF_OK);
        if (kf_store_run_roofs(store, run.id, &roofs, &peak, &error) != KF_OK) fail_msg("%s", error.message);
        assert_true(fabs(peak / (4.8e12 * devices[i].parts) - 1.0) < 1e-12);
        const kf_roof *memory = kf_roofs_find(&roofs, "memory"), *launch = kf_roofs_find(&roofs, "launch");
        assert_true(fabs(memory->value / (3e12 * devices[i].parts) - 1.0) < 1e-12);
        assert_true(fabs(memory->theoretical / (4e12 * devices[i].parts) - 1.0) < 1e-12);
        assert_true(launch->value == 5.0 && launch->theoretical == 6.0);
        kf_store_close(store);
        kf_problem_free(problem);
    }
}

/* A multiply-add is two operations. Other work on the machine disturbs one of the two rates now and then,
 * but not always. */
static void test_multiply_adds_are_counted(void **state) {
    (void)state;
    enum { REPEATS = 50000, LOOKS = 12 };
    const kf_define bits = {"ROOF_BITS", "64"};
    const kf_source source = {.file = "kernels/roofs/multiply_add.cu", .defines = &bits, .define_count = 1};
    kf_error error = {0};
    kf_module *module = NULL;
    bare_kernel kernel;
    assert_int_equal(kf_backend_open("cpu", &kernel.backend, &error), KF_OK);
    const int items = kf_backend_device(kernel.backend)->multiprocessors;
    if (kf_module_load(kernel.backend, &source, &module, NULL, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(kf_module_function(module, "multiply_add", &kernel.function, &error), KF_OK);
    assert_int_equal(kf_buffer_create(kernel.backend, 4096 + 64 * (size_t)items, &kernel.target, &error),
                     KF_OK);
    assert_int_equal(kf_buffer_create(kernel.backend, sizeof(int), &kernel.lanes, &error), KF_OK);
    const double operations = 2.0 * multiply_adds(&kernel) * REPEATS * items;
    double ratio = NAN;
    for (int look = 0; look < LOOKS && !(ratio > 0.75 && ratio < 1.4); look++) {
        kf_roofs roofs;
        const double rate = 1e-9 * operations / best_seconds(&kernel, items, REPEATS);
        const double growth = growth_of(kernel.backend, KF_ROOFS_ARITHMETIC, &roofs);
        if (growth > 1e8) fail_msg("arithmetic takes %g bytes", growth);
        ratio = kf_roofs_find(&roofs, "fp64_multiply_add")->value / rate;
    }
    if (!(ratio > 0.75 && ratio < 1.4)) fail_msg("the roof is %g times what the kernel does", ratio);
    kf_module_free(module);
    kf_buffer_free(kernel.target);
    kf_buffer_free(kernel.lanes);
    kf_backend_close(kernel.backend);
}

/* A link between each device and the next carries the planes of a team. */
static void test_links_between_neighbours(void **state) {
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
        cmocka_unit_test(test_roofs_are_in_the_order_of_physics),
        cmocka_unit_test(test_multiply_adds_are_counted),
        cmocka_unit_test(test_links_between_neighbours),
        cmocka_unit_test(test_scattered_roofs_are_counted),
        cmocka_unit_test(test_newest_replaces),
        cmocka_unit_test(test_ceilings_of_a_team),
    };
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
