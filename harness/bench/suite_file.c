#include "harness/bench/suite_file.h"

#include <float.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/record/suite_system.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/roofs/roofs.h"
#include "solver/systems.h"

/* --- Common --------------------------------------------------------------------------------------------- */

/* A list at the top level of the file. */
typedef struct object_list {
    kf_json_place place;
    const cJSON *items;
    int count;
} object_list;

/* Opens a list of a suite's file, and checks that each entry is an object with its own name. */
static kf_status open_list(const kf_suite_file *file, const char *key, object_list *found, kf_error *error) {
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(file->root, key);
    *found = (object_list){{file->path, key}, items, cJSON_GetArraySize(items)};
    if (items == NULL) return KF_OK;
    if (!cJSON_IsArray(items))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: must be a list of objects", file->path, key);
    for (const cJSON *item = items->child; item != NULL; item = item->next) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
        if (name == NULL || name[0] == '\0')
            return kf_fail(error, KF_BAD_INPUT, "%s: %s: each must be an object with a name", file->path,
                           key);
        for (const cJSON *other = items->child; other != item; other = other->next)
            if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(other, "name")), name) == 0)
                return kf_fail(error, KF_BAD_INPUT, "%s: %s: two are called '%s'", file->path, key, name);
    }
    return KF_OK;
}

/* Finds the object with this name among the first `count` of a list. */
static kf_status find_name(const object_list *in, int count, const char *what, const char *name, int *index,
                           kf_error *error) {
    const char **names = kf_allocate((size_t)(count + 1) * sizeof *names);
    const cJSON *item = in->items != NULL ? in->items->child : NULL;
    int known = 0;
    *index = -1;
    for (; item != NULL && known < count; item = item->next) {
        names[known] = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
        if (strcmp(names[known], name) == 0) *index = known;
        known++;
    }
    char hint[KF_HINT];
    const kf_status status =
        *index >= 0 ? KF_OK
                    : kf_fail(error, KF_BAD_INPUT, "%s: %s: '%s' is not among the %s before it%s",
                              in->place.file, what, name, in->place.path, kf_hint(name, names, known, hint));
    free(names);
    return status;
}

/* Reads a reference by name to an entry of a list; -1: the key is missing. */
static kf_status read_reference(kf_json_place place, const cJSON *json, const char *key, bool required,
                                const object_list *in, int count, int *index, kf_error *error) {
    const char *name = NULL;
    *index = -1;
    KF_TRY(kf_json_string(place, json, key, required, &name, error));
    return name == NULL ? KF_OK : find_name(in, count, place.path, name, index, error);
}

/* --- Scenes --------------------------------------------------------------------------------------------- */

static kf_status read_options(kf_json_place place, const cJSON *json, kf_problem_options *options,
                              kf_error *error) {
    double grid[3] = {0, 0, 0}, samples = 0;
    KF_TRY(kf_json_numbers(place, json, "grid", false, 1, 1 << 20, 3, grid, error));
    KF_TRY(kf_json_number(place, json, "samples_per_cell", false, KF_LEAST_SAMPLES_PER_CELL,
                          KF_MOST_SAMPLES_PER_CELL, &samples, error));
    for (int axis = 0; axis < 3; axis++)
        if (grid[axis] > 0) options->nodes[axis] = (int)grid[axis];
    if (samples > 0) options->samples_per_cell = samples;
    return KF_OK;
}

/* Resolves a scene's path relative to the suite. If no such file exists, it is the name of a shipped scene.
 */
static kf_status resolve(const kf_suite_file *file, cJSON *json, kf_suite_scene *scene, kf_error *error) {
    char folder[KF_PATH], path[KF_PATH];
    if (scene->source[0] == '/') return KF_OK;
    KF_TRY(kf_path(folder, error, "%s", file->path));
    KF_TRY(kf_path(path, error, "%s/%s", dirname(folder), scene->source));
    if (access(path, F_OK) == 0)
        scene->source = cJSON_SetValuestring(cJSON_GetObjectItemCaseSensitive(json, "scene"), path);
    return KF_OK;
}

