/* Tests everything that is written from a known store (known_store.h), as known texts: exports, tables of
 * plots as gnuplot gets them, the report, what commands print. Faults: a member that is lost or in
 * another's place. */
#include "tests/unit/known_store.h"

#include <math.h>
#include <sys/stat.h>

#include "base/util/program.h"
#include "plots/history.h"
#include "plots/plot.h"
#include "plots/report/report.h"
#include "results/facts.h"
#include "tests/unit/check.h"
#include "tests/unit/drawn.h"
#include "tests/unit/known_text.h"

static char store_path[KF_PATH];
static kf_store *store;

static int make_known_store(void **state) {
    if (fixture_make_folder(state) != 0) return -1;
    fixture_path(store_path, "known.db");
    store = fixture_open(store_path);
    known_store(store);
    return 0;
}
static int close_known_store(void **state) {
    kf_store_close(store);
    return fixture_remove_folder(state);
}

/* Replaces this version and this folder in the text by words. */
static char *neutral(char *text) {
    text = with_word(text, fixture_folder, "FOLDER");
    return with_word(text, KF_VERSION, "VERSION");
}

/* --- Exports ------------------------------------------------------------------------------------------ */

typedef kf_status (*exporter)(kf_store *store, int64_t id, FILE *stream, kf_error *error);

