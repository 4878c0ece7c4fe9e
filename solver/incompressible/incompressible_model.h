/* The section "incompressible" of a scene. */
#ifndef KF_SOLVER_INCOMPRESSIBLE_INCOMPRESSIBLE_MODEL_H
#define KF_SOLVER_INCOMPRESSIBLE_INCOMPRESSIBLE_MODEL_H

#include "scene/scene.h"

/* The section "incompressible" of a scene: what only this system asks of it (docs/incompressible.md). */
typedef enum kf_viscous_term {
    KF_VISCOUS_AUTOMATIC, /* explicit, or implicit where that would not do (kf_incompressible_viscous_term) */
    KF_VISCOUS_IMPLICIT,
    KF_VISCOUS_OFF,
    KF_VISCOUS_EXPLICIT,
    KF_VISCOUS_TERMS
} kf_viscous_term;
extern const char
    *const kf_viscous_term_names[KF_VISCOUS_TERMS]; /* "automatic", "implicit", "off", "explicit" */
typedef enum kf_trace { KF_TRACE_MIDPOINT, KF_TRACE_EULER, KF_TRACES } kf_trace;
extern const char *const kf_trace_names[KF_TRACES]; /* "midpoint", "euler" */
#define KF_DEFAULT_TOLERANCE 1e-4
#define KF_MOST_STEP_RATIO   1e3
typedef struct kf_incompressible_model {
    bool unlimited; /* MacCormack's correction is not limited to the values that it was made of */
    kf_trace trace;
    kf_viscous_term viscous_term;
    double steps;     /* of the scene's time steps in one of the solver's; 0 means 1 */
    double tolerance; /* of the pressure, relative residual; 0 means KF_DEFAULT_TOLERANCE */
} kf_incompressible_model;

extern const kf_scene_section kf_incompressible_section;
/* Returns the model that holds for this scene. */
const kf_incompressible_model *kf_incompressible_model_of(const kf_scene *scene);
/* The scene's own, to be changed. */
kf_incompressible_model *kf_incompressible_own_model(kf_scene *scene);

#endif
