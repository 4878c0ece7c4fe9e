/* Predicts the time of a plan from the work it does, before it is run. A launch keeps several parts of the
 * device busy at the same time, so its time is that of the slowest. Launches follow each other
 * (docs/cost-model.md). */
#ifndef KF_COST_MODEL_COST_H
#define KF_COST_MODEL_COST_H

#include "base/backend/backend.h"
#include "base/record/roofs.h"

/* Lists the resources that limit a launch. */
typedef enum kf_resource {
    KF_COST_DRAM,         /* bytes to and from device memory, whole sectors */
    KF_COST_PARTIAL,      /* accesses to the cache that use a part of a 32-byte sector */
    KF_COST_SCATTERED,    /* sectors that each lie in another page of the memory */
    KF_COST_ATOMICS,      /* atomic additions */
    KF_COST_INSTRUCTIONS, /* of threads */
    KF_COST_LATENCY,      /* memory accesses of a thread that wait for each other */
    KF_COST_LAUNCH,       /* starting kernels */
    KF_RESOURCES
} kf_resource;
extern const char *const kf_resource_names[KF_RESOURCES]; /* "DRAM", "partial sectors", ... */

/* Holds the work of one launch; amounts are those of a launch. */
typedef struct kf_work {
    const char *name;
    double launches; /* a step; less than 1 for one that is due at some steps only */
    double amount[KF_RESOURCES];
    double efficiency; /* 0..1: what this launch can get of DRAM's roof at best (order of addresses) */
    /* `blocks` of threads come to one multiprocessor in all, `resident` at a time. A block asks for nothing
     * during wait_us (latency, arithmetic, its beginning and end). 0 blocks: it is so small that nothing is
     * lost. */
    double blocks, resident, wait_us;
    /* If more than 0, every block takes this many turns at the resource, each as long as the others'. Blocks
     * that are on the device together begin and end together, and a turn of the slowest lasts slowest_us. */
    double turns, slowest_us;
    /* If more than 0, blocks begin one by one as there is room, and the device waits this many turns for the
     * last. */
    double last_turns;
    bool in_turn; /* a block reads, computes and writes in turn: what does not limit the launch is time that
                     its blocks are away, too */
    bool in_step; /* all blocks do the same at the same time: what they ask of the resources adds up */
    bool aside;   /* beside the launches that are not, in a graph */
    bool follows; /* it is started while the launch before it runs */
} kf_work;

typedef struct kf_works {
    kf_work *list; /* owned */
    size_t count, room;
    bool one_by_one; /* launches outside of a graph */
} kf_works;

/* Adds a launch whose amounts are 0 but for one start. It is valid until the next is added. */
kf_work *kf_works_add(kf_works *works, const char *name, double launches);
void kf_works_free(kf_works *works);

/* Returns how many bytes of memory a byte costs. It is `least` where bytes that are used again and again fill
 * at most half of the last cache, and 1 from 1.6 times its size on. cache_bytes 0: the size is unknown, and
 * no cache is assumed. */
double kf_cost_cached(double bytes, double cache_bytes, double least);

/* Returns how many blocks the shared memory of a multiprocessor holds if each takes so many bytes and the KiB
 * that the system keeps of it. From compute capability 9.0 on there are 227 KiB. */
double kf_cost_blocks_by_shared(double bytes);

/* Returns the multiprocessors of a device, or those of an H200 where it does not say how many it has. */
double kf_cost_multiprocessors(const kf_device_info *device);

/* Returns the registers that a thread may have, at most 255, where so many blocks of so many threads are to
 * share a multiprocessor's 65,536; blocks 0: it is not said how many. */
double kf_cost_registers_allowed(double threads, double blocks);

/* Returns the blocks, at least 1, that a multiprocessor holds of so many threads with so many registers each,
 * which are given in portions of eight, and so many bytes of shared memory a block. */
double kf_cost_resident_blocks(double threads, double registers, double shared_bytes);

/* A kernel outside of a graph takes the host so many microseconds to start on a GPU. */
#define KF_SINGLE_LAUNCH_US 2.5

/* Holds the rates of the device: what it does in a second. */
typedef struct kf_ceilings {
    double rate[KF_RESOURCES]; /* bytes, sectors, atomics, instructions, launches a second */
    bool measured;             /* from `kftune roofs`; else estimated from the device's data sheet */
} kf_ceilings;

/* Works out the ceilings; roofs may be NULL. */
void kf_ceilings_from(const kf_device_info *device, const kf_roofs *roofs, kf_ceilings *ceilings);

/* Holds factors on the time of each resource; they are 1 before any calibration. */
typedef struct kf_calibration {
    double factor[KF_RESOURCES];
    int measurements;
} kf_calibration;
void kf_calibration_begin(kf_calibration *calibration);

typedef struct kf_prediction {
    double time_us;                /* of a step */
    double parts_us[KF_RESOURCES]; /* by what limits the launches; their sum is time_us */
    double busy[KF_RESOURCES];     /* 0..1: share of the step during which a resource is at its roof */
    const char *longest;           /* the launch that takes most of the step */
    double longest_us;
} kf_prediction;

/* Predicts a step as the sum of its launches, each of which is limited by one resource. */
void kf_cost_predict(const kf_works *works, const kf_ceilings *ceilings, const kf_calibration *calibration,
                     kf_prediction *prediction);

/* Writes a line such as "DRAM bound at 91 %, atomics 5 %; stream_collide 880 us", and returns the buffer. */
char *kf_cost_explain(const kf_prediction *prediction, char *buffer, size_t size);

/* Finds the factors that bring predictions, made without calibration, nearest to measured times: least
 * squares of the relative error. A ridge pulls them towards 1, so that few measurements, and resources that
 * never limit, change little. */
void kf_cost_calibrate(const kf_prediction *predictions, const double *measured_us, size_t count,
                       kf_calibration *calibration);

#endif
