/* Runs the suite `scaling`: one simulation on a team of devices. Scaling is weak (a fixed number of nodes for
 * each device) or strong (a fixed number in total). The Ahmed body is in the middle of the domain, where it
 * lies across a cut. A team's efficiency is relative to the slowest of its devices alone. Before timing, a
 * team's state and forces must equal those of one device, bit for bit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/nccl.h"
#include "base/backend/team/team.h"
#include "base/statistics/statistics.h"
#include "base/util/clock.h"
#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/bench/suite_run.h"
#include "solver/flow/flow_plan.h"
#include "solver/flow/flow_problem.h"
#include "solver/systems.h"

/* A sample consists of whole cycles of 16 steps, after which the averages repeat. One device runs a cycle as
 * a graph. Steps that do not fill a cycle are launched one by one, and nothing overlaps. */
enum { TURN = 500, SAMPLES = 11, SAMPLE_STEPS = 32, CHECK_STEPS = 40 };
static const double PI = 3.14159265358979323846;

typedef enum kind { SAME, WEAK, STRONG, LARGEST } kind;

/* A row: a preset of the space with these values, on a GPU and, as far as the space has them, on the cpu. */
typedef struct row {
    const char *name;
    kind kind;
    /* Nodes along an edge of the cube that a device holds, or of the whole cube if STRONG. 0: the domain has
     * the edges of of_figure_20. LARGEST: on a GPU, as large as the memory of all devices allows. */
    int edge, cpu_edge;
    double samples_per_cell; /* on the body's surface, on a GPU */
    bool turning;
    double must, aim; /* goals for the efficiency; 0: there is no goal */
    const char *with;
    const char *transfer; /* the team's transfer; NULL: planes are read in place */
    int parts_y;          /* the team's parts across y; 0: slabs */
    const char *preset;   /* NULL: preset `default` */
} row;

#define ON_ONE_GRID                                                                                          \
    "{\"streaming\": \"shift\", \"slab\": 16, \"alternate\": false, \"concurrent_solid\": false, "           \
    "\"masked_band\": false, \"overlap\": false, \"band_chain\": false, \"boundary_rows_apart\": false}"
/* Parameters of a team. With band_chain the band's kernels are one kernel, in which compilers may round
 * values differently. */
#define AS_A_TEAM      "{\"band_chain\": false}"
#define AS_A_TEAM_F16  "{\"storage\": \"f16\", \"band_chain\": false}"
#define PAPER_GATHERED "{\"immersed_boundary\": \"gather\"}"
/* The paper's domain, on a GPU; on the cpu a twentieth of it. The paper's plan copies its ghost planes
 * through the host. Its sums by atomics differ from run to run, but gathered forces are repeatable. */
