/* Runs whole nights with programs whose times and instructions the test chooses. */
#ifndef KF_TESTS_UNIT_NIGHT_STAGE_H
#define KF_TESTS_UNIT_NIGHT_STAGE_H

#include <sys/stat.h>

#include "harness/nightly/suite.h"
#include "solver/systems.h"
#include "tests/unit/night_fixture.h"

static inline void write_text(const char *path, const char *text, mode_t mode) {
    kf_error error = {0};
    if (kf_file_write_atomic(path, text, strlen(text), &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(chmod(path, mode), 0);
}

/* A program that answers as a process of a night would, with a step of about this many microseconds. It
 * copies the measurement of a real process (template) and changes its times. */
typedef struct stage {
    char folder[KF_PATH], store[KF_PATH], template[KF_PATH];
    kf_suite suite;
    double noise;        /* of times, relative, either way; 0: a thousandth */
    double instructions; /* which programs count from now on; 0: they count none */
    double clock_mhz;    /* of their samples; 0: not known */
    /* Every process of this number is on a device that slowed down, and takes 1.4 times as long; 0: none. */
    int throttled_each;
} stage;

/* Sets the clocks that the stage wants in the measurement, as it is printed. THROTTLED: NVML's bits. */
static inline void stage_clocks(const stage *s, cJSON *json) {
    static const char *const ends[] = {"device_before", "device_after"};
    if (s->clock_mhz > 0.0) {
        const double clocks[] = {s->clock_mhz};
        (void)cJSON_ReplaceItemInObjectCaseSensitive(json, "clocks_mhz", cJSON_CreateDoubleArray(clocks, 1));
        (void)cJSON_ReplaceItemInObjectCaseSensitive(json, "clock_mhz", cJSON_CreateNumber(s->clock_mhz));
    }
    for (int i = 0; i < 2; i++)
        (void)cJSON_ReplaceItemInObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, ends[i]),
                                                     "throttle_reasons", cJSON_CreateRaw("THROTTLED"));
}

/* The hash of the scene that the suite names. */
static inline void scene_hash(const kf_suite_benchmark *benchmark, char hash[KF_HASH_HEX]) {
    kf_problem *problem = NULL;
    kf_error error = {0};
    if (kf_problem_open(benchmark->scene, NULL, &benchmark->options, &problem, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_copy_text(hash, KF_HASH_HEX, problem->hash);
    kf_problem_free(problem);
}

static inline void open_stage(stage *s, const char *name) {
    char path[KF_PATH];
    kf_error error = {0};
    fixture_path(s->folder, name);
    assert_int_equal(kf_make_folders(s->folder, &error), KF_OK);
    assert_int_equal(kf_path(s->store, &error, "%s/store.db", s->folder), KF_OK);
    assert_int_equal(kf_path(path, &error, "%s/suite.json", s->folder), KF_OK);
    write_text(path,
               "{\"suite\": \"staged\", \"device\": \"cpu:1\", \"benchmarks\": ["
               "{\"name\": \"ball\", \"scene\": \"cavity2d\", \"grid\": [16, 16, 1]}]}",
               0644);
    if (kf_suite_read(path, NULL, &s->suite, &error) != KF_OK) fail_msg("%s", error.message);
}

/* Allocates a stage and opens it. free_stage frees it. */
static inline stage *new_stage(const char *name) {
    stage *s = kf_allocate_zeroed(1, sizeof *s);
    open_stage(s, name);
    return s;
}

static inline void free_stage(stage *s) {
    kf_suite_free(&s->suite);
    free(s);
}

/* Writes a shell script that prints the answer of a process whose step takes time_us, with the stage's
 * noise, which depends on how many processes ran before. build: the character of which the hash of its
 * machine code consists. measured: the state of its measurement. */
static inline void write_program(const stage *s, const char *name, double time_us, char build,
                                 kf_state measured, char path[KF_PATH]) {
    char hash[KF_HASH_HEX];
    kf_error error = {0};
    const double noise = s->noise > 0.0 ? s->noise : 0.001;
    scene_hash(&s->suite.benchmarks[0], hash);
    kf_measurement *m = kf_allocate(sizeof *m);
    if (measured == KF_STATE_OK)
        fixture_measurement(m, 1.0, 1);
    else
        fixture_failure(m, measured, "as the test wants it");
    memset(m->build_hash, build, KF_HASH_HEX - 1);
    m->build_hash[KF_HASH_HEX - 1] = '\0';
    if (s->instructions > 0.0) {
        free(m->counters);
        m->counters = kf_allocate_zeroed(1, sizeof *m->counters);
        m->counter_count = 1;
        m->counters[0] = (kf_counter){.unit = "1", .value = s->instructions, .passes = 1};
        kf_copy_text(m->counters[0].metric, sizeof m->counters[0].metric, "instructions_perf_event");
    }
    cJSON *json = kf_measurement_to_json(m);
    stage_clocks(s, json);
    if (measured == KF_STATE_OK) {
        (void)cJSON_ReplaceItemInObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "step_us"),
                                                     "median", cJSON_CreateRaw("TIME"));
        cJSON_ReplaceItemInArray(cJSON_GetObjectItemCaseSensitive(json, "samples_us"), 0,
                                 cJSON_CreateRaw("TIME"));
    }
    cJSON_DeleteItemFromObjectCaseSensitive(json, "stop"); /* an earlier program may not know every field */
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    kf_measurement_free(m);
    free(m);
    kf_text script = {0};
    kf_text_append(
        &script,
        "#!/bin/sh\n{ read -r seed <'%s/seed'; } 2>/dev/null || seed=1\necho $((seed + 7919)) >'%s/seed'\n"
        "{ read -r count <'%s/count'; } 2>/dev/null || count=0\necho $((count + 1)) >'%s/count'\n"
        "slow=1 bits=0\n[ %d = 0 ] || [ $((count %% %d)) != 0 ] || { slow=1.4; bits=64; }\n"
        "t=$(awk -v seed=$seed -v slow=$slow 'BEGIN { srand(seed); rand(); printf \"%%.6f\", slow * %.9g * "
        "(1 - "
        "%g + %g * rand()) }')\n",
        s->folder, s->folder, s->folder, s->folder, s->throttled_each,
        s->throttled_each > 0 ? s->throttled_each : 1, time_us, noise, 2 * noise);
    kf_text_append(&script,
                   "case \" $* \" in *' --verify '*) printf v ;; *) printf - ;; esac >>'%s/verified'\n",
                   s->folder);
    kf_text_append(&script,
                   "sed \"s/TIME/$t/g; s/THROTTLED/$bits/g\" <<'ANSWER'\n{\"kftune\": \"test\", "
                   "\"scene_hash\": \"%s\", \"measurement\": ",
                   hash);
    kf_text_append(&script, "%s", text);
    kf_text_append(&script, "}\nANSWER\n# %s\n", name);
    free(text);
    assert_int_equal(kf_path(path, &error, "%s/%s", s->folder, name), KF_OK);
    write_text(path, script.text, 0755);
    kf_text_free(&script);
}

