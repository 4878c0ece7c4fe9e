/* Snapshots as VTKHDF: HDF5 files that ParaView and VTK open directly (format: VTK's documentation,
 * "VTKHDF").
 */
#ifndef KF_SOLVER_OUTPUT_VTKHDF_H
#define KF_SOLVER_OUTPUT_VTKHDF_H

#include "base/plan/snapshot.h"

/* Single precision, each quantity as point data of its name with the attribute "unit"; field data "time" (s)
 * and "step". On nodes one ImageData ([z][y][x] or [z][y][x][component]); on particles one PolyData with a
 * vertex at each "position", which they must have, or with the triangles between them. compression: gzip
 * level, 0 (fast to write, the usual choice) to 9. Written whole or not at all. */
kf_status kf_vtkhdf_write(const char *path, const kf_snapshot *snapshot, int compression, kf_error *error);
/* Boxes of nodes on so many levels, each with half of the spacing of the level before, as one OverlappingAMR:
 * a node is a cell, each quantity cell data. Origins are half a cell off those of the cells. */
kf_status kf_vtkhdf_write_levels(const char *path, const kf_snapshot *levels, int count, int compression,
                                 kf_error *error);

#endif
