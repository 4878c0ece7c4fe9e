/* The arguments of the kernels that exchange between nested grids (nested.cu), which host and device
 * share. */
#ifndef KF_KERNELS_KINETIC_NESTED_ARGUMENTS_H
#define KF_KERNELS_KINETIC_NESTED_ARGUMENTS_H

#include "arguments.h"

/* One of the two levels, with the arguments that the headers' functions read. */
typedef struct kf_nested_side {
    kf_kinetic_grid grid;
    kf_kinetic_memory memory;
    kf_kinetic_node_values populations; /* source is read and written */
    struct {
        int listed_count;
        void *listed; /* for plan moments, on the level that has the solid */
    } band;
    struct {
        void *edge;
    } outflow;
    struct {
        void *averages;
    } fields;
    kf_kinetic_edges edges; /* of the finer level, if its rows' ends have arrays of their own (edges.h) */
    kf_kinetic_region covered;
    kf_kinetic_scalars scalars;
} kf_nested_side;

enum { KF_NESTED_BOXES = 6 };

/* The size of a tile, which is one layer of cells of the coarser level. u and v are the axes of the layer,
 * and u is x unless the layer is across x. */
enum {
    KF_NESTED_TILE_U = 16,
    KF_NESTED_TILE_V = 2,
    KF_REFINE_THREADS = 8 * KF_NESTED_TILE_U * KF_NESTED_TILE_V, /* one for each ghost */
    KF_COARSEN_THREADS = 224 /* at least one for each line across the layer */
};

/* The tiles of box b begin with number start[b]. Cells are counted from the nested box: cell (0, 0, 0) is
 * node `first` of the coarser level's grid, and its nodes begin at node `ghosts` of the finer level's
 * grid. */
typedef struct kf_nested_arguments {
    int extent[3]; /* threads */
    int boxes, start[KF_NESTED_BOXES + 1];
    int low[KF_NESTED_BOXES][3], size[KF_NESTED_BOXES][3];
    int across[KF_NESTED_BOXES]; /* the axis across its layers */
    int every;                   /* every this many layers */
    int first[3], ghosts[3];
    int end[3];      /* the node of the finer level's grid behind the nested box */
    int periodic[3]; /* whether the box goes around the periodic domain along an axis */
    int around[3];   /* whether the coarser level does */
    double scale;    /* second moments over density: of the level that is written, over the one read */
    kf_nested_side coarse, fine;
} kf_nested_arguments;

#endif
