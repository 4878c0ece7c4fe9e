#include "harness/replay/landscape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/space/space_parts.h"
#include "base/statistics/statistics.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "results/landscape_file.h"

/* A row of a landscape while its file is read. */
typedef struct kf_landscape_row {
    kf_config config;
    char preset[KF_NAME]; /* "": none */
    kf_state state;
    double time_us; /* NAN unless the state is ok */
    double seconds; /* NAN: not known */
} kf_landscape_row;

typedef struct kf_landscape_rows {
    const char *path;
    kf_landscape_row *list;
    size_t count, capacity;
} kf_landscape_rows;

/* Adds a row. For a skipped config its first samples are good enough, because it is far from the best. */
static kf_status add_row(void *context, kf_landscape_entry *entry, kf_error *error) {
    (void)error;
    kf_landscape_rows *rows = context;
    const kf_measurement *m = &entry->measurement;
    const bool timed = m->state == KF_STATE_OK || (m->state == KF_STATE_SKIPPED && m->sample_count > 0);
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity == 0 ? 256 : 2 * rows->capacity;
        rows->list = kf_reallocate(rows->list, rows->capacity * sizeof *rows->list);
    }
    kf_landscape_row *row = &rows->list[rows->count++];
    *row =
        (kf_landscape_row){.config = entry->config, .state = timed ? KF_STATE_OK : m->state, .time_us = NAN};
    if (strncmp(entry->role, "preset:", 7) == 0 && kf_config_plain_name(entry->role + 7))
        kf_copy_text(row->preset, sizeof row->preset, entry->role + 7);
    row->seconds = kf_landscape_seconds(m);
    if (timed) row->time_us = entry->time_us;
    return KF_OK;
}

/* Makes the name "convolution-A4000" from the file "a/convolution-A4000.t4.json.gz". */
static void base_name(const char *file, char *name, size_t size) {
    const char *slash = strrchr(file, '/');
    kf_copy_text(name, size, slash != NULL ? slash + 1 : file);
    name[strcspn(name, ".")] = '\0';
    for (char *c = name; *c != '\0'; c++)
        if (*c < ' ' || *c > '~') *c = '_';
}

static kf_status add_presets(const kf_landscape_rows *rows, kf_space *space, kf_error *error) {
    for (size_t i = 0; i < rows->count; i++)
        if (rows->list[i].preset[0] != '\0')
            KF_TRY(kf_space_add_preset(space, rows->list[i].preset, &rows->list[i].config, error));
    return KF_OK;
}

static kf_status make_space(const kf_landscape_rows *rows, kf_landscape *landscape, kf_error *error) {
    kf_config *configs = kf_allocate(rows->count * sizeof *configs);
    for (size_t i = 0; i < rows->count; i++)
        configs[i] = rows->list[i].config;
    kf_status status = kf_space_from_configs(rows->path, configs, rows->count, &landscape->space, error);
    free(configs);
    return status == KF_OK ? add_presets(rows, landscape->space, error) : status;
}

static void take_row(kf_landscape *landscape, const kf_landscape_row *row) {
    uint64_t index = 0;
    (void)kf_space_index(landscape->space, &row->config, &index, NULL, 0);
    landscape->states[index] = row->state;
    landscape->times_us[index] = row->time_us;
    landscape->seconds[index] = row->seconds;
}

/* Arranges rows, which are in the file's order, as arrays in the order of the space. */
static kf_status arrange(const kf_landscape_rows *rows, kf_landscape *landscape, kf_error *error) {
    KF_TRY(make_space(rows, landscape, error));
    landscape->size = kf_space_size(landscape->space);
    landscape->states = kf_allocate(landscape->size * sizeof *landscape->states);
    landscape->times_us = kf_allocate(landscape->size * sizeof *landscape->times_us);
    landscape->seconds = kf_allocate(landscape->size * sizeof *landscape->seconds);
    for (size_t i = 0; i < rows->count; i++)
        take_row(landscape, &rows->list[i]);
    for (uint64_t i = 0; i < landscape->size; i++) {
        if (landscape->states[i] != KF_STATE_OK) continue;
        if (landscape->ok_count++ == 0 || landscape->times_us[i] < landscape->times_us[landscape->optimum])
            landscape->optimum = i;
    }
    if (landscape->ok_count > 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: holds no correct result; there is nothing to find", rows->path);
}

static void identify(const kf_landscape_file *file, kf_landscape *landscape) {
    base_name(file->path, landscape->name, sizeof landscape->name);
    kf_copy_text(landscape->scene, sizeof landscape->scene, file->scene);
    landscape->options = kf_problem_options_of(&file->facts, file->seed);
    kf_copy_text(landscape->device, sizeof landscape->device, file->device);
    kf_copy_text(landscape->backend, sizeof landscape->backend, file->backend);
    landscape->peak_bandwidth = file->peak_bandwidth;
    landscape->l2_bytes = file->l2_bytes;
}

/* Opens a landscape from any kind of file that kftune can read, and arranges its rows as a space with times.
 */
kf_status kf_landscape_open(const char *path, kf_landscape **landscape, kf_error *error) {
    kf_landscape_file file;
    *landscape = NULL;
    KF_TRY(kf_landscape_file_open(path, &file, error));
    kf_landscape *made = kf_allocate_zeroed(1, sizeof *made);
    identify(&file, made);
    kf_landscape_rows rows = {.path = path};
    kf_status status = kf_landscape_file_visit(&file, add_row, &rows, error);
    kf_landscape_file_close(&file);
    if (status == KF_OK) status = arrange(&rows, made, error);
    free(rows.list);
    if (status == KF_OK)
        *landscape = made;
    else
        kf_landscape_free(made);
    return status;
}

kf_landscape_spread kf_landscape_spread_of(const kf_landscape *landscape) {
    const double best = landscape->times_us[landscape->optimum];
    double *times = kf_allocate(landscape->ok_count * sizeof *times);
    size_t count = 0, near = 0;
    for (uint64_t i = 0; i < landscape->size; i++) {
        if (landscape->states[i] != KF_STATE_OK) continue;
        near += landscape->times_us[i] <= 1.05 * best;
        times[count++] = landscape->times_us[i];
    }
    const kf_landscape_spread spread = {.median_over_optimum = kf_median(times, count) / best,
                                        .share_within_5 = (double)near / (double)count};
    free(times);
    return spread;
}

void kf_landscape_free(kf_landscape *landscape) {
    if (landscape == NULL) return;
    kf_space_free(landscape->space);
    free(landscape->states);
    free(landscape->times_us);
    free(landscape->seconds);
    free(landscape);
}
