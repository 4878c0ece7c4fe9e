/* Reads a declaration (format: docs/space-format.md): variables, parameters with resolved domains,
 * constraints and presets. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/space/space_parts.h"
#include "base/util/json.h"
#include "base/util/memory.h"

static const char *const kind_names[] = {"integer", "boolean", "name"};
static const kf_scalar_kind scalar_kinds[] = {KF_SCALAR_INTEGER, KF_SCALAR_BOOLEAN, KF_SCALAR_STRING};

/* --- Values --------------------------------------------------------------------------------------------- */

/* Checks that an evaluated or literal value can be one of the parameter's. */
static kf_status check_scalar(kf_value_kind kind, const kf_scalar *value, kf_error *error) {
    kf_text text = {0};
    kf_scalar_text(value, &text);
    kf_status status = KF_OK;
    if (value->kind != scalar_kinds[kind])
        status = kf_fail(error, KF_BAD_INPUT, "%.80s is not of type %s", text.text, kind_names[kind]);
    else if (kind == KF_VALUE_INTEGER && (value->integer > KF_JSON_WHOLE || value->integer < -KF_JSON_WHOLE))
        status = kf_fail(error, KF_BAD_INPUT, "%s is beyond 2^53 - 1", text.text);
    else if (kind == KF_VALUE_NAME && !kf_config_plain_name(value->text))
        status = kf_fail(error, KF_BAD_INPUT,
                         "'%.80s' must be 1 to %d printable characters without spaces or quotes", value->text,
                         KF_NAME - 1);
    kf_text_free(&text);
    return status;
}

/* Parses an expression that may use variables only. Domains and values must not depend on other parameters.
 */
static kf_status parse_over_variables(const kf_space *space, const char *text, kf_expression **expression,
                                      kf_error *error) {
    const char *names[KF_VARIABLES];
    for (int v = 0; v < space->variables.count; v++)
        names[v] = space->variables.values[v].name;
    KF_TRY(kf_expression_parse(text, expression, error));
    return kf_expression_check_names(*expression, names, space->variables.count, error);
}

/* Evaluates an expression. *value may be a text of *expression. The caller frees *expression in any case. */
static kf_status evaluate(const kf_space *space, const char *source, kf_expression **expression,
                          kf_scalar *value, kf_error *error) {
    KF_TRY(parse_over_variables(space, source, expression, error));
    return kf_expression_scalar(*expression, kf_space_variable, (void *)(uintptr_t)space, value, error);
}

/* Reads a literal of JSON as a value of that kind. */
static kf_status literal(kf_value_kind kind, const cJSON *json, kf_scalar *value, kf_error *error) {
    if (cJSON_IsBool(json)) {
        *value = (kf_scalar){.kind = KF_SCALAR_BOOLEAN, .integer = cJSON_IsTrue(json) != 0};
    } else if (cJSON_IsString(json)) {
        *value = (kf_scalar){.kind = KF_SCALAR_STRING, .text = json->valuestring};
    } else if (cJSON_IsNumber(json)) {
        if (!(fabs(json->valuedouble) <= (double)KF_JSON_WHOLE) ||
            json->valuedouble != trunc(json->valuedouble))
            return kf_fail(error, KF_BAD_INPUT, "%.17g is not a whole number of at most 2^53 - 1",
                           json->valuedouble);
        *value = (kf_scalar){.kind = KF_SCALAR_INTEGER, .integer = (long long)json->valuedouble};
    } else {
        return kf_fail(error, KF_BAD_INPUT, "must be a value of type %s", kind_names[kind]);
    }
    return check_scalar(kind, value, error);
}

static kf_status position_of(const kf_parameter *parameter, const kf_scalar *value, int *position,
                             kf_error *error) {
    KF_TRY(check_scalar(parameter->kind, value, error));
    *position = kf_parameter_position(parameter, value);
    if (*position >= 0) return KF_OK;
    kf_text given = {0}, domain = {0};
    kf_scalar_text(value, &given);
    kf_domain_text(parameter, &domain);
    kf_status status = kf_fail(error, KF_BAD_INPUT, "%s is not in the domain of %s: %.300s", given.text,
                               parameter->name, domain.text);
    kf_text_free(&given);
    kf_text_free(&domain);
    return status;
}

