/* Reads any bytes as a suite of nights, and as one of fixed comparisons. */
#include "tests/fuzz/fuzz_file.h"

#include "base/util/memory.h"
#include "harness/bench/suite_file.h"
#include "harness/nightly/suite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    const char *path = fuzz_file(data, size, ".json");
    kf_suite *suite = kf_allocate_zeroed(1, sizeof *suite);
    kf_status status = kf_suite_read(path, NULL, suite, &error);
    fuzz_check(status, &error);
    if (status == KF_OK) kf_suite_free(suite);
    free(suite);
    kf_suite_file *file = NULL;
    status = kf_suite_file_read(path, &file, &error);
    fuzz_check(status, &error);
    kf_suite_file_free(file);
    return 0;
}
