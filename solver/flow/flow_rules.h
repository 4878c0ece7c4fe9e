/* Which collisions hold in long runs, as measured (docs/physics.md, "Noise that grows"). */
#ifndef KF_SOLVER_FLOW_FLOW_RULES_H
#define KF_SOLVER_FLOW_FLOW_RULES_H

#include "scene/scene.h"

/* The lattice viscosity below which runs with the scene's collision and rates were seen to blow up between
 * walls, at its speed; 0: none was. */
double kf_flow_least_viscosity(const kf_scene *scene);
/* Gives the name of the collision in a scene file, as "the rates \"kbc\"". */
const char *kf_flow_rule_name(const kf_scene *scene, char text[64]);
/* Names the rules that are stable where the scene's is not, as ", or the rates ..."; "" where nothing is
 * known. */
const char *kf_flow_steadier_rules(const kf_scene *scene);

#endif
