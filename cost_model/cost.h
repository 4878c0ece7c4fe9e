/* The time of a plan from the work it does, before it is run. A launch keeps several parts of the device busy
 * at the same time, so its time is that of the slowest; launches follow each other. Explained in
 * docs/cost-model.md. */
#ifndef KF_COST_MODEL_COST_H
#define KF_COST_MODEL_COST_H

#include "base/backend/backend.h"
#include "base/record/roofs.h"

/* Resources that limit a launch. */
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

/* The work of one launch, amounts per launch. */
typedef struct kf_work {
    const char *name;
    double launches; /* a step; less than 1 for one that is due at some steps only */
    double amount[KF_RESOURCES];
    double efficiency; /* 0..1: what this launch can get of DRAM's roof at best (order of addresses) */
    /* Blocks of threads on one multiprocessor in all, and at a time; the microseconds of a block in which it
     * asks for nothing (latency, arithmetic, its beginning and end). 0 blocks: so small that nothing is lost.
     */
    double blocks, resident, wait_us;
    /* More than 0: every block takes so many turns at the resource, each as long as the others', and those
     * that are on the device together begin and end together; a turn of the slowest of them lasts slowest_us.
     */
    double turns, slowest_us;
    /* More than 0: they begin one by one, as there is room, and for so many turns the device waits for the
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

/* A launch whose amounts are 0 but for one start; valid until the next is added. */
kf_work *kf_works_add(kf_works *works, const char *name, double launches);
void kf_works_free(kf_works *works);

/* Bytes of memory that a byte costs, least..1: least where bytes of data, used again and again, are at most
 * half of the last cache, 1 from 1.6 times its size on. cache_bytes 0: unknown, and taken as none. */
double kf_cost_cached(double bytes, double cache_bytes, double least);

/* Blocks that the shared memory of a multiprocessor holds, 227 KiB from compute capability 9.0 on, when each
 * has so many bytes and the KiB that the system keeps of it. */
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

/* Rates of the device: what it does in a second. */
typedef struct kf_ceilings {
    double rate[KF_RESOURCES]; /* bytes, sectors, atomics, instructions, launches a second */
    bool measured;             /* from `kftune roofs`; else estimated from the device's data sheet */
} kf_ceilings;

/* Works out the ceilings; roofs may be NULL. */
void kf_ceilings_from(const kf_device_info *device, const kf_roofs *roofs, kf_ceilings *ceilings);

/* Factors on the time of each resource; 1 before any calibration. */
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

void kf_cost_predict(const kf_works *works, const kf_ceilings *ceilings, const kf_calibration *calibration,
                     kf_prediction *prediction);

/* "DRAM bound at 91 %, atomics 5 %; stream_collide 880 us"; returns buffer. */
char *kf_cost_explain(const kf_prediction *prediction, char *buffer, size_t size);

/* Factors by least squares of the relative error over count predictions made without calibration and the
 * times that were measured; ridge towards 1, so that few measurements and resources that never limit change
 * little. */
void kf_cost_calibrate(const kf_prediction *predictions, const double *measured_us, size_t count,
                       kf_calibration *calibration);

#endif
