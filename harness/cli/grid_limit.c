/* Finds the limit of values on finer and finer grids. */
#include <math.h>

#include "harness/cli/sweep_result.h"

static const double LEAST_ORDER = 1.0, MOST_ORDER = 3.0, SAFETY = 1.25;

/* Finds the order p for which errors c h^p with h = 1/cells give the ratio (f1 - f2)/(f2 - f3). NAN: there is
 * none between the bounds. Bisection works because the ratio rises with p. */
static double order_of(const double cells[3], const double f[3]) {
    const double wanted = (f[0] - f[1]) / (f[1] - f[2]);
    double low = LEAST_ORDER, high = MOST_ORDER;
    for (int i = 0; i < 60; i++) {
        const double p = 0.5 * (low + high), h0 = pow(cells[0], -p), h1 = pow(cells[1], -p),
                     h2 = pow(cells[2], -p);
        if ((h0 - h1) / (h1 - h2) < wanted)
            low = p;
        else
            high = p;
    }
    const double p = 0.5 * (low + high);
    return p > LEAST_ORDER + 1e-6 && p < MOST_ORDER - 1e-6 ? p : (double)NAN;
}

/* Extrapolates from the three finest grids if they show an order of convergence (Roache 1994). Otherwise the
 * limit is the finest grid's value, and its error the spread of all. */
kf_grid_limit kf_grid_limit_of(int count, const double *cells, const double *drags) {
    kf_grid_limit found = {.known = count >= 2};
    double low = INFINITY, high = -INFINITY;
    if (count < 2) return found;
    for (int i = 0; i < count; i++) {
        low = fmin(low, drags[i]);
        high = fmax(high, drags[i]);
    }
    found.limit = drags[count - 1];
    found.error = high - low;
    if (count < 3) return found;
    const double *c = cells + count - 3, *f = drags + count - 3;
    if (f[1] == f[2]) {
        found.extrapolated = f[0] == f[1];
        found.error = found.extrapolated ? 0.0 : found.error;
        return found;
    }
    const double order = order_of(c, f);
    if (!isfinite(order)) return found;
    const double h1 = pow(c[1], -order), h2 = pow(c[2], -order);
    found.extrapolated = true;
    found.order = order;
    found.limit = f[2] + (f[2] - f[1]) * h2 / (h1 - h2);
    found.error = SAFETY * fabs(found.limit - f[2]);
    return found;
}
