/* What pictures a run draws, as its options say. */
#ifndef KF_HARNESS_CLI_RUN_PICTURES_H
#define KF_HARNESS_CLI_RUN_PICTURES_H

#include "harness/cli/command.h"
#include "scene/scene.h"
#include "solver/output/production.h"

#define KF_PICTURE_OPTIONS                                                                                   \
    {"--picture", "LIST",                                                                                    \
     "of speed, pressure, vorticity (slices) and surface (pressure on the solid): what is drawn (speed)",    \
     false},                                                                                                 \
        {"--slice", "AXIS[=PLACE]",                                                                          \
         "the slices are across this axis: y, or y=0.4m in the domain (through the solid's middle, along "   \
         "the flow and "                                                                                     \
         "upright)",                                                                                         \
         false},                                                                                             \
        {"--range", "[FIELD=]LOW:HIGH",                                                                      \
         "what a picture's colours span: 0:60, pressure=-1.5:1 (chosen); of the first picture without "      \
         "FIELD",                                                                                            \
         true},                                                                                              \
        {"--camera", "AZIMUTH,ELEVATION[,ZOOM]",                                                             \
         "whence surface and smoke are seen, in degrees: 0,0 from ahead, 90,10 from the side, 180 from "     \
         "behind "                                                                                           \
         "(54.5,17.2,1)",                                                                                    \
         false},                                                                                             \
        {"--film", NULL, "frames of a film as well, of the smoke or the first picture, and how to make it",  \
         false},                                                                                             \
        {"--film-every", "N", "steps between its frames (so that 250 make the run)", false}, {               \
        "--picture-every", "N", "steps between further pictures (none)", false                               \
    }

/* Reads them. scene: of the run; NULL: it has none, and only the defaults are allowed. how->steps is known.
 */
kf_status kf_run_pictures(const kf_arguments *arguments, const kf_scene *scene, kf_production_options *how,
                          kf_error *error);

#endif
