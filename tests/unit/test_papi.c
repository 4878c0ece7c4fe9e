/* Tests counting on the cpu with a library that stands for PAPI, which machines seldom have. Faults: a pass
 * too many or too few, a thread that is not counted, an event set that stays open, a failure without its
 * event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/team.h"
#include "base/util/file.h"
#include "base/util/text.h"
#include "harness/counters/count.h"
#include "tests/unit/counted_value.h"
#include "tests/unit/output_scratch.h"

/* An event COUNT_n counts n in each thread and time, BAD_STOP and BAD_ATTACH fail there, all others but
 * PAPI_TOT_INS cannot be counted. open_sets says how many sets exist. */
static const char library[] =
    "#include <stdlib.h>\n#include <string.h>\n"
    "static struct { char event[64]; int used, component, started; unsigned long thread; } sets[512];\n"
    "int open_sets;\n"
    "int PAPI_library_init(int version) { return version == 0x07000000 ? version : -6; }\n"
    "int PAPI_create_eventset(int *set) {\n"
    "    int s = 0;\n"
    "    if (*set != -1) return -1;\n"
    "    while (sets[s].used) s++;\n"
    "    memset(&sets[s], 0, sizeof sets[s]);\n"
    "    sets[s].used = 1;\n"
    "    open_sets++;\n"
    "    *set = s;\n"
    "    return 0;\n"
    "}\n"
    "int PAPI_assign_eventset_component(int s, int component) { sets[s].component = 1; return component; }\n"
    "int PAPI_attach(int s, unsigned long thread) {\n"
    "    sets[s].thread = thread;\n"
    "    return sets[s].component ? 0 : -1;\n"
    "}\n"
    "int PAPI_add_named_event(int s, const char *event) {\n"
    "    strncpy(sets[s].event, event, 63);\n"
    "    if (sets[s].thread != 0 && !strcmp(event, \"BAD_ATTACH\")) return -7;\n"
    "    return !strncmp(event, \"COUNT_\", 6) || !strncmp(event, \"BAD_\", 4) || !strcmp(event, "
    "\"PAPI_TOT_INS\")\n"
    "        ? 0 : -7;\n"
    "}\n"
    "int PAPI_start(int s) { return sets[s].started++; }\n"
    "int PAPI_stop(int s, long long *value) {\n"
    "    if (sets[s].thread != 0 && !strcmp(sets[s].event, \"BAD_STOP\")) return -1;\n"
    "    *value = atoll(sets[s].event + 6);\n"
    "    return --sets[s].started;\n"
    "}\n"
    "int PAPI_cleanup_eventset(int s) { sets[s].event[0] = 0; return 0; }\n"
    "int PAPI_destroy_eventset(int *s) {\n"
    "    if (sets[*s].event[0] != 0) return -1;\n"
    "    sets[*s].used = 0;\n"
    "    open_sets--;\n"
    "    *s = -1;\n"
    "    return 0;\n"
    "}\n";
static const int *open_sets;
static void *loaded; /* stays until the end */

/* The loader then finds it by its name, whatever else there is. */
static int load_library(void **state) {
    char command[3 * KF_PATH];
    char made[KF_PATH];
    if (make_scratch(state) != 0) return -1;
    const char *source = in_scratch("papi.c"), *compiler = getenv("KFTUNE_CC");
    if (kf_file_write_atomic(source, library, strlen(library), NULL) != KF_OK) return -1;
    kf_copy_text(made, sizeof made, in_scratch("libpapi.so.7.1"));
    (void)snprintf(command, sizeof command, "%s -shared -fPIC -w -Wl,-soname,libpapi.so.7.1 -o '%s' '%s'",
                   compiler != NULL ? compiler : "cc", made, source);
    if (system(command) != 0) return 0; /* no compiler: tests are skipped */
    loaded = dlopen(made, RTLD_NOW);
    if (loaded != NULL) open_sets = dlsym(loaded, "open_sets");
    return 0;
}

static int threads_now(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    (void)closedir(folder);
    return count - 2;
}

typedef struct work {
    int restores, threads;
} work;

static kf_status restore(void *context, kf_error *error) {
    (void)error;
    ((work *)context)->restores++;
    return KF_OK;
}

