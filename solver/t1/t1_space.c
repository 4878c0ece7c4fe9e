/* Parameters and conditions of a T1 file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "solver/t1/t1.h"

/* --- Parameters ----------------------------------------------------------------------------------------- */

static kf_status read_type(kf_json_place place, const cJSON *json, kf_t1_parameter *parameter, bool *real,
                           kf_error *error) {
    static const char *const names[] = {"int", "uint", "bool", "string", "float"};
    static const kf_value_kind kinds[] = {KF_VALUE_INTEGER, KF_VALUE_INTEGER, KF_VALUE_BOOLEAN, KF_VALUE_NAME,
                                          KF_VALUE_NAME};
    int type = 0;
    KF_TRY(kf_json_choice(place, json, "Type", true, names, 5, &type, error));
    parameter->kind = kinds[type];
    *real = type == 4;
    return KF_OK;
}

/* Returns a list as the text of an expression. T1 has Python in a string, other programs write JSON lists. */
static kf_status values_text(kf_json_place place, const cJSON *values, kf_text *text, kf_error *error) {
    if (cJSON_IsString(values)) {
        kf_text_append(text, "%s", values->valuestring);
        return KF_OK;
    }
    const cJSON *value;
    kf_text_append(text, "[");
    cJSON_ArrayForEach(value, values) {
        kf_text_append(text, value == values->child ? "" : ", ");
        if (cJSON_IsNumber(value))
            kf_text_append(text, "%.17g", value->valuedouble);
        else if (cJSON_IsBool(value))
            kf_text_append(text, cJSON_IsTrue(value) ? "True" : "False");
        else if (cJSON_IsString(value) && strpbrk(value->valuestring, "'\\") == NULL)
            kf_text_append(text, "'%s'", value->valuestring);
        else
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: %s.Values: may contain only numbers, booleans and plain names", place.file,
                           place.path);
    }
    kf_text_append(text, "]");
    if (cJSON_IsArray(values)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: %s.Values: must be a list, or an expression in a string",
                   place.file, place.path);
}

static bool is_of(const kf_t1_parameter *parameter, const kf_scalar *value) {
    if (parameter->kind == KF_VALUE_NAME)
        return value->kind == KF_SCALAR_STRING && kf_config_plain_name(value->text);
    if (parameter->kind == KF_VALUE_BOOLEAN)
        return value->kind == KF_SCALAR_BOOLEAN ||
               (value->kind == KF_SCALAR_INTEGER && (value->integer == 0 || value->integer == 1));
    return value->kind == KF_SCALAR_INTEGER;
}

/* Turns the numbers of a float parameter into names: the shortest texts that read back to the same numbers.
 */
static bool name_reals(kf_t1_parameter *parameter) {
    parameter->reals = kf_allocate_zeroed(parameter->count + 1, KF_NAME);
    for (size_t i = 0; i < parameter->count; i++) {
        kf_scalar *value = &parameter->values[i];
        char *text = parameter->reals + i * KF_NAME;
        if (value->kind != KF_SCALAR_INTEGER && value->kind != KF_SCALAR_FLOAT) return false;
        const double number = value->kind == KF_SCALAR_FLOAT ? value->number : (double)value->integer;
        if (!isfinite(number)) return false;
        for (int digits = 1; digits <= 17; digits++) {
            (void)snprintf(text, KF_NAME, "%.*g", digits, number);
            if (strtod(text, NULL) == number) break;
        }
        /* A whole number of a float parameter stays a floating-point number in the kernel. */
        const size_t used = strlen(text);
        if (strpbrk(text, ".en") == NULL) (void)snprintf(text + used, KF_NAME - used, ".0");
        *value = (kf_scalar){.kind = KF_SCALAR_STRING, .text = text};
    }
    return true;
}

/* Refuses value number i, from 0, which the parameter of this type must not have. */
static kf_status refuse_value(kf_json_place place, const kf_t1_parameter *parameter, const char *type,
                              size_t i, kf_error *error) {
    const kf_scalar *value = &parameter->values[i];
    char number[32];
    (void)snprintf(number, sizeof number, "%.15g",
                   value->kind == KF_SCALAR_FLOAT ? value->number : (double)value->integer);
    if (parameter->kind != KF_VALUE_NAME || value->kind != KF_SCALAR_STRING)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.Values: value %zu, %.60s, is not of the parameter's type, %s", place.file,
                       place.path, i + 1, value->kind == KF_SCALAR_STRING ? value->text : number, type);
    const bool blank = strpbrk(value->text, " \t\n") != NULL;
    return kf_fail(
        error, KF_BAD_INPUT,
        "%s: %s.Values: value %zu, '%.60s', %s; a value is 1 to %d printable characters without "
        "spaces or quotes, to which the kernel may give a meaning (#define unsigned_int unsigned int)",
        place.file, place.path, i + 1, value->text, blank ? "has a blank in it" : "is not a plain word",
        KF_NAME - 1);
}

