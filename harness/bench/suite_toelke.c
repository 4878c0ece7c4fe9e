/* Suite `toelke`: Tables 2 to 5 of Tölke 2008 beside ours (docs/d2q9.md). Rates are held against what the
 * copy bandwidth measured here allows at 72 bytes a node (18 values of 4 bytes, read and written once); a
 * plan that does several steps in one pass may exceed it. Every config is verified on a small grid first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/record/measurement.h"
#include "base/util/clock.h"
#include "base/util/log.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/bench/bench.h"
#include "harness/roofs/roofs.h"
#include "harness/validate/validate.h"
#include "harness/worker/builder.h"
#include "harness/worker/evaluate.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/validation/d2q9_cases.h"

enum { CHECK_NODES = 150, CHECK_STEPS = 10, MOST_TRIALS = 96, MOST_WORDS = 10 };
static const double bytes_per_node = 72.0;

/* A scene with a collision model, small, with its reference: what configs are verified on. */
typedef struct bed {
    const char *scene;
    kf_collision collision;
    const char *model; /* as the paper names it */
    double flops;      /* a node, as the paper counts them; 0: it does not */
    kf_trial trial;
} bed;
enum { CAVITY_LBGKL, CAVITY_LBGK, CAVITY_MRT, CAVITY_MRTL, POROUS_MRTL, BEDS };
static const bed bed_table[BEDS] = {
    [CAVITY_LBGKL] = {.scene = "cavity2d", .collision = KF_BGK_LINEAR, .model = "LBGKL", .flops = 90},
    [CAVITY_LBGK] = {.scene = "cavity2d", .collision = KF_BGK, .model = "LBGK", .flops = 130},
    [CAVITY_MRT] = {.scene = "cavity2d", .collision = KF_MRT, .model = "MRT", .flops = 260},
    [CAVITY_MRTL] = {.scene = "cavity2d", .collision = KF_MRT_LINEAR, .model = "MRTL"},
    [POROUS_MRTL] = {.scene = "cylinder_array2d", .collision = KF_MRT_LINEAR, .model = "MRTL"},
};

/* One config on one grid: what is asked for, and what came out. */
typedef struct trial {
    char name[64];
    int bed, nodes;
    char words[128];      /* what differs from the default config: "plan=push threads=64" */
    double published;     /* GLUPS on a GeForce 8800 Ultra; 0: none */
    double effort;        /* of measuring; see kf_job */
    double mlups, spread; /* NAN, 0 where it failed, */
    char reason[200];     /* and why */
} trial;

typedef struct toelke {
    kf_validation validation;
    kf_figures *figures;
    double copy_gb_s;
    double limit; /* million node updates a second that the copy bandwidth allows */
    bed beds[BEDS];
    trial trials[MOST_TRIALS];
    int trial_count;
    /* Trials that figures are made of; own: the paper's plan. */
    int pull[BEDS], own[BEDS], temporal, full_way;
    int table_5; /* the first trial after Table 2 */
} toelke;

/* --- bandwidth ------------------------------------------------------------------------------------------ */

static kf_status time_copies(kf_backend *backend, kf_buffer *const buffers[2], kf_event *const events[2],
                             double *bandwidth, kf_error *error) {
    enum { ROUNDS = 10, COPIES = 4 };
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double us;
        KF_TRY(kf_event_record(events[0], error));
        for (int copy = 0; copy < COPIES; copy++)
            KF_TRY(kf_buffer_copy(buffers[1], buffers[0], kf_buffer_size(buffers[0]), error));
        KF_TRY(kf_event_record(events[1], error));
        KF_TRY(kf_backend_synchronize(backend, error));
        KF_TRY(kf_event_elapsed_us(events[0], events[1], &us, error));
        best = fmax(best, 2.0 * COPIES * (double)kf_buffer_size(buffers[0]) / (us * 1e-6));
    }
    *bandwidth = best;
    return KF_OK;
}

/* Bytes read and written a second by copies of a buffer far larger than the caches. */
static kf_status copy_bandwidth(kf_backend *backend, bool gpu, double *bandwidth, kf_error *error) {
    const size_t bytes = gpu ? (size_t)1800 << 20 : (size_t)128 << 20;
    kf_buffer *buffers[2] = {NULL, NULL};
    kf_event *events[2] = {NULL, NULL};
    kf_status status = KF_OK;
    for (int i = 0; i < 2 && status == KF_OK; i++) {
        status = kf_buffer_create(backend, bytes, &buffers[i], error);
        if (status == KF_OK) status = kf_buffer_fill(buffers[i], 0, error);
        if (status == KF_OK) status = kf_event_create(backend, &events[i], error);
    }
    if (status == KF_OK) status = time_copies(backend, buffers, events, bandwidth, error);
    for (int i = 0; i < 2; i++) {
        if (buffers[i] != NULL) kf_buffer_free(buffers[i]);
        if (events[i] != NULL) kf_event_free(events[i]);
    }
    return status;
}

