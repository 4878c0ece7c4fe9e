#include "base/record/user_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"

/* --- Reading ---------------------------------------------------------------------------------------------
 */

static bool is_quantity(const char *name) {
    for (int i = 0; i < KF_QUANTITIES; i++)
        if (strcmp(name, kf_quantity_names[i]) == 0) return true;
    return false;
}

static const kf_user_metric *find(const kf_user_metrics *metrics, const char *name) {
    for (int i = 0; metrics != NULL && i < metrics->count; i++)
        if (strcmp(metrics->list[i].name, name) == 0) return &metrics->list[i];
    return NULL;
}

/* Refuses names that a list of objectives, a table or an expression would take for something else. */
static kf_status check_name(const kf_user_metrics *metrics, const char *name, kf_error *error) {
    for (const char *c = name; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~' || strchr(",:\"'\\", *c) != NULL)
            return kf_fail(error, KF_BAD_INPUT,
                           "'%s' cannot be a metric's name: it may have letters, digits and signs, but no "
                           "spaces, quotes, ',' or ':'",
                           name);
    if (is_quantity(name))
        return kf_fail(error, KF_BAD_INPUT, "'%s' is a quantity that every config has; choose another name",
                       name);
    if (find(metrics, name) != NULL)
        return kf_fail(error, KF_BAD_INPUT, "'%s' is given twice; choose another name", name);
    return KF_OK;
}

/* Finds metrics that need the energy of a step: those that name it, and those that use such a metric. */
typedef struct naming {
    const kf_user_metrics *metrics;
    bool energy;
} naming;

static void note_energy(void *context, const char *name) {
    naming *n = context;
    const kf_user_metric *earlier = find(n->metrics, name);
    n->energy =
        n->energy || (is_quantity(name) && strcmp(name, "time") != 0) || (earlier != NULL && earlier->energy);
}

/* Adds a metric from its definition: the name ends at the first '='. */
kf_status kf_user_metrics_add(kf_user_metrics *metrics, const char *definition, kf_error *error) {
    kf_user_metric made = {.name = ""};
    const char *equals = strchr(definition, '=');
    const size_t length = equals != NULL ? (size_t)(equals - definition) : 0;
    if (length == 0 || equals[1] == '\0')
        return kf_fail(error, KF_BAD_INPUT,
                       "'%.60s' is no metric; give name=expression, as in gflops=2*n/time", definition);
    if (length >= sizeof made.name)
        return kf_fail(error, KF_BAD_INPUT, "'%.20s...' is longer than %zu characters", definition,
                       sizeof made.name - 1);
    if (metrics->count == KF_USER_METRICS)
        return kf_fail(error, KF_BAD_INPUT, "at most %d metrics", KF_USER_METRICS);
    memcpy(made.name, definition, length);
    KF_TRY(check_name(metrics, made.name, error));
    if (kf_expression_parse(equals + 1, &made.expression, error) != KF_OK)
        return kf_fail_context(error, "%s", made.name);
    naming n = {.metrics = metrics};
    kf_expression_names(made.expression, note_energy, &n);
    made.energy = n.energy;
    made.text = kf_duplicate(equals + 1);
    metrics->list[metrics->count++] = made;
    return KF_OK;
}

void kf_user_metrics_free(kf_user_metrics *metrics) {
    for (int i = 0; metrics != NULL && i < metrics->count; i++) {
        free(metrics->list[i].text);
        kf_expression_free(metrics->list[i].expression);
    }
    if (metrics != NULL) metrics->count = 0;
}

bool kf_user_metrics_need_energy(const kf_user_metrics *metrics) {
    for (int i = 0; metrics != NULL && i < metrics->count; i++)
        if (metrics->list[i].energy) return true;
    return false;
}

cJSON *kf_user_metrics_to_json(const kf_user_metrics *metrics) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; metrics != NULL && i < metrics->count; i++) {
        cJSON *one = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(one, "name", metrics->list[i].name);
        (void)cJSON_AddStringToObject(one, "expression", metrics->list[i].text);
        (void)cJSON_AddItemToArray(list, one);
    }
    return list;
}

/* --- Numbers of the problem ------------------------------------------------------------------------------
 */

