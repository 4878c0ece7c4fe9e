/* Lists the fluid nodes of the turbulent layers on a solid by links, for a model of their viscosity
 * (kernels/kinetic/layer.h). Each node belongs to the nearest node beside the surface. */
#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "base/util/program.h"
#include "scene/links.h"

/* Nodes are listed up to this many times the thickness that a layer has at the solid's end. */
static const double MARGIN = 1.5;
/* Least and largest depth of the list, in cells. */
enum { LEAST_DEPTH = 4, MOST_DEPTH = KF_LINK_OPEN };
/* A node belongs to nodes beside the surface whose normals pass it at less than this distance, in cells. */
static const double ASIDE = 1.5;
/* Distances count as equal up to this. */
static const double SAME = 1e-9;

double kf_scene_layer_thickness(const kf_scene *scene) {
    double speed;
    const double reach = kf_link_reach(scene, &speed);
    return speed > 0.0 ? 0.37 * reach / speed * pow(reach / scene->viscosity, -0.2) : 0.0;
}

/* Numbers of the nodes beside the surface by planes of the grid, and what is known of one plane. */
typedef struct plane {
    const kf_scene *scene;
    double stream[3];
    size_t *first; /* of each plane, the first node beside the surface; one more at the end */
    int z, depth;
    int *wall;      /* [y][x] the best node beside the surface, -1: none */
    double *rank;   /* the smallest belongs to the nearest surface */
    double *behind; /* how far along the stream its node beside the surface is */
    double *out;    /* distance from the surface */
} plane;

/* Returns the position along an axis within the grid, around a periodic axis; -1: outside. */
static int place_along(const kf_scene *scene, int axis, int at) {
    const int nodes = scene->nodes[axis];
    if (at >= 0 && at < nodes) return at;
    return scene->faces[2 * axis] == KF_PERIODIC ? (at % nodes + nodes) % nodes : -1;
}

/* Offers a node of the plane to a node beside the surface, if it lies along its normal. by: the way to it. Of
 * two nodes beside the surface that are equally good, the one further up the stream takes it. */
static void offer(plane *p, const kf_wall_node *wall, int number, const int node[3], const int by[3]) {
    const int x = place_along(p->scene, 0, node[0] + by[0]), y = place_along(p->scene, 1, node[1] + by[1]);
    if (x < 0 || y < 0) return;
    double out = 0.0, squared = 0.0, behind = 0.0;
    for (int a = 0; a < 3; a++) {
        out += by[a] * wall->normal[a];
        squared += (double)by[a] * by[a];
        behind -= by[a] * p->stream[a];
    }
    const double aside = squared - out * out, distance = wall->distance + out, rank = distance + aside;
    const size_t at = (size_t)x + (size_t)p->scene->nodes[0] * (size_t)y;
    if (aside > ASIDE * ASIDE + SAME || distance <= SAME || out > p->depth + SAME) return;
    if (rank > p->rank[at] + SAME) return;
    if (rank > p->rank[at] - SAME && behind >= p->behind[at] - SAME) return;
    p->wall[at] = number;
    p->rank[at] = rank;
    p->behind[at] = behind;
    p->out[at] = distance;
}

/* Offers all nodes of the plane around the normal of a node beside the surface. up: the way to the plane. */
static void offer_column(plane *p, const kf_links *links, size_t number, int up) {
    const kf_wall_node *wall = &links->wall[number];
    const int *node = links->link[wall->first].at[0].node;
    for (int j = 0; j <= p->depth && j <= wall->open; j++) {
        if (abs(kf_link_round(j * wall->normal[2]) - up) > 1) continue;
        for (int i = 0; i < 9; i++)
            offer(p, wall, (int)number, node,
                  (const int[3]){kf_link_round(j * wall->normal[0]) + i % 3 - 1,
                                 kf_link_round(j * wall->normal[1]) + i / 3 - 1, up});
    }
}

/* Offers the nodes of the plane to all nodes beside the surface near it; returns whether there are any. */
static bool offer_plane(plane *p, const kf_links *links) {
    const size_t nodes = (size_t)p->scene->nodes[0] * (size_t)p->scene->nodes[1];
    bool any = false;
    for (int up = -p->depth - 1; up <= p->depth + 1; up++) {
        const int z = place_along(p->scene, 2, p->z - up);
        for (size_t n = z < 0 ? 0 : p->first[z], end = z < 0 ? 0 : p->first[z + 1]; n < end; n++) {
            if (!(links->wall[n].height > 0.0)) continue;
            for (size_t at = 0; at < nodes && !any; at++) {
                p->wall[at] = -1;
                p->rank[at] = INFINITY;
            }
            any = true;
            offer_column(p, links, n, up);
        }
    }
    return any;
}

/* Appends the plane's nodes that belong to a surface. */
static void append(kf_links *links, const plane *p, size_t *capacity) {
    const int width = p->scene->nodes[0];
    for (int y = 0; y < p->scene->nodes[1]; y++)
        for (int x = 0; x < width; x++) {
            const size_t at = (size_t)x + (size_t)width * (size_t)y;
            if (p->wall[at] < 0) continue;
            links->layer = kf_grow(links->layer, links->layer_count, capacity, sizeof *links->layer);
            links->layer[links->layer_count++] =
                (kf_layer_node){.node = {x, y, p->z}, .wall = p->wall[at], .height = p->out[at]};
        }
}

/* Counts the nodes beside the surface before each plane; they are sorted by planes. */
static size_t *find_planes(const kf_scene *scene) {
    const kf_links *links = &scene->links;
    size_t *first = kf_allocate_zeroed((size_t)scene->nodes[2] + 1, sizeof *first);
    for (size_t n = 0; n < links->wall_count; n++)
        first[links->link[links->wall[n].first].at[0].node[2] + 1]++;
    for (int z = 0; z < scene->nodes[2]; z++)
        first[z + 1] += first[z];
    return first;
}

void kf_link_list_layer(kf_scene *scene) {
    kf_links *links = &scene->links;
    const double thick = MARGIN * kf_scene_layer_thickness(scene);
    links->layer_depth = (int)fmin(fmax(ceil(thick), LEAST_DEPTH), MOST_DEPTH);
    const size_t nodes = (size_t)scene->nodes[0] * (size_t)scene->nodes[1];
    plane p = {.scene = scene, .depth = links->layer_depth, .first = find_planes(scene)};
    size_t capacity = 0;
    (void)kf_scene_fastest_face(scene, KF_INFLOW, p.stream);
    p.wall = kf_allocate(nodes * sizeof *p.wall);
    p.rank = kf_allocate(nodes * sizeof *p.rank);
    p.behind = kf_allocate(nodes * sizeof *p.behind);
    p.out = kf_allocate(nodes * sizeof *p.out);
    for (p.z = 0; p.z < scene->nodes[2] && !kf_interrupted; p.z++)
        if (offer_plane(&p, links)) append(links, &p, &capacity);
    free(p.first);
    free(p.wall);
    free(p.rank);
    free(p.behind);
    free(p.out);
}
