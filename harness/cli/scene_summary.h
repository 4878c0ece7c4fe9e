/* Summarises a scene for the user: sizes, flow, cost of a run, and what its grid cannot resolve. */
#ifndef KF_HARNESS_CLI_SCENE_SUMMARY_H
#define KF_HARNESS_CLI_SCENE_SUMMARY_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "scene/scene.h"

/* Figures in SI units, unless the name says cells or lattice. A figure that the scene does not define is NAN.
 */
typedef struct kf_scene_summary {
    double domain[3], solid[3];                      /* lengths, metres */
    double cells_a_length;                           /* cells along the reference length */
    double solid_cells;                              /* cells along the solid's longest side; 0: no solid */
    double reference_area;                           /* of force coefficients, in metres^2 */
    double frontal_area;                             /* metres^2 */
    double blockage;                                 /* share of the domain's cross-section */
    double speed, reynolds, length;                  /* those of the Reynolds number */
    double viscosity, lattice_viscosity;             /* metres^2 per second */
    double flow_through_steps, flow_through_seconds; /* time in which the stream crosses the domain */
    /* Approximate device memory: two grids of 27 floats a node, or 9 in two dimensions. */
    double bytes;
    bool linked;            /* the solid acts by links */
    bool wall_law;          /* friction follows a law of the wall */
    bool layers;            /* layers without eddies are modelled */
    double layer;           /* thickness of a modelled layer at the solid's end, in cells; 0: none */
    double layer_room;      /* fewest cells between the solid and the end of its grid within the domain */
    bool laminar;           /* the law of the wall acts nowhere, because all layers are laminar */
    int bare_wall;          /* a wall of the domain beside the solid that has no law; -1: none */
    double wall_distance;   /* y+ of the first node (half a cell) on a flat plate */
    double boundary_layer;  /* thickness in cells at the end of a laminar flat plate: 5 L/sqrt(Re) */
    size_t open_edges;      /* of the mesh (kf_scene) */
    double wind, road;      /* metres per second, of the inflow and of a wall that moves along it; 0: none */
    double least_viscosity; /* in lattice units; below it long runs become unstable; 0: not known */
    kf_thin parts, gaps;    /* parts and gaps that are thinner than THIN_CELLS of scene_summary.c */
    double cell_size;       /* metres */
    char rule[64];          /* that collision */
    int even_axis;          /* kf_scene_even_axis */
    bool still;             /* nothing moves at any time */
} kf_scene_summary;

/* Summarises a scene. wall_distance follows from the wall shear of a flat plate: Cf = 0.664/sqrt(Re) up to Re
 * 5e5 (Blasius), 0.026/Re^(1/7) above (White, Viscous Fluid Flow, 3rd ed., section 6-6). */
kf_scene_summary kf_summarise_scene(const kf_scene *scene);

/* Returns only a summary's wall_distance, which is quick. A whole summary examines the mesh. */
double kf_scene_wall_distance(const kf_scene *scene);

/* Both end with a line for each warning. The caller frees the JSON. */
void kf_scene_summary_print(const kf_scene *scene, const kf_scene_summary *summary, FILE *file);
cJSON *kf_scene_summary_json(const kf_scene *scene, const kf_scene_summary *summary);

/* Lists the warnings as lines of text and returns their count. The texts are valid until the next call. */
int kf_scene_warnings(const kf_scene_summary *summary, const char *const **lines);

#endif
