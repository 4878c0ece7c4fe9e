#include "harness/cli/scene_levels.h"

#include <math.h>

#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/cli/scene_fit.h"

/* Finds the nodes of a level's grid and its place in metres. */
static void measure(const kf_scene *scene, int level, int nodes[3], double low[3], double high[3]) {
    const double cell = ldexp(scene->cell_size, -level);
    for (int a = 0; a < 3; a++) {
        int cells[2];
        kf_scene_level_cells(scene, level, a, cells);
        nodes[a] = cells[1] - cells[0];
        low[a] = cells[0] * cell;
        high[a] = cells[1] * cell;
    }
}

/* The cost of a uniform grid with the finest level's cells. */
typedef struct uniform_cost {
    double nodes;
    double updates; /* in the time of a step on the coarsest level */
} uniform_cost;
static uniform_cost cost_of_uniform(const kf_scene *scene) {
    const double nodes = ldexp(kf_scene_level_nodes(scene, 0), 3 * scene->finer_count);
    return (uniform_cost){nodes, ldexp(nodes, scene->finer_count)};
}

/* Prints the size of each level of nested grids, their total cost, and the cost of a uniform grid with the
 * finest cells. */
void kf_scene_levels_print(const kf_scene *scene, FILE *file) {
    const uniform_cost uniform = cost_of_uniform(scene);
    char grid[KF_GRID_TEXT], memory[32];
    int nodes[3];
    double low[3], high[3];
    if (scene->finer_count == 0) return;
    for (int l = 0; l <= scene->finer_count; l++) {
        measure(scene, l, nodes, low, high);
        fprintf(file, "  level %d      %s nodes, cells of %.4g m, from %.4g %.4g %.4g to %.4g %.4g %.4g m\n",
                l, kf_grid_text(nodes, grid), ldexp(scene->cell_size, -l), low[0], low[1], low[2], high[0],
                high[1], high[2]);
    }
    fprintf(file,
            "  together     %.3g nodes, %.3g updates a step; in the finest cells everywhere %.3g nodes, %.3g "
            "updates (%.3g times), %s\n",
            kf_scene_all_nodes(scene), kf_scene_step_updates(scene), uniform.nodes, uniform.updates,
            uniform.updates / kf_scene_step_updates(scene),
            kf_human_bytes(uniform.nodes / kf_scene_level_nodes(scene, 0) * kf_grid_bytes(scene->nodes, 2, 4),
                           memory));
    const int level = kf_scene_output_level(scene);
    fprintf(file, "  outputs      fields, pictures and probes in cells of %.4g m (those of level %d)\n",
            ldexp(scene->cell_size, -level), level);
}

cJSON *kf_scene_levels_json(const kf_scene *scene) {
    cJSON *list = cJSON_CreateArray();
    for (int l = 0; l <= scene->finer_count; l++) {
        int nodes[3];
        double low[3], high[3];
        cJSON *level = cJSON_CreateObject();
        measure(scene, l, nodes, low, high);
        cJSON_AddItemToObject(level, "grid", cJSON_CreateIntArray(nodes, 3));
        kf_json_add_number(level, "cell_size_m", ldexp(scene->cell_size, -l));
        cJSON_AddItemToObject(level, "low_m", cJSON_CreateDoubleArray(low, 3));
        cJSON_AddItemToObject(level, "high_m", cJSON_CreateDoubleArray(high, 3));
        cJSON_AddItemToArray(list, level);
    }
    return list;
}

cJSON *kf_uniform_cost_json(const kf_scene *scene) {
    const uniform_cost uniform = cost_of_uniform(scene);
    cJSON *json = cJSON_CreateObject();
    kf_json_add_number(json, "nodes", uniform.nodes);
    kf_json_add_number(json, "updates_a_step", uniform.updates);
    kf_json_add_number(json, "memory_bytes",
                       uniform.nodes / kf_scene_level_nodes(scene, 0) * kf_grid_bytes(scene->nodes, 2, 4));
    return json;
}
