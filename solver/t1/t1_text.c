/* Expressions of T1 files: Python over the parameters, with two words of their own. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/t1/t1.h"
#include "solver/t1/t1_tokens.h"

static const kf_t1_parameter *find(const kf_t1_problem *problem, const char *name, size_t length) {
    for (int p = 0; p < problem->parameter_count; p++)
        if (strlen(problem->parameters[p].name) == length &&
            strncmp(problem->parameters[p].name, name, length) == 0)
            return &problem->parameters[p];
    return NULL;
}

/* Returns the largest or smallest value of a numeric parameter. */
static double end_of(const kf_t1_parameter *parameter, bool largest) {
    double end = (double)NAN;
    for (size_t i = 0; i < parameter->count; i++) {
        const kf_scalar *scalar = &parameter->values[i];
        const double value = parameter->reals != NULL ? strtod(scalar->text, NULL) : (double)scalar->integer;
        if (i == 0 || (largest ? value > end : value < end)) end = value;
    }
    return end;
}

/* Expands "max(name)" and "min(name)" of one parameter. Returns the number of characters read, or 0 for other
 * text. */
static size_t expand_end(const kf_t1_problem *problem, const char *text, kf_text *out) {
    bool largest = strncmp(text, "max(", 4) == 0;
    if (!largest && strncmp(text, "min(", 4) != 0) return 0;
    size_t length = kf_t1_word_length(text + 4);
    const kf_t1_parameter *parameter = find(problem, text + 4, length);
    if (text[4 + length] != ')' || parameter == NULL ||
        (parameter->kind == KF_VALUE_NAME && parameter->reals == NULL))
        return 0;
    kf_text_append(out, "%.17g", end_of(parameter, largest));
    return 4 + length + 1;
}

/* A float parameter is a name to the space: "((alpha == '0.5') * 0.5 + (alpha == '1.5') * 1.5)" is its value.
 */
static size_t expand_real(const kf_t1_problem *problem, const char *text, kf_text *out) {
    const size_t length = kf_t1_word_length(text);
    const kf_t1_parameter *parameter = find(problem, text, length);
    if (parameter == NULL || parameter->reals == NULL) return 0;
    for (size_t i = 0; i < parameter->count; i++)
        kf_text_append(out, "%s(%s == '%s') * %s", i == 0 ? "(" : " + ", parameter->name,
                       parameter->values[i].text, parameter->values[i].text);
    kf_text_append(out, ")");
    return length;
}

/* Expands "ProblemSize[1]"; "ProblemSize" alone means the first. */
static size_t expand_size(const kf_t1_problem *problem, const char *text, kf_text *out) {
    static const char word[] = "ProblemSize";
    const size_t length = sizeof word - 1;
    if (kf_t1_word_length(text) != length || strncmp(text, word, length) != 0) return 0;
    const char *index = text + length;
    const bool one = index[0] == '[' && index[1] >= '0' && index[1] <= '2' && index[2] == ']';
    if (index[0] == '[' && !one) return 0;
    kf_text_append(out, "%ld", problem->size[one ? index[1] - '0' : 0]);
    return length + (one ? 3 : 0);
}

/* Expands sizes, ends of domains and real parameters in a text to numbers. Quoted names do not change. */
void kf_t1_expand(const kf_t1_problem *problem, const char *text, kf_text *expanded) {
    while (*text != '\0') {
        size_t word = isalpha((unsigned char)*text) || *text == '_' ? kf_t1_word_length(text) : 1;
        size_t read = word > 0 ? expand_end(problem, text, expanded) : 0;
        if (read == 0) read = expand_size(problem, text, expanded);
        if (read == 0) read = expand_real(problem, text, expanded);
        if (read == 0) {
            /* Quoted names are not expanded. */
            if (*text == '\'' || *text == '"') {
                const char *end = strchr(text + 1, *text);
                word = end != NULL ? (size_t)(end - text) + 1 : strlen(text);
            }
            kf_text_append(expanded, "%.*s", (int)word, text);
            read = word;
        }
        text += read;
    }
}