/* --- the trials ----------------------------------------------------------------------------------------- */

static int large_grid(const toelke *t) {
    const uint64_t enough = 12ULL << 30; /* two grids of 8192^2 take 5 GB */
    if (!t->validation.gpu) return 256;
    return kf_backend_device(t->validation.backend)->memory_free_bytes >= enough ? 8192 : 4096;
}

static trial *add_trial(toelke *t, int on, int nodes, const char *words) {
    trial *added = &t->trials[t->trial_count++];
    *added = (trial){.bed = on, .nodes = nodes};
    kf_copy_text(added->words, sizeof added->words, words);
    return added;
}

#define TEMPORAL(k) "plan=temporal steps_per_launch=" #k " threads=128 tile_rows=256"
static const char own_words[] = "plan=toelke layout=soa threads=128";

/* Table 2: plans on the cavity; every model with the paper's plan, ours, and several steps a launch. */
static void add_table_2(toelke *t) {
    static const struct {
        const char *name, *words;
        bool gpu_only, all_models;
    } plans[] = {{"toelke", own_words, false, true},
                 {"pull", "plan=pull", false, true},
                 {"5 steps a launch", TEMPORAL(5), false, true},
                 {"3 steps a launch", TEMPORAL(3), false, false},
                 {"separate", "plan=separate", false, false},
                 {"push", "plan=push", false, false},
                 {"in place", "plan=inplace", false, false},
                 {"pull, f16", "plan=pull storage=f16", false, false},
                 {"5 steps a launch, f16", TEMPORAL(5) " storage=f16", false, false},
                 {"pull, 4 nodes a thread", "plan=pull nodes_per_thread=4 threads=128", true, false},
                 {"pull, 128 threads", "plan=pull threads=128", true, false},
                 {"pull, 512 threads", "plan=pull threads=512", true, false},
                 {"pull, alpha 1024", "plan=pull alpha=1024", true, false},
                 {"pull, soa", "plan=pull layout=soa alpha=1", true, false},
                 {"toelke, 256 threads", "plan=toelke layout=soa threads=256", true, false},
                 {"toelke, 512 threads", "plan=toelke layout=soa threads=512", true, false}};
    static const double published[] = {[CAVITY_LBGKL] = 0.670, [CAVITY_LBGK] = 0.568, [CAVITY_MRT] = 0.527};
    const int n = large_grid(t);
    for (int b = CAVITY_LBGKL; b <= CAVITY_MRT; b++)
        for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
            if ((plans[p].gpu_only && !t->validation.gpu) || (b != CAVITY_MRT && !plans[p].all_models))
                continue;
            if (p == 0) t->own[b] = t->trial_count;
            if (p == 1) t->pull[b] = t->trial_count;
            if (p == 2) t->temporal = t->trial_count; /* the last one is MRT's */
            trial *added = add_trial(t, b, n, plans[p].words);
            (void)snprintf(added->name, sizeof added->name, "2 %s %s %d^2", t->beds[b].model, plans[p].name,
                           n);
            if (p == 0) added->published = published[b];
        }
}

/* Table 5: the porous medium by threads and size, in short measurements, and against the cavity. */
static void add_table_5(toelke *t) {
    static const int threads[] = {32, 64, 128, 192, 256};
    enum { THREADS = sizeof threads / sizeof *threads };
    static const struct {
        int nodes;
        double published[THREADS];
    } sizes[] = {{512, {0.180, 0.218, 0.217, 0.221, 0.294}},
                 {1024, {0.281, 0.398, 0.391, 0.357, 0.360}},
                 {2048, {0.274, 0.430, 0.466, 0.434, 0.438}},
                 {3072, {0.248, 0.413, 0.481, 0.452, 0.452}}};
    static const struct {
        const char *name, *words;
    } plans[] = {{"toelke", "plan=toelke layout=soa bounce_back=full_way"}, {"pull", "plan=pull"}};
    const int rows = t->validation.gpu ? 4 : 1, n = large_grid(t);
    t->pull[POROUS_MRTL] = t->trial_count;
    (void)snprintf(add_trial(t, POROUS_MRTL, n, "plan=pull")->name, 64, "5 porous medium, pull %d^2", n);
    t->full_way = t->trial_count;
    (void)snprintf(add_trial(t, POROUS_MRTL, n, "plan=pull bounce_back=full_way")->name, 64,
                   "5 porous medium, pull, full-way %d^2", n);
    t->pull[CAVITY_MRTL] = t->trial_count;
    (void)snprintf(add_trial(t, CAVITY_MRTL, n, "plan=pull")->name, 64, "5 cavity, pull %d^2", n);
    for (int row = 0; row < rows; row++)
        for (int p = 0; p < 2; p++)
            for (int i = 0; i < THREADS; i += t->validation.gpu ? 1 : 2) {
                char words[128];
                (void)snprintf(words, sizeof words, "%s threads=%d", plans[p].words, threads[i]);
                trial *added = add_trial(t, POROUS_MRTL, sizes[row].nodes, words);
                (void)snprintf(added->name, sizeof added->name, "5 %s %d^2 x%d", plans[p].name,
                               sizes[row].nodes, threads[i]);
                added->effort = 0.3;
                if (p == 0) added->published = sizes[row].published[i];
            }
}

