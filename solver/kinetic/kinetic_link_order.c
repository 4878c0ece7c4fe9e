/* The links of a device: the part's share of the scene's links, and their order. The lanes of a warp each
 * have a node, and their links are consecutive (kernels/kinetic/arguments.h). */
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "scene/links.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic.h"

/* Returns how far a node lies beyond the part's rows (axis 1) or planes (axis 2): 0 among them, negative
 * below. */
static int distance_beyond(const kf_scene *scene, const kf_kinetic *kinetic, const int node[3], int axis) {
    const int first = axis == 1 ? kinetic->first_row : kinetic->first_plane,
              last = first - 1 + (axis == 1 ? kinetic->rows : kinetic->planes), n = scene->nodes[axis];
    const bool ring = scene->faces[2 * axis] == KF_PERIODIC;
    if (node[axis] >= first && node[axis] <= last) return 0;
    const int below = node[axis] < first ? first - node[axis]
                      : ring             ? first + n - node[axis]
                                         : n,
              above = node[axis] > last ? node[axis] - last
                      : ring            ? node[axis] + n - last
                                        : n;
    return below <= above ? -below : above;
}

static bool is_own(const kf_scene *scene, const kf_kinetic *kinetic, const int node[3]) {
    return distance_beyond(scene, kinetic, node, 1) == 0 && distance_beyond(scene, kinetic, node, 2) == 0;
}

/* Returns whether a node is of another part, of which this part has a copy beside its own nodes. */
static bool is_copy_beside(const kf_plan *plan, const kf_kinetic *kinetic, const int node[3]) {
    const kf_scene *scene = kf_plan_scene(plan);
    const int rows = distance_beyond(scene, kinetic, node, 1),
              planes = distance_beyond(scene, kinetic, node, 2);
    if ((rows == 0 && planes == 0) || abs(rows) > 1 || abs(planes) > 1) return false;
    return kinetic->options.transfer != KF_DIRECT || kf_kinetic_is_copied(plan, kinetic->part, planes > 0);
}

/* Returns whether the part computes a link. Besides the links of its own nodes it computes links of copied
 * nodes: those that lead to its own inner nodes, which averages over the domain include, and by a law of the
 * wall all of them, because its nodes pull what the law has pushed. */
static bool takes_link(const kf_plan *plan, const kf_kinetic *kinetic, const kf_link *link) {
    const kf_scene *scene = kf_plan_scene(plan);
    if (is_own(scene, kinetic, link->at[0].node)) return true;
    if (scene->links.wall_count == 0 && !(kinetic->adaptive && is_own(scene, kinetic, link->inner.node)))
        return false;
    return is_copy_beside(plan, kinetic, link->at[0].node);
}

/* Copies the part's nodes inside, and those copied beside them, from which its own ones pull. A step resets
 * those that the flow touches. */
static void take_inside(const kf_plan *plan, const kf_kinetic *kinetic, kf_links *own) {
    const kf_links *all = &kf_plan_scene(plan)->links;
    own->inside = kf_allocate((all->inside_count + 1) * sizeof *own->inside);
    for (size_t n = 0; n < all->inside_count; n++) {
        if (!is_own(kf_plan_scene(plan), kinetic, all->inside[n]) &&
            !is_copy_beside(plan, kinetic, all->inside[n]))
            continue;
        memcpy(own->inside[own->inside_count++], all->inside[n], sizeof *own->inside);
        own->shell_count += n < all->shell_count;
    }
}

/* Copies the nodes beside the surface whose links the part computes. Their links follow each other as in the
 * scene. */
static void take_wall(const kf_plan *plan, kf_kinetic *kinetic) {
    const kf_links *all = &kf_plan_scene(plan)->links;
    kf_links *own = &kinetic->links;
    own->wall = kf_allocate((all->wall_count + 1) * sizeof *own->wall);
    kinetic->wall_order = kf_allocate((all->wall_count + 1) * sizeof *kinetic->wall_order);
    for (size_t n = 0, first = 0; n < all->wall_count; n++) {
        kf_wall_node *wall = &own->wall[own->wall_count];
        if (!takes_link(plan, kinetic, &all->link[all->wall[n].first])) continue;
        *wall = all->wall[n];
        wall->first = first;
        first += wall->count;
        kinetic->wall_order[own->wall_count++] = (int)n;
    }
}

/* Lists the scene's links that the part computes, in the order in which its device reads them. */
void kf_kinetic_take_links(const kf_plan *plan, kf_kinetic *kinetic) {
    const kf_links *all = &kf_plan_scene(plan)->links;
    kf_links *own = &kinetic->links;
    int *numbers = kf_allocate((all->count + 1) * sizeof *numbers);
    own->link = kf_allocate((all->count + 1) * sizeof *own->link);
    for (size_t n = 0; n < all->count; n++) {
        if (!takes_link(plan, kinetic, &all->link[n])) continue;
        numbers[own->count] = (int)n;
        own->link[own->count++] = all->link[n];
    }
    take_inside(plan, kinetic, own);
    take_wall(plan, kinetic);
    kinetic->link_order = kf_allocate((own->count + 1) * sizeof *kinetic->link_order);
    kf_kinetic_order_links(own, kinetic->link_order, NULL);
    for (size_t n = 0; n < own->count; n++)
        kinetic->link_order[n] = numbers[kinetic->link_order[n]];
    free(numbers);
}

