#include "base/space/config.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/text.h"

/* --- Values --------------------------------------------------------------------------------------------- */

/* Returns where the parameter is, or where it belongs. */
static int find_place(const kf_config *config, const char *parameter, bool *found) {
    int place = 0, end = config->count;
    *found = false;
    while (place < end) {
        const int middle = (place + end) / 2, order = strcmp(config->values[middle].parameter, parameter);
        if (order < 0)
            place = middle + 1;
        else
            end = middle;
        *found = *found || order == 0;
    }
    return place;
}

static kf_value *slot(kf_config *config, const char *parameter) {
    bool found;
    int place = find_place(config, parameter, &found);
    kf_value *value = &config->values[place];
    if (!found) {
        assert(config->count < KF_CONFIG_VALUES && strlen(parameter) < KF_NAME);
        memmove(value + 1, value, (size_t)(config->count - place) * sizeof *value);
        config->count++;
    }
    memset(value, 0, sizeof *value);
    kf_copy_text(value->parameter, sizeof value->parameter, parameter);
    return value;
}

void kf_config_set_integer(kf_config *config, const char *parameter, long value) {
    kf_value *target = slot(config, parameter);
    target->kind = KF_VALUE_INTEGER;
    target->integer = value;
}

void kf_config_set_boolean(kf_config *config, const char *parameter, bool value) {
    kf_value *target = slot(config, parameter);
    target->kind = KF_VALUE_BOOLEAN;
    target->integer = value;
}

void kf_config_set_name(kf_config *config, const char *parameter, const char *value) {
    assert(strlen(value) < KF_NAME);
    kf_value *target = slot(config, parameter);
    target->kind = KF_VALUE_NAME;
    kf_copy_text(target->name, sizeof target->name, value);
}

void kf_config_set(kf_config *config, const kf_value *value) {
    if (value->kind == KF_VALUE_INTEGER)
        kf_config_set_integer(config, value->parameter, value->integer);
    else if (value->kind == KF_VALUE_BOOLEAN)
        kf_config_set_boolean(config, value->parameter, value->integer != 0);
    else
        kf_config_set_name(config, value->parameter, value->name);
}

const kf_value *kf_config_find(const kf_config *config, const char *parameter) {
    bool found;
    const int place = find_place(config, parameter, &found);
    return found ? &config->values[place] : NULL;
}

void kf_config_remove(kf_config *config, const char *parameter) {
    bool found;
    const int place = find_place(config, parameter, &found);
    if (!found) return;
    config->count--;
    memmove(&config->values[place], &config->values[place + 1],
            (size_t)(config->count - place) * sizeof config->values[0]);
}

static kf_status find_value(const kf_config *config, const char *parameter, kf_value_kind kind,
                            const kf_value **value, kf_error *error) {
    static const char *const kinds[] = {"an integer", "a boolean", "a name"};
    bool found;
    int place = find_place(config, parameter, &found);
    if (!found)
        return kf_fail(error, KF_BAD_INPUT, "the config of system %s has no parameter '%s'", config->system,
                       parameter);
    *value = &config->values[place];
    if ((*value)->kind != kind)
        return kf_fail(error, KF_BAD_INPUT, "the config's parameter '%s' is %s, not %s", parameter,
                       kinds[(*value)->kind], kinds[kind]);
    return KF_OK;
}

kf_status kf_config_integer(const kf_config *config, const char *parameter, long *value, kf_error *error) {
    const kf_value *found = NULL;
    KF_TRY(find_value(config, parameter, KF_VALUE_INTEGER, &found, error));
    *value = found->integer;
    return KF_OK;
}

kf_status kf_config_boolean(const kf_config *config, const char *parameter, bool *value, kf_error *error) {
    const kf_value *found = NULL;
    KF_TRY(find_value(config, parameter, KF_VALUE_BOOLEAN, &found, error));
    *value = found->integer != 0;
    return KF_OK;
}

kf_status kf_config_name(const kf_config *config, const char *parameter, const char **value,
                         kf_error *error) {
    const kf_value *found = NULL;
    KF_TRY(find_value(config, parameter, KF_VALUE_NAME, &found, error));
    *value = found->name;
    return KF_OK;
}

kf_status kf_config_choice(const kf_config *config, const char *parameter, const char *const *names,
                           int count, int *index, kf_error *error) {
    const char *value;
    KF_TRY(kf_config_name(config, parameter, &value, error));
    for (*index = 0; *index < count; ++*index)
        if (strcmp(value, names[*index]) == 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "config: parameter '%s' has the unknown value '%s'", parameter,
                   value);
}

/* --- Text ----------------------------------------------------------------------------------------------- */

cJSON *kf_config_to_json(const kf_config *config) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "system", config->system);
    cJSON *parameters = cJSON_AddObjectToObject(json, "parameters");
    for (int i = 0; i < config->count; i++) {
        const kf_value *value = &config->values[i];
        if (value->kind == KF_VALUE_INTEGER)
            cJSON_AddNumberToObject(parameters, value->parameter, (double)value->integer);
        else if (value->kind == KF_VALUE_BOOLEAN)
            cJSON_AddBoolToObject(parameters, value->parameter, value->integer != 0);
        else
            cJSON_AddStringToObject(parameters, value->parameter, value->name);
    }
    return json;
}

