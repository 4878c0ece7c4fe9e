/* Suite `toelke`: Tables 2, 4 and 5 of Tölke 2008 beside ours (docs/d2q9.md). Rates are held against what the
 * measured copy bandwidth allows at 72 bytes a node (18 values of 4 bytes, read and written once); a plan
 * that does several steps in one pass may exceed it. Every config is verified on a reduced scene first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/bench.h"
#include "harness/cli/command.h"
#include "harness/measure/measure.h"
#include "harness/util/log.h"
#include "harness/util/text.h"
#include "harness/validate/validate.h"
#include "solver/d2q9/cases.h"

enum { VERIFY_NODES = 24000, VERIFY_STEPS = 10, OVERRIDES = 10 };
static const double bytes_per_node = 72.0;

/* A way to run a step; overrides of the space's default preset. */
typedef struct contender {
    const char *name;
    bool gpu_only;
    const char *overrides[OVERRIDES];
} contender;

static const contender contenders[] = {
    {"toelke", false, {"plan=toelke", "layout=soa", "threads=128", NULL}},
    {"separate", false, {"plan=separate", NULL}},
    {"pull", false, {"plan=pull", NULL}},
    {"pull, 4 nodes", true, {"plan=pull", "nodes_per_thread=4", "threads=128", NULL}},
    {"push", false, {"plan=push", NULL}},
    {"in place", false, {"plan=inplace", NULL}},
    {"3 steps", false, {"plan=temporal", "steps_per_launch=3", "threads=128", "tile_rows=256", NULL}},
    {"5 steps", false, {"plan=temporal", "steps_per_launch=5", "threads=128", "tile_rows=256", NULL}},
};
enum { CONTENDERS = sizeof contenders / sizeof contenders[0], TOELKE = 0, PULL = 2 };

typedef struct toelke {
    kf_validation validation;
    kf_figures *figures;
    double limit; /* million node updates a second that the copy bandwidth allows */
} toelke;

/* --- bandwidth --------------------------------------------------------------------------------------------
 */

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

/* --- one config -------------------------------------------------------------------------------------------
 */

static kf_status verify(const toelke *t, const kf_scene *scene, const char *const *overrides,
                        kf_error *error) {
    kf_scene *reduced;
    kf_reference *reference = NULL;
    kf_plan *plan = NULL;
    kf_config config;
    kf_verification verification;
    KF_TRY(kf_scene_reduce(scene, VERIFY_NODES, &reduced, error));
    kf_status status =
        t->validation.configure(&t->validation, &kf_system_d2q9, reduced, overrides, &config, error);
    if (status == KF_OK) status = kf_d2q9_reference(reduced, VERIFY_STEPS, &reference, error);
    if (status == KF_OK) status = kf_system_d2q9.plan(reduced, &config, t->validation.backend, &plan, error);
    if (status == KF_OK) status = kf_plan_initialise(plan, error);
    if (status == KF_OK) status = kf_plan_advance(plan, VERIFY_STEPS, error);
    if (status == KF_OK) status = kf_d2q9_verify(plan, reference, &verification, error);
    kf_plan_free(plan);
    kf_d2q9_free_reference(reference);
    kf_scene_free(reduced);
    return status;
}

/* Million node updates a second, with their spread. */
static kf_status rate_of(const toelke *t, const kf_scene *scene, const char *const *overrides, double *mlups,
                         double *spread, kf_error *error) {
    kf_config config;
    kf_plan *plan = NULL;
    kf_measurement m = {0};
    const kf_measure_policy policy = kf_policy_for(kf_backend_device(t->validation.backend));
    if (kf_interrupted) return kf_fail(error, KF_INTERRUPTED, "interrupted");
    KF_TRY(verify(t, scene, overrides, error));
    KF_TRY(t->validation.configure(&t->validation, &kf_system_d2q9, scene, overrides, &config, error));
    KF_TRY(kf_system_d2q9.plan(scene, &config, t->validation.backend, &plan, error));
    kf_status status = kf_measure_plan(plan, &policy, NULL, &m, error);
    kf_plan_free(plan);
    *mlups = m.mlups;
    *spread = (m.step_us.q3 - m.step_us.q1) / m.step_us.median;
    kf_measurement_free(&m);
    return status;
}

