#include "scene/internal.h"

#define KF_BOUNDARY_WORD(name, word) [name] = (word),
const char *const kf_boundary_names[KF_BOUNDARIES] = {KF_EACH_FACE(KF_BOUNDARY_WORD)};
const char *const kf_collision_names[KF_COLLISIONS] = {"bgk",        "rm_mrt", "acm_mrt",
                                                       "bgk_linear", "mrt",    "mrt_linear"};
const char *const kf_rate_rule_names[KF_RATE_RULES] = {
    "adaptive_2020", "constant", "ones", "empirical_2019", "kbc", "k17", "suga_2015"};
const char *const kf_moment_basis_names[KF_BASES] = {"hermite", "raw"};
const char *const kf_initial_names[KF_INITIALS] = {"uniform", "taylor_green_2d", "taylor_green_3d"};
const char *const kf_emitter_shape_names[KF_EMITTER_SHAPES] = {"box", "disc", "rake"};
const char *const kf_smoke_paint_names[KF_SMOKE_PAINTS] = {"none", "age", "speed"};
const char *const kf_smoke_body_names[KF_SMOKE_BODIES] = {"lacquer", "stone"};
const char *const kf_anchor_names[KF_ANCHORS] = {"center", "bottom", "origin"};
const char *const kf_face_names[KF_FACES] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