typedef struct name_search {
    const kf_t1_problem *problem;
    bool found;
} name_search;

static void look_for_parameter(void *context, const char *name) {
    name_search *search = context;
    search->found = search->found || find(search->problem, name, strlen(name)) != NULL;
}

bool kf_t1_depends(const kf_t1_problem *problem, const kf_expression *expression) {
    name_search search = {problem, false};
    kf_expression_names(expression, look_for_parameter, &search);
    return search.found;
}

kf_status kf_t1_expression(const kf_t1_problem *problem, const char *what, const char *text,
                           kf_expression **expression, kf_error *error) {
    kf_text expanded = {0};
    const char *names[KF_CONFIG_VALUES];
    *expression = NULL;
    kf_t1_expand(problem, text, &expanded);
    for (int p = 0; p < problem->parameter_count; p++)
        names[p] = problem->parameters[p].name;
    kf_status status = kf_expression_parse(expanded.text != NULL ? expanded.text : "", expression, error);
    if (status == KF_OK)
        status = kf_expression_check_names(*expression, names, problem->parameter_count, error);
    kf_text_free(&expanded);
    if (status == KF_OK) return KF_OK;
    kf_expression_free(*expression);
    *expression = NULL;
    return kf_fail_context(error, "%s: %s \"%.200s\"", problem->file, what, text);
}

static bool look_up(void *context, const char *name, kf_scalar *value) {
    const kf_config *config = context;
    for (int i = 0; config != NULL && i < config->count; i++) {
        const kf_value *found = &config->values[i];
        if (strcmp(found->parameter, name) != 0) continue;
        *value = (kf_scalar){.kind = found->kind == KF_VALUE_INTEGER   ? KF_SCALAR_INTEGER
                                     : found->kind == KF_VALUE_BOOLEAN ? KF_SCALAR_BOOLEAN
                                                                       : KF_SCALAR_STRING,
                             .integer = found->integer,
                             .text = found->name};
        return true;
    }
    return false;
}

static bool number_of(const kf_scalar *scalar, double *number) {
    *number = scalar->kind == KF_SCALAR_FLOAT ? scalar->number : (double)scalar->integer;
    return scalar->kind != KF_SCALAR_STRING && isfinite(*number);
}

kf_status kf_t1_evaluate(const kf_t1_problem *problem, const char *what, const kf_expression *expression,
                         const kf_config *config, long low, long high, long *value, kf_error *error) {
    kf_scalar scalar;
    double number = 0.0;
    if (kf_expression_scalar(expression, look_up, (void *)(uintptr_t)config, &scalar, error) != KF_OK)
        return kf_fail_context(error, "%s: %s", problem->file, what);
    if (!number_of(&scalar, &number) || number != floor(number) || number < (double)low ||
        number > (double)high)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s comes to %g for this config, must be a whole number from %ld to %ld",
                       problem->file, what, number, low, high);
    *value = (long)number;
    return KF_OK;
}

kf_status kf_t1_constant(const kf_t1_problem *problem, const char *what, const cJSON *item, double *value,
                         kf_error *error) {
    if (cJSON_IsNumber(item) && isfinite(item->valuedouble)) {
        *value = item->valuedouble;
        return KF_OK;
    }
    if (!cJSON_IsString(item))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: must be a number or an expression", problem->file, what);
    kf_expression *expression = NULL;
    kf_scalar scalar;
    KF_TRY(kf_t1_expression(problem, what, item->valuestring, &expression, error));
    kf_status status = kf_expression_scalar(expression, look_up, NULL, &scalar, error);
    kf_expression_free(expression);
    if (status != KF_OK)
        return kf_fail_context(error, "%s: %s \"%.200s\" must not depend on a parameter; use max(PARAMETER)",
                               problem->file, what, item->valuestring);
    if (number_of(&scalar, value)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: %s \"%.200s\" is no number", problem->file, what,
                   item->valuestring);
}