/* --- measuring ------------------------------------------------------------------------------------------ */

static kf_status open_problem(const bed *b, int n, kf_problem **problem, kf_error *error) {
    const kf_scene_options options = {.nodes = {n, n, 1}};
    kf_scene *scene = NULL;
    KF_TRY(kf_scene_open(b->scene, &options, &scene, error));
    scene->collision = b->collision;
    scene->accuracy = 0.01; /* allows f16, where a trial asks for it */
    *problem = kf_flow_problem(&kf_system_d2q9, scene, true);
    return KF_OK;
}

static kf_status open_beds(toelke *t, kf_error *error) {
    memcpy(t->beds, bed_table, sizeof t->beds);
    for (int b = 0; b < BEDS; b++) {
        kf_trial *gate = &t->beds[b].trial;
        gate->steps = CHECK_STEPS;
        KF_TRY(open_problem(&t->beds[b], CHECK_NODES, &gate->problem, error));
        KF_TRY(kf_trial_refer(gate, error));
    }
    return KF_OK;
}

static void close_beds(toelke *t) {
    for (int b = 0; b < BEDS; b++)
        kf_trial_close(&t->beds[b].trial);
}

static kf_status configure(const toelke *t, const char *words, const kf_problem *problem, kf_config *config,
                           kf_error *error) {
    char text[128], *rest = text;
    const char *overrides[MOST_WORDS + 1] = {NULL};
    kf_copy_text(text, sizeof text, words);
    for (int i = 0; i < MOST_WORDS; i++)
        if ((overrides[i] = strtok_r(rest, " ", &rest)) == NULL) break;
    return t->validation.configure(&t->validation, problem, overrides, config, error);
}

/* All modules at once, on all processors: one by one they would take longer than the measuring. A small
 * grid's modules are those of a large one. */
static kf_status build_ahead(const toelke *t, kf_error *error) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    kf_setting setting = {.problem = NULL};
    kf_builder *builder = kf_builder_open(&setting, kf_backend_device(t->validation.backend),
                                          processors > 2 ? (int)processors - 1 : 2);
    kf_status status = KF_OK;
    for (int i = 0; i < t->trial_count && status == KF_OK; i++) {
        kf_config config;
        setting.trial = &t->beds[t->trials[i].bed].trial;
        setting.problem = setting.trial->problem;
        status = configure(t, t->trials[i].words, setting.problem, &config, error);
        if (status == KF_OK) (void)kf_builder_add(builder, &config);
    }
    if (status == KF_OK && !kf_builder_wait_all(builder, NULL, NULL))
        status = kf_fail(error, KF_INTERRUPTED, "interrupted");
    kf_builder_close(builder);
    return status;
}

static void say_nothing(void *context, kf_stage stage) {
    (void)context, (void)stage;
}

/* A config that fails costs its own figure, not the others. */
static kf_status run_trial(const toelke *t, trial *one, const kf_problem *problem, kf_error *error) {
    const kf_setting setting = {.problem = problem, .trial = &t->beds[one->bed].trial};
    kf_job job = {.verify = true, .time_limit_us = 0.2e6, .effort = one->effort};
    kf_measurement m;
    bool usable;
    KF_TRY(configure(t, one->words, problem, &job.config, error));
    kf_detail("%s", one->name);
    kf_status status =
        kf_evaluate(&setting, t->validation.backend, &job, say_nothing, NULL, &m, &usable, error);
    one->mlups = m.state == KF_STATE_OK ? m.updates_per_us : (double)NAN;
    one->spread = m.state == KF_STATE_OK ? (m.step_us.q3 - m.step_us.q1) / m.step_us.median : 0.0;
    if (m.state != KF_STATE_OK)
        kf_copy_text(one->reason, sizeof one->reason,
                     m.reason[0] != '\0' ? m.reason : kf_state_names[m.state]);
    if (status == KF_OK && !usable) status = kf_fail(error, KF_MACHINE, "%s: %s", one->name, one->reason);
    kf_measurement_free(&m);
    return status;
}