typedef struct view {
    const kf_problem *problem;
    const kf_config *config;
    const kf_measurement *m;
    /* The name to find among the problem's numbers. */
    const char *name;
    double found;
    /* A known name without a value here. */
    char missing[KF_USER_METRIC_NAME];
} view;

static void take_number(void *context, const char *name, double value) {
    view *v = context;
    if (isnan(v->found) && strcmp(name, v->name) == 0) v->found = value;
}

/* Returns a number of the problem, or NAN if it has none of this name. */
static double problem_number(view *v, const char *name) {
    v->name = name;
    v->found = (double)NAN;
    if (v->problem->system->numbers != NULL) v->problem->system->numbers(v->problem, take_number, v);
    return isnan(v->found) ? kf_facts_value(&v->problem->facts, name) : v->found;
}

/* --- Checking --------------------------------------------------------------------------------------------
 */

/* Names that an expression may use, in the order in which they count. */
typedef struct known_names {
    const char **names;
    int count;
    size_t capacity;
    /* The following names are counters. */
    int counters;
} known_names;

static void add_name(known_names *known, const char *name) {
    known->names =
        kf_grow((void *)known->names, (size_t)known->count, &known->capacity, sizeof *known->names);
    known->names[known->count++] = name;
}

static void add_number(void *context, const char *name, double value) {
    (void)value;
    add_name(context, name);
}

static const char in_problem[] = "problem_", in_config[] = "parameter_";

/* Notes a name that is a parameter's and the problem's, so that nobody can tell which is meant. */
typedef struct doubt {
    view numbers;
    const kf_space *space;
    char name[KF_USER_METRIC_NAME];
} doubt;

static bool is_parameter(const kf_space *space, const char *name) {
    for (int i = 0; i < kf_space_parameter_count(space); i++)
        if (strcmp(kf_space_parameter_name(space, i), name) == 0) return true;
    return false;
}

static void note_doubt(void *context, const char *name) {
    doubt *d = context;
    if (is_parameter(d->space, name) && !isnan(problem_number(&d->numbers, name)))
        kf_copy_text(d->name, sizeof d->name, name);
}

static kf_status check_doubt(const kf_user_metric *metric, const kf_problem *problem, const kf_space *space,
                             kf_error *error) {
    doubt d = {.numbers = {.problem = problem}, .space = space};
    kf_expression_names(metric->expression, note_doubt, &d);
    if (d.name[0] == '\0') return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "'%s' is the name of a parameter and of a number of the problem; write: %s%s or %s%s",
                   d.name, in_config, d.name, in_problem, d.name);
}

/* Adds the names that say which is meant, where a parameter and a number of the problem share theirs. */
static void add_prefixed(known_names *known, const kf_problem *problem, const kf_space *space,
                         kf_text *names) {
    view numbers = {.problem = problem};
    for (int i = 0; i < kf_space_parameter_count(space); i++) {
        const char *name = kf_space_parameter_name(space, i);
        if (!isnan(problem_number(&numbers, name)))
            kf_text_append(names, "%s%s\n%s%s\n", in_config, name, in_problem, name);
    }
    for (char *at = names->text; at != NULL && *at != '\0';) {
        char *end = strchr(at, '\n');
        *end = '\0';
        add_name(known, at);
        at = end + 1;
    }
}

static void note_counter(void *context, const char *name) {
    known_names *known = context;
    for (int i = 0; i < known->count; i++)
        if (strcmp(known->names[i], name) == 0) {
            /* A counter is used. */
            if (i >= known->counters) known->counters = -1;
            return;
        }
}

