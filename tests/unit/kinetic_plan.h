/* A plan of the kinetic system on a shipped scene, as `kftune run` would make it. */
#ifndef KF_TESTS_UNIT_KINETIC_PLAN_H
#define KF_TESTS_UNIT_KINETIC_PLAN_H

#include "base/backend/team/team.h"
#include "base/plan/system.h"
#include "base/space/space.h"
#include "scene/scene.h"
#include "solver/systems.h"
#include "tests/unit/problem_fixture.h"

#include <string.h>

typedef struct kinetic_plan {
    kf_backend *backend;
    kf_scene *scene;
    kf_plan *plan;
} kinetic_plan;

static inline void kinetic_plan_close(kinetic_plan *made) {
    if (made->plan != NULL) kf_plan_free(made->plan);
    if (made->scene != NULL) kf_scene_free(made->scene);
    if (made->backend != NULL) kf_backend_close(made->backend);
}

static inline kf_status kinetic_plan_make(kinetic_plan *made, const kf_scene_options *options,
                                          const char *scene, const char *preset, const char *streaming,
                                          kf_error *error) {
    const kf_system *system = NULL;
    kf_space *space = NULL;
    kf_config config;
    kf_variables variables = {0};
    KF_TRY(kf_system_find("kinetic", &system, error));
    KF_TRY(kf_scene_open(scene, options, &made->scene, error));
    system->variables(problem_of(system, made->scene), kf_backend_device(made->backend), &variables);
    KF_TRY(kf_space_open(system->name, system->space_file, &variables, NULL, 0, &space, error));
    const kf_status status = kf_space_preset(space, preset, &config, error);
    kf_space_free(space);
    KF_TRY(status);
    if (streaming != NULL) {
        kf_config_set_name(&config, "streaming", streaming);
        kf_config_set_integer(&config, "slab", strcmp(streaming, "shift") == 0 ? 4 : 0);
    }
    return system->plan(problem_of(system, made->scene), &config, made->backend, &made->plan, error);
}

/* Opens a plan with this streaming instead of the preset's, unless it is NULL. */
static inline kf_status kinetic_plan_open_streaming(kinetic_plan *made, const char *device, const char *scene,
                                                    const kf_scene_options *options, const char *preset,
                                                    const char *streaming, kf_error *error) {
    *made = (kinetic_plan){NULL, NULL, NULL};
    kf_status status = kf_backend_open(device, &made->backend, error);
    if (status == KF_OK) status = kinetic_plan_make(made, options, scene, preset, streaming, error);
    if (status != KF_OK) {
        kinetic_plan_close(made);
        *made = (kinetic_plan){NULL, NULL, NULL};
    }
    return status;
}

static inline kf_status kinetic_plan_open(kinetic_plan *made, const char *device, const char *scene,
                                          const kf_scene_options *options, const char *preset,
                                          kf_error *error) {
    return kinetic_plan_open_streaming(made, device, scene, options, preset, NULL, error);
}

#endif
