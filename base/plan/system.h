/* A system: one family of solver. The harness knows systems only through this table. */
#ifndef KF_BASE_PLAN_SYSTEM_H
#define KF_BASE_PLAN_SYSTEM_H

#include "base/plan/plan.h"
#include "base/space/space.h"
#include "base/space/variables.h"

/* One way in which a plan's result is off the reference: "fields", "mass", "force". */
typedef struct kf_deviation {
    char name[24];
    double value; /* NAN: lost */
    double bound; /* what is accepted for this storage type */
} kf_deviation;

/* Deviations of a velocity are relative to at least this speed, in cells a step: a fluid at rest has no
 * scale. */
#define KF_REST_SPEED 1e-4

/* How far a plan's result is from the reference on the same problem after the same number of steps. */
enum { KF_DEVIATIONS = 8 };
typedef struct kf_verification {
    double error, bound; /* of the first deviation, which says most; NAN: it was not reached */
    kf_deviation deviations[KF_DEVIATIONS];
    int count;
    int scheme; /* which of the system's schemes it was held to: bounce-back half-way or full-way, 27 or 19
                   velocities */
    char worst[96]; /* where and what the largest deviation is */
    bool repeated;  /* a second launch began from equal inputs */
    double spread;  /* where it did: how far its results are from the first's, relative; 0: bit for bit the
                     * same */
} kf_verification;

/* Adds one; more than KF_DEVIATIONS are a programming error. */
void kf_verification_add(kf_verification *verification, const char *name, double value, double bound);
/* NAN: there is none of this name. */
double kf_verification_value(const kf_verification *verification, const char *name);
/* KF_GATE_FAILED that names the deviation farthest beyond its bound, and lists all. */
kf_status kf_verification_judge(const kf_verification *verification, kf_error *error);

typedef struct kf_reference kf_reference;

