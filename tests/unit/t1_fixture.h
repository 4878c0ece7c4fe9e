/* Opens problem files of kernels that are not kftune's, in a folder that a test may change. */
#ifndef KF_TESTS_UNIT_T1_FIXTURE_H
#define KF_TESTS_UNIT_T1_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/space/space.h"
#include "base/util/text.h"
#include "solver/systems.h"
#include "solver/t1/t1.h"
#include "tests/unit/kernel_folder.h"

static char data_folder[KF_PATH], problem_folder[KF_PATH];

static inline void copy_file(const char *name) {
    char from[KF_PATH], to[KF_PATH], *text = NULL;
    size_t size = 0;
    assert_int_equal(kf_path(from, NULL, "%s/tests/data/t1/%s", data_folder, name), KF_OK);
    assert_int_equal(kf_path(to, NULL, "%s/%s", problem_folder, name), KF_OK);
    assert_int_equal(kf_file_read(from, 0, &text, &size, NULL), KF_OK);
    assert_int_equal(kf_file_write_atomic(to, text, size, NULL), KF_OK);
    free(text);
}

/* Returns the path of a problem file in the scratch folder. The last one stays valid. */
static inline const char *problem_path(const char *name) {
    static char path[KF_PATH];
    assert_int_equal(kf_path(path, NULL, "%s/%s", problem_folder, name), KF_OK);
    return path;
}

static inline kf_problem *open_problem(const char *name) {
    kf_problem *problem = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_problem_open(problem_path(name), NULL, NULL, &problem, &error) != KF_OK)
        fail_msg("%s", error.message);
    return problem;
}

/* --- The space ------------------------------------------------------------------------------------------ */

static inline kf_space *open_space(const kf_problem *problem) {
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

/* Writes changed.t1.json, which is the file with the first `from` replaced. */
static inline void change(const char *file, const char *from, const char *to) {
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

static inline int set_up(void **state) {
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

static inline int tear_down(void **state) {
    (void)state;
    return remove_kernel_folder();
}

#endif
