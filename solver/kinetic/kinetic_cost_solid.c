/* The work of a solid in the kinetic plans, launch by launch. Measured numbers are those of an H200
 * (docs/cost-model.md). */
#include <math.h>

#include "kernels/kinetic/arguments.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic_cost_tally.h"

enum { WARP = 32, LIST_PASSES = 8 };

/* Adds a kernel over samples or band. depth is the number of accesses of a thread that wait for each other.
 */
static kf_work *add_items(kf_kinetic_tally *tally, const char *name, double dram_bytes, double partial,
                          double depth) {
    kf_work *work = kf_works_add(tally->works, name, 1);
    work->amount[KF_COST_DRAM] = dram_bytes;
    work->amount[KF_COST_PARTIAL] = partial;
    work->amount[KF_COST_LATENCY] = depth;
    return work;
}

/* Returns the factor of fixed-point sums, which have 64 bits. */
static double wide(const kf_kinetic_options *o) {
    return o->fixed_point_force ? 1.5 : 1;
}

/* Additions of one sample to its eight nodes. Where many samples share a cell they wait for each other. */
static double atomics(const kf_kinetic_tally *tally) {
    const kf_sample_survey *survey = &tally->cost->survey;
    double crowded = 1 + survey->samples_per_cell / 350;
    return 24 * (double)survey->count * crowded * wide(&tally->options);
}

static double interpolated_sectors(const kf_kinetic_tally *tally) {
    const kf_kinetic_options *o = &tally->options;
    kf_sample_survey *survey = &tally->cost->survey;
    double sectors = kf_sample_survey_sectors(
        survey, o->sample_order == KF_ORDER_NONE ? KF_WHOLE_BOX : o->sample_block_length,
        o->sample_order == KF_ORDER_MORTON);
    double layout = o->layout == KF_AOS       ? 8
                    : kf_kinetic_group(o) < 8 ? 8 / kf_kinetic_group(o)
                                              : kf_kinetic_value_bytes(o) / 4;
    return 3 * layout * sectors * (double)survey->count / WARP;
}

/* Values at the band's nodes, read or written: of three a node one is a partial access, as the band lies in
 * pieces of rows. */
static double band_accesses(const kf_kinetic_tally *tally, double values) {
    return values / 3 * tally->cost->survey.band_nodes;
}

/* Adds the list of a moving solid's samples by cell, pass by pass. One thread sorts the samples of a cell one
 * by one. The list of a static solid is made once, before the first step. */
void kf_kinetic_add_order(kf_kinetic_tally *tally) {
    /* The accesses that wait for one place in that order. Most are in the cache. */
    static const double STEP = 0.3;
    const kf_sample_survey *survey = &tally->cost->survey;
    if (!tally->cost->scene->motion.moving || tally->options.immersed_boundary != KF_GATHER) return;
    const double line = survey->samples_per_cell;
    kf_work *order = add_items(tally, "order", 60.0 * (double)survey->count, 4 * (double)survey->count,
                               1.2 * LIST_PASSES + STEP * line * line / 4);
    order->amount[KF_COST_LAUNCH] = LIST_PASSES;
}

/* Returns the cells of a moving solid's patches, each counted once per patch. A patch has as many cells of
 * the surface as its samples fill. It is a square, and extends into the cells around it. */
static double runs_of(const kf_kinetic_tally *tally) {
    const kf_sample_survey *survey = &tally->cost->survey;
    const double patch = (double)tally->options.patch_length,
                 edge = 1 + sqrt(patch / fmax(1, survey->samples_per_cell));
    return (double)survey->count / patch * fmin(patch, edge * edge);
}