static void add_rate(const toelke *t, const char *name, double mlups, double spread) {
    kf_figure figure = {.value = mlups * 1e-3,
                        .unit = "GLUPS",
                        .spread = spread,
                        .floor = t->limit * 1e-3,
                        .share = mlups / t->limit};
    kf_copy_text(figure.name, sizeof figure.name, name);
    kf_figures_add(t->figures, &figure);
}

static void add_number(const toelke *t, const char *name, double value, const char *unit, double paper) {
    kf_figure figure = {.value = value, .floor = paper, .share = NAN};
    kf_copy_text(figure.name, sizeof figure.name, name);
    kf_copy_text(figure.unit, sizeof figure.unit, unit);
    kf_figures_add(t->figures, &figure);
}

static kf_status open_scene(const char *name, int n, kf_scene **scene, kf_error *error) {
    const kf_scene_options options = {.nodes = {n, n, 1}};
    return kf_scene_open(name, &options, scene, error);
}

/* --- Table 2: models and plans on the cavity ---------------------------------------------------------------
 */

static const struct {
    kf_collision collision;
    const char *name;
    int paper; /* million node updates a second on the GeForce 8800 Ultra */
} models[] = {{KF_BGK_LINEAR, "LBGKL", 670}, {KF_BGK, "LBGK", 568}, {KF_MRT, "MRT", 527}};
enum { MODELS = sizeof models / sizeof models[0] };

static kf_status table_2(const toelke *t, double pull_rates[MODELS], kf_error *error) {
    const int n = t->validation.gpu ? 8192 : 512;
    char name[64];
    for (int model = 0; model < MODELS; model++)
        for (int c = 0; c < CONTENDERS; c++) {
            kf_scene *scene;
            double mlups = 0, spread = 0;
            if (contenders[c].gpu_only && !t->validation.gpu) continue;
            KF_TRY(open_scene("cavity2d", n, &scene, error));
            scene->collision = models[model].collision;
            kf_detail("Table 2: %s, %s", models[model].name, contenders[c].name);
            kf_status status = rate_of(t, scene, contenders[c].overrides, &mlups, &spread, error);
            kf_scene_free(scene);
            if (status != KF_OK) return kf_fail_context(error, "%s", contenders[c].name);
            if (c == PULL) pull_rates[model] = mlups;
            if (c == TOELKE)
                (void)snprintf(name, sizeof name, "2: %s %s %d^2 (paper .%d)", models[model].name,
                               contenders[c].name, n, models[model].paper);
            else
                (void)snprintf(name, sizeof name, "2: %s %s %d^2", models[model].name, contenders[c].name, n);
            add_rate(t, name, mlups, spread);
        }
    add_number(t, "2: MRT slower than LBGKL, pull", 100.0 * (1.0 - pull_rates[2] / pull_rates[0]), "%", NAN);
    return KF_OK;
}

/* --- Table 4: errors of the square array of cylinders ------------------------------------------------------
 */

static kf_status table_4(const toelke *t, kf_error *error) {
    static const struct {
        int nodes;
        double fraction, k;
    } paper[] = {{128, 1.88e-1, 2.06e-1},  {256, 9.05e-4, 1.73e-2},  {512, 1.81e-2, 1.87e-2},
                 {1024, 5.99e-4, 5.61e-3}, {2048, 8.70e-4, 4.78e-3}, {3072, 2.36e-4, 2.37e-3}};
    const int rows = t->validation.gpu ? 6 : 2;
    for (int row = 0; row < rows; row++) {
        kf_array_errors errors;
        char name[64];
        kf_detail("Table 4: %d^2", paper[row].nodes);
        KF_TRY(kf_d2q9_array_errors(&t->validation, paper[row].nodes, &errors, error));
        (void)snprintf(name, sizeof name, "4: theta_err %d^2 (floor: paper)", paper[row].nodes);
        add_number(t, name, errors.fraction, "", paper[row].fraction);
        (void)snprintf(name, sizeof name, "4: k_err %d^2 (floor: paper)", paper[row].nodes);
        add_number(t, name, errors.k, "", paper[row].k);
    }
    return KF_OK;
}

/* --- Table 5: the porous medium by threads and size --------------------------------------------------------
 */

static const int thread_counts[] = {32, 64, 128, 192, 256};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof thread_counts[0] };

