/* Appending the items of a step, of one device or of a team's parts. Shared by kinetic_launches.c,
 * kinetic_separate.c, kinetic_two_grids.c, kinetic_shift.c, kinetic_builder.c, kinetic_halo.c,
 * kinetic_world.c, kinetic_sums.c and kinetic_order.c only. */
#ifndef KF_SOLVER_KINETIC_KINETIC_BUILDER_H
#define KF_SOLVER_KINETIC_KINETIC_BUILDER_H

#include "solver/kinetic/kinetic.h"

enum { KF_BOTH = 2 }; /* instead of the parity of steps: even and odd ones */

/* A part's halo on one side, where a team copies planes: packed on its neighbour, on the way, received. */
typedef struct kf_halo_buffers {
    kf_buffer *packed, *host[2], *received[2]; /* [parity of the step]; host: only through the host */
} kf_halo_buffers;

/* The messages across a side of a part beyond which another process's lies, on the device and as they are
 * sent and received: by the host, or from where a halo was packed to where it is received. */
typedef struct kf_far_side {
    kf_buffer *packed, *outgoing, *incoming, *received;
    size_t outgoing_bytes,
        incoming_bytes; /* of messages: the nodes' values, then what waits outside of outflows beside them */
} kf_far_side;

typedef struct kf_builder {
    kf_plan *plan;
    kf_kinetic *kinetics; /* of all parts */
    kf_kinetic *kinetic;  /* of the part whose items are appended now */
    int parts;
    kf_kinetic_box boxes[KF_MOST_PARTS]; /* of all parts, also other processes' */
    int near, offset; /* parts in reach, and those of other processes among them before this one's own */
    /* Marks of the parts in reach, which they share with other processes' parts; see kf_neighbour_barrier. */
    kf_mark *ended[KF_MOST_PARTS], *ready[KF_MOST_PARTS], *summed[KF_MOST_PARTS];
    kf_mark *halo_sent[KF_MOST_PARTS];
    kf_halo_buffers halos[KF_MOST_PARTS][KF_PART_SIDES]; /* of a part in reach, from each side */
    kf_far_side far[KF_MOST_PARTS][KF_PART_SIDES];       /* of this process's */
    kf_mark *halo_packed[KF_MOST_PARTS],
        *halo_received; /* what the messages of a step hold, within this process */
    kf_mark *body_summed[KF_MOST_PARTS], *body_taken[KF_MOST_PARTS];
    kf_error *error;
    kf_status status;
    int line_block[3], face_block[3]; /* of launches over samples or band, and over faces */
    double node_bytes;                /* store_bytes * nodes of the part */
    bool aside, joins;                /* of the kernels appended now, and of the next one */
    bool beside;                      /* the same, in the lane of the same priority */
    bool ahead;                       /* the same, in the second one of a higher priority */
    size_t shared_bytes;              /* dynamic, of a block of the kernels appended now */
    bool overlaps;                    /* the kernels appended now begin while those before them end */
    bool waits;                       /* blocks of the kernels appended now wait for each other */
    bool band_is_done;                /* the band's forces of this step are appended already */
    int every;                        /* the kernels appended now are due at each so many steps */
} kf_builder;

/* Gives the items that are appended from here on to that part. */
void kf_on_part(kf_builder *b, int part);
kf_function *kf_builder_function(kf_builder *b, kf_kinetic_source source, const char *name);
/* Makes an item due at the steps of one parity or of KF_BOTH, as far as they are among each b->every steps.
 */
void kf_schedule(const kf_builder *b, int parity, kf_item *item);
/* Returns whether the items appended now have a step of that parity at all. */
bool kf_falls(const kf_builder *b, int parity);

/* These append kernels; bytes is the least that they read and write. */
void kf_append_launch(kf_builder *b, int parity, const kf_launch *launch, double bytes);
void kf_append(kf_builder *b, int parity, kf_kinetic_source source, const char *name, const int extent[3],
               const int block[3], kf_kinetic_arguments arguments, double bytes);
/* kf_append_links appends the kernels that set the populations of a grid's cut links before it streams.
 * kf_set_link_launches prepares launches outside of steps (kinetic_links.c). */
void kf_append_links(kf_builder *b, int parity, int grid);
void kf_set_link_launches(kf_builder *b);
/* Append friction by a law of the wall, between the two kernels of kf_append_links (kinetic_wall.c). */
void kf_append_wall(kf_builder *b, int parity, int grid);
void kf_set_wall_launches(kf_builder *b);
void kf_append_items(kf_builder *b, int parity, kf_kinetic_source source, const char *name, int items,
                     int from, int to);
/* Appends a copy; returns its item, or NULL where it is never due. */
kf_item *kf_append_copy(kf_builder *b, int parity, const char *name, const kf_copy *copy);
/* Arguments with the two grids in the roles that a pass needs. */
kf_kinetic_arguments kf_from_to(const kf_kinetic *kinetic, int from, int to);

/* Items of stream_collide. Rows go to the end of a sector: one that is written in part has to be read first.
 * Where kernels fill ghosts, none may be written. */
