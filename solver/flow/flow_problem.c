#include "solver/flow/flow_problem.h"

#include <string.h>

#include "base/util/text.h"

enum { TRIAL_NODES = 24000, TRIAL_STEPS = 10, NESTED_STEPS = 4 };

/* Adds the facts of a flow that store, reports and the search for similar problems use. */
static void add_facts(const kf_scene *scene, kf_facts *facts) {
    const int *nodes = scene->nodes;
    kf_facts_size(facts, nodes, "nodes");
    kf_facts_amount(facts, "node_count", (double)nodes[0] * nodes[1] * nodes[2], "nodes");
    if (scene->linked)
        kf_facts_amount(facts, "link_count", (double)kf_scene_finest(scene)->links.count, "links");
    else
        kf_facts_amount(facts, "sample_count", (double)kf_scene_finest(scene)->samples.count, "samples");
    if (scene->finer_count > 0) kf_facts_number(facts, "finer_levels", scene->finer_count, "");
    if (scene->finer_count > 0) kf_facts_amount(facts, "nested_nodes", kf_scene_all_nodes(scene), "nodes");
    kf_facts_number(facts, "samples_per_cell", scene->samples_per_cell, "");
    kf_facts_number(facts, "cell_size", scene->cell_size, "m");
    kf_facts_number(facts, "time_step", scene->time_step, "s");
    kf_facts_number(facts, "reynolds", scene->reynolds, "");
    kf_facts_number(facts, "viscosity", scene->viscosity, "cell^2/step");
    if (scene->accuracy != KF_DEFAULT_ACCURACY) kf_facts_number(facts, "accuracy", scene->accuracy, "");
    kf_facts_word(facts, "collision", kf_collision_names[scene->collision]);
}

static void free_scene(void *own) {
    kf_scene_free(own);
}

bool kf_problem_is_flow(const kf_problem *problem) {
    return problem->free_own == free_scene;
}

kf_problem *kf_flow_problem(const kf_system *system, kf_scene *scene, bool owned) {
    kf_problem *problem = kf_problem_make(scene, owned ? free_scene : NULL);
    problem->system = system;
    kf_copy_text(problem->name, sizeof problem->name, scene->name);
    kf_copy_text(problem->source, sizeof problem->source, scene->source);
    memcpy(problem->hash, scene->hash, sizeof problem->hash);
    problem->seed = scene->seed;
    if (scene->notes != NULL) kf_note(&problem->notes, "%s", scene->notes);
    add_facts(scene, &problem->facts);
    return problem;
}

kf_status kf_flow_scene_open(const char *source, const kf_problem_options *options, kf_scene **scene,
                             kf_error *error) {
    kf_scene_options asked = {.samples_per_cell = options->samples_per_cell,
                              .accuracy = options->accuracy,
                              .seed = options->seed,
                              .sections = options->sections,
                              .memory = options->memory,
                              .memory_context = options->memory_context};
    memcpy(asked.nodes, options->nodes, sizeof asked.nodes);
    KF_TRY(kf_scene_open(source, &asked, scene, error));
    const kf_status status = kf_flow_check_samples(*scene, options->samples_per_cell, error);
    if (status == KF_OK) return KF_OK;
    kf_scene_free(*scene);
    *scene = NULL;
    return status;
}

kf_status kf_flow_check_samples(const kf_scene *scene, double samples_per_cell, kf_error *error) {
    const kf_scene *finest = kf_scene_finest(scene);
    if (samples_per_cell <= 0.0) return KF_OK;
    if (scene->linked)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: its solid acts by links and has no samples: leave --samples-per-cell out",
                       scene->source);
    if (finest->samples.count > 0 || finest->mesh.triangle_count > 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: it has no solid with samples on its surface: leave --samples-per-cell out",
                   scene->source);
}

kf_status kf_flow_problem_open(const char *source, const kf_problem_options *options, kf_problem **problem,
                               kf_error *error) {
    kf_scene *scene = NULL;
    KF_TRY(kf_flow_scene_open(source, options, &scene, error));
    *problem = kf_flow_problem(NULL, scene, true);
    return KF_OK;
}

kf_status kf_flow_problem_trial(const kf_problem *problem, kf_problem **small, int *steps, kf_error *error) {
    kf_scene *reduced = NULL;
    KF_TRY(kf_scene_reduce(kf_problem_scene(problem), TRIAL_NODES, &reduced, error));
    *small = kf_flow_problem(problem->system, reduced, true);
    *steps = reduced->finer_count > 0 ? NESTED_STEPS : TRIAL_STEPS;
    return KF_OK;
}

kf_status kf_flow_check_faces(const kf_scene *scene, const char *system, const kf_boundary *known, int count,
                              kf_error *error) {
    if (scene->finer_count > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s has no nested grids, which the scene asks for with \"refine\": remove the key, or "
                       "use --system kinetic",
                       system);
    for (int face = 0; face < KF_FACES; face++) {
        bool computed = false;
        for (int i = 0; i < count; i++)
            computed = computed || scene->faces[face] == known[i];
        if (!computed)
            return kf_fail(error, KF_BAD_INPUT, "%s has no boundary %s, which the scene has at %s", system,
                           kf_boundary_names[scene->faces[face]], kf_face_names[face]);
    }
    return KF_OK;
}