static void assert_export(const char *name, exporter write, int64_t id) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    kf_error error = {0};
    if (write(store, id, stream, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(fclose(stream), 0);
    assert_known(name, neutral(text));
}

static void test_every_export_is_known(void **state) {
    (void)state;
    assert_export("run.csv", kf_store_export_csv, 1);
    assert_export("run-t4.json", kf_store_export_t4, 1);
    assert_export("run-kernel-tuner.json", kf_store_export_kernel_tuner, 1);
    assert_export("run-github.json", kf_store_export_github, 1);
    assert_export("run-landscape.json", kf_store_export_compact, 1);
    assert_export("night-junit.xml", kf_store_export_junit, 3);
    assert_export("night-github.json", kf_store_export_github_night, 3);
}

/* --- Reading back ------------------------------------------------------------------------------------- */

static void tell_fact(void *context, const char *name, const char *value) {
    kf_text_append(context, "%s = %s\n", name, value);
}
static void tell_counter(void *context, int ordinal, const char *metric, double value) {
    kf_text_append(context, "%d %s %.9g\n", ordinal, metric, value);
}
static void tell_run(void *context, const kf_run_summary *r) {
    kf_text_append(context, "run %d %s %s..%s %s %s %.8s %s %s %s %d %d %.9g %.9g %s %d %s %s %llu %g\n",
                   (int)r->id, r->uuid, r->started, r->ended, r->state, r->scene, r->scene_hash, r->device,
                   r->system, r->strategy, r->results, r->ok, r->best_us, r->best_updates_per_us, r->update,
                   r->winner, r->origin, r->backend, (unsigned long long)r->seed,
                   kf_facts_value(r->facts, "size_y"));
}
static kf_status tell_night(void *context, const kf_night *n, kf_error *error) {
    (void)error;
    kf_text_append(context, "night %d %s %s %.8s %.8s %s %s %s..%s\n", (int)n->id, n->uuid, n->suite,
                   n->suite_hash, n->program, n->label, n->state, n->started, n->ended);
    return KF_OK;
}
static kf_status tell_process(void *context, const kf_process *p, kf_error *error) {
    (void)error;
    kf_text_append(context, "process %s %s %d run %d %d %s '%s' %.9g %.8s %.8s %.8s\n", p->benchmark,
                   kf_arm_names[p->arm], p->ordinal, (int)p->run, p->sequence, kf_state_names[p->state],
                   p->reason, p->time_us, p->program, p->config, p->build);
    return KF_OK;
}
static kf_status tell_verdict(void *context, const kf_verdict *v, kf_error *error) {
    (void)error;
    kf_text_append(context, "verdict %s %s '%s' %.9g %g %d %d %g %g..%g %g %s %g %s %g %g\n", v->benchmark,
                   kf_verdict_names[v->state], v->reason, v->time_us, v->threshold, v->identical,
                   (int)v->reference, v->change, v->change_low, v->change_high, v->probability, v->kernel,
                   v->kernel_change_us, v->counter, v->counter_before, v->counter_after);
    return KF_OK;
}
static kf_status tell_series(void *context, const kf_series_summary *s, kf_error *error) {
    kf_text_append(context, "series %s %s %s %s %g nights %d last %d\n", s->benchmark, s->device, s->driver,
                   s->scene, kf_facts_value(s->facts, "size_x"), s->nights, (int)s->last_night);
    kf_history_night *nights = NULL;
    int count = 0;
    KF_TRY(kf_store_history(store, s->benchmark, s->series, 0, 5, &nights, &count, error));
    for (int i = 0; i < count; i++) {
        const kf_history_night *n = &nights[i];
        kf_text_append(context, "  %d %s %s %.8s %.8s %.8s %d %.9g %.9g %d %s %g %d\n", (int)n->night,
                       n->started, n->label, n->program, n->config, n->build, n->process_count, n->time_us[0],
                       n->time_us[1], n->judged, kf_verdict_names[n->verdict], n->change, n->pinned);
    }
    free(nights);
    kf_history_night pinned;
    bool found = false;
    KF_TRY(kf_store_pinned(store, s->benchmark, s->series, &pinned, &found, error));
    if (found) kf_text_append(context, "  pinned %d\n", (int)pinned.night);
    return KF_OK;
}

static void test_every_row_is_known(void **state) {
    (void)state;
    kf_text text = {0};
    kf_error error = {0};
    for (int group = 0; group < KF_FACT_GROUPS; group++)
        assert_int_equal(kf_store_facts(store, 1, (kf_fact_group)group, tell_fact, &text, &error), KF_OK);
    assert_int_equal(kf_store_counters(store, 1, 15, tell_counter, &text, &error), KF_OK);
    assert_int_equal(kf_store_runs(store, tell_run, &text, &error), KF_OK);
    kf_run_summary run;
    assert_int_equal(kf_store_find_run(store, "3", &run, &error), KF_OK); /* a night's, by its number */
    tell_run(&text, &run);
    assert_int_equal(kf_store_nights(store, tell_night, &text, &error), KF_OK);
    assert_int_equal(kf_store_processes(store, 3, NULL, tell_process, &text, &error), KF_OK);
    assert_int_equal(kf_store_verdicts(store, 3, tell_verdict, &text, &error), KF_OK);
    if (kf_store_series_list(store, tell_series, &text, &error) != KF_OK) fail_msg("%s", error.message);
    char *job = NULL, program[KF_HASH_HEX];
    assert_int_equal(kf_store_night_job(store, 3, "ball", &job, program, &error), KF_OK);
    kf_text_append(&text, "job %s %.8s\n", job, program);
    free(job);
    kf_roofs roofs;
    double peak = 0;
    assert_int_equal(kf_store_run_roofs(store, 1, &roofs, &peak, &error), KF_OK);
    for (int i = 0; i < roofs.count; i++)
        kf_text_append(&text, "roof %s %g %s %g %g\n", roofs.list[i].name, roofs.list[i].value,
                       roofs.list[i].unit, roofs.list[i].spread, roofs.list[i].theoretical);
    kf_text_append(&text, "peak %g\n", peak);
    assert_known("rows.txt", text.text);
}

/* --- Plots -------------------------------------------------------------------------------------------- */

/* Puts programs before gnuplot that record its input and what its curves draw. Returns false if there is no
 * gnuplot. */
static bool record_gnuplot(char record[KF_PATH], char drawn[KF_PATH]) {
    char folder[KF_PATH], program[KF_PATH], path[2 * KF_PATH], real[KF_PATH] = "";
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) return false;
    fixture_path(drawn, "drawn.txt");
    begin_drawn(drawn);
    FILE *found = popen("command -v gnuplot", "r");
    assert_non_null(found);
    assert_non_null(fgets(real, sizeof real, found));
    (void)pclose(found);
    real[strcspn(real, "\n")] = '\0';
    fixture_path(folder, "bin");
    fixture_path(record, "gnuplot.txt");
    assert_int_equal(kf_make_folders(folder, NULL), KF_OK);
    assert_int_equal(kf_path(program, NULL, "%s/gnuplot", folder), KF_OK);
    kf_text text = {0};
    kf_text_append(&text,
                   "#!/bin/sh\n{ echo \"== $(basename \"$3\") $6\"; data=$4\n n=0; for word in \"$@\"; do "
                   "n=$((n + 1)); [ $n -le 6 ] || "
                   "printf '%%s\\n' \"$word\"; done; cat \"$data\"; } >>'%s'\nexec '%s' \"$@\"\n",
                   record, real);
    FILE *file = fopen(program, "w");
    assert_non_null(file);
    assert_true(fputs(text.text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    kf_text_free(&text);
    assert_int_equal(chmod(program, 0755), 0);
    (void)snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    assert_int_equal(setenv("PATH", path, 1), 0);
    return true;
}

static void test_plots_and_report(void **state) {
    (void)state;
    char record[KF_PATH], drawn[KF_PATH], out[KF_PATH];
    kf_error error = {0};
    kf_run_summary run;
    if (!record_gnuplot(record, drawn)) skip();
    assert_int_equal(kf_plot_find_run(store, "1", &run, &error), KF_OK);
    fixture_path(out, "plot.svg");
    for (int kind = 0; kind < KF_PLOTS; kind++)
        if (kf_plot_write((kf_plot_kind)kind, store, &run, out, &error) != KF_OK)
            fail_msg("%s", error.message);
    if (kf_plot_history(store, "ball", out, &error) != KF_OK) fail_msg("%s", error.message);
    assert_known("plots.txt", neutral(text_of_file(record)));
    assert_known("drawn.txt", neutral(text_of_file(drawn)));
    fixture_path(out, "report.html");
    if (kf_report_write(store, "1", out, &error) != KF_OK) fail_msg("%s", error.message);
    char *page = without_between(text_of_file(out), "Written ", " UTC", "NOW");
    page = without_between(page, ";base64,", "\"", "PICTURE");
    assert_known("report.html", neutral(page));
}

/* --- The command line --------------------------------------------------------------------------------- */

static void test_command_line(void **state) {
    (void)state;
    const char *program = getenv("KFTUNE");
    if (program == NULL) skip();
    static const char *const commands[] = {"store list",
                                           "store list --json",
                                           "store show --run 1",
                                           "store show --run 1 --limit 3",
                                           "store show --run 1 --limit 0 --json",
                                           "store show --run 2",
                                           "store check",
                                           "nightly list",
                                           "nightly list --json",
                                           "nightly show --night 3",
                                           "nightly show --night 3 --json"};
    kf_text text = {0};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char command[3 * KF_PATH], line[4096];
        (void)snprintf(command, sizeof command, "'%s' %s --store '%s' 2>&1", program, commands[i],
                       store_path);
        kf_text_append(&text, "$ kftune %s\n", commands[i]);
        FILE *output = popen(command, "r");
        assert_non_null(output);
        while (fgets(line, sizeof line, output) != NULL)
            kf_text_append(&text, "%s", line);
        const int ending = pclose(output);
        kf_text_append(&text, "status %d\n\n", ending >> 8);
    }
    assert_known("commands.txt", neutral(text.text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_export_is_known),
        cmocka_unit_test(test_every_row_is_known),
        cmocka_unit_test(test_plots_and_report),
        cmocka_unit_test(test_command_line),
    };
    return cmocka_run_group_tests(tests, make_known_store, close_known_store);
}
