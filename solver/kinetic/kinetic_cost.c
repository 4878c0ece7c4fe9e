/* The work of the kinetic plans, launch by launch. Where a number was measured, it was on an H200
 * (docs/cost-model.md). */
#include "solver/kinetic/kinetic_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "kernels/kinetic/arguments.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_cost_tally.h"
#include "solver/kinetic/nested.h"

/* Values of a sector that the fused kernel reads again; it has fewer threads than a kernel that only
 * streams. */
enum { THRASHING = 4 };
enum { FACE_Q = 9, WARP = 32, SECTOR = 32 };

/* --- Passes over all nodes ------------------------------------------------------------------------------ */

/* Distance of the streams in memory decides how many pages of DRAM and entries of the TLB are open at a time:
 * groups of 2^5 nodes keep 94.5 % of a copy's speed, of 2^20 or separate arrays 88 %. */
static double stream_efficiency(const kf_kinetic_options *o) {
    double far = isfinite(kf_kinetic_group(o)) ? (log2(kf_kinetic_group(o)) - 5) / 15 : 1;
    return 0.945 - 0.065 * fmin(fmax(far, 0), 1);
}

/* Requests of a warp that use a part of each sector only, a value: the pieces it falls into when groups are
 * shorter than a sector. */
static double partial_a_value(const kf_kinetic_options *o) {
    double group_bytes = kf_kinetic_group(o) * kf_kinetic_value_bytes(o);
    return group_bytes >= SECTOR ? 0 : WARP / kf_kinetic_group(o);
}

/* A pass over all nodes. */
typedef struct kf_kinetic_pass {
    const char *name;
    double reads, writes; /* values a node */
    double thrashing; /* of the reads, those that the L1 cache cannot keep until the rest of their sector is
                         read */
    double ends;      /* sectors at the two ends of a block's rows that are cut, and written twice, a row */
    double registers; /* a thread */
    double instructions; /* a node; 0: too few to matter */
    double nodes_per_thread;
    double depth; /* accesses that wait for each other, from the first block's beginning to the last one's end
                   */
} kf_kinetic_pass;

/* Blocks over all nodes: threads beyond the end of a row, of a column or of the planes do nothing. */
static double blocks_of(const kf_kinetic_tally *tally, double nodes_per_thread) {
    const int *nodes = tally->cost->scene->nodes;
    const kf_kinetic_options *o = &tally->options;
    return ceil(nodes[0] / nodes_per_thread / o->block[0]) * ceil((double)nodes[1] / o->block[1]) *
           ceil((double)nodes[2] / o->block[2]);
}

/* Blocks that a multiprocessor holds at a time: registers are given to warps in portions of 256, from the
 * quarter of the file that a warp's scheduler has. */
static double resident_blocks(const kf_kinetic_options *o, double registers) {
    static const double QUARTER = 16384, PORTION = 256, MOST_WARPS = 64, MOST_BLOCKS = 32;
    const double warps = ceil((double)o->block[0] * o->block[1] * o->block[2] / WARP);
    const double fit = 4 * floor(QUARTER / (PORTION * ceil(registers * WARP / PORTION)));
    return fmin(MOST_BLOCKS, fmax(1, floor(fmin(fit, MOST_WARPS) / warps)));
}

/* A block waits for its first values, and for its slowest warp: where boundaries are folded into it that is
 * one at the end of a row. */
static void set_blocks(const kf_kinetic_tally *tally, const kf_kinetic_pass *pass, kf_work *work) {
    static const double WAIT_US = 0.3, ROW_END_US = 0.7;
    const kf_kinetic_cost *cost = tally->cost;
    if (!kf_device_is_gpu(cost->device)) return;
    const bool folded = tally->options.boundary_kernels < 1;
    work->blocks = blocks_of(tally, pass->nodes_per_thread) / kf_cost_multiprocessors(cost->device);
    work->resident = resident_blocks(&tally->options, pass->registers);
    work->wait_us = WAIT_US + (folded ? ROW_END_US * pass->nodes_per_thread : 0);
}

/* Warps that cover several short rows ask for each on its own. */
static double row_efficiency(const kf_kinetic_options *o, double nodes_per_thread) {
    const double pieces = WARP / fmin(WARP, o->block[0] * nodes_per_thread);
    return 1 / (1 + 0.07 * pow(pieces - 1, 1.5));
}

