#include "solver/t1/t1.h"
#include "scene/scene.h"

#include <stdlib.h>
#include <string.h>

static void release(void *problem) {
    kf_t1_release(problem);
}

/* The scene that stands for a problem: its size as nodes, its files' content as hash. */
static kf_scene *scene_of(kf_t1_problem *problem) {
    kf_scene *scene = kf_allocate_zeroed(1, sizeof *scene);
    kf_copy_text(scene->name, sizeof scene->name, problem->name);
    kf_copy_text(scene->source, sizeof scene->source, problem->file);
    memcpy(scene->hash, problem->hash, sizeof scene->hash);
    for (int axis = 0; axis < 3; axis++)
        scene->nodes[axis] = (int)problem->size[axis];
    scene->cell_size = scene->time_step = 1.0;
    scene->seed = 1;
    scene->problem = problem;
    scene->free_problem = release;
    if (problem->notes != NULL) scene->notes = kf_duplicate(problem->notes);
    return scene;
}

static kf_status open_problem(const char *file, kf_scene **scene, kf_error *error) {
    kf_t1_problem *problem = NULL;
    KF_TRY(kf_t1_read(file, &problem, error));
    *scene = scene_of(problem);
    return KF_OK;
}

/* Configs are verified on the problem as it is: what is right for a smaller one need not be for this. */
static kf_status reduce_problem(const kf_scene *scene, kf_scene **reduced, kf_error *error) {
    (void)error;
    kf_t1_problem *problem = scene->problem;
    problem->uses++;
    *reduced = scene_of(problem);
    return KF_OK;
}

static kf_status accepts(const kf_scene *scene, kf_error *error) {
    if (scene->problem != NULL && scene->free_problem == release) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "system t1 tunes the kernel of a problem file: give --problem FILE.t1.json");
}

static kf_status accepts_device(const kf_scene *scene, const kf_device_info *device, kf_error *error) {
    const kf_t1_problem *problem = scene->problem;
    if (problem->portable || strcmp(device->backend, "cuda") == 0) return KF_OK;
    return kf_fail(error, KF_MACHINE,
                   "%s is CUDA and needs a GPU, this device is the cpu; a kernel written with "
                   "kernels/portable.h (Language "
                   "\"portable\") runs on both",
                   problem->kernel_file);
}

static void describe(const kf_scene *scene, const kf_device_info *device, kf_variables *variables) {
    (void)device;
    const kf_t1_problem *problem = scene->problem;
    memset(variables, 0, sizeof *variables);
    variables->declaration = problem->declaration;
    variables->declaration_file = problem->file;
}

const kf_system kf_system_t1 = {
    .name = "t1",
    .summary = "a kernel that is not kftune's, from its T1 problem file (--problem)",
    .open_problem = open_problem,
    .reduce_problem = reduce_problem,
    .accepts = accepts,
    .accepts_device = accepts_device,
    .variables = describe,
    .plan = kf_t1_plan,
    .sources = kf_t1_sources,
    .reference = kf_t1_reference,
    .verify = kf_t1_verify,
    .free_reference = kf_t1_free_reference,
};
