/* Reads any bytes as a scene of particles. */
#include "tests/fuzz/fuzz_file.h"

#include "scene/particles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const kf_particle_options options = {0};
    kf_error error = {KF_OK, ""};
    kf_particle_scene *scene = NULL;
    const kf_status status = kf_particle_scene_open(fuzz_file(data, size, ".json"), &options, &scene, &error);
    fuzz_check(status, &error);
    if (status == KF_OK) kf_particle_scene_free(scene);
    return 0;
}
