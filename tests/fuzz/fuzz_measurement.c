/* Reads any JSON as the answer of a worker. */
#include "tests/fuzz/fuzz_file.h"

#include "base/record/measurement.h"
#include "base/util/json.h"
#include "base/util/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    cJSON *json = NULL;
    if (kf_json_parse("fuzz", (const char *)data, size, &json, &error) != KF_OK) return 0;
    kf_measurement *measurement = kf_allocate_zeroed(1, sizeof *measurement);
    const kf_status status = kf_measurement_from_json(json, measurement, &error);
    fuzz_check(status, &error);
    if (status == KF_OK) kf_measurement_free(measurement);
    free(measurement);
    cJSON_Delete(json);
    return 0;
}
