#include "cost_model/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/cholesky.h"
#include "base/util/memory.h"
#include "base/util/text.h"

const char *const kf_resource_names[KF_RESOURCES] = {
    "DRAM", "partial sectors", "scattered sectors", "atomics", "instructions", "latency", "launches"};

kf_work *kf_works_add(kf_works *works, const char *name, double launches) {
    works->list = kf_grow(works->list, works->count, &works->room, sizeof *works->list);
    kf_work *work = &works->list[works->count++];
    *work = (kf_work){.name = name, .launches = launches, .efficiency = 1};
    work->amount[KF_COST_LAUNCH] = 1;
    return work;
}

void kf_works_free(kf_works *works) {
    free(works->list);
    *works = (kf_works){0};
}

double kf_cost_cached(double bytes, double cache_bytes, double least) {
    static const double FITS = 0.5, OVERFLOWS = 1.6;
    const double size = bytes / fmax(1, cache_bytes);
    return least + (1 - least) * fmin(1, fmax(0, (size - FITS) / (OVERFLOWS - FITS)));
}

double kf_cost_blocks_by_shared(double bytes) {
    static const double SHARED = 227 << 10, RESERVED = 1 << 10;
    return floor(SHARED / (bytes + RESERVED));
}

double kf_cost_multiprocessors(const kf_device_info *device) {
    static const double UNKNOWN = 132; /* that of an H200 */
    return device->multiprocessors > 0 ? device->multiprocessors : UNKNOWN;
}

/* A multiprocessor has this number of registers and allocates them in portions. */
static const double REGISTERS = 65536, PORTION = 8;

double kf_cost_registers_allowed(double threads, double blocks) {
    static const double MOST = 255;
    return blocks > 0 ? fmin(MOST, PORTION * floor(REGISTERS / (blocks * threads) / PORTION)) : MOST;
}

double kf_cost_resident_blocks(double threads, double registers, double shared_bytes) {
    static const double THREADS = 2048, BLOCKS = 32;
    const double given = PORTION * ceil(registers / PORTION);
    return fmax(1, fmin(fmin(BLOCKS, floor(REGISTERS / (given * threads))),
                        fmin(floor(THREADS / threads), kf_cost_blocks_by_shared(shared_bytes))));
}

/* --- Ceilings ------------------------------------------------------------------------------------------- */

/* Each unit takes as long as copying this number of bytes: an access to a part of a sector, a scattered
 * sector, an atomic addition, and an instruction of a thread. They were measured on an H200
 * (docs/cost-model.md). The last one assumes 0.6 of the rate at which the schedulers could issue. */
static const double PARTIAL_BYTES = 57, SCATTERED_BYTES = 110, ATOMIC_BYTES = 65, INSTRUCTION_BYTES = 0.21;
/* A copy reaches this share of the data sheet's bandwidth. */
static const double COPY_SHARE = 0.88, CPU_BANDWIDTH = 1.2e10;
/* Time to start a kernel of a graph, and time for which a read waits for memory. */
static const double GPU_LAUNCH_US = 1.0, CPU_LAUNCH_US = 1.0, GPU_LATENCY_US = 1.2, CPU_LATENCY_US = 0.1;
/* Work beside the flow's kernel has the device until that kernel's blocks fill it, and again in its last
 * wave. Work up to this time costs nothing. */
static const double BESIDE_US = 14.0;

static double roof(const kf_roofs *roofs, const char *name) {
    const kf_roof *found = roofs != NULL ? kf_roofs_find(roofs, name) : NULL;
    return found != NULL && isfinite(found->value) && found->value > 0 ? found->value : NAN;
}

/* Computes the rates of a device from its measured roofs, or from its data sheet if there are none. */
void kf_ceilings_from(const kf_device_info *device, const kf_roofs *roofs, kf_ceilings *ceilings) {
    bool gpu = kf_device_is_gpu(device);
    double copy = 1e9 * fmax(roof(roofs, "dram_copy"), roof(roofs, "dram_copy_nt")),
           node_us = roof(roofs, "graph_node");
    ceilings->measured = isfinite(copy);
    if (!isfinite(copy))
        copy = device->peak_bandwidth > 0 ? COPY_SHARE * device->peak_bandwidth : CPU_BANDWIDTH;
    ceilings->rate[KF_COST_DRAM] = copy;
    ceilings->rate[KF_COST_PARTIAL] = copy / PARTIAL_BYTES;
    ceilings->rate[KF_COST_SCATTERED] = copy / SCATTERED_BYTES;
    ceilings->rate[KF_COST_ATOMICS] = copy / ATOMIC_BYTES;
    ceilings->rate[KF_COST_INSTRUCTIONS] = copy / INSTRUCTION_BYTES;
    double launch_us = gpu ? GPU_LAUNCH_US : CPU_LAUNCH_US;
    if (isfinite(node_us)) launch_us = fmax(launch_us, node_us);
    ceilings->rate[KF_COST_LAUNCH] = 1e6 / launch_us;
    ceilings->rate[KF_COST_LATENCY] = 1e6 / (gpu ? GPU_LATENCY_US : CPU_LATENCY_US);
}

