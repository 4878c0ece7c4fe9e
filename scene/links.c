/* Finds the links between neighbouring nodes that a solid's surface cuts, and the nodes that the stream does
 * not reach. Nodes are flooded from outside over links that are not cut. So the winding of triangles has no
 * effect, and a thin sheet has fluid on both sides. */
#include "scene/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "base/util/vector.h"

enum { RIM = 4, CENTER = 13 };

void kf_link_direction(int d, int c[3]) {
    const int code = d < CENTER ? d : d + 1;
    c[0] = code % 3 - 1;
    c[1] = code / 3 % 3 - 1;
    c[2] = code / 9 - 1;
}

size_t kf_link_node_index(const kf_link_box *b, const int at[3]) {
    return (size_t)(at[0] - b->low[0]) +
           (size_t)b->length[0] *
               ((size_t)(at[1] - b->low[1]) + (size_t)b->length[1] * (size_t)(at[2] - b->low[2]));
}

bool kf_link_mirrors(const kf_scene *scene, int face) {
    return scene->faces[face] == KF_FREE_SLIP || scene->specular_share[face] > 0.0;
}

static void position_of(const kf_link_box *b, size_t index, int at[3]) {
    const size_t row = (size_t)b->length[0], plane = row * (size_t)b->length[1];
    at[0] = b->low[0] + (int)(index % row);
    at[1] = b->low[1] + (int)(index % plane / row);
    at[2] = b->low[2] + (int)(index / plane);
}

static bool holds(const kf_link_box *b, const int at[3]) {
    for (int a = 0; a < 3; a++)
        if (at[a] < b->low[a] || at[a] >= b->low[a] + b->length[a]) return false;
    return true;
}

/* Follows a link from a node; a mirror changes the direction. Returns whether the link leads to a node.
 * Walls, inflows and outflows end it. */
static bool follow(const kf_scene *scene, kf_link_node *n) {
    for (int a = 0; a < 3; a++) {
        const int next = n->node[a] + n->direction[a];
        const bool high = next >= scene->nodes[a];
        n->node[a] = next;
        if (next >= 0 && !high) continue;
        if (scene->faces[2 * a] == KF_PERIODIC) {
            n->node[a] = high ? 0 : scene->nodes[a] - 1;
        } else if (kf_link_mirrors(scene, 2 * a + high)) {
            n->node[a] = high ? next - 1 : next + 1;
            n->direction[a] = (signed char)-n->direction[a];
        } else {
            return false;
        }
    }
    return true;
}

static int number_of(const signed char c[3]) {
    const int code = c[0] + 1 + 3 * (c[1] + 1) + 9 * (c[2] + 1);
    return code < CENTER ? code : code - 1;
}

bool kf_link_cut(const kf_link_box *b, const kf_link_node *from) {
    return (b->cut[kf_link_node_index(b, from->node)] >> number_of(from->direction) & 1U) != 0;
}

bool kf_link_pass(const kf_link_box *b, kf_link_node *n) {
    return !kf_link_cut(b, n) && follow(b->scene, n) && holds(b, n->node);
}

static kf_link_node begin_at(const int at[3], int d) {
    kf_link_node n;
    int c[3];
    kf_link_direction(d, c);
    for (int a = 0; a < 3; a++) {
        n.node[a] = at[a];
        n.direction[a] = (signed char)c[a];
    }
    return n;
}

/* Marks the nodes beyond the solid's extent along an axis whose seam it does not cross, and lists them in the
 * stack; returns how many. */
static size_t mark_outside(kf_link_box *b, size_t *stack) {
    size_t depth = 0;
    for (size_t n = 0; n < b->nodes && !kf_interrupted; n++) {
        int at[3];
        position_of(b, n, at);
        bool outside = false;
        for (int a = 0; a < 3; a++)
            outside = outside || (!b->ring[a] && (at[a] < b->scene->solid_low[a] - 1.0 ||
                                                  at[a] > b->scene->solid_high[a] + 1.0));
        b->fluid[n] = outside;
        if (outside) stack[depth++] = n;
    }
    return depth;
}

