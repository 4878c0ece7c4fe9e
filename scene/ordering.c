#include "scene/ordering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/internal.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

void kf_ordering_begin(kf_ordering *ordering, int block_length, bool morton, const double low[3],
                       const double high[3]) {
    memset(ordering, 0, sizeof *ordering);
    ordering->block_length = block_length < 1 ? 1 : block_length;
    ordering->morton = morton;
    uint64_t blocks = 1;
    for (int a = 0; a < 3; a++) {
        ordering->origin[a] = (int)floor(low[a]);
        ordering->cells[a] = (int)floor(high[a]) - ordering->origin[a] + 1;
        ordering->blocks[a] = (ordering->cells[a] + ordering->block_length - 1) / ordering->block_length;
        blocks *= (uint64_t)ordering->blocks[a];
    }
    if (morton)
        while ((1L << ordering->morton_bits) < ordering->block_length)
            ordering->morton_bits++;
    ordering->key_count = blocks << (3 * ordering->morton_bits);
}

void kf_ordering_refine(kf_ordering *ordering, int bits) {
    ordering->cell_bits = bits;
    ordering->morton_bits += bits;
    ordering->key_count <<= 3 * bits;
}

/* Puts two zero bits between the bits of a number below 2^21. */
static uint64_t spread_bits(uint64_t v) {
    v = (v | v << 32) & 0x001f00000000ffffULL;
    v = (v | v << 16) & 0x001f0000ff0000ffULL;
    v = (v | v << 8) & 0x100f00f00f00f00fULL;
    v = (v | v << 4) & 0x10c30c30c30c30c3ULL;
    v = (v | v << 2) & 0x1249249249249249ULL;
    return v;
}

/* Returns the part of its cell in which a position lies along an axis. Rounding never leads out of the cell.
 */
static uint64_t part_of_cell(const kf_ordering *ordering, double position) {
    const int parts = 1 << ordering->cell_bits, part = (int)((position - floor(position)) * parts);
    return (uint64_t)(part < parts ? part : parts - 1);
}

/* Returns the key of a sample: its block of cells, and then its cell or part of a cell within the block, in
 * Morton order. */
uint64_t kf_ordering_key(const kf_ordering *ordering, double x, double y, double z) {
    const double position[3] = {x, y, z};
    uint64_t block[3], within[3];
    for (int a = 0; a < 3; a++) {
        int cell = (int)floor(position[a]) - ordering->origin[a];
        /* Rounding may move a sample on the box's edge outside. It belongs to the outermost cell. */
        if (cell < 0) cell = 0;
        if (cell >= ordering->cells[a]) cell = ordering->cells[a] - 1;
        block[a] = (uint64_t)(cell / ordering->block_length);
        within[a] = (uint64_t)(cell % ordering->block_length);
        within[a] = within[a] << ordering->cell_bits | part_of_cell(ordering, position[a]);
    }
    const uint64_t index =
        block[0] + (uint64_t)ordering->blocks[0] * (block[1] + (uint64_t)ordering->blocks[1] * block[2]);
    if (ordering->morton_bits == 0) return index;
    const uint64_t code = spread_bits(within[0]) | spread_bits(within[1]) << 1 | spread_bits(within[2]) << 2;
    return (index << (3 * ordering->morton_bits)) | code;
}

typedef struct keyed_index {
    uint64_t key;
    uint32_t index;
} keyed_index;

static void radix_pass(size_t count, const keyed_index *from, keyed_index *to, int shift) {
    size_t start[DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        start[(from[i].key >> shift) & (DIGITS - 1)]++;
    size_t total = 0;
    for (int d = 0; d < DIGITS; d++) {
        const size_t here = start[d];
        start[d] = total;
        total += here;
    }
    for (size_t i = 0; i < count; i++)
        to[start[(from[i].key >> shift) & (DIGITS - 1)]++] = from[i];
}

/* Sorts indices by key in passes of DIGIT_BITS, lowest digits first. Equal keys keep their order. */
void kf_radix_order(size_t count, const uint64_t *keys, uint64_t key_count, uint32_t *permutation) {
    if (count == 0) return;
    keyed_index *from = kf_allocate(count * sizeof *from), *to = kf_allocate(count * sizeof *to);
    for (size_t i = 0; i < count; i++)
        from[i] = (keyed_index){keys[i], (uint32_t)i};
    for (int shift = 0; shift < 64 && (key_count - 1) >> shift != 0; shift += DIGIT_BITS) {
        radix_pass(count, from, to, shift);
        keyed_index *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0; i < count; i++)
        permutation[i] = from[i].index;
    free(from);
    free(to);
}

void kf_ordering_sort(const kf_ordering *ordering, size_t count, const double *x, const double *y,
                      const double *z, uint32_t *permutation) {
    if (count == 0) return;
    uint64_t *keys = kf_allocate(count * sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = kf_ordering_key(ordering, x[i], y[i], z[i]);
    kf_radix_order(count, keys, ordering->key_count, permutation);
    free(keys);
}

size_t kf_first_key(size_t count, const uint64_t *keys, uint64_t key) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
