#include "solver/flow/wall_law.h"

#include <math.h>

/* Finds the friction velocity by bisection of the law. k and b are kappa and B of Lee and Moser (J. Fluid
 * Mech. 774, 395, 2015). */
double kf_wall_law_friction(double speed, double height, double viscosity) {
    static const double k = 0.384, b = 4.27;
    double low = 0.0, high = speed;
    if (!(speed > 0.0 && height > 0.0 && viscosity > 0.0)) return 0.0;
    /* By the law u+ is below y+. So friction is at least that of a viscous layer, which may exceed the
     * speed. */
    high = fmax(high, sqrt(2.0 * speed * viscosity / height));
    for (int i = 0; i < 100; i++) {
        const double u = 0.5 * (low + high), y = u * height / viscosity;
        const double of_law =
            u * (log1p(k * y) / k + (b - log(k) / k) * (1.0 - exp(-y / 11.0) - y / 11.0 * exp(-y / 3.0)));
        if (of_law < speed)
            low = u;
        else
            high = u;
    }
    return low;
}

double kf_wall_law_share(double y_plus) {
    const double part = fmin(1.0, fmax(0.0, (y_plus - 12.0) / 8.0));
    return part * part * (3.0 - 2.0 * part);
}
