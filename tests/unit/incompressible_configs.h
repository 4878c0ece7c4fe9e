/* Configs of the incompressible system, for its tests. */
#ifndef KF_TESTS_UNIT_INCOMPRESSIBLE_CONFIGS_H
#define KF_TESTS_UNIT_INCOMPRESSIBLE_CONFIGS_H

#include "tests/unit/plan_fixture.h"

#include "solver/incompressible/incompressible.h"
#include "solver/systems.h"
#include "tests/unit/config_changes.h"
#include "tests/unit/problem_fixture.h"

static const kf_system *const incompressible = &kf_system_incompressible;

/* Returns the default config with changes, "NAME=VALUE NAME=VALUE". */
static inline kf_config configure(const kf_scene *scene, const char *changes) {
    kf_error error = {0};
    kf_config config;
    kf_variables variables;
    kf_space *space;
    incompressible->variables(problem_of(incompressible, scene), kf_backend_device(backend), &variables);
    must(kf_space_open(incompressible->name, incompressible->space_file, &variables, NULL, 0, &space, &error),
         &error);
    must(kf_space_preset(space, "default", &config, &error), &error);
    change_config_within(space, &config, changes);
    kf_space_free(space);
    return config;
}

#endif