static kf_status read_values(kf_json_place place, const cJSON *json, kf_t1_parameter *parameter, bool real,
                             kf_error *error) {
    enum { MOST = 65535 };
    kf_text text = {0};
    kf_status status = values_text(place, cJSON_GetObjectItemCaseSensitive(json, "Values"), &text, error);
    if (status == KF_OK && kf_expression_parse(text.text, &parameter->expression, error) != KF_OK)
        status = kf_fail_context(error, "%s: %s.Values", place.file, place.path);
    kf_text_free(&text);
    KF_TRY(status);
    if (kf_expression_list(parameter->expression, NULL, NULL, MOST, &parameter->values, &parameter->count,
                           error) != KF_OK)
        return kf_fail_context(error, "%s: %s.Values", place.file, place.path);
    if (real && !name_reals(parameter))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.Values: must be finite numbers, for its Type is float",
                       place.file, place.path);
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "Type"));
    const bool no_sign = strcmp(type, "uint") == 0;
    for (size_t i = 0; i < parameter->count; i++)
        if (!is_of(parameter, &parameter->values[i]) || (no_sign && parameter->values[i].integer < 0))
            return refuse_value(place, parameter, type, i, error);
    if (parameter->count > 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: %s.Values: is empty", place.file, place.path);
}

static bool equals(const kf_t1_parameter *parameter, const kf_scalar *value, const cJSON *json) {
    if (parameter->reals != NULL && cJSON_IsNumber(json))
        return strtod(value->text, NULL) == json->valuedouble;
    if (cJSON_IsString(json))
        return value->kind == KF_SCALAR_STRING && strcmp(value->text, json->valuestring) == 0;
    double number = cJSON_IsBool(json) ? cJSON_IsTrue(json) != 0 : json->valuedouble;
    return (cJSON_IsNumber(json) || cJSON_IsBool(json)) && value->kind != KF_SCALAR_STRING &&
           (double)value->integer == number;
}

static void set(kf_config *config, const kf_t1_parameter *parameter) {
    const kf_scalar *value = &parameter->values[parameter->chosen];
    if (parameter->kind == KF_VALUE_NAME)
        kf_config_set_name(config, parameter->name, value->text);
    else if (parameter->kind == KF_VALUE_BOOLEAN)
        kf_config_set_boolean(config, parameter->name, value->integer != 0);
    else
        kf_config_set_integer(config, parameter->name, (long)value->integer);
}

static bool choose(kf_t1_parameter *parameter, const cJSON *wanted) {
    for (size_t i = 0; i < parameter->count; i++) {
        if (!equals(parameter, &parameter->values[i], wanted)) continue;
        parameter->chosen = i;
        return true;
    }
    return false;
}

static double number_of(const kf_t1_parameter *parameter, size_t index) {
    const kf_scalar *value = &parameter->values[index];
    return parameter->reals != NULL ? strtod(value->text, NULL) : (double)value->integer;
}

/* Returns the number of the value nearest to the wanted one; for a value that is not a number, the first one.
 */
static size_t nearest(const kf_t1_parameter *parameter, const cJSON *wanted) {
    const bool numbers = parameter->kind == KF_VALUE_INTEGER || parameter->reals != NULL;
    size_t best = 0;
    for (size_t i = 1; i < parameter->count && cJSON_IsNumber(wanted) && numbers; i++)
        if (fabs(number_of(parameter, i) - wanted->valuedouble) <
            fabs(number_of(parameter, best) - wanted->valuedouble))
            best = i;
    return best;
}

/* Published files have lists of defaults, and defaults that are none of the values. Without any, the first
 * value. */
static void read_default(kf_t1_problem *problem, const cJSON *json, kf_t1_parameter *parameter) {
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(json, "Default"), *wanted = given;
    if (given == NULL || choose(parameter, given)) return;
    if (cJSON_IsArray(given)) {
        wanted = given->child;
        while (wanted != NULL && !choose(parameter, wanted))
            wanted = wanted->next;
        if (wanted == NULL) wanted = given->child;
    }
    if (wanted != NULL) parameter->chosen = nearest(parameter, wanted);
    kf_config one = {.count = 0};
    set(&one, parameter);
    char *summary = kf_config_summary(&one), *text = kf_json_text(given, false);
    kf_note(&problem->notes, "the Default of '%s' is %.200s, which is %s; in its place: %s", parameter->name,
            text != NULL ? text : "", cJSON_IsArray(given) ? "a list" : "none of its values", summary);
    cJSON_free(text);
    free(summary);
}

/* Returns whether a name is a word of C, of C++ or of conditions. As a macro it would change the kernel's
 * source. */
