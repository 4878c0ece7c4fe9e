/* Configs of the suite `step`: a preset with values replaced. */
#include <stdio.h>
#include <string.h>

#include "base/util/text.h"
#include "harness/bench/step_timings.h"

static int find_parameter(const kf_space *space, const char *name, size_t length) {
    for (int i = 0; i < kf_space_parameter_count(space); i++) {
        const char *candidate = kf_space_parameter_name(space, i);
        if (strlen(candidate) == length && strncmp(candidate, name, length) == 0) return i;
    }
    return -1;
}

static void value_text(const kf_value *value, char text[KF_NAME]) {
    if (value->kind == KF_VALUE_INTEGER)
        (void)snprintf(text, KF_NAME, "%ld", value->integer);
    else
        kf_copy_text(text, KF_NAME,
                     value->kind == KF_VALUE_NAME ? value->name
                     : value->integer             ? "true"
                                                  : "false");
}

static void set_value(kf_config *config, const kf_value *value) {
    if (value->kind == KF_VALUE_INTEGER)
        kf_config_set_integer(config, value->parameter, value->integer);
    else if (value->kind == KF_VALUE_BOOLEAN)
        kf_config_set_boolean(config, value->parameter, value->integer != 0);
    else
        kf_config_set_name(config, value->parameter, value->name);
}

/* Sets the parameter's value of this text; false, with the reason, when there is none. */
static bool override(const kf_space *space, const char *text, kf_config *config, char *reason, size_t size) {
    const char *equals = strchr(text, '=');
    const size_t length = (size_t)(equals - text);
    const int parameter = find_parameter(space, text, length);
    if (parameter < 0) {
        (void)snprintf(reason, size, "the space has no parameter %.*s yet", (int)length, text);
        return false;
    }
    for (int i = 0; i < kf_space_domain_size(space, parameter); i++) {
        kf_value value;
        char candidate[KF_NAME];
        kf_space_value(space, parameter, i, &value);
        value_text(&value, candidate);
        if (strcmp(candidate, equals + 1) != 0) continue;
        set_value(config, &value);
        return true;
    }
    (void)snprintf(reason, size, "the parameter %.*s has no value %s", (int)length, text, equals + 1);
    return false;
}

bool kf_step_configure(const kf_space *space, const char *preset, const char *const *overrides, int count,
                       kf_config *config, char *reason, size_t size) {
    kf_error error = {KF_OK, ""};
    uint64_t index;
    if (kf_space_preset(space, preset, config, &error) != KF_OK) {
        kf_copy_text(reason, size, error.message);
        return false;
    }
    for (int i = 0; i < count; i++)
        if (!override(space, overrides[i], config, reason, size)) return false;
    return kf_space_index(space, config, &index, reason, size);
}
