/* Tests kernels written with kernels/portable.h on the cpu backend. Faults: an item that runs twice or
 * never for some shape of blocks. */
#include "tests/unit/kernel_fixture.h"

#include <math.h>

#include "base/backend/backend.h"
#include "base/backend/team/team.h"
#include "tests/unit/quick_compiler.h"

typedef struct count_arguments {
    int extent[3];
    int *visits; /* one per item, dense, x fastest */
    int64_t *checksum;
} count_arguments;

/* The same body of an item is a vectorised and a scalar kernel, the latter with atomics. */
static const char count_source[] =
    "#include \"portable.h\"\n"
    "typedef struct count_arguments { int extent[3]; int *visits; kf_int64 *checksum; } count_arguments;\n"
    "KF_KERNEL(count, count_arguments) {\n"
    "    a->visits[x + a->extent[0] * (y + (kf_int64)a->extent[1] * z)] += x + 1000 * y + 1000000 * z + 1;\n"
    "}\n"
    "KF_SCALAR_KERNEL(count_scalar, count_arguments) {\n"
    "    a->visits[x + a->extent[0] * (y + (kf_int64)a->extent[1] * z)] += x + 1000 * y + 1000000 * z + 1;\n"
    "    kf_atomic_add_int64(a->checksum, x + 1);\n"
    "}\n";

typedef struct atomic_arguments {
    int extent[3];
    float *as_float;
    double *as_double;
    int64_t *as_int64;
    int *as_int, *slots, *largest;
} atomic_arguments;

static const char atomic_source[] =
    "#include \"portable.h\"\n"
    "typedef struct atomic_arguments {\n"
    "    int extent[3]; float *as_float; double *as_double; kf_int64 *as_int64; int *as_int, *slots, "
    "*largest;\n"
    "} atomic_arguments;\n"
    "KF_SCALAR_KERNEL(add, atomic_arguments) {\n"
    "    kf_atomic_add_float(a->as_float, 1);\n"
    "    kf_atomic_add_double(a->as_double, 0.5);\n"
    "    kf_atomic_add_int64(a->as_int64, 1000000000000);\n"
    "    a->slots[kf_atomic_add_int(a->as_int, 1)] += 1;\n"
    "    int seen = *a->largest;\n"
    "    while (seen < x) {\n"
    "        const int before = kf_atomic_compare_swap_int(a->largest, seen, x);\n"
    "        if (before == seen) break;\n"
    "        seen = before;\n"
    "    }\n"
    "}\n";

/* Each item, thread of a block, and number of a loop notes when it ran. */
static const char turn_source[] =
    "#include \"portable.h\"\n"
    "typedef struct turn_arguments { int extent[3]; int *turns, *ran; } turn_arguments;\n"
    "KF_SCALAR_KERNEL(item, turn_arguments) {\n"
    "    a->turns[x + a->extent[0] * (y + a->extent[1] * z)] = kf_atomic_add_int(a->ran, 1);\n"
    "}\n"
    "KF_BLOCK_KERNEL(thread, turn_arguments) {\n"
    "    (void)block_y;\n"
    "    KF_EACH_THREAD_SCALAR(t, 8) { a->turns[8 * block_x + t] = kf_atomic_add_int(a->ran, 1); }\n"
    "}\n"
    "KF_BLOCK_KERNEL(number, turn_arguments) {\n"
    "    (void)block_y;\n"
    "    KF_EACH_OF(i, 8, 4) { a->turns[8 * block_x + i] = kf_atomic_add_int(a->ran, 1); }\n"
    "}\n"
    "KF_BLOCK_KERNEL(slot, turn_arguments) {\n"
    "    (void)block_y;\n"
    "    KF_EACH_SLOT(i, own, 8, 4) {\n"
    "        a->turns[8 * block_x + i] = own == i ? kf_atomic_add_int(a->ran, 1) : -1;\n"
    "    }\n"
    "}\n";

typedef struct turn_arguments {
    int extent[3];
    int *turns, *ran;
} turn_arguments;

static kf_backend *backend;
static kf_module *count_module, *atomic_module;

static kf_module *load(const char *file) {
    const kf_source source = {.file = file};
    kf_module *module = NULL;
    kf_error error = {0};
    if (kf_module_load(backend, &source, &module, NULL, &error) != KF_OK) {
        fprintf(stderr, "%s\n", error.message);
        return NULL;
    }
    return module;
}

static int open_modules(void **state) {
    if (fixture_setup(state) != 0) return -1;
    fixture_write("data/kernels/test/count.cu", count_source);
    fixture_write("data/kernels/test/atomic.cu", atomic_source);
    if (kf_backend_open("cpu:3", &backend, NULL) != KF_OK) return -1;
    count_module = load("kernels/test/count.cu");
    atomic_module = load("kernels/test/atomic.cu");
    return count_module != NULL && atomic_module != NULL ? 0 : -1;
}

static int close_modules(void **state) {
    kf_module_free(count_module);
    kf_module_free(atomic_module);
    kf_backend_close(backend);
    return fixture_teardown(state);
}