/* Checks one metric against the names it may use, and notes whether counters are among those it does. */
static kf_status check_metric(kf_user_metrics *metrics, int index, const kf_problem *problem,
                              const kf_space *space, const char *const *counters, int counter_count,
                              kf_error *error) {
    kf_user_metric *metric = &metrics->list[index];
    known_names known = {.count = 0};
    kf_text prefixed = {0};
    for (int i = 0; i < KF_QUANTITIES; i++)
        add_name(&known, kf_quantity_names[i]);
    for (int i = 0; i < kf_space_parameter_count(space); i++)
        add_name(&known, kf_space_parameter_name(space, i));
    if (problem->system->numbers != NULL) problem->system->numbers(problem, add_number, &known);
    for (int i = 0; i < problem->facts.count; i++)
        if (!isnan(problem->facts.list[i].value)) add_name(&known, problem->facts.list[i].name);
    for (int i = 0; i < index; i++)
        if (!metrics->list[i].counters) add_name(&known, metrics->list[i].name);
    add_prefixed(&known, problem, space, &prefixed);
    known.counters = known.count;
    for (int i = 0; i < index; i++)
        if (metrics->list[i].counters) add_name(&known, metrics->list[i].name);
    for (int i = 0; i < counter_count; i++)
        add_name(&known, counters[i]);
    kf_status status = kf_expression_check_names(metric->expression, known.names, known.count, error);
    if (status == KF_OK) status = check_doubt(metric, problem, space, error);
    if (status == KF_OK) kf_expression_names(metric->expression, note_counter, &known);
    metric->counters = known.counters < 0;
    free((void *)known.names);
    kf_text_free(&prefixed);
    return status == KF_OK ? KF_OK : kf_fail_context(error, "%s", metric->name);
}

kf_status kf_user_metrics_check(kf_user_metrics *metrics, const kf_problem *problem, const kf_space *space,
                                const char *const *counters, int counter_count, kf_error *error) {
    for (int p = 0; metrics != NULL && metrics->count > 0 && p < kf_space_parameter_count(space); p++) {
        const char *parameter = kf_space_parameter_name(space, p);
        if (is_quantity(parameter))
            return kf_fail(error, KF_BAD_INPUT,
                           "the space has a parameter '%s', but a quantity for metrics has the same name; "
                           "rename the parameter",
                           parameter);
        if (find(metrics, parameter) != NULL)
            return kf_fail(error, KF_BAD_INPUT, "'%s' is a parameter of the space; choose another name",
                           parameter);
    }
    for (int i = 0; metrics != NULL && i < metrics->count; i++)
        KF_TRY(check_metric(metrics, i, problem, space, counters, counter_count, error));
    return KF_OK;
}

/* --- Computing -------------------------------------------------------------------------------------------
 */

/* Returns the value of a parameter as a number. A name that looks like a number is one, as those of floats in
 * T1 files. */
static bool take_parameter(const kf_value *parameter, kf_scalar *value) {
    char *end = NULL;
    if (parameter->kind != KF_VALUE_NAME) {
        *value =
            (kf_scalar){.kind = parameter->kind == KF_VALUE_BOOLEAN ? KF_SCALAR_BOOLEAN : KF_SCALAR_INTEGER,
                        .integer = parameter->integer};
        return true;
    }
    const double number = strtod(parameter->name, &end);
    const bool whole = end != parameter->name && *end == '\0' && isfinite(number);
    *value = whole ? (kf_scalar){.kind = KF_SCALAR_FLOAT, .number = number}
                   : (kf_scalar){.kind = KF_SCALAR_STRING, .text = parameter->name};
    return true;
}

/* Finds a name of a formula: a parameter, a quantity of the measurement, a number of the problem, or a
 * counter, in this order. */
static bool look_up(void *context, const char *name, kf_scalar *value) {
    view *v = context;
    const bool chosen = strncmp(name, in_config, sizeof in_config - 1) == 0,
               given = strncmp(name, in_problem, sizeof in_problem - 1) == 0;
    const kf_value *parameter =
        is_quantity(name) ? NULL : kf_config_find(v->config, chosen ? name + sizeof in_config - 1 : name);
    if (parameter != NULL) return take_parameter(parameter, value);
    double number = kf_measurement_quantity(v->m, name);
    if (isnan(number)) number = problem_number(v, given ? name + sizeof in_problem - 1 : name);
    if (isnan(number)) number = kf_counter_value(v->m, "", name);
    if (isnan(number) && v->m->kernel_count == 1)
        number = kf_counter_value(v->m, v->m->kernels[0].name, name);
    *value = (kf_scalar){.kind = KF_SCALAR_FLOAT, .number = number};
    if (isnan(number)) kf_copy_text(v->missing, sizeof v->missing, name);
    return !isnan(number);
}