static const int of_figure_20[3] = {200, 400, 200};
static const row rows[] = {
    {"same as one, f32", SAME, 128, 24, 25, false, 0, 0, AS_A_TEAM, NULL, 0, NULL},
    {"same as one, f16", SAME, 128, 24, 25, false, 0, 0, AS_A_TEAM_F16, NULL, 0, NULL},
    {"same as one, turning", SAME, 128, 24, 25, true, 0, 0, "{\"force_sum\": \"fixed\"}", NULL, 0, NULL},
    {"same as one, copies", SAME, 128, 24, 25, false, 0, 0, AS_A_TEAM, "copies", 0, NULL},
    {"same as one, copies f16", SAME, 128, 24, 25, false, 0, 0, AS_A_TEAM_F16, "copies", 0, NULL},
    {"same as one, through the host", SAME, 128, 24, 25, false, 0, 0, AS_A_TEAM, "host", 0, NULL},
    {"same as one, nccl", SAME, 128, 24, 25, false, 0, 0, AS_A_TEAM, "nccl", 0, NULL},
    {"same as one, nccl f16", SAME, 128, 24, 25, false, 0, 0, AS_A_TEAM_F16, "nccl", 0, NULL},
    {"same as one, on one grid", SAME, 128, 24, 25, false, 0, 0, ON_ONE_GRID, "copies", 0, NULL},
    {"same as one, boxes", SAME, 128, 24, 25, false, 0, 0, AS_A_TEAM, "copies", 2, NULL},
    {"same as one, the paper's plan", SAME, 128, 24, 25, false, 0, 0, PAPER_GATHERED, "host", 0, "paper"},
    {"weak 400^3, f32", WEAK, 400, 32, 107, false, 0.99, 1.0, "{}", NULL, 0, NULL},
    {"weak 400^3, copies", WEAK, 400, 32, 107, false, 0.99, 0.996, "{}", "copies", 0, NULL},
    {"weak 400^3, through the host", WEAK, 400, 32, 107, false, 0.99, 0.997, "{}", "host", 0, NULL},
    {"weak 400^3, nccl", WEAK, 400, 32, 107, false, 0.985, 0.993, "{}", "nccl", 0, NULL},
    {"weak 400^3, f16", WEAK, 400, 32, 107, false, 0.985, 0.995, "{\"storage\": \"f16\"}", NULL, 0, NULL},
    {"weak 400^3, on one grid", WEAK, 400, 32, 107, false, 0, 0, ON_ONE_GRID, "copies", 0, NULL},
    {"weak 400^3, turning", WEAK, 400, 32, 107, true, 0.96, 0.98, "{\"force_sum\": \"fixed\"}", NULL, 0,
     NULL},
    {"weak 256^3, on one grid", WEAK, 256, 24, 107, false, 0, 0, ON_ONE_GRID, "copies", 0, NULL},
    {"weak 256^3, f32", WEAK, 256, 24, 107, false, 0.98, 0.995, "{}", NULL, 0, NULL},
    {"weak 256^3, copies", WEAK, 256, 24, 107, false, 0, 0, "{}", "copies", 0, NULL},
    {"weak 256^3, nccl", WEAK, 256, 24, 107, false, 0, 0, "{}", "nccl", 0, NULL},
    {"strong 512^3, f32", STRONG, 512, 40, 107, false, 0.98, 1.0, "{}", NULL, 0, NULL},
    {"strong 512^3, copies", STRONG, 512, 40, 107, false, 0, 0, "{}", "copies", 0, NULL},
    {"strong 256^3, copies", STRONG, 256, 24, 107, false, 0, 0, "{}", "copies", 0, NULL},
    {"strong 256^3, boxes, copies", STRONG, 256, 24, 107, false, 0, 0, "{}", "copies", 2, NULL},
    {"strong 256^3, host", STRONG, 256, 24, 107, false, 0, 0, "{}", "host", 0, NULL},
    {"strong 256^3, boxes, host", STRONG, 256, 24, 107, false, 0, 0, "{}", "host", 2, NULL},
    {"strong 256^3, nccl", STRONG, 256, 24, 107, false, 0, 0, "{}", "nccl", 0, NULL},
    {"strong 256^3, boxes, nccl", STRONG, 256, 24, 107, false, 0, 0, "{}", "nccl", 2, NULL},
    {"Figure 20 (a), 200x400x200", STRONG, 0, 0, 495, false, 0.95, 0.975, "{}", NULL, 0, NULL},
    {"Figure 20 (a), the paper's plan", STRONG, 0, 0, 495, false, 0, 0, "{}", "host", 0, "paper"},
    {"Figure 20 (b), 400^3", STRONG, 400, 32, 107, false, 0, 0, "{}", NULL, 0, NULL},
    {"largest, on one grid", LARGEST, 0, 48, 4, false, 0, 0, ON_ONE_GRID, "copies", 0, NULL},
};

typedef struct bench {
    const kf_bench_options *options;
    const char *spec;
    int parts;
    bool gpu;
    kf_device_info device;
    kf_figures *figures;
    /* The problems of the last row, for one cube and for several. They are kept because opening them takes
     * longer than a figure. */
    kf_problem *problems[2];
    kf_scene *scenes[2]; /* theirs */
    const row *opened[2];
    int cubes[2];
    /* Times of single devices. They are kept because rows that differ only in the transfer share them. */
    const row *known;
    double slowest, fastest;
    kf_solid_load load; /* STRONG: on the first device alone */
} bench;

typedef struct timing {
    double ms, spread;      /* of a step */
    char hash[KF_HASH_HEX]; /* of its config */
    kf_solid_load load;
    void *state; /* only if it is wanted; owned */
    size_t bytes;
} timing;

/* --- The scene -------------------------------------------------------------------------------------------
 */

/* Returns the nodes along the edge of the largest cube for the memory of all devices. A fifth of the memory
 * is left for everything but the single grid of 27 floats a node. */
static int largest_edge(const bench *b) {
    return (int)cbrt(0.8 * (double)b->device.memory_free_bytes / (27 * sizeof(float)));
}