/* Floods the box from the nodes in the stack, which has room for all; returns how many are new. */
static size_t flood(kf_link_box *b, size_t *stack, size_t depth) {
    size_t reached = 0;
    while (depth > 0 && !kf_interrupted) {
        int at[3];
        position_of(b, stack[--depth], at);
        for (int d = 0; d < KF_LINK_DIRECTIONS; d++) {
            kf_link_node next = begin_at(at, d);
            if (!kf_link_pass(b, &next)) continue;
            const size_t index = kf_link_node_index(b, next.node);
            if (b->fluid[index]) continue;
            b->fluid[index] = 1;
            stack[depth++] = index;
            reached++;
        }
    }
    return reached;
}

static size_t flood_from(kf_link_box *b, size_t *stack, size_t node) {
    b->fluid[node] = 1;
    stack[0] = node;
    return 1 + flood(b, stack, 1);
}

/* Finds the nodes of the fluid. They are what the stream reaches from outside the solid's extent. For a solid
 * that spans the domain they are the largest region that its surface leaves. */
static void find_fluid(kf_link_box *b) {
    size_t *stack = kf_allocate(b->nodes * sizeof *stack), most = 0, first = 0;
    const size_t outside = mark_outside(b, stack);
    (void)flood(b, stack, outside);
    for (size_t n = 0; outside == 0 && n < b->nodes && !kf_interrupted; n++) {
        const size_t reached = b->fluid[n] ? 0 : flood_from(b, stack, n);
        if (reached > most) first = n;
        if (reached > most) most = reached;
    }
    if (outside == 0) {
        memset(b->fluid, 0, b->nodes);
        (void)flood_from(b, stack, first);
    }
    free(stack);
}

static void turn_back(kf_link_node *n) {
    for (int a = 0; a < 3; a++)
        n->direction[a] = (signed char)-n->direction[a];
}

/* Returns whether the link at a node crosses a wall that mirrors only a share. Beyond it there is no flow to
 * interpolate. */
static bool meets_wall(const kf_scene *scene, const kf_link_node *n) {
    for (int a = 0; a < 3; a++) {
        const int next = n->node[a] + n->direction[a];
        const bool high = next >= scene->nodes[a];
        if ((next < 0 || high) && scene->faces[2 * a + high] == KF_WALL) return true;
    }
    return false;
}

/* Finds the nodes behind the outer one, away from the surface, that the fluid reaches directly. */
static void find_behind(const kf_link_box *b, kf_link *link) {
    kf_link_node next = link->at[0];
    turn_back(&next);
    for (link->behind = 0; link->behind < KF_LINK_BEHIND; link->behind++) {
        if (meets_wall(b->scene, &next) || !kf_link_pass(b, &next) ||
            !b->fluid[kf_link_node_index(b, next.node)])
            return;
        link->at[link->behind + 1] = next;
        turn_back(&link->at[link->behind + 1]);
    }
}

/* Returns whether one of the hits before the next has the same normal, or the opposite one. */
static bool has_normal(const kf_link_hit *hits, size_t count) {
    for (size_t h = 0; h < count; h++)
        if (fabs(kf_dot(hits[h].normal, hits[count].normal)) > KF_LINK_PARALLEL) return true;
    return false;
}

/* Returns whether a link meets the surface where that lies in a mirror of the domain. The bottom of a solid
 * that stands on a mirror is no surface, because the image continues the solid. */
static bool lies_in_mirror(const kf_scene *scene, const kf_link_node *from, const kf_link_hit *hit) {
    for (int a = 0; a < 3; a++) {
        const double place = from->node[a] + hit->share * from->direction[a],
                     faces[2] = {-0.5, scene->nodes[a] - 0.5};
        for (int high = 0; high < 2 && fabs(hit->normal[a]) > KF_LINK_PARALLEL; high++)
            if (fabs(place - faces[high]) < KF_LINK_ONE_PLACE && kf_link_mirrors(scene, 2 * a + high))
                return true;
    }
    return false;
}

