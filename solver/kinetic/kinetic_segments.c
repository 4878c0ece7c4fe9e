/* Segments of a static solid's samples: up to segment_length samples of one cell that one item sums, and the
 * lists by which the band's nodes find them. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic.h"

typedef struct cell_entry {
    long long corner;
    /* The sample's position in the samples' order. */
    int rank;
} cell_entry;

/* Sorts samples by cell. Cells have the order in which the samples' order first meets them, and the samples
 * of a cell keep their order. band_of identifies cells by their corners. */
static cell_entry *sort_by_cell(const long long *corner, size_t count, const int *band_of, int band_count) {
    /* By corner; -1: not met yet. */
    int *cell_of = kf_allocate((size_t)band_count * sizeof(int));
    size_t *start = kf_allocate_zeroed((size_t)band_count + 1, sizeof(size_t));
    cell_entry *entries = kf_allocate(count * sizeof *entries);
    int cells = 0;
    memset(cell_of, 0xff, (size_t)band_count * sizeof(int));
    for (size_t s = 0; s < count; s++) {
        int *cell = &cell_of[band_of[corner[s]] - 1];
        if (*cell < 0) *cell = cells++;
        start[*cell + 1]++;
    }
    for (int cell = 0; cell < cells; cell++)
        start[cell + 1] += start[cell];
    for (size_t s = 0; s < count; s++)
        entries[start[cell_of[band_of[corner[s]] - 1]]++] = (cell_entry){corner[s], (int)s};
    free(cell_of);
    free(start);
    return entries;
}

typedef struct segment_lists {
    int cell_count, segment_count;
    long long *cell_corner; /* [cell_count] */
    int *cell_segments;     /* [cell_count + 1] */
    /* [segment_count]: its first entry. */
    int *segment_first;
    int *segment_size; /* [segment_count] */
} segment_lists;

/* Cuts the samples, sorted by cell, into segments of at most `length` samples of one cell each. */
static segment_lists cut_segments(const cell_entry *entries, size_t count, int length) {
    segment_lists lists = {0};
    lists.cell_corner = kf_allocate(count * sizeof(long long));
    lists.cell_segments = kf_allocate((count + 1) * sizeof(int));
    lists.segment_first = kf_allocate(count * sizeof(int));
    lists.segment_size = kf_allocate(count * sizeof(int));
    for (size_t s = 0; s < count; s++) {
        bool new_cell = s == 0 || entries[s].corner != entries[s - 1].corner;
        if (new_cell) {
            lists.cell_corner[lists.cell_count] = entries[s].corner;
            lists.cell_segments[lists.cell_count++] = lists.segment_count;
        }
        if (new_cell || lists.segment_size[lists.segment_count - 1] == length) {
            lists.segment_first[lists.segment_count] = (int)s;
            lists.segment_size[lists.segment_count++] = 0;
        }
        lists.segment_size[lists.segment_count - 1]++;
    }
    lists.cell_segments[lists.cell_count] = lists.segment_count;
    return lists;
}

static void free_lists(segment_lists *lists) {
    free(lists->cell_corner);
    free(lists->cell_segments);
    free(lists->segment_first);
    free(lists->segment_size);
}

static kf_status upload_integers(kf_plan *plan, const int *values, size_t count, int **address,
                                 kf_error *error) {
    kf_buffer *buffer;
    KF_TRY(kf_plan_buffer_of(plan, values, count * sizeof(int), &buffer, error));
    *address = kf_buffer_address(buffer);
    return KF_OK;
}

/* Returns places[corner][segment]: the nodes of each segment's cell as places in the band. */
static int *list_places(const kf_kinetic *kinetic, const segment_lists *lists, const int *band_of) {
    size_t segments = (size_t)lists->segment_count;
    int *places = kf_allocate(8 * segments * sizeof(int));
    for (int cell = 0; cell < lists->cell_count; cell++)
        for (int corner = 0; corner < 8; corner++)
            for (int s = lists->cell_segments[cell]; s < lists->cell_segments[cell + 1]; s++)
                places[(size_t)corner * segments + (size_t)s] =
                    band_of[kf_kinetic_cell_node(kinetic, lists->cell_corner[cell], corner)] - 1;
    return places;
}