/* Adds a moving solid: its pose, the order of its samples at intervals, and its band in every step. */
void kf_kinetic_add_motion(kf_kinetic_tally *tally) {
    static const double MARKING = 6;
    const kf_sample_survey *survey = &tally->cost->survey;
    const kf_kinetic_options *o = &tally->options;
    if (!tally->cost->scene->motion.moving) return;
    double samples = (double)survey->count;
    const bool patches =
        kf_kinetic_in_one_pass(o) && o->immersed_boundary == KF_AGGREGATED && o->patch_length > 0;
    if (!patches || !kf_kinetic_sorts_with_pose(tally->cost->scene, o))
        /* Otherwise patch_sort finds the pose itself. */
        (void)add_items(tally, "advance_pose", 0, 0, 0.5);
    if (!kf_kinetic_in_one_pass(o)) return;
    if (patches) {
        (void)add_items(tally, "patch_sort", 8 * kf_kinetic_value_bytes(o) * samples, 8 * runs_of(tally),
                        MARKING);
        (void)add_items(tally, "patch_collect", 0, survey->band_nodes, MARKING);
        return;
    }
    (void)add_items(tally, "band_release", 0, 2 * survey->band_nodes, 0);
    if (o->immersed_boundary == KF_AGGREGATED) {
        (void)add_items(tally, "cell_mark", 4 * kf_kinetic_value_bytes(o) * samples, 2 * samples, MARKING);
        (void)add_items(tally, "cell_fill", (8 * kf_kinetic_value_bytes(o) + 4) * samples, 3 * samples,
                        MARKING);
    } else {
        (void)add_items(tally, "band_mark", 4 * kf_kinetic_value_bytes(o) * samples, samples, MARKING);
    }
}

/* Velocities of a free solid from what its samples see. */
static void add_body(kf_kinetic_tally *tally) {
    const kf_sample_survey *survey = &tally->cost->survey;
    double samples = (double)survey->count;
    if (!tally->cost->scene->motion.free) return;
    add_items(tally, kf_kinetic_in_one_pass(&tally->options) ? "band_body_sums" : "body_sums",
              7 * kf_kinetic_value_bytes(&tally->options) * samples, interpolated_sectors(tally), 2)
        ->amount[KF_COST_ATOMICS] = samples * KF_BODY_SUMS / KF_BODY_CHUNK;
    (void)add_items(tally, "solve_body", 0, 0, 2);
}

static int passes(const kf_kinetic_tally *tally) {
    return tally->cost->scene->immersed_passes > 1 ? tally->cost->scene->immersed_passes : 1;
}

/* Returns whether the band's kernels are parts of one. */
static bool is_chain(const kf_kinetic_tally *tally) {
    return tally->options.band_chain && passes(tally) == 1;
}

/* Forces in fields of the whole domain. */
static void add_dense_pass(kf_kinetic_tally *tally) {
    const kf_sample_survey *survey = &tally->cost->survey;
    double samples = (double)survey->count, bytes = kf_kinetic_value_bytes(&tally->options);
    add_body(tally);
    (void)add_items(tally, "penalty", 15 * bytes * samples, interpolated_sectors(tally), 2);
    if (tally->options.immersed_boundary == KF_GATHER)
        (void)add_items(tally, "gather", 0, 42 * samples, 2);
    else
        add_items(tally, "scatter", 7 * bytes * samples, 0, 0)->amount[KF_COST_ATOMICS] = atomics(tally);
    (void)add_items(tally, "load_samples", 50 * bytes * samples, 0, 2);
}

/* Returns the accesses for which a kernel, or a part of one, waits. When it starts while the previous one
 * ends, reads of data that the previous one does not write are done already. */
static double waits(const kf_kinetic_tally *tally, double depth) {
    static const double HIDDEN = 1.5;
    return fmax(0, depth - (tally->options.overlap || is_chain(tally) ? HIDDEN : 0));
}

static double segments_of(const kf_kinetic_tally *tally) {
    return kf_sample_survey_segments(&tally->cost->survey, tally->options.segment_length);
}

static double segment_bytes(const kf_kinetic_tally *tally) {
    const kf_kinetic_options *o = &tally->options;
    return (4 * kf_kinetic_value_bytes(o) * (double)o->segment_length + 100) * segments_of(tally);
}

static double segment_depth(const kf_kinetic_tally *tally) {
    return waits(tally,
                 0.75 + 0.25 * (double)tally->options.segment_length / (double)tally->options.segment_lanes);
}

/* Adds a pass of forces on the band. A segment's samples are in one thread one after the other, or one in
 * each of its lanes, with empty lanes where the cell has fewer. */
