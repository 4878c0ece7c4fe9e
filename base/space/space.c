#include "base/space/space.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/space/space_parts.h"
#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/memory.h"

/* --- --fix ---------------------------------------------------------------------------------------------- */

static kf_status parse_fixed(const kf_parameter *parameter, const char *text, kf_scalar *value,
                             kf_error *error) {
    char *end = NULL;
    switch (parameter->kind) {
    case KF_VALUE_INTEGER:
        errno = 0;
        *value = (kf_scalar){.kind = KF_SCALAR_INTEGER, .integer = strtoll(text, &end, 10)};
        if (text[0] == '\0' || *end != '\0' || errno != 0)
            return kf_fail(error, KF_BAD_INPUT, "'%.60s' is not an integer", text);
        return KF_OK;
    case KF_VALUE_BOOLEAN:
        *value = (kf_scalar){.kind = KF_SCALAR_BOOLEAN, .integer = strcmp(text, "true") == 0};
        if (value->integer == 0 && strcmp(text, "false") != 0)
            return kf_fail(error, KF_BAD_INPUT, "'%.60s' is neither true nor false", text);
        return KF_OK;
    case KF_VALUE_NAME:
        break;
    }
    *value = (kf_scalar){.kind = KF_SCALAR_STRING, .text = text};
    return KF_OK;
}

static kf_status fail_outside(const kf_parameter *parameter, const char *word, kf_error *error) {
    kf_text domain = {0};
    kf_domain_text(parameter, &domain);
    kf_status status = kf_fail(error, KF_BAD_INPUT, "--fix %s=%.60s is outside the domain: %.600s",
                               parameter->name, word, domain.text);
    kf_text_free(&domain);
    return status;
}

static kf_status allow(kf_parameter *parameter, const char *word, bool *allowed, kf_error *error) {
    kf_scalar value;
    if (parse_fixed(parameter, word, &value, error) != KF_OK)
        return kf_fail_context(error, "--fix %s", parameter->name);
    int position = kf_parameter_position(parameter, &value);
    if (position < 0) return fail_outside(parameter, word, error);
    allowed[position] = true;
    return KF_OK;
}

/* Fixes a parameter to the values of `text`, apart by commas. */
static kf_status fix_parameter(kf_parameter *parameter, const char *text, kf_error *error) {
    if (parameter->choices != NULL)
        return kf_fail(error, KF_BAD_INPUT, "--fix %s is given twice; give its values as %s=VALUE,VALUE",
                       parameter->name, parameter->name);
    bool *allowed = kf_allocate_zeroed((size_t)parameter->value_count, sizeof *allowed);
    kf_status status = KF_OK;
    for (const char *at = text; at != NULL && status == KF_OK; at = strchr(at, ',')) {
        char word[2 * KF_NAME];
        /* Skips the comma. */
        at += at != text;
        size_t length = strcspn(at, ",");
        (void)snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
        status = allow(parameter, word, allowed, error);
    }
    parameter->choices = kf_allocate((size_t)parameter->value_count * sizeof *parameter->choices);
    for (int i = 0; i < parameter->value_count; i++)
        if (allowed[i]) parameter->choices[parameter->choice_count++] = i;
    free(allowed);
    return status;
}

/* Applies one --fix, or says which parameter was meant. */
static kf_status fix(kf_space *space, const char *given, kf_error *error) {
    const char *names[KF_CONFIG_VALUES], *equals = strchr(given, '=');
    if (equals == NULL || equals == given)
        return kf_fail(error, KF_BAD_INPUT, "--fix takes PARAMETER=VALUE[,VALUE]..., not '%.80s'", given);
    char key[KF_NAME];
    (void)snprintf(key, sizeof key, "%.*s", (int)(equals - given < KF_NAME ? equals - given : KF_NAME - 1),
                   given);
    for (int p = 0; p < space->parameter_count; p++) {
        names[p] = space->parameters[p].name;
        if (strcmp(names[p], key) == 0) return fix_parameter(&space->parameters[p], equals + 1, error);
    }
    const char *becomes = NULL;
    if (kf_space_former(space, key, &becomes) != NULL)
        return kf_fail(error, KF_BAD_INPUT, "--fix: system %s has no parameter '%s' any more%s%s%s",
                       space->system, key, becomes == NULL ? "" : "; it is '", becomes == NULL ? "" : becomes,
                       becomes == NULL ? "" : "' now");
    const char *nearest = kf_nearest(key, names, space->parameter_count);
    kf_text all = {0};
    for (int p = 0; p < space->parameter_count && nearest == NULL; p++)
        kf_text_append(&all, "%s%s", p == 0 ? "; there are: " : ", ", names[p]);
    kf_status status =
        nearest != NULL
            ? kf_fail(error, KF_BAD_INPUT, "--fix: system %s has no parameter '%s'; did you mean '%s'?",
                      space->system, key, nearest)
            : kf_fail(error, KF_BAD_INPUT, "--fix: system %s has no parameter '%s'%.600s", space->system, key,
                      all.text);
    kf_text_free(&all);
    return status;
}

