#include "solver/validation/kinetic_cases.h"

const kf_case kf_kinetic_cases[] = {
    {"poiseuille", "channel flow with a body force: exact discrete profile, order", false,
     kf_case_poiseuille},
    {"taylor_green_2d", "decay of plane vortices: viscosity, order", false, kf_case_taylor_green_2d},
    {"galilean", "vortices carried at three speeds decay alike", false, kf_case_galilean},
    {"shear_layer", "double shear layer at Re 30000 on a coarse grid", false, kf_case_shear_layer},
    {"taylor_green_3d", "transition and decay at Re 1600", false, kf_case_taylor_green_3d},
    {"cavity_2d", "lid-driven square cavity", false, kf_case_cavity_2d},
    {"cavity_3d", "lid-driven cubic cavity at Re 1000", true, kf_case_cavity_3d},
    {"conservation", "mass and momentum over 10000 steps", false, kf_case_conservation},
    {"force_balance", "what the solid loses the fluid gains: force and torque", false, kf_case_force_balance},
    {"slip", "what a pass of the immersed boundary leaves of the slip", false, kf_case_slip},
    {"sampling_density", "the force does not depend on the number of samples", false,
     kf_case_sampling_density},
    {"torus", "a torus that spins in still fluid: torque, angular momentum", false, kf_case_torus},
    {"sphere_drag", "drag of a sphere", false, kf_case_sphere_drag},
    {"sphere_wake", "shedding behind a sphere at Re 300", true, kf_case_sphere_wake},
    {"rate_rules", "rate rules on the Taylor-Green vortex against an independent program", true,
     kf_case_rate_rules},
    {"models", "BGK, RM-MRT and ACM-MRT past a ball, with pictures", true, kf_case_models},
    {NULL, NULL, false, NULL},
};
