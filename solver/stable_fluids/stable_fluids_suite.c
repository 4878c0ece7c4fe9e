/* Scenes of suites that are another scene of stable_fluids with something changed. */
#include <string.h>

#include "base/record/suite_system.h"
#include "solver/stable_fluids/stable_fluids.h"

static kf_status change(const kf_problem *from, const cJSON *changes, kf_json_place place,
                        const kf_device_info *device, kf_problem **changed, char reason[256],
                        kf_error *error) {
    static const char *const keys[] = {"without_particles", NULL};
    bool without_particles = false;
    (void)device, reason[0] = '\0';
    KF_TRY(kf_json_check_keys(place, changes, keys, error));
    KF_TRY(kf_json_boolean(place, changes, "without_particles", false, &without_particles, error));
    kf_fluid *fluid = kf_fluid_copy(kf_problem_fluid(from));
    if (without_particles) fluid->particle_count = 0;
    kf_fluid_finish(fluid);
    *changed = kf_fluid_problem(fluid, true);
    (*changed)->system = from->system;
    return KF_OK;
}

const kf_suite_system kf_stable_fluids_suite = {.change = change};
