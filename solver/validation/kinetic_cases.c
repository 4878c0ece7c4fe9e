#include "solver/validation/kinetic_cases.h"

/* Flows whose answers 16-bit storage does not spoil (docs/gate.md has what it costs each case). */
#define KF_LEFT_TO_STORAGE 0.02

const kf_case kf_kinetic_cases[] = {
    {"poiseuille", "channel flow with a body force: exact discrete profile, order", false, kf_case_poiseuille,
     0},
    {"taylor_green_2d", "decay of plane vortices: viscosity, order", false, kf_case_taylor_green_2d,
     KF_LEFT_TO_STORAGE},
    {"galilean", "vortices carried at three speeds decay alike", false, kf_case_galilean, 0},
    {"shear_layer", "double shear layer at Re 30000 on a coarse grid", false, kf_case_shear_layer,
     KF_LEFT_TO_STORAGE},
    {"taylor_green_3d", "transition and decay at Re 1600", false, kf_case_taylor_green_3d,
     KF_LEFT_TO_STORAGE},
    {"outflow", "what the outflow sends back of a vortex and of sound", false, kf_case_outflow, 0},
    {"cavity_2d", "lid-driven square cavity", false, kf_case_cavity_2d, KF_LEFT_TO_STORAGE},
    {"cavity_3d", "lid-driven cubic cavity at Re 1000", true, kf_case_cavity_3d, KF_LEFT_TO_STORAGE},
    {"conservation", "mass and momentum over 10000 steps", false, kf_case_conservation, 0},
    {"force_balance", "what the solid loses the fluid gains: force and torque", false, kf_case_force_balance,
     0},
    {"slip", "what a pass of the immersed boundary leaves of the slip", false, kf_case_slip,
     KF_LEFT_TO_STORAGE},
    {"sampling_density", "the force does not depend on the number of samples", false,
     kf_case_sampling_density, KF_LEFT_TO_STORAGE},
    {"torus", "a torus that spins in still fluid: torque, angular momentum", false, kf_case_torus,
     KF_LEFT_TO_STORAGE},
    {"free_solid", "a ball that the fluid moves: momentum, settling", false, kf_case_free_solid, 0},
    {"sphere_drag", "drag of a sphere", false, kf_case_sphere_drag, KF_LEFT_TO_STORAGE},
    {"sphere_wake", "shedding behind a sphere at Re 300", true, kf_case_sphere_wake, KF_LEFT_TO_STORAGE},
    {"rate_rules", "rate rules on the Taylor-Green vortex against an independent program", true,
     kf_case_rate_rules, 0},
    {"models", "BGK, RM-MRT and ACM-MRT past a ball, with pictures", true, kf_case_models,
     KF_LEFT_TO_STORAGE},
    {NULL, NULL, false, NULL, 0},
};
