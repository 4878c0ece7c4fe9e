/* Reads any bytes as a terrain. The first byte chooses an ESRI grid, or a picture with the heights of
 * black and white. */
#include "tests/fuzz/fuzz_file.h"

#include "scene/terrain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const double box[3] = {4.0, 4.0, 4.0};
    if (size == 0) return 0;
    kf_error error = {KF_OK, ""};
    kf_terrain terrain = {0};
    const bool grid = data[0] % 2 == 0;
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(object, grid ? "file" : "picture",
                                  fuzz_file(data + 1, size - 1, grid ? ".asc" : ".png"));
    if (!grid) {
        (void)cJSON_AddNumberToObject(object, "low", 0.0);
        (void)cJSON_AddNumberToObject(object, "high", 10.0);
        (void)cJSON_AddNumberToObject(object, "cell", 1.0);
    }
    const kf_status status = kf_terrain_read("fuzz.json", object, 3, box, &terrain, &error);
    fuzz_check(status, &error);
    if (status == KF_OK) { /* inside, and as far outside as a body may fly */
        double slope[2], low, high;
        (void)kf_terrain_height(&terrain, 1.3, 2.1, slope);
        (void)kf_terrain_height(&terrain, -1e9, 1e9, slope);
        kf_terrain_range(&terrain, &low, &high);
    }
    kf_terrain_free(&terrain);
    cJSON_Delete(object);
    return 0;
}