/* --- Making --------------------------------------------------------------------------------------------- */

static kf_status fail_empty(const kf_space *space, bool fixed, kf_error *error) {
    double share = 0;
    const kf_constraint *strictest = kf_constraint_strictest(space, &share);
    const char *cause = fixed ? " with what --fix leaves" : "";
    if (strictest == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: no config is valid%s", space->file, cause);
    return kf_fail(
        error, KF_BAD_INPUT,
        "%s: no config is valid%s; the constraint \"%.200s\" (%.200s) excludes the most: %.3g %% of the "
        "combinations of its parameters",
        space->file, cause, strictest->text, strictest->reason, 100 * share);
}

static void order_by_name(kf_space *space) {
    for (int p = 0; p < space->parameter_count; p++) {
        int place = p;
        for (; place > 0; place--) {
            const int before = space->by_name[place - 1];
            if (strcmp(space->parameters[before].name, space->parameters[p].name) < 0) break;
            space->by_name[place] = before;
        }
        space->by_name[place] = p;
    }
}

static kf_status fill(kf_space *space, const cJSON *declaration, const char *const *fixed, int fixed_count,
                      kf_error *error) {
    KF_TRY(kf_space_read(space, declaration, error));
    order_by_name(space);
    for (int i = 0; i < fixed_count; i++)
        KF_TRY(fix(space, fixed[i], error));
    KF_TRY(kf_tree_build(space, error));
    return space->size > 0 ? KF_OK : fail_empty(space, fixed_count > 0, error);
}

/* Makes a message one line. Messages quote the declaration, which may contain line breaks. */
static void keep_one_line(kf_error *error) {
    if (error == NULL) return;
    for (char *c = error->message; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c)) *c = '?';
}

kf_status kf_space_build(const char *file, const cJSON *declaration, const char *system,
                         const kf_variables *variables, const char *const *fixed, int fixed_count,
                         kf_space **space, kf_error *error) {
    kf_space *made = kf_allocate_zeroed(1, sizeof *made);
    made->file = kf_duplicate(file);
    made->variables = *variables;
    kf_copy_text(made->system, sizeof made->system, system);
    kf_status status = fill(made, declaration, fixed, fixed_count, error);
    *space = NULL;
    if (status == KF_OK) {
        *space = made;
    } else {
        keep_one_line(error);
        kf_space_free(made);
    }
    return status;
}

kf_status kf_space_open(const char *system, const char *system_file, const kf_variables *variables,
                        const char *const *fixed, int fixed_count, kf_space **space, kf_error *error) {
    const char *folder = NULL;
    char path[KF_PATH];
    cJSON *declaration = NULL;
    *space = NULL;
    if (variables->declaration != NULL)
        return kf_space_build(variables->declaration_file, variables->declaration, system, variables, fixed,
                              fixed_count, space, error);
    KF_TRY(kf_data_folder(&folder, error));
    KF_TRY(kf_path(path, error, "%s/%s", folder, system_file));
    KF_TRY(kf_json_read_file(path, &declaration, error));
    kf_status status = kf_space_build(path, declaration, system, variables, fixed, fixed_count, space, error);
    cJSON_Delete(declaration);
    return status;
}

