/* Kernels that are not kftune's: the problem file, its space, launches on the cpu against a reference run,
 * CUDA as far as it goes without a GPU. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/backend/cache.h"
#include "base/space/space.h"
#include "base/util/memory.h"
#include "solver/systems.h"
#include "solver/t1/t1.h"
#include "tests/unit/kernel_folder.h"

static char data_folder[KF_PATH], problem_folder[KF_PATH];

static void copy_file(const char *name) {
    char from[KF_PATH], to[KF_PATH], *text = NULL;
    size_t size = 0;
    assert_int_equal(kf_path(from, NULL, "%s/tests/data/t1/%s", data_folder, name), KF_OK);
    assert_int_equal(kf_path(to, NULL, "%s/%s", problem_folder, name), KF_OK);
    assert_int_equal(kf_file_read(from, 0, &text, &size, NULL), KF_OK);
    assert_int_equal(kf_file_write_atomic(to, text, size, NULL), KF_OK);
    free(text);
}

/* The path of a problem file in the scratch folder; the last one stays valid. */
static const char *problem_path(const char *name) {
    static char path[KF_PATH];
    assert_int_equal(kf_path(path, NULL, "%s/%s", problem_folder, name), KF_OK);
    return path;
}

static kf_problem *open_problem(const char *name) {
    kf_problem *problem = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_problem_open(problem_path(name), NULL, NULL, &problem, &error) != KF_OK)
        fail_msg("%s", error.message);
    return problem;
}

static kf_config config_of(const kf_problem *problem, long block_x, long block_y, long rows, bool shortcut) {
    kf_config config = ((const kf_t1_problem *)problem->own)->reference;
    kf_config_set_integer(&config, "block_x", block_x);
    kf_config_set_integer(&config, "block_y", block_y);
    kf_config_set_integer(&config, "rows", rows);
    kf_config_set_boolean(&config, "shortcut", shortcut);
    return config;
}

/* --- the space ------------------------------------------------------------------------------------------ */

static kf_space *open_space(const kf_problem *problem) {
    kf_variables variables;
    kf_device_info device = {.backend = "cpu"};
    kf_space *space = NULL;
    kf_error error = {KF_OK, ""};
    kf_system_t1.variables(problem, &device, &variables);
    if (kf_space_open(kf_system_t1.name, kf_system_t1.space_file, &variables, NULL, 0, &space, &error) !=
        KF_OK)
        fail_msg("%s", error.message);
    return space;
}

static void a_problem_has_its_space(void **state) {
    (void)state;
    kf_problem *problem = open_problem("blur.t1.json");
    const kf_t1_problem *own = problem->own;
    kf_space *space = open_space(problem);
    long block_x = 0, block_y = 0;
    /* Of 4 x 3 blocks those of 32 to 128 threads: 16x2, 16x4, 32x1, 32x2, 32x4, 48x1, 48x2, 64x1, 64x2. */
    assert_int_equal((int)kf_space_size(space), 9 * 4 * 2);
    /* The default of 16 x 1 threads breaks the condition; one change mends it. */
    assert_int_equal(kf_config_integer(&own->reference, "block_x", &block_x, NULL), KF_OK);
    assert_int_equal(kf_config_integer(&own->reference, "block_y", &block_y, NULL), KF_OK);
    assert_int_equal(block_x, 32);
    assert_int_equal(block_y, 1);
    assert_non_null(strstr(problem->notes, "32 <= block_x * block_y"));
    assert_string_equal(problem->name, "blur");
    int size[3];
    assert_true(kf_facts_get_size(&problem->facts, size));
    assert_int_equal(size[0], 301);
    assert_int_equal(size[2], 1);
    assert_int_equal(own->argument_count, 5);
    assert_true(own->arguments[0].output);
    assert_false(own->arguments[1].output);
    kf_space_free(space);
    kf_problem_free(problem);
}

