/* Any bytes as a suite of nights. */
#include "tests/fuzz/fuzz_file.h"

#include "harness/nightly/suite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    kf_suite *suite = kf_allocate_zeroed(1, sizeof *suite);
    const kf_status status = kf_suite_read(fuzz_file(data, size, ".json"), NULL, suite, &error);
    fuzz_check(status, &error);
    if (status == KF_OK) kf_suite_free(suite);
    free(suite);
    return 0;
}
