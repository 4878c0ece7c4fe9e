/* Tests kernels that are not kftune's: launches on the cpu against a reference run, and CUDA as far as it
 * goes without a GPU. Faults: a wrong argument, define or grid. test_t1_files has their files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/backend/cache.h"
#include "base/backend/team/team.h"
#include "base/util/memory.h"
#include "tests/unit/t1_fixture.h"

static kf_config config_of(const kf_problem *problem, long block_x, long rows, bool shortcut) {
    kf_config config = ((const kf_t1_problem *)problem->own)->reference;
    kf_config_set_integer(&config, "block_x", block_x);
    kf_config_set_integer(&config, "block_y", 2);
    kf_config_set_integer(&config, "rows", rows);
    kf_config_set_boolean(&config, "shortcut", shortcut);
    return config;
}

/* --- On the cpu ----------------------------------------------------------------------------------------- */

/* Compares ten launches of a config with those of the reference. */
static kf_status verify(const kf_problem *problem, const kf_config *config, kf_verification *verification,
                        kf_error *error) {
    kf_backend *backend = NULL;
    kf_reference *reference = NULL;
    kf_plan *plan = NULL;
    assert_int_equal(kf_backend_open("cpu:1", &backend, error), KF_OK);
    assert_int_equal(kf_system_t1.reference(problem, 10, &reference, error), KF_OK);
    kf_status status = kf_system_t1.plan(problem, config, backend, &plan, error);
    if (status == KF_OK) status = kf_plan_initialise(plan, error);
    if (status == KF_OK) status = kf_plan_advance(plan, 10, error);
    if (status == KF_OK) status = kf_backend_synchronize(backend, error);
    if (status == KF_OK) status = kf_system_t1.verify(plan, reference, verification, error);
    if (plan != NULL) kf_plan_free(plan);
    kf_system_t1.free_reference(reference);
    kf_backend_close(backend);
    return status;
}

/* Returns the mean of a point of the input and its neighbours, by plain loops. */
static double mean_around(const kf_problem *problem, int x, int y) {
    const kf_t1_problem *own = problem->own;
    const float *in = own->arguments[1].initial;
    const int width = (int)own->size[0], height = (int)own->size[1];
    double sum = 0.0;
    for (int j = y - 1; j <= y + 1; j++)
        for (int i = x - 1; i <= x + 1; i++)
            if (i >= 0 && i < width && j >= 0 && j < height) sum += (double)in[j * width + i];
    return sum / 9.0;
}

static void expect_blurred(const kf_problem *problem, const float *out) {
    const kf_t1_problem *own = problem->own;
    const int width = (int)own->size[0], height = (int)own->size[1];
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            assert_true(fabs(mean_around(problem, x, y) - (double)out[y * width + x]) < 1e-5);
}

