/* Predicts how a lattice Boltzmann step, or a step of particles, scales over GPUs and nodes. It adds the time
 * of a part and the cost of the exchange across cuts, which depends on the transfer. The constants of links
 * within a node are measured, those between nodes are assumed (docs/teams.md). */
#ifndef KF_COST_MODEL_SCALING_H
#define KF_COST_MODEL_SCALING_H

#include "base/util/text.h"

/* An exchange alone takes latency + bytes / rate seconds. If it overlaps a step, the step takes beside +
 * bytes * beside_a_byte seconds longer. */
typedef struct kf_link {
    double latency, rate;         /* s, bytes/s */
    double beside, beside_a_byte; /* s, s/byte */
} kf_link;

typedef struct kf_cluster {
    int node_devices;  /* devices that reach each other's memory */
    kf_link near, far; /* links within a node, and between nodes */
    double order;      /* seconds of a step in which devices wait for each other if nothing overlaps */
    double spread;     /* standard deviation of the devices' speeds, relative */
} kf_cluster;
/* H200s, eight in a node with NVLink, with one InfiniBand NDR port for each device. */
extern const kf_cluster kf_cluster_h200;

typedef enum kf_exchange {
    KF_EXCHANGE_IN_PLACE, /* planes are read in place within a node; between nodes they are copied during the
                             step */
    KF_EXCHANGE_HIDDEN,   /* they are copied during the step everywhere */
    KF_EXCHANGE_AFTER_STEP, /* they are copied when the step has ended */
    KF_EXCHANGES
} kf_exchange;
extern const char *const kf_exchange_names[KF_EXCHANGES];
/* The names of the transfers of particles, which overlap with nothing: sent from device to device, and
 * through the host. */
extern const char *const kf_exchange_names_of_particles[KF_EXCHANGES];

typedef struct kf_scaling_case {
    double nodes;       /* nodes or particles of one device, or of all together */
    bool strong;        /* nodes are those of all devices together */
    double rate;        /* nodes per second of one device */
    double value_bytes; /* bytes of a stored population */
    double crossing;    /* populations at a node of the face that cross it; 0: 9, as without a solid. With a
                           solid they are 27 */
    double fixed;       /* seconds of a step that do not shrink with a device's share: the solid's kernels */
    double plane; /* for particles: thickness of the planes, in spacings, between which the box is cut across
                     one axis; 0: nodes */
} kf_scaling_case;

/* Makes the case of a cube of particles, of each device or of all together. One device advances `rate`
 * particles a second. support is in spacings. Neighbour lists serve this number of steps (1: none are kept),
 * after which particles are sorted. Their whole state is then sent, otherwise only position and velocity. */
kf_scaling_case kf_scaling_of_particles(double particles, bool strong, double rate, double support,
                                        int list_period);
/* Returns the largest number of devices for which a case can be cut. */
int kf_scaling_most_devices(const kf_scaling_case *what);

/* Returns the time that one device needs for its share alone, divided by the time of a step on this number of
 * devices. Within a node the domain is cut into slabs. Beyond a node it is cut into blocks with a face in
 * each direction, three of which are links between nodes. Particles are always in slabs, of which the
 * thickest counts. */
double kf_scaling_efficiency(const kf_cluster *cluster, const kf_scaling_case *what, kf_exchange exchange,
                             int devices);
/* Writes the assumptions, one a line. */
void kf_scaling_assumptions(const kf_cluster *cluster, kf_text *text);
void kf_scaling_assumptions_of_particles(const kf_cluster *cluster, kf_text *text);

#endif
