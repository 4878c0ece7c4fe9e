/* Reads any bytes as a scene file, without meshes. */
#include "tests/fuzz/fuzz_file.h"

#include "base/util/memory.h"
#include "scene/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    kf_description *description = kf_allocate(sizeof *description);
    kf_text notes = {0};
    const char *path = fuzz_file(data, size, ".json");
    kf_description_defaults(description, path);
    fuzz_check(kf_description_read(path, NULL, description, &notes, &error), &error);
    kf_text_free(&notes);
    free(description);
    return 0;
}