static void the_kernel_gets_its_arguments(void **state) {
    (void)state;
    kf_problem *problem = open_problem("blur.t1.json");
    const kf_config config = config_of(problem, 48, 4, false);
    kf_backend *backend = NULL;
    kf_plan *plan = NULL;
    void *out = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    if (kf_system_t1.plan(problem, &config, backend, &plan, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal((int)plan->item_count, 1);
    assert_true(plan->items[0].bytes == 2.0 * 4.0 * 301 * 203);
    assert_int_equal(kf_plan_initialise(plan, &error), KF_OK);
    assert_int_equal(kf_plan_advance(plan, 1, &error), KF_OK);
    assert_int_equal(kf_backend_synchronize(backend, &error), KF_OK);
    assert_int_equal(kf_t1_download(plan, 0, &out, &error), KF_OK);
    expect_blurred(problem, out);
    free(out);
    kf_plan_free(plan);
    kf_backend_close(backend);
    kf_problem_free(problem);
}

static void a_fast_wrong_config_is_refused(void **state) {
    (void)state;
    kf_problem *problem = open_problem("blur.t1.json");
    kf_verification verification;
    kf_error error = {KF_OK, ""};
    kf_config config = config_of(problem, 64, 8, false);
    if (verify(problem, &config, &verification, &error) != KF_OK) fail_msg("%s", error.message);
    assert_true(verification.error <= verification.bound && verification.bound == 1e-4);
    config = config_of(problem, 64, 8, true);
    assert_int_equal(verify(problem, &config, &verification, &error), KF_GATE_FAILED);
    assert_true(verification.error > 0.1);
    assert_non_null(strstr(error.message, "deviates from the reference run"));
    assert_non_null(strstr(verification.worst, "out["));
    kf_problem_free(problem);
}

/* Writes the means as the problem's author would supply them, with one value wrong by `off`. */
static void write_answer(const kf_problem *problem, double off) {
    const kf_t1_problem *own = problem->own;
    const int width = (int)own->size[0], height = (int)own->size[1];
    float *out = kf_allocate((size_t)width * (size_t)height * sizeof *out);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            out[y * width + x] = (float)mean_around(problem, x, y);
    out[17] += (float)off;
    assert_int_equal(kf_file_write_atomic(problem_path("answer.raw"), out,
                                          (size_t)width * (size_t)height * sizeof *out, NULL),
                     KF_OK);
    free(out);
}

/* With the author's own answer even the default config is judged, which a comparison with the reference
 * kernel would pass. */
static void an_answer_judges_the_default_too(void **state) {
    (void)state;
    kf_problem *plain = open_problem("blur.t1.json"), *trial = NULL;
    kf_verification verification;
    kf_error error = {KF_OK, ""};
    char first[KF_HASH_HEX] = "";
    int steps = 0;
    for (int wrong = 0; wrong < 2; wrong++) {
        write_answer(plain, wrong * 50.0);
        change("blur.t1.json", "\"AccessType\": \"WriteOnly\"",
               "\"AccessType\": \"WriteOnly\", \"ReferenceSource\": \"answer.raw\"");
        kf_problem *problem = open_problem("changed.t1.json");
        const kf_config config = ((const kf_t1_problem *)problem->own)->reference;
        assert_int_equal(kf_system_t1.trial(problem, &trial, &steps, &error), KF_OK);
        assert_int_equal(steps, 1);
        kf_problem_free(trial);
        assert_int_equal(verify(problem, &config, &verification, &error), wrong ? KF_GATE_FAILED : KF_OK);
        if (wrong) assert_non_null(strstr(error.message, "deviates from the reference answer"));
        if (wrong) assert_non_null(strstr(verification.worst, "out[17]"));
        assert_string_not_equal(first, problem->hash);
        memcpy(first, problem->hash, sizeof first);
        kf_problem_free(problem);
    }
    kf_problem_free(plain);
}

/* Writes a kernel that sums nine values, or one that leaves out a neighbour. */
static void write_reference(bool wrong) {
    kf_text text = {0};
    kf_text_append(&text,
                   "#include \"portable.h\"\n"
                   "typedef struct picture { int extent[3]; float *out; const float *in; float weight; int "
                   "width, height; } picture;\n"
                   "KF_SCALAR_KERNEL(%s, picture) {\n"
                   "    double sum = 0;\n"
                   "    for (int j = y - 1; j <= y + 1; j++)\n"
                   "        for (int i = x - 1; i <= x + %d; i++)\n"
                   "            if (i >= 0 && i < a->width && j >= 0 && j < a->height) sum += a->in[j * "
                   "a->width + i];\n"
                   "    a->out[y * a->width + x] = (float)(sum / 9);\n"
                   "}\n",
                   wrong ? "mean" : "blur", wrong ? 0 : 1);
    assert_int_equal(
        kf_file_write_atomic(problem_path("blur.reference.cu"), text.text, strlen(text.text), NULL), KF_OK);
    kf_text_free(&text);
}

static void a_reference_kernel_judges_the_default_too(void **state) {
    (void)state;
    char first[KF_HASH_HEX] = "";
    for (int wrong = 0; wrong < 2; wrong++) {
        kf_verification verification;
        kf_problem *trial = NULL;
        kf_error error = {KF_OK, ""};
        int steps = 0;
        write_reference(wrong);
        change("blur.t1.json", "\"KernelFile\"",
               wrong ? "\"ReferenceFile\": \"blur.reference.cu\", \"ReferenceName\": \"mean\", \"KernelFile\""
                     : "\"ReferenceFile\": \"blur.reference.cu\", \"KernelFile\"");
        kf_problem *problem = open_problem("changed.t1.json");
        const kf_config config = ((const kf_t1_problem *)problem->own)->reference;
        assert_int_equal(kf_system_t1.trial(problem, &trial, &steps, &error), KF_OK);
        assert_int_equal(steps, 1);
        kf_problem_free(trial);
        if (verify(problem, &config, &verification, &error) != (wrong ? KF_GATE_FAILED : KF_OK))
            fail_msg("%s", error.message);
        if (wrong) assert_non_null(strstr(error.message, "deviates from the reference answer"));
        assert_string_not_equal(first, problem->hash);
        memcpy(first, problem->hash, sizeof first);
        kf_problem_free(problem);
    }
}

/* A size other than the file's makes another problem, with data and launches to match. */
static void a_size_can_be_asked_for(void **state) {
    (void)state;
    kf_problem *whole = open_problem("blur.t1.json"), *problem = NULL;
    kf_problem_options options = {.seed = 1, .nodes = {64, 30, 1}};
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_problem_open(problem_path("blur.t1.json"), "t1", &options, &problem, &error), KF_OK);
    const kf_t1_problem *own = problem->own;
    const kf_config config = config_of(problem, 48, 4, false);
    kf_verification verification;
    int size[3];
    assert_int_equal(own->arguments[0].count, 64 * 30);
    assert_true(kf_facts_get_size(&problem->facts, size));
    assert_int_equal(size[0], 64);
    assert_int_equal(size[2], 1);
    assert_string_not_equal(problem->hash, whole->hash);
    if (verify(problem, &config, &verification, &error) != KF_OK) fail_msg("%s", error.message);
    kf_problem_free(problem);
    problem = NULL;
    memcpy(options.nodes, (int[3]){301, 203, 1}, sizeof options.nodes);
    assert_int_equal(kf_problem_open(problem_path("blur.t1.json"), "t1", &options, &problem, &error), KF_OK);
    assert_string_equal(problem->hash, whole->hash);
    kf_problem_free(problem);
    problem = NULL;
    options.nodes[2] = 2;
    assert_int_equal(kf_problem_open(problem_path("blur.t1.json"), "t1", &options, &problem, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "has 2 numbers; those behind must be 1"));
    kf_problem_free(whole);
}

/* The data with which a file fills an argument are a part of the problem. */
static void data_decides_the_hash(void **state) {
    (void)state;
    char first[KF_HASH_HEX] = "", *data = kf_allocate_zeroed(301 * 203, sizeof(float));
    change("blur.t1.json", "\"FillType\": \"Random\"",
           "\"FillType\": \"BinaryRaw\", \"DataSource\": \"in.raw\"");
    for (int i = 0; i < 2; i++) {
        data[77] = (char)i;
        assert_int_equal(kf_file_write_atomic(problem_path("in.raw"), data, 301 * 203 * sizeof(float), NULL),
                         KF_OK);
        kf_problem *problem = open_problem("changed.t1.json");
        assert_string_not_equal(first, problem->hash);
        memcpy(first, problem->hash, sizeof first);
        kf_problem_free(problem);
    }
    free(data);
}

/* A changed kernel in plain C is compiled anew, although the source that calls it is the same. */
static void plain_c_follows_its_file(void **state) {
    (void)state;
    kf_verification verification;
    kf_error error = {KF_OK, ""};
    for (int round = 0; round < 2; round++) {
        kf_problem *problem = open_problem("sums.t1.json");
        const kf_config config = ((const kf_t1_problem *)problem->own)->reference;
        if (verify(problem, &config, &verification, &error) != (round == 0 ? KF_OK : KF_GATE_FAILED))
            fail_msg("%s", error.message);
        kf_problem_free(problem);
        static const char wrong[] = "void sums(float *out, const float *in, int width, int height);\n"
                                    "void sums(float *out, const float *in, int width, int height) {\n"
                                    "    for (int i = 0; i < width * height; i++) out[i] = in[i];\n}\n";
        assert_int_equal(kf_file_write_atomic(problem_path("sums.c"), wrong, sizeof wrong - 1, NULL), KF_OK);
    }
    copy_file("sums.c");
}

static void deviations_are_relative_and_exact_for_whole_numbers(void **state) {
    (void)state;
    kf_t1_type real = {0}, whole = {0};
    const float right[] = {3.0F, 4.0F, (float)NAN}, near[] = {3.0F, 4.5F, (float)NAN},
                lost[] = {3.0F, 4.0F, 0.0F};
    const int16_t counted[] = {-3, 4}, miscounted[] = {-3, 5};
    size_t worst = 9;
    assert_true(kf_t1_find_type("float", &real) && kf_t1_find_type("int16", &whole));
    kf_t1_argument argument = {.type = real, .count = 3};
    assert_true(kf_t1_deviation(&argument, right, right, &worst) == 0.0);
    assert_true(fabs(kf_t1_deviation(&argument, near, right, &worst) - 0.1) < 1e-12);
    assert_int_equal((int)worst, 1);
    assert_false(kf_t1_deviation(&argument, lost, right, &worst) <= 1e9);
    argument = (kf_t1_argument){.type = whole, .count = 2};
    assert_true(kf_t1_value(&whole, counted, 0) == -3.0);
    assert_true(kf_t1_deviation(&argument, counted, counted, &worst) == 0.0);
    assert_true(fabs(kf_t1_deviation(&argument, miscounted, counted, &worst) - 0.2) < 1e-12);
}

/* A deviation is the same in every unit: squares of what is tiny or huge neither vanish nor overflow. */
static void deviations_do_not_depend_on_the_unit(void **state) {
    (void)state;
    static const char *const types[] = {"float", "double"};
    for (int t = 0; t < 2; t++) {
        kf_t1_argument argument = {.count = 4};
        assert_true(kf_t1_find_type(types[t], &argument.type));
        const int least = t == 0 ? -120 : -1000, most = t == 0 ? 120 : 1020;
        for (int exponent = least; exponent <= most; exponent += 10) {
            float single[2][4];
            double wide[2][4];
            size_t worst = 9;
            for (int i = 0; i < 4; i++) {
                wide[0][i] = ldexp(3.0 + i, exponent);
                wide[1][i] = i == 2 ? ldexp(6.0, exponent) : wide[0][i];
                single[0][i] = (float)wide[0][i];
                single[1][i] = (float)wide[1][i];
            }
            const double off = t == 0 ? kf_t1_deviation(&argument, single[1], single[0], &worst)
                                      : kf_t1_deviation(&argument, wide[1], wide[0], &worst);
            if (!(fabs(off - 1.0 / sqrt(86.0)) < 1e-12) || worst != 2)
                fail_msg("%s at 2^%d is off by %g", types[t], exponent, off);
        }
    }
}

/* A whole number of 64 bits that is wrong in its last bit is wrong, alone or in an array of small ones. */
static void deviations_show_each_bit_of_a_whole_number(void **state) {
    (void)state;
    static const char *const types[] = {"int64", "uint64", "int32", "uint8"};
    for (int t = 0; t < 4; t++) {
        kf_t1_argument argument = {.count = 3};
        assert_true(kf_t1_find_type(types[t], &argument.type));
        const size_t bits = 8 * argument.type.bytes;
        for (size_t bit = 0; bit < bits; bit++)
            for (int base = 0; base < 2; base++) {
                uint64_t right[3] = {0}, values[3] = {0};
                size_t worst = 9;
                char text[96] = "";
                memset(right, base ? 0x7d : 0, sizeof right);
                memcpy(values, right, sizeof right);
                ((unsigned char *)values)[(bits + bit) / 8] ^= (unsigned char)(1U << bit % 8);
                assert_true(kf_t1_deviation(&argument, values, right, &worst) > 0.0);
                assert_int_equal((int)worst, 1);
                /* The message shows two numbers, not one twice. */
                kf_t1_tell_difference(&argument, values, right, 1, text, sizeof text);
                char *other = strstr(text, ", not ");
                assert_non_null(other);
                assert_string_not_equal(strstr(text, " is ") + 4, other + 6);
                *other = '\0';
                assert_string_not_equal(strstr(text, " is ") + 4, other + 6);
            }
    }
}

/* One wrong value does not vanish among millions that are right: each may be off by a hundred times the bound
 * of the whole, of itself or of the root mean square. */
static void deviations_show_one_wrong_value_among_many(void **state) {
    (void)state;
    enum { MANY = 1 << 21 };
    float *right = kf_allocate(MANY * sizeof *right), *values = kf_allocate(MANY * sizeof *values);
    kf_t1_argument argument = {.count = MANY};
    assert_true(kf_t1_find_type("float", &argument.type));
    for (int i = 0; i < MANY; i++)
        right[i] = i % 2 ? 1.0F : -1.0F;
    static const size_t places[] = {0, 12345, MANY - 1};
    for (int p = 0; p < 3; p++) {
        size_t worst = 9;
        memcpy(values, right, MANY * sizeof *values);
        values[places[p]] *= 1.05F;
        assert_true(fabs(kf_t1_deviation(&argument, values, right, &worst) - 0.05 / 100) < 1e-7);
        assert_int_equal(worst, places[p]);
        /* The error of a large value counts by its own size, that of a small one by the others'. */
        right[places[p]] = 3.0F;
        memcpy(values, right, MANY * sizeof *values);
        values[places[p]] *= 1.05F;
        assert_true(fabs(kf_t1_deviation(&argument, values, right, &worst) - 0.05 / 100) < 1e-7);
        right[places[p]] = 1e-6F;
        memcpy(values, right, MANY * sizeof *values);
        values[places[p]] = 2e-6F;
        assert_true(kf_t1_deviation(&argument, values, right, &worst) < 1.1e-8);
        right[places[p]] = 1.0F;
    }
    /* Errors of all values count as before. */
    for (int i = 0; i < MANY; i++)
        values[i] = right[i] * (i % 3 ? 1.001F : 0.999F);
    size_t worst = 9;
    assert_true(fabs(kf_t1_deviation(&argument, values, right, &worst) - 1e-3) < 1e-6);
    free(right);
    free(values);
}

/* --- CUDA without a GPU --------------------------------------------------------------------------------- */

static void cuda_is_refused_on_the_cpu(void **state) {
    (void)state;
    kf_problem *problem = open_problem("stencil.t1.json");
    kf_device_info cpu = {.backend = "cpu"}, gpu = {.backend = "cuda"};
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_system_t1.accepts_device(problem, &cpu, &error), KF_MACHINE);
    assert_non_null(strstr(error.message, "needs a GPU"));
    assert_int_equal(kf_system_t1.accepts_device(problem, &gpu, &error), KF_OK);
    kf_problem_free(problem);
    problem = open_problem("sums.t1.json"); /* plain C: the other way round */
    assert_int_equal(kf_system_t1.accepts_device(problem, &gpu, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "tune it with --device cpu"));
    assert_int_equal(kf_system_t1.accepts_device(problem, &cpu, &error), KF_OK);
    kf_problem_free(problem);
}

