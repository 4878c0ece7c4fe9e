/* Writes snapshots as VTKHDF: HDF5 files that ParaView and VTK open directly (format: VTK's documentation,
 * "VTKHDF"). */
#ifndef KF_SOLVER_OUTPUT_VTKHDF_H
#define KF_SOLVER_OUTPUT_VTKHDF_H

#include "base/plan/snapshot.h"

/* Writes a snapshot in single precision. Each quantity is point data of its name with the attribute "unit".
 * Field data are "time" (s) and "step". Nodes give one ImageData ([z][y][x] or [z][y][x][component]);
 * axes of one node at the end are left out, and before them doubled, for readers take no others. Particles
 * give one PolyData with a vertex at each "position", which they must have, or with the triangles between
 * them. compression: gzip level from 0 (fastest, the usual choice) to 9. The file appears whole or not at
 * all. */
kf_status kf_vtkhdf_write(const char *path, const kf_snapshot *snapshot, int compression, kf_error *error);
/* Writes boxes of nodes on `count` levels as one OverlappingAMR; each level has half the spacing of the one
 * before. A node becomes a cell, and quantities become cell data. Origins of the boxes are half a cell off
 * the nodes. */
kf_status kf_vtkhdf_write_levels(const char *path, const kf_snapshot *levels, int count, int compression,
                                 kf_error *error);

#endif
