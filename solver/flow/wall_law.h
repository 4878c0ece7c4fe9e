/* Reichardt's law of the wall on the host, in double precision. */
#ifndef KF_SOLVER_FLOW_WALL_LAW_H
#define KF_SOLVER_FLOW_WALL_LAW_H

/* Returns the friction velocity with which the law (docs/physics.md) has a speed at a height above a wall, in
 * the units of speed; 0 where one of them is not positive. By bisection to rounding. */
double kf_wall_law_friction(double speed, double height, double viscosity);
/* Returns the share of the law where the place that it looks at has this y+: 0 up to 12, 1 from 20 on. */
double kf_wall_law_share(double y_plus);

#endif
