/* A space of two parameters x and y with equally many values, for tests of strategies. */
#ifndef KF_TESTS_UNIT_SQUARE_SPACE_H
#define KF_TESTS_UNIT_SQUARE_SPACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/space/space_parts.h"

enum { MOST_SQUARE = 32 };

/* Makes a space of side x side configs. Config x + side y is the preset "default". -1: there is none. */
static inline kf_space *square_space(int side, int preset) {
    static kf_config configs[MOST_SQUARE * MOST_SQUARE];
    kf_space *space = NULL;
    kf_error error = {KF_OK, ""};
    for (int i = 0; i < side * side; i++) {
        configs[i] = (kf_config){.system = "test"};
        kf_config_set_integer(&configs[i], "x", i % side);
        kf_config_set_integer(&configs[i], "y", i / side);
    }
    if (kf_space_from_configs("test", configs, (size_t)(side * side), &space, &error) != KF_OK)
        fail_msg("%s", error.message);
    if (preset >= 0) assert_int_equal(kf_space_add_preset(space, "default", &configs[preset], &error), KF_OK);
    return space;
}

#endif
