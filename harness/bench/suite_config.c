/* Makes the configs of suites: a preset in which some values are replaced. */
#include <stdio.h>
#include <string.h>

#include "base/util/text.h"
#include "harness/bench/suite_run.h"

static int find_parameter(const kf_space *space, const char *name) {
    for (int i = 0; i < kf_space_parameter_count(space); i++)
        if (strcmp(kf_space_parameter_name(space, i), name) == 0) return i;
    return -1;
}

static bool is_value(const kf_value *value, const cJSON *wanted) {
    switch (value->kind) {
    case KF_VALUE_INTEGER:
        return cJSON_IsNumber(wanted) && wanted->valuedouble == (double)value->integer;
    case KF_VALUE_BOOLEAN:
        return cJSON_IsBool(wanted) && cJSON_IsTrue(wanted) == (value->integer != 0);
    default:
        return cJSON_IsString(wanted) && strcmp(wanted->valuestring, value->name) == 0;
    }
}

/* Sets the values of an object (may be NULL). Returns false, with the reason, if the space lacks such a
 * value. */
static bool override(const kf_space *space, const cJSON *with, kf_config *config, char *reason, size_t size) {
    const cJSON *wanted;
    cJSON_ArrayForEach(wanted, with) {
        const int parameter = find_parameter(space, wanted->string);
        bool found = false;
        if (parameter < 0) {
            (void)snprintf(reason, size, "the space has no parameter %s", wanted->string);
            return false;
        }
        for (int i = 0; i < kf_space_domain_size(space, parameter) && !found; i++) {
            kf_value value;
            kf_space_value(space, parameter, i, &value);
            found = is_value(&value, wanted);
            if (found) kf_config_set(config, &value);
        }
        if (found) continue;
        char *text = cJSON_PrintUnformatted(wanted);
        (void)snprintf(reason, size, "the parameter %s has no value %s", wanted->string,
                       text != NULL ? text : "");
        cJSON_free(text);
        return false;
    }
    return true;
}

/* Returns whether the problem has these facts, which must all be words. */
static bool has_facts(const kf_problem *problem, const cJSON *only) {
    const cJSON *fact;
    cJSON_ArrayForEach(fact, only) {
        const kf_fact *found = kf_facts_find(&problem->facts, fact->string);
        if (found == NULL || !cJSON_IsString(fact) || strcmp(found->word, fact->valuestring) != 0)
            return false;
    }
    return true;
}

bool kf_suite_configure(const kf_space *space, const kf_problem *problem, const kf_suite_timing *timing,
                        const kf_candidate *leader, const kf_candidate *candidate, kf_config *config,
                        char *reason, size_t size) {
    kf_error error = {KF_OK, ""};
    uint64_t index;
    if (kf_space_preset(space, timing->preset, config, &error) != KF_OK) {
        kf_copy_text(reason, size, error.message);
        return false;
    }
    const cJSON *const all[] = {
        leader != NULL && has_facts(problem, leader->only) ? leader->with : NULL,
        timing->with,
        has_facts(problem, candidate->only) ? candidate->with : NULL,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!override(space, all[i], config, reason, size)) return false;
    return kf_space_index(space, config, &index, reason, size);
}
