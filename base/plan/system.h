/* A system: one family of solver. The harness knows systems only through this table. */
#ifndef KF_BASE_PLAN_SYSTEM_H
#define KF_BASE_PLAN_SYSTEM_H

#include "base/plan/plan.h"
#include "base/space/variables.h"

/* How far a plan's result is from the reference on the same scene after the same number of steps. */
typedef struct kf_verification {
    double error;      /* relative L2 of velocity and density deviation, the larger */
    double bound;      /* accepted for this storage type */
    double mass_drift; /* |mass - mass of the reference| / mass */
    double load_error; /* relative, of force and torque on the solid; 0 without a solid */
    char worst[96];    /* where and what the largest deviation is */
} kf_verification;

typedef struct kf_reference kf_reference;

typedef struct kf_system {
    const char *name;
    const char *summary;
    const char
        *space_file; /* below the data folder: "variants/kinetic.json"; NULL: every scene has its own */

    /* For systems that work on something else than a flow: makes the scene that stands for it from a file
     * (option
     * --problem), and the one on which its configs are verified. NULL: a scene is a flow, and is reduced. The
     * caller frees both with kf_scene_free. */
    kf_status (*open_problem)(const char *file, kf_scene **scene, kf_error *error);
    kf_status (*reduce_problem)(const kf_scene *scene, kf_scene **reduced, kf_error *error);

    /* KF_BAD_INPUT when this system cannot run this scene. */
    kf_status (*accepts)(const kf_scene *scene, kf_error *error);
    /* KF_MACHINE when it cannot run it on this device; NULL: where a scene runs it runs everywhere. */
    kf_status (*accepts_device)(const kf_scene *scene, const kf_device_info *device, kf_error *error);
    void (*variables)(const kf_scene *scene, const kf_device_info *device, kf_variables *variables);

    /* Builds the plan: compiles, allocates, uploads; not yet initialised. A config that cannot run on this
     * device (too many threads, out of memory) fails with KF_MACHINE and the reason. */
    kf_status (*plan)(const kf_scene *scene, const kf_config *config, kf_backend *backend, kf_plan **plan,
                      kf_error *error);
    /* The sources that plan would compile, for building ahead; at most limit, *count gets how many. */
    kf_status (*sources)(const kf_scene *scene, const kf_config *config, const kf_device_info *device,
                         kf_status (*visit)(const kf_source *source, void *data, kf_error *error), void *data,
                         kf_error *error);

    /* The double precision, unsplit, unfused host solution of scene after steps, computed once and reused. */
    kf_status (*reference)(const kf_scene *scene, int steps, kf_reference **reference, kf_error *error);
    /* Compares the plan's state (which has advanced exactly as many steps) with the reference. A plan that is
     * out of bounds is KF_GATE_FAILED with the deviation in the message; *verification is filled in either
     * case. */
    kf_status (*verify)(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                        kf_error *error);
    void (*free_reference)(kf_reference *reference);
} kf_system;

#endif