static kf_status two_parts(void *context, kf_counting *counting, kf_error *error) {
    ((work *)context)->threads = threads_now();
    for (int part = 0; part < 2; part++) {
        KF_TRY(kf_counting_begin(counting, part, error));
        KF_TRY(kf_counting_end(counting, error));
    }
    return KF_OK;
}

static kf_status count(const char *events, work *done, kf_counts *counts, kf_metric_set **set,
                       kf_error *error) {
    kf_backend *backend = NULL;
    const char *path = in_scratch("set.txt");
    kf_text text = {0};
    kf_text_append(&text, "SHORT x\nMETRICS\non_a_gpu B e\n%s", events);
    assert_int_equal(kf_file_write_atomic(path, text.text, text.length, NULL), KF_OK);
    kf_text_free(&text);
    if (kf_metric_set_open(path, set, error) != KF_OK) fail_msg("%s", error->message);
    assert_int_equal(kf_backend_open("cpu:1", &backend, error), KF_OK);
    const kf_status status = kf_count(backend, *set, 2, restore, two_parts, done, counts, error);
    kf_backend_close(backend);
    return status;
}

static void *wait_for(void *lock) {
    (void)pthread_mutex_lock(lock);
    (void)pthread_mutex_unlock(lock);
    return NULL;
}

/* One pass for each event that there is, from a restored state each, over all threads and in each part. */
static void every_event_has_a_pass(void **state) {
    (void)state;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (open_sets == NULL) skip();
    pthread_t other;
    work done = {0};
    kf_counts counts;
    kf_metric_set *set = NULL;
    kf_error error = {0};
    assert_int_equal(pthread_mutex_lock(&lock), 0);
    assert_int_equal(pthread_create(&other, NULL, wait_for, &lock), 0);
    const kf_status status = count("PAPI\na 1 COUNT_10\nlost 1 MISSING\nb B COUNT_200\nc 1 COUNT_3000\n",
                                   &done, &counts, &set, &error);
    assert_int_equal(pthread_mutex_unlock(&lock), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    if (status != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(counts.metric_count, 3);
    assert_int_equal(counts.passes, 3);
    assert_int_equal(done.restores, 3);
    assert_true(done.threads >= 2);
    for (int part = 0; part < 2; part++) {
        assert_true(counted_value(&counts, part, "a") == 10.0 * done.threads);
        assert_true(counted_value(&counts, part, "b") == 200.0 * done.threads);
        assert_true(counted_value(&counts, part, "c") == 3000.0 * done.threads);
        assert_true(isnan(counted_value(&counts, part, "lost")));
    }
    assert_int_equal(*open_sets, 0);
    kf_counts_free(&counts);
    kf_metric_set_free(set);
}

/* A failure is said with the event or the set, and no event set stays open. */
static void failures_are_said(void **state) {
    (void)state;
    static const struct {
        const char *events, *said;
    } cases[] = {{"PAPI\na 1 BAD_STOP\n", "cannot count BAD_STOP in every thread"},
                 {"PAPI\na 1 BAD_ATTACH\n", "cannot count BAD_ATTACH in every thread"},
                 {"PAPI\na 1 COUNT_10\nb 1 BAD_STOP\n", "cannot count BAD_STOP in every thread"},
                 {"PAPI\na 1 MISSING\nb 1 MISSED\n", "none of the events of the set 'set'"},
                 {"", "the set 'set' has no PAPI events"}};
    if (open_sets == NULL) skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        work done = {0};
        kf_counts counts;
        kf_metric_set *set = NULL;
        kf_error error = {0};
        assert_int_equal(count(cases[i].events, &done, &counts, &set, &error), KF_MACHINE);
        if (strstr(error.message, cases[i].said) == NULL) fail_msg("'%s': %s", cases[i].said, error.message);
        assert_int_equal(*open_sets, 0);
        kf_metric_set_free(set);
    }
    kf_error error = {0};
    assert_int_equal(kf_papi_check(&error), KF_OK);
    assert_int_equal(*open_sets, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_event_has_a_pass),
                                       cmocka_unit_test(failures_are_said)};
    return cmocka_run_group_tests(tests, load_library, remove_scratch);
}