/* Reads a default or the value of a preset: a literal, or an expression in {"expression": ...}. Where strings
 * are not values, a string is an expression too. */
static kf_status read_position(const kf_space *space, const kf_parameter *parameter, const cJSON *json,
                               int *position, kf_error *error) {
    static const char *const keys[] = {"expression", NULL};
    const char *source = NULL;
    kf_scalar value;
    if (cJSON_IsObject(json)) {
        kf_json_place place = {space->file, parameter->name};
        KF_TRY(kf_json_check_keys(place, json, keys, error));
        KF_TRY(kf_json_string(place, json, "expression", true, &source, error));
    } else if (cJSON_IsString(json) && parameter->kind != KF_VALUE_NAME) {
        source = json->valuestring;
    } else {
        KF_TRY(literal(parameter->kind, json, &value, error));
        return position_of(parameter, &value, position, error);
    }
    kf_expression *expression = NULL;
    kf_status status = evaluate(space, source, &expression, &value, error);
    if (status == KF_OK) status = position_of(parameter, &value, position, error);
    kf_expression_free(expression);
    return status;
}

/* --- Parameters ----------------------------------------------------------------------------------------- */

static kf_status listed_values(const cJSON *list, kf_parameter *parameter, kf_error *error) {
    int count = cJSON_GetArraySize(list), i = 0;
    if (count > KF_SPACE_DOMAIN)
        return kf_fail(error, KF_BAD_INPUT, "%d values; at most %d are accepted", count, KF_SPACE_DOMAIN);
    parameter->values = kf_allocate_zeroed((size_t)count + 1, sizeof *parameter->values);
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        kf_scalar *value = &parameter->values[i++];
        KF_TRY(literal(parameter->kind, item, value, error));
        if (value->kind == KF_SCALAR_STRING) value->text = kf_duplicate(value->text);
        parameter->value_count = i;
    }
    return KF_OK;
}

static kf_status computed_values(const kf_space *space, const char *source, kf_parameter *parameter,
                                 kf_error *error) {
    kf_expression *expression = NULL;
    size_t count = 0;
    kf_status status = parse_over_variables(space, source, &expression, error);
    if (status == KF_OK)
        status = kf_expression_list(expression, kf_space_variable, (void *)(uintptr_t)space, KF_SPACE_DOMAIN,
                                    &parameter->values, &count, error);
    for (size_t i = 0; i < count && status == KF_OK; i++) {
        status = check_scalar(parameter->kind, &parameter->values[i], error);
        if (status != KF_OK) break;
        if (parameter->kind == KF_VALUE_NAME)
            parameter->values[i].text = kf_duplicate(parameter->values[i].text);
        parameter->value_count = (int)i + 1;
    }
    kf_expression_free(expression);
    return status;
}

typedef struct sortable {
    const kf_scalar *value;
    int position;
} sortable;

static int by_value(const void *left, const void *right) {
    const sortable *a = left, *b = right;
    int order = kf_scalar_compare(a->value, b->value);
    return order != 0 ? order : (a->position > b->position) - (a->position < b->position);
}

static sortable *sort_values(const kf_parameter *parameter) {
    size_t count = (size_t)parameter->value_count;
    sortable *order = kf_allocate(count * sizeof *order);
    for (int i = 0; i < parameter->value_count; i++)
        order[i] = (sortable){&parameter->values[i], i};
    qsort(order, count, sizeof *order, by_value);
    return order;
}

/* Removes repeated values. Of an expression the first one stays. A list that repeats a value is refused as a
 * mistake. */
