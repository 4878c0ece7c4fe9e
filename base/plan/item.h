/* An item: one thing that a step does. */
#ifndef KF_BASE_PLAN_ITEM_H
#define KF_BASE_PLAN_ITEM_H

#include "base/backend/backend.h"

typedef enum kf_item_kind {
    KF_ITEM_KERNEL,
    KF_ITEM_CALL,   /* the work of a library: cuFFT, CUB, NCCL; on the cpu FFTW */
    KF_ITEM_COPY,   /* between buffers, also of two parts */
    KF_ITEM_SIGNAL, /* signals a mark once the earlier work of its lane is done */
    KF_ITEM_AWAIT   /* makes the later work of its lane wait for the latest signal of the mark before it */
} kf_item_kind;

/* A library call. It is captured in a graph, timed by events around it and counted as one range. */
typedef struct kf_call {
    kf_call_function *enqueue;
    void *object;     /* passed to enqueue; it outlives the plan's last step */
    char version[48]; /* "cuFFT 12.0.0": part of the plan's hash */
    int kernels;      /* kernels that it launches; 0: not known */
} kf_call;

typedef struct kf_item {
    kf_item_kind kind;
    char name[48]; /* its row in the table of kernels; items of one name share a row */
    int part;      /* index of the plan's device that does it */
    /* In a graph, the first item of another lane waits for the earlier items of the main lane. Later items of
     * the main lane do not wait for that lane, until one whose `joins` is set, or the end of the step.
     * Without a graph, items run one after the other. */
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
/* Returns whether the item is a kernel with an empty extent. */
bool kf_item_is_empty(const kf_item *item);

#endif
