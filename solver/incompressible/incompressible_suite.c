/* Scenes of suites that are another scene of the incompressible system with longer steps, or without
 * friction. */
#include <stdlib.h>

#include "base/record/suite_system.h"
#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/incompressible/incompressible.h"

typedef struct changed_scene {
    kf_scene
        scene; /* first: kf_problem_scene finds it; its arrays are those of the scene that it is made of */
    kf_incompressible_model model;
} changed_scene;

static void free_changed(void *own) {
    free(own);
}

static kf_status change(const kf_problem *from, const cJSON *changes, kf_json_place place,
                        const kf_device_info *device, kf_problem **changed, char reason[256],
                        kf_error *error) {
    static const char *const keys[] = {"steps", "viscous_term", "limiter", "tolerance", NULL};
    const kf_incompressible_model *before = kf_incompressible_model_of(kf_problem_scene(from));
    double steps = before->steps > 0.0 ? before->steps : 1.0, tolerance = before->tolerance;
    int viscous = (int)before->viscous_term;
    bool limiter = !before->unlimited;
    (void)device, reason[0] = '\0';
    const double now = steps;
    KF_TRY(kf_json_check_keys(place, changes, keys, error));
    KF_TRY(kf_json_number(place, changes, "steps", false, 1e-3, KF_MOST_STEP_RATIO, &steps, error));
    KF_TRY(kf_json_number(place, changes, "tolerance", false, 1e-10, 0.1, &tolerance, error));
    KF_TRY(kf_json_boolean(place, changes, "limiter", false, &limiter, error));
    KF_TRY(kf_json_choice(place, changes, "viscous_term", false, kf_viscous_term_names, KF_VISCOUS_TERMS,
                          &viscous, error));
    changed_scene *made = kf_allocate(sizeof *made);
    made->scene = *kf_problem_scene(from);
    made->scene.notes = NULL;
    made->model = (kf_incompressible_model){.unlimited = !limiter,
                                            .trace = before->trace,
                                            .viscous_term = (kf_viscous_term)viscous,
                                            .steps = steps,
                                            .tolerance = tolerance};
    kf_scene_set_section(&made->scene, &kf_incompressible_section, &made->model);
    kf_scene_stretch_time(&made->scene, steps / now);
    *changed = kf_flow_problem(from->system, &made->scene, false);
    (*changed)->free_own = free_changed;
    return KF_OK;
}

const kf_suite_system kf_incompressible_suite = {.change = change, .kinds = kf_incompressible_figure_kinds};
