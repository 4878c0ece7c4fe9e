/* Order of the samples in memory (section 4.2.2 of the paper): blocks of block_length^3 cells over the
 * solid's bounding box in x-y-z order (x fastest), and within a block the samples' cells in Morton (Z) order,
 * or in sampling order when morton is false. kf_ordering_refine goes on with the Morton code within the
 * cells. Ties keep the sampling order, so host and device agree exactly.
 */
#ifndef KF_SCENE_ORDERING_H
#define KF_SCENE_ORDERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kf_ordering {
    int block_length; /* >= 1 */
    bool morton;
    int origin[3];   /* cell of the box's lower corner (floor of lattice coordinates) */
    int cells[3];    /* cells of the box along x, y, z */
    int blocks[3];   /* ceil(cells / block_length) */
    int cell_bits;   /* of these, bits per axis within a cell; 0 unless refined */
    int morton_bits; /* bits per axis within a block; 0 when morton is false, or block_length 1 unrefined */
    uint64_t key_count; /* keys lie in [0, key_count) */
} kf_ordering;

/* A block_length of which one block holds every box: without Morton order samples keep the sampling order. */
enum { KF_WHOLE_BOX = 1 << 20 };

/* The box must hold all sample cells; low and high are lattice coordinates. */
void kf_ordering_begin(kf_ordering *ordering, int block_length, bool morton, const double low[3],
                       const double high[3]);

/* Samples of a cell follow each other in Morton order, too, by the 2^bits parts an axis of the cell that hold
 * them, as the paper has it. Bits: 1 to 6, where key_count then fits into 64 bits. */
void kf_ordering_refine(kf_ordering *ordering, int bits);

/* The key of the cell, or of its part, that holds (x,y,z): block index * 8^morton_bits + Morton code within
 * the block. */
uint64_t kf_ordering_key(const kf_ordering *ordering, double x, double y, double z);

/* Sorts samples stably: permutation[r] = index of the sample that comes at rank r. */
void kf_ordering_sort(const kf_ordering *ordering, size_t count, const double *x, const double *y,
                      const double *z, uint32_t *permutation);

#endif
