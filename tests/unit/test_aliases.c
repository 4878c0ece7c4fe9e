/* Tests the table of the names that chips give to one metric. Faults: a line is misread, a bad line is
 * taken, or the wrong one of several lines counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util/file.h"
#include "harness/counters/metric_set.h"

static char folder[KF_PATH], table[KF_PATH];

/* Makes a data folder with the shipped kernels, linked, and a table of its own. */
static int make_folder(void **state) {
    (void)state;
    const char *data = getenv("KFTUNE_DATA"), *base = getenv("TMPDIR");
    char path[KF_PATH], kernels[KF_PATH], absolute[KF_PATH];
    (void)snprintf(folder, sizeof folder, "%s/kftune-aliases-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL || !kf_real_path(data != NULL ? data : ".", absolute) ||
        kf_path(kernels, NULL, "%s/kernels", absolute) != KF_OK ||
        kf_path(path, NULL, "%s/kernels", folder) != KF_OK || symlink(kernels, path) != 0 ||
        kf_path(path, NULL, "%s/metrics", folder) != KF_OK || mkdir(path, 0700) != 0 ||
        kf_path(table, NULL, "%s/metrics/aliases.txt", folder) != KF_OK)
        return -1;
    return setenv("KFTUNE_DATA", folder, 1);
}

static int remove_folder(void **state) {
    (void)state;
    char path[KF_PATH];
    static const char *const names[] = {"metrics/aliases.txt", "metrics", "kernels", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (kf_path(path, NULL, "%s/%s", folder, names[i]) == KF_OK) (void)remove(path);
    return 0;
}

static kf_status read_table(const char *text, kf_aliases **aliases, kf_error *error) {
    kf_error ignored = {0};
    assert_int_equal(kf_file_write_atomic(table, text, strlen(text), &ignored), KF_OK);
    return kf_aliases_open(aliases, error);
}

/* A line has three words. Comments and empty lines have none, but count in line numbers. */
static void lines_have_three_words(void **state) {
    (void)state;
    static const struct {
        const char *text, *line; /* NULL: it is read */
    } cases[] = {{"", NULL},
                 {"# GA1 a b c\n\n  \t\r\nGA1 a b\r\n", NULL},
                 {"GA1 a\n", "entry 1:"},
                 {"GA1\n", "entry 1:"},
                 {"GA1 a b c\n", "entry 1:"},
                 {"# one two\nGA1 a b\nGA2 a b # as a comment\n", "entry 3:"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_aliases *aliases = NULL;
        kf_error error = {0};
        const kf_status status = read_table(cases[i].text, &aliases, &error);
        if (status != (cases[i].line == NULL ? KF_OK : KF_BAD_INPUT))
            fail_msg("'%s': status %d, %s", cases[i].text, (int)status, error.message);
        if (cases[i].line != NULL && strstr(error.message, cases[i].line) == NULL)
            fail_msg("%s", error.message);
        assert_true((aliases == NULL) == (status != KF_OK));
        kf_aliases_free(aliases);
    }
}

/* The first line counts in which both chip and metric fit. */
static void the_first_that_fits_counts(void **state) {
    (void)state;
    kf_aliases *aliases = NULL;
    kf_error error = {0};
    assert_int_equal(read_table("GA1[0-4] a b\nGA1? a c\nGA1? d -\nGA10 d e\n", &aliases, &error), KF_OK);
    assert_string_equal(kf_alias(aliases, "GA10", "a"), "b");
    assert_string_equal(kf_alias(aliases, "GA15", "a"), "c");
    assert_null(kf_alias(aliases, "GA10", "d"));
    assert_string_equal(kf_alias(aliases, "GB10", "a"), "a");
    assert_string_equal(kf_alias(aliases, "GA10", "b"), "b");
    kf_aliases_free(aliases);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_have_three_words),
                                       cmocka_unit_test(the_first_that_fits_counts)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
