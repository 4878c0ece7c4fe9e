/* A system: one family of solver. The harness knows systems only through this table. */
#ifndef KF_BASE_PLAN_SYSTEM_H
#define KF_BASE_PLAN_SYSTEM_H

#include "base/plan/plan.h"
#include "base/space/space.h"
#include "base/space/variables.h"

/* One measure of how far a plan's result is from the reference: "fields", "mass", "force". */
typedef struct kf_deviation {
    char name[24];
    double value; /* NAN: it could not be read from the store */
    double bound; /* largest value that is accepted for this storage type */
} kf_deviation;

/* Velocity deviations are relative to at least this speed in cells a step, because a fluid at rest has no
 * scale of its own. */
#define KF_REST_SPEED 1e-4

/* How far a plan's result is from the reference on the same problem after the same number of steps. */
enum { KF_DEVIATIONS = 8 };
typedef struct kf_verification {
    double error, bound; /* of the first deviation, which is the most important one; NAN: there is none */
    kf_deviation deviations[KF_DEVIATIONS];
    int count;
    int scheme; /* index of the reference's scheme: bounce-back half-way or full-way, 27 or 19 velocities */
    char worst[96]; /* which deviation is largest, and where */
    bool repeated;  /* a second launch began from equal inputs */
    /* If so, how far the second result is from the first, relative; 0: bit for bit the same. */
    double spread;
} kf_verification;

/* Returns the larger of two deviations; NAN when either is NAN, which fmax would hide. */
double kf_worse(double left, double right);

/* Adds a deviation. More than KF_DEVIATIONS are a programming error. */
void kf_verification_add(kf_verification *verification, const char *name, double value, double bound);
/* KF_GATE_FAILED if a deviation exceeds its bound. The message names the one farthest beyond and lists
 * all. */
kf_status kf_verification_judge(const kf_verification *verification, kf_error *error);

typedef struct kf_reference kf_reference;

