/* Tests problem files of kernels that are not kftune's: spaces, hashes, refusals. Faults: a file that is
 * misread, or a change that the hash misses. */
#include "tests/unit/t1_fixture.h"

#include "tests/unit/without_keys.h"

static void a_problem_has_its_space(void **state) {
    (void)state;
    kf_problem *problem = open_problem("blur.t1.json");
    const kf_t1_problem *own = problem->own;
    kf_space *space = open_space(problem);
    long block_x = 0, block_y = 0;
    /* The blocks of 4 x 3 values with 32 to 128 threads are 16x2, 16x4, 32x1, 32x2, 32x4, 48x1, 48x2, 64x1
     * and 64x2. */
    assert_int_equal((int)kf_space_size(space), 9 * 4 * 2);
    /* The default of 16 x 1 threads violates the condition. One change repairs it. */
    assert_int_equal(kf_config_integer(&own->reference, "block_x", &block_x, NULL), KF_OK);
    assert_int_equal(kf_config_integer(&own->reference, "block_y", &block_y, NULL), KF_OK);
    assert_int_equal(block_x, 32);
    assert_int_equal(block_y, 1);
    assert_non_null(strstr(problem->notes.text, "32 <= block_x * block_y"));
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
        {"ProblemSize + ProblemSizes", "301 + ProblemSizes"},
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

/* --- Refusals ----------------------------------------------------------------------------------------- */

/* The file with this change is refused with a message that contains `says`. */
static void expect_refused(const char *file, const char *from, const char *to, const char *says) {
    kf_problem *problem = NULL;
    kf_error error = {KF_OK, ""};
    change(file, from, to);
    const kf_status status = kf_problem_open(problem_path("changed.t1.json"), "t1", NULL, &problem, &error);
    if (status != KF_BAD_INPUT || strstr(error.message, says) == NULL || strchr(error.message, '\n') != NULL)
        fail_msg("%s for %s: status %d: %s", to, from, (int)status, error.message);
    assert_null(problem);
}

/* --- Refused files --- */

static void mistakes_are_named_with_their_place(void **state) {
    (void)state;
#define LANGUAGE "\"portable\",\n        \"CompilerOptions\": "
    static const char *const mistakes[][3] = {
        {"\"KernelFile\"", "\"ReferenceFile\": \"nowhere.cu\", \"KernelFile\"", "nowhere.cu is not there"},
        {"\"portable\"", "\"Fortran\"", "KernelSpecification.Language"},
        {"\"ConfigurationSpace\"", "\"Configuration\"", "ConfigurationSpace"},
        {"\"Name\": \"block_y\"", "\"Name\": \"block-y\"", "TuningParameters[1].Name: 'block-y' is no name"},
        {"\"Name\": \"block_y\"", "\"Name\": \"block_x\"",
         "[1].Name: 'block_x' is the name of TuningParameters[0], too"},
        {"\"-DUNUSED=1\"", "\"-O3\"", "'-O3' is not taken"},
        {"\"int\", \"Values\": [1, 2, 4, 8]", "\"float\", \"Values\": [1, \"x\"]", "must be finite numbers"},
        {"\"blur.cu\"", "[]", "KernelFile"},
        {"\"blur.cu\"", "7", "KernelFile"},
        {"\"-DUNUSED=1\"", "\"-D\"", "'-D' is not taken"},
        {"\"-DUNUSED=1\"", "\"-Ifolder\"", "'-Ifolder' is not taken; only -D and -std= are"},
        {LANGUAGE "[\"-DUNUSED=1\"]", "\"CUDA\", \"CompilerOptions\": [\"-arch=sm_80\"]", "leave it out"},
        {LANGUAGE "[\"-DUNUSED=1\"]", "\"CUDA\", \"CompilerOptions\": [\"-rdc=true\"]", "--use_fast_math"},
        {LANGUAGE "[\"-DUNUSED=1\"]", "\"C\", \"CompilerOptions\": [\"-x\"]", "-O, -f, -m"},
        {"\"Scalar\", \"FillValue\": 0.1", "\"Local\", \"FillValue\": 0.1", "Local memory"},
        {"\"float\", \"MemoryType\": \"Scalar\"", "\"float4\", \"MemoryType\": \"Scalar\"", "give a Vector"},
        {"\"FillType\": \"Random\"", "\"FillType\": \"Generator\"", "DataSource"},
        {"\"FillType\": \"Random\"", "\"DataSource\": \"blur.cu\"",
         "DataSource: is for the FillTypes BinaryRaw"},
        {"\"FillType\": \"Random\"", "\"FillType\": \"BinaryRaw\", \"DataSource\": \"none.raw\"",
         "].DataSource: "},
        {"\"FillType\": \"Random\"", "\"FillType\": \"Generator\", \"DataSource\": \"j + 1\"",
         "unknown name 'j'"},
        {"\"FillType\": \"Random\"", "\"FillType\": \"Generator\", \"DataSource\": \"1 / (i - 7)\"",
         "for i = 7"},
        {"[1, 2, 4, 8]", "[1, 2, \"four\"]", "value 3, four, is not of the parameter's type, int"},
        {"[1, 2, 4, 8]", "[1, 2.5]", "value 2, 2.5, is not of the parameter's type, int"},
        {"\"int\", \"Values\": [1, 2, 4, 8]", "\"uint\", \"Values\": [1, -2]",
         "value 2, -2, is not of the parameter's type, uint"},
        {"[1, 2, 4, 8]", "[]", "is empty"},
        {"for i in range(1, 5)]", "for i in range(1, 5)", "TuningParameters[0].Values"},
        {"32 <= block_x * block_y", "32 <= blockx * block_y", "did you mean 'block_x'"},
        {"32 <= block_x * block_y <= 128", "rows == 3", "no config near them"},
        {"\"X\": \"block_x\"", "\"X\": \"block_z\"", "LocalSize.X"},
        {"[301, 203]", "[301, 0]", "ProblemSize"},
        {"[301, 203]", "[301, \"rows\"]", "ProblemSize"},
        {"[301, 203]", "[]", "ProblemSize"},
        {"\"Name\": \"rows\"", "\"Name\": \"int\"", "'int' is a word of C"},
        {"\"Name\": \"rows\"", "\"Name\": \"not\"", "'not' is a word of C or of conditions"},
        {"[301, 203]", "[301, 203, 1, 1]", "ProblemSize"},
        {"\"Size\": \"ProblemSize[0] * ProblemSize[1]\"", "\"Size\": \"rows * ProblemSize[0]\"",
         "of two configs cannot be compared"},
        {"\"FillType\": \"Constant\", \"FillValue\": 0.0, \"Size\": \"ProblemSize[0] * ProblemSize[1]\"",
         "\"Output\": 0, \"FillType\": \"BinaryRaw\", \"DataSource\": \"x\", \"Size\": \"rows * 4\"",
         "a file has one size"},
        {"\"Size\": \"ProblemSize[0] * ProblemSize[1]\"", "\"Size\": \"raws * 4\"", "did you mean 'rows'"},
        {"\"Size\": \"ProblemSize[0] * ProblemSize[1]\"", "\"Size\": 0.5", "comes to 0.5 values"},
        {"\"Size\": \"ProblemSize[0] * ProblemSize[1]\"", "\"Size\": 1e300", "16 GiB"},
        {"\"WriteOnly\"", "\"ReadOnly\"", "could be verified"},
        {"\"int32\"", "\"int31\"", "did you mean"},
        {"\"FillValue\": \"ProblemSize[0]\"", "\"FillValue\": 1e12", "is not a value of type int32"},
        {"\"FillValue\": 0.1111111111", "\"FillValue\": 1e60", "is not a value of type float"},
        {"\"FillType\": \"Random\"", "\"FillType\": \"Rndom\"", "FillType"},
        {"\"FillValue\": 0.1111111111", "\"FillValue\": [1]", "Arguments[2].FillValue: must be a number or"},
        {"\"FillValue\": 0.1111111111", "\"FillValue\": true", "Arguments[2].FillValue: must be a number or"},
        {"\"FillValue\": 0.1111111111", "\"FillValue\": \"1 +\"", "Arguments[2].FillValue \"1 +\": column"},
        {"\"Size\": \"ProblemSize[0] * ProblemSize[1]\"", "\"Size\": [1]",
         "Arguments[0].Size: must be a number or"},
        {"\"FillType\": \"Random\"", "\"FillType\": \"BinaryRaw\", \"DataSource\": \"blur.cu\"",
         "needs 244412"},
        {"\"AccessType\": \"WriteOnly\"", "\"AccessType\": \"WriteOnly\", \"ReferenceSource\": \"blur.cu\"",
         "needs 244412"},
        {"\"FillType\": \"Random\"", "\"FillType\": \"Random\", \"ReferenceSource\": \"answer.raw\"",
         "in is not an output"},
    };
#undef LANGUAGE
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        expect_refused("blur.t1.json", mistakes[i][0], mistakes[i][1], mistakes[i][2]);
    kf_problem *problem = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_problem_open(problem_path("nowhere.t1.json"), "t1", NULL, &problem, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "nowhere.t1.json"));
}