/* The compiler keeps in local memory what a cap takes from a kernel that needs more registers. A thread with
 * two nodes writes and reads what it spills once for each of them. */
static double spilled_bytes(const kf_kinetic_tally *tally, const kf_kinetic_pass *pass) {
    static const double BYTES = 8, PAIR_BYTES = 9,
                        SPARE = 8; /* of a register; that the compiler does not need */
    const double cap = (double)tally->options.register_cap;
    if (!(cap > 0) || !kf_kinetic_in_one_pass(&tally->options)) return 0;
    return (pass->nodes_per_thread > 1 ? PAIR_BYTES : BYTES) * fmax(0, pass->registers - SPARE - cap);
}

/* Adds the work of a pass over all nodes: DRAM bytes with what spills, partial sectors, instructions,
 * latency, and the blocks that its registers allow. */
static kf_work *add_pass(kf_kinetic_tally *tally, const kf_kinetic_pass *given) {
    const kf_kinetic_options *o = &tally->options;
    kf_kinetic_pass pass = *given;
    if (!(pass.nodes_per_thread > 0)) pass.nodes_per_thread = 1;
    kf_work *work = kf_works_add(tally->works, pass.name, 1);
    work->amount[KF_COST_DRAM] = tally->nodes * (kf_kinetic_value_bytes(o) * (pass.reads + pass.writes) +
                                                 spilled_bytes(tally, &pass)) +
                                 tally->nodes * pass.ends / o->block[0] * SECTOR;
    work->amount[KF_COST_PARTIAL] = tally->nodes / WARP * partial_a_value(o) * (pass.thrashing + pass.writes);
    work->amount[KF_COST_INSTRUCTIONS] = tally->nodes * pass.instructions;
    work->amount[KF_COST_LATENCY] = pass.depth;
    work->efficiency = stream_efficiency(o) * row_efficiency(o, pass.nodes_per_thread);
    if (o->register_cap > 0 && kf_kinetic_in_one_pass(o))
        pass.registers = fmin(pass.registers, (double)o->register_cap);
    set_blocks(tally, &pass, work);
    return work;
}

/* --- Domain boundaries ---------------------------------------------------------------------------------- */

/* Faces across x have every value in another sector, and each sector in another page. */
static kf_work *add_faces(kf_kinetic_tally *tally, const char *name, int axis, double faces) {
    const kf_kinetic_options *o = &tally->options;
    const int *n = tally->cost->scene->nodes;
    double area = axis == 0 ? (double)n[1] * n[2] : axis == 1 ? (double)n[0] * n[2] : (double)n[0] * n[1];
    kf_work *work = kf_works_add(tally->works, name, 1);
    double values = faces * area * 2 * FACE_Q;
    if (axis == 0 || o->layout == KF_AOS)
        work->amount[KF_COST_SCATTERED] = values * (axis == 0 ? 1 : 0.3);
    else
        work->amount[KF_COST_DRAM] = values * kf_kinetic_value_bytes(o);
    return work;
}

static void add_boundaries(kf_kinetic_tally *tally) {
    static const char *const names[3] = {"boundary_x", "boundary_y", "boundary_z"};
    int kernels = (int)tally->options.boundary_kernels;
    for (int axis = 0; axis < 3 && kernels > 0; axis++) {
        /* One kernel for all faces is started once, six are started six times. */
        const double starts = kernels > 1 ? 2 : axis == 0 ? 1 : 0;
        kf_work *work = add_faces(tally, names[axis], axis, 2);
        work->amount[KF_COST_LAUNCH] = starts;
        work->amount[KF_COST_LATENCY] = 0.8 * starts;
    }
}

/* Adds what works out the outflow's outside: a face's nodes are read whole, nine values of each written.
 * With a solid that rests, or none, the plan moments does so beside the flow's kernel, which leaves the
 * words of these nodes side by side. */
