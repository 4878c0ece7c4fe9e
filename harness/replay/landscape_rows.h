/* Rows of a landscape while its file is read. Internal to harness/replay. */
#ifndef KF_HARNESS_REPLAY_LANDSCAPE_ROWS_H
#define KF_HARNESS_REPLAY_LANDSCAPE_ROWS_H

#include "harness/replay/landscape.h"

typedef struct kf_landscape_rows {
    const char *file;
    kf_landscape *landscape; /* gets name, scene, device */
    char system[KF_NAME];
    kf_config *configs;
    kf_state *states;
    double *times_us, *seconds;
    size_t count, capacity;
    int preset_count; /* names and rows of presets */
    char preset_names[8][KF_NAME];
    size_t preset_rows[8];
} kf_landscape_rows;

/* Appends a row; time_us is looked at in state ok only. */
void kf_landscape_row(kf_landscape_rows *rows, const kf_config *config, kf_state state, double time_us,
                      double seconds);

/* One reader a format. */
kf_status kf_landscape_read_cache(kf_landscape_rows *rows, const cJSON *root, kf_error *error);
kf_status kf_landscape_read_t4(kf_landscape_rows *rows, const cJSON *root, kf_error *error);
kf_status kf_landscape_read_compact(kf_landscape_rows *rows, const cJSON *root, kf_error *error);

#endif
