/* Finds the nodes beside a solid by links, for a law of the wall. For each node it finds its links, the
 * orientation of the surface, and the node further out whose velocity the law uses. */
#include <math.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/links.h"

/* The number of steps along the normal. */
enum { FARTHEST = 3 };
/* The sum of a node's normals is at least this share of its links' area. */
static const double ONE_SIDED = 0.5;
/* Two links of a node meet at a sharp edge if their normals differ by more than this angle, and by more than
 * this angle for each cell between the points where they meet the surface: no rounding of two cells or more
 * has such links. */
static const double SHARP = 0.5;
/* A link that goes into the surface by less than this, in cells, only grazes it. The side that its normal
 * points to is uncertain then. */
static const double GRAZES = 0.1;
/* The law uses a velocity at about this distance from the surface, in cells. */
static const double MATCH = 2.0;

int kf_link_round(double step) {
    const int steps = (int)(fabs(step) + 0.5 - 1e-6);
    return step < 0.0 ? -steps : steps;
}

static bool same_node(const int one[3], const int other[3]) {
    return one[0] == other[0] && one[1] == other[1] && one[2] == other[2];
}

/* Returns the lattice weight of a link's direction. */
static double weight_of(const signed char c[3]) {
    static const double of_axis[2] = {2.0 / 3.0, 1.0 / 6.0};
    return of_axis[c[0] != 0] * of_axis[c[1] != 0] * of_axis[c[2] != 0];
}

/* Returns how far a link goes into the surface, in cells. */
static double depth_of(const kf_link *link) {
    const signed char *c = link->at[0].direction;
    return -(link->normal[0] * c[0] + link->normal[1] * c[1] + link->normal[2] * c[2]);
}

/* Sums a node's links: normal and area of the surface, of which a link stands for 6 w (c . n). Returns the
 * node's distance from the surface. On a plane the areas of all links sum to that of the plane. Between two
 * surfaces the normals cancel, and it returns 0, because a law of one wall does not apply there. */
static double add_up(const kf_links *links, kf_wall_node *wall) {
    double distance = 0.0;
    for (size_t n = wall->first; n < wall->first + wall->count; n++) {
        const kf_link *link = &links->link[n];
        const double into = depth_of(link), area = 6.0 * weight_of(link->at[0].direction) * into;
        for (int a = 0; a < 3; a++)
            wall->normal[a] += area * link->normal[a];
        wall->area += area;
        distance += area * link->share * into;
    }
    const double length = kf_length(wall->normal);
    for (int a = 0; a < 3; a++)
        wall->normal[a] = length > 0.0 ? wall->normal[a] / length : 0.0;
    return wall->area > 0.0 && length > ONE_SIDED * wall->area ? distance / wall->area : 0.0;
}

/* Returns the squared distance of the points where two links of a node meet the surface, and how far the
 * surface bends away from the fluid between them: the difference of their normals along that distance. */
static double compare(const kf_link *one, const kf_link *other, double *bend) {
    double squared = 0.0;
    *bend = 0.0;
    for (int a = 0; a < 3; a++) {
        const double apart = one->share * one->at[0].direction[a] - other->share * other->at[0].direction[a];
        squared += apart * apart;
        *bend += apart * (one->normal[a] - other->normal[a]);
    }
    return squared;
}

/* Returns whether a node is at a sharp edge from which the fluid leaves. */
static bool at_edge(const kf_links *links, const kf_wall_node *wall) {
    for (size_t n = wall->first; n < wall->first + wall->count; n++)
        for (size_t m = wall->first; m < n; m++) {
            const kf_link *one = &links->link[n], *other = &links->link[m];
            if (depth_of(one) < GRAZES || depth_of(other) < GRAZES) continue;
            double bend;
            const double squared = compare(one, other, &bend),
                         angle = acos(fmin(1.0, kf_dot(one->normal, other->normal)));
            if (bend > 0.0 && angle > SHARP && angle * angle > SHARP * SHARP * squared) return true;
        }
    return false;
}

/* Turns a node towards the next one along a normal. gone: the way from the first node, which gets that to the
 * next. Returns false if that is the same node. */
static bool turn(const double normal[3], int step, int gone[3], kf_link_node *at) {
    bool moves = false;
    for (int a = 0; a < 3; a++) {
        const int next = kf_link_round(step * normal[a]);
        at->direction[a] = (signed char)(next - gone[a]);
        moves = moves || next != gone[a];
        gone[a] = next;
    }
    return moves;
}

/* Moves to the next node, over a link that neither a surface nor a mirror cuts; returns whether there is one.
 */