static void add_outflow(kf_kinetic_tally *tally) {
    static const double EDGE_SECTORS = 5; /* a node, of an H200's 19.5 us at 400^3 */
    const kf_scene *scene = tally->cost->scene;
    const bool beside =
        tally->options.plan == KF_PLAN_MOMENTS && (!scene->motion.moving || tally->cost->survey.count == 0);
    double scattered = 0;
    if (kf_kinetic_in_one_pass(&tally->options) && tally->options.plan != KF_PLAN_MOMENTS &&
        tally->options.boundary_kernels < 1)
        return; /* the collision does it */
    for (int face = 0; face < KF_FACES; face++) {
        if (scene->faces[face] != KF_OUTFLOW) continue;
        int axis = face / 2;
        double area = tally->nodes / scene->nodes[axis];
        scattered += area * (tally->options.layout == KF_AOS ? 4
                             : axis == 0 ? (beside ? EDGE_SECTORS : kf_kinetic_populations(tally))
                                         : kf_kinetic_populations(tally) / 8.0);
    }
    if (!(scattered > 0)) return;
    kf_work *work = kf_works_add(tally->works, "convect_outflow", 1);
    work->amount[KF_COST_SCATTERED] = scattered;
    work->amount[KF_COST_LATENCY] = 0.8;
    work->aside = beside && kf_device_is_gpu(tally->cost->device);
}

static void add_averages(kf_kinetic_tally *tally) {
    const kf_scene *scene = tally->cost->scene;
    if (scene->rate_rule != KF_RATE_ADAPTIVE_2020 || scene->collision == KF_BGK || tally->level > 0 ||
        kf_kinetic_populations(tally) < 27)
        return;
    double rows =
        ceil((double)scene->nodes[1] / KF_AVERAGE_STRIDE) * ceil((double)scene->nodes[2] / KF_AVERAGE_STRIDE);
    kf_work *sum = kf_works_add(tally->works, "average_sum", 1.0 / KF_AVERAGE_PERIOD);
    sum->amount[KF_COST_DRAM] =
        kf_kinetic_populations(tally) * kf_kinetic_value_bytes(&tally->options) * scene->nodes[0] * rows;
    sum->efficiency = 0.6;
    sum->amount[KF_COST_LATENCY] = 2;
    kf_works_add(tally->works, "average_finish", 1.0 / KF_AVERAGE_PERIOD)->amount[KF_COST_LATENCY] = 2;
}

/* --- Plans ---------------------------------------------------------------------------------------------- */

enum { DEPTH = 3, FUSED_DEPTH = 5 }; /* of a pass over all nodes */

/* Adds the passes of plans with kernels of their own for streaming and for density and velocity, and the
 * solid's forces. */
static void add_streamed_fields(kf_kinetic_tally *tally) {
    bool solid = tally->cost->survey.count > 0;
    (void)add_pass(tally, &(kf_kinetic_pass){.name = "stream",
                                             .reads = kf_kinetic_populations(tally),
                                             .writes = kf_kinetic_populations(tally),
                                             .thrashing = kf_kinetic_populations(tally),
                                             .registers = 28,
                                             .depth = DEPTH});
    (void)add_pass(
        tally, &(kf_kinetic_pass){.name = "macroscopic",
                                  .reads = kf_kinetic_populations(tally),
                                  .writes = solid && tally->options.immersed_boundary != KF_GATHER ? 7 : 4,
                                  .registers = 32,
                                  .depth = DEPTH});
    if (solid) kf_kinetic_add_forces(tally);
}

/* Costs of a collision form as it is compiled for sm_90: instructions a node of the fused kernel,
 * registers of its threads, the same with folded boundaries, and registers of a collision in a kernel of
 * its own. */
typedef struct collision_cost {
    double instructions, registers, folded_registers, separate_registers;
} collision_cost;

static const collision_cost *form_of(const kf_kinetic_options *o) {
    static const collision_cost forms[] = {[KF_FACTORISED] = {735, 48, 56, 56},
                                           [KF_EXPANDED] = {2620, 168, 255, 84},
                                           [KF_SHARED] = {2110, 128, 168, 84},
                                           [KF_LOW_ORDER] = {556, 64, 72, 56}};
    return &forms[o->collision_form];
}