static kf_status run_trials(toelke *t, kf_error *error) {
    static const double most_seconds = 70.0; /* about 40 s are usual on an H200 */
    const double begin = kf_clock_seconds();
    kf_problem *problem = NULL;
    kf_status status = KF_OK;
    for (int i = 0; i < t->trial_count && status == KF_OK; i++) {
        trial *one = &t->trials[i];
        if (kf_clock_seconds() - begin > most_seconds) {
            one->mlups = (double)NAN;
            kf_copy_text(one->reason, sizeof one->reason, "not measured: the suite's time is over");
            continue;
        }
        const bool another = i == 0 || one->bed != one[-1].bed || one->nodes != one[-1].nodes;
        if (another) kf_problem_free(problem);
        if (another) problem = NULL;
        if (another) status = open_problem(&t->beds[one->bed], one->nodes, &problem, error);
        if (status == KF_OK && kf_interrupted) status = kf_fail(error, KF_INTERRUPTED, "interrupted");
        if (status == KF_OK) status = run_trial(t, one, problem, error);
    }
    kf_problem_free(problem);
    return status;
}

/* --- figures -------------------------------------------------------------------------------------------- */

static void add_number(const toelke *t, const char *name, double value, const char *unit, double published) {
    kf_figure figure = {.value = value, .floor = NAN, .share = NAN, .published = published};
    kf_copy_text(figure.name, sizeof figure.name, name);
    kf_copy_text(figure.unit, sizeof figure.unit, unit);
    kf_figures_add(t->figures, &figure);
}

static kf_judgement *make_verdict(double must, double aim, const char *note) {
    kf_judgement *verdict = kf_allocate_zeroed(1, sizeof *verdict);
    *verdict = (kf_judgement){.low = NAN, .high = NAN, .must = must, .aim = aim};
    kf_copy_text(verdict->note, sizeof verdict->note, note);
    return verdict;
}

static void add_rates(const toelke *t, int first, int end) {
    for (int i = first; i < end; i++) {
        const trial *one = &t->trials[i];
        kf_figure figure = {.value = one->mlups * 1e-3,
                            .unit = "GLUPS",
                            .spread = one->spread,
                            .floor = t->limit * 1e-3,
                            .share = one->mlups / t->limit,
                            .published = one->published};
        kf_copy_text(figure.name, sizeof figure.name, one->name);
        if (one->reason[0] != '\0') {
            figure.failed = true;
            figure.verdict = make_verdict((double)NAN, (double)NAN, one->reason);
        }
        kf_figures_add(t->figures, &figure);
    }
}

/* Table 3: shares of the arithmetic's peak, with the paper's operation counts, and of the copy bandwidth. */
static void add_table_3(const toelke *t) {
    static const double of_peak[] = {[CAVITY_LBGKL] = 15, [CAVITY_MRT] = 33};
    static const double of_bandwidth[] = {[CAVITY_LBGKL] = 59, [CAVITY_MRT] = 46};
    const double peak = kf_roof_peak_flops(kf_backend_device(t->validation.backend), 32);
    char name[64];
    for (int b = CAVITY_LBGKL; b <= CAVITY_MRT; b += CAVITY_MRT - CAVITY_LBGKL)
        for (int own = 1; own >= 0; own--) {
            const double rate = 1e6 * t->trials[own ? t->own[b] : t->pull[b]].mlups;
            const char *plan = own ? "toelke" : "pull";
            (void)snprintf(name, sizeof name, "3 %s %s, share of peak", t->beds[b].model, plan);
            if (peak > 0)
                add_number(t, name, 100.0 * rate * t->beds[b].flops / peak, "%", own ? of_peak[b] : 0.0);
            (void)snprintf(name, sizeof name, "3 %s %s, share of bandwidth", t->beds[b].model, plan);
            add_number(t, name, 100.0 * rate * 1e-6 / t->limit, "%", own ? of_bandwidth[b] : 0.0);
        }
}

