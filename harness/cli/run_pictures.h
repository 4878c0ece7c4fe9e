/* Reads the options for the pictures of a run. */
#ifndef KF_HARNESS_CLI_RUN_PICTURES_H
#define KF_HARNESS_CLI_RUN_PICTURES_H

#include "harness/cli/command.h"
#include "scene/scene.h"
#include "solver/output/production.h"

kf_value_check kf_value_pictures, kf_value_slice, kf_value_range, kf_value_camera;

#define KF_PICTURE_OPTIONS                                                                                   \
    {"--picture", "LIST",                                                                                    \
     "pictures to draw: slices of speed, pressure, vorticity; surface, y_plus: pressure and y+ on the "      \
     "solid (speed); none: no pictures",                                                                     \
     KF_CHECKED(kf_value_pictures)},                                                                         \
        {"--slice", "AXIS[=PLACE]",                                                                          \
         "plane of the slices: across this axis, at this place: y, y=0.4m (side view through the solid's "   \
         "middle)",                                                                                          \
         KF_CHECKED(kf_value_slice)},                                                                        \
        {"--range", "[FIELD=]LOW:HIGH",                                                                      \
         "values that the colours of a picture span: 0:60 (of the first picture), pressure=-1.5:1 (chosen)", \
         KF_ALL_CHECKED(kf_value_range)},                                                                    \
        {"--camera", "AZIMUTH,ELEVATION[,ZOOM]",                                                             \
         "viewpoint of surface and smoke in degrees: 0,0 from ahead, 90,10 from the side, 180 from "         \
         "behind (54.5,17.2,1)",                                                                             \
         KF_CHECKED(kf_value_camera)},                                                                       \
        {"--film", NULL, "write frames of a film too, of the smoke or the first picture", KF_FLAG},          \
        {"--film-every", "N", "steps between frames (as many as give 250 frames)",                           \
         KF_WHOLE(1, KF_MOST_STEPS)},                                                                        \
    {                                                                                                        \
        "--picture-every", "N", "steps between further pictures (none)", KF_WHOLE(1, KF_MOST_STEPS)          \
    }

/* Reads the options. scene: the run's; NULL: it is not a flow, and only the defaults are allowed. how->steps
 * must be known. */
kf_status kf_run_pictures(const kf_arguments *arguments, const kf_scene *scene, kf_production_options *how,
                          kf_error *error);

#endif