/* Instructions a node of the fused kernel; half precision is converted, pairs of nodes share addresses. */
static double fused_instructions(const kf_kinetic_options *o) {
    static const double NINETEEN = 0.6; /* of the instructions of 27 velocities in the same form */
    const double conversions = kf_kinetic_value_bytes(o) < 4 ? 55 : 0,
                 shared = o->nodes_per_thread > 1 ? 100 : 0;
    return (form_of(o)->instructions + conversions - shared) * (o->velocities < 27 ? NINETEEN : 1) *
           (kf_kinetic_value_bytes(o) > 4 ? 2 : 1);
}

/* At least: of pairs of nodes, and of the kernels on one grid. Values of double precision take two. */
static double fused_registers(const kf_kinetic_options *o, double least) {
    static const double MOST = 255, WIDE = 64;
    static const double FEWER = 16; /* of threads with 19 velocities */
    const bool folded = o->boundary_kernels < 1 && !o->boundary_rows_apart;
    const double own =
        (folded ? form_of(o)->folded_registers : form_of(o)->registers) - (o->velocities < 27 ? FEWER : 0);
    return fmin(MOST, fmax(least, own) + (kf_kinetic_value_bytes(o) > 4 ? WIDE : 0));
}

/* The blocks of plan moments walk from plane to plane, a turn each, and begin with two planes of which they
 * make little. Long walks begin first: where all have room, or nearly, the device waits for these. Tiles at
 * faces and at a solid take longer than others. */
static void set_walks(const kf_kinetic_tally *tally, kf_work *work) {
    static const double REDONE = 0.75, UNEVEN = 0.2, WAIT_US = 0.7, Q = 27;
    const kf_kinetic_options *o = &tally->options;
    const int planes = tally->cost->scene->nodes[2],
              march = (int)fmin(fmax(1, (double)o->march), planes), /* a file may say anything */
        longest = KF_WALK(planes, march);
    if (!(work->blocks > 0)) return;
    int walks = 0, last = 0;
    for (int left = planes; left > 0; walks++, left -= last)
        last = KF_WALK(left, march);
    const double shared = Q * (o->block[0] + 2.0) * (o->block[1] + 2.0) * fmax(4, kf_kinetic_value_bytes(o)),
                 walk = (double)planes / walks;
    work->blocks /= walk;
    work->resident = fmax(1, fmin(work->resident, kf_cost_blocks_by_shared(shared)));
    work->wait_us = WAIT_US;
    work->turns = walk + REDONE;
    const double rounds = work->blocks / work->resident;
    work->last_turns =
        UNEVEN * (rounds > 1 ? last : longest) + fmax(0, longest + REDONE - work->turns * fmax(1, rounds));
    work->amount[KF_COST_INSTRUCTIONS] *= work->turns / walk;
}

/* Nine moments a node, in 16 bits six words; a block reads those around its tile too, and makes of them the
 * populations that lead into it. Instructions as compiled, on the way that most nodes take. */
static void add_moments(kf_kinetic_tally *tally) {
    static const double MOMENTS = 9, WORDS = 6, WORD = 4, OWN = 465, AROUND = 155;
    const kf_kinetic_options *o = &tally->options;
    const bool packed = kf_kinetic_value_bytes(o) < WORD;
    const double values = packed ? WORDS * WORD / kf_kinetic_value_bytes(o) : MOMENTS;
    /* Places of the plane over nodes of the tile. */
    const double halo = (o->block[0] + 2.0) * (o->block[1] + 2.0) / ((double)o->block[0] * o->block[1]);
    kf_work *work = add_pass(tally, &(kf_kinetic_pass){.name = "stream_collide",
                                                       .reads = values * halo,
                                                       .writes = values,
                                                       .registers = 72,
                                                       .instructions = OWN + AROUND * (halo - 1),
                                                       .depth = FUSED_DEPTH});
    set_walks(tally, work);
}

/* Planes in turn: what of the grids the last-level cache has kept from the step before is not read again.
 * Where that is next to nothing the turning itself costs: measured on an H200, whose cache has 50 MB, with
 * grids of 57 MB to 14 GB. */