static kf_status read_scene(kf_suite_file *file, const object_list *scenes, int index, cJSON *json,
                            kf_error *error) {
    static const char *const keys[] = {
        "name", "scene",   "like",   "system",      "grid",     "samples_per_cell",
        "cpu",  "changes", "memory", "verified_as", "gpu_only", NULL};
    static const char *const cpu_keys[] = {"grid", "samples_per_cell", NULL};
    kf_suite_scene *scene = &file->scenes[index];
    const kf_json_place place = scenes->place, cpu_place = {place.file, "scenes.cpu"};
    const cJSON *cpu = NULL;
    KF_TRY(kf_json_check_keys(place, json, keys, error));
    KF_TRY(kf_json_string(place, json, "name", true, &scene->name, error));
    KF_TRY(kf_json_string(place, json, "scene", false, &scene->source, error));
    KF_TRY(read_reference(place, json, "like", false, scenes, index, &scene->like, error));
    if ((scene->source == NULL) == (scene->like < 0))
        return kf_fail(error, KF_BAD_INPUT, "%s: scenes: %s: give one of scene, like", file->path,
                       scene->name);
    KF_TRY(kf_json_string(place, json, "system", false, &scene->system, error));
    KF_TRY(kf_json_object(place, json, "changes", scene->like >= 0, &scene->changes, error));
    if (scene->source != NULL) KF_TRY(resolve(file, json, scene, error));
    KF_TRY(kf_json_object(place, json, "memory", false, &scene->memory, error));
    KF_TRY(kf_json_boolean(place, json, "gpu_only", false, &scene->gpu_only, error));
    KF_TRY(read_reference(place, json, "verified_as", false, scenes, index, &scene->verified_as, error));
    if (scene->verified_as < 0) scene->verified_as = index;
    KF_TRY(read_options(place, json, &scene->gpu, error));
    scene->cpu = scene->gpu;
    KF_TRY(kf_json_object(place, json, "cpu", false, &cpu, error));
    if (cpu == NULL) return KF_OK;
    KF_TRY(kf_json_check_keys(cpu_place, cpu, cpu_keys, error));
    return read_options(cpu_place, cpu, &scene->cpu, error);
}

/* --- Timings -------------------------------------------------------------------------------------------- */

static kf_status read_candidates(const kf_suite_file *file, const cJSON *json, kf_suite_timing *timing,
                                 kf_error *error) {
    static const char *const keys[] = {"name", "with", "only", "gpu_only", NULL};
    const kf_json_place place = {file->path, "candidates"};
    const char *list_name = NULL;
    KF_TRY(
        kf_json_string((kf_json_place){file->path, "timings"}, json, "candidates", false, &list_name, error));
    const cJSON *lists = cJSON_GetObjectItemCaseSensitive(file->root, "candidates");
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(lists, list_name != NULL ? list_name : "");
    if (list_name != NULL && (!cJSON_IsArray(items) || cJSON_GetArraySize(items) == 0))
        return kf_fail(error, KF_BAD_INPUT, "%s: timings: %s: candidates has no list '%s'", file->path,
                       timing->name, list_name);
    timing->candidate_count = list_name != NULL ? cJSON_GetArraySize(items) : 1;
    timing->candidates = kf_allocate_zeroed((size_t)timing->candidate_count, sizeof *timing->candidates);
    if (list_name == NULL) timing->candidates[0].name = timing->name;
    kf_candidate *candidate = timing->candidates;
    for (const cJSON *item = list_name != NULL ? items->child : NULL; item != NULL; item = item->next) {
        KF_TRY(kf_json_check_keys(place, item, keys, error));
        KF_TRY(kf_json_string(place, item, "name", true, &candidate->name, error));
        KF_TRY(kf_json_object(place, item, "with", false, &candidate->with, error));
        KF_TRY(kf_json_object(place, item, "only", false, &candidate->only, error));
        KF_TRY(kf_json_boolean(place, item, "gpu_only", false, &candidate->gpu_only, error));
        candidate++;
    }
    return KF_OK;
}

