/* The list of plan moments in a checkpoint. On a device, the places of the band's nodes depend on samples,
 * parts and atomics. A checkpoint numbers the nodes in the order of the domain's planes, so it is the same
 * for any number of parts. */
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic.h"

enum { POPULATIONS = 27, MARKED_WORD = 0, PLACE_WORD = 1 };

size_t kf_kinetic_list_bytes(const kf_kinetic *kinetics) {
    return POPULATIONS * (size_t)kinetics->listed_all * kinetics->real_bytes;
}

static uint64_t word_at(const char *words, size_t i, size_t bytes) {
    uint64_t word = 0;
    /* Little-endian, as on GPUs. */
    memcpy(&word, words + i * bytes, bytes);
    return word;
}

static uint64_t mark_of(const kf_kinetic *kinetic) {
    return kinetic->options.storage == KF_F64   ? KF_MARK_DOUBLE
           : kinetic->options.storage == KF_F32 ? KF_MARK_SINGLE
                                                : KF_MARK_HALVES;
}

/* Planes [z][word][y][x] of nodes. */
typedef struct plane_words {
    /* The nodes of a plane, and the bytes of a word. */
    size_t nodes, bytes;
    /* The bytes of a plane. */
    size_t plane;
    uint64_t mark;
} plane_words;

static plane_words words_of(const kf_plan *plan) {
    const kf_kinetic *kinetics = plan->system;
    const int *n = kf_plan_scene(plan)->nodes;
    plane_words w = {
        .nodes = (size_t)n[0] * (size_t)n[1], .bytes = kinetics->store_bytes, .mark = mark_of(kinetics)};
    w.plane = (size_t)kinetics->node_values * w.nodes * w.bytes;
    return w;
}

static bool is_listed(const plane_words *w, const char *plane, size_t node) {
    return word_at(plane, MARKED_WORD * w->nodes + node, w->bytes) == w->mark;
}

static size_t place_at(const plane_words *w, const char *plane, size_t node) {
    return (size_t)word_at(plane, PLACE_WORD * w->nodes + node, w->bytes);
}

static void put_place(const plane_words *w, char *plane, size_t node, size_t place) {
    const uint64_t word = place;
    memcpy(plane + (PLACE_WORD * w->nodes + node) * w->bytes, &word, w->bytes);
}

static int row_of(const kf_plan *plan, size_t node) {
    return (int)(node / (size_t)kf_plan_scene(plan)->nodes[0]);
}

static void copy_node(char *to, size_t to_row, size_t to_place, const char *from, size_t from_row,
                      size_t from_place, size_t real) {
    for (size_t i = 0; i < POPULATIONS; i++)
        memcpy(to + (i * to_row + to_place) * real, from + (i * from_row + from_place) * real, real);
}

/* --- Saving -------------------------------------------------------------------------------------------- */

/* Downloads the lists of this process's parts. Parts that share a list have the first one's. */
static kf_status download_lists(const kf_plan *plan, char *lists[], kf_error *error) {
    const kf_kinetic *kinetics = plan->system;
    for (int part = 0; part < (kinetics->computes_halo ? plan->part_count : 1); part++) {
        const kf_kinetic *kinetic = &kinetics[part];
        const size_t bytes = POPULATIONS * (size_t)kinetic->arguments.band.listed_count * kinetic->real_bytes;
        /* The part has no samples. */
        if (kinetic->listed == NULL) continue;
        lists[part] = kf_allocate(bytes);
        KF_TRY(kf_buffer_download(kinetic->listed, 0, lists[part], bytes, error));
    }
    return KF_OK;
}

/* Returns the part of this process that owns a node, or -1. */
static int owner_of(const kf_plan *plan, int y, int z) {
    const kf_kinetic *kinetics = plan->system;
    for (int part = 0; part < plan->part_count; part++) {
        const int row = y - kinetics[part].first_row, above = z - kinetics[part].first_plane;
        if (row >= 0 && row < kinetics[part].rows && above >= 0 && above < kinetics[part].planes) return part;
    }
    return -1;
}

/* Numbers this process's nodes of the list; all others get 0. The places of all nodes go into the words of
 * the planes. */
static void number_nodes(const kf_plan *plan, char *const lists[], char *list, char *planes) {
    const kf_kinetic *kinetics = plan->system;
    const plane_words w = words_of(plan);
    const size_t all = (size_t)kinetics->listed_all;
    size_t n = 0;
    for (int z = 0; z < kf_plan_scene(plan)->nodes[2]; z++) {
        char *plane = planes + w.plane * (size_t)z;
        for (size_t node = 0; node < w.nodes && n < all; node++) {
            if (!is_listed(&w, plane, node)) continue;
            const int part = owner_of(plan, row_of(plan, node), z);
            if (part >= 0)
                copy_node(list, all, n, lists[kinetics->computes_halo ? part : 0],
                          (size_t)kinetics[part].arguments.band.listed_count, place_at(&w, plane, node),
                          kinetics->real_bytes);
            put_place(&w, plane, node, n++);
        }
    }
}

