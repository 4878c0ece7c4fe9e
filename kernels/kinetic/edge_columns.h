/* Columns of nodes at the end of a nested grid's rows (edges.h), for host and device. */
#ifndef KF_KERNELS_KINETIC_EDGE_COLUMNS_H
#define KF_KERNELS_KINETIC_EDGE_COLUMNS_H

enum { KF_EDGE_GHOSTS = 2, KF_EDGE_INNER = 4 };

#endif
