/* Ordering a moving solid's samples on the device, or listing them by cell: the passes of a sort by counting.
 */
#include <string.h>

#include "base/util/text.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_builder.h"

/* The sorting passes, by block order (then the samples move) or by cell (then a list is left). */
static void list_passes(kf_builder *b, bool by_block) {
    static const char *const passes[] = {
        "order_keys",        "order_count", "order_scan_chunks", "order_scan_sums", "order_scan_add",
        "order_begin_place", "order_place", "order_break_ties",  "order_take",      "order_put"};
    kf_order_arguments arguments = b->kinetic->order;
    int samples = arguments.sample_count, keys = arguments.key_count;
    const int items[] = {samples > keys + 1 ? samples : keys + 1,
                         samples,
                         arguments.chunk_count,
                         1,
                         keys,
                         keys,
                         samples,
                         keys,
                         samples,
                         samples};
    arguments.by_block = by_block;
    for (int pass = 0; pass < (by_block ? 10 : 8) && b->status == KF_OK; pass++) {
        kf_function *kernel = kf_builder_function(b, KF_SOURCE_ORDER, passes[pass]);
        if (b->status != KF_OK) return;
        arguments.extent[0] = items[pass];
        arguments.extent[1] = arguments.extent[2] = 1;
        kf_launch *launch = &b->kinetic->order_launches[b->kinetic->order_launch_count++];
        kf_launch_set(launch, passes[pass], kernel, b->line_block, &arguments, sizeof arguments);
    }
}

static kf_status make_order(kf_plan *plan, kf_kinetic *kinetic, bool by_block, kf_error *error) {
    kf_order_arguments *o = &kinetic->order;
    const kf_kinetic_arguments *a = &kinetic->arguments;
    int length = (int)kinetic->options.sample_block_length;
    long long keys = 1;
    o->block_length = length;
    while (by_block && kinetic->options.morton && 1 << o->morton_bits < length)
        o->morton_bits++;
    for (int i = 0; i < 3; i++) {
        o->box[i] = a->box[i];
        o->blocks[i] = (a->box[i] + length - 1) / length;
        keys *= by_block ? o->blocks[i] : o->box[i];
    }
    keys <<= 3 * o->morton_bits;
    if (keys > 1 << 30)
        return kf_fail(error, KF_MACHINE,
                       "%lld ordering keys are too many: choose another sample_block_length", keys);
    o->sample_count = a->sample_count;
    o->key_count = (int)keys;
    o->chunk_count = (o->key_count + KF_SCAN_CHUNK - 1) / KF_SCAN_CHUNK;
    memcpy(o->nodes, a->nodes, sizeof o->nodes);
    o->row_pitch = a->row_pitch;
    o->plane_pitch = a->plane_pitch;
    o->origin = a->origin;
    o->pose = a->pose;
    o->sample_x = a->sample_x;
    o->sample_y = a->sample_y;
    o->sample_z = a->sample_z;
    o->sample_area = a->sample_area;
    o->sample_corner = a->sample_corner;
    o->identity = kf_buffer_address(kinetic->identity);

    size_t samples = (size_t)o->sample_count, real = samples * kinetic->real_bytes;
    kf_buffer *buffer;
    int **integers[] = {&o->keys, &o->start, &o->chunk_sums, &o->next, &o->order, &o->spare_identity};
    const size_t integer_counts[] = {samples,      (size_t)keys + 1, (size_t)o->chunk_count,
                                     (size_t)keys, samples,          samples};
    for (int i = 0; i < (by_block ? 6 : 5); i++) {
        KF_TRY(kf_plan_buffer(plan, integer_counts[i] * sizeof(int), &buffer, error));
        *integers[i] = kf_buffer_address(buffer);
    }
    void **spares[] = {&o->spare_x, &o->spare_y, &o->spare_z, &o->spare_area};
    for (int i = 0; by_block && i < 4; i++) {
        KF_TRY(kf_plan_buffer(plan, real, &buffer, error));
        *spares[i] = kf_buffer_address(buffer);
    }
    return KF_OK;
}

kf_status kf_prepare_order(kf_builder *b, kf_error *error) {
    kf_kinetic *kinetic = b->kinetic;
    const bool list = kinetic->options.immersed_boundary == KF_GATHER;
    if (!kinetic->has_samples || !kf_kinetic_uses(kf_plan_scene(b->plan), &kinetic->options, KF_SOURCE_ORDER))
        return KF_OK;
    KF_TRY(make_order(b->plan, kinetic, !list, error));
    list_passes(b, !list);
    if (!list) return KF_OK;
    kinetic->arguments.cell_start = kinetic->order.start;
    kinetic->arguments.cell_samples = kinetic->order.order;
    return KF_OK;
}
