/* Reads any bytes as a job, in the form for a worker and in the form for processes under mpirun. */
#include "tests/fuzz/fuzz_file.h"

#include "base/util/json.h"
#include "harness/worker/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    kf_job job;
    cJSON *json = NULL;
    if (kf_json_parse("job", (const char *)data, size, &json, &error) != KF_OK) return 0;
    fuzz_check(kf_job_from_json(json, &job, &error), &error);
    cJSON_Delete(json);
    return 0;
}
