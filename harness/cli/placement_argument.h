/* Declares the options that place a mesh or change a scene, for every command that opens scenes. */
#ifndef KF_HARNESS_CLI_PLACEMENT_ARGUMENT_H
#define KF_HARNESS_CLI_PLACEMENT_ARGUMENT_H

#include "harness/cli/command.h"
#include "scene/placement.h"
#include "scene/scene.h"

/* Rows for a command's table of options. */
#define KF_PLACEMENT_OPTIONS                                                                                 \
    {"--wind", "AXIS", "mesh: direction in which the wind blows, in its axes; -z for a car that faces +z",   \
     KF_TEXT},                                                                                               \
        {"--up", "AXIS", "mesh: its axis that points up: x, -x, y, -y, z, -z", KF_TEXT},                     \
        {"--length", "LENGTH", "mesh: its length along the wind: 4.2m, 4200mm, 14ft, 165in", KF_TEXT},       \
        {"--speed", "SPEED", "speed of the wind and of a road: 30, 30m/s, 108km/h, 67mph (10 m/s)",          \
         KF_TEXT},                                                                                           \
        {"--reynolds", "RE", "Reynolds number of the solid's length (10000)", KF_TEXT},                      \
        {"--viscosity", "NU", "kinematic viscosity in m^2/s, instead of --reynolds; air has 1.5e-5",         \
         KF_TEXT},                                                                                           \
        {"--road", "yes|no", "mesh: put it on a road that moves with the wind (guessed)", KF_TEXT},          \
        {"--yaw", "DEGREES", "solid turned about the upright axis, counter-clockwise from above (0)",        \
         KF_TEXT},                                                                                           \
        {"--blockage", "SHARE",                                                                              \
         "mesh: largest share of the tunnel's cross-section that it may take: 0.05, 5% (5%)", KF_TEXT},      \
        {"--refine", "body|none|LEVELS",                                                                     \
         "nested grids around the solid and its wake: cells half as wide, 1 to 4 times (none)", KF_TEXT},    \
    {                                                                                                        \
        "--cells", "N", "mesh: cells along its length, without --grid (as many as make a million nodes)",    \
            KF_TEXT                                                                                          \
    }

/* The row for commands that take a problem (problem_argument.h). */
#define KF_ACCURACY_OPTION                                                                                   \
    {                                                                                                        \
        "--accuracy", "SHARE",                                                                               \
            "relative error that storage may add to the fields, 0.01% to 10%; from 0.5% on 16-bit storage "  \
            "is tried (the scene's)",                                                                        \
            KF_TEXT                                                                                          \
    }

/* Makes the JSON scene of a mesh, or of a scene that these options change. It is NULL for a scene that they
 * do not change. What was guessed or changed is printed. `name` is the scene's name with the options,
 * "car-yaw5". If `like` is not NULL, the mesh replaces the one of that scene and keeps its placement. The
 * caller frees the document. */
kf_status kf_argument_document(const kf_arguments *arguments, const int nodes[3], double samples_per_cell,
                               const char *source, const cJSON *like, cJSON **document, char name[128],
                               kf_error *error);
/* Finds the scene that the command works on. If a mesh or these options make a new scene, it is written to
 * the user's data folder, and *name becomes that file's name. */
kf_status kf_argument_placed(const kf_arguments *arguments, const int nodes[3], double samples_per_cell,
                             const cJSON *like, const char **name, kf_error *error);
/* Returns what the user gave for a scene that kf_argument_placed keeps in that file; else the source itself.
 */
const char *kf_argument_source(const char *source);
/* Replaces the name of a kept file in an error by what the user gave, because the user does not know that
 * file. */
void kf_argument_name_source(kf_error *error);
/* Reads a share such as "1%" or 0.01. Without the option *value is unchanged. */
kf_status kf_argument_share(const kf_arguments *arguments, const char *option, double low, double high,
                            double *value, kf_error *error);
/* Reads an accuracy such as "0.5%" or 0.005. Without the option *accuracy is unchanged. */
kf_status kf_argument_accuracy(const kf_arguments *arguments, double *accuracy, kf_error *error);
/* Reads only the options into *placement. */
kf_status kf_argument_placement(const kf_arguments *arguments, kf_placement *placement, kf_error *error);

#endif