/* Adds up the normals of different faces where a link meets the surface first. */
static double add_normals(const kf_scene *scene, const kf_link *link, const kf_link_hit *hits, size_t count,
                          bool mirrored, double sum[3]) {
    const signed char *c = link->at[0].direction;
    const double way[3] = {c[0], c[1], c[2]};
    for (size_t h = 0; h < count && hits[h].share - hits->share < KF_LINK_ONE_PLACE; h++) {
        const double sign = kf_dot(hits[h].normal, way) > 0.0 ? -1.0 : 1.0;
        const bool left_out = !mirrored && lies_in_mirror(scene, &link->at[0], &hits[h]);
        for (int a = 0; a < 3 && !left_out && !has_normal(hits, h); a++)
            sum[a] += sign * hits[h].normal[a];
    }
    return kf_length(sum);
}

/* Sets the normal of the surface where a link meets it, on the side of the link's node. On an edge it is the
 * mean of the faces' normals. */
static void set_normal(const kf_scene *scene, kf_link *link, const kf_link_hit *hits, size_t count) {
    double sum[3] = {0.0, 0.0, 0.0}, length = add_normals(scene, link, hits, count, false, sum);
    if (!(length > 0.0)) length = add_normals(scene, link, hits, count, true, sum);
    for (int a = 0; a < 3; a++)
        link->normal[a] = sum[a] / length;
}

bool kf_link_joins_fluid(const kf_link_box *b, uint64_t link) {
    int at[3];
    position_of(b, link / KF_LINK_DIRECTIONS, at);
    kf_link_node inner = begin_at(at, (int)(link % KF_LINK_DIRECTIONS));
    return b->fluid[kf_link_node_index(b, at)] && follow(b->scene, &inner) && holds(b, inner.node) &&
           b->fluid[kf_link_node_index(b, inner.node)];
}

/* Lists the links of the fluid's nodes, each with its first intersection of the surface. */
static void list_links(const kf_link_box *b, kf_links *links) {
    links->link = kf_allocate((b->count + 1) * sizeof *links->link);
    for (size_t h = 0, end = 0; h < b->count; h = end) {
        int at[3];
        for (end = h; end < b->count && b->hits[end].link == b->hits[h].link;)
            end++;
        position_of(b, b->hits[h].link / KF_LINK_DIRECTIONS, at);
        kf_link *link = &links->link[links->count];
        memset(link, 0, sizeof *link);
        link->at[0] = link->inner = begin_at(at, (int)(b->hits[h].link % KF_LINK_DIRECTIONS));
        if (!b->fluid[kf_link_node_index(b, at)] || !follow(b->scene, &link->inner)) continue;
        link->share = b->hits[h].share;
        set_normal(b->scene, link, b->hits + h, end - h);
        links->thin_count += b->fluid[kf_link_node_index(b, link->inner.node)];
        if (!b->scene->half_way) find_behind(b, link);
        links->count++;
    }
}

/* Returns whether the flow touches a node inside, from beside the surface or at a face of the domain. */
static bool is_touched(const kf_link_box *b, const int at[3]) {
    for (int d = 0; d < KF_LINK_DIRECTIONS; d++) {
        kf_link_node next = begin_at(at, d);
        if (!follow(b->scene, &next)) return true;
        if (holds(b, next.node) && b->fluid[kf_link_node_index(b, next.node)]) return true;
    }
    return false;
}

