/* The steps of the plans baseline and paper, which have separate kernels for streaming, density and velocity,
 * the solid's forces, and the collision. The parts of a team that reads planes in place wait for each other
 * between them. A team that copies planes exchanges populations once, at the end of a step. Its parts also
 * stream to the neighbouring planes, and compute there the data of their solid's samples. */
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_builder.h"

static bool copies_planes(const kf_builder *b) {
    return b->kinetics->options.transfer != KF_DIRECT;
}

/* Appends a kernel over some planes of the part. values is the number of values per node that it reads and
 * writes. */
static void append_planes(kf_builder *b, int parity, const char *name, kf_kinetic_arguments arguments,
                          int first, int end, double values) {
    const kf_kinetic *kinetic = b->kinetic;
    const int extent[3] = {kinetic->geometry.nodes[0], kinetic->rows, end - first};
    arguments.part.first_plane = first;
    arguments.part.planes = end - first;
    kf_append(b, parity, KF_SOURCE_FLOW, name, extent, kinetic->options.block, arguments,
              values * b->node_bytes * (end - first) / kinetic->planes);
}

/* Appends a kernel over the nodes of every part. */
static void append_nodes(kf_builder *b, int parity, const char *name, int from, int to, double values) {
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        const int first = b->kinetic->first_plane;
        append_planes(b, parity, name, kf_from_to(b->kinetic, from, to), first, first + b->kinetic->planes,
                      values);
    }
}

/* Appends such a kernel over a part's planes and the planes beside them to which it streams. */
static void append_streamed_nodes(kf_builder *b, int parity, const char *name, int from, int to,
                                  double values) {
    for (int part = 0; part < b->parts; part++) {
        int range[KF_PLANE_RANGES][2];
        kf_on_part(b, part);
        const int ranges = kf_streamed_planes(b, range);
        for (int r = 0; r < ranges; r++)
            append_planes(b, parity, name, kf_from_to(b->kinetic, from, to), range[r][0], range[r][1],
                          values);
    }
}

/* Force of the solid on the streamed populations' fields, in the whole-domain field: at the samples, */
static void append_penalty(kf_builder *b, int parity) {
    if (!b->kinetic->has_samples) return;
    kf_append_body(b, parity, 0);
    kf_append_items(b, parity, KF_SOURCE_IMMERSED, "penalty", b->kinetic->arguments.samples.count, 0, 1);
}

/* Appends the sum of the samples' forces at the nodes. */
static void append_force_sum(kf_builder *b, int parity) {
    const kf_kinetic *kinetic = b->kinetic;
    const int samples = kinetic->arguments.samples.count, *box = kinetic->arguments.samples.box;
    if (!kinetic->has_samples) return;
    if (kinetic->options.immersed_boundary == KF_GATHER) {
        const int extent[3] = {box[0] + 1, box[1] + 1, box[2] + 1};
        kf_append(b, parity, KF_SOURCE_IMMERSED, "gather", extent, kinetic->options.block, kinetic->arguments,
                  0);
    } else {
        kf_append_items(b, parity, KF_SOURCE_IMMERSED, "scatter", samples, 0, 1);
    }
    kf_append_items(b, parity, KF_SOURCE_IMMERSED, "load_samples",
                    (samples + KF_LOAD_CHUNK - 1) / KF_LOAD_CHUNK, 0, 1);
}

/* Appends the force of a pass. A later pass reads the force of the previous ones. In place it also reads
 * beyond cuts, so all must have read before it changes. Parts that copy planes compute it on both sides, in
 * each pass on one plane less. */
static void append_force(kf_builder *b, int parity) {
    const int passes = b->kinetics->passes;
    for (int pass = 0; pass < passes; pass++) {
        const bool meets = pass > 0 && !copies_planes(b);
        for (int part = 0; part < b->parts; part++)
            b->kinetics[part].arguments.body.pass = pass;
        if (meets) kf_neighbour_barrier(b, parity);
        kf_append_team_body(b, parity, 0);
        kf_each_part(b, parity, append_penalty);
        if (meets) kf_neighbour_barrier(b, parity);
        kf_each_part(b, parity, append_force_sum);
    }
    for (int part = 0; part < b->parts; part++)
        b->kinetics[part].arguments.body.pass = 0;
}

