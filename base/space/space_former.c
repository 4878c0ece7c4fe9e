/* Parameters that a space had in other versions of the program: configs in files are read with them, as far
 * as they mean something today. */
#include <stdlib.h>
#include <string.h>

#include "base/space/space_parts.h"
#include "base/util/json.h"

/* --- The declaration -------------------------------------------------------------------------------------
 */

static bool has_parameter(const kf_space *space, const char *name) {
    for (int p = 0; p < space->parameter_count; p++)
        if (strcmp(space->parameters[p].name, name) == 0) return true;
    return false;
}

static bool is_literal(const cJSON *json) {
    return cJSON_IsBool(json) || cJSON_IsNumber(json) ||
           (cJSON_IsString(json) && kf_config_plain_name(json->valuestring));
}

/* Checks an entry of former parameters. {"name": N, "value": V} is a removed parameter with the value that it
 * had. {"name": N, "becomes": M, "values": {"V": W, ...}} is a renamed one; "values" gives new names of its
 * values. */
static kf_status check_former(const kf_space *space, const cJSON *json, int number, kf_error *error) {
    static const char *const keys[] = {"name", "value", "becomes", "values", NULL};
    char path[32];
    (void)snprintf(path, sizeof path, "former[%d]", number);
    const kf_json_place place = {space->file, path};
    const char *name = NULL, *becomes = NULL;
    const cJSON *values = NULL, *value = cJSON_GetObjectItemCaseSensitive(json, "value"), *one;
    KF_TRY(kf_json_check_keys(place, json, keys, error));
    KF_TRY(kf_json_string(place, json, "name", true, &name, error));
    KF_TRY(kf_json_string(place, json, "becomes", false, &becomes, error));
    KF_TRY(kf_json_object(place, json, "values", false, &values, error));
    if (!kf_config_plain_name(name) || has_parameter(space, name))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.name must be a name that no parameter has", space->file,
                       path);
    if ((becomes == NULL) != is_literal(value) || (becomes == NULL && values != NULL))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s needs either the \"value\" that had no effect, or the parameter's new name in "
                       "\"becomes\"",
                       space->file, path);
    if (becomes != NULL && !has_parameter(space, becomes))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.becomes: there is no parameter '%.60s'", space->file,
                       path, becomes);
    cJSON_ArrayForEach(one, values) {
        if (!is_literal(one))
            return kf_fail(error, KF_BAD_INPUT, "%s: %s.values: %.60s must become a value", space->file, path,
                           one->string);
    }
    return KF_OK;
}

kf_status kf_space_read_former(kf_space *space, const cJSON *list, kf_error *error) {
    const cJSON *item;
    int number = 0;
    cJSON_ArrayForEach(item, list) KF_TRY(check_former(space, item, number++, error));
    space->former = list == NULL ? NULL : cJSON_Duplicate(list, true);
    return KF_OK;
}

/* --- Configs ---------------------------------------------------------------------------------------------
 */

enum { VALUE_TEXT = KF_NAME + 8 };

static void value_text(const kf_value *value, char text[VALUE_TEXT]) {
    if (value->kind == KF_VALUE_INTEGER)
        (void)snprintf(text, VALUE_TEXT, "%ld", value->integer);
    else if (value->kind == KF_VALUE_BOOLEAN)
        (void)snprintf(text, VALUE_TEXT, "%s", value->integer != 0 ? "true" : "false");
    else
        (void)snprintf(text, VALUE_TEXT, "%s", value->name);
}

/* Returns the value of a literal that check_former has let pass. */
static kf_value value_of(const char *parameter, const cJSON *json) {
    kf_value value = {.kind = KF_VALUE_NAME};
    kf_copy_text(value.parameter, sizeof value.parameter, parameter);
    if (cJSON_IsBool(json)) {
        value.kind = KF_VALUE_BOOLEAN;
        value.integer = cJSON_IsTrue(json);
    } else if (cJSON_IsNumber(json)) {
        value.kind = KF_VALUE_INTEGER;
        value.integer = (long)json->valuedouble;
    } else {
        kf_copy_text(value.name, sizeof value.name, json->valuestring);
    }
    return value;
}

