/* Constraints of a space: reading them, and asking them about positions. */
#include <stdlib.h>
#include <string.h>

#include "base/space/space_parts.h"
#include "base/util/json.h"
#include "base/util/random.h"

enum { STRICTEST_SAMPLES = 1 << 18 };

typedef struct bound_names {
    const kf_space *space;
    const kf_constraint *constraint;
    const int *positions;
} bound_names;

static bool look_up(void *context, const char *name, kf_scalar *value) {
    const bound_names *bound = context;
    const kf_meaning *meaning = bound->constraint->meanings;
    /* The reader has checked that every name has a meaning. */
    while (meaning->name != name)
        meaning++;
    *value = meaning->parameter < 0
                 ? meaning->variable
                 : bound->space->parameters[meaning->parameter].values[bound->positions[meaning->parameter]];
    return true;
}

typedef struct kf_mention {
    const kf_space *space;
    kf_constraint *constraint;
} kf_mention;

static void note_meaning(void *context, const char *name) {
    const kf_mention *mention = context;
    kf_constraint *constraint = mention->constraint;
    kf_meaning *meaning = &constraint->meanings[constraint->meaning_count++];
    meaning->name = name;
    meaning->parameter = -1;
    for (int p = 0; p < mention->space->parameter_count; p++)
        if (strcmp(mention->space->parameters[p].name, name) == 0) meaning->parameter = p;
    if (meaning->parameter >= 0)
        constraint->parameters[constraint->parameter_count++] = meaning->parameter;
    else
        (void)kf_space_variable((void *)(uintptr_t)mention->space, name, &meaning->variable);
}

static int ascending(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

static kf_status parse(kf_space *space, const char *text, kf_constraint *constraint, kf_error *error) {
    const char *names[KF_CONFIG_VALUES + KF_VARIABLES];
    int count = 0;
    for (int p = 0; p < space->parameter_count; p++)
        names[count++] = space->parameters[p].name;
    for (int v = 0; v < space->variables.count; v++)
        names[count++] = space->variables.values[v].name;
    KF_TRY(kf_expression_parse(text, &constraint->expression, error));
    KF_TRY(kf_expression_check_names(constraint->expression, names, count, error));
    kf_expression_names(constraint->expression, note_meaning, &(kf_mention){space, constraint});
    qsort(constraint->parameters, (size_t)constraint->parameter_count, sizeof(int), ascending);
    return KF_OK;
}

kf_status kf_constraint_read(kf_space *space, const cJSON *json, int number, kf_constraint *constraint,
                             kf_error *error) {
    static const char *const keys[] = {"expression", "reason", NULL};
    char path[32];
    (void)snprintf(path, sizeof path, "constraints[%d]", number);
    kf_json_place place = {space->file, path};
    const char *text = NULL, *reason = NULL;
    KF_TRY(kf_json_check_keys(place, json, keys, error));
    KF_TRY(kf_json_string(place, json, "expression", true, &text, error));
    KF_TRY(kf_json_string(place, json, "reason", true, &reason, error));
    KF_TRY(kf_space_check_line(space->file, path, "reason", reason, error));
    constraint->text = kf_duplicate(text);
    constraint->reason = kf_duplicate(reason);
    if (parse(space, text, constraint, error) != KF_OK)
        return kf_fail_context(error, "%s: %s.expression", space->file, path);
    return KF_OK;
}

kf_status kf_constraint_holds(const kf_space *space, const kf_constraint *constraint, const int *positions,
                              bool *holds, kf_error *error) {
    bound_names bound = {space, constraint, positions};
    if (kf_expression_truth(constraint->expression, look_up, &bound, holds, error) == KF_OK) return KF_OK;
    kf_text values = {0};
    for (int i = 0; i < constraint->parameter_count; i++) {
        const kf_parameter *parameter = &space->parameters[constraint->parameters[i]];
        kf_text_append(&values, "%s%s=", i == 0 ? "" : " ", parameter->name);
        kf_scalar_text(&parameter->values[positions[constraint->parameters[i]]], &values);
    }
    kf_status status = kf_fail_context(error, "%s: constraint \"%.200s\" with %.300s", space->file,
                                       constraint->text, values.text == NULL ? "no parameter" : values.text);
    kf_text_free(&values);
    return status;
}

kf_status kf_constraint_violated(const kf_space *space, const int *positions, const kf_constraint **violated,
                                 kf_error *error) {
    *violated = NULL;
    for (int c = 0; c < space->constraint_count; c++) {
        bool holds = false;
        KF_TRY(kf_constraint_holds(space, &space->constraints[c], positions, &holds, error));
        if (holds) continue;
        *violated = &space->constraints[c];
        break;
    }
    return KF_OK;
}

/* Returns the share of the combinations of the constraint's parameters that it excludes. Very many
 * combinations are sampled at random. */
static double excluded_share(const kf_space *space, const kf_constraint *constraint) {
    double total = 1;
    for (int i = 0; i < constraint->parameter_count; i++)
        total *= kf_parameter_choices(&space->parameters[constraint->parameters[i]]);
    bool all = total <= STRICTEST_SAMPLES;
    uint64_t tries = all ? (uint64_t)total : STRICTEST_SAMPLES, excluded = 0, random = 0;
    int positions[KF_CONFIG_VALUES] = {0};
    for (uint64_t try = 0; try < tries; try++) {
        uint64_t rest = try;
        for (int i = 0; i < constraint->parameter_count; i++) {
            const kf_parameter *parameter = &space->parameters[constraint->parameters[i]];
            uint64_t choices = (uint64_t)kf_parameter_choices(parameter);
            uint64_t choice = all ? rest % choices : kf_random_below(&random, choices);
            positions[constraint->parameters[i]] = kf_parameter_choice(parameter, (int)choice);
            rest /= choices;
        }
        bool holds = false;
        excluded += kf_constraint_holds(space, constraint, positions, &holds, NULL) == KF_OK && !holds;
    }
    return (double)excluded / (double)tries;
}

const kf_constraint *kf_constraint_strictest(const kf_space *space, double *excluded) {
    const kf_constraint *strictest = NULL;
    *excluded = -1;
    for (int c = 0; c < space->constraint_count; c++) {
        double share = excluded_share(space, &space->constraints[c]);
        if (share <= *excluded) continue;
        *excluded = share;
        strictest = &space->constraints[c];
    }
    return strictest;
}
