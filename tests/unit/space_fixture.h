/* Opens spaces of tests/data/kinetic.space.json, or of a text. */
#ifndef KF_TESTS_UNIT_SPACE_FIXTURE_H
#define KF_TESTS_UNIT_SPACE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/space/space.h"
#include "base/util/json.h"

static inline kf_variables scene(double node_count, double shortest_edge, double gpu) {
    return (kf_variables){
        .count = 3, .values = {{"node_count", node_count}, {"shortest_edge", shortest_edge}, {"gpu", gpu}}};
}

static inline cJSON *declaration(void) {
    cJSON *json = NULL;
    kf_error error;
    assert_int_equal(kf_json_read_file("tests/data/kinetic.space.json", &json, &error), KF_OK);
    return json;
}

static inline kf_status build(const cJSON *json, kf_variables variables, const char *const *fixed,
                              int fixed_count, kf_space **space, kf_error *error) {
    return kf_space_build("kinetic.json", json, "kinetic", &variables, fixed, fixed_count, space, error);
}

static inline kf_space *kinetic(kf_variables variables, const char *const *fixed, int fixed_count) {
    cJSON *json = declaration();
    kf_space *space = NULL;
    kf_error error;
    if (build(json, variables, fixed, fixed_count, &space, &error) != KF_OK) fail_msg("%s", error.message);
    cJSON_Delete(json);
    return space;
}

static inline kf_space *from_text(const char *text, kf_variables variables, kf_error *error) {
    cJSON *json = cJSON_Parse(text); /* two members of one name are refused here, too */
    kf_space *space = NULL;
    assert_non_null(json);
    kf_status status = build(json, variables, NULL, 0, &space, error);
    assert_true(status == KF_OK ? space != NULL : status == KF_BAD_INPUT && space == NULL);
    cJSON_Delete(json);
    return space;
}

#endif
