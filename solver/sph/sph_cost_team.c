/* The work of particles that several devices share, as the device has it that has most of them: its slab,
 * what it keeps beside it, the kernels that find others' particles, and what devices and the host wait for
 * each other (docs/teams.md). */
#include <math.h>
#include <string.h>

#include "solver/sph/sph_cost_tally.h"

/* Read off measurements of H200s in one host (docs/cost-model.md). */
/* Bytes of a device's memory that take as long as one over NVLink, or twice over PCIe by way of the host. */
static const double LINK = 10, HOST = 160;
/* Reads of memory, one after the other, that take as long as one device waits for another's mark, and as the
 * host takes to wait for all devices, read their numbers and answer. */
static const double MARK = 4, CALL = 25;
/* Starts of a kernel that take the host as long as a signal or an await. */
static const double SIGNAL = 0.92;

/* Cuts the planes that the fluid fills: the fullest part has one more than others where they do not divide.
 */
void kf_sph_share_planes(kf_sph_tally *t) {
    const kf_sph_options *o = &t->options;
    const int axis = o->cut_axis;
    const double all = t->particles, cell = t->support / o->reach, size = t->scene->size[axis];
    t->kept = all;
    t->kept_cells = t->cells;
    if (o->parts == 1) return;
    const bool periodic = t->scene->sides[2 * axis] == KF_SIDE_PERIODIC;
    const double planes = fmax(1, floor(size / cell) + (periodic ? 0 : 1)),
                 filled = fmax(1, fmin(planes, ceil(t->cost->extent[axis] / cell))),
                 slab = ceil(filled / o->parts),
                 beside = fmin(filled - slab, (periodic || o->parts > 2 ? 2 : 1) * o->reach);
    t->particles = all * slab / filled;
    t->kept = all * (slab + beside) / filled;
    t->kept_cells = t->cells * fmin(1, (slab + beside) / planes);
}

static bool packs(const kf_sph_tally *t) {
    return t->options.transfer != KF_SPH_DIRECT;
}

/* Bytes of the device's own memory that take as long as one from another's. */
static double link(const kf_sph_tally *t) {
    if (!t->gpu) return 1;
    return t->options.transfer == KF_SPH_THROUGH_HOST ? HOST : LINK;
}

double kf_sph_linked_bytes(const kf_sph_tally *t, double state) {
    return packs(t) ? 0 : (t->kept - t->particles) / t->kept * state * (link(t) - 1);
}

/* Adds what takes time without a kernel: reads of memory that wait for each other. */
static void add_wait(kf_sph_tally *t, const char *name, double often, double reads) {
    kf_work *work = kf_works_add(t->works, name, often);
    work->amount[KF_COST_LAUNCH] = 0;
    work->amount[KF_COST_LATENCY] = t->gpu ? reads : 0;
}

/* Adds what goes to and from the others, and how the host waits for it. */
static void add_parcels(kf_sph_tally *t, double often, double row_bytes) {
    add_wait(t, "carry_parcels", often, CALL);
    t->works->list[t->works->count - 1].amount[KF_COST_DRAM] = (t->kept - t->particles) * row_bytes * link(t);
}

/* Adds a copy of the values that a sum has changed. bytes: per particle. */
static void add_copies(kf_sph_tally *t, double often, double bytes) {
    const double wait = kf_sph_cost_wait();
    kf_sph_tally others = *t;
    others.particles = t->kept - t->particles;
    if (packs(t)) {
        kf_sph_add_pass(&others, "pack_copies", often, 2 * bytes, 60, others.particles, 5 * wait);
        add_parcels(t, often, bytes);
        kf_sph_add_pass(&others, "unpack_copies", often, 2 * bytes, 60, others.particles, 5 * wait);
    } else {
        add_wait(t, "part_ready", often, MARK);
        kf_sph_add_pass(&others, "copy_others", often, bytes * (1 + link(t)), 60, others.particles, 8 * wait);
    }
}

