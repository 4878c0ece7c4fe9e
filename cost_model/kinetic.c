/* The work of the kinetic plans, launch by launch. Parameters that a config lacks (one of an older landscape)
 * have the value that makes no difference. Where a number was measured, it was on an H200
 * (docs/cost-model.md). */
#include "cost_model/kinetic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/util/text.h"
#include "kernels/kinetic/arguments.h"

/* Of the values that the fused kernel reads; it has fewer threads than a kernel that only streams. */
enum { THRASHING = 4 };
enum { Q = 27, FACE_Q = 9, WARP = 32, SECTOR = 32, AVERAGE_PERIOD = 16, SORT_PASSES = 10 };

typedef struct kf_kinetic_cost {
    const kf_scene *scene;
    const kf_device_info *device;
    kf_sample_survey survey;
} kf_kinetic_cost;

/* A config's parameters as far as they matter here. */
typedef struct kf_choice {
    bool baseline, fused, moments, in_place, esoteric, low_order, aos, gather, aggregated, fixed, morton;
    double alpha, value_bytes, split, block_x, block_y, boundary_kernels, block_length, segment, reorder,
        nodes_per_thread;
} kf_choice;

typedef struct kf_tally {
    kf_kinetic_cost *cost;
    kf_choice choice;
    kf_works *works;
    double nodes;
} kf_tally;

/* --- config --------------------------------------------------------------------------------------------- */

static double number(const kf_config *config, const char *name, double fallback) {
    long value;
    return kf_config_integer(config, name, &value, NULL) == KF_OK ? (double)value : fallback;
}

static bool is(const kf_config *config, const char *name, const char *value) {
    const char *given;
    return kf_config_name(config, name, &given, NULL) == KF_OK && strcmp(given, value) == 0;
}

static kf_choice read_choice(const kf_config *config) {
    kf_choice choice = {.baseline = is(config, "plan", "baseline"),
                        .fused = is(config, "plan", "fused") || is(config, "plan", "moments"),
                        .moments = is(config, "plan", "moments"),
                        .in_place = is(config, "streaming", "in_place"),
                        .esoteric = is(config, "streaming", "esoteric"),
                        .low_order = is(config, "collision_form", "low_order"),
                        .aos = is(config, "layout", "aos"),
                        .gather = is(config, "immersed_boundary", "gather"),
                        .aggregated = is(config, "immersed_boundary", "aggregated"),
                        .fixed = is(config, "force_sum", "fixed"),
                        .morton = true};
    (void)kf_config_boolean(config, "morton", &choice.morton, NULL);
    choice.value_bytes = is(config, "storage", "f64") ? 8 : is(config, "storage", "f16") ? 2 : 4;
    choice.alpha = is(config, "layout", "csoa") ? number(config, "alpha", 1) : choice.aos ? 1 : INFINITY;
    choice.split = number(config, "collision_split", 0);
    choice.block_x = number(config, "block_x", 128);
    choice.block_y = number(config, "block_y", 1);
    choice.boundary_kernels = number(config, "boundary_kernels", 1);
    choice.block_length = number(config, "sample_block_length", 1);
    choice.segment = number(config, "segment_length", 16);
    choice.reorder = number(config, "reorder_period", 0);
    choice.nodes_per_thread = number(config, "nodes_per_thread", 1);
    return choice;
}

/* --- passes over all nodes ------------------------------------------------------------------------------ */

/* Distance of the streams in memory decides how many pages of DRAM and entries of the TLB are open at a time:
 * groups up to 2^11 nodes keep 97 % of a copy's speed, separate arrays 88 %. */
static double stream_efficiency(const kf_choice *choice) {
    double far = isfinite(choice->alpha) ? (log2(choice->alpha) - 11) / 9 : 1;
    return 0.97 - 0.09 * fmin(fmax(far, 0), 1);
}

/* Threads beyond the row's end, or the last row, keep memory less busy. */
static double block_efficiency(const kf_tally *tally) {
    const int *nodes = tally->cost->scene->nodes;
    const kf_choice *c = &tally->choice;
    double along_x = nodes[0] / (ceil(nodes[0] / c->block_x) * c->block_x);
    double along_y = nodes[1] / (ceil(nodes[1] / c->block_y) * c->block_y);
    return pow(along_x * along_y, 0.25);
}

