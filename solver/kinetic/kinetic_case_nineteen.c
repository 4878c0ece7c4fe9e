/* Runs cases of the lattice of 27 velocities again with 19 velocities. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/kinetic/kinetic_cases.h"

/* Runs with velocities=19 the cases that it can pass, at an accuracy that allows it. A quick run leaves out
 * the slow ones. */
kf_status kf_case_nineteen(kf_validation *validation, kf_error *error) {
    typedef struct again {
        kf_status (*run)(kf_validation *validation, kf_error *error);
        bool slow;
    } again;
    static const again cases[] = {{kf_case_taylor_green_2d, false}, {kf_case_galilean, false},
                                  {kf_case_cavity_2d, false},       {kf_case_force_balance, false},
                                  {kf_case_shear_layer, true},      {kf_case_taylor_green_3d, true},
                                  {kf_case_sphere_drag, true}};
    /* The accuracy that the space needs. */
    static const double ALLOWED = 0.03;
    const char **fixed = kf_allocate((size_t)(validation->fixed_count + 1) * sizeof *fixed);
    if (validation->fixed_count > 0)
        memcpy(fixed, validation->fixed, (size_t)validation->fixed_count * sizeof *fixed);
    fixed[validation->fixed_count] = "velocities=19";
    kf_validation nineteen = *validation;
    nineteen.fixed = fixed;
    nineteen.fixed_count++;
    nineteen.accuracy = fmax(validation->accuracy, ALLOWED);
    kf_status status = KF_OK;
    for (size_t i = 0; i < sizeof cases / sizeof *cases && status == KF_OK; i++)
        if (!cases[i].slow || !validation->quick) status = cases[i].run(&nineteen, error);
    validation->checks = nineteen.checks;
    validation->check_count = nineteen.check_count;
    free(fixed);
    return status;
}
