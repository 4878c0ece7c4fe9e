/* Reads any bytes as a configuration file. */
#include "tests/fuzz/fuzz_file.h"

#include "base/util/memory.h"
#include "results/best_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    kf_best_config *best = kf_allocate(sizeof *best);
    fuzz_check(kf_best_config_read(fuzz_file(data, size, ".json"), best, &error), &error);
    free(best);
    return 0;
}