/* With few blocks on a multiprocessor nobody computes while the others wait for memory: two run at 76 % of
 * the speed of four. Few threads (kernels with many registers) do not keep memory busy either. */
static double residency(const kf_tally *tally, double registers) {
    static const double REGISTERS = 65536, MOST_THREADS = 2048, ENOUGH_THREADS = 512;
    const double threads = tally->choice.block_x * tally->choice.block_y;
    const double blocks = fmax(1, floor(fmin(REGISTERS / registers, MOST_THREADS) / threads));
    return fmin(1, 0.52 + 0.12 * blocks) * fmin(1, sqrt(blocks * threads / ENOUGH_THREADS));
}

/* Requests of a warp that use a part of each sector only, a value: the pieces it falls into when groups are
 * shorter than a sector. */
static double partial_a_value(const kf_choice *choice) {
    double group_bytes = choice->alpha * choice->value_bytes;
    return group_bytes >= SECTOR ? 0 : WARP / choice->alpha;
}

/* A pass over all nodes. */
typedef struct kf_pass {
    const char *name;
    double reads, writes; /* values a node */
    double shifted;       /* of the reads, those from neighbours */
    double thrashing; /* of the reads, those that the L1 cache cannot keep until the rest of their sector is
                         read */
    double registers; /* a thread */
    double instructions; /* a node; 0: too few to matter */
} kf_pass;

static kf_work *add_pass(kf_tally *tally, const kf_pass *pass) {
    const kf_choice *c = &tally->choice;
    kf_work *work = kf_works_add(tally->works, pass->name, 1);
    double sector_nodes = SECTOR / c->value_bytes;
    /* A shifted row of a block touches one sector more, which the block beside it reads again. */
    double again = pass->shifted * 18.0 / Q * sector_nodes / c->block_x;
    work->amount[KF_COST_DRAM] = tally->nodes * c->value_bytes * (pass->reads + pass->writes + again);
    work->amount[KF_COST_PARTIAL] =
        tally->nodes / WARP * partial_a_value(c) * (pass->thrashing + pass->writes);
    work->amount[KF_COST_INSTRUCTIONS] = tally->nodes * pass->instructions;
    work->efficiency = stream_efficiency(c) * block_efficiency(tally) * residency(tally, pass->registers);
    return work;
}

/* --- domain boundaries ---------------------------------------------------------------------------------- */

/* Faces across x have every value in another sector, and each sector in another page. */
static void add_faces(kf_tally *tally, const char *name, int axis, double faces) {
    const kf_choice *c = &tally->choice;
    const int *n = tally->cost->scene->nodes;
    double area = axis == 0 ? (double)n[1] * n[2] : axis == 1 ? (double)n[0] * n[2] : (double)n[0] * n[1];
    kf_work *work = kf_works_add(tally->works, name, 1);
    double values = faces * area * 2 * FACE_Q;
    if (axis == 0 || c->aos)
        work->amount[KF_COST_SCATTERED] = values * (axis == 0 ? 1 : 0.3);
    else
        work->amount[KF_COST_DRAM] = values * c->value_bytes;
}

static void add_boundaries(kf_tally *tally) {
    static const char *const names[3] = {"boundary_x", "boundary_y", "boundary_z"};
    int kernels = (int)tally->choice.boundary_kernels;
    for (int axis = 0; axis < 3 && kernels > 0; axis++) {
        int first = tally->works->count;
        add_faces(tally, names[axis], axis, 2);
        /* One kernel for all faces is started once, six are started six times. */
        tally->works->list[first].amount[KF_COST_LAUNCH] = kernels > 1 ? 2 : axis == 0 ? 1 : 0;
    }
}

/* What waits outside of the outflow: a face's nodes are read whole, nine values of each written. */
static void add_outflow(kf_tally *tally) {
    const kf_scene *scene = tally->cost->scene;
    double scattered = 0;
    if (tally->choice.fused && !tally->choice.moments && tally->choice.boundary_kernels < 1)
        return; /* the collision does it */
    for (int face = 0; face < KF_FACES; face++) {
        if (scene->faces[face] != KF_OUTFLOW) continue;
        int axis = face / 2;
        double area = tally->nodes / scene->nodes[axis];
        scattered += area * (tally->choice.aos ? 4 : axis == 0 ? Q : Q / 8.0);
    }
    if (scattered > 0)
        kf_works_add(tally->works, "convect_outflow", 1)->amount[KF_COST_SCATTERED] = scattered;
}

