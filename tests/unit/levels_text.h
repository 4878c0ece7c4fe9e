/* Describes the levels of a scene in words. */
#ifndef KF_TESTS_UNIT_LEVELS_TEXT_H
#define KF_TESTS_UNIT_LEVELS_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "harness/cli/scene_levels.h"

/* Returns what is printed of the levels. The caller frees it. */
static inline char *text_of_levels(const kf_scene *scene) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    kf_scene_levels_print(scene, file);
    (void)fclose(file);
    return text;
}

#endif