static double in_turn(const kf_kinetic_tally *tally) {
    static const double KEPT = 0.18, MOST = 0.045, TURNING = 0.035, ENOUGH = 0.04, KNOWN_BYTES = 50 << 20;
    const kf_kinetic_cost *cost = tally->cost;
    if (!tally->options.alternate || !kf_device_is_gpu(cost->device)) return 1;
    const double cache = cost->device->l2_bytes > 0 ? (double)cost->device->l2_bytes : KNOWN_BYTES;
    const double held =
        cache / (2 * kf_kinetic_populations(tally) * kf_kinetic_value_bytes(&tally->options) * tally->nodes);
    return 1 - fmin(MOST, KEPT * held) + TURNING * fmax(0, 1 - held / ENOUGH);
}

/* Rows at the faces across y and z, beside the others: what they move and compute takes its share of the
 * device. Beside a solid's lane theirs is a third one, whose end is waited for. */
static void add_boundary_rows(kf_kinetic_tally *tally, double share) {
    static const double INSTRUCTIONS = 815; /* as compiled: the addresses are chosen */
    static const double THIRD_LANE = 1;     /* accesses that wait */
    const kf_kinetic_options *o = &tally->options;
    kf_work *work = kf_works_add(tally->works, "stream_collide_boundary", 1);
    const double nodes = share * tally->nodes;
    const bool third = o->concurrent_solid && tally->cost->survey.count > 0;
    work->amount[KF_COST_DRAM] = 2 * kf_kinetic_populations(tally) * kf_kinetic_value_bytes(o) * nodes;
    work->amount[KF_COST_PARTIAL] =
        nodes / WARP * partial_a_value(o) * (THRASHING + kf_kinetic_populations(tally));
    work->amount[KF_COST_INSTRUCTIONS] = INSTRUCTIONS * nodes;
    work->amount[KF_COST_LATENCY] = third ? THIRD_LANE : 0;
    work->efficiency = stream_efficiency(o);
}

/* Adds stream_collide between two grids, and the kernel of the boundary rows where they have one of their
 * own. */
static void add_two_grids(kf_kinetic_tally *tally) {
    static const double PAIRS_DEPTH = 5; /* more, of threads with two nodes: one after the other */
    const kf_kinetic_options *o = &tally->options;
    const double pairs = o->boundary_rows_apart ? 80 : 96; /* registers, without and with the faces' code */
    const double rows = tally->cost->scene->nodes[1], planes = tally->cost->scene->nodes[2],
                 inside = o->boundary_rows_apart ? (rows - 2) * (planes - 2) / (rows * planes) : 1;
    const double hollow = o->masked_band ? (double)tally->cost->scene->links.inside_count / tally->nodes : 0;
    if (o->boundary_rows_apart) add_boundary_rows(tally, 1 - inside);
    kf_work *work = add_pass(
        tally, &(kf_kinetic_pass){.name = "stream_collide",
                                  .reads = kf_kinetic_populations(tally),
                                  .writes = kf_kinetic_populations(tally),
                                  .thrashing = THRASHING,
                                  .registers = fused_registers(o, o->nodes_per_thread > 1 ? pairs : 0),
                                  .instructions = fused_instructions(o),
                                  .nodes_per_thread = (double)o->nodes_per_thread,
                                  .depth = FUSED_DEPTH + (o->nodes_per_thread > 1 ? PAIRS_DEPTH : 0)});
    work->amount[KF_COST_DRAM] *= in_turn(tally);
    for (int r = 0; r < KF_RESOURCES; r++)
        if (r != KF_COST_LATENCY && r != KF_COST_LAUNCH) work->amount[r] *= inside - hollow;
    work->blocks *= inside;
}

/* One grid that moves to and fro: a launch a slab. What a pass waits for at its beginning and its end is
 * waited for once: a slab's first blocks come while those of the slab before end. */
static void add_slabs(kf_kinetic_tally *tally) {
    add_two_grids(tally);
    kf_work *work = &tally->works->list[tally->works->count - 1];
    work->launches = ceil(tally->cost->scene->nodes[2] / (double)tally->options.slab);
    for (int r = 0; r < KF_RESOURCES; r++)
        if (r != KF_COST_LAUNCH) work->amount[r] /= work->launches;
    work->blocks /= work->launches;
}

/* Adds the passes of the plans fused and moments: forces of the solid, which may run aside, the flow's
 * kernel by its way of streaming, and the band's collision. */
