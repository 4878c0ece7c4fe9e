/* Reads any bytes as a scene of stable_fluids on a small grid. */
#include "tests/fuzz/fuzz_file.h"

#include "solver/stable_fluids/stable_fluids_problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const int cells[3] = {16, 16, 1};
    kf_error error = {KF_OK, ""};
    kf_fluid *fluid = NULL;
    const kf_status status = kf_fluid_open(fuzz_file(data, size, ".json"), cells, &fluid, &error);
    fuzz_check(status, &error);
    if (status == KF_OK) kf_fluid_free(fluid);
    return 0;
}
