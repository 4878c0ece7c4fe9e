#include "solver/compare/comparisons.h"

#include "solver/incompressible/incompressible.h"
#include "solver/stable_fluids/stable_fluids.h"
#include "solver/systems.h"

typedef struct comparison {
    /* The system of the case. */
    const kf_system *system;
    kf_case one;
} comparison;

static const comparison comparisons[] = {
    {&kf_system_stable_fluids,
     {"sf_cylinder", "drag of a cylinder at Reynolds number 40, beside d2q9's", true, kf_case_cylinder, 0}},
    {&kf_system_incompressible,
     {"incompressible-wake", "the wake of a ball beside the kinetic solver's: energy over wavelengths", true,
      kf_case_wake, 0}},
    {&kf_system_incompressible,
     {"incompressible-beside",
      "drag of a sphere beside the kinetic solver's on the same grid, by length of step", true,
      kf_case_beside, 0}},
};

static int add_cases(const kf_system *system, const kf_case *list[KF_MOST_CASES], int count) {
    for (const kf_case *one = system->cases; one != NULL && one->name != NULL && count < KF_MOST_CASES; one++)
        list[count++] = one;
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons && count < KF_MOST_CASES; i++)
        if (comparisons[i].system == system) list[count++] = &comparisons[i].one;
    return count;
}

int kf_cases_of(const kf_system *system, const kf_case *list[KF_MOST_CASES]) {
    return add_cases(system, list, 0);
}

int kf_cases_of_all(const kf_case *list[KF_MOST_CASES]) {
    int count = 0;
    for (int s = 0; kf_systems[s] != NULL; s++)
        count = add_cases(kf_systems[s], list, count);
    return count;
}
