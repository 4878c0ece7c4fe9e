/* The arguments of the kernels in kernels/roofs, which host and device share. */
#ifndef KF_KERNELS_ROOFS_ARGUMENTS_H
#define KF_KERNELS_ROOFS_ARGUMENTS_H

enum {
    KF_ROOF_STREAMS = 27,     /* arrays that a D3Q27 step reads, and that it writes */
    KF_ROOF_THREADS = 256,    /* threads of a block in the kernels that have phases */
    KF_ROOF_TILES = 4,        /* words of a thread in each of two arrays in shared memory */
    KF_ROOF_CHAINS = 8,       /* independent chains of multiply-adds in a thread */
    KF_ROOF_CHAIN_STEPS = 16, /* multiply-adds of a chain in one repeat */
};

typedef struct kf_roof_arguments {
    int extent[3];
    int repeats;     /* how often an item does its work */
    int shift, mask; /* the place of an item is (x + repeat * shift) & mask; see each kernel */
    long long count; /* items of one array */
    const void *source;
    void *target;
    int *lanes; /* multiply-adds that one instruction of a thread does */
} kf_roof_arguments;

#endif