static kf_status add_table_4(const toelke *t, kf_error *error) {
    const int rows = t->validation.gpu ? KF_TABLE_4_ROWS : 2;
    for (int row = 0; row < rows; row++) {
        const kf_table_4_row *paper = &kf_table_4[row];
        kf_array_errors errors;
        char name[64];
        kf_detail("Table 4: %d^2", paper->mesh);
        KF_TRY(kf_d2q9_array_errors(&t->validation, paper->mesh, &errors, error));
        (void)snprintf(name, sizeof name, "4 theta_err %d^2", paper->mesh);
        add_number(t, name, errors.fraction, "", paper->fraction);
        (void)snprintf(name, sizeof name, "4 k_err %d^2", paper->mesh);
        add_number(t, name, errors.k, "", paper->k);
    }
    return KF_OK;
}

/* The fastest of Table 2's trials for MRT in f32 whose words begin so. */
static double fastest(const toelke *t, const char *words) {
    double mlups = 0;
    for (int i = 0; i < t->table_5; i++) {
        const trial *one = &t->trials[i];
        if (one->bed == CAVITY_MRT && strncmp(one->words, words, strlen(words)) == 0 &&
            strstr(one->words, "storage=") == NULL)
            mlups = fmax(mlups, one->mlups);
    }
    return mlups;
}

/* What must be reached on an H200. */
static void add_verdicts(const toelke *t) {
    const bool h200 = strstr(kf_backend_device(t->validation.backend)->name, "H200") != NULL;
    const double pull = fastest(t, "plan=pull"), ours = fmax(pull, fastest(t, "plan=temporal"));
    const double cavity = t->trials[t->pull[CAVITY_MRTL]].mlups;
    const struct {
        const char *name, *unit;
        double value, must, aim;
    } asked[] = {
        {"mrt_share_of_limit", "", pull / t->limit, 0.93, 0.97},
        {"mrt_over_lbgkl", "", t->trials[t->pull[CAVITY_MRT]].mlups / t->trials[t->pull[CAVITY_LBGKL]].mlups,
         0.97, 1.0},
        {"porous_over_cavity", "", t->trials[t->pull[POROUS_MRTL]].mlups / cavity, 0.95, 0.98},
        {"porous_over_cavity_full_way", "", t->trials[t->full_way].mlups / cavity, 0.95, 0.98},
        {"temporal_glups", "GLUPS", 1e-3 * t->trials[t->temporal].mlups, 75.0, 100.0},
        {"over_toelke", "", ours / fastest(t, "plan=toelke"), 1.3, 2.0},
        {"over_toelke_one_step", "", pull / t->trials[t->own[CAVITY_MRT]].mlups, 1.3, 2.0},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        kf_figure figure = {.value = asked[i].value, .floor = NAN, .share = NAN};
        figure.verdict = h200 ? make_verdict(asked[i].must, asked[i].aim, "")
                              : make_verdict((double)NAN, (double)NAN, "asked of an H200");
        kf_copy_text(figure.name, sizeof figure.name, asked[i].name);
        kf_copy_text(figure.unit, sizeof figure.unit, asked[i].unit);
        kf_figures_add(t->figures, &figure);
    }
}

static kf_status measure_all(toelke *t, kf_error *error) {
    KF_TRY(open_beds(t, error));
    add_table_2(t);
    t->table_5 = t->trial_count;
    add_table_5(t);
    KF_TRY(build_ahead(t, error));
    KF_TRY(run_trials(t, error));
    add_number(t, "copy, read and written", t->copy_gb_s, "GB/s", 0.0);
    add_rates(t, 0, t->table_5);
    add_table_3(t);
    KF_TRY(add_table_4(t, error));
    add_rates(t, t->table_5, t->trial_count);
    add_verdicts(t);
    return KF_OK;
}

static kf_status run(kf_backend *backend, kf_figures *figures, kf_error *error) {
    toelke *t = kf_allocate_zeroed(1, sizeof *t);
    double bandwidth = 0;
    t->figures = figures;
    t->validation.backend = backend;
    t->validation.gpu = strcmp(kf_backend_device(backend)->backend, "cuda") == 0;
    t->validation.interrupted = &kf_interrupted;
    t->validation.configure = kf_validate_configure;
    kf_status status = copy_bandwidth(backend, t->validation.gpu, &bandwidth, error);
    t->copy_gb_s = bandwidth * 1e-9;
    t->limit = bandwidth / bytes_per_node * 1e-6;
    if (status == KF_OK) status = measure_all(t, error);
    close_beds(t);
    free(t);
    return status;
}

const kf_bench_suite kf_suite_toelke = {
    .name = "toelke",
    .summary = "two-dimensional flow: Tables 2 to 5 of Toelke 2008 beside ours, and what an H200 must reach",
    .promise = "every config runs and passes the gate",
    .run = run,
};
