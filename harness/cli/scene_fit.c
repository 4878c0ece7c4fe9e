#include "harness/cli/scene_fit.h"

#include <math.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/text.h"

static const double LEFT_BYTES = 1e9, MOST_NODES = 2147483647.0; /* of each device */

/* Returns the number of populations of a node. In two dimensions it is nine. */
static int populations(const int nodes[3]) {
    return nodes[2] == 1 ? 9 : 27;
}

static double node_count(const int nodes[3]) {
    return (double)nodes[0] * nodes[1] * nodes[2];
}

double kf_grid_bytes(const int nodes[3], int grids, int value_bytes) {
    return node_count(nodes) * (populations(nodes) * grids * value_bytes + 4);
}

/* Finds the largest grid with these proportions and at most `most` nodes. */
static void largest_grid(const int nodes[3], double most, int largest[3]) {
    const bool flat = nodes[2] == 1;
    const double ratio = most / node_count(nodes), factor = flat ? sqrt(ratio) : cbrt(ratio);
    for (int a = 0; a < 3; a++)
        largest[a] = flat && a == 2 ? 1 : (int)fmax(1.0, floor(nodes[a] * factor));
}

kf_scene_fit kf_fit_scene(const kf_scene *scene, const kf_device_info *device) {
    const int parts = device->parts > 1 ? device->parts : 1;
    kf_scene_fit fit = {.nested = scene->finer_count > 0,
                        .bytes = fmax(0.0, (double)device->memory_free_bytes - LEFT_BYTES * parts)};
    kf_copy_text(fit.device, sizeof fit.device, device->name);
    /* The levels of nested grids always stream between two grids. */
    const bool nested = scene->finer_count > 0, countable = kf_scene_all_nodes(scene) <= parts * MOST_NODES;
    const double levels = kf_scene_all_nodes(scene) / node_count(scene->nodes);
    fit.two_grids = countable && levels * kf_grid_bytes(scene->nodes, 2, 4) <= fit.bytes;
    fit.one_grid = countable && !nested && kf_grid_bytes(scene->nodes, 1, 4) <= fit.bytes;
    fit.half_grid = countable && !nested && kf_grid_bytes(scene->nodes, 1, 2) <= fit.bytes;
    const double of_node = levels * kf_grid_bytes(scene->nodes, nested ? 2 : 1, 4) / node_count(scene->nodes);
    largest_grid(scene->nodes, fmin(parts * MOST_NODES / levels, fit.bytes / of_node), fit.largest);
    return fit;
}

void kf_scene_fit_print(const kf_scene_fit *fit, FILE *file) {
    char bytes[32], grid[KF_GRID_TEXT];
    fprintf(file, "  fits         %s, %s: two grids %s, one grid %s, one in 16 bits %s\n", fit->device,
            kf_human_bytes(fit->bytes, bytes), fit->two_grids ? "yes" : "no", fit->one_grid ? "yes" : "no",
            fit->half_grid ? "yes" : "no");
    fprintf(file, "               the largest of this shape, on %s: %s nodes\n",
            fit->nested ? "level 0" : "one grid", kf_grid_text(fit->largest, grid));
}

cJSON *kf_scene_fit_json(const kf_scene_fit *fit) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "device", fit->device);
    kf_json_add_number(json, "bytes", fit->bytes);
    cJSON_AddBoolToObject(json, "two_grids", fit->two_grids);
    cJSON_AddBoolToObject(json, "one_grid", fit->one_grid);
    cJSON_AddBoolToObject(json, "one_grid_16_bits", fit->half_grid);
    cJSON_AddItemToObject(json, "largest_grid", cJSON_CreateIntArray(fit->largest, 3));
    return json;
}
