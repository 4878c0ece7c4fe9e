/* Predicts the time of a plan from its work before it is run. A launch uses several resources of the device
 * at the same time, so the slowest one decides. The times of successive launches add up (docs/cost-model.md).
 */
#ifndef KF_COST_MODEL_COST_H
#define KF_COST_MODEL_COST_H

#include "base/backend/backend.h"
#include "base/record/roofs.h"

/* The resources that limit a launch. */
typedef enum kf_resource {
    KF_COST_DRAM,         /* bytes to and from device memory, in whole sectors */
    KF_COST_PARTIAL,      /* accesses to the cache that use a part of a 32-byte sector */
    KF_COST_SCATTERED,    /* sectors that lie in different pages of the memory */
    KF_COST_ATOMICS,      /* atomic additions */
    KF_COST_INSTRUCTIONS, /* of threads */
    KF_COST_LATENCY,      /* memory accesses of a thread, each of which waits for the one before */
    KF_COST_LAUNCH,       /* starting kernels */
    KF_RESOURCES
} kf_resource;
extern const char *const kf_resource_names[KF_RESOURCES]; /* "DRAM", "partial sectors", ... */

/* The work of one launch. Amounts are those of a single launch. */
typedef struct kf_work {
    const char *name;
    double launches; /* launches in a step; less than 1 if it is due only at some steps */
    double amount[KF_RESOURCES];
    double efficiency; /* 0..1: largest share of the DRAM roof that this launch can reach, which depends on
                          the order of addresses */
    /* Each multiprocessor runs `blocks` blocks of threads, `resident` of them at a time. During wait_us a
     * block needs no resource (latency, arithmetic, its beginning and end). 0 blocks: the launch is so small
     * that nothing is lost. */
    double blocks, resident, wait_us;
    /* If turns is positive, every block uses the resource in this number of equal turns. Blocks that are
     * resident together begin and end together, and a turn of the slowest block takes slowest_us. */
    double turns, slowest_us;
    /* If it is positive, blocks begin one by one as others end, and the device waits for the last block for
     * this number of turns. */
    double last_turns;
    bool in_turn; /* a block reads, computes and writes one after the other: other resources' time is added to
                     the time between turns */
    bool in_step; /* all blocks do the same at the same time, so the times of their resources add up */
    bool aside;   /* in a graph it runs beside the other launches */
    bool follows; /* it starts while the launch before it runs */
} kf_work;

typedef struct kf_works {
    kf_work *list; /* owned */
    size_t count, room;
    bool one_by_one; /* the launches are not in a graph */
} kf_works;

/* Adds a launch with one start and no other work. It is valid until the next one is added. */
kf_work *kf_works_add(kf_works *works, const char *name, double launches);
void kf_works_free(kf_works *works);

/* Returns the bytes of memory traffic for each byte that is used. It is `least` if the reused bytes fill at
 * most half of the last-level cache, and 1 from 1.6 times its size on. cache_bytes 0: the size is unknown,
 * and no cache is assumed. */
double kf_cost_cached(double bytes, double cache_bytes, double least);

/* Returns the number of blocks whose shared memory fits on a multiprocessor. Each takes this many bytes and 1
 * KiB that the system keeps. Since compute capability 9.0 there are 227 KiB. */
double kf_cost_blocks_by_shared(double bytes);

/* Returns the multiprocessors of a device; if their number is unknown, those of an H200. */
double kf_cost_multiprocessors(const kf_device_info *device);

/* Returns the registers that a thread may have, at most 255, if this many blocks with this many threads share
 * a multiprocessor's 65,536; blocks 0: their number is not given. */
double kf_cost_registers_allowed(double threads, double blocks);

/* Returns the number of resident blocks on a multiprocessor, at least 1. Registers of a thread are allocated
 * in portions of eight; shared_bytes is the shared memory of a block. */
double kf_cost_resident_blocks(double threads, double registers, double shared_bytes);

/* Time in microseconds that the host needs to start a kernel outside of a graph on a GPU. */
#define KF_SINGLE_LAUNCH_US 2.5

/* The rates of a device per second. */
typedef struct kf_ceilings {
    double rate[KF_RESOURCES]; /* bytes, sectors, atomics, instructions, launches per second */
    bool measured;             /* they come from `kftune roofs`, otherwise from the device's data sheet */
} kf_ceilings;

/* Computes the ceilings. roofs may be NULL. */
void kf_ceilings_from(const kf_device_info *device, const kf_roofs *roofs, kf_ceilings *ceilings);

/* Factors on the time of each resource; without calibration they are 1. */
typedef struct kf_calibration {
    double factor[KF_RESOURCES];
    int measurements;
} kf_calibration;
void kf_calibration_begin(kf_calibration *calibration);

typedef struct kf_prediction {
    double time_us;                /* time of a step */
    double parts_us[KF_RESOURCES]; /* by the resource that limits each launch; their sum is time_us */
    double busy[KF_RESOURCES];     /* 0..1: share of the step in which a resource is at its roof */
    const char *longest;           /* the launch that takes most of the step */
    double longest_us;
} kf_prediction;

/* Predicts a step as the sum of its launches. One resource limits each launch. */
void kf_cost_predict(const kf_works *works, const kf_ceilings *ceilings, const kf_calibration *calibration,
                     kf_prediction *prediction);

/* Writes a line such as "DRAM bound at 91 %, atomics 5 %; stream_collide 880 us", and returns the buffer. */
char *kf_cost_explain(const kf_prediction *prediction, char *buffer, size_t size);

/* Finds the factors with which uncalibrated predictions come nearest to measured times, by least squares of
 * the relative error. A ridge pulls the factors towards 1, so that few measurements, and resources that never
 * limit, have little effect. */
void kf_cost_calibrate(const kf_prediction *predictions, const double *measured_us, size_t count,
                       kf_calibration *calibration);

#endif
