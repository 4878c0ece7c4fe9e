/* Says how far a run's mean drag may lie from that of the same body in an unbounded stream on a grid without
 * end: an interval of three parts, each with its name. */
#ifndef KF_HARNESS_CLI_DRAG_INTERVAL_H
#define KF_HARNESS_CLI_DRAG_INTERVAL_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/util/status.h"
#include "scene/scene.h"
#include "solver/output/drag.h"

typedef enum kf_drag_part {
    KF_PART_STATISTICS, /* of the mean over time (base/statistics/series.h) */
    KF_PART_GRID,       /* of the grid: what other flows were off by on such a grid, or by several grids */
    KF_PART_TUNNEL,     /* of the tunnel's walls: what two published rules differ by */
    KF_DRAG_PARTS
} kf_drag_part;
extern const char *const kf_drag_part_names[KF_DRAG_PARTS]; /* "statistics", "grid", "tunnel" */

typedef struct kf_drag_interval {
    double raw;                   /* the mean drag coefficient in the tunnel */
    double corrected;             /* for the tunnel; raw where its effect is not known */
    double half[KF_DRAG_PARTS];   /* of the 95 % interval; NAN: not known */
    char why[KF_DRAG_PARTS][160]; /* where it is not known, why; else what it was taken from */
} kf_drag_interval;

/* Makes the interval of a run's drag. The report is known, and the scene has a solid. */
void kf_drag_interval_of(const kf_scene *scene, const kf_drag_report *report, kf_drag_interval *interval);
/* Judges as a kf_drag_judge whose context is the scene: it gives the interval as values of rows. */
void kf_drag_interval_judge(const void *scene, const kf_drag_report *report, double values[KF_DRAG_JUDGED]);
/* Returns the halves of the parts that are known, added by squares; NAN: none is known. */
double kf_drag_interval_total(const kf_drag_interval *interval);
/* Returns whether all parts are known. */
bool kf_drag_interval_complete(const kf_drag_interval *interval);
/* Writes a text such as "1.089 +- 0.09 (statistics 0.001, grid 0.07, tunnel 0.05)". Parts that are not known
 * are named, and the rest of the interval is then "+- 0.07 or more". */
const char *kf_drag_interval_text(const kf_drag_interval *interval, char text[256]);
/* Reads what kf_drag_interval_json wrote; false where it is none. */
bool kf_drag_interval_read(const cJSON *json, kf_drag_interval *interval);
cJSON *kf_drag_interval_json(const kf_drag_interval *interval); /* the caller owns it */

/* ---- The parts ---- */

/* Holds the tunnel's effect on the drag by two published rules. A ratio is the drag in the tunnel over that
 * in an unbounded stream. */
typedef struct kf_tunnel_effect {
    bool known;
    double low, high; /* ratios: of attached flow, and of a wide wake */
    char why[160];    /* it is not known; else the rules and the blockage */
} kf_tunnel_effect;
/* Returns the front of the solid in cells^2, as the stream that comes in sees it; of a mask, in whole cells.
 */
double kf_solid_front(const kf_scene *scene);
/* Says whether solid nodes of a mask lie at the domain's sides: its force may be mostly that of a channel's
 * walls.
 */
bool kf_mask_reaches_sides(const kf_scene *scene);
/* Finds the effect of the walls on a drag coefficient that refers to the front. The low ratio is the solid's
 * and its wake's blockage, (1 + 0.65 V/C^1.5 + Cd S/(4C))^2 with volume V, front S and section C (Young and
 * Squire, ARC R&M 1984, 1945; Thom, ARC R&M 2033, 1943); of a body that spans the tunnel 1 + pi^2/12 (S/C)^2
 * + Cd S/(4C), squared (Allen and Vincenti, NACA report 782, 1944). The high one is 1 + e Cd S/C of a bluff
 * body, e = 5/2, or 0.96 of one that spans the tunnel (Maskell, ARC R&M 3400, 1963). */
kf_tunnel_effect kf_tunnel_effect_of(const kf_scene *scene, double front_drag);

/* Holds the error of the drag of flows with a known answer, as a function of the grid. scripts/drag-prior.py
 * makes it from the table of flows in accuracy/. */
typedef struct kf_grid_prior {
    double factor, cells_power, y_plus_power; /* half over drag: factor cells^-a max(1, y+)^b */
    double least_cells, most_cells;           /* across the front, of the table's flows */
    double most_y_plus;
    int flows;
} kf_grid_prior;
/* Reads accuracy/drag-prior.json. */
kf_status kf_grid_prior_read(kf_grid_prior *prior, kf_error *error);
/* Returns half of the interval as a share of the drag; NAN and a reason beyond the table. */
double kf_grid_prior_share(const kf_grid_prior *prior, double cells_across, double y_plus, char why[160]);
/* Returns the same share for a scene. NAN and a reason also for scenes about which the table says nothing,
 * because its solids were samples: solids by links, and a law of the wall with laminar layers. */
double kf_grid_prior_of(const kf_scene *scene, const kf_grid_prior *prior, double cells_across, double y_plus,
                        char why[160]);

/* Returns the cells along a side of a square as large as the front, or across a body that spans the tunnel.
 */
double kf_cells_across(const kf_scene *scene);

#endif
