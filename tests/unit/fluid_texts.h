/* Scenes of stable_fluids as texts, for tests. */
#ifndef KF_TESTS_UNIT_FLUID_TEXTS_H
#define KF_TESTS_UNIT_FLUID_TEXTS_H

#include "tests/unit/scene_files.h"
#include "tests/unit/stable_fluids_support.h"

static inline kf_fluid *open_text(const char *text) {
    static const int as_said[3];
    kf_error error = {KF_OK, ""};
    kf_fluid *f = NULL;
    if (kf_fluid_open(write_text("box.json", text), as_said, &f, &error) != KF_OK)
        fail_msg("%s", error.message);
    return f;
}

/* Cells of 0.25 m, steps of 0.1 s: 1 m/s is 0.4 cells a step, 1 m/s^2 0.04 cells a step^2. */
#define FLAT  "\"domain\": {\"cells\": [16, 12], \"length\": 4}, \"flow\": {\"time_step\": 0.1"
#define PLAIN "\"stable_fluids\": {}, " FLAT "}"

#endif
