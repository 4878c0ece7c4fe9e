/* The section "incompressible" of a scene. */
#ifndef KF_SOLVER_INCOMPRESSIBLE_INCOMPRESSIBLE_MODEL_H
#define KF_SOLVER_INCOMPRESSIBLE_INCOMPRESSIBLE_MODEL_H

#include "scene/scene.h"

/* The values of the section "incompressible" of a scene, which only this system reads
 * (docs/incompressible.md). */
typedef enum kf_viscous_term {
    /* It is explicit, or implicit where the explicit term would be unstable (kf_incompressible_viscous_term).
     */
    KF_VISCOUS_AUTOMATIC,
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
    bool unlimited; /* MacCormack's correction is not limited to the range of its input values */
    kf_trace trace;
    kf_viscous_term viscous_term;
    double steps;     /* time steps of the scene in one step of the solver; 0 means 1 */
    double tolerance; /* relative residual of the pressure; 0 means KF_DEFAULT_TOLERANCE */
} kf_incompressible_model;

extern const kf_scene_section kf_incompressible_section;
/* Returns the model of a scene; defaults if it has none. */
const kf_incompressible_model *kf_incompressible_model_of(const kf_scene *scene);
/* Returns the scene's own model, which the caller may change. */
kf_incompressible_model *kf_incompressible_own_model(kf_scene *scene);

#endif
