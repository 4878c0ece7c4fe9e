/* Configs with changes such as "plan=push threads=64 graph=true". */
#ifndef KF_TESTS_UNIT_CONFIG_CHANGES_H
#define KF_TESTS_UNIT_CONFIG_CHANGES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/space/space.h"
#include "base/util/text.h"

static inline void change_config(kf_config *config, const char *changes) {
    char *copy = kf_duplicate(changes), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value++ = '\0';
        if (*value >= '0' && *value <= '9')
            kf_config_set_integer(config, word, atol(value));
        else if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
            kf_config_set_boolean(config, word, *value == 't');
        else
            kf_config_set_name(config, word, value);
    }
    free(copy);
}

/* Changes a config in the same way, and fails if it is then outside of the space. */
static inline void change_config_within(const kf_space *space, kf_config *config, const char *changes) {
    char why[256];
    uint64_t index;
    change_config(config, changes);
    if (!kf_space_index(space, config, &index, why, sizeof why)) fail_msg("%s: %s", changes, why);
}

#endif