static void launch(kf_module *module, const char *name, const int block[3], const void *arguments,
                   size_t bytes) {
    kf_function *function = NULL;
    kf_launch launched;
    kf_error error = {0};
    assert_int_equal(kf_module_function(module, name, &function, &error), KF_OK);
    kf_launch_set(&launched, name, function, block, arguments, bytes);
    if (kf_backend_launch(backend, &launched, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(kf_backend_synchronize(backend, &error), KF_OK);
}

/* Runs both kernels and checks every item. On either side there is a guard of one value. */
static void check_shape(const int extent[3], const int block[3]) {
    const size_t items = (size_t)extent[0] * (size_t)extent[1] * (size_t)extent[2];
    int *visits = calloc(items + 2, sizeof *visits);
    assert_non_null(visits);
    int64_t checksum = 0;
    count_arguments arguments = {{extent[0], extent[1], extent[2]}, visits + 1, &checksum};
    launch(count_module, "count", block, &arguments, sizeof arguments);
    launch(count_module, "count_scalar", block, &arguments, sizeof arguments);
    assert_int_equal(visits[0], 0);
    assert_int_equal(visits[items + 1], 0);
    size_t item = 1;
    int64_t sum = 0;
    for (int z = 0; z < extent[2]; z++)
        for (int y = 0; y < extent[1]; y++)
            for (int x = 0; x < extent[0]; x++) {
                const int once = x + 1000 * y + 1000000 * z + 1;
                sum += x + 1;
                if (visits[item++] != 2 * once)
                    fail_msg("item %d,%d,%d of %dx%dx%d in blocks %dx%dx%d: %d, not twice %d", x, y, z,
                             extent[0], extent[1], extent[2], block[0], block[1], block[2], visits[item - 1],
                             once);
            }
    assert_true(checksum == sum);
    free(visits);
}

static void test_every_item_once_in_any_blocks(void **state) {
    (void)state;
    static const int extents[][3] = {{1, 1, 1}, {7, 1, 1}, {64, 3, 2}, {33, 17, 5}, {1, 40, 3},
                                     {0, 4, 4}, {4, 0, 4}, {4, 4, 0},  {100, 1, 9}, {5, 5, 31}};
    static const int blocks[][3] = {{1, 1, 1},  {8, 1, 1},    {32, 4, 1},  {7, 3, 2},
                                    {64, 8, 8}, {1, 1, 1024}, {3, 100, 1}, {100000, 100000, 100000}};
    for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++)
        for (size_t j = 0; j < sizeof blocks / sizeof blocks[0]; j++)
            check_shape(extents[i], blocks[j]);
}

static void test_atomics_lose_nothing_between_threads(void **state) {
    (void)state;
    enum { ITEMS = 60000 };
    static int slots[ITEMS];
    float as_float = 0;
    double as_double = 0;
    int64_t as_int64 = 0;
    int as_int = 0, largest = -1;
    const atomic_arguments arguments = {{ITEMS / 6, 3, 2}, &as_float, &as_double, &as_int64,
                                        &as_int,           slots,     &largest};
    launch(atomic_module, "add", (const int[3]){64, 1, 1}, &arguments, sizeof arguments);
    assert_true(as_float == ITEMS);
    assert_true(as_double == 0.5 * ITEMS);
    assert_true(as_int64 == (int64_t)ITEMS * 1000000000000);
    assert_int_equal(as_int, ITEMS);
    assert_int_equal(largest, ITEMS / 6 - 1);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(slots[i], 1); /* every old value was returned once */
}

/* Runs a kernel on one core, and looks whether its items came in order, or from the last to the first. */
static void check_turns(const char *name, const int extent[3], int block, bool backwards) {
    enum { ITEMS = 48 };
    int turns[ITEMS], ran = 0;
    kf_module *module = load("kernels/test/turn.cu");
    assert_non_null(module);
    memset(turns, -1, sizeof turns);
    const turn_arguments arguments = {{extent[0], extent[1], extent[2]}, turns, &ran};
    launch(module, name, (const int[3]){block, 1, 1}, &arguments, sizeof arguments);
    assert_int_equal(ran, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        if (turns[i] != (backwards ? ITEMS - 1 - i : i))
            fail_msg("%s, %s: item %d came as number %d", name, backwards ? "backwards" : "forwards", i,
                     turns[i]);
    kf_module_free(module);
}

/* Takes the quick compiler of the folder that tests run in: the fixture's has none. */
static void take_quick_compiler_here(void) {
    char *data = strdup(getenv("KFTUNE_DATA"));
    assert_non_null(data);
    unsetenv("KFTUNE_DATA");
    assert_int_equal(take_quick_compiler(NULL), 0);
    assert_int_equal(setenv("KFTUNE_DATA", data, 1), 0);
    free(data);
}

/* Tests of many variants have kernels whose items go backwards: what depends on their order shows there. */
static void test_quick_kernels_go_backwards(void **state) {
    (void)state;
    if (getenv("KFTUNE_TEST_ALL") != NULL) skip();
    fixture_write("data/kernels/test/turn.cu", turn_source);
    kf_backend *const cores = backend;
    assert_int_equal(kf_backend_open("cpu:1", &backend, NULL), KF_OK);
    for (int backwards = 0; backwards < 2; backwards++) {
        if (backwards) take_quick_compiler_here();
        check_turns("item", (const int[3]){4, 3, 4}, 4, backwards);
        check_turns("item", (const int[3]){48, 1, 1}, 5, backwards);
        check_turns("thread", (const int[3]){48, 1, 1}, 8, backwards);
        check_turns("number", (const int[3]){24, 1, 1}, 4, backwards);
        check_turns("slot", (const int[3]){24, 1, 1}, 4, backwards);
    }
    unsetenv("KFTUNE_CC");
    kf_backend_close(backend);
    backend = cores;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_item_once_in_any_blocks),
        cmocka_unit_test(test_atomics_lose_nothing_between_threads),
        cmocka_unit_test(test_quick_kernels_go_backwards),
    };
    return cmocka_run_group_tests(tests, open_modules, close_modules);
}
