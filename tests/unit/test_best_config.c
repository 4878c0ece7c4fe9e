/* Tests the file of the best config. Faults: a member that is lost or changed between writing and reading,
 * or a wrong file that is taken. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/best_config.h"

static char folder[KF_PATH], file[KF_PATH];

static int make_folder(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/kftune-best-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL) return -1;
    return kf_path(file, NULL, "%s/car \"1\".kftune.json", folder) == KF_OK ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    (void)unlink(file);
    return rmdir(folder);
}

static kf_best_config *example(void) {
    kf_best_config *best = kf_allocate_zeroed(1, sizeof *best);
    *best = (kf_best_config){.version = "0.1.0",
                             .scene = "/scenes/car \"1\".obj",
                             .seed = 18446744073709551615u,
                             .config = {.system = "kinetic"},
                             .time_us = 1234.5678901234567,
                             .ci_us = {1230.1, 1240.2},
                             .updates_per_second = 12959.4e6,
                             .update = "node",
                             .bandwidth = 2.8e12,
                             .gain_baseline = 4.5,
                             .gain_paper = NAN,
                             .gain_default = 1.25,
                             .verification_error = 3.25e-7,
                             .verification_bound = 1e-5,
                             .tie_count = KF_BEST_TIES,
                             .tried = 17,
                             .document = cJSON_Parse("{\"flow\": {\"speed\": 30}}"),
                             .run_uuid = "01234567-89ab-4def-8123-456789abcdef"};
    kf_facts_size(&best->facts, (const int[3]){200, 400, 200}, "nodes");
    kf_facts_amount(&best->facts, "sample_count", 1500000, "samples");
    kf_facts_number(&best->facts, "samples_per_cell", 33.3, "");
    kf_facts_word(&best->facts, "collision", "bgk");
    best->device = (kf_device_info){.spec = "cuda:0",
                                    .backend = "cuda",
                                    .name = "Test device",
                                    .identity = "GPU-0000",
                                    .architecture = "sm_90",
                                    .driver = "1.0",
                                    .compiler = "nvrtc",
                                    .multiprocessors = 132,
                                    .warp_size = 32,
                                    .max_threads_per_block = 1024,
                                    .memory_bytes = 150754820096u,
                                    .l2_bytes = 62914560,
                                    .peak_bandwidth = 4.8e12};
    memset(best->scene_hash, 'c', KF_HASH_HEX - 1);
    kf_config_set_name(&best->config, "layout", "csoa");
    kf_config_set_integer(&best->config, "alpha", 64);
    kf_config_set_boolean(&best->config, "morton", true);
    kf_config_hash(&best->config, best->config_hash);
    for (int i = 0; i < KF_BEST_TIES; i++) {
        best->ties[i] = best->config;
        kf_config_set_integer(&best->ties[i], "alpha", i);
    }
    return best;
}

static void assert_same_config(const kf_config *a, const kf_config *b) {
    char *left = kf_config_text(a), *right = kf_config_text(b);
    assert_string_equal(left, right);
    free(left);
    free(right);
}

static void test_round_trip(void **state) {
    (void)state;
    kf_best_config *best = example(), *back = kf_allocate(sizeof *back);
    kf_error error = {0};
    if (kf_best_config_write(file, best, &error) != KF_OK) fail_msg("%s", error.message);
    if (kf_best_config_read(file, back, &error) != KF_OK) fail_msg("%s", error.message);
    assert_string_equal(back->version, best->version);
    assert_string_equal(back->scene, best->scene);
    assert_string_equal(back->scene_hash, best->scene_hash);
    assert_int_equal(back->facts.count, best->facts.count);
    for (int i = 0; i < best->facts.count; i++) {
        assert_string_equal(back->facts.list[i].name, best->facts.list[i].name);
        assert_string_equal(back->facts.list[i].word, best->facts.list[i].word);
    }
    assert_true(kf_facts_value(&back->facts, "samples_per_cell") == 33.3);
    assert_true(kf_facts_value(&back->facts, "size_y") == 400 && back->seed == best->seed);
    assert_string_equal(back->device.spec, best->device.spec);
    assert_string_equal(back->device.compiler, best->device.compiler);
    assert_true(back->device.memory_bytes == best->device.memory_bytes);
    assert_true(back->device.peak_bandwidth == best->device.peak_bandwidth);
    assert_int_equal(back->device.max_threads_per_block, best->device.max_threads_per_block);
    assert_same_config(&back->config, &best->config);
    assert_string_equal(back->config_hash, best->config_hash);
    assert_true(back->time_us == best->time_us && back->ci_us[0] == best->ci_us[0]);
    assert_true(back->updates_per_second == best->updates_per_second && back->bandwidth == best->bandwidth);
    assert_true(back->gain_baseline == best->gain_baseline && isnan(back->gain_paper));
    assert_true(back->verification_error == best->verification_error);
    assert_int_equal(back->tie_count, KF_BEST_TIES);
    assert_int_equal(back->tried, 17);
    assert_true(cJSON_Compare(back->document, best->document, true));
    for (int i = 0; i < KF_BEST_TIES; i++)
        assert_same_config(&back->ties[i], &best->ties[i]);
    assert_string_equal(back->run_uuid, best->run_uuid);
    kf_best_config_free(best);
    free(best);
    kf_best_config_free(back);
    free(back);
}

/* Returns the example's text with one part replaced. NULL: unchanged. */
static char *changed(const char *part, const char *by) {
    kf_best_config *best = example();
    assert_int_equal(kf_best_config_write(file, best, NULL), KF_OK);
    kf_best_config_free(best);
    free(best);
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(kf_file_read(file, 0, &text, &size, NULL), KF_OK);
    if (part == NULL) return text;
    const char *at = strstr(text, part);
    if (at == NULL) fail_msg("the file has no '%s'", part);
    kf_text out = {0};
    kf_text_append(&out, "%.*s%s%s", (int)(at - text), text, by, at + strlen(part));
    free(text);
    return out.text;
}