/* Saves the list of plan moments for a checkpoint: downloads each part's, numbers the nodes in the order
 * of the domain's planes in `planes`, and merges the processes' lists. */
kf_status kf_kinetic_save_list(kf_plan *plan, char *list, char *planes, kf_error *error) {
    const kf_kinetic *kinetics = plan->system;
    const size_t bytes = kf_kinetic_list_bytes(kinetics);
    if (bytes == 0) return KF_OK;
    char **lists = kf_allocate_zeroed((size_t)plan->part_count, sizeof *lists);
    char *merged = kf_allocate_zeroed(bytes + sizeof(int64_t), 1);
    kf_status status = download_lists(plan, lists, error);
    if (status == KF_OK) number_nodes(plan, lists, merged, planes);
    if (status == KF_OK) status = kf_world_merge(merged, bytes, error);
    memcpy(list, merged, bytes);
    for (int part = 0; part < plan->part_count; part++)
        free(lists[part]);
    free(lists);
    free(merged);
    return status;
}

/* --- Restoring ----------------------------------------------------------------------------------------- */

void kf_kinetic_begin_placing(kf_list_placing *placing, const kf_plan *plan, const char *list) {
    const size_t parts = (size_t)plan->part_count;
    *placing = (kf_list_placing){.plan = plan, .list = list};
    placing->rows = kf_allocate_zeroed(parts, sizeof *placing->rows);
    placing->used = kf_allocate_zeroed(parts, sizeof *placing->used);
    for (size_t part = 0; part < parts; part++)
        placing->rows[part] = kf_allocate_zeroed(1, kf_kinetic_list_bytes(plan->system));
}

/* Returns whether a part has places for the nodes of a plane of its grid: its own, and the next. */
static bool has_places(const kf_plan *plan, int grid, int z) {
    int range[KF_PLANE_RANGES][2];
    const int ranges = kf_kinetic_touched_planes(plan, grid, 1, range);
    for (int r = 0; r < ranges; r++)
        if (z >= range[r][0] && z < range[r][1]) return true;
    return false;
}

/* Returns whether a part has places for the nodes of a row: all, unless there are cuts across y. */
static bool has_row(const kf_plan *plan, int grid, int y) {
    const int rows = kf_plan_scene(plan)->nodes[1];
    int first, count;
    kf_kinetic_rows((const kf_kinetic *)plan->system + grid, 1, &first, &count);
    return (y - first >= 0 && y - first < count) || y + rows - first < count || y - rows - first >= 0;
}

/* Returns the part whose list gets the nodes of a plane. */
static int part_of(const kf_plan *plan, int grid, int z) {
    const kf_kinetic *kinetics = plan->system;
    int part = 0;
    if (kinetics->computes_halo) return grid;
    while (part < plan->part_count - 1 && z >= kinetics[part].first_plane + kinetics[part].planes)
        part++;
    return part;
}

/* Gives each listed node of planes first to first + planes - 1 of a checkpoint a place in its part's list,
 * copies its values there, and writes the place into its words. */
void kf_kinetic_place_listed(kf_list_placing *placing, int grid, int first, int planes, char *words) {
    const kf_plan *plan = placing->plan;
    const kf_kinetic *kinetics = plan->system;
    const plane_words w = words_of(plan);
    const size_t all = (size_t)kinetics->listed_all;
    for (int z = first; z < first + planes; z++) {
        char *plane = words + w.plane * (size_t)(z - first);
        const bool has = has_places(plan, grid, z);
        const int part = part_of(plan, grid, z);
        for (size_t node = 0; node < w.nodes; node++) {
            if (!is_listed(&w, plane, node)) continue;
            const size_t from = place_at(&w, plane, node), place = placing->used[part];
            /* The checkpoint is not of this simulation. */
            if (from >= all || place >= all) continue;
            /* No kernel reads it before it is written. */
            if (!has || !has_row(plan, grid, row_of(plan, node))) {
                put_place(&w, plane, node, 0);
                continue;
            }
            copy_node(placing->rows[part], all, place, placing->list, all, from, kinetics->real_bytes);
            put_place(&w, plane, node, (size_t)kinetics[part].listed_before + place);
            placing->used[part]++;
        }
    }
}

static kf_status bring_rows(const kf_list_placing *placing, int part, kf_error *error) {
    const kf_kinetic *kinetic = (const kf_kinetic *)placing->plan->system + part;
    const size_t used = placing->used[part], real = kinetic->real_bytes;
    for (size_t i = 0; i < POPULATIONS && used > 0; i++)
        KF_TRY(kf_buffer_upload(
            kinetic->listed,
            (i * (size_t)kinetic->arguments.band.listed_count + (size_t)kinetic->listed_before) * real,
            placing->rows[part] + i * (size_t)kinetic->listed_all * real, used * real, error));
    return KF_OK;
}

kf_status kf_kinetic_end_placing(kf_list_placing *placing, kf_status status, kf_error *error) {
    for (int part = 0; part < placing->plan->part_count; part++) {
        if (status == KF_OK) status = bring_rows(placing, part, error);
        free(placing->rows[part]);
    }
    free(placing->rows);
    free(placing->used);
    return status;
}
