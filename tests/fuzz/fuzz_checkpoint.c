/* Reads any bytes as a checkpoint's description of itself. */
#include "tests/fuzz/fuzz_file.h"

#include "solver/output/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    kf_checkpoint checkpoint;
    fuzz_check(kf_checkpoint_describe(fuzz_file(data, size, ".kfc"), &checkpoint, &error), &error);
    return 0;
}
