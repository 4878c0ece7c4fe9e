/* The work of the kinetic plans, launch by launch. Measured numbers are those of an H200
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

/* The values of a sector that the fused kernel reads again. It has fewer threads than a kernel that only
 * streams. */
enum { THRASHING = 4 };
enum { FACE_Q = 9, WARP = 32, SECTOR = 32 };

/* --- Passes over all nodes ------------------------------------------------------------------------------ */

/* Returns the efficiency of a layout. The distance of the streams in memory decides how many pages of DRAM
 * and entries of the TLB are open at a time. Groups of 2^5 nodes keep 94.5 % of a copy's speed. Groups of
 * 2^20, and separate arrays, keep 88 %. */
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
    /* Values per node. */
    double reads, writes;
    /* The reads that the L1 cache cannot keep until the rest of their sector is read. */
    double thrashing;
    /* The sectors per row that the two ends of a block's rows cut, and that are written twice. */
    double ends;
    double registers; /* a thread */
    /* Instructions per node; 0: too few to matter. */
    double instructions;
    double nodes_per_thread;
    /* The accesses that wait for each other, from the start of the first block to the end of the last one. */
    double depth;
} kf_kinetic_pass;

/* Blocks over all nodes: threads beyond the end of a row, of a column or of the planes do nothing. */
static double blocks_of(const kf_kinetic_tally *tally, double nodes_per_thread) {
    const int *nodes = tally->cost->scene->nodes;
    const kf_kinetic_options *o = &tally->options;
    return ceil(nodes[0] / nodes_per_thread / o->block[0]) * ceil((double)nodes[1] / o->block[1]) *
           ceil((double)nodes[2] / o->block[2]);
}

/* Returns the blocks that a multiprocessor holds at a time. Warps get registers in portions of 256, from the
 * quarter of the file that belongs to a warp's scheduler. */
static double resident_blocks(const kf_kinetic_options *o, double registers) {
    static const double QUARTER = 16384, PORTION = 256, MOST_WARPS = 64, MOST_BLOCKS = 32;
    const double warps = ceil((double)o->block[0] * o->block[1] * o->block[2] / WARP);
    const double fit = 4 * floor(QUARTER / (PORTION * ceil(registers * WARP / PORTION)));
    return fmin(MOST_BLOCKS, fmax(1, floor(fmin(fit, MOST_WARPS) / warps)));
}

/* Sets the blocks of a kernel. A block waits for its first values and for its slowest warp. With folded
 * boundaries that is a warp at the end of a row. */
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

/* Returns the bytes that spill. The compiler moves registers beyond a cap to local memory. A thread with two
 * nodes writes and reads spilled values once for each. */
static double spilled_bytes(const kf_kinetic_tally *tally, const kf_kinetic_pass *pass) {
    static const double BYTES = 8, PAIR_BYTES = 9,
                        /* Registers that the compiler does not need. */
        SPARE = 8;
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
        /* One kernel for all faces is launched once; six kernels are launched six times. */
        const double starts = kernels > 1 ? 2 : axis == 0 ? 1 : 0;
        kf_work *work = add_faces(tally, names[axis], axis, 2);
        work->amount[KF_COST_LAUNCH] = starts;
        work->amount[KF_COST_LATENCY] = 0.8 * starts;
    }
}

/* Adds the computation of nodes outside the outflow. A face's nodes are read whole, and nine values of each
 * are written. In the plan moments, with a solid at rest or none, it runs beside the flow's kernel, which
 * stores the words of these nodes consecutively. */
