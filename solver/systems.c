#include "solver/systems.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util/json.h"
#include "base/util/text.h"
#include "scene/scene.h"
#include "solver/d2q9/d2q9.h"
#include "solver/incompressible/incompressible.h"
#include "solver/kinetic/kinetic.h"
#include "solver/sph/sph.h"
#include "solver/stable_fluids/stable_fluids.h"
#include "solver/t1/t1.h"

const kf_system *const kf_systems[] = {&kf_system_kinetic,
                                       &kf_system_d2q9,
                                       &kf_system_stable_fluids,
                                       &kf_system_sph,
                                       &kf_system_incompressible,
                                       &kf_system_t1,
                                       NULL};

kf_status kf_system_find(const char *name, const kf_system **system, kf_error *error) {
    enum { MOST = sizeof kf_systems / sizeof kf_systems[0] };
    const char *names[MOST];
    int count = 0;
    for (; kf_systems[count] != NULL; count++) {
        names[count] = kf_systems[count]->name;
        if (strcmp(name, names[count]) == 0) {
            *system = kf_systems[count];
            return KF_OK;
        }
    }
    char hint[KF_HINT];
    return kf_fail(error, KF_BAD_INPUT, "unknown system '%s'%s; `kftune list systems` names them", name,
                   kf_hint(name, names, count, hint));
}

static const kf_scene_section *scene_sections[KF_SCENE_SECTIONS + 1];

static void find_scene_sections(void) {
    int count = 0;
    for (int i = 0; kf_systems[i] != NULL && count < KF_SCENE_SECTIONS; i++)
        if (kf_systems[i]->scene_section != NULL) scene_sections[count++] = kf_systems[i]->scene_section;
}

const kf_scene_section *const *kf_systems_scene_sections(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find_scene_sections);
    return scene_sections;
}

/* --- Opening -------------------------------------------------------------------------------------------- */

static bool has_section(const cJSON *root, const kf_system *system) {
    for (int i = 0; system->sections != NULL && system->sections[i] != NULL; i++)
        if (cJSON_HasObjectItem(root, system->sections[i])) return true;
    return false;
}

/* Looks which system's sections a file has. Other faults of the file are for whoever reads it to say. */
static kf_status look_inside(const char *path, const kf_system **found, kf_error *error) {
    cJSON *root = NULL;
    *found = NULL;
    if (kf_ends_in(path, ".json")) KF_TRY(kf_json_read_known(path, &root, error));
    for (int i = 0; kf_systems[i] != NULL && *found == NULL; i++)
        if (has_section(root, kf_systems[i])) *found = kf_systems[i];
    cJSON_Delete(root);
    return KF_OK;
}

/* Finds the system of a file. The ending of its name decides when it says that programs are run, and
 * otherwise its sections. A file with the content of a program and another name is refused. */
kf_status kf_system_by_section(const char *source, const kf_system **system, kf_error *error) {
    char path[KF_PATH];
    *system = NULL;
    KF_TRY(kf_scene_find(source, path, error));
    for (int i = 0; kf_systems[i] != NULL && *system == NULL; i++)
        if (kf_systems[i]->program_ending != NULL && kf_ends_in(path, kf_systems[i]->program_ending))
            *system = kf_systems[i];
    if (*system != NULL) return KF_OK;
    const kf_system *found = NULL;
    KF_TRY(look_inside(path, &found, error));
    if (found != NULL && found->program_ending != NULL)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: looks like a problem of %s, whose kernel would be compiled and run; if you trust it, let "
            "its name end in %s or give --system %s",
            path, found->name, found->program_ending, found->name);
    *system = found;
    return KF_OK;
}

static kf_status open_as(const kf_system *system, const char *source, const kf_problem_options *options,
                         kf_problem **problem, kf_error *error) {
    KF_TRY(system->open(source, options, problem, error));
    (*problem)->system = system;
    return KF_OK;
}

