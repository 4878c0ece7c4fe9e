#include "base/space/space_nearest.h"

#include <stdlib.h>

#include "base/space/space_parts.h"
#include "base/util/memory.h"

/* Returns the cost of a value that is not the preset's: one change, plus its position in the domain, in which
 * preferred values come first. A further change costs more than all positions together. */
static uint64_t cost_of(int position, int wanted) {
    return position == wanted ? 0 : ((uint64_t)1 << 32) + (uint64_t)position;
}

/* Finds for each node of a level the first edge of the cheapest path to the end. costs: of the level's nodes.
 * below: of the next level's nodes, or NULL after the last. */
static uint32_t *choose_edges(const kf_level *level, int wanted, const uint64_t *below, uint64_t *costs) {
    uint32_t *chosen = kf_allocate(((size_t)level->node_count + 1) * sizeof *chosen);
    for (uint32_t node = 0; node < level->node_count; node++) {
        /* A dead end has no edges. */
        costs[node] = UINT64_MAX;
        for (uint32_t edge = level->first_edge[node]; edge < level->first_edge[node + 1]; edge++) {
            const uint64_t cost =
                cost_of(level->value[edge], wanted) + (below == NULL ? 0 : below[level->child[edge]]);
            if (cost >= costs[node]) continue;
            costs[node] = cost;
            chosen[node] = edge;
        }
    }
    return chosen;
}

/* Finds the config that costs least: from the last level upwards each node's best edge is chosen, then the
 * choices are followed from the root. */
static void find_cheapest(const kf_space *space, const int *wanted, int positions[KF_CONFIG_VALUES]) {
    uint32_t *chosen[KF_CONFIG_VALUES];
    uint64_t *below = NULL;
    for (int number = space->parameter_count - 1; number >= 0; number--) {
        const kf_level *level = &space->levels[number];
        uint64_t *costs = kf_allocate(((size_t)level->node_count + 1) * sizeof *costs);
        chosen[number] = choose_edges(level, wanted[level->parameter], below, costs);
        free(below);
        below = costs;
    }
    free(below);
    uint32_t node = 0;
    for (int number = 0; number < space->parameter_count; number++) {
        const kf_level *level = &space->levels[number];
        const uint32_t edge = chosen[number][node];
        positions[level->parameter] = level->value[edge];
        node = level->child[edge];
        free(chosen[number]);
    }
}

kf_status kf_space_nearest(const kf_space *space, kf_config *config, kf_error *error) {
    const kf_preset *preset;
    int positions[KF_CONFIG_VALUES] = {0};
    uint64_t index = 0;
    KF_TRY(kf_space_find_preset(space, "default", &preset, error));
    if (space->size == 0)
        return kf_fail(error, KF_BAD_INPUT, "--fix: the space has no config with these values");
    find_cheapest(space, preset->positions, positions);
    (void)kf_space_positions_index(space, positions, &index);
    kf_space_config(space, index, config);
    return KF_OK;
}