static void files_decide_the_hash(void **state) {
    (void)state;
    char first[KF_HASH_HEX];
    kf_problem *problem = open_problem("blur.t1.json");
    memcpy(first, problem->hash, sizeof first);
    kf_problem_free(problem);
    problem = open_problem("blur.t1.json");
    assert_string_equal(first, problem->hash);
    kf_problem_free(problem);
    assert_int_equal(kf_file_write_atomic(problem_path("blur.cu"), "/* another kernel */\n", 21, NULL),
                     KF_OK);
    problem = open_problem("blur.t1.json");
    assert_string_not_equal(first, problem->hash);
    kf_problem_free(problem);
    copy_file("blur.cu");
}

static void sizes_and_ends_are_words_of_expressions(void **state) {
    (void)state;
    kf_problem *problem = open_problem("blur.t1.json");
    static const char *const pairs[][2] = {
        {"ProblemSize[0] * ProblemSize[1] + ProblemSize[2]", "301 * 203 + 1"},
        {"max(rows) - min(block_x)", "8 - 16"},
        {"max(rows, 3)", "max(rows, 3)"},
        {"'max(rows)' == \"ProblemSize[0]\"", "'max(rows)' == \"ProblemSize[0]\""},
        {"xmax(rows) + ProblemSize[3]", "xmax(rows) + ProblemSize[3]"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        kf_text text = {0};
        kf_t1_expand(problem->own, pairs[i][0], &text);
        assert_string_equal(text.text, pairs[i][1]);
        kf_text_free(&text);
    }
    kf_problem_free(problem);
}

/* --- what is refused ------------------------------------------------------------------------------------ */

/* changed.t1.json is the file with the first `from` replaced. */
static void change(const char *file, const char *from, const char *to) {
    char *text = NULL;
    size_t size = 0;
    kf_text changed = {0};
    assert_int_equal(kf_file_read(problem_path(file), 0, &text, &size, NULL), KF_OK);
    const char *at = strstr(text, from);
    if (at == NULL) fail_msg("%s lacks %s", file, from);
    kf_text_append(&changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_int_equal(
        kf_file_write_atomic(problem_path("changed.t1.json"), changed.text, strlen(changed.text), NULL),
        KF_OK);
    kf_text_free(&changed);
    free(text);
}

/* The file so changed is refused with a message that holds `says`. */
static void expect_refused(const char *file, const char *from, const char *to, const char *says) {
    kf_problem *problem = NULL;
    kf_error error = {KF_OK, ""};
    change(file, from, to);
    const kf_status status = kf_problem_open(problem_path("changed.t1.json"), "t1", NULL, &problem, &error);
    if (status != KF_BAD_INPUT || strstr(error.message, says) == NULL || strchr(error.message, '\n') != NULL)
        fail_msg("%s for %s: status %d: %s", to, from, (int)status, error.message);
    assert_null(problem);
}

static void mistakes_are_named_with_their_place(void **state) {
    (void)state;
    static const char *const mistakes[][3] = {
        {"\"portable\"", "\"OpenCL\"", "is OpenCL, which kftune has no backend for"},
        {"\"KernelFile\"", "\"ReferenceFile\": \"nowhere.cu\", \"KernelFile\"", "nowhere.cu is not there"},
        {"\"portable\"", "\"Fortran\"", "KernelSpecification.Language"},
        {"\"ConfigurationSpace\"", "\"Configuration\"", "ConfigurationSpace"},
        {"\"-DUNUSED=1\"", "\"-O3\"", "'-O3' is not taken"},
        {"\"int\", \"Values\": [1, 2, 4, 8]", "\"float\", \"Values\": [1, 2, 4, 8]", "as strings"},
        {"[1, 2, 4, 8]", "[1, 2, \"four\"]", "value 3 is not of the parameter's type"},
        {"[1, 2, 4, 8]", "[]", "is empty"},
        {"for i in range(1, 5)]", "for i in range(1, 5)", "TuningParameters[0].Values"},
        {"32 <= block_x * block_y", "32 <= blockx * block_y", "did you mean 'block_x'"},
        {"32 <= block_x * block_y <= 128", "rows == 3", "no config near them"},
        {"\"X\": \"block_x\"", "\"X\": \"block_z\"", "LocalSize.X"},
        {"[301, 203]", "[301, 0]", "ProblemSize"},
        {"[301, 203]", "[301, 203, 1, 1]", "ProblemSize"},
        {"\"Size\": \"ProblemSize[0] * ProblemSize[1]\"", "\"Size\": \"rows * ProblemSize[0]\"",
         "use max(PARAMETER)"},
        {"\"Size\": \"ProblemSize[0] * ProblemSize[1]\"", "\"Size\": 0.5", "comes to 0.5 values"},
        {"\"Size\": \"ProblemSize[0] * ProblemSize[1]\"", "\"Size\": 1e300", "16 GiB"},
        {"\"WriteOnly\"", "\"ReadOnly\"", "could be verified"},
        {"\"int32\"", "\"int31\"", "did you mean"},
        {"\"FillValue\": \"ProblemSize[0]\"", "\"FillValue\": 1e12", "is not a value of type int32"},
        {"\"FillValue\": 0.1111111111", "\"FillValue\": 1e60", "is not a value of type float"},
        {"\"FillType\": \"Random\"", "\"FillType\": \"Rndom\"", "FillType"},
        {"\"FillType\": \"Random\"", "\"FillType\": \"BinaryRaw\", \"DataSource\": \"blur.cu\"",
         "needs 244412"},
        {"\"AccessType\": \"WriteOnly\"", "\"AccessType\": \"WriteOnly\", \"ReferenceSource\": \"blur.cu\"",
         "needs 244412"},
        {"\"FillType\": \"Random\"", "\"FillType\": \"Random\", \"ReferenceSource\": \"answer.raw\"",
         "in is no output"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        expect_refused("blur.t1.json", mistakes[i][0], mistakes[i][1], mistakes[i][2]);
    kf_problem *problem = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_problem_open(problem_path("nowhere.t1.json"), "t1", NULL, &problem, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "nowhere.t1.json"));
}

/* What published files have: a list of defaults, a default that is none of the values. */
static void defaults_are_mended_and_said(void **state) {
    (void)state;
    static const struct {
        const char *given, *says;
        long rows;
    } defaults[] = {
        {"3", "the Default of 'rows' is 3, which is none of its values; in its place: rows=2", 2},
        {"100", "in its place: rows=8", 8},
        {"[4]", "the Default of 'rows' is [4], which is a list; in its place: rows=4", 4},
        {"[3, 8, 2]", "in its place: rows=8", 8},
        {"[]", "in its place: rows=1", 1},
        {"\"many\"", "in its place: rows=1", 1},
    };
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        char to[64];
        long rows = 0;
        (void)snprintf(to, sizeof to, "[1, 2, 4, 8], \"Default\": %s", defaults[i].given);
        change("blur.t1.json", "[1, 2, 4, 8], \"Default\": 1", to);
        kf_problem *problem = open_problem("changed.t1.json");
        const kf_t1_problem *own = problem->own;
        assert_int_equal(kf_config_integer(&own->reference, "rows", &rows, NULL), KF_OK);
        assert_int_equal(rows, defaults[i].rows);
        assert_non_null(problem->notes);
        if (strstr(problem->notes, defaults[i].says) == NULL)
            fail_msg("'%s' lacks '%s'", problem->notes, defaults[i].says);
        /* The block that breaks the condition is said as before, in a line of its own. */
        assert_non_null(strstr(problem->notes, "\nthe file's defaults break its condition"));
        kf_problem_free(problem);
    }
}

/* A space needs no kernel; a launch does, and says which file it lacks. */
static void a_space_needs_no_kernel(void **state) {
    (void)state;
    change("blur.t1.json", "\"blur.cu\"", "\"nowhere.cu\"");
    kf_problem *problem = open_problem("changed.t1.json"), *small = NULL;
    kf_space *space = open_space(problem);
    kf_error error = {KF_OK, ""};
    int steps = 0;
    assert_int_equal((int)kf_space_size(space), 9 * 4 * 2);
    assert_int_equal(kf_system_t1.trial(problem, &small, &steps, &error), KF_BAD_INPUT);
    assert_non_null(
        strstr(error.message, "nowhere.cu is not there; it is looked for beside the problem file"));
    assert_null(small);
    kf_space_free(space);
    kf_problem_free(problem);
}

/* --- on the cpu ----------------------------------------------------------------------------------------- */

/* Ten launches of a config against those of the reference. */
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

/* The mean by plain loops. */
static void expect_blurred(const kf_problem *problem, const float *out) {
    const kf_t1_problem *own = problem->own;
    const float *in = own->arguments[1].initial;
    const int width = (int)own->size[0], height = (int)own->size[1];
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double sum = 0.0;
            for (int j = y - 1; j <= y + 1; j++)
                for (int i = x - 1; i <= x + 1; i++)
                    if (i >= 0 && i < width && j >= 0 && j < height) sum += (double)in[j * width + i];
            assert_true(fabs(sum / 9.0 - (double)out[y * width + x]) < 1e-5);
        }
}

static void the_kernel_gets_its_arguments(void **state) {
    (void)state;
    kf_problem *problem = open_problem("blur.t1.json");
    const kf_config config = config_of(problem, 48, 2, 4, false);
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
    kf_config config = config_of(problem, 64, 2, 8, false);
    if (verify(problem, &config, &verification, &error) != KF_OK) fail_msg("%s", error.message);
    assert_true(verification.error <= verification.bound && verification.bound == 1e-4);
    config = config_of(problem, 64, 2, 8, true);
    assert_int_equal(verify(problem, &config, &verification, &error), KF_GATE_FAILED);
    assert_true(verification.error > 0.1);
    assert_non_null(strstr(error.message, "deviates from the reference run"));
    assert_non_null(strstr(verification.worst, "out["));
    kf_problem_free(problem);
}

/* The mean by plain loops, as its author would hand it over; with one value off in the second round. */
static void write_answer(const kf_problem *problem, double off) {
    const kf_t1_problem *own = problem->own;
    const float *in = own->arguments[1].initial;
    const int width = (int)own->size[0], height = (int)own->size[1];
    float *out = kf_allocate((size_t)width * (size_t)height * sizeof *out);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double sum = 0.0;
            for (int j = y - 1; j <= y + 1; j++)
                for (int i = x - 1; i <= x + 1; i++)
                    if (i >= 0 && i < width && j >= 0 && j < height) sum += (double)in[j * width + i];
            out[y * width + x] = (float)(sum / 9.0);
        }
    out[17] += (float)off;
    assert_int_equal(kf_file_write_atomic(problem_path("answer.raw"), out,
                                          (size_t)width * (size_t)height * sizeof *out, NULL),
                     KF_OK);
    free(out);
}