static void add_fused(kf_kinetic_tally *tally, size_t first_aside) {
    const bool solid = tally->cost->survey.count > 0;
    if (solid) kf_kinetic_add_forces(tally);
    for (size_t i = first_aside; i < tally->works->count; i++)
        tally->works->list[i].aside = tally->options.concurrent_solid;
    if (tally->options.plan == KF_PLAN_MOMENTS)
        add_moments(tally);
    else if (tally->options.slab > 0)
        add_slabs(tally);
    else
        add_two_grids(tally);
    const size_t before = tally->works->count;
    kf_kinetic_add_band_collide(tally);
    if (tally->works->count > before)
        tally->works->list[before].aside = tally->options.masked_band && tally->options.concurrent_solid;
    if (solid && tally->options.slab > 0) kf_kinetic_add_band_restore(tally);
}

static void add_collision(kf_kinetic_tally *tally, const char *name, double writes, double registers) {
    static const double STATE = 7; /* beside the populations or moments */
    (void)add_pass(tally, &(kf_kinetic_pass){.name = name,
                                             .reads = kf_kinetic_populations(tally) + STATE,
                                             .writes = writes,
                                             .registers = registers,
                                             .depth = DEPTH});
}

/* The moments are written once and read by each of the kernels that share the way back. */
static void add_split_collision(kf_kinetic_tally *tally) {
    static const char *const parts[] = {"collide_part_1", "collide_part_2", "collide_part_3",
                                        "collide_part_4"};
    const int kernels = (int)tally->options.collision_split;
    add_collision(tally, "moments", kf_kinetic_populations(tally), 58);
    for (int part = 0; part < kernels && part < 4; part++)
        add_collision(tally, parts[part], kf_kinetic_populations(tally) / kernels, 40);
}

static void add_baseline_collision(kf_kinetic_tally *tally) {
    add_collision(tally, "collision_terms", kf_kinetic_populations(tally),
                  form_of(&tally->options)->separate_registers);
    /* Two arrays at a time are too much for the L1 cache. */
    (void)add_pass(tally, &(kf_kinetic_pass){.name = "update",
                                             .reads = 2 * kf_kinetic_populations(tally),
                                             .writes = kf_kinetic_populations(tally),
                                             .thrashing = 14,
                                             .registers = 28,
                                             .depth = DEPTH});
}

/* Adds all work of a step in the order of the plan's kernels. */
static void add_plan(kf_kinetic_tally *tally) {
    add_outflow(tally);
    kf_kinetic_add_links(tally);
    add_boundaries(tally);
    add_averages(tally);
    const size_t first_aside = tally->works->count;
    if (tally->cost->survey.count > 0) {
        kf_kinetic_add_motion(tally);
        kf_kinetic_add_order(tally);
    }
    if (kf_kinetic_in_one_pass(&tally->options)) {
        add_fused(tally, first_aside);
        return;
    }
    add_streamed_fields(tally);
    if (tally->options.plan == KF_PLAN_BASELINE)
        add_baseline_collision(tally);
    else if (tally->options.collision_split <= 1)
        add_collision(tally, "collide", kf_kinetic_populations(tally),
                      form_of(&tally->options)->separate_registers);
    else
        add_split_collision(tally);
}

/* --- The table ------------------------------------------------------------------------------------------ */

/* The model of a scene: of each of its nested grids, or of the one that it has. */
typedef struct cost_of_levels {
    kf_nested *nested; /* NULL: one grid */
    int count;
    kf_kinetic_cost level[KF_MOST_LEVELS];
} cost_of_levels;

static void *open_cost(const kf_problem *problem, const kf_device_info *device) {
    const kf_scene *scene = kf_problem_scene(problem);
    cost_of_levels *levels = kf_allocate_zeroed(1, sizeof *levels);
    kf_error ignored;
    if (scene->finer_count > 0 && kf_nested_make(scene, &levels->nested, &ignored) != KF_OK)
        levels->nested = NULL;
    levels->count = levels->nested != NULL ? levels->nested->count : 1;
    for (int l = 0; l < levels->count; l++) {
        kf_kinetic_cost *cost = &levels->level[l];
        cost->scene = levels->nested != NULL ? &levels->nested->level[l].scene : scene;
        cost->device = device;
        kf_sample_survey_open(cost->scene, &cost->survey);
    }
    return levels;
}

