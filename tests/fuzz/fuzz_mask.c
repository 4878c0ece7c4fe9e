/* Reads any bytes as the picture of a mask. */
#include "tests/fuzz/fuzz_file.h"

#include "scene/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    int nodes[3];
    fuzz_check(kf_mask_size(fuzz_file(data, size, ".png"), nodes, &error), &error);
    return 0;
}
