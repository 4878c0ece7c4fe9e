#include "solver/sph/sph_problem.h"

#include <math.h>
#include <stdlib.h>

#include "base/util/text.h"
#include "scene/scene.h"
#include "solver/sph/sph.h"

static void free_scene(void *own) {
    kf_particle_scene_free(own);
}

/* Adds the facts of a scene that others may ask for by name: size, particles, scheme, law, time step. */
static void add_facts(const kf_particle_scene *scene, kf_facts *facts) {
    int size[3] = {1, 1, 1};
    for (int i = 0; i < scene->dimensions; i++)
        size[i] = (int)scene->size[i];
    kf_facts_size(facts, size, "spacings");
    kf_facts_amount(facts, "particle_count", (double)(scene->count - scene->wall_count), "particles");
    kf_facts_amount(facts, "wall_particle_count", (double)scene->wall_count, "wall particles");
    kf_facts_number(facts, "dimensions", scene->dimensions, "");
    kf_facts_number(facts, "neighbours", kf_sph_neighbours(scene), "");
    kf_facts_number(facts, "spacing", scene->spacing, "m");
    kf_facts_number(facts, "sound_speed", scene->sound_speed, "m/s");
    kf_facts_word(facts, "scheme", kf_scheme_names[scene->scheme]);
    kf_facts_word(facts, "law", kf_law_names[scene->material.law]);
    if (scene->material.yield_kind != KF_YIELD_NONE) /* others have nothing that has not yielded */
        kf_facts_word(facts, "branch", kf_branch_names[scene->material.branch]);
    kf_facts_number(facts, "time_step", kf_sph_usual_step(scene) / kf_particle_seconds(scene), "s");
    if (scene->end_time > 0.0) kf_facts_number(facts, "end_time", scene->end_time, "s");
    kf_facts_number(facts, "terrain", scene->terrain.heights != NULL, "");
}

kf_problem *kf_sph_problem(kf_particle_scene *scene) {
    kf_problem *problem = kf_problem_make(scene, free_scene);
    kf_copy_text(problem->name, sizeof problem->name, scene->name);
    kf_copy_text(problem->source, sizeof problem->source, scene->source);
    kf_copy_text(problem->hash, sizeof problem->hash, scene->hash);
    problem->seed = scene->seed;
    if (scene->notes != NULL) kf_note(&problem->notes, "%s", scene->notes);
    problem->system = &kf_system_sph;
    add_facts(scene, &problem->facts);
    return problem;
}

kf_status kf_sph_problem_open(const char *source, const kf_problem_options *options, kf_problem **problem,
                              kf_error *error) {
    kf_particle_options wanted = {0};
    kf_particle_scene *scene;
    char path[KF_PATH];
    if (options != NULL) {
        if (options->samples_per_cell > 0.0)
            return kf_fail(error, KF_BAD_INPUT, "%s: a scene of particles has no samples of a surface",
                           source);
        if (options->accuracy > 0.0)
            return kf_fail(error, KF_BAD_INPUT, "%s: a scene of particles has no --accuracy", source);
        wanted.spacings_x = options->nodes[0];
        wanted.seed = options->seed;
        wanted.memory = options->memory;
        wanted.memory_context = options->memory_context;
    }
    KF_TRY(kf_scene_find(source, path, error));
    KF_TRY(kf_particle_scene_open(path, &wanted, &scene, error));
    kf_copy_text(scene->source, sizeof scene->source, source);
    *problem = kf_sph_problem(scene);
    return KF_OK;
}

/* Opens the scene again with larger spacings, shaken, until it has about TRIAL_PARTICLES particles, on
 * which a config is held against the reference. */
kf_status kf_sph_problem_trial(const kf_problem *problem, kf_problem **small, int *steps, kf_error *error) {
    enum { TRIAL_PARTICLES = 1500, TRIAL_STEPS = 6, TRIES = 6 };
    const kf_particle_scene *scene = problem->own;
    kf_particle_scene *made = NULL;
    char path[KF_PATH];
    KF_TRY(kf_scene_find(problem->source, path, error));
    double scale = fmax(1.0, pow((double)scene->count / TRIAL_PARTICLES, 1.0 / scene->dimensions));
    /* Walls and thin layers do not shrink as volumes do: tried again with what came out. */
    for (int k = 0; k < TRIES; k++) {
        kf_particle_scene_free(made);
        made = NULL;
        const kf_particle_options options = {.spacing_scale = scale,
                                             .spacings_x = (int)kf_facts_value(&problem->facts, "size_x"),
                                             .seed = problem->seed,
                                             .shake = 0.1};
        KF_TRY(kf_particle_scene_open(path, &options, &made, error));
        if (made->count <= 3 * TRIAL_PARTICLES) break;
        scale *= fmax(1.1, pow((double)made->count / TRIAL_PARTICLES, 1.0 / scene->dimensions));
    }
    *small = kf_sph_problem(made);
    *steps = TRIAL_STEPS;
    return KF_OK;
}
