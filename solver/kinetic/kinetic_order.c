/* Lists the samples by cell on the device, for the gather variant, by the passes of a counting sort. */
#include "base/util/text.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_builder.h"

/* Makes the eight launches that list the samples by cell: keys, counts, a scan in three, places, and ties
 * broken by number. */
static void list_passes(kf_builder *b) {
    enum { PASSES = 8 };
    static const char *const passes[PASSES] = {"order_keys",      "order_count",     "order_scan_chunks",
                                               "order_scan_sums", "order_scan_add",  "order_begin_place",
                                               "order_place",     "order_break_ties"};
    kf_order_arguments arguments = b->kinetic->order;
    const int samples = arguments.samples.count, keys = arguments.key_count;
    const int items[PASSES] = {samples > keys + 1 ? samples : keys + 1,
                               samples,
                               arguments.chunk_count,
                               1,
                               keys,
                               keys,
                               samples,
                               keys};
    for (int pass = 0; pass < PASSES && b->status == KF_OK; pass++) {
        kf_function *kernel = kf_builder_function(b, KF_SOURCE_ORDER, passes[pass]);
        if (b->status != KF_OK) return;
        arguments.extent[0] = items[pass];
        arguments.extent[1] = arguments.extent[2] = 1;
        kf_launch *launch = &b->kinetic->order_launches[b->kinetic->order_launch_count++];
        kf_launch_set(launch, passes[pass], kernel, b->line_block, &arguments, sizeof arguments);
    }
}

/* Makes the arguments of these passes, and their memory. */
static kf_status make_list(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    kf_order_arguments *o = &kinetic->order;
    const kf_kinetic_arguments *a = &kinetic->arguments;
    long long keys = 1;
    for (int i = 0; i < 3; i++)
        keys *= a->samples.box[i];
    if (keys > 1 << 30)
        return kf_fail(
            error, KF_MACHINE,
            "the box around the solid has %lld cells, which is too many for immersed_boundary gather", keys);
    o->grid = a->grid;
    o->memory = a->memory;
    o->samples = a->samples;
    o->solids = a->solids;
    o->key_count = (int)keys;
    o->chunk_count = (o->key_count + KF_SCAN_CHUNK - 1) / KF_SCAN_CHUNK;
    o->identity = kf_buffer_address(kinetic->identity);

    enum { ARRAYS = 5 };
    const size_t samples = (size_t)o->samples.count;
    int **arrays[ARRAYS] = {&o->keys, &o->start, &o->chunk_sums, &o->next, &o->order};
    const size_t counts[ARRAYS] = {samples, (size_t)keys + 1, (size_t)o->chunk_count, (size_t)keys, samples};
    for (int i = 0; i < ARRAYS; i++) {
        kf_buffer *buffer;
        KF_TRY(kf_plan_buffer(plan, counts[i] * sizeof(int), &buffer, error));
        *arrays[i] = kf_buffer_address(buffer);
    }
    return KF_OK;
}

kf_status kf_prepare_order(kf_builder *b, kf_error *error) {
    kf_kinetic *kinetic = b->kinetic;
    if (!kinetic->has_samples || !kf_kinetic_uses(kf_plan_scene(b->plan), &kinetic->options, KF_SOURCE_ORDER))
        return KF_OK;
    KF_TRY(make_list(b->plan, kinetic, error));
    list_passes(b);
    kinetic->arguments.samples.cell_start = kinetic->order.start;
    kinetic->arguments.samples.cell_samples = kinetic->order.order;
    return KF_OK;
}