static kf_status drop_repeated(kf_parameter *parameter, bool listed, kf_error *error) {
    sortable *order = sort_values(parameter);
    bool *repeated = kf_allocate_zeroed((size_t)parameter->value_count, sizeof *repeated);
    kf_status status = KF_OK;
    for (int i = 1; i < parameter->value_count && status == KF_OK; i++) {
        if (kf_scalar_compare(order[i - 1].value, order[i].value) != 0) continue;
        repeated[order[i].position] = true;
        if (!listed) continue;
        kf_text text = {0};
        kf_scalar_text(order[i].value, &text);
        status = kf_fail(error, KF_BAD_INPUT, "%s is there twice; remove one", text.text);
        kf_text_free(&text);
    }
    free(order);
    int kept = 0;
    for (int i = 0; i < parameter->value_count && status == KF_OK; i++) {
        if (!repeated[i])
            parameter->values[kept++] = parameter->values[i];
        else if (parameter->kind == KF_VALUE_NAME)
            free((void *)(uintptr_t)parameter->values[i].text);
    }
    if (status == KF_OK) parameter->value_count = kept;
    free(repeated);
    return status;
}

static kf_status read_values(const kf_space *space, const cJSON *json, kf_parameter *parameter,
                             kf_error *error) {
    bool listed = cJSON_IsArray(json);
    if (json == NULL && parameter->kind == KF_VALUE_BOOLEAN) {
        parameter->values = kf_allocate_zeroed(2, sizeof *parameter->values);
        parameter->values[0].kind = parameter->values[1].kind = KF_SCALAR_BOOLEAN;
        parameter->values[1].integer = 1;
        parameter->value_count = 2;
    } else if (listed) {
        KF_TRY(listed_values(json, parameter, error));
    } else if (json != NULL && cJSON_IsString(json)) {
        KF_TRY(computed_values(space, json->valuestring, parameter, error));
    } else {
        return kf_fail(error, KF_BAD_INPUT, "must be a list of values or an expression in a string");
    }
    if (parameter->value_count == 0)
        return kf_fail(error, KF_BAD_INPUT, "no value is left; a domain needs at least one");
    KF_TRY(drop_repeated(parameter, listed, error));
    sortable *order = sort_values(parameter);
    parameter->sorted = kf_allocate((size_t)parameter->value_count * sizeof *parameter->sorted);
    for (int i = 0; i < parameter->value_count; i++)
        parameter->sorted[i] = order[i].position;
    free(order);
    return KF_OK;
}

/* Returns whether expressions can use a name. */
static bool is_identifier(const char *name) {
    kf_expression *expression = NULL;
    if (!kf_config_plain_name(name) || kf_expression_parse(name, &expression, NULL) != KF_OK) return false;
    kf_expression_free(expression);
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return name[length] == '\0' && strspn(name, "0123456789") == 0 && strcmp(name, "True") != 0 &&
           strcmp(name, "False") != 0;
}

/* Checks that a new name is an identifier, and that no parameter or variable has it. */
static kf_status check_name(const kf_space *space, const char *name, kf_json_place place, kf_error *error) {
    kf_scalar value;
    if (!is_identifier(name))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.name: '%.60s' is no name: 1 to %d letters, digits and _, not beginning with a "
                       "digit and no "
                       "word of the expression language",
                       place.file, place.path, name, KF_NAME - 1);
    for (int p = 0; p < space->parameter_count; p++)
        if (strcmp(space->parameters[p].name, name) == 0)
            return kf_fail(error, KF_BAD_INPUT, "%s: %s.name: parameter '%s' is there twice", place.file,
                           place.path, name);
    if (kf_space_variable((void *)(uintptr_t)space, name, &value))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.name: '%s' is already the name of a variable; choose another", place.file,
                       place.path, name);
    return KF_OK;
}