static void free_parameter(kf_parameter *parameter) {
    for (int i = 0; i < parameter->value_count; i++)
        if (parameter->values[i].kind == KF_SCALAR_STRING) free((void *)(uintptr_t)parameter->values[i].text);
    free(parameter->values);
    free(parameter->sorted);
    free(parameter->choices);
    free(parameter->help);
}

/* Frees a space; NULL is allowed. */
void kf_space_free(kf_space *space) {
    if (space == NULL) return;
    kf_tree_free(space);
    for (int p = 0; p < space->parameter_count; p++)
        free_parameter(&space->parameters[p]);
    for (int c = 0; c < space->constraint_count; c++) {
        kf_expression_free(space->constraints[c].expression);
        free(space->constraints[c].text);
        free(space->constraints[c].reason);
    }
    free(space->constraints);
    free(space->presets);
    cJSON_Delete(space->former);
    free(space->file);
    free(space);
}

/* --- Asking --------------------------------------------------------------------------------------------- */

double kf_space_raw_size(const kf_space *space) {
    double size = 1;
    for (int p = 0; p < space->parameter_count; p++)
        size *= kf_parameter_choices(&space->parameters[p]);
    return size;
}

uint64_t kf_space_size(const kf_space *space) {
    return space->size;
}
int kf_space_parameter_count(const kf_space *space) {
    return space->parameter_count;
}
bool kf_space_parameter_is_of_team(const kf_space *space, int parameter) {
    return space->parameters[parameter].team;
}

const char *kf_space_parameter_name(const kf_space *space, int parameter) {
    return space->parameters[parameter].name;
}
int kf_space_domain_size(const kf_space *space, int parameter) {
    return space->parameters[parameter].value_count;
}
int kf_space_preset_count(const kf_space *space) {
    return space->preset_count;
}
const char *kf_space_preset_name(const kf_space *space, int preset) {
    return space->presets[preset].name;
}

void kf_space_value(const kf_space *space, int parameter, int position, kf_value *value) {
    const kf_parameter *from = &space->parameters[parameter];
    memset(value, 0, sizeof *value);
    kf_copy_text(value->parameter, sizeof value->parameter, from->name);
    value->kind = from->kind;
    if (from->kind == KF_VALUE_NAME)
        kf_copy_text(value->name, sizeof value->name, from->values[position].text);
    else
        value->integer = (long)from->values[position].integer;
}

static void config_from_positions(const kf_space *space, const int *positions, kf_config *config) {
    memset(config, 0, sizeof *config);
    kf_copy_text(config->system, sizeof config->system, space->system);
    config->count = space->parameter_count;
    for (int i = 0; i < config->count; i++) {
        const int p = space->by_name[i];
        kf_space_value(space, p, positions[p], &config->values[i]);
    }
}

/* Returns the last edge of a node with at most `index` configs before it. */
static uint32_t edge_by_index(const kf_level *level, uint32_t node, uint64_t index) {
    uint32_t low = level->first_edge[node], high = level->first_edge[node + 1] - 1;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (level->before[middle] <= index)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void kf_space_positions(const kf_space *space, uint64_t index, int positions[KF_CONFIG_VALUES]) {
    uint32_t node = 0;
    for (int number = 0; number < space->parameter_count; number++) {
        const kf_level *level = &space->levels[number];
        uint32_t edge = edge_by_index(level, node, index);
        index -= level->before[edge];
        positions[level->parameter] = level->value[edge];
        node = level->child[edge];
    }
}

/* Finds the index of a config by the positions of its values. It descends the tree and counts the configs
 * before it. Returns false when the config is not in the space. */
bool kf_space_positions_index(const kf_space *space, const int positions[KF_CONFIG_VALUES], uint64_t *index) {
    uint32_t node = 0;
    uint64_t before = 0;
    for (int number = 0; number < space->parameter_count; number++) {
        const kf_level *level = &space->levels[number];
        uint32_t low = level->first_edge[node], high = level->first_edge[node + 1], end = high;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (level->value[middle] < positions[level->parameter])
                low = middle + 1;
            else
                high = middle;
        }
        if (low == end || level->value[low] != positions[level->parameter]) return false;
        before += level->before[low];
        node = level->child[low];
    }
    *index = before;
    return true;
}

