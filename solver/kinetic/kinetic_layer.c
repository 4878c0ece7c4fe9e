/* The model of turbulent layers without eddies (kernels/kinetic/layer.h) on the device: its lists, its state
 * and its kernel of a step. It runs on one device. */
#include <limits.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic_builder.h"

/* The kernels keep as many speeds of a column as there are steps. */
_Static_assert((int)KF_LAYER_DEPTH == (int)KF_LINK_OPEN, "columns of layers have one length");

/* Finds the box around the listed nodes, and how many nodes it has. */
static size_t bound_layer(const kf_links *links, kf_kinetic_region *box) {
    size_t nodes = 1;
    for (size_t n = 0; n < links->layer_count; n++)
        kf_kinetic_extend_box(box, links->layer[n].node);
    for (int a = 0; a < 3; a++)
        nodes *= (size_t)(box->high[a] - box->low[a]);
    return nodes;
}

static int place_in(const kf_kinetic_region *box, const int node[3]) {
    int place = 0;
    for (int a = 2; a >= 0; a--)
        place = place * (box->high[a] - box->low[a]) + node[a] - box->low[a];
    return place;
}

/* Sends what is known of the layers' nodes. */
static kf_status send_nodes(kf_plan *plan, kf_kinetic *kinetic, const kf_links *links, kf_error *error) {
    kf_kinetic_layer *a = &kinetic->arguments.layer;
    const size_t count = links->layer_count;
    int *wall = kf_allocate(count * sizeof *wall), *place = kf_allocate(count * sizeof *place);
    double *height = kf_allocate(count * sizeof *height);
    kf_buffer *walls = NULL, *places = NULL, *heights = NULL;
    for (size_t n = 0; n < count; n++) {
        wall[n] = links->layer[n].wall;
        place[n] = place_in(&a->box, links->layer[n].node);
        height[n] = links->layer[n].height;
    }
    kf_status status = kf_plan_buffer_of(plan, wall, count * sizeof *wall, &walls, error);
    if (status == KF_OK) status = kf_plan_buffer_of(plan, place, count * sizeof *place, &places, error);
    if (status == KF_OK) status = kf_plan_buffer_of(plan, height, count * sizeof *height, &heights, error);
    free(wall);
    free(place);
    free(height);
    KF_TRY(status);
    a->wall = kf_buffer_address(walls);
    a->place = kf_buffer_address(places);
    a->height = kf_buffer_address(heights);
    return KF_OK;
}

/* Sends what is known of the nodes beside the surface. */
static kf_status send_wall(kf_plan *plan, kf_kinetic *kinetic, const kf_links *links, kf_error *error) {
    kf_kinetic_layer *a = &kinetic->arguments.layer;
    const size_t count = links->wall_count;
    int *open = kf_allocate(count * sizeof *open);
    double *distance = kf_allocate(count * sizeof *distance);
    kf_buffer *opens = NULL, *distances = NULL;
    for (size_t n = 0; n < count; n++) {
        open[n] = links->wall[n].open;
        distance[n] = links->wall[n].distance;
    }
    kf_status status = kf_plan_buffer_of(plan, open, count * sizeof *open, &opens, error);
    if (status == KF_OK)
        status = kf_plan_buffer_of(plan, distance, count * sizeof *distance, &distances, error);
    free(open);
    free(distance);
    KF_TRY(status);
    a->open = kf_buffer_address(opens);
    a->distance = kf_buffer_address(distances);
    return KF_OK;
}

kf_status kf_kinetic_upload_layer(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    const kf_links *links = &kf_plan_scene(plan)->links;
    kf_kinetic_layer *a = &kinetic->arguments.layer;
    if (links->layer_count == 0) return KF_OK;
    const size_t nodes = bound_layer(links, &a->box);
    if (nodes > INT_MAX)
        return kf_fail(error, KF_HOST, "the box around modelled layers has %zu nodes, of at most %d", nodes,
                       INT_MAX);
    KF_TRY(send_nodes(plan, kinetic, links, error));
    KF_TRY(send_wall(plan, kinetic, links, error));
    kinetic->layer_bytes[0] = KF_LAYER_STATE * links->wall_count * sizeof(double);
    kinetic->layer_bytes[1] = nodes * kinetic->real_bytes;
    for (int i = 0; i < 2; i++)
        KF_TRY(kf_plan_buffer(plan, kinetic->layer_bytes[i], &kinetic->layer[i], error));
    a->state = kf_buffer_address(kinetic->layer[0]);
    a->eddies = kf_buffer_address(kinetic->layer[1]);
    a->count = (int)links->layer_count;
    a->depth = links->layer_depth;
    return KF_OK;
}

kf_status kf_kinetic_reset_layer(const kf_kinetic *kinetic, kf_error *error) {
    for (int i = 0; i < 2 && kinetic->layer[i] != NULL; i++)
        KF_TRY(kf_buffer_fill(kinetic->layer[i], 0, error));
    return KF_OK;
}

kf_status kf_kinetic_sum_modelled(const kf_kinetic *kinetic, const kf_links *links, double *share,
                                  kf_error *error) {
    const size_t count = links->wall_count, bytes = count * sizeof(double);
    double area = 0.0;
    *share = 0.0;
    if (kinetic->layer[0] == NULL) return KF_OK;
    double *quiet = kf_allocate(bytes);
    const kf_status status =
        kf_buffer_download(kinetic->layer[0], KF_LAYER_QUIET * bytes, quiet, bytes, error);
    for (size_t n = 0; n < count && status == KF_OK; n++) {
        *share += quiet[n] * links->wall[n].area;
        area += links->wall[n].area;
    }
    if (area > 0.0) *share /= area;
    free(quiet);
    return status;
}

void kf_append_look(kf_builder *b, int parity, int grid) {
    const kf_kinetic_arguments *a = &b->kinetic->arguments;
    if (a->layer.count > 0)
        kf_append_items(b, parity, KF_SOURCE_WALL, "look_at_layers", a->wall.count, grid, grid);
}

void kf_append_layer(kf_builder *b, int parity, int grid) {
    const int count = b->kinetic->arguments.layer.count;
    if (count > 0) kf_append_items(b, parity, KF_SOURCE_WALL, "spread_viscosity", count, grid, grid);
}
