/* A problem: what is run, as far as anybody but its system cares. The system opens it, gives it facts, and
 * alone looks inside. */
#ifndef KF_BASE_PLAN_PROBLEM_H
#define KF_BASE_PLAN_PROBLEM_H

#include <stdint.h>

#include "base/plan/facts.h"
#include "base/util/file.h"
#include "base/util/hash.h"

struct kf_system;
struct kf_scene_section;

typedef struct kf_problem {
    char name[128];         /* of its file without folder and endings; names output files */
    char source[KF_PATH];   /* the file, or the shipped scene's name: opens it again */
    char hash[KF_HASH_HEX]; /* of everything that changes the result */
    uint64_t seed;          /* of what is random in it */
    kf_facts facts;
    char *notes; /* newline-separated: every default that was chosen for the user, to be printed; or NULL */
    const struct kf_system *system;
    const struct kf_scene_section *const *sections; /* with which it was opened (kf_problem_options) */
    void *own;                   /* the system's: a kf_scene for flows (solver/flow/flow_problem.h) */
    void (*free_own)(void *own); /* NULL: own belongs to somebody else */
} kf_problem;

/* Samples of a solid's surface in a cell^2 of it. */
#define KF_LEAST_SAMPLES_PER_CELL 1.0
#define KF_MOST_SAMPLES_PER_CELL  1000.0

/* Options that the user may give a problem besides its source. 0: as the source says. A system that has no
 * use for one that is given refuses it in its open. */
typedef struct kf_problem_options {
    int nodes[3]; /* what the system lays over the domain: nodes, cells or particle spacings along each axis
                   */
    double samples_per_cell; /* of a solid's surface */
    double accuracy;         /* relative error that storage may add to the fields */
    uint64_t seed;
    /* Sections of systems that the scene's file may have (kf_system.scene_section of each), NULL-terminated;
     * NULL: none but those of the system that opens it. */
    const struct kf_scene_section *const *sections;
    /* Returns the bytes of memory of the devices that are to run it (kf_scene_options); NULL: not asked. */
    double (*memory)(const void *context);
    const void *memory_context;
    const char *candidate; /* a file that takes the place of a kernel's own (system t1), to be judged by it;
                            * NULL: none */
} kf_problem_options;

/* The options with which a source opens as the problem that has these facts (size_x, size_y, size_z,
 * samples_per_cell, accuracy) and this seed. */
kf_problem_options kf_problem_options_of(const kf_facts *facts, uint64_t seed);

/* Zeroed, with this inside; free_own as above. */
kf_problem *kf_problem_make(void *own, void (*free_own)(void *own));
/* With what is inside, unless that belongs to somebody else; NULL is fine. */
void kf_problem_free(kf_problem *problem);

#endif
