/* Opens any bytes as a store for reading, and lists it. */
#include "tests/fuzz/fuzz_file.h"

#include "results/store.h"

static void look(void *context, const kf_run_summary *run) {
    (void)context, (void)run;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    kf_store *store = NULL;
    kf_status status = kf_store_open(fuzz_file(data, size, ".db"), true, &store, &error);
    if (status == KF_OK) {
        status = kf_store_runs(store, look, NULL, &error);
        kf_store_close(store);
    }
    fuzz_check(status, &error);
    return 0;
}
