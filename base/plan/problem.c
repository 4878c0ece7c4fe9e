#include "base/plan/problem.h"

#include <stdlib.h>

#include "base/util/memory.h"

kf_problem_options kf_problem_options_of(const kf_facts *facts, uint64_t seed) {
    kf_problem_options options = {.seed = seed};
    (void)kf_facts_get_size(facts, options.nodes);
    const double samples = kf_facts_value(facts, "samples_per_cell");
    const double accuracy = kf_facts_value(facts, "accuracy");
    /* Scenes without samples have a number for each cell, too, which their system refuses as an option. */
    const bool sampled =
        kf_facts_find(facts, "link_count") == NULL && kf_facts_value(facts, "sample_count") != 0.0;
    if (samples > 0 && sampled) options.samples_per_cell = samples;
    if (accuracy > 0) options.accuracy = accuracy;
    return options;
}

kf_problem *kf_problem_make(void *own, void (*free_own)(void *own)) {
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    problem->own = own;
    problem->free_own = free_own;
    return problem;
}

void kf_problem_free(kf_problem *problem) {
    if (problem == NULL) return;
    if (problem->free_own != NULL) problem->free_own(problem->own);
    kf_facts_free(&problem->facts);
    kf_text_free(&problem->notes);
    free(problem);
}
