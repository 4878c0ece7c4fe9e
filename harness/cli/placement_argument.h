/* The options that place a bare mesh, for every command that opens scenes. */
#ifndef KF_HARNESS_CLI_PLACEMENT_ARGUMENT_H
#define KF_HARNESS_CLI_PLACEMENT_ARGUMENT_H

#include "harness/cli/command.h"
#include "scene/placement.h"
#include "scene/scene.h"

/* Rows for a command's table of options. */
#define KF_PLACEMENT_OPTIONS                                                                                 \
    {"--wind", "AXIS", "mesh: where the wind blows to, in its axes; -z for a car that looks along +z",       \
     false},                                                                                                 \
        {"--up", "AXIS", "mesh: its axis that points up: x, -x, y, -y, z, -z", false},                       \
        {"--length", "LENGTH", "mesh: its length along the wind: 4.2m, 420cm, 4200mm", false},               \
        {"--speed", "SPEED", "mesh: speed of the wind: 30, 30m/s, 108km/h (10 m/s)", false},                 \
        {"--reynolds", "RE", "mesh: Reynolds number of its length (10000)", false},                          \
        {"--viscosity", "NU", "mesh: kinematic viscosity in m^2/s, instead of --reynolds; air has 1.5e-5",   \
         false},                                                                                             \
        {"--road", "yes|no", "mesh: put it on a road that moves with the wind (guessed)", false},            \
        {"--yaw", "DEGREES", "mesh: turn it about the upright axis, counter-clockwise from above", false},   \
        {"--blockage", "SHARE",                                                                              \
         "mesh: largest share of the tunnel's cross-section that it may take: 0.05, 5% (5%)", false},        \
    {                                                                                                        \
        "--cells", "N", "mesh: cells along its length, without --grid (as many as make a million nodes)",    \
            false                                                                                            \
    }

/* Likewise, of commands that take a problem (problem_argument.h). */
#define KF_ACCURACY_OPTION                                                                                   \
    {                                                                                                        \
        "--accuracy", "SHARE",                                                                               \
            "relative error that storage may add to the fields, 0.01% to 10%; from 0.5% on 16-bit storage "  \
            "is tried (the scene's)",                                                                        \
            false                                                                                            \
    }

/* The scene that the command works on. A mesh for which any of these options is given is placed, written to
 * NAME.scene.json in the working folder (or, where that is of another placement, NAME-2.scene.json), which is
 * said, and *name becomes that file: so every later command has the very same scene. Anything else stays as
 * it is; the options with a scene that is no mesh are KF_BAD_INPUT. */
kf_status kf_argument_placed(const kf_arguments *arguments, const int nodes[3], double samples_per_cell,
                             const char **name, kf_error *error);
/* "0.5%" or 0.005; stays where it is not given. */
kf_status kf_argument_accuracy(const kf_arguments *arguments, double *accuracy, kf_error *error);
/* Reads the options alone. */
kf_status kf_argument_placement(const kf_arguments *arguments, kf_placement *placement, kf_error *error);

#endif
