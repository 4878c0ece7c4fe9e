/* One thing that a step does. */
#ifndef KF_BASE_PLAN_ITEM_H
#define KF_BASE_PLAN_ITEM_H

#include "base/backend/backend.h"

typedef enum kf_item_kind {
    KF_ITEM_KERNEL,
    KF_ITEM_CALL,   /* a library's work: cuFFT, CUB, NCCL; FFTW on the cpu */
    KF_ITEM_COPY,   /* between buffers, also of two parts */
    KF_ITEM_SIGNAL, /* of a mark, when what its lane was given before is done */
    KF_ITEM_AWAIT   /* what its lane is given after it waits for the mark's latest signal before it */
} kf_item_kind;

/* Put into a graph like everything else, timed by the events around it, counted as one range. */
typedef struct kf_call {
    kf_call_function *enqueue;
    void *object;     /* handed to it; outlives the plan's last step */
    char version[48]; /* "cuFFT 12.0.0": of what enters the plan's hash */
    int kernels;      /* that it starts, as far as that is known; 0: not known */
} kf_call;

typedef struct kf_item {
    kf_item_kind kind;
    char name[48]; /* a row of the kernel table: equal names share it */
    int part;      /* of the plan's devices */
    /* In a graph what begins another lane than the main one waits for what that was given before it, but what
     * comes after on the main lane does not wait for it, until an item there that joins, or the end. One by
     * one, items follow each other. */
    int lane; /* KF_LANE_MAIN, KF_LANE_ASIDE, KF_LANE_BESIDE, KF_LANE_AHEAD */
    bool joins;
    int period, phase; /* due at the steps t with t % period == phase; 0 <= phase < period */
    double bytes;      /* least device-memory traffic, for GB/s; 0: not defined */
    double flops;      /* 0: not defined */
    union {
        kf_launch *kernel; /* owned by the plan */
        kf_call call;
        kf_copy copy;
        kf_mark *mark; /* owned by the plan */
    };
} kf_item;

/* Returns whether the item is due at that step. */
bool kf_item_is_due(const kf_item *item, uint64_t step);
/* Returns whether the item takes time of its own and has a row in the kernel table: all but signals and
 * awaits. */
bool kf_item_is_work(const kf_item *item);
/* A kernel without anything to do. */
bool kf_item_is_empty(const kf_item *item);

#endif
