/* Opens problems of scenes that a test writes itself. */
#ifndef KF_TESTS_UNIT_PROBLEM_FIXTURE_H
#define KF_TESTS_UNIT_PROBLEM_FIXTURE_H

#include <stdint.h>

#include "solver/flow/flow_problem.h"

/* Returns the problem of a scene, without facts. The scene stays the test's. The problem is valid until
 * many more were asked for. */
static inline const kf_problem *problem_of(const kf_system *system, const kf_scene *scene) {
    enum { MOST = 64 };
    static kf_problem problems[MOST];
    static int next;
    kf_problem *problem = &problems[next++ % MOST];
    *problem = (kf_problem){.system = system, .own = (void *)(uintptr_t)scene};
    return problem;
}

#endif