static kf_status read_text(const char *text, kf_error *error) {
    kf_best_config *best = kf_allocate(sizeof *best);
    assert_int_equal(kf_file_write_atomic(file, text, strlen(text), NULL), KF_OK);
    kf_status status = kf_best_config_read(file, best, error);
    kf_best_config_free(best);
    free(best);
    return status;
}

static void test_other_keys_are_refused_by_name(void **state) {
    (void)state;
    static const struct {
        const char *part, *by, *says;
    } changes[] = {
        {"\"updates_per_second\"", "\"updates\"", "updates"},
        {"\"update\"", "\"up\"", "update"},
        {"\"facts\"", "\"fact\"", "scene.fact"},
        {"\"document\":\t{", "\"document\":\t1, \"x\": {", "scene.x"},
        {"\"tried\":\t17", "\"tried\":\t-1", "tried"},
        {"\"spec\"", "\"colour\": 1, \"spec\"", "device.colour"},
        {"\"baseline\"", "\"base\"", "gain.base"},
        {"\"format\":\t4", "\"format\":\t5", "newer kftune"},
        {"\"format\":\t4", "\"format\":\t0", "format"},
        {"\"format\":\t4", "\"format\":\t\"1\"", "format"},
        {"\"format\":\t4,", "", "format"},
        {"\"alpha\":\t64", "\"alpha\":\t32", "hash"},
        {"\"csoa\"", "[]", "layout"},
        {"\"size_y\":\t400", "\"size_y\":\t[400]", "facts.size_y"},
        {"\"size_y\":\t400", "\"size_y\":\t1e999", "size_y"},
        {"\"size_y\":\t400", "\"size_y\":\tnull", "facts.size_y"},
        {"\"collision\":\t\"bgk\"", "\"collision\":\ttrue", "facts.collision"},
        {"\"18446744073709551615\"", "\"18446744073709551616\"", "scene.seed"},
        {"\"18446744073709551615\"", "-1", "scene.seed"},
        {"\"18446744073709551615\"", "1.5", "scene.seed"},
        {"cccc", "CCCC", "scene.hash"},
        {"cccc", "", "scene.hash"},
        {"\"time_us\":\t1234.5678901234567", "\"time_us\":\t0", "time_us"},
        {"\"time_us\":\t1234.5678901234567", "\"time_us\":\tnull", "time_us"},
        {"\"time_us\":\t1234.5678901234567", "\"time_us\":\t1e999", "time_us"},
        {"1230.1", "1234.6", "ci_us"},
        {"\"error\":\t3.25e-07", "\"error\":\t1", "verification.error"},
        {"\"default\":\t1.25", "\"default\":\t\"1.25\"", "gain.default"},
        {"\"ties\":\t[", "\"ties\":\t[1, ", "ties[0]"},
        {"\"ties\":\t[", "\"ties\":\t[{\"system\": \"kinetic\", \"parameters\": {}}, ", "more than 16"},
        {"\"run\":\t\"", "\"run\":\t\"0123456789", "run"},
        {"\"run\":\t\"", "\"run\":\t\"0", "run: longer than 36 characters"},
        {"\"run\"", "\"run\": \"\", \"run\"", "run"},
        {"{", "[", "1"},
        {"\"scene\":\t{", "\"scene\":\t{{", "car"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char *text = changed(changes[i].part, changes[i].by);
        kf_error error = {0};
        kf_status status = read_text(text, &error);
        if (status != KF_BAD_INPUT) fail_msg("'%s' gives status %d", changes[i].by, (int)status);
        if (strstr(error.message, changes[i].says) == NULL)
            fail_msg("'%s' does not say '%s'", error.message, changes[i].says);
        assert_non_null(strstr(error.message, "car \"1\".kftune.json"));
        assert_null(strchr(error.message, '\n'));
        free(text);
    }
    kf_error error = {0};
    assert_int_equal(read_text("", &error), KF_BAD_INPUT);
    assert_int_equal(read_text("[]", &error), KF_BAD_INPUT);
    kf_best_config *best = kf_allocate(sizeof *best);
    assert_int_equal(kf_best_config_read("/no/such/file", best, &error), KF_BAD_INPUT);
    assert_int_equal(kf_best_config_read(folder, best, &error), KF_BAD_INPUT);
    kf_best_config_free(best);
    free(best);
}

/* A file of format 3 lacks the scene's contents and the number of configs that were tried. One of format 2
 * has millions of nodes a second. */
static void test_former_formats(void **state) {
    (void)state;
    for (int number = '2'; number <= '3'; number++) {
        char *text = number == '2' ? changed("\"updates_per_second\":\t12959400000,\n\t\"update\":\t\"node\"",
                                             "\"mlups\":\t12959.5")
                                   : changed(NULL, NULL);
        kf_best_config *best = kf_allocate(sizeof *best);
        kf_error error = {0};
        char *format = strstr(text, "\"format\":\t4"), *tried = strstr(text, "\"tried\":\t17,\n"),
             *document = strstr(text, ",\n\t\t\"document\"");
        assert_true(format != NULL && tried != NULL && document != NULL);
        format[strlen("\"format\":\t")] = (char)number;
        memset(tried, ' ', strlen("\"tried\":\t17,\n"));
        memset(document, ' ', (size_t)(strchr(strchr(document, '}') + 1, '}') - document) + 1);
        assert_int_equal(kf_file_write_atomic(file, text, strlen(text), NULL), KF_OK);
        if (kf_best_config_read(file, best, &error) != KF_OK) fail_msg("%s", error.message);
        assert_true(best->updates_per_second == (number == '2' ? 12959.5e6 : 12959.4e6));
        assert_string_equal(best->update, "node");
        assert_true(best->document == NULL && best->tried == 0);
        kf_best_config_free(best);
        free(best);
        free(text);
    }
}

/* A file that is cut anywhere, or has any byte changed, is read or refused, but never crashes the reader. */
static void test_damage_never_crashes_the_reader(void **state) {
    (void)state;
    char *text = changed(NULL, NULL);
    size_t size = strlen(text);
    kf_error error = {0};
    assert_int_equal(read_text(text, &error), KF_OK);
    for (size_t length = 0; length + 2 < size; length += 37) {
        char kept = text[length];
        text[length] = '\0';
        assert_int_equal(read_text(text, &error), KF_BAD_INPUT);
        text[length] = kept;
    }
    for (size_t at = 0; at < size; at += 23) {
        char kept = text[at];
        text[at] = '#';
        kf_status status = read_text(text, &error);
        assert_true(status == KF_OK || status == KF_BAD_INPUT);
        text[at] = kept;
    }
    free(text);
}

/* A file that cannot be written leaves the one that was there. */
static void test_failed_write(void **state) {
    (void)state;
    kf_best_config *best = example();
    kf_error error = {0};
    assert_int_equal(kf_best_config_write("/no/such/folder/x.kftune.json", best, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "/no/such/folder"));
    assert_int_equal(kf_best_config_write(folder, best, &error), KF_BAD_INPUT);
    kf_best_config_free(best);
    free(best);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_other_keys_are_refused_by_name),
        cmocka_unit_test(test_former_formats), cmocka_unit_test(test_damage_never_crashes_the_reader),
        cmocka_unit_test(test_failed_write),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