/* Opens the body in the middle of a domain of several stacked cubes. */
static kf_status open_scene(const bench *b, const row *r, int cubes, kf_scene **scene, kf_error *error) {
    enum { ON_CPU = 20 };
    int edge = b->gpu ? r->edge : r->cpu_edge, nodes[3];
    if (r->kind == LARGEST && b->gpu) edge = largest_edge(b);
    if (b->options->nodes[0] > 0) edge = b->options->nodes[0];
    for (int a = 0; a < 3; a++)
        nodes[a] = edge > 0 ? edge : b->gpu ? of_figure_20[a] : of_figure_20[a] / ON_CPU;
    const kf_scene_options options = {.nodes = {nodes[0], nodes[1], nodes[2]},
                                      .samples_per_cell = b->options->samples_per_cell > 0
                                                              ? b->options->samples_per_cell
                                                          : b->gpu ? r->samples_per_cell
                                                                   : 25};
    KF_TRY(kf_scene_open("ahmed", &options, scene, error));
    kf_scene *s = *scene;
    s->accuracy = fmax(s->accuracy, 0.03); /* This accuracy allows storage in 16 bits. */
    s->nodes[2] = nodes[2] * cubes;
    const double lift = 0.5 * (s->nodes[2] - 1) - 0.5 * (s->solid_low[2] + s->solid_high[2]);
    for (size_t i = 0; i < s->samples.count; i++)
        s->samples.z[i] += lift;
    s->solid_low[2] += lift;
    s->solid_high[2] += lift;
    if (!r->turning) return KF_OK;
    s->viscosity = 0.05; /* With this viscosity the flow stays finite. */
    s->motion = (kf_motion){.moving = true, .axis = {1, 0, 0}, .angular_speed = 2.0 * PI / TURN};
    for (int a = 0; a < 3; a++)
        s->motion.center[a] = 0.5 * (s->solid_low[a] + s->solid_high[a]);
    return KF_OK;
}

static bool are_alike(const row *one, const row *other) {
    return one->edge == other->edge && one->turning == other->turning &&
           one->samples_per_cell == other->samples_per_cell;
}

/* Returns the row's problem if the bench has kept it, otherwise opens it. */
static kf_status find_problem(bench *b, const row *r, int cubes, kf_error *error) {
    const int slot = cubes > 1;
    kf_scene *scene = NULL;
    if (b->problems[slot] == NULL || b->cubes[slot] != cubes || !are_alike(b->opened[slot], r)) {
        kf_problem_free(b->problems[slot]);
        b->problems[slot] = NULL;
        KF_TRY(open_scene(b, r, cubes, &scene, error));
        b->problems[slot] = kf_flow_problem(NULL, scene, true);
        KF_TRY(kf_system_of_scene(b->problems[slot], error));
        b->scenes[slot] = scene;
        b->opened[slot] = r;
        b->cubes[slot] = cubes;
    }
    return KF_OK;
}

static const char *preset_of(const row *r) {
    return r->preset != NULL ? r->preset : "default";
}

static kf_status configure(const bench *b, const row *r, bool team, const kf_problem *problem,
                           kf_config *config, kf_error *error) {
    kf_space *space = NULL;
    char reason[256];
    const kf_suite_timing how = {.name = r->name, .preset = preset_of(r)};
    cJSON *with = cJSON_Parse(r->with);
    if (r->transfer != NULL) (void)cJSON_AddStringToObject(with, "transfer", r->transfer);
    if (team && r->parts_y > 0) kf_json_add_number(with, "parts_y", r->parts_y);
    const kf_candidate candidate = {.name = r->name, .with = with};
    kf_status status = kf_problem_space(problem, &b->device, NULL, 0, &space, error);
    const bool made = status == KF_OK && kf_suite_configure(space, problem, &how, NULL, &candidate, config,
                                                            reason, sizeof reason);
    if (status == KF_OK) kf_space_free(space);
    cJSON_Delete(with);
    KF_TRY(status);
    if (!made) return kf_fail(error, KF_BAD_INPUT, "%s", reason);
    return KF_OK;
}

/* --- Measuring -------------------------------------------------------------------------------------------
 */