static bool is_reserved(const char *name) {
    static const char *const words[] = {
        "alignas", "alignof",   "and",       "asm",      "auto",     "bool",     "break",    "case",
        "catch",   "char",      "class",     "const",    "continue", "default",  "defined",  "delete",
        "do",      "double",    "else",      "enum",     "extern",   "false",    "False",    "float",
        "for",     "friend",    "goto",      "half",     "if",       "in",       "inline",   "int",
        "is",      "long",      "namespace", "new",      "None",     "not",      "operator", "or",
        "private", "protected", "public",    "register", "restrict", "return",   "short",    "signed",
        "sizeof",  "static",    "struct",    "switch",   "template", "this",     "throw",    "true",
        "True",    "try",       "typedef",   "typename", "union",    "unsigned", "using",    "virtual",
        "void",    "volatile",  "while",     "xor"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0) return true;
    return false;
}

/* Checks a parameter's name, which becomes a macro of the kernel and occurs in conditions. */
static kf_status check_name(const kf_t1_problem *problem, kf_json_place place, const char *name,
                            kf_error *error) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    if (!kf_config_plain_name(name) || name[strspn(name, letters)] != '\0' ||
        (name[0] >= '0' && name[0] <= '9'))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: %s.Name: '%.60s' is no name: 1 to %d letters, digits and _, not beginning with a digit",
            place.file, place.path, name, KF_NAME - 1);
    if (is_reserved(name))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: %s.Name: '%s' is a word of C or of conditions, and would change the kernel; rename "
            "the parameter",
            place.file, place.path, name);
    for (int p = 0; p < problem->parameter_count; p++)
        if (strcmp(problem->parameters[p].name, name) == 0)
            return kf_fail(error, KF_BAD_INPUT, "%s: %s.Name: '%s' is the name of TuningParameters[%d], too",
                           place.file, place.path, name, p);
    return KF_OK;
}

/* Reads one tuning parameter: name, type, values and default. */
static kf_status read_parameter(kf_t1_problem *problem, const cJSON *json, int number, kf_error *error) {
    char path[64];
    (void)snprintf(path, sizeof path, "ConfigurationSpace.TuningParameters[%d]", number);
    const kf_json_place place = {problem->file, path};
    if (problem->parameter_count == KF_CONFIG_VALUES)
        return kf_fail(error, KF_BAD_INPUT, "%s: more than %d parameters", problem->file, KF_CONFIG_VALUES);
    kf_t1_parameter *parameter = &problem->parameters[problem->parameter_count];
    const char *name = NULL;
    KF_TRY(kf_json_string(place, json, "Name", true, &name, error));
    KF_TRY(check_name(problem, place, name, error));
    kf_copy_text(parameter->name, sizeof parameter->name, name);
    problem->parameter_count++;
    bool real = false;
    KF_TRY(read_type(place, json, parameter, &real, error));
    KF_TRY(read_values(place, json, parameter, real, error));
    read_default(problem, json, parameter);
    return KF_OK;
}

/* --- Conditions ----------------------------------------------------------------------------------------- */

static kf_status read_condition(kf_t1_problem *problem, const cJSON *json, int number, kf_error *error) {
    char path[64];
    (void)snprintf(path, sizeof path, "ConfigurationSpace.Conditions[%d]", number);
    const char *text = NULL;
    if (problem->condition_count == KF_T1_CONDITIONS)
        return kf_fail(error, KF_BAD_INPUT, "%s: more than %d conditions", problem->file, KF_T1_CONDITIONS);
    KF_TRY(kf_json_string((kf_json_place){problem->file, path}, json, "Expression", true, &text, error));
    return kf_t1_expression(problem, path, text, &problem->conditions[problem->condition_count++], error);
}

static bool look_up(void *context, const char *name, kf_scalar *value) {
    const kf_t1_problem *problem = context;
    for (int p = 0; p < problem->parameter_count; p++) {
        const kf_t1_parameter *parameter = &problem->parameters[p];
        if (strcmp(parameter->name, name) != 0) continue;
        *value = parameter->values[parameter->chosen];
        return true;
    }
    return false;
}

/* Returns the number of the first condition that the chosen values break, or -1. A condition that cannot be
 * evaluated, for example a division by zero, is broken. */
static int broken(kf_t1_problem *problem) {
    for (int c = 0; c < problem->condition_count; c++) {
        bool holds = false;
        if (kf_expression_truth(problem->conditions[c], look_up, problem, &holds, NULL) != KF_OK || !holds)
            return c;
    }
    return -1;
}