/* --- Prediction ----------------------------------------------------------------------------------------- */

void kf_calibration_begin(kf_calibration *calibration) {
    for (int r = 0; r < KF_RESOURCES; r++)
        calibration->factor[r] = 1;
    calibration->measurements = 0;
}

static double below_one(double share, double sharpness) {
    return share / pow(1 + pow(share, sharpness), 1 / sharpness);
}

/* Treats a multiprocessor as a closed queue. Its blocks use the limiting resource in turns of service_us
 * each, and do not need it for wait_us in between. This is mean value analysis (Reiser and Lavenberg 1980, J.
 * ACM 27, 313), with 3/4 of the queue that a new arrival would find if service times were exponential.
 * Returns the share of the time in which the resource is busy. The power mean keeps it below 1. */
static double busy_share(double resident, double service_us, double wait_us) {
    static const double QUEUE = 0.75, SHARPNESS = 8;
    const double away = wait_us / service_us;
    double share = 0, waiting = 0;
    for (int blocks = 1; blocks <= (int)resident; blocks++) {
        const double response = 1 + QUEUE * waiting;
        share = blocks / (response + away);
        waiting = share * response;
    }
    return below_one(share, SHARPNESS);
}

/* Returns the time of a launch whose limiting resource takes bulk_us without waiting. Multiprocessors wait if
 * few blocks fit, and at the end for the last blocks. others_us: the time that the launch needs of other
 * resources. */
static double with_waiting(const kf_work *work, double bulk_us, double others_us) {
    static const double TAIL = 0.85;
    if (!(work->blocks > 0) || bulk_us <= 0) return bulk_us;
    const double service_us = bulk_us / work->blocks;
    const double away_us = work->wait_us + (work->in_turn ? others_us / work->blocks : 0);
    const double time_us = bulk_us / busy_share(work->resident, service_us, away_us);
    return time_us + TAIL * fmin(time_us, time_us * work->resident / work->blocks);
}

/* Returns the length of a turn of this number of blocks that run together. Turns of equal length do not delay
 * each other. */
static double turn_us(const kf_work *work, double blocks, double service_us) {
    static const double SHARPNESS = 8;
    return blocks * service_us / below_one(blocks / (1 + work->wait_us / service_us), SHARPNESS);
}

/* Returns the time of a launch whose blocks work in rounds. The last round takes a whole turn of the device,
 * however few blocks it has, and ends with the slowest. */
static double in_rounds(const kf_work *work, double bulk_us) {
    if (bulk_us <= 0) return bulk_us;
    const double service_us = bulk_us / (work->blocks * work->turns),
                 full = ceil(work->blocks / work->resident) - 1,
                 last = ceil(work->blocks - full * work->resident);
    return work->turns * (full * turn_us(work, work->resident, service_us) +
                          fmax(turn_us(work, last, service_us), service_us + work->slowest_us));
}

/* Returns the time of a launch in which new blocks replace those that end. */
static double in_a_row(const kf_work *work, double bulk_us) {
    if (bulk_us <= 0) return bulk_us;
    const double at_once = fmin(work->resident, fmax(1, work->blocks)),
                 service_us = bulk_us / (work->blocks * work->turns);
    return work->turns * turn_us(work, at_once, service_us) * fmax(1, work->blocks / at_once) +
           work->last_turns * turn_us(work, 1, service_us);
}

typedef struct kf_launch_time {
    double parts_us[KF_RESOURCES], sum_us; /* a step */
} kf_launch_time;

/* Duration of a start in starts of a graph's kernel, measured with the d2q9 system on an H200. */
static double start_of(const kf_work *work, bool one_by_one) {
    static const double FOLLOWS = 0.6, SINGLE_FOLLOWS = 0.75;
    if (work->follows) return one_by_one ? SINGLE_FOLLOWS : FOLLOWS;
    return one_by_one ? KF_SINGLE_LAUNCH_US / GPU_LAUNCH_US : 1;
}

/* Predicts a launch. The start of a kernel and waiting for memory overlap with nothing, so they are added to
 * the time of the slowest resource. */
static kf_launch_time time_launch(const kf_work *work, bool one_by_one, const kf_ceilings *ceilings,
                                  const kf_calibration *calibration, double busy_us[KF_RESOURCES]) {
    static const double SHOWN = 0.2;
    kf_launch_time timed = {.sum_us = 0};
    double slowest_us = 0, together_us = 0;
    int limit = KF_COST_DRAM;
    for (int r = 0; r < KF_RESOURCES; r++) {
        double us = 1e6 * calibration->factor[r] * work->amount[r] / ceilings->rate[r];
        if (r == KF_COST_LAUNCH) us *= start_of(work, one_by_one);
        busy_us[r] += us * work->launches;
        if (r == KF_COST_LAUNCH || r == KF_COST_LATENCY) {
            timed.parts_us[r] = us * work->launches;
            continue;
        }
        if (r == KF_COST_DRAM) us /= work->efficiency;
        together_us += us;
        if (us <= slowest_us) continue;
        slowest_us = us;
        limit = r;
    }
    timed.parts_us[limit] =
        work->launches * (work->in_step          ? slowest_us + SHOWN * (together_us - slowest_us)
                          : work->last_turns > 0 ? in_a_row(work, slowest_us)
                          : work->turns > 0      ? in_rounds(work, slowest_us)
                                                 : with_waiting(work, slowest_us, together_us - slowest_us));
    timed.sum_us = timed.parts_us[limit] + timed.parts_us[KF_COST_LATENCY] + timed.parts_us[KF_COST_LAUNCH];
    return timed;
}