static void add_averages(kf_tally *tally) {
    const kf_scene *scene = tally->cost->scene;
    if (scene->rate_rule != KF_RATE_ADAPTIVE_2020 || scene->collision == KF_BGK) return;
    double rows =
        ceil((double)scene->nodes[1] / KF_AVERAGE_STRIDE) * ceil((double)scene->nodes[2] / KF_AVERAGE_STRIDE);
    kf_work *sum = kf_works_add(tally->works, "average_sum", 1.0 / AVERAGE_PERIOD);
    sum->amount[KF_COST_DRAM] = Q * tally->choice.value_bytes * scene->nodes[0] * rows;
    sum->efficiency = 0.6;
    (void)kf_works_add(tally->works, "average_finish", 1.0 / AVERAGE_PERIOD);
}

/* --- the solid ------------------------------------------------------------------------------------------ */

static kf_work *add_items(kf_tally *tally, const char *name, double dram_bytes, double partial) {
    kf_work *work = kf_works_add(tally->works, name, 1);
    work->amount[KF_COST_DRAM] = dram_bytes;
    work->amount[KF_COST_PARTIAL] = partial;
    return work;
}

/* Additions of one sample to its eight nodes. Where many samples share a cell they wait for each other; in
 * fixed point the sums are of 64 bits. */
static double atomics(const kf_tally *tally) {
    const kf_sample_survey *survey = &tally->cost->survey;
    double crowded = 1 + survey->samples_per_cell / 350;
    return 24 * (double)survey->count * crowded * (tally->choice.fixed ? 1.5 : 1);
}

static double interpolated_sectors(const kf_tally *tally) {
    const kf_choice *c = &tally->choice;
    kf_sample_survey *survey = &tally->cost->survey;
    double sectors = kf_sample_survey_sectors(survey, (long)c->block_length, c->morton);
    double layout = c->aos ? 8 : c->alpha < 8 ? 8 / c->alpha : c->value_bytes / 4;
    return 3 * layout * sectors * (double)survey->count / WARP;
}

/* A moving solid: its pose, its samples' order now and then, and its band anew at every step. */
static void add_motion(kf_tally *tally) {
    const kf_sample_survey *survey = &tally->cost->survey;
    const kf_choice *c = &tally->choice;
    if (!tally->cost->scene->motion.moving) return;
    double samples = (double)survey->count;
    (void)kf_works_add(tally->works, "advance_pose", 1);
    if (c->fused) {
        (void)add_items(tally, "band_release", 0, 2 * survey->band_nodes);
        if (c->aggregated) {
            (void)add_items(tally, "cell_mark", 4 * c->value_bytes * samples, samples);
            (void)add_items(tally, "cell_fill", (8 * c->value_bytes + 4) * samples, samples);
        } else {
            (void)add_items(tally, "band_mark", 4 * c->value_bytes * samples, samples);
        }
    }
}

static void add_order(kf_tally *tally) {
    const kf_choice *c = &tally->choice;
    const kf_sample_survey *survey = &tally->cost->survey;
    bool sorts = tally->cost->scene->motion.moving && c->reorder > 0;
    if (!sorts && !c->gather) return;
    kf_work *order = kf_works_add(tally->works, "order", c->gather ? 1 : 1 / c->reorder);
    order->amount[KF_COST_DRAM] = 60.0 * (double)survey->count;
    order->amount[KF_COST_PARTIAL] = 4 * (double)survey->count;
    order->amount[KF_COST_LAUNCH] = SORT_PASSES;
}

/* Velocities of a free solid from what its samples see. */
static void add_body(kf_tally *tally) {
    const kf_sample_survey *survey = &tally->cost->survey;
    double samples = (double)survey->count;
    if (!tally->cost->scene->motion.free) return;
    add_items(tally, "body_sums", 7 * tally->choice.value_bytes * samples, interpolated_sectors(tally))
        ->amount[KF_COST_ATOMICS] = samples * KF_BODY_SUMS / KF_BODY_CHUNK;
    (void)kf_works_add(tally->works, "solve_body", 1);
}