/* Reads one parameter: name, type, values, default, help. */
static kf_status read_parameter(kf_space *space, const cJSON *json, int number, kf_error *error) {
    static const char *const keys[] = {"name", "type", "values", "default", "help", "team", NULL};
    bool team = false;
    char path[32];
    (void)snprintf(path, sizeof path, "parameters[%d]", number);
    kf_json_place place = {space->file, path};
    const char *name = NULL, *help = "";
    int kind = 0;
    KF_TRY(kf_json_check_keys(place, json, keys, error));
    KF_TRY(kf_json_string(place, json, "name", true, &name, error));
    KF_TRY(kf_json_choice(place, json, "type", true, kind_names, 3, &kind, error));
    KF_TRY(kf_json_string(place, json, "help", false, &help, error));
    KF_TRY(kf_json_boolean(place, json, "team", false, &team, error));
    KF_TRY(kf_space_check_line(space->file, path, "help", help, error));
    KF_TRY(check_name(space, name, place, error));
    kf_parameter *parameter = &space->parameters[space->parameter_count++];
    kf_copy_text(parameter->name, sizeof parameter->name, name);
    parameter->kind = (kf_value_kind)kind;
    parameter->team = team;
    parameter->help = kf_duplicate(help);
    if (read_values(space, cJSON_GetObjectItemCaseSensitive(json, "values"), parameter, error) != KF_OK)
        return kf_fail_context(error, "%s: %s.values of '%s'", space->file, path, name);
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, "default");
    if (value == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.default of '%s' is missing; add it", space->file, path,
                       name);
    if (read_position(space, parameter, value, &parameter->default_position, error) != KF_OK)
        return kf_fail_context(error, "%s: %s.default of '%s'", space->file, path, name);
    return KF_OK;
}

/* --- Variables ------------------------------------------------------------------------------------------ */

/* Computes a variable. A truth value counts as 1 or 0. */
static kf_status compute_variable(const kf_space *space, const char *source, double *number,
                                  kf_error *error) {
    kf_expression *expression = NULL;
    kf_scalar value = {.kind = KF_SCALAR_STRING, .text = ""};
    kf_status status = evaluate(space, source, &expression, &value, error);
    if (status == KF_OK && value.kind == KF_SCALAR_STRING)
        status = kf_fail(error, KF_BAD_INPUT, "'%.80s' is not a number", value.text);
    *number = value.kind == KF_SCALAR_FLOAT ? value.number : (double)value.integer;
    kf_expression_free(expression);
    return status;
}

/* Reads a variable: a named number that an expression over the variables so far gives. */
static kf_status read_variable(kf_space *space, const cJSON *json, int number, kf_error *error) {
    static const char *const keys[] = {"name", "expression", "help", NULL};
    char path[32];
    (void)snprintf(path, sizeof path, "variables[%d]", number);
    kf_json_place place = {space->file, path};
    const char *name = NULL, *source = NULL, *help = NULL;
    double value;
    KF_TRY(kf_json_check_keys(place, json, keys, error));
    KF_TRY(kf_json_string(place, json, "name", true, &name, error));
    KF_TRY(kf_json_string(place, json, "expression", true, &source, error));
    KF_TRY(kf_json_string(place, json, "help", false, &help, error));
    KF_TRY(kf_space_check_line(space->file, path, "help", help, error));
    KF_TRY(check_name(space, name, place, error));
    if (compute_variable(space, source, &value, error) != KF_OK)
        return kf_fail_context(error, "%s: %s.expression of '%s'", space->file, path, name);
    kf_add_variable(&space->variables, name, value);
    return KF_OK;
}

/* --- Lists, defaults and presets
 * ---------------------------------------------------------------------------------- */

static kf_status find_list(const kf_space *space, const cJSON *declaration, const char *key, int least,
                           int most, const cJSON **list, kf_error *error) {
    *list = cJSON_GetObjectItemCaseSensitive(declaration, key);
    if (*list == NULL && least == 0) return KF_OK;
    if (!cJSON_IsArray(*list))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s must be a list [...]", space->file, key);
    int count = cJSON_GetArraySize(*list);
    if (count >= least && count <= most) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: %s has %d entries; %d to %d are accepted", space->file, key,
                   count, least, most);
}

/* Finds the parameter that a member of an object names. `where` names the object in messages. */
static kf_status find_parameter(const kf_space *space, const cJSON *json, const char *where, int *found,
                                kf_error *error) {
    const char *names[KF_CONFIG_VALUES];
    for (int p = 0; p < space->parameter_count; p++) {
        names[p] = space->parameters[p].name;
        if (strcmp(names[p], json->string) != 0) continue;
        *found = p;
        return KF_OK;
    }
    const char *nearest = kf_nearest(json->string, names, space->parameter_count);
    return kf_fail(error, KF_BAD_INPUT, "%s: %s: unknown parameter '%.60s'%s%s%s", space->file, where,
                   json->string, nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                   nearest == NULL ? "" : "'?");
}

