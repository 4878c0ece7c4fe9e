/* Reads any bytes as a landscape of kftune, T4 or Kernel Tuner, and visits it. */
#include "tests/fuzz/fuzz_file.h"

#include "results/landscape_file.h"

static kf_status look(void *context, kf_landscape_entry *entry, kf_error *error) {
    (void)context, (void)entry, (void)error;
    return KF_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    kf_landscape_file file;
    kf_status status = kf_landscape_file_open(fuzz_file(data, size, ".json"), &file, &error);
    if (status == KF_OK) {
        status = kf_landscape_file_visit(&file, look, NULL, &error);
        kf_landscape_file_close(&file);
    }
    fuzz_check(status, &error);
    return 0;
}
