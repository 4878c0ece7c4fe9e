/* Reads any bytes as a metric set. */
#include "tests/fuzz/fuzz_file.h"

#include "harness/counters/metric_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    kf_metric_set *set = NULL;
    const kf_status status = kf_metric_set_open(fuzz_file(data, size, ".txt"), &set, &error);
    fuzz_check(status, &error);
    if (status == KF_OK) kf_metric_set_free(set);
    return 0;
}