static void close_cost(void *state) {
    cost_of_levels *levels = state;
    for (int l = 0; l < levels->count; l++)
        kf_sample_survey_close(&levels->level[l].survey);
    kf_nested_free(levels->nested);
    free(levels);
}

/* Cells of the layer outside of a level's box (in cells of the coarser level), or of the rim inside. */
static double layer_of(const kf_nested_level *level, bool inside) {
    double outer = 1.0, inner = 1.0;
    for (int axis = 0; axis < 3; axis++) {
        const int sides = (level->ghosts[2 * axis] > 0) + (level->ghosts[2 * axis + 1] > 0);
        outer *= level->cells[axis] + (inside ? 0 : sides);
        inner *= level->cells[axis] - (inside ? sides : 0);
    }
    return fmax(outer - inner, 0.0);
}

/* Returns the bytes of one node that a level exchanges. */
static double crossing_bytes(const kf_kinetic_tally *tally) {
    static const double MOMENTS = 9.0, PACKED = 12.0;
    const bool moments = tally->options.plan == KF_PLAN_MOMENTS,
               packed = moments && tally->options.storage == KF_F16;
    const double values = packed ? PACKED : moments ? MOMENTS : kf_kinetic_populations(tally);
    return values * kf_kinetic_value_bytes(&tally->options);
}

/* Adds the exchange between a level and the next coarser one: the nodes that are read and written for each
 * cell. Nodes that neighbouring cells share count once. `coarse` is the bytes of a node of the coarser one.
 */
static void add_crossings(kf_kinetic_tally *tally, const kf_nested_level *level, double coarse,
                          double steps) {
    const double fine = crossing_bytes(tally), bytes[] = {3.0 * coarse + 8.0 * fine, 16.0 * fine + coarse};
    for (int which = 0; which < 2; which++) {
        kf_work *work = kf_works_add(tally->works, which == 0 ? "refine" : "coarsen", steps);
        work->amount[KF_COST_DRAM] = bytes[which] * layer_of(level, which == 1);
        work->amount[KF_COST_LATENCY] = DEPTH;
        work->efficiency = stream_efficiency(&tally->options);
    }
}

/* Adds the work of a level: 2^level steps for one of the coarsest, those of a coarser level one launch after
 * the other. */
static void add_level(cost_of_levels *levels, int l, const kf_kinetic_options *options, kf_works *works) {
    kf_kinetic_cost *cost = &levels->level[l];
    const int *nodes = cost->scene->nodes;
    const size_t first = works->count;
    kf_kinetic_tally tally = {.cost = cost,
                              .options = *options,
                              .works = works,
                              .nodes = (double)nodes[0] * nodes[1] * nodes[2],
                              .level = l},
                     coarser = tally;
    kf_kinetic_choose_outer_plan(cost->scene, &tally.options);
    if (l > 0) kf_kinetic_choose_outer_plan(levels->level[l - 1].scene, &coarser.options);
    if (kf_kinetic_in_one_pass(options)) tally.nodes = kf_nested_stepped_nodes(cost->scene);
    add_plan(&tally);
    if (levels->nested == NULL) return;
    for (size_t i = first; i < works->count; i++) {
        works->list[i].launches = ldexp(works->list[i].launches, l);
        if (l + 1 < levels->count) works->list[i].aside = works->list[i].follows = false;
    }
    if (l == 0 || l >= KF_MOST_LEVELS) return;
    add_crossings(&tally, &levels->nested->level[l], crossing_bytes(&coarser), ldexp(1.0, l - 1));
}

static kf_status works_of(void *state, const kf_config *config, kf_works *works, kf_error *error) {
    cost_of_levels *levels = state;
    kf_kinetic_options options;
    if (strcmp(config->system, "kinetic") != 0)
        return kf_fail(error, KF_BAD_INPUT, "the config is for system %s, not kinetic", config->system);
    kf_kinetic_read_known_options(config, &options);
    for (int l = 0; l < levels->count; l++)
        add_level(levels, l, &options, works);
    return KF_OK;
}

const kf_cost_methods kf_cost_kinetic = {
    .open = open_cost,
    .works = works_of,
    .close = close_cost,
};