static double number_of(const kf_scalar *value) {
    if (value->kind == KF_SCALAR_FLOAT) return value->number;
    return value->kind == KF_SCALAR_STRING ? (double)NAN : (double)value->integer;
}

/* Computes one metric. Without a finite value the result is NAN. `why` then gets the reason, unless it has
 * one already. */
static double compute(const kf_user_metric *metric, view *v, char why[KF_USER_REASON]) {
    kf_scalar value;
    kf_error error = {KF_OK, ""};
    v->missing[0] = '\0';
    const kf_status status = kf_expression_scalar(metric->expression, look_up, v, &value, &error);
    const double number = status == KF_OK ? number_of(&value) : (double)NAN;
    if (isfinite(number)) return number;
    if (why == NULL || why[0] != '\0') return (double)NAN;
    if (v->missing[0] != '\0')
        (void)snprintf(why, KF_USER_REASON, "%s: '%s' is not known of this config", metric->name, v->missing);
    else
        (void)snprintf(why, KF_USER_REASON, "%s: %.160s", metric->name,
                       status != KF_OK ? error.message : "is not a finite number");
    return (double)NAN;
}

void kf_user_metrics_compute(const kf_user_metrics *metrics, const kf_problem *problem,
                             const kf_config *config, kf_measurement *m, char why[KF_USER_REASON]) {
    if (why != NULL) why[0] = '\0';
    free(m->user_values);
    m->user_values = NULL;
    m->user_value_count = 0;
    if (metrics == NULL || metrics->count == 0 || m->state != KF_STATE_OK) return;
    m->user_values = kf_allocate_zeroed((size_t)metrics->count, sizeof *m->user_values);
    view v = {.problem = problem, .config = config, .m = m};
    for (int i = 0; i < metrics->count; i++) {
        const double value = compute(&metrics->list[i], &v, why);
        kf_user_value *made = &m->user_values[m->user_value_count++];
        kf_copy_text(made->name, sizeof made->name, metrics->list[i].name);
        made->value = value;
    }
}

/* --- Objectives ------------------------------------------------------------------------------------------
 */

/* Reads one goal, "max:gflops", from a word of an objective. */
static kf_status read_goal(const char *word, const kf_user_metrics *metrics, kf_objective *objective,
                           kf_error *error) {
    kf_goal goal = {.maximise = strncmp(word, "max:", 4) == 0};
    const char *name = goal.maximise || strncmp(word, "min:", 4) == 0 ? word + 4 : word;
    const kf_user_metric *metric = find(metrics, name);
    if (metric == NULL && !is_quantity(name)) {
        const char *names[KF_QUANTITIES + KF_USER_METRICS];
        char hint[KF_HINT];
        int count = 0;
        for (; count < KF_QUANTITIES; count++)
            names[count] = kf_quantity_names[count];
        for (int i = 0; metrics != NULL && i < metrics->count; i++)
            names[count++] = metrics->list[i].name;
        return kf_fail(
            error, KF_BAD_INPUT,
            "unknown '%.60s'%s; use time, energy, power, edp or the name of a --metric, after max: "
            "where it is to be large",
            name, kf_hint(name, names, count, hint));
    }
    if (objective->count == KF_GOALS)
        return kf_fail(error, KF_BAD_INPUT, "at most %d quantities at a time", KF_GOALS);
    for (int i = 0; i < objective->count; i++)
        if (strcmp(objective->goals[i].name, name) == 0)
            return kf_fail(error, KF_BAD_INPUT, "'%s' is given twice", name);
    kf_copy_text(goal.name, sizeof goal.name, name);
    objective->energy = objective->energy || (metric != NULL ? metric->energy : strcmp(name, "time") != 0);
    objective->goals[objective->count++] = goal;
    return KF_OK;
}

kf_status kf_objective_read(const char *text, const kf_user_metrics *metrics, kf_objective *objective,
                            kf_error *error) {
    memset(objective, 0, sizeof *objective);
    for (const char *at = text;;) {
        const size_t length = strcspn(at, ",");
        char word[KF_USER_METRIC_NAME + 64];
        (void)snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
        KF_TRY(read_goal(word, metrics, objective, error));
        if (at[length] == '\0') return KF_OK;
        at += length + 1;
    }
}
