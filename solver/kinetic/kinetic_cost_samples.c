/* Works out what the samples' order means for memory, from the real samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/random.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic_cost.h"

enum {
    WARP = 32,
    PICKS = 24,
    MOST_CELLS = 1 << 26,
    MOST_VISITS = 200000,
    MOST_BLOCKS = 2000,
    SECTOR_NODES = 8
};

static size_t cell_of(const kf_sample_survey *survey, size_t sample) {
    const kf_samples *samples = &survey->scene->samples;
    return (size_t)kf_ordering_key(&survey->cells, samples->x[sample], samples->y[sample],
                                   samples->z[sample]);
}

/* Counts a cell with that many samples. */
static void count_cell(kf_sample_survey *survey, size_t samples) {
    if (samples > survey->most) {
        survey->cells_with = kf_reallocate(survey->cells_with, (samples + 1) * sizeof *survey->cells_with);
        memset(survey->cells_with + survey->most + 1, 0,
               (samples - survey->most) * sizeof *survey->cells_with);
        survey->most = samples;
    }
    survey->cells_with[samples]++;
}

/* Counts the nodes that the samples' cells touch, which are the band, the cells with each number of samples,
 * and the mean number of samples of a cell that has any. */
static void count_nodes(kf_sample_survey *survey) {
    const int *cells = survey->cells.cells;
    size_t row = (size_t)cells[0] + 1, plane = row * ((size_t)cells[1] + 1);
    unsigned char *touched = kf_allocate_zeroed(plane * ((size_t)cells[2] + 1), 1);
    double full = 0;
    for (int z = 0; z < cells[2]; z++)
        for (int y = 0; y < cells[1]; y++)
            for (int x = 0; x < cells[0]; x++) {
                size_t cell = ((size_t)z * (size_t)cells[1] + (size_t)y) * (size_t)cells[0] + (size_t)x;
                if (survey->first[cell] == survey->first[cell + 1]) continue;
                full++;
                count_cell(survey, survey->first[cell + 1] - survey->first[cell]);
                for (int c = 0; c < 8; c++)
                    touched[(size_t)(x + (c & 1)) + row * (size_t)(y + (c >> 1 & 1)) +
                            plane * (size_t)(z + (c >> 2))] = 1;
            }
    for (size_t i = 0; i < plane * ((size_t)cells[2] + 1); i++)
        survey->band_nodes += touched[i];
    survey->samples_per_cell = full > 0 ? (double)survey->count / full : 0;
    free(touched);
}

/* Sorts the scene's samples by cell and counts cells and nodes. Where there would be too many cells it
 * estimates them from the scene's samples a cell. */
void kf_sample_survey_open(const kf_scene *scene, kf_sample_survey *survey) {
    memset(survey, 0, sizeof *survey);
    survey->scene = scene;
    survey->count = scene->samples.count;
    if (survey->count == 0) return;
    kf_ordering_begin(&survey->cells, 1, false, scene->solid_low, scene->solid_high);
    if (survey->cells.key_count > MOST_CELLS || survey->count > UINT32_MAX) {
        survey->samples_per_cell = fmax(1, scene->samples_per_cell);
        survey->band_nodes = 3 * (double)survey->count / survey->samples_per_cell;
        return;
    }
    size_t cell_count = (size_t)survey->cells.key_count;
    survey->first = kf_allocate_zeroed(cell_count + 1, sizeof *survey->first);
    survey->by_cell = kf_allocate(survey->count * sizeof *survey->by_cell);
    for (size_t s = 0; s < survey->count; s++)
        survey->first[cell_of(survey, s)]++;
    uint32_t sum = 0;
    for (size_t cell = 0; cell <= cell_count; cell++) {
        uint32_t here = survey->first[cell];
        survey->first[cell] = sum;
        sum += here;
    }
    /* The start of each cell first moves to its end. */
    for (size_t s = 0; s < survey->count; s++)
        survey->by_cell[survey->first[cell_of(survey, s)]++] = (uint32_t)s;
    /* Then each start moves back. */
    for (size_t cell = cell_count; cell > 0; cell--)
        survey->first[cell] = survey->first[cell - 1];
    survey->first[0] = 0;
    count_nodes(survey);
}

void kf_sample_survey_close(kf_sample_survey *survey) {
    free(survey->by_cell);
    free(survey->first);
    free(survey->cells_with);
}

double kf_sample_survey_segments(const kf_sample_survey *survey, long length) {
    const double count = (double)survey->count;
    if (length < 1) return count;
    if (survey->first == NULL) return count / fmin((double)length, fmax(1, survey->samples_per_cell));
    size_t segments = 0;
    for (size_t samples = 1; samples <= survey->most; samples++)
        segments += survey->cells_with[samples] * ((samples + (size_t)length - 1) / (size_t)length);
    return (double)segments;
}

/* --- Warps of samples ----------------------------------------------------------------------------------- */

typedef struct kf_ranked_sample {
    uint64_t key;
    uint32_t sample;
} kf_ranked_sample;

static bool before(kf_ranked_sample a, kf_ranked_sample b) {
    return a.key != b.key ? a.key < b.key : a.sample < b.sample;
}