char *kf_config_text(const kf_config *config) {
    cJSON *json = kf_config_to_json(config);
    char *text = kf_json_canonical(json);
    cJSON_Delete(json);
    return text;
}

void kf_config_hash(const kf_config *config, char hex[KF_HASH_HEX]) {
    char *text = kf_config_text(config);
    kf_hash_bytes(text, strlen(text), hex);
    free(text);
}

static void append_value(kf_text *text, const kf_value *value) {
    kf_text_append(text, "%s=", value->parameter);
    if (value->kind == KF_VALUE_INTEGER)
        kf_text_append(text, "%ld", value->integer);
    else
        kf_text_append(text, "%s",
                       value->kind == KF_VALUE_NAME ? value->name
                       : value->integer != 0        ? "true"
                                                    : "false");
}

char *kf_config_summary(const kf_config *config) {
    kf_text text = {0};
    kf_text_append(&text, "%s", "");
    for (int i = 0; i < config->count; i++) {
        kf_text_append(&text, "%s", i == 0 ? "" : " ");
        append_value(&text, &config->values[i]);
    }
    return text.text;
}

bool kf_same_value(const kf_value *a, const kf_value *b) {
    return a->kind == b->kind && a->integer == b->integer && strcmp(a->name, b->name) == 0;
}

static bool has_value(const kf_config *config, const kf_value *value) {
    const kf_value *other = kf_config_find(config, value->parameter);
    return other != NULL && kf_same_value(other, value);
}

char *kf_config_relative(const kf_config *config, const kf_config *base, const char *name) {
    if (base == NULL) return kf_config_summary(config);
    kf_text text = {0};
    kf_text_append(&text, "%s", name);
    const char *separator = " with ";
    for (int i = 0; i < config->count; i++) {
        if (has_value(base, &config->values[i])) continue;
        kf_text_append(&text, "%s", separator);
        append_value(&text, &config->values[i]);
        separator = " ";
    }
    return text.text;
}

/* --- Reading -------------------------------------------------------------------------------------------- */

bool kf_config_plain_name(const char *name) {
    size_t length = strlen(name);
    if (length == 0 || length >= KF_NAME) return false;
    for (size_t i = 0; i < length; i++)
        if (name[i] <= ' ' || name[i] > '~' || strchr("\"'\\", name[i]) != NULL) return false;
    return true;
}

/* Reads one parameter of a config: a whole number, a truth or a name. */
static kf_status read_parameter(const char *file, const cJSON *member, kf_config *config, kf_error *error) {
    bool twice;
    if (!kf_config_plain_name(member->string))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: parameters: a parameter's name must be 1 to %d printable characters without spaces", file,
            KF_NAME - 1);
    (void)find_place(config, member->string, &twice);
    if (twice)
        return kf_fail(error, KF_BAD_INPUT, "%s: parameters.%s is there twice; remove one", file,
                       member->string);
    if (config->count == KF_CONFIG_VALUES)
        return kf_fail(error, KF_BAD_INPUT, "%s: parameters: more than %d parameters", file,
                       KF_CONFIG_VALUES);
    if (cJSON_IsBool(member)) {
        kf_config_set_boolean(config, member->string, cJSON_IsTrue(member) != 0);
    } else if (cJSON_IsNumber(member)) {
        if (!(fabs(member->valuedouble) <= (double)KF_JSON_WHOLE) ||
            member->valuedouble != trunc(member->valuedouble))
            return kf_fail(error, KF_BAD_INPUT, "%s: parameters.%s must be a whole number, not %.17g", file,
                           member->string, member->valuedouble);
        kf_config_set_integer(config, member->string, (long)member->valuedouble);
    } else if (cJSON_IsString(member) && kf_config_plain_name(member->valuestring)) {
        kf_config_set_name(config, member->string, member->valuestring);
    } else {
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: parameters.%s must be an integer, true, false or a name of 1 to %d printable "
                       "characters without spaces",
                       file, member->string, KF_NAME - 1);
    }
    return KF_OK;
}

/* Reads a config from JSON, {"system", "parameters"}. It is not compared with a space here. */
kf_status kf_config_from_json(const char *file, const cJSON *json, kf_config *config, kf_error *error) {
    static const char *const keys[] = {"system", "parameters", NULL};
    kf_json_place place = {file, ""};
    const char *system = NULL;
    const cJSON *parameters = NULL;
    KF_TRY(kf_json_check_keys(place, json, keys, error));
    KF_TRY(kf_json_string(place, json, "system", true, &system, error));
    KF_TRY(kf_json_object(place, json, "parameters", true, &parameters, error));
    if (!kf_config_plain_name(system))
        return kf_fail(error, KF_BAD_INPUT, "%s: system must be a name of 1 to %d printable characters", file,
                       KF_NAME - 1);
    kf_config read = {0};
    kf_copy_text(read.system, sizeof read.system, system);
    const cJSON *member;
    cJSON_ArrayForEach(member, parameters) KF_TRY(read_parameter(file, member, &read, error));
    *config = read;
    return KF_OK;
}