/* Lists the nodes inside. Those that the flow touches come first. */
static void list_inside(const kf_link_box *b, kf_links *links) {
    size_t inside = 0;
    for (size_t n = 0; n < b->nodes; n++)
        inside += !b->fluid[n];
    links->inside = kf_allocate((inside + 1) * sizeof *links->inside);
    for (int deep = 0; deep < 2; deep++) {
        for (size_t n = 0; n < b->nodes && !kf_interrupted; n++) {
            int at[3];
            position_of(b, n, at);
            if (!b->fluid[n] && is_touched(b, at) == (deep == 0))
                memcpy(links->inside[links->inside_count++], at, sizeof at);
        }
        if (deep == 0) links->shell_count = links->inside_count;
    }
}

/* Sets the box: the solid and a margin of some nodes. It is the whole periodic axis when the solid crosses
 * the seam. */
static void lay_out(kf_link_box *b) {
    const kf_scene *scene = b->scene;
    b->nodes = 1;
    for (int a = 0; a < 3; a++) {
        const double low = floor(scene->solid_low[a]) - RIM, end = ceil(scene->solid_high[a]) + RIM + 1;
        const bool all = scene->faces[2 * a] == KF_PERIODIC && (low < 0.0 || end > scene->nodes[a]);
        b->ring[a] = all;
        b->low[a] = all ? 0 : (int)fmin(fmax(low, 0.0), scene->nodes[a] - 1);
        b->length[a] = (all ? scene->nodes[a] : (int)fmin(fmax(end, 1.0), scene->nodes[a])) - b->low[a];
        b->nodes *= (size_t)b->length[a];
    }
}

double kf_scene_link_work(const kf_scene *scene) {
    kf_link_box b = {.scene = scene};
    lay_out(&b);
    return (double)b.nodes + kf_link_box_work(&b);
}

/* Prints how much memory a large scene needs, before its links are searched. */
static void tell_claims(const kf_scene *scene, const kf_link_box *b) {
    static const double NODE_BYTES = sizeof(uint32_t) + 1 + sizeof(size_t);
    char memory[32];
    if ((double)b->nodes < KF_MANY_NODES && kf_link_box_work(b) < KF_MANY_NODES) return;
    kf_info("%s: the links of the solid are found first, among %.3g nodes around it, for which %s are taken; "
            "that may take minutes",
            scene->source, (double)b->nodes, kf_human_bytes(NODE_BYTES * (double)b->nodes, memory));
}

/* Finds the cut links. The steps are: hits of the mesh, nodes that the stream reaches, and removal of cuts
 * that only graze an edge. Then it lists links, inner nodes and nodes of the wall. */
kf_status kf_scene_cut_links(kf_scene *scene, kf_error *error) {
    kf_link_box b = {.scene = scene};
    kf_links *links = &scene->links;
    kf_links_free(links);
    KF_TRY(kf_scene_check_moving_links(scene, error));
    lay_out(&b);
    tell_claims(scene, &b);
    b.cut = kf_allocate_zeroed(b.nodes, sizeof *b.cut);
    b.fluid = kf_allocate_zeroed(b.nodes, 1);
    kf_link_box_cut(&b);
    find_fluid(&b);
    kf_link_box_drop_slivers(&b);
    list_links(&b, links);
    list_inside(&b, links);
    if (scene->wall_law) kf_link_list_wall(&b, links);
    free(b.hits);
    free(b.cut);
    free(b.fluid);
    if (links->count > 0 && scene->wall_law && !kf_interrupted) KF_TRY(kf_link_trip_wall(scene, error));
    if (scene->layers && !kf_interrupted) kf_link_list_layer(scene);
    if (kf_interrupted)
        return kf_fail(error, KF_INTERRUPTED, "interrupted while the links of %s were cut", scene->source);
    if (links->count > 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: solid.boundary: the stream reaches none of the links that the solid's surface cuts; "
                   "move the solid, make it larger than a cell, or use \"immersed\"",
                   scene->source);
}

void kf_links_free(kf_links *links) {
    free(links->link);
    free(links->inside);
    free(links->wall);
    free(links->layer);
    *links = (kf_links){0};
}
