/* The command kftune list names systems, scenes, strategies, metrics and devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/backend.h"
#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/counters/metric_set.h"
#include "harness/search/strategy.h"
#include "scene/scene.h"
#include "solver/systems.h"

/* Holds the listed names with a line about each. They are collected first, so that text and JSON have the
 * same content. */
typedef struct listing {
    cJSON *entries; /* [{"name", "summary"}] */
} listing;

static void add(listing *list, const char *name, const char *summary) {
    cJSON *entry = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(entry, "name", name);
    (void)cJSON_AddStringToObject(entry, "summary", summary);
    (void)cJSON_AddItemToArray(list->entries, entry);
}

static kf_status list_systems(listing *list, kf_error *error) {
    (void)error;
    for (int i = 0; kf_systems[i] != NULL; i++)
        add(list, kf_systems[i]->name, kf_systems[i]->summary);
    return KF_OK;
}

/* Cuts a text after its first sentence and drops the full stop. The stop of "(Lube et al. 2005)" ends no
 * sentence. */
static void keep_first_sentence(char *text) {
    int open = 0;
    for (char *c = text; *c != '\0'; c++) {
        open += (*c == '(') - (*c == ')');
        if (open <= 0 && *c == '.' && (c[1] == ' ' || c[1] == '\0')) {
            *c = '\0';
            return;
        }
    }
}

/* Adds a scene with the first sentence of its description. */
static kf_status add_scene(listing *list, const char *name, kf_error *error) {
    char path[KF_PATH], first[400] = "";
    cJSON *root = NULL;
    KF_TRY(kf_scene_find(name, path, error));
    KF_TRY(kf_json_read_file(path, &root, error));
    const cJSON *words = cJSON_GetObjectItemCaseSensitive(root, "description");
    if (words == NULL) words = cJSON_GetObjectItemCaseSensitive(root, "comment"); /* of particles */
    if (cJSON_IsString(words)) kf_copy_text(first, sizeof first, words->valuestring);
    keep_first_sentence(first);
    add(list, name, first);
    cJSON_Delete(root);
    return KF_OK;
}

static kf_status list_scenes(listing *list, kf_error *error) {
    const char *const *names = NULL;
    KF_TRY(kf_scene_library(&names, error));
    for (int i = 0; names[i] != NULL; i++)
        KF_TRY(add_scene(list, names[i], error));
    return KF_OK;
}

/* Adds a strategy and its options. */
static void add_strategy(listing *list, const kf_strategy_methods *strategy) {
    add(list, strategy->name, strategy->summary);
    for (const kf_strategy_option *o = strategy->options; o != NULL && o->name != NULL; o++) {
        char name[64], summary[256];
        (void)snprintf(name, sizeof name, "%s:%s=%g", strategy->name, o->name, o->usual);
        (void)snprintf(summary, sizeof summary, "%s; %g to %g", o->help, o->least, o->most);
        add(list, name, summary);
    }
}

static kf_status list_strategies(listing *list, kf_error *error) {
    (void)error;
    for (int i = 0; kf_strategies[i] != NULL; i++)
        add_strategy(list, kf_strategies[i]);
    return KF_OK;
}

static kf_status add_set(void *context, const char *name, kf_error *error) {
    kf_metric_set *set = NULL;
    KF_TRY(kf_metric_set_open(name, &set, error));
    add(context, name, set->summary);
    kf_metric_set_free(set);
    return KF_OK;
}

static kf_status list_metrics(listing *list, kf_error *error) {
    return kf_metric_sets(add_set, list, error);
}

/* Lists the GPUs and the cpu. The cpu cannot be used without a compiler, which is an error only if there is
 * no GPU either. */
static kf_status list_devices(listing *list, kf_error *error) {
    char why[256] = "";
    int count = kf_cuda_device_count(why, sizeof why);
    kf_device_info info;
    for (int i = 0; i < count; i++) {
        char memory[32], summary[256];
        KF_TRY(kf_cuda_device_describe(i, &info, error));
        (void)snprintf(summary, sizeof summary, "%s, %s, %s", info.name, info.architecture,
                       kf_human_bytes((double)info.memory_bytes, memory));
        add(list, info.spec, summary);
    }
    if (kf_cpu_device_describe(&info, error) != KF_OK) {
        /* Without a compiler only GPUs can be used. */
        if (count == 0) return error->status;
        return KF_OK;
    }
    char summary[256];
    (void)snprintf(summary, sizeof summary, "%s, %d threads", info.name, info.multiprocessors);
    add(list, info.spec, summary);
    return KF_OK;
}

static const struct {
    const char *name;
    kf_status (*fill)(listing *list, kf_error *error);
} kinds[] = {
    {"systems", list_systems}, {"scenes", list_scenes},   {"strategies", list_strategies},
    {"metrics", list_metrics}, {"devices", list_devices},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void print_text(const listing *list) {
    const cJSON *entry;
    cJSON_ArrayForEach(entry, list->entries) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(entry, "name"));
        printf("%-22s %s\n", name, cJSON_GetStringValue(cJSON_GetObjectItem(entry, "summary")));
    }
}

static void print_json(const listing *list, const char *kind) {
    cJSON *json = kf_json_answer("list");
    (void)cJSON_AddItemToObject(json, kind, cJSON_Duplicate(list->entries, true));
    kf_json_print(json);
}

/* Runs kftune list: prints the names of the wanted kind. An unknown kind is refused with the nearest known
 * one. */
static kf_status run(const kf_arguments *arguments, kf_error *error) {
    const char *names[KINDS];
    for (int i = 0; i < KINDS; i++)
        names[i] = kinds[i].name;
    if (arguments->positional_count == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "list: say what: systems, scenes, strategies, metrics or devices");
    const char *wanted = arguments->positional[0];
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(wanted, names[i]) != 0) continue;
        listing list = {.entries = cJSON_CreateArray()};
        kf_status status = kinds[i].fill(&list, error);
        if (status == KF_OK && kf_arguments_json(arguments))
            print_json(&list, names[i]);
        else if (status == KF_OK)
            print_text(&list);
        cJSON_Delete(list.entries);
        return status;
    }
    char hint[KF_HINT];
    return kf_fail(error, KF_BAD_INPUT,
                   "list: unknown '%s'%s; there are systems, scenes, strategies, metrics, devices", wanted,
                   kf_hint(wanted, names, KINDS, hint));
}

static const kf_option options[] = {{NULL, NULL, NULL, KF_FLAG}};
static const char *const positional[] = {"systems|scenes|strategies|metrics|devices", NULL};

extern const kf_command kf_command_list;
const kf_command kf_command_list = {
    .name = "list",
    .summary = "list systems, scenes, strategies, metrics or devices",
    .synopsis = "kftune list systems|scenes|strategies|metrics|devices [options]",
    .description = "Prints names that other commands accept, one on each line.",
    .example = "kftune list devices",
    .options = options,
    .positional = positional,
    .run = run,
};
