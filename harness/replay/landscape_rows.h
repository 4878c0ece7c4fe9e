/* Rows of a landscape while its file is read. Internal to harness/replay. */
#ifndef KF_HARNESS_REPLAY_LANDSCAPE_ROWS_H
#define KF_HARNESS_REPLAY_LANDSCAPE_ROWS_H

#include "harness/replay/landscape.h"

typedef struct kf_landscape_row {
    kf_config config;
    kf_state state;
    double time_us;                /* looked at in state ok only */
    double seconds, build_seconds; /* NAN: not known */
    float *samples_us;             /* owned by the rows; NULL: none */
    int sample_count;
} kf_landscape_row;

typedef struct kf_landscape_rows {
    const char *file;
    kf_landscape *landscape; /* gets name, scene, device */
    char system[KF_NAME];
    kf_landscape_row *list;
    size_t count, capacity;
    int preset_count; /* names and rows of presets */
    char preset_names[8][KF_NAME];
    size_t preset_rows[8];
} kf_landscape_rows;

/* Appends a row and takes its samples. */
void kf_landscape_add(kf_landscape_rows *rows, const kf_landscape_row *row);

/* One reader a format. */
kf_status kf_landscape_read_cache(kf_landscape_rows *rows, const cJSON *root, kf_error *error);
kf_status kf_landscape_read_t4(kf_landscape_rows *rows, const cJSON *root, kf_error *error);
kf_status kf_landscape_read_compact(kf_landscape_rows *rows, const cJSON *root, kf_error *error);

#endif
