/* Opens the problems of a suite's scenes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/record/suite_system.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/bench/suite_run.h"
#include "solver/systems.h"

/* Gives a changed problem a new hash, so that stored results of the original are not compared with it. */
static void hash_again(kf_problem *problem, const cJSON *changes) {
    char *text = kf_json_canonical(changes);
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, problem->hash);
    kf_hash_add_string(&hasher, text);
    kf_hash_end(&hasher, problem->hash);
    free(text);
}

static kf_status change(const kf_suite_problems *problems, const kf_suite_scene *scene,
                        const kf_problem *from, kf_suite_problem *made, kf_error *error) {
    const kf_suite_system *brought = from->system->suite;
    if (brought == NULL || brought->change == NULL)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: scenes: %s: problems of the system %s cannot be changed; give it a scene file",
                       problems->file->path, scene->name, from->system->name);
    KF_TRY(brought->change(from, scene->changes, (kf_json_place){problems->file->path, scene->name},
                           problems->device, &made->problem, made->reason, error));
    if (made->problem != NULL) hash_again(made->problem, scene->changes);
    return KF_OK;
}

/* Opens a scene that comes from a file or is shipped. */
static kf_status open_source(const kf_suite_problems *problems, const kf_suite_scene *scene,
                             const kf_bench_options *options, kf_suite_problem *made, kf_error *error) {
    kf_problem_options asked = problems->gpu ? scene->gpu : scene->cpu;
    const bool about =
        scene == &problems->file->scenes[problems->file->about < 0 ? 0 : problems->file->about];
    if (about && options->nodes[0] > 0) memcpy(asked.nodes, options->nodes, sizeof asked.nodes);
    if (about && options->samples_per_cell > 0) asked.samples_per_cell = options->samples_per_cell;
    if (scene->changes == NULL)
        return kf_problem_open(scene->source, scene->system, &asked, &made->problem, error);
    KF_TRY(kf_problem_open(scene->source, scene->system, &asked, &made->source, error));
    return change(problems, scene, made->source, made, error);
}

static void check_memory(const kf_suite_problems *problems, const kf_suite_scene *scene,
                         kf_suite_problem *made) {
    double needed = 0;
    char needed_text[32], free_text[32];
    const cJSON *fact;
    if (made->problem == NULL) return;
    cJSON_ArrayForEach(fact, scene->memory) {
        const double amount = kf_facts_value(&made->problem->facts, fact->string);
        if (isfinite(amount)) needed += amount * cJSON_GetNumberValue(fact);
    }
    if (needed > (double)problems->device->memory_free_bytes)
        (void)snprintf(made->reason, sizeof made->reason, "it needs %s of memory, and %s are free",
                       kf_human_bytes(needed, needed_text),
                       kf_human_bytes((double)problems->device->memory_free_bytes, free_text));
}

static kf_status make(kf_suite_problems *problems, int index, const kf_bench_options *options,
                      kf_error *error) {
    const kf_suite_scene *scene = &problems->file->scenes[index];
    kf_suite_problem *made = &problems->list[index];
    if (kf_interrupted) return kf_fail(error, KF_INTERRUPTED, "interrupted while scenes were made");
    if (scene->gpu_only && !problems->gpu) {
        kf_copy_text(made->reason, sizeof made->reason, "only measured on a GPU");
        return KF_OK;
    }
    if (scene->like < 0)
        KF_TRY(open_source(problems, scene, options, made, error));
    else if (problems->list[scene->like].problem != NULL)
        KF_TRY(change(problems, scene, problems->list[scene->like].problem, made, error));
    else
        kf_copy_text(made->reason, sizeof made->reason, problems->list[scene->like].reason);
    check_memory(problems, scene, made);
    if (made->reason[0] == '\0') return KF_OK;
    kf_problem_free(made->problem);
    made->problem = NULL;
    return KF_OK;
}

kf_status kf_suite_problems_open(const kf_suite_file *file, const kf_device_info *device,
                                 const kf_bench_options *options, bool *wanted, kf_suite_problems *problems,
                                 kf_error *error) {
    *problems = (kf_suite_problems){.file = file, .device = device, .gpu = kf_device_is_gpu(device)};
    problems->list = kf_allocate_zeroed((size_t)file->scene_count + 1, sizeof *problems->list);
    if (file->about >= 0) wanted[file->about] = true;
    for (int i = file->scene_count - 1; i >= 0; i--) { /* A scene comes after those that it needs. */
        if (!wanted[i]) continue;
        wanted[file->scenes[i].verified_as] = true;
        if (file->scenes[i].like >= 0) wanted[file->scenes[i].like] = true;
    }
    for (int i = 0; i < file->scene_count; i++)
        if (wanted[i]) KF_TRY(make(problems, i, options, error));
    return KF_OK;
}

kf_status kf_suite_trial(kf_suite_problems *problems, int scene, kf_trial **trial, kf_error *error) {
    kf_suite_problem *verified = &problems->list[problems->file->scenes[scene].verified_as];
    *trial = &verified->trial;
    if (verified->trial.problem != NULL) return KF_OK;
    if (verified->problem == NULL)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: scenes: %s: verified_as names a scene that is not available: %s",
                       problems->file->path, problems->file->scenes[scene].name, verified->reason);
    KF_TRY(kf_trial_open(verified->problem, &verified->trial, error));
    const kf_suite_system *brought = verified->problem->system->suite;
    if (brought != NULL && brought->adjust_trial != NULL)
        brought->adjust_trial(verified->problem, verified->trial.problem);
    return KF_OK;
}

kf_status kf_suite_space(kf_suite_problems *problems, int scene, const kf_space **space, kf_error *error) {
    kf_suite_problem *made = &problems->list[scene];
    if (made->space == NULL)
        KF_TRY(kf_problem_space(made->problem, problems->device, NULL, 0, &made->space, error));
    *space = made->space;
    return KF_OK;
}

void kf_suite_problems_close(kf_suite_problems *problems) {
    for (int i = problems->file->scene_count - 1; i >= 0 && problems->list != NULL; i--) {
        kf_suite_problem *made = &problems->list[i];
        kf_trial_close(&made->trial);
        if (made->space != NULL) kf_space_free(made->space);
        kf_problem_free(made->problem);
        kf_problem_free(made->source);
    }
    free(problems->list);
    problems->list = NULL;
}