/* Adds the kernels that find what a device keeps, and choose cuts. */
static void add_search(kf_sph_tally *t, double often, double state) {
    const double wait = kf_sph_cost_wait(), n = t->kept, cells = 4 * t->kept_cells / n,
                 weighings = fmin(often, 1.0 / KF_SPH_WEIGH_EVERY),
                 up = t->scene->size[t->scene->dimensions - 1] / t->support * t->options.reach,
                 rows = t->cells / fmax(1, up) / t->options.parts;
    kf_sph_tally kept = *t, others = *t;
    kept.particles = n;
    others.particles = n - t->particles;
    kf_sph_add_pass(&kept, "begin_sort", often, 0, 10 / n, 1, 8 * wait);
    kf_sph_add_pass(&kept, "add_counts", often, 3 * cells, 8 * cells, t->cells, 4 * wait);
    kf_sph_add_pass(&kept, "end_sort", often, 0, 10 / n, 1, 4 * wait);
    kf_sph_add_pass(&kept, "clear_counts", often, cells, 4 * cells, t->cells, 2 * wait);
    kf_sph_add_pass(t, "weigh_rows", weighings, 0, t->rows * 8 * t->kept_cells / t->particles, rows,
                    up * t->rows * wait);
    kf_sph_add_pass(&kept, "weigh_planes", packs(t) ? weighings : often, 0, 10 / n, 1, 2 * wait);
    if (packs(t)) {
        kf_sph_add_pass(t, "count_parcels", often, 8, 20, t->particles, 3 * wait);
        kf_sph_add_pass(&kept, "begin_parcels", often, 0, 10 / n, 1, 4 * wait);
        kf_sph_add_pass(t, "pack_parcels", often, 8, 20, t->particles, 3 * wait);
        add_parcels(t, often, state + 4);
        kf_sph_add_pass(&others, "count_arrivals", often, 24, 40, others.particles, 3 * wait);
        kf_sph_add_pass(&others, "place_arrivals", often, 20, 20, others.particles, 3 * wait);
        add_wait(t, "sum_weights", weighings, CALL);
        add_wait(t, "join_clocks", 1, CALL);
    } else {
        kf_sph_add_pass(&others, "take", often, 8 + 16 * link(t), 60, others.particles, 8 * wait);
        add_wait(t, "part_ready", 3 * often + 1, MARK);
    }
}

/* Adds the time that the host of all devices takes to give them a step, where they are done before. */
static void add_host(kf_sph_tally *t) {
    kf_ceilings ceilings;
    kf_calibration none;
    kf_prediction device;
    double kernels = 0, marks = 0;
    const double parts = t->options.parts;
    for (size_t k = 0; k < t->works->count; k++) {
        const kf_work *work = &t->works->list[k];
        kernels += work->amount[KF_COST_LAUNCH] > 0 ? work->launches : 0;
        marks += strcmp(work->name, "part_ready") == 0 ? work->launches : 0;
    }
    kf_ceilings_from(&t->cost->device, NULL, &ceilings);
    kf_calibration_begin(&none);
    kf_cost_predict(t->works, &ceilings, &none, &device);
    const double given = kernels * parts + SIGNAL * marks * parts * parts,
                 left = given - device.time_us / KF_SINGLE_LAUNCH_US;
    if (t->gpu && left > 0) kf_works_add(t->works, "given by the host", 1)->amount[KF_COST_LAUNCH] = left;
}

/* Adds the search, a copy after each sum that others read, and the host. */
void kf_sph_add_team(kf_sph_tally *t, double state) {
    const kf_particle_scene *scene = t->scene;
    const double often = 1.0 / t->options.list_period, motion = 32,
                 stress = kf_sph_has_stress(scene) ? 4.0 * KF_SPH_STRESSES : 0,
                 viscosity = scene->material.branch == KF_BRANCH_ELASTIC ? 0 : 4;
    add_search(t, often, state);
    if (often < 1) add_copies(t, 1 - often, motion + stress);
    if (scene->scheme == KF_SCHEME_THESIS) {
        add_copies(t, 1, motion);
        if (stress > 0) add_copies(t, 1, stress);
    } else {
        if (scene->wall_count > 0) add_copies(t, 1, motion + stress);
        if (stress > 0) add_copies(t, 1, stress + viscosity);
    }
    add_host(t);
}
