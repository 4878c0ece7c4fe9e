/* The scenes of the suite `step`. All but the small ones are the main scene with one thing changed, and share
 * its samples. Internal to harness/bench. */
#ifndef KF_HARNESS_BENCH_STEP_SCENES_H
#define KF_HARNESS_BENCH_STEP_SCENES_H

#include "base/plan/trial.h"
#include "harness/bench/bench.h"
#include "scene/scene.h"

typedef enum kf_step_scene_id {
    KF_STEP_MAIN,     /* static Ahmed body, ACM-MRT, inflow and outflow */
    KF_STEP_BGK,      /* the same with BGK, and viscosity enough for it to be stable */
    KF_STEP_ONES,     /* the same as the first with all high-order rates 1 */
    KF_STEP_EMPTY,    /* the first without the body */
    KF_STEP_ROTATING, /* the body in the middle of the domain, rolling about its length: a turn in 500 steps
                       */
    KF_STEP_ODD,      /* a few nodes more or less along every axis: no multiples of 32 */
    KF_STEP_WIDE,     /* more than 2^31 values of populations: 64-bit indices */
    KF_STEP_CAPACITY, /* 1000^3 nodes */
    KF_STEP_DENSE,    /* the body scaled until a cell has 25 to 35 samples, in a domain that just holds it */
    KF_STEP_CACHED,   /* no body, both grids fit into the last-level cache */
    KF_STEP_SMALL,    /* 96^3 nodes */
    KF_STEP_TINY,     /* 32^3 nodes */
    KF_STEP_SCENES
} kf_step_scene_id;

enum { KF_STEP_TURN = 500 };

typedef struct kf_step_scene {
    kf_scene *scene;              /* NULL: not made, see reason */
    kf_problem *problem;          /* of the scene */
    kf_step_scene_id verified_as; /* the scene whose trial holds for this one */
    kf_trial trial;               /* its reference is made by kf_step_reference */
    char reason[256];
    struct {
        double *x, *y, *z, *area, *vertices;
    } own;       /* what it does not share with the main scene */
    bool opened; /* from a file, not made from the main scene */
} kf_step_scene;

typedef struct kf_step_scenes {
    const kf_system *system;
    const kf_device_info *device;
    bool gpu;
    kf_step_scene list[KF_STEP_SCENES];
} kf_step_scenes;

/* Makes the main scene and the wanted ones (bits). A scene that this device cannot hold gets a reason
 * instead.
 */
kf_status kf_step_scenes_open(kf_step_scenes *scenes, const kf_device_info *device,
                              const kf_bench_options *options, unsigned wanted, kf_error *error);
void kf_step_scenes_close(kf_step_scenes *scenes);

/* Makes the reference that the scene is verified against, if it is not there yet. */
kf_status kf_step_reference(kf_step_scenes *scenes, kf_step_scene_id id, kf_error *error);

/* Samples over the cells that hold any. */
double kf_step_samples_per_cell(const kf_scene *scene);

#endif