/* With the author's own answer even the default config is judged: a reference run would call it right. */
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

/* A kernel that sums nine values straight, or with one neighbour left out. */
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

/* Another size than the file's is another problem, with data and launches to match. */
static void a_size_can_be_asked_for(void **state) {
    (void)state;
    kf_problem *whole = open_problem("blur.t1.json"), *problem = NULL;
    kf_problem_options options = {.seed = 1, .nodes = {64, 30, 1}};
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_problem_open(problem_path("blur.t1.json"), "t1", &options, &problem, &error), KF_OK);
    const kf_t1_problem *own = problem->own;
    const kf_config config = config_of(problem, 48, 2, 4, false);
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

/* What a file fills an argument with is a part of the problem. */
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
    const kf_t1_type real = {"float", 4, true, true}, whole = {"int16", 2, false, true};
    const float right[] = {3.0F, 4.0F, (float)NAN}, near[] = {3.0F, 4.5F, (float)NAN},
                lost[] = {3.0F, 4.0F, 0.0F};
    const int16_t counted[] = {-3, 4}, miscounted[] = {-3, 5};
    size_t worst = 9;
    kf_t1_argument argument = {.type = &real, .count = 3};
    assert_true(kf_t1_deviation(&argument, right, right, &worst) == 0.0);
    assert_true(fabs(kf_t1_deviation(&argument, near, right, &worst) - 0.1) < 1e-12);
    assert_int_equal((int)worst, 1);
    assert_false(kf_t1_deviation(&argument, lost, right, &worst) <= 1e9);
    argument = (kf_t1_argument){.type = &whole, .count = 2};
    assert_true(kf_t1_value(&whole, counted, 0) == -3.0);
    assert_true(kf_t1_deviation(&argument, counted, counted, &worst) == 0.0);
    assert_true(fabs(kf_t1_deviation(&argument, miscounted, counted, &worst) - 0.2) < 1e-12);
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
    /* GridDiv counts, not GlobalSize, which the published files have of another run: 4001 / 256, rounded up.
     */
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

