/* The order of samples in memory (section 4.2.2 of the paper). The solid's bounding box is divided into
 * blocks of block_length^3 cells, in x-y-z order (x fastest). Within a block samples follow the Morton (Z)
 * order of their cells, or the sampling order if morton is false. kf_ordering_refine continues the Morton
 * code within cells. Equal keys keep the sampling order, so host and device agree exactly. */
#ifndef KF_SCENE_ORDERING_H
#define KF_SCENE_ORDERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kf_ordering {
    int block_length; /* >= 1 */
    bool morton;
    int origin[3];   /* cell of the box's lower corner (lattice coordinates, rounded down) */
    int cells[3];    /* cells of the box along x, y, z */
    int blocks[3];   /* ceil(cells / block_length) */
    int cell_bits;   /* of morton_bits, the bits per axis within a cell; 0 unless refined */
    int morton_bits; /* bits per axis within a block; 0 when morton is false, or block_length 1 unrefined */
    uint64_t key_count; /* keys lie in [0, key_count) */
} kf_ordering;

/* A block_length that makes one block of any box: without Morton order samples then keep the sampling
 * order. */
enum { KF_WHOLE_BOX = 1 << 20 };

/* Begins an order. The box from low to high (lattice coordinates) must hold all samples. */
void kf_ordering_begin(kf_ordering *ordering, int block_length, bool morton, const double low[3],
                       const double high[3]);

/* Sorts the samples of a cell, too, by the Morton code of the 2^bits parts along each axis of the cell, as in
 * the paper. bits: 1 to 6, with which key_count must fit 64 bits. */
void kf_ordering_refine(kf_ordering *ordering, int bits);

/* Returns the key of the cell, or its part, that holds (x,y,z): block index * 8^morton_bits + Morton code
 * within the block. */
uint64_t kf_ordering_key(const kf_ordering *ordering, double x, double y, double z);

/* Sorts samples stably: permutation[r] becomes the index of the sample at rank r. */
void kf_ordering_sort(const kf_ordering *ordering, size_t count, const double *x, const double *y,
                      const double *z, uint32_t *permutation);

#endif