static kf_status read_timing(kf_suite_file *file, const object_list *scenes, const object_list *timings,
                             int index, const cJSON *json, kf_error *error) {
    static const char *const keys[] = {"name",       "scene",           "preset",   "with",
                                       "candidates", "follows",         "samples",  "seconds",
                                       "effort",     "single_launches", "gpu_only", NULL};
    const kf_json_place place = timings->place;
    kf_suite_timing *timing = &file->timings[index];
    long samples = 0;
    timing->preset = "default";
    KF_TRY(kf_json_check_keys(place, json, keys, error));
    KF_TRY(kf_json_string(place, json, "name", true, &timing->name, error));
    KF_TRY(read_reference(place, json, "scene", true, scenes, scenes->count, &timing->scene, error));
    KF_TRY(kf_json_string(place, json, "preset", false, &timing->preset, error));
    KF_TRY(kf_json_object(place, json, "with", false, &timing->with, error));
    KF_TRY(read_reference(place, json, "follows", false, timings, index, &timing->follows, error));
    KF_TRY(kf_json_integer(place, json, "samples", false, 0, 10000, &samples, error));
    KF_TRY(kf_json_number(place, json, "seconds", false, 1e-3, 600, &timing->seconds, error));
    KF_TRY(kf_json_number(place, json, "effort", false, 0.01, 1, &timing->effort, error));
    KF_TRY(kf_json_boolean(place, json, "single_launches", false, &timing->single_launches, error));
    KF_TRY(kf_json_boolean(place, json, "gpu_only", false, &timing->gpu_only, error));
    timing->samples = (size_t)samples;
    return read_candidates(file, json, timing, error);
}

/* --- Figures -------------------------------------------------------------------------------------------- */

/* Finds the kind of figure with this name among those of all systems. */
static kf_status find_kind(const char *name, const kf_figure_kind **kind, kf_error *error) {
    enum { MOST_KINDS = 128 };
    const char *names[MOST_KINDS];
    int count = 0;
    for (int s = -1; s < 0 || kf_systems[s] != NULL; s++) {
        const kf_suite_system *brought = s < 0 ? NULL : kf_systems[s]->suite;
        const kf_figure_kind *kinds = s < 0 ? kf_figure_kinds : brought != NULL ? brought->kinds : NULL;
        for (; kinds != NULL && kinds->name != NULL && count < MOST_KINDS; kinds++) {
            names[count++] = kinds->name;
            *kind = kinds;
            if (strcmp(kinds->name, name) == 0) return KF_OK;
        }
    }
    char hint[KF_HINT];
    return kf_fail(error, KF_BAD_INPUT, "there is no kind '%s'%s", name, kf_hint(name, names, count, hint));
}

/* Reads one name, or a list of names. */
static kf_status read_timings_of(const kf_suite_file *file, const object_list *timings, const cJSON *json,
                                 const char *key, const char *figure, int **indices, int *count,
                                 kf_error *error) {
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(json, key);
    const bool is_list = cJSON_IsArray(names);
    const cJSON *name = is_list ? names->child : names;
    *count = is_list ? cJSON_GetArraySize(names) : name != NULL;
    *indices = kf_allocate_zeroed((size_t)*count + 1, sizeof **indices);
    for (int i = 0; i < *count; i++, name = name->next) {
        if (!cJSON_IsString(name))
            return kf_fail(error, KF_BAD_INPUT, "%s: figures: %s: %s must name timings", file->path, figure,
                           key);
        KF_TRY(find_name(timings, timings->count, figure, name->valuestring, &(*indices)[i], error));
    }
    return KF_OK;
}

static kf_status check_figure_keys(const kf_suite_file *file, const cJSON *json, const kf_figure_kind *kind,
                                   kf_error *error) {
    enum { MOST_KEYS = 40 };
    static const char *const common[] = {"name",      "kind",     "of",       "against",  "unit",
                                         "must",      "aim",      "at_most",  "of_share", "note",
                                         "published", "gpu_only", "cpu_only", NULL};
    const char *keys[MOST_KEYS] = {NULL};
    int count = 0;
    for (const char *const *key = common; *key != NULL; key++)
        keys[count++] = *key;
    for (const char *const *key = kind->keys; key != NULL && *key != NULL && count < MOST_KEYS - 1; key++)
        keys[count++] = *key;
    return kf_json_check_keys((kf_json_place){file->path, "figures"}, json, keys, error);
}

static kf_status check_names(kf_json_place place, const cJSON *json, const char *key, bool needed,
                             kf_error *error) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, key), *name;
    bool names = list != NULL ? cJSON_IsArray(list) && list->child != NULL : !needed;
    cJSON_ArrayForEach(name, list) names = names && cJSON_IsString(name);
    return names ? KF_OK
                 : kf_fail(error, KF_BAD_INPUT, "%s: %s.%s: must be a list of names", place.file, place.path,
                           key);
}

