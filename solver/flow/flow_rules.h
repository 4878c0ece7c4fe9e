/* Measured limits of collisions in long runs (docs/physics.md, "Noise that grows"). */
#ifndef KF_SOLVER_FLOW_FLOW_RULES_H
#define KF_SOLVER_FLOW_FLOW_RULES_H

#include "scene/scene.h"

/* Returns the lattice viscosity below which runs with the scene's collision, rates and speed between walls
 * blew up; 0: none did. */
double kf_flow_least_viscosity(const kf_scene *scene);
/* Writes the collision's name as in a scene file: "the rates \"kbc\"". Returns text. */
const char *kf_flow_rule_name(const kf_scene *scene, char text[64]);
/* Returns the rules that are stable where the scene's rule is not, as ", or the rates ..."; "" where none is
 * known. */
const char *kf_flow_steadier_rules(const kf_scene *scene);

#endif