static void note(kf_text *notes, const char *name, const char *given, const char *meaning) {
    kf_text_append(notes, "%s%s=%s %s", notes->text != NULL ? "; " : "", name, given, meaning);
}

/* Removes the value of a removed parameter. */
static kf_status drop(kf_config *config, const kf_value *value, const char *given, const cJSON *former,
                      kf_text *notes, kf_error *error) {
    const kf_value harmless = value_of(value->parameter, cJSON_GetObjectItemCaseSensitive(former, "value"));
    char expected[VALUE_TEXT], name[KF_NAME];
    value_text(&harmless, expected);
    if (strcmp(given, expected) != 0)
        return kf_fail(error, KF_BAD_INPUT, "%s=%s: this version has no parameter %s any more: tune again",
                       value->parameter, given, value->parameter);
    kf_copy_text(name, sizeof name, value->parameter);
    note(notes, name, given, "is left out: there is no such parameter any more, and nothing changes");
    kf_config_remove(config, name);
    return KF_OK;
}

/* Renames a parameter and its value. */
static kf_status rename_value(kf_config *config, const kf_value *value, const char *given,
                              const cJSON *former, kf_text *notes, kf_error *error) {
    const char *becomes = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(former, "becomes"));
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(former, "values"),
                *json = cJSON_GetObjectItemCaseSensitive(values, given);
    char meaning[3 * KF_NAME], text[VALUE_TEXT], name[KF_NAME];
    kf_value now = *value;
    if (values != NULL && json == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s=%s: %s is %s now, which has no such value: tune again",
                       value->parameter, given, value->parameter, becomes);
    if (json != NULL) now = value_of(becomes, json);
    kf_copy_text(now.parameter, sizeof now.parameter, becomes);
    value_text(&now, text);
    (void)snprintf(meaning, sizeof meaning, "is read as %s=%s", becomes, text);
    kf_copy_text(name, sizeof name, value->parameter);
    note(notes, name, given, meaning);
    kf_config_remove(config, name);
    kf_config_set(config, &now);
    return KF_OK;
}

/* Adds parameters of teams to a config that is older than them, with the values that teams used then. */
static void add_teams(const kf_space *space, kf_config *config, kf_text *notes) {
    for (int p = 0; p < space->parameter_count; p++) {
        const kf_parameter *parameter = &space->parameters[p];
        char text[VALUE_TEXT];
        kf_value value;
        if (!parameter->team || kf_config_find(config, parameter->name) != NULL) continue;
        kf_space_value(space, p, parameter->default_position, &value);
        value_text(&value, text);
        note(notes, parameter->name, text, "is taken, which the config does not say");
        kf_config_set(config, &value);
    }
}

/* Goes through the former parameters one by one, then gives parameters of teams their defaults. */
kf_status kf_space_update(const kf_space *space, kf_config *config, kf_text *notes, kf_error *error) {
    const cJSON *former;
    cJSON_ArrayForEach(former, space->former) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(former, "name"));
        char given[VALUE_TEXT];
        const kf_value *value = kf_config_find(config, name);
        if (value == NULL) continue;
        value_text(value, given);
        if (cJSON_HasObjectItem(former, "becomes"))
            KF_TRY(rename_value(config, value, given, former, notes, error));
        else
            KF_TRY(drop(config, value, given, former, notes, error));
    }
    add_teams(space, config, notes);
    return KF_OK;
}

const char *kf_space_former(const kf_space *space, const char *name, const char **becomes) {
    const cJSON *former;
    cJSON_ArrayForEach(former, space->former) {
        const char *found = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(former, "name"));
        *becomes = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(former, "becomes"));
        if (strcmp(found, name) == 0) return found;
    }
    return NULL;
}