static int passes(const kf_tally *tally) {
    return tally->cost->scene->immersed_passes > 1 ? tally->cost->scene->immersed_passes : 1;
}

/* Forces in fields of the whole domain. */
static void add_dense_pass(kf_tally *tally) {
    const kf_sample_survey *survey = &tally->cost->survey;
    double samples = (double)survey->count, bytes = tally->choice.value_bytes;
    add_body(tally);
    (void)add_items(tally, "penalty", 15 * bytes * samples, interpolated_sectors(tally));
    if (tally->choice.gather)
        (void)add_items(tally, "gather", 0, 42 * samples);
    else
        add_items(tally, "scatter", 7 * bytes * samples, 0)->amount[KF_COST_ATOMICS] = atomics(tally);
    (void)add_items(tally, "load_samples", 50 * bytes * samples, 0);
}

/* Forces on the band alone. */
static void add_band_pass(kf_tally *tally) {
    const kf_sample_survey *survey = &tally->cost->survey;
    const kf_choice *c = &tally->choice;
    double samples = (double)survey->count;
    add_body(tally);
    double cells = samples / fmax(1, survey->samples_per_cell);
    double segments = fmax(samples / c->segment, cells) + 0.5 * cells;
    if (c->aggregated && tally->cost->scene->motion.moving) {
        add_items(tally, "cell_forces", 4 * c->value_bytes * samples, 16 * segments)
            ->amount[KF_COST_ATOMICS] = 24 * segments * (c->fixed ? 1.5 : 1);
    } else if (c->aggregated) {
        /* Long segments are few threads, each with much to do. */
        add_items(tally, "segment_forces", 16 * c->value_bytes * samples, 8 * segments)->efficiency =
            1 / (1 + c->segment / 64);
    } else {
        add_items(tally, "band_spread", 7 * c->value_bytes * samples, interpolated_sectors(tally))
            ->amount[KF_COST_ATOMICS] = atomics(tally);
    }
}

static void add_forces(kf_tally *tally) {
    const double band = tally->cost->survey.band_nodes;
    if (tally->choice.fused) (void)add_items(tally, "band_macroscopic", 0, Q * band);
    for (int pass = 0; pass < passes(tally); pass++) {
        if (!tally->choice.fused) {
            add_dense_pass(tally);
            continue;
        }
        add_band_pass(tally);
        if (passes(tally) > 1) (void)add_items(tally, "band_join", 48 * band, 0);
    }
}

/* --- plans ---------------------------------------------------------------------------------------------- */

static void add_streamed_fields(kf_tally *tally) {
    bool solid = tally->cost->survey.count > 0;
    (void)add_pass(tally, &(kf_pass){"stream", Q, Q, Q, Q, 28, 0});
    (void)add_pass(tally, &(kf_pass){"macroscopic", Q, solid && !tally->choice.gather ? 7 : 4, 0, 0, 32, 0});
    if (solid) add_forces(tally);
}

/* Instructions a node of the fused kernel; half precision is converted, pairs of nodes share addresses. */
static double fused_instructions(const kf_choice *c) {
    const double conversions = c->value_bytes < 4 ? 55 : 0, shared = c->nodes_per_thread > 1 ? 100 : 0;
    return ((c->low_order ? 556 : 735) + conversions - shared) * (c->value_bytes > 4 ? 2 : 1);
}

/* On one grid, AA: even steps read from and write to the neighbours, odd ones neither; esoteric: all do so
 * for half of the populations. */
static void add_in_place(kf_tally *tally) {
    const double instructions = fused_instructions(&tally->choice), band = tally->cost->survey.band_nodes;
    kf_work *even = add_pass(tally, &(kf_pass){"stream_collide_even", Q, Q, Q, THRASHING, 56, instructions});
    kf_work *odd = add_pass(tally, &(kf_pass){"stream_collide_odd", Q, Q, 0, 0, 48, instructions});
    /* Parts of sectors are written: by 18 populations every other step, or by 9 in all. */
    even->efficiency *= tally->choice.esoteric ? 0.93 : 0.77;
    if (tally->choice.esoteric) odd->efficiency *= 0.93;
    even->launches = odd->launches = 0.5;
    if (tally->cost->survey.count > 0) (void)add_items(tally, "band_restore", 0, 2 * Q * band);
}