/* Changes exactly so many parameters, from number first on, until all conditions hold. */
static bool repair(kf_t1_problem *problem, int first, int changes) {
    if (changes == 0) return broken(problem) < 0;
    for (int p = first; p < problem->parameter_count; p++) {
        kf_t1_parameter *parameter = &problem->parameters[p];
        const size_t before = parameter->chosen;
        for (size_t value = 0; value < parameter->count; value++) {
            parameter->chosen = value;
            if (value != before && repair(problem, p + 1, changes - 1)) return true;
        }
        parameter->chosen = before;
    }
    return false;
}

/* Published files have defaults that break their own conditions. */
static kf_status choose_reference(kf_t1_problem *problem, const cJSON *conditions, kf_error *error) {
    enum { MOST_CHANGES = 3 };
    int changes = 0, first = broken(problem);
    while (changes <= MOST_CHANGES && !repair(problem, 0, changes))
        changes++;
    const char *text = "";
    if (first >= 0)
        text = cJSON_GetStringValue(
            cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(conditions, first), "Expression"));
    if (changes > MOST_CHANGES)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: the defaults break the condition \"%.200s\", and no config near them meets all; mend "
            "the Default values",
            problem->file, text);
    kf_copy_text(problem->reference.system, sizeof problem->reference.system, "t1");
    for (int p = 0; p < problem->parameter_count; p++)
        set(&problem->reference, &problem->parameters[p]);
    if (changes == 0) return KF_OK;
    char *summary = kf_config_summary(&problem->reference);
    kf_note(&problem->notes, "the file's defaults break its condition \"%.200s\"; in their place: %s", text,
            summary);
    free(summary);
    return KF_OK;
}

/* --- The declaration ------------------------------------------------------------------------------------ */

static cJSON *literal(const kf_t1_parameter *parameter, size_t number) {
    const kf_scalar *value = &parameter->values[number];
    if (parameter->kind == KF_VALUE_NAME) return cJSON_CreateString(value->text);
    if (parameter->kind == KF_VALUE_BOOLEAN) return cJSON_CreateBool(value->integer != 0);
    return cJSON_CreateNumber((double)value->integer);
}

static cJSON *declare_parameter(const kf_t1_parameter *parameter) {
    static const char *const kinds[] = {"integer", "boolean", "name"};
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "name", parameter->name);
    (void)cJSON_AddStringToObject(json, "type", kinds[parameter->kind]);
    cJSON *values = cJSON_AddArrayToObject(json, "values");
    for (size_t i = 0; i < parameter->count; i++)
        (void)cJSON_AddItemToArray(values, literal(parameter, i));
    (void)cJSON_AddItemToObject(json, "default", literal(parameter, parameter->chosen));
    return json;
}

/* Declares the reference of such a kernel, which is what it does without tuning: its defaults, under all
 * three names. */
static void declare(kf_t1_problem *problem, const cJSON *conditions) {
    cJSON *root = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(root, "system", "t1");
    (void)cJSON_AddNumberToObject(root, "format", 1);
    cJSON *parameters = cJSON_AddArrayToObject(root, "parameters");
    for (int p = 0; p < problem->parameter_count; p++)
        (void)cJSON_AddItemToArray(parameters, declare_parameter(&problem->parameters[p]));
    cJSON *constraints = cJSON_AddArrayToObject(root, "constraints");
    const cJSON *condition;
    cJSON_ArrayForEach(condition, conditions) {
        cJSON *constraint = cJSON_CreateObject();
        kf_text text = {0};
        kf_t1_expand(problem, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(condition, "Expression")),
                     &text);
        (void)cJSON_AddStringToObject(constraint, "expression", text.text != NULL ? text.text : "");
        kf_text_free(&text);
        (void)cJSON_AddStringToObject(constraint, "reason", "the problem file has this condition");
        (void)cJSON_AddItemToArray(constraints, constraint);
    }
    cJSON *presets = cJSON_AddObjectToObject(root, "presets");
    (void)cJSON_AddObjectToObject(presets, "baseline");
    (void)cJSON_AddObjectToObject(presets, "paper");
    problem->declaration = root;
}

kf_status kf_t1_read_space(kf_t1_problem *problem, const cJSON *space, kf_error *error) {
    const cJSON *parameters = cJSON_GetObjectItemCaseSensitive(space, "TuningParameters");
    const cJSON *conditions = cJSON_GetObjectItemCaseSensitive(space, "Conditions"), *item;
    int number = 0;
    if (!cJSON_IsArray(parameters) || parameters->child == NULL)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: ConfigurationSpace.TuningParameters: must be a list of parameters",
                       problem->file);
    cJSON_ArrayForEach(item, parameters) KF_TRY(read_parameter(problem, item, number++, error));
    number = 0;
    cJSON_ArrayForEach(item, conditions) KF_TRY(read_condition(problem, item, number++, error));
    KF_TRY(choose_reference(problem, conditions, error));
    declare(problem, conditions);
    return KF_OK;
}
