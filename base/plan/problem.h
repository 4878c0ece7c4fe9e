/* A problem: what is run, as everybody except its system sees it. The system opens it, gives it facts, and
 * alone looks inside. */
#ifndef KF_BASE_PLAN_PROBLEM_H
#define KF_BASE_PLAN_PROBLEM_H

#include <stdint.h>

#include "base/plan/facts.h"
#include "base/util/file.h"
#include "base/util/hash.h"
#include "base/util/text.h"

struct kf_system;
struct kf_scene_section;

typedef struct kf_problem {
    char name[128];         /* the file's name without folder and ending; output files begin with it */
    char source[KF_PATH];   /* the file, or the name of a shipped scene, from which it can be opened again */
    char hash[KF_HASH_HEX]; /* of everything that affects the result */
    uint64_t seed;          /* of its random numbers */
    kf_facts facts;
    kf_text notes; /* one line for each default that was chosen for the user, to be printed */
    const struct kf_system *system;
    const struct kf_scene_section *const *sections; /* with which it was opened (kf_problem_options) */
    void *own;                   /* the system's: a kf_scene for flows (solver/flow/flow_problem.h) */
    void (*free_own)(void *own); /* NULL: own belongs to somebody else */
} kf_problem;

/* Bounds of the samples for each cell^2 of a solid's surface. */
#define KF_LEAST_SAMPLES_PER_CELL 1.0
#define KF_MOST_SAMPLES_PER_CELL  1000.0

/* Options that the user may give besides the source. 0: as the source says. A system refuses, in its open, an
 * option that it does not use. */
typedef struct kf_problem_options {
    int nodes[3]; /* nodes, cells or particle spacings along each axis, whichever the system uses */
    double samples_per_cell; /* of a solid's surface */
    double accuracy;         /* relative error that storage may add to the fields */
    uint64_t seed;
    /* Sections of systems that the scene's file may have (kf_system.scene_section of each), NULL-terminated;
     * NULL: none but those of the system that opens it. */
    const struct kf_scene_section *const *sections;
    /* Returns the bytes of memory of the devices that will run it (kf_scene_options). NULL: it is not asked
     * for. */
    double (*memory)(const void *context);
    const void *memory_context;
    /* A file that replaces the problem's own kernel (system t1) and is judged in its place; NULL: none. */
    const char *candidate;
} kf_problem_options;

/* Returns the options with which the source opens as the problem that has these facts (size_x, size_y,
 * size_z, samples_per_cell, accuracy) and this seed. */
kf_problem_options kf_problem_options_of(const kf_facts *facts, uint64_t seed);

/* Makes a problem, zeroed, with this content. free_own frees the content; NULL: it belongs to somebody
 * else. */
kf_problem *kf_problem_make(void *own, void (*free_own)(void *own));
/* Frees the problem, and its content unless that belongs to somebody else. NULL is fine. */
void kf_problem_free(kf_problem *problem);

#endif