/* Nine moments a node; a block reads those around its tile too, and makes populations of all it reads. */
static void add_moments(kf_tally *tally) {
    static const double MOMENTS = 9, INSTRUCTIONS = 520;
    const kf_choice *c = &tally->choice;
    const double halo = (c->block_x + 2) * (c->block_y + 2) / (c->block_x * c->block_y);
    (void)add_pass(tally,
                   &(kf_pass){"stream_collide", MOMENTS * halo, MOMENTS, 0, 0, 64, INSTRUCTIONS * halo});
}

static void add_fused(kf_tally *tally) {
    if (tally->cost->survey.count > 0) add_forces(tally);
    if (tally->choice.moments)
        add_moments(tally);
    else if (tally->choice.in_place || tally->choice.esoteric)
        add_in_place(tally);
    else
        (void)add_pass(
            tally, &(kf_pass){"stream_collide", Q, Q, Q, THRASHING, 56, fused_instructions(&tally->choice)});
    if (tally->cost->survey.count > 0)
        (void)add_items(tally, "band_collide", 0, 2 * Q * tally->cost->survey.band_nodes);
}

/* The moments are written once and read by each of the kernels that share the way back. */
static void add_split_collision(kf_tally *tally) {
    static const char *const parts[] = {"collide_part_1", "collide_part_2", "collide_part_3",
                                        "collide_part_4"};
    const int kernels = (int)tally->choice.split;
    (void)add_pass(tally, &(kf_pass){"moments", 34, Q, 0, 0, 48, 0});
    for (int part = 0; part < kernels && part < 4; part++)
        (void)add_pass(tally, &(kf_pass){parts[part], 34, (double)Q / kernels, 0, 0, 128, 0});
}

static void add_plan(kf_tally *tally) {
    add_outflow(tally);
    add_boundaries(tally);
    add_averages(tally);
    if (tally->cost->survey.count > 0) {
        add_motion(tally);
        add_order(tally);
    }
    if (tally->choice.fused) {
        add_fused(tally);
    } else {
        add_streamed_fields(tally);
        if (tally->choice.baseline) {
            (void)add_pass(tally, &(kf_pass){"collision_terms", 34, Q, 0, 0, 128, 0});
            /* Two arrays at a time are too much for the L1 cache. */
            (void)add_pass(tally, &(kf_pass){"update", 2 * Q, Q, 0, 14, 28, 0});
        } else if (tally->choice.split <= 1) {
            (void)add_pass(tally, &(kf_pass){"collide", 34, Q, 0, 0, 84, 0});
        } else {
            add_split_collision(tally);
        }
    }
}

/* --- the table ------------------------------------------------------------------------------------------ */

static void *open_cost(const kf_scene *scene, const kf_device_info *device) {
    kf_kinetic_cost *cost = kf_allocate_zeroed(1, sizeof *cost);
    cost->scene = scene;
    cost->device = device;
    kf_sample_survey_open(scene, &cost->survey);
    return cost;
}

static void close_cost(void *state) {
    kf_kinetic_cost *cost = state;
    kf_sample_survey_close(&cost->survey);
    free(cost);
}

static kf_status works_of(void *state, const kf_config *config, kf_works *works, kf_error *error) {
    kf_kinetic_cost *cost = state;
    const int *nodes = cost->scene->nodes;
    if (strcmp(config->system, "kinetic") != 0)
        return kf_fail(error, KF_BAD_INPUT, "the config is for system %s, not kinetic", config->system);
    kf_tally tally = {cost, read_choice(config), works, (double)nodes[0] * nodes[1] * nodes[2]};
    add_plan(&tally);
    return KF_OK;
}

const kf_cost_methods kf_cost_kinetic = {
    .system = "kinetic",
    .open = open_cost,
    .works = works_of,
    .close = close_cost,
};