/* The spaces that others published, of which their measurements have every config. */
static void published_problems_have_their_spaces(void **state) {
    (void)state;
    static const struct {
        const char *file, *kernel;
        int configs;
    } published[] = {{"convolution.t1.json", "convolution_milo.cu", 4362},
                     {"dedispersion.t1.json", "dedisp_milo/dedispersion.cu.hip", 11130}};
    char from[KF_PATH];
    const char *folder = getenv("KFTUNE_SHARED");
    if (folder == NULL) skip();
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        char *text = NULL;
        size_t size = 0;
        assert_int_equal(kf_path(from, NULL, "%s/landscapes/%s", folder, published[i].file), KF_OK);
        if (kf_file_read(from, 0, &text, &size, NULL) != KF_OK) skip();
        assert_int_equal(kf_file_write_atomic(problem_path(published[i].file), text, size, NULL), KF_OK);
        free(text);
        assert_int_equal(kf_make_folders(problem_path("dedisp_milo"), NULL), KF_OK);
        assert_int_equal(kf_file_write_atomic(problem_path(published[i].kernel), "\n", 1, NULL), KF_OK);
        kf_problem *problem = open_problem(published[i].file);
        kf_space *space = open_space(problem);
        assert_int_equal((int)kf_space_size(space), published[i].configs);
        kf_space_free(space);
        kf_problem_free(problem);
    }
}

