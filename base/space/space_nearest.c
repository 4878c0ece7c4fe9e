#include "base/space/space_nearest.h"

#include <string.h>

/* Positions of a config's values in the space; of a value that is not there, the first. */
static void find_positions(const kf_space *space, const kf_config *config, int *positions) {
    for (int p = 0; p < kf_space_parameter_count(space); p++) {
        positions[p] = 0;
        for (int i = 0; i < kf_space_domain_size(space, p); i++) {
            kf_value value;
            kf_space_value(space, p, i, &value);
            for (int v = 0; v < config->count; v++)
                if (strcmp(config->values[v].parameter, value.parameter) == 0 &&
                    config->values[v].integer == value.integer &&
                    strcmp(config->values[v].name, value.name) == 0)
                    positions[p] = i;
        }
    }
}

/* Changes exactly so many of the values from parameter `first` on until the constraints are kept. */
static bool change_values(const kf_space *space, int *positions, int first, int changes, uint64_t *index) {
    if (changes == 0) return kf_space_positions_index(space, positions, index);
    for (int p = first; p < kf_space_parameter_count(space); p++) {
        const int wanted = positions[p];
        for (int i = 0; i < kf_space_domain_size(space, p); i++) {
            if (i == wanted) continue;
            positions[p] = i;
            if (change_values(space, positions, p + 1, changes - 1, index)) return true;
        }
        positions[p] = wanted;
    }
    return false;
}

kf_status kf_space_nearest(const kf_space *space, kf_config *config, kf_error *error) {
    enum { MOST_CHANGES = 6 };
    kf_config preset;
    uint64_t index;
    int positions[KF_CONFIG_VALUES] = {0};
    KF_TRY(kf_space_preset(space, "default", &preset, error));
    if (kf_space_size(space) == 0)
        return kf_fail(error, KF_BAD_INPUT, "--fix: the space has no config with these values");
    find_positions(space, &preset, positions);
    for (int changes = 0; changes <= MOST_CHANGES; changes++)
        if (change_values(space, positions, 0, changes, &index)) {
            kf_space_config(space, index, config);
            return KF_OK;
        }
    return kf_fail(
        error, KF_BAD_INPUT,
        "--fix: with these values more than %d others would have to differ from the preset: fix them too",
        MOST_CHANGES);
}
