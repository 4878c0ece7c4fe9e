/* Says what a scene means for whoever runs it: sizes, flow, what a run costs, and what its grid cannot do. */
#ifndef KF_HARNESS_CLI_SCENE_SUMMARY_H
#define KF_HARNESS_CLI_SCENE_SUMMARY_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "scene/scene.h"

/* Holds figures in SI units, but where a name says cells or lattice. A figure is NAN where a scene does not
 * define it. */
typedef struct kf_scene_summary {
    double domain[3], solid[3];                      /* lengths, metres */
    double cells_a_length;                           /* cells along the reference length */
    double solid_cells;                              /* along the solid's longest side; 0: no solid */
    double reference_area;                           /* metres^2, of force coefficients */
    double frontal_area;                             /* metres^2 */
    double blockage;                                 /* of the domain's cross-section */
    double speed, reynolds, length;                  /* of the Reynolds number */
    double viscosity, lattice_viscosity;             /* metres^2 a second */
    double flow_through_steps, flow_through_seconds; /* the stream once through the domain */
    double bytes;         /* of device memory, about: two grids of 27 floats a node, of 9 in two dimensions */
    bool linked;          /* the solid acts by links */
    bool wall_law;        /* friction follows a law of the wall */
    bool laminar;         /* and it stands nowhere, for no layer is turbulent */
    int bare_wall;        /* a face that is a wall beside it, without a law; -1: none */
    double wall_distance; /* y+ of the node next to the surface (half a cell), of a flat plate */
    double boundary_layer;  /* cells, of a laminar flat plate at its end: 5 L/sqrt(Re) */
    size_t open_edges;      /* of the mesh: kf_scene */
    double wind, road;      /* metres a second: of the inflow, and of a wall that moves along it; 0: none */
    double least_viscosity; /* lattice: below it the scene's collision blows up in long runs; 0: none known */
    kf_thin parts, gaps;    /* below THIN_CELLS of scene_summary.c */
    double cell_size;       /* metres */
    char rule[64];          /* that collision */
    int even_axis;          /* kf_scene_even_axis */
    bool still;             /* nothing moves at the start, and nothing will */
} kf_scene_summary;

/* Summarises a scene. The wall shear of a flat plate gives wall_distance: Cf = 0.664/sqrt(Re) up to Re 5e5
 * (Blasius), 0.026/Re^(1/7) above (White, Viscous Fluid Flow, 3rd ed., section 6-6). */
kf_scene_summary kf_summarise_scene(const kf_scene *scene);

/* Returns wall_distance of a summary alone, at no cost: a summary looks at the whole mesh. */
double kf_scene_wall_distance(const kf_scene *scene);

/* Both end with a line for each thing that the grid cannot carry. The caller frees the JSON. */
void kf_scene_summary_print(const kf_scene *scene, const kf_scene_summary *summary, FILE *file);
cJSON *kf_scene_summary_json(const kf_scene *scene, const kf_scene_summary *summary);

/* Gives the warnings as lines of text and returns their count; the texts live until the next call. */
int kf_scene_warnings(const kf_scene_summary *summary, const char *const **lines);

#endif
