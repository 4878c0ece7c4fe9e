/* Shared by links.c and links_cut.c: the nodes around a solid, and where the surface meets their links. */
#ifndef KF_SCENE_LINKS_H
#define KF_SCENE_LINKS_H

#include "scene/internal.h"

enum { KF_LINK_DIRECTIONS = 26 };

/* Of a link: hits so near each other are at one place, as on an edge. */
#define KF_LINK_ONE_PLACE 1e-4
/* Faces whose normals have at least this product are parallel. */
#define KF_LINK_PARALLEL 0.999

/* A place where a link meets the surface. */
typedef struct kf_link_hit {
    uint64_t link;    /* node of the box * KF_LINK_DIRECTIONS + direction */
    double share;     /* of the link, from the node on */
    double normal[3]; /* of the surface, to either side */
} kf_link_hit;

/* The part of the domain around the solid. */
typedef struct kf_link_box {
    const kf_scene *scene;
    int low[3], length[3];
    bool ring[3]; /* all of a periodic axis */
    size_t nodes;
    kf_link_hit *hits; /* by link, then by share */
    size_t count, capacity;
    uint32_t *cut;        /* [z][y][x]: a bit a direction */
    unsigned char *fluid; /* likewise: 1 where the stream reaches a node */
} kf_link_box;

/* Direction d, whose opposite is KF_LINK_DIRECTIONS - 1 - d. */
void kf_link_direction(int d, int c[3]);
size_t kf_link_node_index(const kf_link_box *b, const int at[3]);
/* Returns whether populations that cross a face come back as from a mirror half a cell beyond its nodes. */
bool kf_link_mirrors(const kf_scene *scene, int face);
/* Finds hits and cut. */
void kf_link_box_cut(kf_link_box *box);
/* Leaves out where links of the fluid only graze an edge of the solid: of an aligned one the last bits would
 * say which of them are cut, and the flow would not be symmetric. Needs `fluid`. */
void kf_link_box_drop_slivers(kf_link_box *box);
/* Returns whether a link has nodes of the fluid at both ends. */
bool kf_link_joins_fluid(const kf_link_box *box, uint64_t link);
/* Goes over a link that is not cut to a node of the box; returns whether there is one. */
bool kf_link_pass(const kf_link_box *box, kf_link_node *at);
/* Lists the nodes of the fluid beside the surface, of links that are listed (links_wall.c). */
void kf_link_list_wall(const kf_link_box *box, kf_links *links);
/* Takes the law from nodes where layers are laminar: before the scene's trip, or all. Without an inflow there
 * is neither. */
void kf_link_trip_wall(kf_scene *scene);

#endif
