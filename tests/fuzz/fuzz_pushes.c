/* Reads any bytes as the table of pushes that a valid scene of stable_fluids names. */
#include "tests/fuzz/fuzz_file.h"

#include "solver/stable_fluids/stable_fluids_problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const int cells[3] = {16, 16, 1};
    kf_error error = {KF_OK, ""};
    kf_fluid *fluid = NULL;
    kf_text scene = {0};
    kf_text_append(
        &scene,
        "{\"stable_fluids\": {}, \"domain\": {\"cells\": [16, 16], \"length\": 1}, \"flow\": "
        "{\"viscosity\": 0.001, \"time_step\": 0.01}, \"pushes\": {\"reach\": 2, \"file\": \"%s\"}}",
        fuzz_file(data, size, ".csv"));
    const char *path = fuzz_file((const uint8_t *)scene.text, scene.length, ".json");
    const kf_status status = kf_fluid_open(path, cells, &fluid, &error);
    fuzz_check(status, &error);
    if (status == KF_OK) kf_fluid_free(fluid);
    kf_text_free(&scene);
    return 0;
}
