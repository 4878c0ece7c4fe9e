/* Estimates how far a run's mean drag may lie from the drag of the same body in an unbounded stream without
 * an error of the grid. The interval has three named parts. */
#ifndef KF_HARNESS_CLI_DRAG_INTERVAL_H
#define KF_HARNESS_CLI_DRAG_INTERVAL_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/util/status.h"
#include "scene/scene.h"
#include "solver/output/drag.h"

typedef enum kf_drag_part {
    KF_PART_STATISTICS, /* of the mean over time (base/statistics/series.h) */
    KF_PART_GRID,       /* of the grid, from other flows' errors on such grids, or from several grids */
    KF_PART_TUNNEL,     /* of the tunnel's walls, from the difference of two published rules */
    KF_DRAG_PARTS
} kf_drag_part;
extern const char *const kf_drag_part_names[KF_DRAG_PARTS]; /* "statistics", "grid", "tunnel" */

typedef struct kf_drag_interval {
    double raw;       /* the mean drag coefficient in the tunnel */
    double corrected; /* corrected for the tunnel; equal to raw if the tunnel's effect is not known */
    double half[KF_DRAG_PARTS];   /* half of the 95 % interval by parts; NAN: not known */
    char why[KF_DRAG_PARTS][160]; /* the reason why a part is not known, otherwise its source */
} kf_drag_interval;

/* Makes the interval of a run's drag. The report must be known, and the scene must have a solid. */
void kf_drag_interval_of(const kf_scene *scene, const kf_drag_report *report, kf_drag_interval *interval);
/* Judges as a kf_drag_judge whose context is the scene. It returns the interval as values of the tables'
 * rows. */
void kf_drag_interval_judge(const void *scene, const kf_drag_report *report, double values[KF_DRAG_JUDGED]);
/* Returns half of the interval: the known parts, added by squares; NAN: none is known. */
double kf_drag_interval_total(const kf_drag_interval *interval);
/* Returns whether all parts are known. */
bool kf_drag_interval_complete(const kf_drag_interval *interval);
/* Writes a text such as "1.089 +- 0.09 (statistics 0.001, grid 0.07, tunnel 0.05)". Unknown parts are named,
 * and the interval is then "+- 0.07 or more". */
const char *kf_drag_interval_text(const kf_drag_interval *interval, char text[256]);
/* Reads what kf_drag_interval_json wrote. Returns false if the JSON is something else. */
bool kf_drag_interval_read(const cJSON *json, kf_drag_interval *interval);
cJSON *kf_drag_interval_json(const kf_drag_interval *interval); /* the caller owns it */

/* ---- The parts ---- */

/* The tunnel's effect on the drag between two rules. A ratio is the drag in the tunnel divided by that in an
 * unbounded stream. */
typedef struct kf_tunnel_effect {
    bool known;
    double low, high; /* the ratios: attached flow far from the inflow, and the largest */
    char why[160];    /* the reason why it is not known, otherwise the rules and the blockage */
} kf_tunnel_effect;
/* Returns the front of the solid in cells^2, as the inflow meets it; for a mask in whole cells. */
double kf_solid_front(const kf_scene *scene);
/* Returns whether solid nodes of a mask lie at the domain's sides. Its force may then be mostly that of a
 * channel's walls. */
bool kf_mask_reaches_sides(const kf_scene *scene);
/* Finds the effect of the walls on a drag coefficient that refers to the front. Let V be the volume of the
 * body, S its front, C the section of the tunnel, and Cd the drag. The low ratio is (1 + 0.65 V/C^1.5 + Cd
 * S/(4C))^2, from the blockage of the solid and its wake (Young and Squire, ARC R&M 1984, 1945; Thom, ARC R&M
 * 2033, 1943). For a body that spans the tunnel it is (1 + pi^2/12 (S/C)^2 + Cd S/(4C))^2 (Allen and
 * Vincenti, NACA report 782, 1944). The high ratio is that of the walls times that of the inflow.
 * Walls: the larger of 1 + e Cd S/C for a bluff body, with e = 5/2, or 0.96 if it spans the tunnel (Maskell,
 * ARC R&M 3400, 1963), and (1 - S/C)^-2 for one that does not, from the mean stream that passes beside it.
 * Inflow: at a distance d ahead an unbounded stream is slower by S/(4 pi d^2), as ahead of Rankine's
 * half-body with that front, or by h/(2 pi d) ahead of a slice of height h. A prescribed inflow is not, so
 * the drag has twice this share more. */
kf_tunnel_effect kf_tunnel_effect_of(const kf_scene *scene, double front_drag);

/* The error of the drag of flows whose drag is known, as a function of the grid. scripts/drag-prior.py makes
 * it from the table of flows in accuracy/. */
typedef struct kf_grid_prior {
    double factor, cells_power,
        y_plus_power;               /* half of the interval over the drag: factor cells^-a max(1, y+)^b */
    double least_cells, most_cells; /* cells across the front of the table's flows */
    double most_y_plus;
    int flows;
} kf_grid_prior;
/* Reads accuracy/drag-prior.json. */
kf_status kf_grid_prior_read(kf_grid_prior *prior, kf_error *error);
/* Returns half of the interval as a share of the drag. NAN and a reason outside the range of the table. */
double kf_grid_prior_share(const kf_grid_prior *prior, double cells_across, double y_plus, char why[160]);
/* Returns the same share for a scene. It is NAN, with a reason, also for scenes that the table does not
 * cover: solids by links, and a law of the wall with laminar layers. The solids of the table were samples. */
double kf_grid_prior_of(const kf_scene *scene, const kf_grid_prior *prior, double cells_across, double y_plus,
                        char why[160]);

/* Returns the cells along a side of a square that has the area of the front. For a body that spans the tunnel
 * it returns the cells across it. */
double kf_cells_across(const kf_scene *scene);

#endif