/* Times a plan once. A plan that fills the memory only has to run. */
static kf_status time_once(kf_plan *plan, timing *t, kf_error *error) {
    KF_TRY(kf_plan_advance(plan, SAMPLE_STEPS, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    const double begin = kf_clock_seconds();
    KF_TRY(kf_plan_advance(plan, SAMPLE_STEPS, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    t->ms = 1e3 * (kf_clock_seconds() - begin) / SAMPLE_STEPS;
    return plan->methods->flow->load(plan, &t->load, error);
}

/* Times a plan by samples: the median in milliseconds a step, and the spread between the quartiles relative
 * to it. It also reads the load on the solid after the last sample. */
static kf_status time_plan(kf_plan *plan, timing *t, kf_error *error) {
    double samples[SAMPLES];
    KF_TRY(kf_plan_advance(plan, SAMPLE_STEPS, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    for (int i = 0; i < SAMPLES; i++) {
        if (kf_interrupted) return kf_fail(error, KF_INTERRUPTED, "interrupted");
        const double begin = kf_clock_seconds();
        KF_TRY(kf_plan_advance(plan, SAMPLE_STEPS, error));
        KF_TRY(kf_backend_synchronize(plan->backend, error));
        samples[i] = 1e3 * (kf_clock_seconds() - begin) / SAMPLE_STEPS;
    }
    qsort(samples, SAMPLES, sizeof *samples, kf_ascending);
    t->ms = samples[SAMPLES / 2];
    t->spread = (samples[3 * SAMPLES / 4] - samples[SAMPLES / 4]) / t->ms;
    return plan->methods->flow->load(plan, &t->load, error);
}

static kf_status run_steps(kf_plan *plan, timing *t, kf_error *error) {
    KF_TRY(kf_plan_advance(plan, CHECK_STEPS, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    KF_TRY(plan->methods->flow->load(plan, &t->load, error));
    KF_TRY(plan->methods->state_size(plan, &t->bytes, error));
    t->state = kf_allocate(t->bytes);
    return plan->methods->save(plan, t->state, error);
}

/* Times a row with the config for a domain of config_cubes cubes. A config with the given hash is not run
 * again; its time is infinite. */
static kf_status on_device(bench *b, const row *r, const char *spec, int cubes, int config_cubes,
                           const char *known, timing *t, kf_error *error) {
    kf_backend *backend = NULL;
    kf_plan *plan = NULL;
    kf_config config;
    kf_progress(true, "%s on %s", r->name, spec);
    KF_TRY(find_problem(b, r, cubes, error));
    const kf_problem *problem = b->problems[cubes > 1];
    kf_scene *scene = b->scenes[cubes > 1];
    const int planes = scene->nodes[2];
    scene->nodes[2] = planes / cubes * config_cubes;
    kf_status status = configure(b, r, strcmp(spec, b->spec) == 0, problem, &config, error);
    scene->nodes[2] = planes;
    t->ms = INFINITY;
    if (status == KF_OK) kf_config_hash(&config, t->hash);
    if (status != KF_OK || strcmp(t->hash, known) == 0) return status;
    status = kf_backend_open(spec, &backend, error);
    if (status == KF_OK) status = problem->system->plan(problem, &config, backend, &plan, error);
    if (status == KF_OK) status = kf_plan_initialise(plan, error);
    static kf_status (*const work[])(kf_plan *, timing *, kf_error *) = {
        [SAME] = run_steps, [WEAK] = time_plan, [STRONG] = time_plan, [LARGEST] = time_once};
    if (status == KF_OK) status = work[r->kind](plan, t, error);
    if (plan != NULL) kf_plan_free(plan);
    kf_backend_close(backend);
    return status;
}

/* Times the default configs for the size of one device's share and for the size of the whole domain, and
 * keeps the faster one. */
static kf_status run_fastest(bench *b, const row *r, const char *spec, int cubes, timing *best,
                             kf_error *error) {
    timing other = {0};
    KF_TRY(on_device(b, r, spec, cubes, 1, "", best, error));
    KF_TRY(on_device(b, r, spec, cubes, b->parts, best->hash, &other, error));
    if (other.ms < best->ms) *best = other;
    return KF_OK;
}

/* --- Figures ---------------------------------------------------------------------------------------------
 */

static void add_figure(const bench *b, const row *r, double value, const char *unit, double spread,
                       double share, const char *note, bool failed) {
    kf_judgement *verdict = kf_allocate_zeroed(1, sizeof *verdict);
    verdict->low = verdict->high = NAN;
    verdict->must = b->gpu && r->must > 0 ? r->must : NAN;
    verdict->aim = b->gpu && r->aim > 0 ? r->aim : NAN;
    verdict->of_share = true;
    kf_copy_text(verdict->note, sizeof verdict->note, note);
    kf_figure figure = {
        .value = value, .spread = spread, .floor = NAN, .share = share, .verdict = verdict, .failed = failed};
    kf_copy_text(figure.name, sizeof figure.name, r->name);
    kf_copy_text(figure.unit, sizeof figure.unit, unit);
    kf_figures_add(b->figures, &figure);
    if (isfinite(share))
        kf_progress(true, "%s: %.4g %s, %.2f %%; %s", r->name, value, unit, 100 * share, note);
    else
        kf_progress(true, "%s: %s", r->name, note);
}

/* Compares the state and the force of one device with those of a team, bit for bit. The figure fails if
 * either differs. */
static kf_status compare(bench *b, const row *r, kf_error *error) {
    char alone[32];
    timing one = {0}, team = {0};
    KF_TRY(kf_device_member(b->spec, 0, alone, error));
    kf_status status = on_device(b, r, alone, b->parts, 1, "", &one, error);
    if (status == KF_OK) status = on_device(b, r, b->spec, b->parts, 1, "", &team, error);
    if (status == KF_OK) {
        size_t differing = one.bytes == team.bytes ? 0 : 1;
        for (size_t i = 0; i < one.bytes && one.bytes == team.bytes; i++)
            differing += ((const char *)one.state)[i] != ((const char *)team.state)[i];
        const bool force = kf_solid_load_same(&one.load, &team.load);
        char note[200];
        (void)snprintf(note, sizeof note, "%d steps on %d devices: %s, the force is %s", CHECK_STEPS,
                       b->parts,
                       differing == 0 ? "bit for bit one device's state" : "another state than one device's",
                       force ? "the same" : "another");
        add_figure(b, r, (double)differing, "bytes off", 0, NAN, note, differing > 0 || !force);
    }
    free(one.state);
    free(team.state);
    return status;
}

static bool are_alike_alone(const row *one, const row *other) {
    return one->kind == other->kind && one->edge == other->edge && one->turning == other->turning &&
           strcmp(one->with, other->with) == 0 && strcmp(preset_of(one), preset_of(other)) == 0;
}

/* Times each device of a team alone, and keeps the slowest and the fastest. Rows that do not differ on a
 * single device are timed once. */
static kf_status time_alone(bench *b, const row *r, kf_error *error) {
    if (b->known != NULL && are_alike_alone(b->known, r)) return KF_OK;
    b->known = NULL;
    b->slowest = 0;
    b->fastest = INFINITY;
    for (int part = 0; part < b->parts; part++) {
        char alone[32];
        timing one = {0};
        KF_TRY(kf_device_member(b->spec, part, alone, error));
        KF_TRY(run_fastest(b, r, alone, 1, &one, error));
        b->slowest = fmax(b->slowest, one.ms);
        b->fastest = fmin(b->fastest, one.ms);
    }
    b->known = r;
    return KF_OK;
}

static kf_status weak(bench *b, const row *r, kf_error *error) {
    timing team = {0};
    KF_TRY(time_alone(b, r, error));
    KF_TRY(run_fastest(b, r, b->spec, b->parts, &team, error));
    char note[200];
    (void)snprintf(note, sizeof note, "alone %.4f to %.4f ms", b->fastest, b->slowest);
    add_figure(b, r, team.ms, "ms", team.spread, b->slowest / team.ms, note, false);
    return KF_OK;
}

/* Times one device, unless a row that differs only in the transfer has timed it. */
static kf_status strong_alone(bench *b, const row *r, timing *one, kf_error *error) {
    char alone[32];
    if (b->known != NULL && are_alike_alone(b->known, r)) {
        one->ms = b->slowest;
        one->load = b->load;
        return KF_OK;
    }
    b->known = NULL;
    KF_TRY(kf_device_member(b->spec, 0, alone, error));
    KF_TRY(on_device(b, r, alone, 1, 1, "", one, error));
    b->known = r;
    b->slowest = b->fastest = one->ms;
    b->load = one->load;
    return KF_OK;
}

/* Returns whether a team's final force equals that of one device: bit for bit, or nearly if forces differ
 * from run to run. */
static bool has_force(const row *r, const kf_solid_load *one, const kf_solid_load *team) {
    enum { AXES = 3 };
    static const double NEARLY = 1e-3;
    double off = 0, most = 0;
    if (r->preset == NULL) return kf_solid_load_same(one, team);
    for (int a = 0; a < AXES; a++) {
        off = fmax(off, fabs(one->force[a] - team->force[a]));
        most = fmax(most, fabs(one->force[a]));
    }
    return off <= NEARLY * most;
}

static kf_status strong(bench *b, const row *r, kf_error *error) {
    char note[200];
    timing one = {0}, team = {0};
    KF_TRY(strong_alone(b, r, &one, error));
    KF_TRY(on_device(b, r, b->spec, 1, 1, "", &team, error));
    (void)snprintf(note, sizeof note, "%.3f times one device's %.4f ms", one.ms / team.ms, one.ms);
    add_figure(b, r, team.ms, "ms", team.spread, one.ms / team.ms / b->parts, note,
               !has_force(r, &one.load, &team.load));
    return KF_OK;
}

/* Runs a domain that is too large for one device. Its forces are compared with those of the first such row.
 */
static kf_status largest(bench *b, const row *r, kf_error *error) {
    char note[200];
    timing team = {0};
    KF_TRY(on_device(b, r, b->spec, 1, 1, "", &team, error));
    const bool is_first = b->known == NULL || !are_alike_alone(b->known, r);
    const bool agrees = is_first || kf_solid_load_same(&b->load, &team.load);
    if (is_first) b->load = team.load;
    b->known = r;
    const int *n = b->scenes[0]->nodes;
    const double *force = team.load.force;
    (void)snprintf(note, sizeof note, "%dx%dx%d nodes, %.3g updates/s, lattice force %.4g%s", n[0], n[1],
                   n[2], 1e3 * n[0] * n[1] * n[2] / team.ms, force[0],
                   is_first ? ""
                   : agrees ? ", the first row's forces"
                            : ", OTHER forces than the first row's");
    add_figure(b, r, team.ms, "ms", NAN, NAN, note, !agrees || !isfinite(force[0] + force[1] + force[2]));
    return KF_OK;
}

static bool is_wanted(const kf_bench_options *options, const char *name) {
    for (int i = 0; i < options->figure_count; i++)
        if (strcmp(options->figures[i], name) == 0) return true;
    return options->figure_count == 0;
}

static bool lacks_nccl(const row *r, const kf_device_info *device, kf_error *error) {
    return r->transfer != NULL && strcmp(r->transfer, "nccl") == 0 &&
           kf_nccl_available(device->backend, error) != KF_OK;
}

static kf_status run(const kf_bench_suite *suite, const kf_bench_options *options, kf_device_info *device,
                     kf_figures *figures, kf_error *error) {
    (void)suite;
    bench b = {.options = options, .spec = options->device, .figures = figures};
    KF_TRY(kf_device_check(options->device, &b.parts, error));
    if (b.parts < 2)
        return kf_fail(error, KF_BAD_INPUT,
                       "suite scaling: give a team, as in --devices cuda:0-3 or cpu,cpu");
    kf_backend *backend = NULL;
    KF_TRY(kf_backend_open(options->device, &backend, error));
    b.device = *device = *kf_backend_device(backend);
    b.gpu = kf_device_is_gpu(device);
    kf_backend_close(backend);
    static kf_status (*const measure[])(bench *, const row *, kf_error *) = {
        [SAME] = compare, [WEAK] = weak, [STRONG] = strong, [LARGEST] = largest};
    kf_status status = KF_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!is_wanted(options, rows[i].name)) continue;
        status =
            lacks_nccl(&rows[i], device, error) ? KF_BAD_INPUT : measure[rows[i].kind](&b, &rows[i], error);
        if (status == KF_INTERRUPTED) break;
        if (status != KF_OK)
            add_figure(&b, &rows[i], NAN, "", NAN, NAN, error->message, status != KF_BAD_INPUT);
    }
    kf_problem_free(b.problems[0]);
    kf_problem_free(b.problems[1]);
    if (status == KF_INTERRUPTED) return status;
    if (figures->count == 0)
        return kf_fail(error, KF_BAD_INPUT, "suite scaling: no figure \"%s\"; the first is \"%s\"",
                       options->figures[0], rows[0].name);
    return KF_OK;
}

const kf_bench_suite kf_suite_scaling = {
    .name = "scaling",
    .summary = "one simulation on a team of devices (--devices cuda:0-3)",
    .promise = "a team's state and forces are those of one device, bit for bit",
    .run = run,
};
