/* Tests the folder of a run. Faults: two runs write into it, a record that is wrong, or a killed run that
 * seems complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/util/file.h"
#include "base/util/log.h"
#include "solver/output/run_folder.h"
#include "tests/unit/output_scratch.h"

static int set_up(void **state) {
    kf_log_set_level(KF_LOG_QUIET);
    return make_scratch(state);
}

/* A record that cannot be read for want of file descriptors is not missing. Nothing in the folder is
 * ignored for that. */
static void a_folder_without_files_left(void **state) {
    (void)state;
    const char *folder = in_scratch("a/folder/without/files");
    kf_error error = {0};
    int lock = -1;
    bool flag = false;
    uint64_t step = 0;
    char text[KF_PATH];
    assert_int_equal(kf_run_folder_open(folder, "aaaa", false, &lock, &error), KF_OK);
    (void)close(lock);
    cJSON *record = cJSON_CreateObject();
    cJSON_AddStringToObject(record, "kftune", "1");
    cJSON_AddStringToObject(record, "scene_hash", "aaaa");
    cJSON_AddStringToObject(record, "state", "running");
    cJSON_AddNumberToObject(record, "last_step", 20);
    assert_int_equal(kf_run_folder_record(folder, record, &error), KF_OK);
    cJSON_Delete(record);
    const kf_facts meaning = {0};
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, limit.rlim_max}), 0);
    const kf_status found[] = {kf_run_folder_open(folder, "aaaa", false, &lock, &error),
                               kf_run_folder_keep_longer(folder, 10, &error),
                               kf_run_folder_check_meaning(folder, &meaning, &error),
                               kf_run_folder_was_killed(folder, &flag, text, &error),
                               kf_run_folder_begun_in(folder, text, &error),
                               kf_run_folder_resume(folder, "aaaa", &flag, text, &step, &error)};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        if (found[i] != KF_HOST) fail_msg("call %zu: status %d", i, (int)found[i]);
    assert_int_equal(kf_run_folder_keep_longer(folder, 10, &error), KF_BAD_INPUT);
}

static void test_a_folder_has_one_run_at_a_time(void **state) {
    (void)state;
    kf_error error = {0};
    int lock = -1, other = -1;
    bool killed = true;
    char checkpoint[KF_PATH];
    const char *folder = in_scratch("a/new/folder");
    assert_int_equal(kf_run_folder_open(folder, "aaaa", false, &lock, &error), KF_OK);
    assert_int_equal(kf_run_folder_open(folder, "aaaa", true, &other, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "another kftune run"));
    assert_true(kf_run_folder_is_in_use(folder));
    (void)close(lock);
    assert_false(kf_run_folder_is_in_use(folder));
    assert_true(kf_run_folder_is_in_use(in_scratch("no/folder")));
    assert_int_equal(kf_run_folder_open(folder, "aaaa", false, &lock, &error), KF_OK);
    (void)close(lock);
    assert_int_equal(kf_run_folder_was_killed(folder, &killed, checkpoint, &error), KF_OK);
    assert_false(killed);
    cJSON *record = cJSON_CreateObject();
    cJSON_AddStringToObject(record, "kftune", "1");
    cJSON_AddStringToObject(record, "scene_hash", "aaaa");
    cJSON_AddStringToObject(record, "state", "running");
    assert_int_equal(kf_run_folder_record(folder, record, &error), KF_OK);
    assert_int_equal(kf_run_folder_was_killed(folder, &killed, checkpoint, &error), KF_OK);
    assert_true(killed);
    assert_string_equal(checkpoint, "");
    static const char *const names[] = {"checkpoint_000020.kfc", "checkpoint_1000000.kfc",
                                        "checkpoint_999999.kfc"};
    char path[KF_PATH], last[KF_PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(kf_path(path, &error, "%s/%s", folder, names[i]), KF_OK);
        assert_int_equal(kf_file_write_atomic(path, "x", 1, &error), KF_OK);
    }
    assert_int_equal(kf_path(last, &error, "%s/%s", folder, names[1]), KF_OK);
    assert_int_equal(kf_run_folder_was_killed(folder, &killed, checkpoint, &error), KF_OK);
    assert_true(killed);
    assert_string_equal(checkpoint, last);
    assert_int_equal(kf_run_folder_keep_longer(folder, 1, &error), KF_OK); /* its last step is unknown */
    cJSON_AddNumberToObject(record, "last_step", 20);
    cJSON_ReplaceItemInObject(record, "state", cJSON_CreateString("finished"));
    assert_int_equal(kf_run_folder_record(folder, record, &error), KF_OK);
    assert_int_equal(kf_run_folder_was_killed(folder, &killed, checkpoint, &error), KF_OK);
    assert_false(killed);
    assert_int_equal(kf_run_folder_keep_longer(folder, 20, &error), KF_OK);
    assert_int_equal(kf_run_folder_keep_longer(folder, 19, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "holds a run of 20 steps"));
    assert_non_null(strstr(error.message, "--restart"));
    assert_non_null(strstr(error.message, last));
    cJSON_Delete(record);
    assert_int_equal(kf_run_folder_open(folder, "aaaa", false, &lock, &error), KF_OK);
    (void)close(lock);
    assert_int_equal(kf_run_folder_open(folder, "bbbb", false, &lock, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "another scene"));
    assert_int_equal(kf_run_folder_open(folder, "bbbb", true, &lock, &error), KF_OK);
    (void)close(lock);

    const char *foreign = in_scratch("foreign");
    assert_int_equal(kf_make_folders(foreign, &error), KF_OK);
    assert_int_equal(kf_path(path, &error, "%s/thesis.tex", foreign), KF_OK);
    assert_int_equal(kf_file_write_atomic(path, "x", 1, &error), KF_OK);
    assert_int_equal(kf_run_folder_open(foreign, "aaaa", false, &lock, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "holds other files"));
    assert_int_equal(kf_path(path, &error, "%s/run.json", foreign), KF_OK);
    assert_int_equal(kf_file_write_atomic(path, "{\"some\": \"other\"}", 17, &error), KF_OK);
    assert_int_equal(kf_run_folder_open(foreign, "aaaa", false, &lock, &error), KF_BAD_INPUT);
    assert_int_equal(kf_run_folder_open(path, "aaaa", false, &lock, &error), KF_BAD_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_without_files_left),
        cmocka_unit_test(test_a_folder_has_one_run_at_a_time),
    };
    return cmocka_run_group_tests(tests, set_up, remove_scratch);
}
