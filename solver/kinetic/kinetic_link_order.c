/* The order of links on the device: the lanes of a warp, each with a node, find theirs side by side
 * (kernels/kinetic/arguments.h). */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic.h"

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

void kf_kinetic_reorder_memory(const kf_kinetic *kinetic, void *memory, bool to_scene) {
    const size_t count = (size_t)kinetic->arguments.links.count, size = kinetic->real_bytes;
    char *values = memory, *given = kf_allocate(kinetic->link_memory_bytes);
    memcpy(given, memory, kinetic->link_memory_bytes);
    for (size_t half = 0; half < 2; half++)
        for (size_t n = 0; n < count; n++) {
            const size_t here = half * (count + 1) + n,
                         there = half * (count + 1) + (size_t)kinetic->link_order[n];
            memcpy(values + size * (to_scene ? there : here), given + size * (to_scene ? here : there), size);
        }
    free(given);
}
