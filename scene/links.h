/* Declarations that links.c and links_cut.c share: the nodes around a solid, and where the surface meets
 * their links. */
#ifndef KF_SCENE_LINKS_H
#define KF_SCENE_LINKS_H

#include "scene/internal.h"

enum { KF_LINK_DIRECTIONS = 26 };

/* Hits of one link that are closer together than this share of the link count as one, as at an edge. */
#define KF_LINK_ONE_PLACE 1e-4
/* Triangles are parallel if the product of their normals is at least this. */
#define KF_LINK_PARALLEL 0.999

/* A place where a link meets the surface. */
typedef struct kf_link_hit {
    uint64_t link;    /* node of the box * KF_LINK_DIRECTIONS + direction */
    double share;     /* distance from the node, as a share of the link */
    double normal[3]; /* of the surface; it may point to either side */
} kf_link_hit;

/* The part of the domain around the solid, and the links that are cut in it. */
typedef struct kf_link_box {
    const kf_scene *scene;
    int low[3], length[3];
    bool ring[3]; /* the box covers the whole of a periodic axis */
    size_t nodes;
    kf_link_hit *hits; /* sorted by link, then by share */
    size_t count, capacity;
    uint32_t *cut;        /* [z][y][x] one bit for each direction: that link is cut */
    unsigned char *fluid; /* [z][y][x] 1 where the stream reaches the node */
} kf_link_box;

/* Sets c to direction d; the opposite direction is KF_LINK_DIRECTIONS - 1 - d. */
void kf_link_direction(int d, int c[3]);
size_t kf_link_node_index(const kf_link_box *b, const int at[3]);
/* Returns whether a face mirrors populations, half a cell beyond its nodes. */
bool kf_link_mirrors(const kf_scene *scene, int face);
/* Finds the hits and sets `cut`. Ctrl-C ends it early. */
void kf_link_box_cut(kf_link_box *box);
/* Counts the nodes near each triangle that kf_link_box_cut looks at. */
double kf_link_box_work(const kf_link_box *box);
/* Removes cuts where a link of the fluid only grazes an edge of the solid. With a solid aligned to the grid,
 * rounding would otherwise decide which of these links are cut, and the flow would not be symmetric. Needs
 * `fluid`. */
void kf_link_box_drop_slivers(kf_link_box *box);
/* Returns whether a link has nodes of the fluid at both ends. */
bool kf_link_joins_fluid(const kf_link_box *box, uint64_t link);
/* Moves `at` over a link that is not cut to the next node of the box; returns whether there is such a node.
 */
bool kf_link_pass(const kf_link_box *box, kf_link_node *at);
/* Returns whether a surface cuts the link at a node of the box. */
bool kf_link_cut(const kf_link_box *box, const kf_link_node *at);
/* Rounds a step along a normal. Halves are rounded towards 0, even if they are off by an error of rounding,
 * so that mirrored normals make mirrored steps. */
int kf_link_round(double step);
/* Lists the fluid nodes beside the surface from the listed links (links_wall.c). */
void kf_link_list_wall(const kf_link_box *box, kf_links *links);
/* Removes the law from nodes where layers are laminar: those before the scene's trip, or all nodes. Without
 * an inflow it removes none. A trip behind the solid's end is refused. */
kf_status kf_link_trip_wall(kf_scene *scene, kf_error *error);
/* Returns the length of the solid along the fastest inflow, in cells, times that inflow's speed. */
double kf_link_reach(const kf_scene *scene, double *speed);
/* Lists the nodes of the solid's layers, for a model of them, behind an inflow (links_layer.c). */
void kf_link_list_layer(kf_scene *scene);

#endif