static void add_outflow(kf_kinetic_tally *tally) {
    /* Sectors per node, from 19.5 us of an H200 at 400^3. */
    static const double EDGE_SECTORS = 5;
    const kf_scene *scene = tally->cost->scene;
    const bool beside =
        tally->options.plan == KF_PLAN_MOMENTS && (!scene->motion.moving || tally->cost->survey.count == 0);
    double scattered = 0;
    if (kf_kinetic_in_one_pass(&tally->options) && tally->options.plan != KF_PLAN_MOMENTS &&
        tally->options.boundary_kernels < 1)
        /* The collision does it. */
        return;
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

/* The depth of a pass over all nodes. */
enum { DEPTH = 3, FUSED_DEPTH = 5 };

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

/* The cost of a collision form as compiled for sm_90: instructions per node and registers of the fused
 * kernel, both without and with folded boundaries, and registers of a separate collision kernel. */
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

/* Returns the instructions per node of the fused kernel. Half precision needs conversions, and pairs of nodes
 * share addresses. */
static double fused_instructions(const kf_kinetic_options *o) {
    /* The ratio to the instructions of 27 velocities in the same form. */
    static const double NINETEEN = 0.6;
    const double conversions = kf_kinetic_value_bytes(o) < 4 ? 55 : 0,
                 shared = o->nodes_per_thread > 1 ? 100 : 0;
    return (form_of(o)->instructions + conversions - shared) * (o->velocities < 27 ? NINETEEN : 1) *
           (kf_kinetic_value_bytes(o) > 4 ? 2 : 1);
}

/* Returns a lower estimate of the registers of pairs of nodes, and of kernels on one grid. Values of double
 * precision take two. */
static double fused_registers(const kf_kinetic_options *o, double least) {
    static const double MOST = 255, WIDE = 64;
    /* Fewer registers with 19 velocities. */
    static const double FEWER = 16;
    const bool folded = o->boundary_kernels < 1 && !o->boundary_rows_apart;
    const double own =
        (folded ? form_of(o)->folded_registers : form_of(o)->registers) - (o->velocities < 27 ? FEWER : 0);
    return fmin(MOST, fmax(least, own) + (kf_kinetic_value_bytes(o) > 4 ? WIDE : 0));
}

/* Sets the walks of plan moments. Its blocks go from plane to plane, and begin with two planes at which
 * little is done. Long walks begin first; when all blocks fit, or nearly, the device waits for these. Tiles
 * at faces and at a solid take longer. */
static void set_walks(const kf_kinetic_tally *tally, kf_work *work) {
    static const double REDONE = 0.75, UNEVEN = 0.2, WAIT_US = 0.7, Q = 27;
    const kf_kinetic_options *o = &tally->options;
    const int planes = tally->cost->scene->nodes[2],
              /* A file may contain any number. */
        march = (int)fmin(fmax(1, (double)o->march), planes), longest = KF_WALK(planes, march);
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

/* Adds the pass of plan moments. A node has nine moments, in 16 bits six words. A block also reads those
 * around its tile, and computes from them the populations that enter it. Instructions are those of the common
 * path, as compiled. */
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

/* Returns the factor of alternating the order of planes. Parts of the grids that the last-level cache keeps
 * from the previous step are not read again. When that part is very small the alternation itself costs time.
 * Measured on an H200 with 50 MB of cache and grids of 57 MB to 14 GB. */
static double in_turn(const kf_kinetic_tally *tally) {
    static const double KEPT = 0.18, MOST = 0.045, TURNING = 0.035, ENOUGH = 0.04, KNOWN_BYTES = 50 << 20;
    const kf_kinetic_cost *cost = tally->cost;
    if (!tally->options.alternate || !kf_device_is_gpu(cost->device)) return 1;
    const double cache = cost->device->l2_bytes > 0 ? (double)cost->device->l2_bytes : KNOWN_BYTES;
    const double held =
        cache / (2 * kf_kinetic_populations(tally) * kf_kinetic_value_bytes(&tally->options) * tally->nodes);
    return 1 - fmin(MOST, KEPT * held) + TURNING * fmax(0, 1 - held / ENOUGH);
}

/* Adds the rows at the faces across y and z, in a separate kernel. It takes a share of the device. Beside a
 * solid's lane it is the third lane, for whose end the step waits. */
static void add_boundary_rows(kf_kinetic_tally *tally, double share) {
    /* This is the compiled number, with computed addresses. */
    static const double INSTRUCTIONS = 815;
    /* Accesses that wait. */
    static const double THIRD_LANE = 1;
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
    /* More for threads with two nodes, which come one after the other. */
    static const double PAIRS_DEPTH = 5;
    const kf_kinetic_options *o = &tally->options;
    /* Registers without and with the code of faces. */
    const double pairs = o->boundary_rows_apart ? 80 : 96;
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

/* Adds one grid that moves to and fro, with a launch per slab. The waits at the beginning and end of a pass
 * count once, because the first blocks of a slab start while those of the previous one end. */
static void add_slabs(kf_kinetic_tally *tally) {
    add_two_grids(tally);
    kf_work *work = &tally->works->list[tally->works->count - 1];
    work->launches = ceil(tally->cost->scene->nodes[2] / (double)tally->options.slab);
    for (int r = 0; r < KF_RESOURCES; r++)
        if (r != KF_COST_LAUNCH) work->amount[r] /= work->launches;
    work->blocks /= work->launches;
}

/* Adds the passes of the plans fused and moments: the forces of the solid, which may run in another lane, the
 * flow's kernel by its streaming, and the band's collision. */
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
    /* Values besides the populations or moments. */
    static const double STATE = 7;
    (void)add_pass(tally, &(kf_kinetic_pass){.name = name,
                                             .reads = kf_kinetic_populations(tally) + STATE,
                                             .writes = writes,
                                             .registers = registers,
                                             .depth = DEPTH});
}

/* Adds a split collision. The moments are written once, and read by each of the kernels that share the
 * inverse transform. */
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
    /* Two arrays at a time exceed the L1 cache. */
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

/* The cost model of a scene, with each of its nested grids, or its only grid. */
typedef struct cost_of_levels {
    /* NULL: one grid. */
    kf_nested *nested;
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
 * cell. Nodes of several cells count once. `coarse` is the bytes per node of the coarser level. */
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