/* Checks what the kind's own keys hold. A number that is missing would count as 0. */
static kf_status check_own_keys(const kf_suite_file *file, const cJSON *json, const kf_figure_kind *kind,
                                kf_error *error) {
    static const struct {
        const char *name;
        enum { NUMBER, TEXT, NAMES } holds;
        bool needed;
    } own[] = {{"bytes", NUMBER, false}, {"flops", NUMBER, true},  {"steps", NUMBER, true},
               {"roof", TEXT, true},     {"fact", TEXT, true},     {"published_us", NUMBER, true},
               {"mesh", NUMBER, true},   {"kernels", NAMES, true}, {"without", NAMES, false}};
    const kf_json_place place = {file->path, "figures"};
    for (const char *const *key = kind->keys; key != NULL && *key != NULL; key++)
        for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
            const char *text = NULL;
            double number = 0.0;
            if (strcmp(*key, own[i].name) != 0) continue;
            if (own[i].holds == NUMBER)
                KF_TRY(kf_json_number(place, json, *key, own[i].needed, DBL_MIN, 1e30, &number, error));
            else if (own[i].holds == TEXT)
                KF_TRY(kf_json_string(place, json, *key, own[i].needed, &text, error));
            else
                KF_TRY(check_names(place, json, *key, own[i].needed, error));
        }
    return KF_OK;
}

static kf_status read_figure(kf_suite_file *file, const object_list *timings, const object_list *figures,
                             int index, const cJSON *json, kf_error *error) {
    const kf_json_place place = figures->place;
    kf_suite_figure *figure = &file->figures[index];
    const char *kind = NULL;
    *figure = (kf_suite_figure){.note = "", .must = NAN, .aim = NAN, .row = json};
    KF_TRY(kf_json_string(place, json, "name", true, &figure->name, error));
    KF_TRY(kf_json_string(place, json, "kind", true, &kind, error));
    if (find_kind(kind, &figure->kind, error) != KF_OK)
        return kf_fail_context(error, "%s: figures: %s", file->path, figure->name);
    KF_TRY(check_figure_keys(file, json, figure->kind, error));
    KF_TRY(check_own_keys(file, json, figure->kind, error));
    KF_TRY(read_timings_of(file, timings, json, "of", figure->name, &figure->of, &figure->of_count, error));
    KF_TRY(read_timings_of(file, timings, json, "against", figure->name, &figure->against,
                           &figure->against_count, error));
    if ((figure->of_count > 0) != (figure->kind->timings > 0) ||
        (figure->against_count > 0) != (figure->kind->timings > 1))
        return kf_fail(error, KF_BAD_INPUT, "%s: figures: %s: the kind %s %s", file->path, figure->name, kind,
                       figure->kind->timings == 0   ? "is made of no timing"
                       : figure->kind->timings == 1 ? "needs the key of, and no against"
                                                    : "needs the keys of and against");
    figure->unit = figure->kind->unit;
    KF_TRY(kf_json_string(place, json, "unit", false, &figure->unit, error));
    KF_TRY(kf_json_string(place, json, "note", false, &figure->note, error));
    KF_TRY(kf_json_number(place, json, "must", false, -1e30, 1e30, &figure->must, error));
    KF_TRY(kf_json_number(place, json, "aim", false, -1e30, 1e30, &figure->aim, error));
    KF_TRY(kf_json_number(place, json, "published", false, -1e30, 1e30, &figure->published, error));
    KF_TRY(kf_json_boolean(place, json, "of_share", false, &figure->of_share, error));
    KF_TRY(kf_json_boolean(place, json, "at_most", false, &figure->at_most, error));
    KF_TRY(kf_json_boolean(place, json, "gpu_only", false, &figure->gpu_only, error));
    return kf_json_boolean(place, json, "cpu_only", false, &figure->cpu_only, error);
}

/* --- The file ------------------------------------------------------------------------------------------- */