/* Appends everything before the collision: grid `from` is streamed into grid `to`. In place the collision
 * overwrites data that others stream from, and forces need the fields beyond a cut, so the parts wait for
 * each other in between. */
static void append_streamed_fields(kf_builder *b, int parity, int from, int to) {
    const kf_kinetic *kinetics = b->kinetics;
    const bool solid = kinetics->has_solid, meets = !copies_planes(b),
               reset = solid && (kinetics->options.immersed_boundary == KF_SCATTER || kinetics->moving);
    if (meets) kf_await_neighbours(b, parity, "step_ended", b->ended);
    kf_append_links(b, parity, from);
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        kf_append_boundaries(b, parity, from);
    }
    if (meets) kf_neighbour_barrier(b, parity);
    kf_on_part(b, 0);
    kf_append_averages(b, parity, from);
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        kf_append_motion(b, parity, from);
    }
    append_streamed_nodes(b, parity, "stream", from, to, 54);
    append_streamed_nodes(b, parity, reset ? "macroscopic_reset" : "macroscopic", to, to, reset ? 34 : 31);
    if (meets) kf_neighbour_barrier(b, parity);
    if (solid) append_force(b, parity);
}

/* Appends the launches that follow the collision into a grid. */
static void end_step(kf_builder *b, int parity, int grid) {
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        kf_append_outflow(b, parity, grid, NULL);
    }
    if (copies_planes(b)) kf_append_halo_exchange(b, parity);
    kf_append_link_balance(b, parity);
    kf_signal_all(b, parity, "step_ended", b->ended);
}

/* Appends the steps of section 3.2. The collision terms replace the old populations, and the update adds them
 * to the streamed ones. */
static void append_baseline(kf_builder *b, int parity) {
    append_streamed_fields(b, parity, 0, 1);
    append_nodes(b, parity, "collision_terms", 1, 0, 61);
    append_nodes(b, parity, "update", 1, 0, 81);
    end_step(b, parity, 0);
}

/* Appends Algorithm 2. With a single collision kernel the state returns to the first grid. With a split
 * collision the moments take its place, and the state ends in the second grid; BGK has no moments and
 * returns. */
static void append_paper(kf_builder *b, int parity) {
    static const char *const shares[] = {"collide_part_1", "collide_part_2", "collide_part_3",
                                         "collide_part_4"};
    const bool swaps = b->kinetics->swaps;
    const int split = (int)b->kinetics->options.collision_split, from = swaps && parity == 1 ? 1 : 0,
              to = 1 - from;
    append_streamed_fields(b, parity, from, to);
    if (split == 1) append_nodes(b, parity, "collide", to, from, 61);
    if (swaps) append_nodes(b, parity, "moments", to, from, 61);
    for (int share = 0; share < split && split > 1; share++) /* of the populations written; 7 of the state */
        append_nodes(b, parity, shares[share], swaps ? from : to, swaps ? to : from,
                     7.0 + (swaps ? 27.0 * (split + 1) : 54.0) / split);
    end_step(b, parity, swaps ? to : from);
}

/* Appends the step of the plan baseline or paper, once for even and once for odd steps if grids swap roles or
 * planes are copied. */
void kf_make_separate(kf_builder *b) {
    const kf_kinetic_options *o = &b->kinetics->options;
    const bool baseline = o->plan == KF_PLAN_BASELINE,
               swaps = !baseline && o->collision_split > 1 && kf_plan_scene(b->plan)->collision != KF_BGK;
    void (*const append)(kf_builder * b, int parity) = baseline ? append_baseline : append_paper;
    for (int part = 0; part < b->parts; part++)
        b->kinetics[part].swaps = swaps;
    if (!swaps && !copies_planes(b)) {
        append(b, KF_BOTH);
        return;
    }
    for (int p = 0; p < 2; p++) {
        for (int part = 0; part < b->parts; part++)
            kf_kinetic_choose_outflow(b->plan, part, p);
        append(b, p);
    }
}
