/* What the suite `step` times: for each row of a table the fastest of a few named configs on one of its
 * scenes. Internal to harness/bench. */
#ifndef KF_HARNESS_BENCH_STEP_TIMINGS_H
#define KF_HARNESS_BENCH_STEP_TIMINGS_H

#include "base/record/measurement.h"
#include "base/space/space.h"
#include "harness/bench/step_scenes.h"
#include "scene/scene.h"

typedef enum kf_step_time {
    KF_TIME_F32,
    KF_TIME_F16,
    KF_TIME_IN_PLACE,
    KF_TIME_MOMENTS,
    KF_TIME_PAPER,
    KF_TIME_BASELINE,
    KF_TIME_BGK,
    KF_TIME_EMPTY,
    KF_TIME_ROTATING,
    KF_TIME_ODD,
    KF_TIME_DENSE,
    KF_TIME_CACHED,
    KF_TIME_SMALL,
    KF_TIME_SMALL_LAUNCHES,
    KF_TIME_TINY,
    KF_TIME_TINY_LAUNCHES,
    KF_TIME_WIDE,
    KF_TIME_CAPACITY,
    KF_TIMES /* none */
} kf_step_time;

/* A config to try: values of parameters that replace those of a preset. */
enum { KF_STEP_OVERRIDES = 6, KF_STEP_ALL_OVERRIDES = 5 * KF_STEP_OVERRIDES };
typedef struct kf_step_candidate {
    const char *name;
    bool gpu_only;
    const char *flow[KF_STEP_OVERRIDES];  /* "parameter=value", ends with NULL */
    const char *solid[KF_STEP_OVERRIDES]; /* the same, only for scenes with a static body */
} kf_step_candidate;

/* A row of the table. */
typedef struct kf_step_plan {
    const char *name;
    kf_step_scene_id scene;
    const char *preset;
    const char *common[KF_STEP_OVERRIDES]; /* of every candidate */
    const kf_step_candidate *candidates;   /* ends with a name of NULL */
    kf_step_time follows; /* the overrides of this one's best candidate come first; KF_TIMES: none's */
    bool single_launches; /* without graphs */
    bool slow;            /* too slow for many samples */
} kf_step_plan;

/* [KF_TIMES], in the order in which they are measured. */
extern const kf_step_plan kf_step_plans[];

enum { KF_STEP_CANDIDATES = 20, KF_STEP_SAMPLES = 50 };

/* How a candidate did. */
typedef struct kf_step_try {
    const kf_step_candidate *candidate;
    kf_config config;
    bool in_space;
    size_t ticket;    /* of the builder */
    double step_us;   /* NAN: not timed, see reason */
    char reason[320]; /* the space has no such value, or what became of the config */
} kf_step_try;

typedef struct kf_step_timing {
    kf_step_try tries[KF_STEP_CANDIDATES];
    int try_count;
    int best;                   /* of tries; -1: none, see reason */
    kf_measurement measurement; /* of the best */
    char reason[320];
    bool wrong; /* a candidate failed the gate */
} kf_step_timing;

/* The wanted ones and those that they follow (bits). */
uint64_t kf_step_needs(uint64_t wanted);

/* Compiles, verifies and times the wanted ones (bits): timings[KF_TIMES]. What is not available or fails is
 * no error: the timing says why. */
kf_status kf_step_time_all(kf_step_scenes *scenes, uint64_t wanted, kf_step_timing *timings, kf_error *error);
void kf_step_timings_free(kf_step_timing *timings);

/* What a candidate overrides on a scene, after what it takes over from the leader (may be NULL); returns the
 * count. */
int kf_step_overrides(const kf_step_plan *plan, const kf_step_candidate *leader,
                      const kf_step_candidate *candidate, const kf_scene *scene,
                      const char *list[KF_STEP_ALL_OVERRIDES]);
/* The preset with values replaced: overrides as "parameter=value". False, with the reason in one line, when
 * the space lacks a parameter or a value, or a constraint is against it. */
bool kf_step_configure(const kf_space *space, const char *preset, const char *const *overrides, int count,
                       kf_config *config, char *reason, size_t reason_size);

#endif
