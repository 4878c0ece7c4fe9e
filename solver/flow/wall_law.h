/* Reichardt's law of the wall on the host, in double precision. */
#ifndef KF_SOLVER_FLOW_WALL_LAW_H
#define KF_SOLVER_FLOW_WALL_LAW_H

/* Returns the friction velocity at which the law (docs/physics.md) gives this speed at this height above a
 * wall, in the units of speed. 0 if an argument is not positive. It bisects down to rounding. */
double kf_wall_law_friction(double speed, double height, double viscosity);
/* Returns how much the law acts, given y+ of the node whose velocity it uses: 0 up to 12, 1 from 20 on. */
double kf_wall_law_share(double y_plus);

#endif
