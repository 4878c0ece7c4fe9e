/* Tests changes of a placed mesh, by the texts of a scene file's section "placed". Faults: a value that
 * changes another, or one that should end and stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene/placement.h"

static kf_placement read(const char *text) {
    kf_placement placement = {0};
    kf_error error = {KF_OK, ""};
    cJSON *json = NULL;
    assert_int_equal(kf_json_parse("placed", text, strlen(text), &json, &error), KF_OK);
    if (kf_placement_from_json((kf_json_place){"placed", ""}, json, &placement, &error) != KF_OK)
        fail_msg("%s", error.message);
    cJSON_Delete(json);
    return placement;
}

static char *written(const kf_placement *placement) {
    cJSON *json = kf_placement_to_json(placement);
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

#define WAYS    "\"wind\": \"-z\", \"up\": \"+y\", \"length\": 4, \"speed\": 30, "
#define OF_AIR  "\"viscosity\": 1.5e-05, \"road\": \"yes\", "
#define TURNED  "\"yaw\": 5, \"tunnel_yaw\": 5, "
#define TUNNEL  "\"blockage\": 0.04, \"cells\": 60, "
#define GRID    "\"grid\": [96, 48, 40], "
#define SAMPLES "\"samples_per_cell\": 20"

static void each_value_changes_itself(void **state) {
    (void)state;
    static const struct {
        const char *said, *then;
    } cases[] = {
        {"{}", "{" WAYS OF_AIR TURNED TUNNEL GRID SAMPLES "}"},
        {"{\"wind\": \"+x\"}",
         "{\"wind\": \"+x\", \"up\": \"+y\", \"length\": 4, \"speed\": 30, " OF_AIR TURNED TUNNEL GRID SAMPLES
         "}"},
        {"{\"up\": \"-x\"}",
         "{\"wind\": \"-z\", \"up\": \"-x\", \"length\": 4, \"speed\": 30, " OF_AIR TURNED TUNNEL GRID SAMPLES
         "}"},
        {"{\"length\": 3}",
         "{\"wind\": \"-z\", \"up\": \"+y\", \"length\": 3, \"speed\": 30, " OF_AIR TURNED TUNNEL GRID SAMPLES
         "}"},
        {"{\"speed\": 7}",
         "{\"wind\": \"-z\", \"up\": \"+y\", \"length\": 4, \"speed\": 7, " OF_AIR TURNED TUNNEL GRID SAMPLES
         "}"},
        {"{\"viscosity\": 0.5}",
         "{" WAYS "\"viscosity\": 0.5, \"road\": \"yes\", " TURNED TUNNEL GRID SAMPLES "}"},
        {"{\"reynolds\": 800}",
         "{" WAYS "\"reynolds\": 800, \"road\": \"yes\", " TURNED TUNNEL GRID SAMPLES "}"},
        {"{\"road\": \"no\"}",
         "{" WAYS "\"viscosity\": 1.5e-05, \"road\": \"no\", " TURNED TUNNEL GRID SAMPLES "}"},
        {"{\"yaw\": 0}", "{" WAYS OF_AIR "\"yaw\": 0, \"tunnel_yaw\": 5, " TUNNEL GRID SAMPLES "}"},
        {"{\"tunnel_yaw\": 9}", "{" WAYS OF_AIR "\"yaw\": 5, \"tunnel_yaw\": 9, " TUNNEL GRID SAMPLES "}"},
        {"{\"samples_per_cell\": 11}", "{" WAYS OF_AIR TURNED TUNNEL GRID "\"samples_per_cell\": 11}"},
        /* These would replace the grid. */
        {"{\"blockage\": 0.1}", "{" WAYS OF_AIR TURNED "\"blockage\": 0.1, \"cells\": 60, " SAMPLES "}"},
        {"{\"cells\": 80}", "{" WAYS OF_AIR TURNED "\"blockage\": 0.04, \"cells\": 80, " SAMPLES "}"},
        {"{\"refine\": 2}", "{" WAYS OF_AIR TURNED TUNNEL SAMPLES ", \"refine\": 2}"},
        {"{\"grid\": [64, 32, 24]}", "{" WAYS OF_AIR TURNED TUNNEL "\"grid\": [64, 32, 24], " SAMPLES "}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_placement placement = read("{" WAYS OF_AIR "\"yaw\": 5, " TUNNEL GRID SAMPLES "}");
        const kf_placement said = read(cases[i].said), then = read(cases[i].then);
        kf_placement_change(&placement, &said);
        char *found = written(&placement), *expected = written(&then);
        if (strcmp(found, expected) != 0)
            fail_msg("%s makes %s of it, not %s", cases[i].said, found, expected);
        free(found);
        free(expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_value_changes_itself)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