/* Lists for every band node the entries of segment_force of the segments that touch it. */
static void list_entries(const int *places, int segments, bool by_segment, int band_count, int *start,
                         int *entries) {
    memset(start, 0, ((size_t)band_count + 1) * sizeof(int));
    for (int i = 0; i < 8 * segments; i++)
        start[places[i] + 1]++;
    for (int n = 0; n < band_count; n++)
        start[n + 1] += start[n];
    for (int corner = 0; corner < 8; corner++)
        for (int s = 0; s < segments; s++)
            entries[start[places[corner * segments + s]]++] =
                by_segment ? 24 * s + 3 * corner : 3 * corner * segments + s;
    /* Every start has moved to that of the next node. */
    for (int n = band_count; n > 0; n--)
        start[n] = start[n - 1];
    start[0] = 0;
}

static kf_status upload_places(kf_plan *plan, kf_kinetic *kinetic, const segment_lists *lists,
                               const int *band_of, int band_count, kf_error *error) {
    size_t count = 8 * (size_t)lists->segment_count;
    if (count > 2147483647 / 3)
        return kf_fail(error, KF_MACHINE, "the solid has too many segments (%zu)", count / 8);
    int *places = list_places(kinetic, lists, band_of);
    int *start = kf_allocate(((size_t)band_count + 1) * sizeof(int)),
        *entries = kf_allocate(count * sizeof(int));
    list_entries(places, lists->segment_count, kinetic->options.segment_lanes > 1, band_count, start,
                 entries);
    kf_kinetic_arguments *a = &kinetic->arguments;
    kf_status status = upload_integers(plan, places, count, &a->segments.places, error);
    if (status == KF_OK)
        status = upload_integers(plan, start, (size_t)band_count + 1, &a->segments.node_start, error);
    if (status == KF_OK) status = upload_integers(plan, entries, count, &a->segments.node_entries, error);
    free(places);
    free(start);
    free(entries);
    return status;
}

/* Fractions and areas: neighbouring items read neighbouring values, be they of one segment or of several. */
static kf_status upload_samples(kf_plan *plan, kf_kinetic *kinetic, const segment_lists *lists,
                                const cell_entry *entries, double *const values[4], kf_error *error) {
    size_t segments = (size_t)lists->segment_count, length = (size_t)kinetic->options.segment_length;
    size_t count = 4 * segments * length;
    double *packed = kf_allocate_zeroed(count, sizeof(double));
    const bool by_segment = kinetic->options.segment_lanes > 1;
    for (size_t s = 0; s < segments; s++)
        for (size_t i = 0; i < (size_t)lists->segment_size[s]; i++)
            for (size_t v = 0; v < 4; v++)
                packed[4 * (by_segment ? s * length + i : i * segments + s) + v] =
                    values[v][entries[(size_t)lists->segment_first[s] + i].rank];
    kf_buffer *buffer;
    kf_status status = kf_plan_buffer(plan, count * kinetic->real_bytes, &buffer, error);
    if (status == KF_OK) status = kf_kinetic_upload_reals(kinetic, buffer, packed, count, error);
    if (status == KF_OK) kinetic->arguments.segments.samples = kf_buffer_address(buffer);
    free(packed);
    return status;
}

kf_status kf_kinetic_make_segments(kf_plan *plan, kf_kinetic *kinetic, const long long *corner,
                                   double *const values[4], const int *band_of, int band_count,
                                   kf_error *error) {
    const size_t count = (size_t)kinetic->arguments.samples.count;
    cell_entry *entries = sort_by_cell(corner, count, band_of, band_count);
    segment_lists lists = cut_segments(entries, count, (int)kinetic->options.segment_length);
    kinetic->arguments.segments.count = lists.segment_count;
    kf_buffer *force;
    kf_status status = upload_places(plan, kinetic, &lists, band_of, band_count, error);
    if (status == KF_OK) status = upload_samples(plan, kinetic, &lists, entries, values, error);
    if (status == KF_OK)
        status = kf_plan_buffer(plan, 24 * (size_t)lists.segment_count * kinetic->real_bytes, &force, error);
    if (status == KF_OK) kinetic->arguments.segments.force = kf_buffer_address(force);
    free(entries);
    free_lists(&lists);
    return status;
}