static void add_band_pass(kf_kinetic_tally *tally) {
    const kf_sample_survey *survey = &tally->cost->survey;
    const kf_kinetic_options *o = &tally->options;
    double samples = (double)survey->count, segments = segments_of(tally);
    add_body(tally);
    if (o->immersed_boundary == KF_AGGREGATED && o->patch_length > 0)
        add_items(tally, "patch_forces", 4 * kf_kinetic_value_bytes(o) * samples, 16 * runs_of(tally),
                  3.5 + 0.25 * samples / runs_of(tally) / (double)o->segment_lanes)
            ->amount[KF_COST_ATOMICS] = 24 * runs_of(tally) * wide(o);
    else if (o->immersed_boundary == KF_AGGREGATED && tally->cost->scene->motion.moving)
        add_items(tally, "cell_forces", 4 * kf_kinetic_value_bytes(o) * samples, 16 * segments,
                  6.5 + 0.25 * (double)o->segment_length)
            ->amount[KF_COST_ATOMICS] = 24 * segments * wide(o);
    else if (o->immersed_boundary == KF_AGGREGATED)
        (void)add_items(tally, "segment_forces", segment_bytes(tally), 0, segment_depth(tally));
    else
        add_items(tally, "band_spread", 7 * kf_kinetic_value_bytes(o) * samples, interpolated_sectors(tally),
                  0)
            ->amount[KF_COST_ATOMICS] = atomics(tally);
}

/* Returns the bytes of the band's nodes that are written side by side and read again. */
static double kept_bytes(const kf_kinetic_tally *tally) {
    const double one = kf_kinetic_value_bytes(&tally->options) == 8 ? 8 : 4;
    return tally->options.keep_streamed ? one * kf_kinetic_populations(tally) * tally->cost->survey.band_nodes
                                        : 0;
}

static const double MACROSCOPIC_DEPTH = 6;

static double macroscopic_accesses(const kf_kinetic_tally *tally) {
    return band_accesses(tally, kf_kinetic_populations(tally));
}

static double collide_accesses(const kf_kinetic_tally *tally) {
    return (tally->options.keep_streamed ? 1 : 2) * macroscopic_accesses(tally);
}

static double collide_depth(const kf_kinetic_tally *tally) {
    static const double DEPTH = 2.5, ENTRY = 0.3;
    const bool listed =
        tally->options.immersed_boundary == KF_AGGREGATED && !tally->cost->scene->motion.moving;
    const double entries = listed ? 8 * segments_of(tally) / tally->cost->survey.band_nodes : 0;
    return waits(tally, DEPTH + ENTRY * entries);
}

/* Adds the chain of kernels. Each of its two later parts waits until the previous part has ended, and until
 * that is visible. */
static void add_chain(kf_kinetic_tally *tally) {
    static const double SEEN = 0.5;
    (void)add_items(tally, "band_chain", 2 * kept_bytes(tally) + segment_bytes(tally),
                    macroscopic_accesses(tally) + collide_accesses(tally),
                    MACROSCOPIC_DEPTH + segment_depth(tally) + collide_depth(tally) + 2 * SEEN);
}

/* Adds the kernels that work out the solid's forces: the chain in one, or for each pass those of the band
 * or of all nodes. */
void kf_kinetic_add_forces(kf_kinetic_tally *tally) {
    const double band = tally->cost->survey.band_nodes;
    if (is_chain(tally)) {
        add_chain(tally);
        return;
    }
    if (kf_kinetic_in_one_pass(&tally->options))
        (void)add_items(tally, "band_macroscopic", kept_bytes(tally), macroscopic_accesses(tally),
                        MACROSCOPIC_DEPTH);
    for (int pass = 0; pass < passes(tally); pass++) {
        if (!kf_kinetic_in_one_pass(&tally->options)) {
            add_dense_pass(tally);
            continue;
        }
        add_band_pass(tally);
        if (passes(tally) > 1) (void)add_items(tally, "band_join", 48 * band, 0, 1);
    }
}

/* Collides the band's nodes with their forces, which a static solid's segments list one after the other. */
void kf_kinetic_add_band_collide(kf_kinetic_tally *tally) {
    if (!(tally->cost->survey.band_nodes > 0) || is_chain(tally)) return;
    (void)add_items(tally, "band_collide", kept_bytes(tally), collide_accesses(tally), collide_depth(tally));
}