static kf_status read_problem(const char *path, kf_error *error) {
    kf_problem *problem = NULL;
    const kf_status status = kf_problem_open(path, "t1", NULL, &problem, error);
    kf_problem_free(problem);
    return status;
}

/* A problem lacks one key after the other: what it needs is known, and all else may be left out. */
static void keys_that_are_needed(void **state) {
    (void)state;
    char source[KF_PATH], path[KF_PATH];
    char *data = kf_duplicate(getenv("KFTUNE_DATA")); /* of the fixture; known texts are in the real one */
    kf_copy_text(source, sizeof source, problem_path("blur.t1.json"));
    kf_copy_text(path, sizeof path, problem_path("without.t1.json"));
    assert_int_equal(unsetenv("KFTUNE_DATA"), 0);
    assert_needed(source, path, read_problem, "needed-t1.txt");
    assert_int_equal(setenv("KFTUNE_DATA", data, 1), 0);
    free(data);
}

/* Published files contain a list of defaults, or a default that is none of the values. */
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
        assert_non_null(problem->notes.text);
        if (strstr(problem->notes.text, defaults[i].says) == NULL)
            fail_msg("'%s' lacks '%s'", problem->notes.text, defaults[i].says);
        /* The block that violates the condition is reported in the same way, on a separate line. */
        assert_non_null(strstr(problem->notes.text, "\nthe file's defaults break its condition"));
        kf_problem_free(problem);
    }
}

/* A space needs no kernel. A launch needs one, and names the missing file. */
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
        strstr(error.message, "nowhere.cu is not there; kftune looks for it in the problem file's"));
    assert_null(small);
    kf_space_free(space);
    kf_problem_free(problem);
}

/* Published spaces have exactly the configs that their measurements cover. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_has_its_space),
        cmocka_unit_test(files_decide_the_hash),
        cmocka_unit_test(sizes_and_ends_are_words_of_expressions),
        cmocka_unit_test(mistakes_are_named_with_their_place),
        cmocka_unit_test(keys_that_are_needed),
        cmocka_unit_test(defaults_are_mended_and_said),
        cmocka_unit_test(a_space_needs_no_kernel),
        cmocka_unit_test(published_problems_have_their_spaces),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
