/* Plans of the stable fluids system for tests. */
#ifndef KF_TESTS_STABLE_FLUIDS_SUPPORT_H
#define KF_TESTS_STABLE_FLUIDS_SUPPORT_H

#include <stdlib.h>
#include <string.h>

#include "base/backend/fft.h"
#include "base/util/text.h"
#include "solver/stable_fluids/stable_fluids.h"

/* A config as "key=value key=value" over values that fit any small grid. */
static void test_config(kf_config *config, const char *changes) {
    static const struct {
        const char *name, *text;
        long number;
        int kind; /* 0 name, 1 integer, 2 boolean */
    } base[] = {{"plan", "fused", 0, 0},
                {"fft", "own", 0, 0},
                {"storage_velocity", "f32", 0, 0},
                {"storage_spectrum", "f32", 0, 0},
                {"twiddles", "table", 0, 0},
                {"points_rows", "", 8, 1},
                {"points_columns", "", 8, 1},
                {"points_inverse", "", 8, 1},
                {"rows_per_block", "", 4, 1},
                {"columns_per_block", "", 4, 1},
                {"component_per_thread", "", 0, 2},
                {"tile_columns", "", 0, 1},
                {"pad", "", 0, 1},
                {"exchange_buffers", "", 1, 1},
                {"resident_rows", "", 0, 1},
                {"resident_columns", "", 0, 1},
                {"block_x", "", 64, 1},
                {"block_y", "", 4, 1},
                {"steps_per_launch", "", 1, 1},
                {"graph", "", 0, 2},
                {"overlap", "", 0, 2},
                {"prefetch", "", 0, 2}};
    char *copy = kf_duplicate(changes), *rest = NULL;
    memset(config, 0, sizeof *config);
    kf_copy_text(config->system, sizeof config->system, "stable_fluids");
    for (size_t i = 0; i < sizeof base / sizeof *base; i++) {
        if (base[i].kind == 0) kf_config_set_name(config, base[i].name, base[i].text);
        if (base[i].kind == 1) kf_config_set_integer(config, base[i].name, base[i].number);
        if (base[i].kind == 2) kf_config_set_boolean(config, base[i].name, base[i].number != 0);
    }
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        if (value[0] >= '0' && value[0] <= '9')
            kf_config_set_integer(config, word, atol(value));
        else if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
            kf_config_set_boolean(config, word, value[0] == 't');
        else
            kf_config_set_name(config, word, value);
    }
    free(copy);
}

#endif
