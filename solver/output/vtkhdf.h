/* Fields as VTKHDF: HDF5 files that ParaView and VTK open directly (format: VTK's documentation, "VTKHDF").
 */
#ifndef KF_SOLVER_OUTPUT_VTKHDF_H
#define KF_SOLVER_OUTPUT_VTKHDF_H

#include "base/plan/plan.h"
#include "scene/scene.h"

/* One ImageData, SI units, single precision: point data "velocity" (m/s, [z][y][x][3]) and
 * "pressure_coefficient" (p / (rho U^2 / 2)), or "kinematic_pressure" (p / rho in m^2/s^2) for a scene
 * without a reference speed U; pressure is relative to the reference density; and
 * "smoke" (tracers a cell, [z][y][x]) unless smoke is NULL. Field data "time" (s) and "step". Node (i,j,k)
 * lies at (i + 1/2, j + 1/2, k + 1/2) cells from the domain's lower corner, which is the origin. compression:
 * gzip level, 0 (fast to write, the usual choice) to 9. Written whole or not at all. */
kf_status kf_vtkhdf_write(const char *path, const kf_scene *scene, const kf_fields *fields,
                          const float *smoke, uint64_t step, int compression, kf_error *error);

#endif
