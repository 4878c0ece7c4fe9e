/* Reads any bytes as a T1 problem file. */
#include "tests/fuzz/fuzz_file.h"

#include "solver/t1/t1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    kf_t1_problem *problem = NULL;
    const kf_status status = kf_t1_read(fuzz_file(data, size, ".json"), NULL, &problem, &error);
    fuzz_check(status, &error);
    kf_t1_release(problem);
    return 0;
}