static bool go_on(const kf_link_box *b, kf_link_node *at) {
    const kf_link_node before = *at;
    return kf_link_pass(b, at) && memcmp(at->direction, before.direction, sizeof before.direction) == 0;
}

/* Steps from node to node along the normal. Keeps the node whose distance from the surface is nearest to
 * MATCH. */
static void look_out(const kf_link_box *b, const kf_link *link, double distance, kf_wall_node *wall) {
    kf_link_node at = link->at[0];
    int gone[3] = {0, 0, 0};
    memcpy(wall->seen, at.node, sizeof at.node);
    wall->height = wall->distance = distance;
    if (!(distance > 0.0)) return;
    for (int step = 1; step <= FARTHEST; step++) {
        double height = distance;
        if (!turn(wall->normal, step, gone, &at)) continue;
        if (!go_on(b, &at) || !b->fluid[kf_link_node_index(b, at.node)]) return;
        for (int a = 0; a < 3; a++)
            height += gone[a] * wall->normal[a];
        if (fabs(height - MATCH) >= fabs(wall->height - MATCH)) continue;
        memcpy(wall->seen, at.node, sizeof at.node);
        wall->height = height;
    }
}

/* Returns the number of steps along the normal that no surface cuts. The box holds all surfaces, so beyond it
 * all steps are open; the end of the domain is not looked for. */
static int count_open(const kf_link_box *b, const kf_link *link, const kf_wall_node *wall) {
    kf_link_node at = link->at[0];
    int gone[3] = {0, 0, 0};
    for (int step = 1; step <= KF_LINK_OPEN; step++) {
        if (!turn(wall->normal, step, gone, &at)) continue;
        if (kf_link_cut(b, &at)) return step - 1;
        if (!go_on(b, &at)) return KF_LINK_OPEN;
    }
    return KF_LINK_OPEN;
}

void kf_link_list_wall(const kf_link_box *b, kf_links *links) {
    size_t nodes = 0;
    links->wall = kf_allocate_zeroed(links->count + 1, sizeof *links->wall);
    for (size_t n = 0; n < links->count; n += links->wall[nodes++].count) {
        kf_wall_node *wall = &links->wall[nodes];
        const int *node = links->link[n].at[0].node;
        wall->first = n;
        while (n + wall->count < links->count && same_node(links->link[n + wall->count].at[0].node, node))
            wall->count++;
        const double distance = add_up(links, wall);
        look_out(b, &links->link[n], at_edge(links, wall) ? 0.0 : distance, wall);
        if (b->scene->layers) wall->open = count_open(b, &links->link[n], wall);
    }
    links->wall_count = nodes;
}

bool kf_scene_turbulent_at(const kf_scene *scene, const double position[3]) {
    double stream[3], behind = 0.0;
    const double speed = kf_scene_fastest_face(scene, KF_INFLOW, stream);
    for (int a = 0; a < 3; a++)
        behind += stream[a] * (position[a] - (stream[a] > 0.0 ? scene->solid_low[a] : scene->solid_high[a]));
    return scene->wall_law && !scene->laminar && !(scene->trip > 0.0 && behind < scene->trip * speed);
}

double kf_link_reach(const kf_scene *scene, double *speed) {
    double stream[3], reach = 0.0;
    *speed = kf_scene_fastest_face(scene, KF_INFLOW, stream);
    for (int a = 0; a < 3; a++)
        reach += fabs(stream[a]) * (scene->solid_high[a] - scene->solid_low[a]);
    return reach;
}

/* Lengths along the wind are multiplied by the wind's speed here */
kf_status kf_link_trip_wall(kf_scene *scene, kf_error *error) {
    kf_links *links = &scene->links;
    double speed;
    const double reach = kf_link_reach(scene, &speed);
    if (!(speed > 0.0)) return KF_OK;
    if (scene->trip * speed >= reach)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: model.trip: %g m behind the solid's front is behind its end, because it is %.4g m long "
            "along the wind. The law would act nowhere; give a shorter distance in metres, or "
            "remove \"wall\": \"law\"",
            scene->source, scene->trip * scene->cell_size, reach / speed * scene->cell_size);
    scene->laminar = scene->trip < 0.0 && reach < KF_LAMINAR_REYNOLDS * scene->viscosity;
    for (size_t n = 0; n < links->wall_count; n++) {
        const int *node = links->link[links->wall[n].first].at[0].node;
        if (!kf_scene_turbulent_at(scene, (const double[3]){node[0], node[1], node[2]}))
            links->wall[n].height = 0.0;
    }
    return KF_OK;
}