static void add_timed(const kf_work *work, const kf_launch_time *timed, double share,
                      kf_prediction *prediction) {
    for (int r = 0; r < KF_RESOURCES; r++)
        prediction->parts_us[r] += share * timed->parts_us[r];
    prediction->time_us += share * timed->sum_us;
    if (share * timed->sum_us <= prediction->longest_us) return;
    prediction->longest = work->name;
    prediction->longest_us = share * timed->sum_us;
}

void kf_cost_predict(const kf_works *works, const kf_ceilings *ceilings, const kf_calibration *calibration,
                     kf_prediction *prediction) {
    double busy_us[KF_RESOURCES] = {0}, aside_us = 0;
    kf_launch_time *timed = kf_allocate((works->count + 1) * sizeof *timed);
    memset(prediction, 0, sizeof *prediction);
    for (size_t i = 0; i < works->count; i++) {
        timed[i] = time_launch(&works->list[i], works->one_by_one, ceilings, calibration, busy_us);
        if (works->list[i].aside && !works->one_by_one) aside_us += timed[i].sum_us;
    }
    const double shown = aside_us > BESIDE_US ? 1 - BESIDE_US / aside_us : 0;
    for (size_t i = 0; i < works->count; i++) {
        const bool aside = works->list[i].aside && !works->one_by_one;
        add_timed(&works->list[i], &timed[i], aside ? shown : 1, prediction);
    }
    free(timed);
    for (int r = 0; r < KF_RESOURCES && prediction->time_us > 0; r++)
        prediction->busy[r] = fmin(1, busy_us[r] / prediction->time_us);
}

/* Explains a prediction in one line: the limiting resource, other resources that take time, and the longest
 * kernel. */
char *kf_cost_explain(const kf_prediction *prediction, char *buffer, size_t size) {
    int most = 0;
    for (int r = 1; r < KF_RESOURCES; r++)
        if (prediction->parts_us[r] > prediction->parts_us[most]) most = r;
    int second = most == 0 ? 1 : 0;
    for (int r = 0; r < KF_RESOURCES; r++)
        if (r != most && prediction->parts_us[r] > prediction->parts_us[second]) second = r;
    char time[32], also[64] = "";
    double rest = prediction->parts_us[second] / prediction->time_us;
    if (rest >= 0.01)
        (void)snprintf(also, sizeof also, ", %s %.0f %% of the time", kf_resource_names[second], 100 * rest);
    (void)snprintf(buffer, size, "%s bound at %.0f %%%s; %s takes %s", kf_resource_names[most],
                   100 * prediction->busy[most], also,
                   prediction->longest != NULL ? prediction->longest : "nothing",
                   kf_human_time_us(prediction->longest_us, time));
    return buffer;
}

/* --- Calibration ---------------------------------------------------------------------------------------- */

void kf_cost_calibrate(const kf_prediction *predictions, const double *measured_us, size_t count,
                       kf_calibration *calibration) {
    /* The weight with which the fit is pulled towards 1: that of one measurement that the resource limits by
     * half. */
    static const double RIDGE = 0.25;
    double normal[KF_RESOURCES * KF_RESOURCES] = {0}, right[KF_RESOURCES] = {0};
    kf_calibration_begin(calibration);
    for (int r = 0; r < KF_RESOURCES; r++) {
        normal[r * KF_RESOURCES + r] = RIDGE;
        right[r] = RIDGE;
    }
    for (size_t i = 0; i < count; i++) {
        if (!(measured_us[i] > 0)) continue;
        calibration->measurements++;
        for (int r = 0; r < KF_RESOURCES; r++) {
            double part = predictions[i].parts_us[r] / measured_us[i];
            right[r] += part;
            for (int q = 0; q < KF_RESOURCES; q++)
                normal[r * KF_RESOURCES + q] += part * predictions[i].parts_us[q] / measured_us[i];
        }
    }
    /* The ridge makes the matrix positive definite, so factoring cannot fail. */
    (void)kf_cholesky_factor(KF_RESOURCES, normal);
    kf_cholesky_solve(KF_RESOURCES, normal, right);
    for (int r = 0; r < KF_RESOURCES; r++) /* no resource takes no time, or more than all others together */
        calibration->factor[r] = fmin(fmax(right[r], 0.05), 20);
}
