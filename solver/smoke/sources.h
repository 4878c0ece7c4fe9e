/* Smoke comes from these sources when a scene does not say, as thick as they say. */
#ifndef KF_SOLVER_SMOKE_SOURCES_H
#define KF_SOLVER_SMOKE_SOURCES_H

#include "scene/scene.h"

/* The scene's emitters, or else rakes in front of its solid (of the domain's middle without one), as wide and
 * high as it is; and a capacity, unless the scene has one, for 1.5 times the tracers that are born while the
 * stream passes through the domain. */
void kf_smoke_choose_sources(const kf_scene *scene, kf_smoke_sources *sources);

/* Cells a step, a slow one where the scene has no stream; and the steps that it takes through the domain. */
double kf_smoke_stream_speed(const kf_scene *scene);
double kf_smoke_transit(const kf_scene *scene);

/* Extinction a cell of one tracer a cell: so that the thickest fresh smoke has the wanted optical depth. */
double kf_smoke_extinction(const kf_scene *scene, const kf_smoke_sources *sources);

#endif