kf_status kf_system_accepts(const kf_system *system, const kf_problem *problem, kf_error *error) {
    const kf_status status = system->accepts(problem, error);
    if (status == KF_OK || problem->source[0] == '\0' || strstr(error->message, problem->source) != NULL)
        return status;
    return kf_fail_context(error, "%s", problem->source);
}

/* Opens the problem with the first system of the table that accepts it, among those that no section names.
 * Systems that open scenes in the same way reuse the open scene. */
static kf_status open_with_first(const char *source, const kf_problem_options *options, kf_problem **problem,
                                 kf_error *error) {
    kf_text reasons = {0};
    kf_status status = KF_BAD_INPUT;
    for (int i = 0; kf_systems[i] != NULL && status != KF_OK; i++) {
        const kf_system *system = kf_systems[i];
        kf_error reason = {KF_OK, ""};
        if (system->sections != NULL) continue;
        if (*problem != NULL && (*problem)->system->open != system->open) {
            kf_problem_free(*problem);
            *problem = NULL;
        }
        if (*problem == NULL && (status = open_as(system, source, options, problem, error)) != KF_OK) {
            kf_text_free(&reasons);
            return status;
        }
        (*problem)->system = system;
        status = system->accepts(*problem, &reason);
        if (status != KF_OK)
            kf_text_append(&reasons, "%s%s: %s", reasons.text != NULL ? "; " : "", system->name,
                           reason.message);
    }
    if (status != KF_OK)
        status = kf_fail(error, KF_BAD_INPUT, "%s: no system runs it: %s", source, reasons.text);
    kf_text_free(&reasons);
    return status;
}

/* Finds the system of a scene: the first of the table that accepts it. A refusal lists the reasons of all
 * systems. */
kf_status kf_system_of_scene(kf_problem *problem, kf_error *error) {
    kf_text reasons = {0};
    for (int i = 0; kf_systems[i] != NULL; i++) {
        kf_error reason = {KF_OK, ""};
        problem->system = kf_systems[i];
        if (problem->system->sections != NULL || !problem->system->teams) continue;
        if (problem->system->accepts(problem, &reason) == KF_OK) {
            kf_text_free(&reasons);
            return KF_OK;
        }
        kf_text_append(&reasons, "%s%s: %s", reasons.text != NULL ? "; " : "", problem->system->name,
                       reason.message);
    }
    problem->system = NULL;
    (void)kf_fail(error, KF_BAD_INPUT, "%s: no system runs it: %s", problem->source, reasons.text);
    kf_text_free(&reasons);
    return KF_BAD_INPUT;
}

/* Keeps what opens the problem again from any folder: a file's whole path, else the shipped scene's name. */
static void remember_source(const char *source, kf_problem *problem) {
    char absolute[KF_PATH];
    struct stat about;
    const bool file = stat(source, &about) == 0 && !S_ISDIR(about.st_mode) && kf_real_path(source, absolute);
    kf_copy_text(problem->source, sizeof problem->source, file ? absolute : source);
}

kf_status kf_problem_open(const char *source, const char *system, const kf_problem_options *options,
                          kf_problem **problem, kf_error *error) {
    static const kf_problem_options none;
    const kf_system *found = NULL;
    *problem = NULL;
    kf_problem_options with_sections = options == NULL ? none : *options;
    with_sections.sections = kf_systems_scene_sections();
    options = &with_sections;
    if (system != NULL)
        KF_TRY(kf_system_find(system, &found, error));
    else
        KF_TRY(kf_system_by_section(source, &found, error));
    kf_status status = KF_OK;
    if (found == NULL) {
        status = open_with_first(source, options, problem, error);
    } else {
        status = open_as(found, source, options, problem, error);
        if (status == KF_OK) status = kf_system_accepts(found, *problem, error);
    }
    if (status == KF_OK) {
        remember_source(source, *problem);
        (*problem)->sections = options->sections;
        return KF_OK;
    }
    kf_problem_free(*problem);
    *problem = NULL;
    return status;
}