typedef struct kf_system {
    const char *name;
    const char *summary;
    const char *update; /* the unit that a step updates: "node", "cell", "particle", "item" */
    const char
        *space_file; /* below the data folder: "variants/kinetic.json"; NULL: every problem has its own */

    bool runs;  /* `kftune run` can run it */
    bool teams; /* its plans run on a team of devices; otherwise kf_system_check_team refuses a team */

    /* Top-level keys of a JSON file (NULL-terminated). A file with one of them belongs to this system. NULL:
     * the system runs plain scenes; of all such systems the first that accepts a scene gets it. */
    const char *const *sections;
    /* Set for a system whose problems name programs, which are compiled and run. A file is such a problem if
     * its name has this ending (".t1.json") or the user names the system, whatever its content. NULL:
     * problems bring no programs. */
    const char *program_ending;
    /* A section that the system adds to scenes which other systems run as well (scene/scene.h); NULL:
     * none. */
    const struct kf_scene_section *scene_section;
    /* Opens a source: a file, or the name of a shipped scene (kf_scene_find resolves both). It refuses keys
     * that it does not know. It fills in everything except problem->system. Systems that open scenes in the
     * same way share this function. The caller frees the problem with kf_problem_free. */
    kf_status (*open)(const char *source, const kf_problem_options *options, kf_problem **problem,
                      kf_error *error);
    /* Draws the initial state of a problem as a PNG file, without a device. NULL: problems are described, not
     * drawn. */
    kf_status (*draw)(const kf_problem *problem, const char *path, kf_error *error);
    /* Makes the problem on which configs are verified, small enough for a double precision reference on the
     * host, and the number of steps. It fills in everything except (*small)->system. The caller frees it;
     * problem must outlive it. */
    kf_status (*trial)(const kf_problem *problem, kf_problem **small, int *steps, kf_error *error);

    /* KF_BAD_INPUT when this system cannot run this problem, which its open made. */
    kf_status (*accepts)(const kf_problem *problem, kf_error *error);
    /* KF_MACHINE when this device cannot run the problem. NULL: every device can. */
    kf_status (*accepts_device)(const kf_problem *problem, const kf_device_info *device, kf_error *error);
    void (*variables)(const kf_problem *problem, const kf_device_info *device, kf_variables *variables);

    /* Visits named numbers of the problem, other than its facts, that the user's metrics may use. NULL:
     * none. */
    void (*numbers)(const kf_problem *problem, void (*visit)(void *context, const char *name, double value),
                    void *context);

    /* Builds the plan: compiles, allocates, uploads. The plan is not initialised, and the problem must
     * outlive it. A config that this device cannot run (too many threads, out of memory) is KF_MACHINE with
     * the reason. */
    kf_status (*plan)(const kf_problem *problem, const kf_config *config, kf_backend *backend, kf_plan **plan,
                      kf_error *error);
    /* Visits the sources that `plan` would compile, so that they can be compiled ahead of time. */
    kf_status (*sources)(const kf_problem *problem, const kf_config *config, const kf_device_info *device,
                         kf_status (*visit)(const kf_source *source, void *data, kf_error *error), void *data,
                         kf_error *error);

    /* Computes the solution after `steps` on the host in double precision, by separate, unfused steps. It is
     * computed once and reused. */
    kf_status (*reference)(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error);
    /* Compares the plan's state, which has advanced exactly as many steps, with the reference.
     * KF_GATE_FAILED, with the deviation in the message, if it is out of bounds. *verification is filled in
     * either way. */
    kf_status (*verify)(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                        kf_error *error);
    void (*free_reference)(kf_reference *reference);
    /* Called after the plan of the whole problem was timed at step_us microseconds a step. It checks that the
     * plan's result is still right, that it takes as long as was measured, and no less than this machine
     * needs. KF_GATE_FAILED says what is wrong. NULL: kf_trial_recheck checks it. */
    kf_status (*recheck)(kf_plan *plan, const kf_reference *reference, double step_us, kf_error *error);
    /* Called on the device before any config is verified: checks that the reference is usable. NULL: the
     * reference is computed on the host, and no check is needed. */
    kf_status (*examine)(const kf_problem *problem, kf_backend *backend, kf_error *error);

    /* Further parts of a system; NULL: it has none. */
    const struct kf_cost_methods *cost; /* a cost model (cost_model/model.h) */
    const struct kf_case *cases;        /* flows with a known answer (solver/validation/validation.h) */
    /* Additions to suites of fixed comparisons (base/record/suite_system.h). */
    const struct kf_suite_system *suite;
} kf_system;

/* Checks a config from a file against the space of the device that it is for. KF_BAD_INPUT names what the
 * space does not contain. Names of former parameters are updated first, with a note to the user
 * (kf_space_update). */
kf_status kf_problem_check_config(const kf_problem *problem, const kf_device_info *device, kf_config *config,
                                  kf_error *error);

/* KF_BAD_INPUT if the device is a team and the system does not run on teams. */
kf_status kf_system_check_team(const kf_system *system, const kf_device_info *device, kf_error *error);

/* Writes a rate: "18280.3 MLUPS" for nodes, "1030.2 M particles/s" for other units. update: the system's
 * unit. Returns buffer. */
enum { KF_RATE_TEXT = 80 };
char *kf_rate_text(const char *update, double updates_per_second, char buffer[KF_RATE_TEXT]);
/* Writes the heading of a column of such rates: "MLUPS", "M particles/s". Returns buffer. */
char *kf_rate_unit(const char *update, char buffer[KF_RATE_TEXT]);
/* Adds the rate to JSON: updates_per_second, update, and for nodes mlups. */
void kf_rate_add(cJSON *object, const char *update, double updates_per_second);

/* Adds the variables that every space may use: multiprocessors, simd_width, memory_bytes. */
void kf_add_device_variables(kf_variables *variables, const kf_device_info *device);

/* Makes the space of a problem's configs on a device. fixed: as for kf_space_open. The caller frees the
 * space. */
kf_status kf_problem_space(const kf_problem *problem, const kf_device_info *device, const char *const *fixed,
                           int fixed_count, kf_space **space, kf_error *error);

#endif
