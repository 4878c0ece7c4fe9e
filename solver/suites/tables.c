/* What each system brings to suites; systems that are not here bring nothing. */
#include "solver/suites/suite_system.h"

static const kf_suite_system kinetic = {.system = "kinetic",
                                        .change = kf_flow_change,
                                        .adjust_trial = kf_flow_adjust_trial,
                                        .kinds = kf_kinetic_figure_kinds};
static const kf_suite_system d2q9 = {
    .system = "d2q9", .change = kf_flow_change, .kinds = kf_d2q9_figure_kinds};

static const kf_suite_system stable_fluids = {.system = "stable_fluids", .change = kf_fluid_change};

static const kf_suite_system incompressible = {
    .system = "incompressible", .change = kf_incompressible_change, .kinds = kf_incompressible_figure_kinds};

const kf_suite_system *const kf_suite_systems[] = {&kinetic, &d2q9, &stable_fluids, &incompressible, NULL};