void kf_flow_extent(const kf_kinetic *kinetic, int extent[3]);
/* A mark on the main lane that follows what the other lanes were given. */
void kf_append_join(kf_builder *b, int p, const char *name);
/* The force of the samples on the band, in all passes of a step: in the end it is where band_force of the
 * arguments says. */
void kf_append_band_force(kf_builder *b, int parity, int grid);
/* Appends step p of two between two grids (kinetic_two_grids.c). For a team that copies planes it is in
 * two halves: the outer nodes, which others read, and, while these travel, the inner ones. */
void kf_append_two_grids(kf_builder *b, int p);
void kf_append_outer(kf_builder *b, int p);
void kf_append_inner(kf_builder *b, int p);
/* Appends step p of two of a grid that moves to and fro (kinetic_shift.c). */
void kf_append_shift(kf_builder *b, int p);
/* Appends the steps of the plans baseline and paper, of all parts (kinetic_separate.c). */
void kf_make_separate(kf_builder *b);
/* Append for a part what fills the ghosts that its nodes pull from; what a moving solid's forces need, its
 * pose and the lists of its samples; and what waits outside of outflows in the next step, from a grid after
 * the collision, unless the flow's kernel does so itself. */
void kf_append_boundaries(kf_builder *b, int parity, int grid);
void kf_append_motion(kf_builder *b, int parity, int grid);
void kf_append_outflow(kf_builder *b, int parity, int grid, void *edge);
/* Returns the ranges of planes to which a part streams populations: its own and, where a plan with kernels
 * of its own for that copies planes, those beside them whose velocities the solid's samples see. */
int kf_streamed_planes(const kf_builder *b, int range[KF_PLANE_RANGES][2]);

/* Teams; of one device nothing is appended. */
void kf_make_marks(kf_builder *b);
/* Every part's mark, when what it was given so far is done. */
void kf_signal_all(kf_builder *b, int parity, const char *name, kf_mark *const marks[]);
/* Every part waits for both of its neighbours, the last's being the first across the seam; or for all. */
void kf_await_neighbours(kf_builder *b, int parity, const char *name, kf_mark *const marks[]);
void kf_await_all(kf_builder *b, int parity, const char *name, kf_mark *const marks[]);
/* Neighbours have come as far as this. */
void kf_neighbour_barrier(kf_builder *b, int parity);
/* Appends to each part. */
void kf_each_part(kf_builder *b, int parity, void (*add)(kf_builder *b, int parity));

/* Makes the halo exchange; nothing where parts read each other's planes in place (kinetic_halo.c). */
void kf_make_halo_exchange(kf_builder *b);
/* Sends the planes that step p has written beside the cuts; takes those of the neighbours; aside: beside what
 * the main lane is given meanwhile. */
void kf_append_halo_sends(kf_builder *b, int p, bool aside);
void kf_append_halo_receives(kf_builder *b, int p, bool aside);
/* Both, one after the other, after all else that step p has been given so far. */
void kf_append_halo_exchange(kf_builder *b, int p);
/* Packs what a part sends to one side in step p, or unpacks what it takes from there; so many bytes. */
void kf_append_pack_or_unpack(kf_builder *b, int p, bool packs, int side, const kf_buffer *packed);
size_t kf_halo_bytes(const kf_kinetic *kinetic); /* of slabs: all sides' are equal */
/* Returns the bytes of what the part of that number among all sends to one side. */
size_t kf_message_bytes(const kf_builder *b, int number, int side);
/* Return the nodes that a part sends to one side, and those that it receives from there. */
kf_kinetic_box kf_box_sent(const kf_builder *b, int number, int side);
kf_kinetic_box kf_box_received(const kf_builder *b, int number, int side);

/* Exchanges halos across the ends of this process's planes, where another process has what lies beyond
 * (kinetic_world.c). A call posts the messages between the sends and the receives; on a GPU it waits until
 * what they hold has come to the host. */
void kf_make_messages(kf_builder *b);
bool kf_has_messages(const kf_builder *b);
void kf_append_far_halo_send(kf_builder *b, int p, int side);
void kf_append_post(kf_builder *b, int p, bool aside);
void kf_append_far_halo_receives(kf_builder *b, int p);
/* Returns whether NCCL carries the messages, among this process's parts too; a call in every part's stream
 * then gives them to it, between what packs and what unpacks them. */
bool kf_is_by_nccl(const kf_builder *b);

/* Appends a call that all parts of this process make together, in a part's stream; nothing where there is
 * no other process (kinetic_world.c). */
void kf_append_link_call(kf_builder *b, int parity, int part, const char *name, kf_call_function *enqueue);
/* The domain's averages, of all parts; the same grid for all. */
void kf_append_averages(kf_builder *b, int parity, int grid);
/* The velocities of a free solid, from what its samples see: of one device; of a team, of all parts together.
 */
void kf_append_body(kf_builder *b, int parity, int grid);
void kf_append_team_body(kf_builder *b, int parity, int grid);

/* Makes b->kinetic->order_launches, where the part's config lists samples by cell (kinetic_order.c). */
kf_status kf_prepare_order(kf_builder *b, kf_error *error);

#endif