void kf_kinetic_free_links(kf_kinetic *kinetic) {
    kf_links_free(&kinetic->links);
    free(kinetic->link_order);
    free(kinetic->wall_order);
}

/* Returns the first link behind those of the node that has link n. */
static size_t end_of_node(const kf_links *links, size_t n) {
    const int *node = links->link[n].at[0].node;
    while (n < links->count && memcmp(links->link[n].at[0].node, node, 3 * sizeof *node) == 0)
        n++;
    return n;
}

/* Orders links by groups of as many nodes as a warp has lanes. The first link of each node comes first, then
 * the second, so a warp reads consecutive places. */
void kf_kinetic_order_links(const kf_links *links, int *order, kf_link_row *rows) {
    size_t first[KF_LINK_LANES + 1], place = 0;
    for (size_t n = 0; n < links->count; rows += rows != NULL ? KF_LINK_ROWS : 0) {
        int lanes = 0;
        for (first[0] = n; lanes < KF_LINK_LANES && n < links->count; first[++lanes] = n)
            n = end_of_node(links, n);
        unsigned all = 1;
        for (size_t number = 0; all != 0; number++) {
            const size_t begin = place;
            all = 0;
            for (int lane = 0; lane < lanes; lane++)
                if (first[lane] + number < first[lane + 1]) {
                    if (order != NULL) order[place] = (int)(first[lane] + number);
                    place++;
                    all |= 1U << lane;
                }
            if (rows != NULL && all != 0) rows[number] = (kf_link_row){(int)begin, all};
        }
    }
}

size_t kf_kinetic_link_bytes(const kf_kinetic *kinetic, size_t count) {
    return (2 * count + 1) * kinetic->real_bytes;
}

/* Moves what a part's memory has of its own nodes' links to the places of the scene's links, or to the part
 * what it has of all links that it computes. Both have the share of the sum between their halves. */
static void move_memory(const kf_scene *scene, const kf_kinetic *kinetic, char *all, char *own,
                        bool to_scene) {
    const size_t all_count = scene->links.count, count = kinetic->links.count, size = kinetic->real_bytes;
    for (size_t half = 0; half < 2; half++)
        for (size_t n = 0; n < count; n++) {
            const size_t number = (size_t)kinetic->link_order[n];
            char *here = own + size * (half * (count + 1) + n),
                 *there = all + size * (half * (all_count + 1) + number);
            if (!to_scene)
                memcpy(here, there, size);
            else if (is_own(scene, kinetic, scene->links.link[number].at[0].node))
                memcpy(there, here, size);
        }
    memcpy(to_scene ? all + size * all_count : own + size * count,
           to_scene ? own + size * count : all + size * all_count, size);
}

/* Gathers the parts' memories in the order of the scene's links. One process gives the share of the sum. */
kf_status kf_kinetic_save_links(kf_plan *plan, char *all, kf_error *error) {
    const kf_kinetic *kinetics = plan->system;
    const size_t count = kf_plan_scene(plan)->links.count, bytes = kf_kinetic_link_bytes(kinetics, count);
    char *merged = kf_allocate_zeroed(bytes + sizeof(int64_t), 1);
    kf_status status = KF_OK;
    for (int part = 0; part < plan->part_count && status == KF_OK; part++) {
        const size_t own_bytes = kf_kinetic_link_bytes(&kinetics[part], kinetics[part].links.count);
        char *own = kf_allocate(own_bytes);
        status = kf_buffer_download(kinetics[part].link_memory, 0, own, own_bytes, error);
        if (status == KF_OK) move_memory(kf_plan_scene(plan), &kinetics[part], merged, own, true);
        free(own);
    }
    if (plan->first_part > 0) memset(merged + kinetics->real_bytes * count, 0, kinetics->real_bytes);
    if (status == KF_OK) status = kf_world_merge(merged, bytes, error);
    if (all != NULL) memcpy(all, merged, bytes);
    free(merged);
    return status;
}

kf_status kf_kinetic_restore_links(const kf_plan *plan, const kf_kinetic *kinetic, const char *all,
                                   kf_error *error) {
    const size_t count = kf_plan_scene(plan)->links.count, bytes = kf_kinetic_link_bytes(kinetic, count),
                 own_bytes = kf_kinetic_link_bytes(kinetic, kinetic->links.count);
    char *given = kf_allocate(bytes), *own = kf_allocate(own_bytes);
    memcpy(given, all, bytes);
    move_memory(kf_plan_scene(plan), kinetic, given, own, false);
    const kf_status status = kf_buffer_upload(kinetic->link_memory, 0, own, own_bytes, error);
    free(given);
    free(own);
    return status;
}
