/* Compares the drag of a sphere by the incompressible solver and by the kinetic one on the same grid. */
#include <stdio.h>

#include "solver/compare/comparisons.h"
#include "solver/incompressible/incompressible.h"
#include "solver/kinetic/kinetic.h"
#include "solver/validation/tunnel.h"

static const char johnson[] = "Johnson & Patel, J. Fluid Mech. 378 (1999) 19";

/* Runs one sphere in one tunnel on one grid: with the kinetic system, and with the incompressible one. Its
 * steps are as long as the kinetic ones, and 10 and 40 times as long. */
kf_status kf_case_beside(kf_validation *validation, kf_error *error) {
    enum { FLOWS = 2, RUNS = 4 };
    static const struct {
        const kf_system *system;
        double ratio, bound;
    } runs[RUNS] = {{&kf_system_kinetic, 1, 0.1},
                    {&kf_system_incompressible, 10, 0.2},
                    {&kf_system_incompressible, 40, 0.2},
                    {&kf_system_incompressible, 1, 0.2}};
    static const double published[FLOWS] = {1.087, 0.656};
    static const kf_tunnel small[FLOWS] = {{false, 8, 0.05, 100, 3, 3, 5, 6, 1, 0},
                                           {false, 8, 0.05, 300, 3, 3, 5, 8, 2, 0}},
                           large[FLOWS] = {{false, 16, 0.05, 100, 5, 7, 8, 14, 2, 0},
                                           {false, 16, 0.05, 300, 5, 9, 8, 25, 5, 0}};
    for (int flow = 0; flow < FLOWS; flow++)
        for (int run = 0; run < (validation->gpu ? RUNS : RUNS - 1); run++) {
            kf_tunnel t = validation->gpu ? large[flow] : small[flow];
            char quantity[96];
            double drag;
            t.speed *= runs[run].ratio;
            KF_TRY(kf_tunnel_measure(validation, runs[run].system, &t, &drag, error));
            (void)snprintf(quantity, sizeof quantity, "Re %g, %g cells a diameter, %s, steps %gx: Cd",
                           t.reynolds, t.diameter, runs[run].system->name, runs[run].ratio);
            kf_check_relative(validation, quantity, johnson, published[flow], drag, runs[run].bound);
        }
    return KF_OK;
}
