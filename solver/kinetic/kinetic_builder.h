/* Appends the items of a step, for one device or for the parts of a team. Only kinetic_launches.c,
 * kinetic_separate.c, kinetic_two_grids.c, kinetic_shift.c, kinetic_builder.c, kinetic_halo.c,
 * kinetic_world.c, kinetic_sums.c and kinetic_order.c, and the files of links and walls, include this. */
#ifndef KF_SOLVER_KINETIC_KINETIC_BUILDER_H
#define KF_SOLVER_KINETIC_KINETIC_BUILDER_H

#include "solver/kinetic/kinetic.h"

enum { KF_BOTH = 2 }; /* in place of a parity: even and odd steps */

/* A part's halo on one side, if a team copies planes: packed by the neighbour, on the host, and received. */
typedef struct kf_halo_buffers {
    /* [parity of the step]; host: only with the transfer by way of the host. */
    kf_buffer *packed, *host[2], *received[2];
} kf_halo_buffers;

/* The messages across a side of a part, if the part beyond belongs to another process: on the device, and as
 * they are sent and received, from the host's memory or directly from the device. */
typedef struct kf_far_side {
    kf_buffer *packed, *outgoing, *incoming, *received;
    /* Bytes of a message: the nodes' values, then the populations outside outflows beside them. */
    size_t outgoing_bytes, incoming_bytes;
} kf_far_side;

typedef struct kf_builder {
    kf_plan *plan;
    kf_kinetic *kinetics; /* [parts] of all parts */
    kf_kinetic *kinetic;  /* of the part to which items are being appended */
    int parts;
    kf_kinetic_box boxes[KF_MOST_PARTS]; /* of all parts of the run */
    /* Number of reachable parts, and of those among them that belong to earlier processes. */
    int near, offset;
    /* Marks of the reachable parts, shared with the processes of these parts (kf_neighbour_barrier). */
    kf_mark *ended[KF_MOST_PARTS], *ready[KF_MOST_PARTS], *summed[KF_MOST_PARTS];
    kf_mark *halo_sent[KF_MOST_PARTS];
    kf_halo_buffers halos[KF_MOST_PARTS][KF_PART_SIDES]; /* of a reachable part, for each side */
    kf_far_side far[KF_MOST_PARTS][KF_PART_SIDES];       /* of a part of this process */
    /* Within this process: the data of a step's messages are packed; they have been received. */
    kf_mark *halo_packed[KF_MOST_PARTS], *halo_received;
    kf_mark *body_summed[KF_MOST_PARTS], *body_taken[KF_MOST_PARTS], *links_summed[KF_MOST_PARTS];
    kf_error *error;
    kf_status status;
    int line_block[3], face_block[3]; /* block sizes of launches over samples or band, and over faces */
    double node_bytes;                /* store_bytes times the part's nodes */
    bool aside, joins;   /* lane of the kernels being appended; `joins` is for the next one only */
    bool beside;         /* they go to the lane beside, of the same priority */
    bool ahead;          /* they go to the lane ahead, the second one of higher priority */
    size_t shared_bytes; /* dynamic shared memory of their blocks */
    bool overlaps;       /* they may start while the preceding kernel ends */
    bool waits;          /* their blocks wait for each other */
    bool band_is_done;   /* the band's forces of this step have been appended */
    int every;           /* they are due at one of this many steps */
} kf_builder;

/* From this call on items are appended to this part. */
void kf_on_part(kf_builder *b, int part);
kf_function *kf_builder_function(kf_builder *b, kf_kinetic_source source, const char *name);
/* Makes an item due at the steps of one parity, or of both, that are also multiples of b->every. */
void kf_schedule(const kf_builder *b, int parity, kf_item *item);
/* Returns whether items that are appended now have any step of this parity. */
bool kf_falls(const kf_builder *b, int parity);

/* Append a kernel. bytes: the least that it reads and writes. */
void kf_append_launch(kf_builder *b, int parity, const kf_launch *launch, double bytes);
void kf_append(kf_builder *b, int parity, kf_kinetic_source source, const char *name, const int extent[3],
               const int block[3], kf_kinetic_arguments arguments, double bytes);
/* The first appends the kernels that set the populations of a grid's cut links before it streams. The second
 * prepares launches outside of steps (kinetic_links.c). */
void kf_append_links(kf_builder *b, int parity, int grid);
void kf_set_link_launches(kf_builder *b);
/* Appends these kernels for a solid whose surface leaves its place (kinetic_moving_links.c). */
void kf_append_moving_links(kf_builder *b, int parity, int grid);
/* For a team: kf_begin_link_sums empties the parts' sums, and kf_append_link_balance computes from the sums
 * of all parts the mass that the next step subtracts (kinetic_sums.c). */
void kf_begin_link_sums(kf_builder *b, int parity);
void kf_append_link_balance(kf_builder *b, int parity);
/* Append the kernels that replace reflect_links if there is a law of the wall, and the friction
 * (kinetic_wall.c). shell: number of inner nodes that are reset. */
void kf_append_found_friction(kf_builder *b, int parity, int grid, int shell);
void kf_append_friction(kf_builder *b, int parity, int grid);
/* Append the kernels that look at the layers before the friction, and that give their nodes their viscosity
 * after it, if layers are modelled. */
void kf_append_look(kf_builder *b, int parity, int grid);
void kf_append_layer(kf_builder *b, int parity, int grid);
void kf_set_wall_launches(kf_builder *b);
void kf_append_items(kf_builder *b, int parity, kf_kinetic_source source, const char *name, int items,
                     int from, int to);