static kf_status read_preset_value(const kf_space *space, const cJSON *json, kf_preset *preset, bool *given,
                                   kf_error *error) {
    char where[16 + KF_NAME];
    int p = 0;
    (void)snprintf(where, sizeof where, "presets.%s", preset->name);
    KF_TRY(find_parameter(space, json, where, &p, error));
    if (given[p])
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.%s is there twice", space->file, where, json->string);
    given[p] = true;
    if (read_position(space, &space->parameters[p], json, &preset->positions[p], error) == KF_OK)
        return KF_OK;
    return kf_fail_context(error, "%s: %s.%s", space->file, where, json->string);
}

static kf_status read_preset_values(const kf_space *space, const cJSON *json, kf_preset *preset,
                                    kf_error *error) {
    bool given[KF_CONFIG_VALUES] = {false};
    for (const cJSON *member = json->child; member != NULL; member = member->next)
        KF_TRY(read_preset_value(space, member, preset, given, error));
    return KF_OK;
}

/* Reads a preset, which must lie in every domain and meet every constraint. */
static kf_status read_preset(kf_space *space, const cJSON *json, const char *name, kf_error *error) {
    const kf_constraint *violated = NULL;
    if (!kf_config_plain_name(name))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: presets: a preset's name must be 1 to %d printable characters", space->file,
                       KF_NAME - 1);
    if (json != NULL && !cJSON_IsObject(json))
        return kf_fail(error, KF_BAD_INPUT, "%s: presets.%s must be an object {...}", space->file, name);
    for (int i = 0; i < space->preset_count; i++)
        if (strcmp(space->presets[i].name, name) == 0)
            return kf_fail(error, KF_BAD_INPUT, "%s: presets.%s is there twice", space->file, name);
    kf_preset *preset = &space->presets[space->preset_count++];
    kf_copy_text(preset->name, sizeof preset->name, name);
    for (int p = 0; p < space->parameter_count; p++)
        preset->positions[p] = space->parameters[p].default_position;
    if (json != NULL) KF_TRY(read_preset_values(space, json, preset, error));
    KF_TRY(kf_constraint_violated(space, preset->positions, &violated, error));
    if (violated == NULL) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: presets.%s violates the constraint \"%.200s\" (%.200s)",
                   space->file, name, violated->text, violated->reason);
}

/* Sets the defaults that a rule has for parameters that no rule before has set. */
static kf_status apply_rule(kf_space *space, const cJSON *set, const char *path, bool fits, bool *done,
                            kf_error *error) {
    for (const cJSON *member = set->child; member != NULL; member = member->next) {
        int p = 0;
        KF_TRY(find_parameter(space, member, path, &p, error));
        if (!fits || done[p]) continue;
        done[p] = true;
        if (read_position(space, &space->parameters[p], member, &space->parameters[p].default_position,
                          error) != KF_OK)
            return kf_fail_context(error, "%s: %s.set.%s", space->file, path, member->string);
    }
    return KF_OK;
}

/* Reads a rule {"when": expression, "set": {parameter: value, ...}}. The default of a parameter comes from
 * the first rule that applies and sets it, and otherwise from the parameter. */
static kf_status read_rule(kf_space *space, const cJSON *json, int number, bool *done, kf_error *error) {
    static const char *const keys[] = {"when", "set", "help", NULL};
    char path[32];
    (void)snprintf(path, sizeof path, "defaults[%d]", number);
    const kf_json_place place = {space->file, path};
    const char *when = NULL, *help = NULL;
    const cJSON *set = NULL;
    double fits = 0.0;
    KF_TRY(kf_json_check_keys(place, json, keys, error));
    KF_TRY(kf_json_string(place, json, "when", true, &when, error));
    KF_TRY(kf_json_string(place, json, "help", false, &help, error));
    KF_TRY(kf_space_check_line(space->file, path, "help", help, error));
    KF_TRY(kf_json_object(place, json, "set", true, &set, error));
    if (compute_variable(space, when, &fits, error) != KF_OK)
        return kf_fail_context(error, "%s: %s.when", space->file, path);
    return apply_rule(space, set, path, fits != 0.0, done, error);
}

