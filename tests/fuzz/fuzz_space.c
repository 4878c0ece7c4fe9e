/* Reads any text as the declaration of a space. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/space/space.h"
#include "base/util/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An accepted space must be consistent: indices and configs are each other's inverse. */
static void check_space(const kf_space *space) {
    uint64_t size = kf_space_size(space);
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t index = size / 20 * i, back = size;
        kf_config config;
        kf_space_config(space, index, &config);
        if (!kf_space_index(space, &config, &back, NULL, 0) || back != index) abort();
    }
    for (int i = 0; i < kf_space_preset_count(space); i++) {
        kf_config config;
        uint64_t index;
        if (kf_space_preset(space, kf_space_preset_name(space, i), &config, NULL) != KF_OK) abort();
        if (!kf_space_index(space, &config, &index, NULL, 0)) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_variables variables = {.count = 3, .values = {{"node_count", 4096}, {"shortest_edge", 5}, {"gpu", 0}}};
    cJSON *json = NULL;
    kf_space *space = NULL;
    kf_error error = {0};
    if (kf_json_parse("fuzz", (const char *)data, size, &json, &error) != KF_OK) return 0;
    kf_status status = kf_space_build("fuzz", json, "kinetic", &variables, NULL, 0, &space, &error);
    if (status == KF_OK)
        check_space(space);
    else if (status != KF_BAD_INPUT || strchr(error.message, '\n') != NULL)
        abort();
    kf_space_free(space);
    cJSON_Delete(json);
    return 0;
}