/* Adds the kernels of a solid by links whose surface leaves its place. Each node of the box around it is
 * looked up in the table of distances, which is in the cache. Each inner node near the surface looks up its
 * neighbours, and writes all its populations. For each link it reads those of the outer node, and one behind.
 * Few nodes become fluid in a step. */
static void add_moving_links(kf_kinetic_tally *tally) {
    static const double LOOKED_UP = 32, OF_NODE = 27, TABLE_SECTORS = 4, DEEP = 2, SHARES = 3;
    const kf_scene *scene = tally->cost->scene;
    const double links = (double)scene->links.count, listed = DEEP * (double)scene->links.shell_count;
    double below[3], above[3], box = 1.0;
    kf_scene_moving_reach(scene, below, above);
    for (int a = 0; a < 3; a++)
        box *= ceil(below[a] + above[a]) + 4.0;
    (void)add_items(tally, "move_links", 0, 0, 2);
    add_items(tally, "list_moving", LOOKED_UP * box, TABLE_SECTORS * box / WARP, 2)->amount[KF_COST_ATOMICS] =
        listed;
    (void)add_items(tally, "refill_nodes", 0, 0, 8);
    kf_work *reflect = add_items(tally, "reflect_moving", 0,
                                 (OF_NODE + 2) * links + OF_NODE * listed * (1 + TABLE_SECTORS / WARP), 4);
    reflect->amount[KF_COST_ATOMICS] = SHARES * (KF_LOAD_SUMS + 2) * listed / DEEP;
}

/* Adds the kernels of links. A returned population is computed from up to five populations, each in a
 * separate sector. It is then stored where it streams from. A law of the wall also reads all populations of
 * each node beside the surface and of the node that it looks at, and writes the former. The lanes of a warp
 * share an atomic. */
void kf_kinetic_add_links(kf_kinetic_tally *tally) {
    const double link_bytes =
        52 + (tally->cost->scene->motion.moving ? kf_kinetic_value_bytes(&tally->options) : 0);
    static const double PLACE_BYTES = 12, POPULATIONS = 5, FOUND_BYTES = 84, APPLIED_BYTES = 180,
                        LAYER_BYTES = 16, OF_NODE = 27;
    const kf_links *lists = &tally->cost->scene->links;
    const double links = (double)lists->count, nodes = (double)lists->wall_count;
    if (!(links > 0)) return;
    if (lists->leaves) {
        add_moving_links(tally);
        return;
    }
    const bool law = nodes > 0, placed = kf_kinetic_puts_back(lists, &tally->options);
    const double shell = tally->options.masked_band ? 0 : (double)lists->shell_count;
    add_items(tally, law ? "reflect_and_find" : "reflect_links", link_bytes * links + FOUND_BYTES * nodes,
              (POPULATIONS + (placed && !law)) * links + OF_NODE * (nodes + shell), 3)
        ->amount[KF_COST_ATOMICS] = links / WARP;
    if (law)
        add_items(tally, "apply_friction", APPLIED_BYTES * nodes + (placed ? PLACE_BYTES : 0) * links,
                  2 * OF_NODE * nodes + placed * links, 4)
            ->amount[KF_COST_ATOMICS] = nodes / WARP;
    /* Every KF_LAYER_PERIOD steps profiles are read, of which each node belongs to one, and each node's index
     * and height are read and its viscosity is written; the state of the nodes beside the surface is in a
     * cache. */
    const double looks = (double)lists->layer_count / KF_LAYER_PERIOD;
    if (looks > 0.0) {
        (void)add_items(tally, "look_at_layers", 0, OF_NODE * looks, 2);
        (void)add_items(tally, "spread_viscosity", LAYER_BYTES * looks, 2 * looks, 2);
    }
    (void)add_items(tally, placed ? "balance_links" : "place_links", placed ? 0 : PLACE_BYTES * links,
                    placed ? 0 : links, 2);
}

void kf_kinetic_add_band_restore(kf_kinetic_tally *tally) {
    (void)add_items(tally, "band_restore", 0, band_accesses(tally, 2 * kf_kinetic_populations(tally)), 2.5);
}
