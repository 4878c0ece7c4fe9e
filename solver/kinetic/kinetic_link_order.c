/* The links of a device: its part's share of the scene's, and their order, in which the lanes of a warp, each
 * with a node, find theirs side by side (kernels/kinetic/arguments.h). */
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "scene/links.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic.h"

static bool is_own(const kf_kinetic *kinetic, const int node[3]) {
    return node[1] >= kinetic->first_row && node[1] < kinetic->first_row + kinetic->rows &&
           node[2] >= kinetic->first_plane && node[2] < kinetic->first_plane + kinetic->planes;
}

/* Copies the part's nodes inside, and those of them that the flow touches. */
static void take_inside(const kf_links *all, const kf_kinetic *kinetic, kf_links *own) {
    own->inside = kf_allocate((all->inside_count + 1) * sizeof *own->inside);
    for (size_t n = 0; n < all->inside_count; n++) {
        if (!is_own(kinetic, all->inside[n])) continue;
        memcpy(own->inside[own->inside_count++], all->inside[n], sizeof *own->inside);
        own->shell_count += n < all->shell_count;
    }
}

/* Copies the part's nodes beside the surface. Their links follow each other as in the scene. */
static void take_wall(const kf_links *all, kf_kinetic *kinetic) {
    kf_links *own = &kinetic->links;
    own->wall = kf_allocate((all->wall_count + 1) * sizeof *own->wall);
    kinetic->wall_order = kf_allocate((all->wall_count + 1) * sizeof *kinetic->wall_order);
    for (size_t n = 0, first = 0; n < all->wall_count; n++) {
        kf_wall_node *wall = &own->wall[own->wall_count];
        if (!is_own(kinetic, all->link[all->wall[n].first].at[0].node)) continue;
        *wall = all->wall[n];
        wall->first = first;
        first += wall->count;
        kinetic->wall_order[own->wall_count++] = (int)n;
    }
}

void kf_kinetic_take_links(const kf_scene *scene, kf_kinetic *kinetic) {
    const kf_links *all = &scene->links;
    kf_links *own = &kinetic->links;
    int *numbers = kf_allocate((all->count + 1) * sizeof *numbers);
    own->link = kf_allocate((all->count + 1) * sizeof *own->link);
    for (size_t n = 0; n < all->count; n++) {
        if (!is_own(kinetic, all->link[n].at[0].node)) continue;
        numbers[own->count] = (int)n;
        own->link[own->count++] = all->link[n];
    }
    take_inside(all, kinetic, own);
    take_wall(all, kinetic);
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

/* Moves what a part's memory has to the places of the scene's links, or back. Both have the share of the sum
 * between their halves. */
static void move_memory(const kf_kinetic *kinetic, size_t all_count, char *all, char *own, bool to_scene) {
    const size_t count = kinetic->links.count, size = kinetic->real_bytes;
    for (size_t half = 0; half < 2; half++)
        for (size_t n = 0; n < count; n++) {
            char *here = own + size * (half * (count + 1) + n),
                 *there = all + size * (half * (all_count + 1) + (size_t)kinetic->link_order[n]);
            memcpy(to_scene ? there : here, to_scene ? here : there, size);
        }
    memcpy(to_scene ? all + size * all_count : own + size * count,
           to_scene ? own + size * count : all + size * all_count, size);
}

kf_status kf_kinetic_save_links(kf_plan *plan, char *all, kf_error *error) {
    const kf_kinetic *kinetics = plan->system;
    const size_t count = kf_plan_scene(plan)->links.count, bytes = kf_kinetic_link_bytes(kinetics, count);
    char *merged = kf_allocate_zeroed(bytes + sizeof(int64_t), 1);
    kf_status status = KF_OK;
    for (int part = 0; part < plan->part_count && status == KF_OK; part++) {
        const size_t own_bytes = kf_kinetic_link_bytes(&kinetics[part], kinetics[part].links.count);
        char *own = kf_allocate(own_bytes);
        status = kf_buffer_download(kinetics[part].link_memory, 0, own, own_bytes, error);
        if (status == KF_OK) move_memory(&kinetics[part], count, merged, own, true);
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
    move_memory(kinetic, count, given, own, false);
    const kf_status status = kf_buffer_upload(kinetic->link_memory, 0, own, own_bytes, error);
    free(given);
    free(own);
    return status;
}