/* The samples of a warp: this one and the next in the order. They are the smallest in the block that do not
 * come before it. */
typedef struct kf_warp {
    kf_ranked_sample samples[WARP];
    int count;
} kf_warp;

static void insert(kf_warp *warp, kf_ranked_sample one) {
    if (warp->count == WARP && !before(one, warp->samples[WARP - 1])) return;
    int place = warp->count < WARP ? warp->count++ : WARP - 1;
    for (; place > 0 && before(one, warp->samples[place - 1]); place--)
        warp->samples[place] = warp->samples[place - 1];
    warp->samples[place] = one;
}

/* Adds the samples of a block of cells that do not come before start. */
static void add_block(const kf_sample_survey *survey, const kf_ordering *order, const int block[3],
                      kf_ranked_sample start, kf_warp *warp) {
    const kf_samples *samples = &survey->scene->samples;
    const int *cells = survey->cells.cells;
    int low[3], high[3];
    for (int i = 0; i < 3; i++) {
        low[i] = block[i] * order->block_length;
        high[i] = low[i] + order->block_length < cells[i] ? low[i] + order->block_length : cells[i];
    }
    size_t visits = 0;
    for (int z = low[2]; z < high[2]; z++)
        for (int y = low[1]; y < high[1] && visits < MOST_VISITS; y++) {
            size_t row = ((size_t)z * (size_t)cells[1] + (size_t)y) * (size_t)cells[0];
            uint32_t end = survey->first[row + (size_t)high[0]];
            for (uint32_t i = survey->first[row + (size_t)low[0]]; i < end; i++, visits++) {
                uint32_t s = survey->by_cell[i];
                kf_ranked_sample one = {kf_ordering_key(order, samples->x[s], samples->y[s], samples->z[s]),
                                        s};
                if (!before(one, start)) insert(warp, one);
            }
        }
}

/* Collects the samples of a warp. At the end of a block it continues in the next ones, x fastest. */
static void collect_warp(const kf_sample_survey *survey, const kf_ordering *order, uint32_t first,
                         kf_warp *warp) {
    const kf_samples *samples = &survey->scene->samples;
    const double at[3] = {samples->x[first], samples->y[first], samples->z[first]};
    kf_ranked_sample start = {kf_ordering_key(order, at[0], at[1], at[2]), first};
    uint64_t number = start.key >> (3 * order->morton_bits);
    uint64_t blocks = (uint64_t)order->blocks[0] * (uint64_t)order->blocks[1] * (uint64_t)order->blocks[2];
    warp->count = 0;
    for (int tries = 0; tries < MOST_BLOCKS && number < blocks && warp->count < WARP; tries++, number++) {
        uint64_t x = (uint64_t)order->blocks[0], y = (uint64_t)order->blocks[1];
        const int block[3] = {(int)(number % x), (int)(number / x % y), (int)(number / x / y)};
        add_block(survey, order, block, start, warp);
    }
}

/* Returns how many sectors of memory the nodes of a warp's samples lie in. */
static int count_sectors(const kf_sample_survey *survey, const kf_warp *warp) {
    const kf_samples *samples = &survey->scene->samples;
    const int *nodes = survey->scene->nodes;
    long long found[WARP * 8];
    int count = 0;
    for (int i = 0; i < warp->count; i++) {
        uint32_t s = warp->samples[i].sample;
        long long x = (long long)floor(samples->x[s]), y = (long long)floor(samples->y[s]),
                  z = (long long)floor(samples->z[s]);
        for (int c = 0; c < 8; c++) {
            long long node =
                x + (c & 1) + nodes[0] * (y + (c >> 1 & 1) + (long long)nodes[1] * (z + (c >> 2)));
            long long sector = node / SECTOR_NODES;
            int known = 0;
            while (known < count && found[known] != sector)
                known++;
            if (known == count) found[count++] = sector;
        }
    }
    return count;
}

/* Returns the mean number of sectors that a warp of samples touches, in blocks of that edge, with or without
 * Morton order. It uses PICKS random warps. The result is kept for the next call. */
double kf_sample_survey_sectors(kf_sample_survey *survey, long block_length, bool morton) {
    /* Four rows of two or three cells, some across sectors. */
    static const double UNKNOWN = 12;
    if (survey->first == NULL || block_length < 1) return UNKNOWN;
    double *known = block_length < 256             ? &survey->sectors[morton][block_length]
                    : block_length == KF_WHOLE_BOX ? &survey->sectors[morton][0]
                                                   : NULL;
    if (known != NULL && *known > 0) return *known;
    kf_ordering order;
    kf_ordering_begin(&order, (int)block_length, morton, survey->scene->solid_low, survey->scene->solid_high);
    uint64_t random = 1;
    double sum = 0;
    for (int pick = 0; pick < PICKS; pick++) {
        kf_warp warp;
        collect_warp(survey, &order, (uint32_t)kf_random_below(&random, survey->count), &warp);
        sum += count_sectors(survey, &warp);
    }
    double mean = sum / PICKS;
    if (known != NULL) *known = mean;
    return mean;
}
