/* Default sources of smoke for scenes without any, and how dense smoke looks. */
#ifndef KF_SOLVER_SMOKE_SOURCES_H
#define KF_SOLVER_SMOKE_SOURCES_H

#include "scene/scene.h"

/* Returns the scene's emitters. Without any, they are rakes in front of the solid, as wide and high as it is;
 * without a solid, in the middle of the domain. Unless the scene has a capacity, it is 1.5 times the tracers
 * that are born while the stream crosses the domain. */
void kf_smoke_choose_sources(const kf_scene *scene, kf_smoke_sources *sources);

/* Return the speed of the stream in cells a step (a slow one if the scene has no stream), and the steps in
 * which it crosses the domain. */
double kf_smoke_stream_speed(const kf_scene *scene);
double kf_smoke_transit(const kf_scene *scene);

/* Returns the extinction per cell of one tracer a cell, with which the densest fresh smoke has the requested
 * optical depth. */
double kf_smoke_extinction(const kf_scene *scene, const kf_smoke_sources *sources);

#endif