/* Appends a copy. Returns its item, or NULL if it is never due. */
kf_item *kf_append_copy(kf_builder *b, int parity, const char *name, const kf_copy *copy);
/* Returns the arguments with `from` as the grid that is read and `to` as the grid that is written. */
kf_kinetic_arguments kf_from_to(const kf_kinetic *kinetic, int from, int to);

/* Finds the extent of stream_collide. Rows extend to the end of a 32-byte sector, because a sector that is
 * written in part must be read first. Not so if kernels fill ghost nodes, which must not be written. */
void kf_flow_extent(const kf_kinetic *kinetic, int extent[3]);
/* Appends a mark on the main lane that waits for the earlier work of the other lanes. */
void kf_append_join(kf_builder *b, int p, const char *name);
/* Appends the force of the samples on the band, in all passes of a step. At the end it is in band_force of
 * the arguments. */
void kf_append_band_force(kf_builder *b, int parity, int grid);
/* The first appends step p (0: even, 1: odd) between two grids (kinetic_two_grids.c). For a team
 * that copies planes the step has two halves: the outer nodes, which others read, and, while these are sent,
 * the inner nodes. */
void kf_append_two_grids(kf_builder *b, int p);
void kf_append_outer(kf_builder *b, int p);
void kf_append_inner(kf_builder *b, int p);
/* Appends step p (0: even, 1: odd) of a grid that moves to and fro (kinetic_shift.c). */
void kf_append_shift(kf_builder *b, int p);
/* Appends the steps of the plans baseline and paper for all parts (kinetic_separate.c). */
void kf_make_separate(kf_builder *b);
/* Append for a part: the kernels that fill its ghost nodes; the pose of a moving solid and the lists of its
 * samples; the populations outside outflows for the next step, from a grid after the collision, unless the
 * flow's kernel computes them. */
void kf_append_boundaries(kf_builder *b, int parity, int grid);
void kf_append_motion(kf_builder *b, int parity, int grid);
void kf_append_outflow(kf_builder *b, int parity, int grid, void *edge);
/* Finds the ranges of planes to which a part streams populations: its own, and in a plan with a streaming
 * kernel that copies planes also those beside them at which the solid's samples read velocities. */
int kf_streamed_planes(const kf_builder *b, int range[KF_PLANE_RANGES][2]);

/* For teams. On one device nothing is appended. */
void kf_make_marks(kf_builder *b);
/* Every part signals its mark once its work so far is done. */
void kf_signal_all(kf_builder *b, int parity, const char *name, kf_mark *const marks[]);
/* Every part waits for its two neighbours (the last part's is the first one beyond a periodic seam), or for
 * all parts. */
void kf_await_neighbours(kf_builder *b, int parity, const char *name, kf_mark *const marks[]);
void kf_await_all(kf_builder *b, int parity, const char *name, kf_mark *const marks[]);
/* Every part waits until its neighbours have come this far. */
void kf_neighbour_barrier(kf_builder *b, int parity);
/* Calls `add` for each part. */
void kf_each_part(kf_builder *b, int parity, void (*add)(kf_builder *b, int parity));

/* Prepares the halo exchange. It does nothing if parts read each other's planes in place (kinetic_halo.c). */
void kf_make_halo_exchange(kf_builder *b);
/* Send the planes beside the cuts that step p has written, and receive those of the neighbours. aside: beside
 * the work of the main lane. */
void kf_append_halo_sends(kf_builder *b, int p, bool aside);
void kf_append_halo_receives(kf_builder *b, int p, bool aside);
/* Sends and receives, after all other work of step p so far. */
void kf_append_halo_exchange(kf_builder *b, int p);
/* Packs what a part sends to one side in step p, or unpacks what it receives from there. kf_halo_bytes
 * returns the bytes of this. */
void kf_append_pack_or_unpack(kf_builder *b, int p, bool packs, int side, const kf_buffer *packed);
size_t kf_halo_bytes(const kf_kinetic *kinetic); /* for slabs, whose sides are equal */
/* Returns the bytes that a part sends to one side. number: its index in the whole run. */
size_t kf_message_bytes(const kf_builder *b, int number, int side);
/* Return the nodes that a part sends to one side, and those that it receives from there. */
kf_kinetic_box kf_box_sent(const kf_builder *b, int number, int side);
kf_kinetic_box kf_box_received(const kf_builder *b, int number, int side);

/* Exchange halos with other processes (kinetic_world.c). A call posts the messages between sends and
 * receives. On a GPU it waits until their data have reached the host. */
void kf_make_messages(kf_builder *b);
bool kf_has_messages(const kf_builder *b);
void kf_append_far_halo_send(kf_builder *b, int p, int side);
void kf_append_post(kf_builder *b, int p, bool aside);
void kf_append_far_halo_receives(kf_builder *b, int p);
/* Returns whether NCCL sends the messages, also among this process's parts. A call in every part's stream,
 * between packing and unpacking, then begins them. */
bool kf_is_by_nccl(const kf_builder *b);

/* Appends a call that all parts of this process make together, in the stream of one part. It does nothing if
 * there is no other process (kinetic_world.c). */
void kf_append_link_call(kf_builder *b, int parity, int part, const char *name, kf_call_function *enqueue);
/* Appends the domain's averages over all parts, which all use the same grid. */
void kf_append_averages(kf_builder *b, int parity, int grid);
/* Append the velocities of a free solid from what its samples read: on one device, and on a team over all
 * parts together. */
void kf_append_body(kf_builder *b, int parity, int grid);
void kf_append_team_body(kf_builder *b, int parity, int grid);

/* Makes b->kinetic->order_launches if the part's config lists samples by cell (kinetic_order.c). */
kf_status kf_prepare_order(kf_builder *b, kf_error *error);

#endif