static kf_status read_rules(kf_space *space, const cJSON *declaration, kf_error *error) {
    bool done[KF_CONFIG_VALUES] = {false};
    const cJSON *list = NULL, *item;
    int number = 0;
    KF_TRY(find_list(space, declaration, "defaults", 0, KF_SPACE_RULES, &list, error));
    cJSON_ArrayForEach(item, list) KF_TRY(read_rule(space, item, number++, done, error));
    return KF_OK;
}

/* Reads the presets. The preset "default" comes first. Without it the defaults of the parameters form it. */
static kf_status read_presets(kf_space *space, const cJSON *declaration, kf_error *error) {
    static const char *const required[] = {"baseline", "paper"};
    const cJSON *presets = NULL;
    KF_TRY(kf_json_object((kf_json_place){space->file, ""}, declaration, "presets", true, &presets, error));
    int count = cJSON_GetArraySize(presets);
    if (count > KF_SPACE_PRESETS)
        return kf_fail(error, KF_BAD_INPUT, "%s: presets: more than %d", space->file, KF_SPACE_PRESETS);
    space->presets = kf_allocate_zeroed((size_t)count + 1, sizeof *space->presets);
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++)
        if (cJSON_GetObjectItemCaseSensitive(presets, required[i]) == NULL)
            return kf_fail(error, KF_BAD_INPUT, "%s: presets.%s is missing; every space declares it",
                           space->file, required[i]);
    const cJSON *standard = cJSON_GetObjectItemCaseSensitive(presets, "default"), *member;
    KF_TRY(read_preset(space, standard, "default", error));
    cJSON_ArrayForEach(member, presets) {
        if (member != standard) KF_TRY(read_preset(space, member, member->string, error));
    }
    return KF_OK;
}

/* Reads a space's declaration: variables, parameters, rules for defaults, constraints, former parameters
 * and presets, in the order in which they need each other. */
kf_status kf_space_read(kf_space *space, const cJSON *declaration, kf_error *error) {
    static const char *const keys[] = {"system",  "format", "variables", "parameters", "constraints",
                                       "presets", "former", "defaults",  "help",       NULL};
    kf_json_place place = {space->file, ""};
    const char *system = NULL, *help = NULL;
    const cJSON *list = NULL, *item;
    long format = 0;
    int number = 0;
    KF_TRY(kf_json_check_keys(place, declaration, keys, error));
    KF_TRY(kf_json_integer(place, declaration, "format", true, 1, 1, &format, error));
    KF_TRY(kf_json_string(place, declaration, "system", true, &system, error));
    KF_TRY(kf_json_string(place, declaration, "help", false, &help, error));
    if (strcmp(system, space->system) != 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: system is \"%.60s\" where \"%s\" is expected", space->file,
                       system, space->system);
    KF_TRY(
        find_list(space, declaration, "variables", 0, KF_VARIABLES - space->variables.count, &list, error));
    cJSON_ArrayForEach(item, list) KF_TRY(read_variable(space, item, number++, error));
    number = 0;
    KF_TRY(find_list(space, declaration, "parameters", 1, KF_CONFIG_VALUES, &list, error));
    cJSON_ArrayForEach(item, list) KF_TRY(read_parameter(space, item, number++, error));
    KF_TRY(read_rules(space, declaration, error));
    KF_TRY(find_list(space, declaration, "constraints", 0, KF_SPACE_CONSTRAINTS, &list, error));
    space->constraints = kf_allocate_zeroed((size_t)cJSON_GetArraySize(list) + 1, sizeof *space->constraints);
    cJSON_ArrayForEach(item, list) {
        kf_constraint *constraint = &space->constraints[space->constraint_count++];
        KF_TRY(kf_constraint_read(space, item, space->constraint_count - 1, constraint, error));
    }
    KF_TRY(find_list(space, declaration, "former", 0, KF_CONFIG_VALUES, &list, error));
    KF_TRY(kf_space_read_former(space, list, error));
    return read_presets(space, declaration, error);
}