void kf_space_config(const kf_space *space, uint64_t index, kf_config *config) {
    int positions[KF_CONFIG_VALUES];
    kf_space_positions(space, index, positions);
    config_from_positions(space, positions, config);
}

kf_status kf_space_find_preset(const kf_space *space, const char *name, const kf_preset **preset,
                               kf_error *error) {
    const char *names[KF_SPACE_PRESETS + 1];
    *preset = NULL;
    for (int i = 0; i < space->preset_count; i++) {
        names[i] = space->presets[i].name;
        if (strcmp(names[i], name) != 0) continue;
        *preset = &space->presets[i];
        return KF_OK;
    }
    const char *nearest = kf_nearest(name, names, space->preset_count);
    return kf_fail(error, KF_BAD_INPUT, "system %s has no preset '%.60s'%s%s%s", space->system, name,
                   nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                   nearest == NULL ? "" : "'?");
}

kf_status kf_space_preset(const kf_space *space, const char *name, kf_config *config, kf_error *error) {
    const kf_preset *preset;
    KF_TRY(kf_space_find_preset(space, name, &preset, error));
    config_from_positions(space, preset->positions, config);
    return KF_OK;
}

/* --- From a config to its index ------------------------------------------------------------------------- */

static kf_status find_positions(const kf_space *space, const kf_config *config, int *positions,
                                kf_error *error) {
    if (strcmp(config->system, space->system) != 0)
        return kf_fail(error, KF_BAD_INPUT, "the config is for system %s, the space for %s", config->system,
                       space->system);
    for (int p = 0; p < space->parameter_count; p++)
        positions[p] = -1;
    for (int i = 0; i < config->count; i++) {
        const kf_value *value = &config->values[i];
        int p = 0;
        while (p < space->parameter_count && strcmp(space->parameters[p].name, value->parameter) != 0)
            p++;
        if (p == space->parameter_count)
            return kf_fail(error, KF_BAD_INPUT, "system %s has no parameter '%s'", space->system,
                           value->parameter);
        static const kf_scalar_kind kinds[] = {KF_SCALAR_INTEGER, KF_SCALAR_BOOLEAN, KF_SCALAR_STRING};
        kf_scalar scalar = {.kind = kinds[value->kind], .integer = value->integer, .text = value->name};
        positions[p] = kf_parameter_position(&space->parameters[p], &scalar);
        if (positions[p] >= 0) continue;
        kf_text text = {0};
        kf_scalar_text(&scalar, &text);
        kf_text_append(&text, " is not in the domain of %s: ", value->parameter);
        kf_domain_text(&space->parameters[p], &text);
        kf_status status = kf_fail(error, KF_BAD_INPUT, "%.600s", text.text);
        kf_text_free(&text);
        return status;
    }
    for (int p = 0; p < space->parameter_count; p++)
        if (positions[p] < 0)
            return kf_fail(error, KF_BAD_INPUT, "the config lacks the parameter %s",
                           space->parameters[p].name);
    return KF_OK;
}

static kf_status explain(const kf_space *space, const int *positions, kf_error *error) {
    const kf_constraint *violated = NULL;
    KF_TRY(kf_constraint_violated(space, positions, &violated, error));
    if (violated != NULL)
        return kf_fail(error, KF_BAD_INPUT, "violates the constraint \"%.200s\" (%.200s)", violated->text,
                       violated->reason);
    for (int p = 0; p < space->parameter_count; p++)
        if (!kf_parameter_allows(&space->parameters[p], positions[p]))
            return kf_fail(error, KF_BAD_INPUT, "%s does not have the value that --fix gives it",
                           space->parameters[p].name);
    return KF_OK;
}

bool kf_space_index(const kf_space *space, const kf_config *config, uint64_t *index, char *why,
                    size_t why_size) {
    int positions[KF_CONFIG_VALUES];
    kf_error error = {0};
    if (find_positions(space, config, positions, &error) == KF_OK) {
        if (kf_space_positions_index(space, positions, index)) return true;
        (void)explain(space, positions, &error);
    }
    if (why != NULL) kf_copy_text(why, why_size, error.message);
    return false;
}
