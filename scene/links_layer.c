/* Lists the fluid nodes of the turbulent layers on a solid by links, for a model of their viscosity
 * (kernels/kinetic/layer.h). Each node belongs to the nearest node beside the surface. */
#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/links.h"

/* Nodes are listed up to this many times the thickness that a layer has at the solid's end. */
static const double MARGIN = 1.5;
/* Least and largest depth of the list, in cells. */
enum { LEAST_DEPTH = 4, MOST_DEPTH = 24 };
/* A node belongs to nodes beside the surface whose normals pass it at less than this distance, in cells. */
static const double ASIDE = 1.5;

/* Returns the thickness of a turbulent layer behind a length along the stream, in cells: 0.37 x Re_x^-0.2
 * (Schlichting and Gersten, Boundary-Layer Theory, for a flat plate). */
static double thickness(const kf_scene *scene) {
    double stream[3], reach = 0.0;
    const double speed = kf_scene_fastest_face(scene, KF_INFLOW, stream);
    if (!(speed > 0.0)) return 0.0;
    for (int a = 0; a < 3; a++)
        reach += fabs(stream[a]) * (scene->solid_high[a] - scene->solid_low[a]);
    return 0.37 * reach / speed * pow(reach / scene->viscosity, -0.2);
}

/* The best node beside the surface for each node of a plane of the grid. */
typedef struct plane {
    int z, depth, width, height;
    int *wall;    /* [height][width], -1: none */
    double *rank; /* the smallest belongs to the nearest surface */
    double *out;  /* distance from the surface */
} plane;

/* Offers a node of the plane to a node beside the surface, if it lies along its normal. */
static void offer(plane *p, const kf_wall_node *wall, int number, double first, const int node[3],
                  const int to[3]) {
    if (to[0] < 0 || to[1] < 0 || to[0] >= p->width || to[1] >= p->height) return;
    double out = 0.0, squared = 0.0;
    for (int a = 0; a < 3; a++) {
        const double by = to[a] - node[a];
        out += by * wall->normal[a];
        squared += by * by;
    }
    const double aside = squared - out * out, distance = first + out;
    const size_t at = (size_t)to[0] + (size_t)p->width * (size_t)to[1];
    if (aside > ASIDE * ASIDE || distance <= 0.0 || out > p->depth || distance + aside >= p->rank[at]) return;
    p->wall[at] = number;
    p->rank[at] = distance + aside;
    p->out[at] = distance;
}

/* Offers all nodes of the plane around the normal of a node beside the surface. */
static void offer_column(plane *p, const kf_links *links, size_t number) {
    const kf_wall_node *wall = &links->wall[number];
    const int *node = links->link[wall->first].at[0].node;
    double first = wall->height;
    for (int a = 0; a < 3; a++)
        first -= (wall->seen[a] - node[a]) * wall->normal[a];
    for (int j = 0; j <= p->depth; j++) {
        const int beside = node[2] + (int)floor(j * wall->normal[2] + 0.5);
        if (abs(beside - p->z) > 1) continue;
        for (int i = 0; i < 9; i++) {
            const int to[3] = {node[0] + (int)floor(j * wall->normal[0] + 0.5) + i % 3 - 1,
                               node[1] + (int)floor(j * wall->normal[1] + 0.5) + i / 3 - 1, p->z};
            offer(p, wall, (int)number, first, node, to);
        }
    }
}

/* Appends the plane's nodes that belong to a surface. */
static void append(kf_links *links, const plane *p, size_t *capacity) {
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const size_t at = (size_t)x + (size_t)p->width * (size_t)y;
            if (p->wall[at] < 0) continue;
            links->layer = kf_grow(links->layer, links->layer_count, capacity, sizeof *links->layer);
            links->layer[links->layer_count++] =
                (kf_layer_node){.node = {x, y, p->z}, .wall = p->wall[at], .height = p->out[at]};
        }
}

void kf_link_list_layer(kf_scene *scene) {
    kf_links *links = &scene->links;
    const double thick = MARGIN * thickness(scene);
    links->layer_depth = (int)fmin(fmax(ceil(thick), LEAST_DEPTH), MOST_DEPTH);
    const size_t nodes = (size_t)scene->nodes[0] * (size_t)scene->nodes[1];
    plane p = {.depth = links->layer_depth, .width = scene->nodes[0], .height = scene->nodes[1]};
    size_t capacity = 0;
    p.wall = kf_allocate(nodes * sizeof *p.wall);
    p.rank = kf_allocate(nodes * sizeof *p.rank);
    p.out = kf_allocate(nodes * sizeof *p.out);
    for (p.z = 0; p.z < scene->nodes[2]; p.z++) {
        bool any = false;
        for (size_t n = 0; n < links->wall_count; n++) {
            const int z = links->link[links->wall[n].first].at[0].node[2];
            if (abs(z - p.z) > p.depth + 1 || !(links->wall[n].height > 0.0)) continue;
            if (!any)
                for (size_t at = 0; at < nodes; at++) {
                    p.wall[at] = -1;
                    p.rank[at] = INFINITY;
                }
            any = true;
            offer_column(&p, links, n);
        }
        if (any) append(links, &p, &capacity);
    }
    free(p.wall);
    free(p.rank);
    free(p.out);
}