static kf_status porous_rate(const toelke *t, int n, int threads, const char *plan, double *mlups,
                             double *spread, kf_error *error) {
    char threads_text[32], plan_text[32];
    (void)snprintf(threads_text, sizeof threads_text, "threads=%d", threads);
    (void)snprintf(plan_text, sizeof plan_text, "plan=%s", plan);
    const char *const overrides[] = {plan_text, threads_text, "bounce_back=full_way",
                                     strcmp(plan, "toelke") == 0 ? "layout=soa" : NULL, NULL};
    kf_scene *scene;
    KF_TRY(open_scene("cylinder_array2d", n, &scene, error));
    kf_detail("Table 5: %s, %d^2, %d threads", plan, n, threads);
    kf_status status = rate_of(t, scene, overrides, mlups, spread, error);
    kf_scene_free(scene);
    return status;
}

static kf_status table_5(const toelke *t, kf_error *error) {
    static const char *const plans[] = {"toelke", "pull"};
    static const struct {
        int nodes, paper[THREAD_COUNTS];
    } sizes[] = {{512, {180, 218, 217, 221, 294}},
                 {1024, {281, 398, 391, 357, 360}},
                 {2048, {274, 430, 466, 434, 438}},
                 {3072, {248, 413, 481, 452, 452}}};
    const int rows = t->validation.gpu ? 4 : 1;
    for (int plan = 0; plan < 2; plan++)
        for (int row = 0; row < rows; row++)
            for (int i = 0; i < THREAD_COUNTS; i++) {
                double mlups = 0, spread = 0;
                char name[64];
                KF_TRY(
                    porous_rate(t, sizes[row].nodes, thread_counts[i], plans[plan], &mlups, &spread, error));
                if (plan == TOELKE)
                    (void)snprintf(name, sizeof name, "5: %s %d^2 x%d (paper .%d)", plans[plan],
                                   sizes[row].nodes, thread_counts[i], sizes[row].paper[i]);
                else
                    (void)snprintf(name, sizeof name, "5: %s %d^2 x%d", plans[plan], sizes[row].nodes,
                                   thread_counts[i]);
                add_rate(t, name, mlups, spread);
            }
    return KF_OK;
}

/* The porous medium against the cavity, both as large as Table 2's and with the plan pull. */
static kf_status porous_against_cavity(const toelke *t, kf_error *error) {
    const int n = t->validation.gpu ? 8192 : 512, threads = t->validation.gpu ? 256 : 1024;
    static const char *const overrides[] = {"plan=pull", NULL};
    double porous = 0, cavity = 0, spread = 0;
    kf_scene *scene;
    KF_TRY(porous_rate(t, n, threads, "pull", &porous, &spread, error));
    add_rate(t, "5: porous medium, pull, large", porous, spread);
    KF_TRY(open_scene("cavity2d", n, &scene, error));
    scene->collision = KF_MRT_LINEAR;
    kf_status status = rate_of(t, scene, overrides, &cavity, &spread, error);
    kf_scene_free(scene);
    KF_TRY(status);
    add_rate(t, "5: cavity, MRTL, pull, large", cavity, spread);
    add_number(t, "5: porous medium slower than cavity", 100.0 * (1.0 - porous / cavity), "%", NAN);
    return KF_OK;
}

static kf_status run(kf_backend *backend, kf_figures *figures, kf_error *error) {
    toelke t = {.figures = figures};
    double bandwidth = 0, pull_rates[MODELS] = {0};
    t.validation.backend = backend;
    t.validation.gpu = strcmp(kf_backend_device(backend)->backend, "cuda") == 0;
    t.validation.interrupted = &kf_interrupted;
    t.validation.configure = kf_validate_configure;
    KF_TRY(copy_bandwidth(backend, t.validation.gpu, &bandwidth, error));
    t.limit = bandwidth / bytes_per_node * 1e-6;
    add_number(&t, "copy, bytes read and written", bandwidth * 1e-9, "GB/s", NAN);
    KF_TRY(table_2(&t, pull_rates, error));
    KF_TRY(table_4(&t, error));
    KF_TRY(table_5(&t, error));
    return porous_against_cavity(&t, error);
}

const kf_suite kf_suite_toelke = {
    .name = "toelke",
    .summary = "two-dimensional flow: Tables 2, 4 and 5 of Toelke 2008 beside ours",
    .promise = NULL,
    .run = run,
};