/* Reads which groups of roofs the suite measures. Those of memory are always measured. */
static kf_status read_roofs(kf_suite_file *file, kf_error *error) {
    static const char *const names[] = {"arithmetic", "memory", "atomics", "launches"};
    static const unsigned groups[] = {KF_ROOFS_ARITHMETIC, KF_ROOFS_MEMORY, KF_ROOFS_ATOMICS,
                                      KF_ROOFS_LAUNCHES};
    file->roofs = KF_ROOFS_MEMORY;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(file->root, "roofs"), *item;
    cJSON_ArrayForEach(item, list) {
        unsigned found = 0;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (cJSON_IsString(item) && strcmp(item->valuestring, names[i]) == 0) found = groups[i];
        if (found == 0)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: roofs: must be a list of arithmetic, memory, atomics, launches", file->path);
        file->roofs |= found;
    }
    return KF_OK;
}

static bool is_printable(const cJSON *json) {
    if ((json->string != NULL && !kf_is_printable(json->string)) ||
        (cJSON_IsString(json) && !kf_is_printable(json->valuestring)))
        return false;
    for (const cJSON *item = json->child; item != NULL; item = item->next)
        if (!is_printable(item)) return false;
    return true;
}

/* Reads a suite from its JSON. Scenes come first, because timings and figures refer to them by name. Anything
 * unknown is refused with its place in the file. */
static kf_status read_file(kf_suite_file *file, kf_error *error) {
    static const char *const keys[] = {"suite", "description", "promise", "asked_of",   "about",   "seconds",
                                       "roofs", "scenes",      "timings", "candidates", "figures", NULL};
    const kf_json_place place = {file->path, ""};
    object_list scenes, timings, figures;
    if (!cJSON_IsObject(file->root))
        return kf_fail(error, KF_BAD_INPUT, "%s: must be an object {...}", file->path);
    if (!is_printable(file->root))
        return kf_fail(error, KF_BAD_INPUT, "%s: a text in it has characters that cannot be printed",
                       file->path);
    if (cJSON_HasObjectItem(file->root, "benchmarks"))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: is a suite of `kftune nightly --suite %s`; figures are missing", file->path,
                       file->path);
    KF_TRY(kf_json_check_keys(place, file->root, keys, error));
    KF_TRY(kf_json_string(place, file->root, "asked_of", false, &file->asked_of, error));
    KF_TRY(kf_json_number(place, file->root, "seconds", false, 1, 1e5, &file->seconds, error));
    KF_TRY(read_roofs(file, error));
    KF_TRY(open_list(file, "scenes", &scenes, error));
    KF_TRY(open_list(file, "timings", &timings, error));
    KF_TRY(open_list(file, "figures", &figures, error));
    KF_TRY(read_reference(place, file->root, "about", false, &scenes, scenes.count, &file->about, error));
    file->scenes = kf_allocate_zeroed((size_t)scenes.count + 1, sizeof *file->scenes);
    for (int i = 0; i < scenes.count; i++, file->scene_count++)
        KF_TRY(read_scene(file, &scenes, i, cJSON_GetArrayItem(scenes.items, i), error));
    file->timings = kf_allocate_zeroed((size_t)timings.count + 1, sizeof *file->timings);
    for (int i = 0; i < timings.count; i++) {
        file->timing_count++;
        KF_TRY(read_timing(file, &scenes, &timings, i, cJSON_GetArrayItem(timings.items, i), error));
    }
    file->figures = kf_allocate_zeroed((size_t)figures.count + 1, sizeof *file->figures);
    for (int i = 0; i < figures.count; i++) {
        file->figure_count++;
        KF_TRY(read_figure(file, &timings, &figures, i, cJSON_GetArrayItem(figures.items, i), error));
    }
    if (figures.count > 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: figures: must be a list of at least one", file->path);
}

kf_status kf_suite_file_read(const char *path, kf_suite_file **file, kf_error *error) {
    kf_suite_file *made = *file = kf_allocate_zeroed(1, sizeof *made);
    kf_status status = kf_path(made->path, error, "%s", path);
    if (status == KF_OK) status = kf_json_read_file(path, &made->root, error);
    if (status == KF_OK) status = read_file(made, error);
    if (status == KF_OK) return KF_OK;
    kf_suite_file_free(made);
    *file = NULL;
    return status;
}

void kf_suite_file_free(kf_suite_file *file) {
    if (file == NULL) return;
    for (int i = 0; i < file->timing_count; i++)
        free(file->timings[i].candidates);
    for (int i = 0; i < file->figure_count; i++) {
        free(file->figures[i].of);
        free(file->figures[i].against);
    }
    free(file->scenes);
    free(file->timings);
    free(file->figures);
    cJSON_Delete(file->root);
    free(file);
}