static kf_status compile(const kf_source *source, void *data, kf_error *error) {
    kf_device_info info = {.backend = "cuda", .spec = "cuda:0", .architecture = "sm_90"};
    return kf_source_prebuild(&info, source, data, error);
}

static void cuda_compiles_with_parameters_as_defines(void **state) {
    (void)state;
    kf_problem *problem = open_problem("stencil.t1.json");
    kf_config config = ((const kf_t1_problem *)problem->own)->reference;
    kf_build plain, shared;
    kf_error error = {KF_OK, ""};
    if (kf_t1_sources(problem, &config, NULL, compile, &plain, &error) != KF_OK) {
        kf_problem_free(problem);
        if (!strstr(error.message, "libnvrtc") && !strstr(error.message, "without CUDA"))
            fail_msg("%s", error.message);
        skip();
    }
    kf_config_set_integer(&config, "use_shared", 1);
    if (kf_t1_sources(problem, &config, NULL, compile, &shared, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_string_not_equal(plain.hash, shared.hash);
    kf_problem_free(problem);
}

static void launches_follow_the_config(void **state) {
    (void)state;
    kf_problem *problem = open_problem("stencil.t1.json");
    const kf_t1_problem *own = problem->own;
    kf_config config = own->reference;
    kf_error error = {KF_OK, ""};
    long value = 0;
    kf_config_set_integer(&config, "block_x", 64);
    kf_config_set_integer(&config, "block_y", 8);
    kf_config_set_integer(&config, "per_thread", 4);
    kf_config_set_integer(&config, "use_shared", 1);
    /* GridDiv counts, not GlobalSize, which the published files have from another run: 4001 / 256, rounded
     * up. */
    assert_int_equal(kf_t1_evaluate(own, "", own->blocks[0], &config, 1, 1 << 30, &value, &error), KF_OK);
    assert_int_equal(value, 16);
    assert_int_equal(kf_t1_evaluate(own, "", own->blocks[1], &config, 1, 1 << 30, &value, &error), KF_OK);
    assert_int_equal(value, 512);
    assert_int_equal(kf_t1_evaluate(own, "", own->shared_bytes, &config, 0, 1 << 30, &value, &error), KF_OK);
    assert_int_equal(value, 8 * (64 * 4 + 8) * 4);
    assert_int_equal(
        kf_t1_evaluate(own, "the shared memory", own->shared_bytes, &config, 0, 100, &value, &error),
        KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "the shared memory comes to 8448"));
    kf_problem_free(problem);
}

/* A __constant__ variable has one value for all rounds, and the reference must have the same. */
static void constants_stay_in_all_rounds(void **state) {
    (void)state;
    static const char weights[] = "{\"Name\": \"weights\", \"Type\": \"float\", \"MemoryType\": \"Vector\", "
                                  "\"AccessType\": \"ReadOnly\", "
                                  "\"MemType\": \"Constant\", \"Size\": 9, \"FillType\": \"Random\"}, "
                                  "{\"Name\": \"weight\", \"Type\"";
    change("blur.t1.json", "{\"Name\": \"weight\", \"Type\"", weights);
    kf_problem *problem = open_problem("changed.t1.json");
    kf_backend *backend = NULL;
    kf_plan *plan = NULL;
    kf_t1_masters masters = {.buffers = {{NULL}}};
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    assert_int_equal(
        kf_t1_plan(problem, &((const kf_t1_problem *)problem->own)->reference, backend, &plan, &error),
        KF_OK);
    for (int argument = 1; argument < 3; argument++) { /* in, weights */
        float *first = NULL, *other = NULL;
        assert_int_equal(kf_plan_initialise(plan, &error), KF_OK);
        assert_int_equal(kf_t1_download(plan, argument, (void **)&first, &error), KF_OK);
        assert_int_equal(kf_t1_restore(plan, &masters, 1, &error), KF_OK);
        assert_int_equal(kf_backend_synchronize(backend, &error), KF_OK);
        assert_int_equal(kf_t1_download(plan, argument, (void **)&other, &error), KF_OK);
        assert_true((memcmp(first, other, 8 * sizeof *first) == 0) == (argument == 2));
        free(first);
        free(other);
    }
    kf_t1_free_masters(&masters);
    kf_plan_free(plan);
    kf_backend_close(backend);
    kf_problem_free(problem);
}

/* In long sums errors of low precision average out. The first input therefore has almost no non-zero
 * values, and its factor has many. */
static void few_values_are_few(void **state) {
    (void)state;
    change("blur.t1.json", "{\"Name\": \"weight\", \"Type\"",
           "{\"Name\": \"factors\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": "
           "\"ReadOnly\", "
           "\"Size\": 4096, \"FillType\": \"Random\"}, {\"Name\": \"weight\", \"Type\"");
    change("changed.t1.json", "\"blur.cu\"", "\"nowhere.cu\""); /* no argument has this file */
    kf_problem *problem = open_problem("changed.t1.json");
    const kf_t1_problem *own = problem->own;
    int inputs = 0;
    for (int i = 0; i < own->argument_count; i++) {
        const kf_t1_argument *argument = &own->arguments[i];
        size_t kept = 0;
        if (argument->fill != KF_T1_RANDOM) continue;
        void *values = kf_allocate(argument->count * argument->type.bytes);
        assert_int_equal(kf_t1_fill(own, argument, 2, argument->count, values, NULL), KF_OK);
        for (size_t at = 0; at < argument->count; at++)
            kept += kf_t1_value(&argument->type, values, at) != 0.0;
        free(values);
        if (inputs++ == 0)
            assert_true(kept >= 32 && kept <= argument->count / 256);
        else
            assert_true(kept >= argument->count / 3 && kept <= argument->count / 3 * 2);
    }
    assert_int_equal(inputs, 2);
    kf_problem_free(problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_judges_the_default_too),
        cmocka_unit_test(a_reference_kernel_judges_the_default_too),
        cmocka_unit_test(a_size_can_be_asked_for),
        cmocka_unit_test(data_decides_the_hash),
        cmocka_unit_test(plain_c_follows_its_file),
        cmocka_unit_test(the_kernel_gets_its_arguments),
        cmocka_unit_test(a_fast_wrong_config_is_refused),
        cmocka_unit_test(deviations_are_relative_and_exact_for_whole_numbers),
        cmocka_unit_test(deviations_do_not_depend_on_the_unit),
        cmocka_unit_test(deviations_show_each_bit_of_a_whole_number),
        cmocka_unit_test(deviations_show_one_wrong_value_among_many),
        cmocka_unit_test(cuda_is_refused_on_the_cpu),
        cmocka_unit_test(cuda_compiles_with_parameters_as_defines),
        cmocka_unit_test(launches_follow_the_config),
        cmocka_unit_test(constants_stay_in_all_rounds),
        cmocka_unit_test(few_values_are_few),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