/* Checks that the words of a comparison agree with its figures. Where instructions decide, the figures are
 * theirs. */
static inline void assert_words_are_figures(const kf_verdict *v) {
    char words[160];
    if (strstr(v->reason, " processes each, p ") == NULL || strstr(v->reason, " instructions than ") != NULL)
        return;
    (void)snprintf(words, sizeof words, "%+.3g %% (%+.3g to %+.3g) next to ", 100.0 * v->change,
                   100.0 * v->change_low, 100.0 * v->change_high);
    if (strstr(v->reason, words) == NULL) fail_msg("%s\n is not %s", v->reason, words);
    (void)snprintf(words, sizeof words, " processes each, p %.2g", v->probability);
    if (strstr(v->reason, words) == NULL) fail_msg("%s\n is not%s", v->reason, words);
}

/* Checks that of a night's processes, in their order, only the first verified its config. */
static inline void assert_first_verified(const char *path) {
    char *words = NULL;
    size_t size = 0;
    if (kf_file_read(path, 0, &words, &size, NULL) != KF_OK) return; /* no process ran */
    if (words[0] != 'v' || strchr(words + 1, 'v') != NULL) fail_msg("processes verify: %s", words);
    free(words);
}

static inline kf_verdict play(const stage *s, const char *program) {
    kf_error error = {0};
    char verified[KF_PATH];
    assert_int_equal(kf_path(verified, &error, "%s/verified", s->folder), KF_OK);
    (void)remove(verified);
    kf_store *store = fixture_open(s->store);
    const kf_nightly_request request = {
        .suite = &s->suite, .store = store, .executable = program, .label = ""};
    kf_nightly_result result;
    kf_status status = kf_nightly(&request, &result, &error);
    if (status != KF_OK) fail_msg("status %d: %s", (int)status, error.message);
    const kf_verdict verdict = result.verdicts[0];
    assert_words_are_figures(&verdict);
    if (!result.resumed) assert_first_verified(verified); /* else the first ran before */
    kf_nightly_result_free(&result);
    kf_store_close(store);
    return verdict;
}

static inline void assert_verdict(const kf_verdict *verdict, kf_verdict_state expected) {
    if (verdict->state != expected)
        fail_msg("%s instead of %s: %s", kf_verdict_names[verdict->state], kf_verdict_names[expected],
                 verdict->reason);
}

#endif