typedef struct kf_system {
    const char *name;
    const char *summary;
    const char *update; /* what a step updates and is counted by: "node", "cell", "particle", "item" */
    const char
        *space_file; /* below the data folder: "variants/kinetic.json"; NULL: every problem has its own */

    bool runs; /* there is something to run: `kftune run` */
    bool
        teams; /* its plans run on a team of devices; else on the first, which kf_system_check_team refuses */

    /* Top-level keys of a JSON file, any of which makes it this system's (NULL-terminated). NULL: the system
     * runs scenes as they are, and takes part in the choice of the first that accepts one. */
    const char *const *sections;
    /* Problems of such a system name programs, which are compiled and run. A file is one by how its name
     * ends (".t1.json"), or where the user names the system, never by what is in it. NULL: problems run
     * nothing that they bring. */
    const char *program_ending;
    /* A section that the system adds to scenes which others run too (scene/scene.h); NULL: none. */
    const struct kf_scene_section *scene_section;
    /* Opens a source: a file, or the name of a shipped scene (kf_scene_find resolves both). Every key of the
     * file is known or refused. Fills everything but problem->system. Systems that open a scene alike share
     * this function. The caller frees with kf_problem_free. */
    kf_status (*open)(const char *source, const kf_problem_options *options, kf_problem **problem,
                      kf_error *error);
    /* Draws what a problem begins with, as a PNG file, without a device. NULL: it is described, not drawn. */
    kf_status (*draw)(const kf_problem *problem, const char *path, kf_error *error);
    /* The problem on which its configs are verified, small enough for a double precision reference on the
     * host, and for how many steps. Fills everything but (*small)->system. The caller frees it; problem
     * outlives it. */
    kf_status (*trial)(const kf_problem *problem, kf_problem **small, int *steps, kf_error *error);

    /* KF_BAD_INPUT when this system cannot run this problem, which its open made. */
    kf_status (*accepts)(const kf_problem *problem, kf_error *error);
    /* KF_MACHINE when it cannot run it on this device; NULL: where a problem runs it runs everywhere. */
    kf_status (*accepts_device)(const kf_problem *problem, const kf_device_info *device, kf_error *error);
    void (*variables)(const kf_problem *problem, const kf_device_info *device, kf_variables *variables);

    /* Visits named numbers of the problem, besides its facts, that the user's metrics may use. NULL: none. */
    void (*numbers)(const kf_problem *problem, void (*visit)(void *context, const char *name, double value),
                    void *context);

    /* Builds the plan: compiles, allocates, uploads; not yet initialised. The problem outlives it. A config
     * that cannot run on this device (too many threads, out of memory) fails with KF_MACHINE and the reason.
     */
    kf_status (*plan)(const kf_problem *problem, const kf_config *config, kf_backend *backend, kf_plan **plan,
                      kf_error *error);
    /* The sources that plan would compile, for building ahead. */
    kf_status (*sources)(const kf_problem *problem, const kf_config *config, const kf_device_info *device,
                         kf_status (*visit)(const kf_source *source, void *data, kf_error *error), void *data,
                         kf_error *error);

    /* The double precision, unsplit, unfused host solution of the problem after steps, computed once and
     * reused. */
    kf_status (*reference)(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error);
    /* Compares the plan's state (which has advanced exactly as many steps) with the reference. A plan that is
     * out of bounds is KF_GATE_FAILED with the deviation in the message; *verification is filled in either
     * case. */
    kf_status (*verify)(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                        kf_error *error);
    void (*free_reference)(kf_reference *reference);
    /* After the plan of the whole problem was timed, with step_us a step: whether what it does now is still
     * right, takes as long as was measured, and no less than this machine can. KF_GATE_FAILED says what is
     * wrong. NULL: kf_trial_recheck judges. */
    kf_status (*recheck)(kf_plan *plan, const kf_reference *reference, double step_us, kf_error *error);
    /* Before any config is verified, on the device: whether the reference is of any use. NULL: it is made on
     * the host. */
    kf_status (*examine)(const kf_problem *problem, kf_backend *backend, kf_error *error);

    /* These are further parts that it brings; NULL: nothing. */
    const struct kf_cost_methods *cost;  /* a cost model (cost_model/model.h) */
    const struct kf_case *cases;         /* flows with a known answer (solver/validation/validation.h) */
    const struct kf_suite_system *suite; /* to suites of fixed comparisons (base/record/suite_system.h) */
} kf_system;

/* A config that comes from a file is held against the space of the device that it was made for: KF_BAD_INPUT
 * with what it has that the space has not. Names of parameters that another version had are brought up to
 * date before, with a note to the user (kf_space_update). */
kf_status kf_problem_check_config(const kf_problem *problem, const kf_device_info *device, kf_config *config,
                                  kf_error *error);

/* KF_BAD_INPUT where device is a team and the system runs on one device alone. */
kf_status kf_system_check_team(const kf_system *system, const kf_device_info *device, kf_error *error);

/* "18280.3 MLUPS" of nodes, "1030.2 M particles/s" of others; update: kf_system.update. Returns buffer. */
enum { KF_RATE_TEXT = 80 };
char *kf_rate_text(const char *update, double updates_per_second, char buffer[KF_RATE_TEXT]);
/* "MLUPS", "M particles/s": what a column of such rates is headed by. Returns buffer. */
char *kf_rate_unit(const char *update, char buffer[KF_RATE_TEXT]);
/* Adds the rate for machines: updates_per_second, update, and mlups of nodes. */
void kf_rate_add(cJSON *object, const char *update, double updates_per_second);

/* Adds what every system's space may ask of the device: multiprocessors, simd_width, memory_bytes. */
void kf_add_device_variables(kf_variables *variables, const kf_device_info *device);

/* The space of a problem's configs on a device; fixed: as for kf_space_open. The caller frees it. */
kf_status kf_problem_space(const kf_problem *problem, const kf_device_info *device, const char *const *fixed,
                           int fixed_count, kf_space **space, kf_error *error);

#endif