static int set_up(void **state) {
    (void)state;
    if (find_shipped_data(data_folder) || make_kernel_folder() ||
        kf_path(problem_folder, NULL, "%s/problems", kernel_scratch) != KF_OK ||
        kf_make_folders(problem_folder, NULL) != KF_OK)
        return 1;
    static const char *const files[] = {"blur.cu", "blur.t1.json", "stencil.cu",       "stencil.t1.json",
                                        "sums.c",  "sums.t1.json", "sums.reference.cu"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        copy_file(files[i]);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    return remove_kernel_folder();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_has_its_space),
        cmocka_unit_test(files_decide_the_hash),
        cmocka_unit_test(sizes_and_ends_are_words_of_expressions),
        cmocka_unit_test(mistakes_are_named_with_their_place),
        cmocka_unit_test(defaults_are_mended_and_said),
        cmocka_unit_test(a_space_needs_no_kernel),
        cmocka_unit_test(an_answer_judges_the_default_too),
        cmocka_unit_test(a_reference_kernel_judges_the_default_too),
        cmocka_unit_test(a_size_can_be_asked_for),
        cmocka_unit_test(data_decides_the_hash),
        cmocka_unit_test(plain_c_follows_its_file),
        cmocka_unit_test(the_kernel_gets_its_arguments),
        cmocka_unit_test(a_fast_wrong_config_is_refused),
        cmocka_unit_test(deviations_are_relative_and_exact_for_whole_numbers),
        cmocka_unit_test(cuda_is_refused_on_the_cpu),
        cmocka_unit_test(cuda_compiles_with_parameters_as_defines),
        cmocka_unit_test(launches_follow_the_config),
        cmocka_unit_test(published_problems_have_their_spaces),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
