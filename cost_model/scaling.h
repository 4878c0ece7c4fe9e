/* Predicts how a step of a lattice Boltzmann method or of particles scales over GPUs and nodes. It adds a
 * part's own time and what the exchange across cuts costs, by how it is done. Constants of links are measured
 * in a node and assumed beyond one (docs/teams.md). */
#ifndef KF_COST_MODEL_SCALING_H
#define KF_COST_MODEL_SCALING_H

#include "base/util/text.h"

/* An exchange alone takes latency + bytes / rate seconds. Beside a step it takes beside + bytes *
 * beside_a_byte seconds from the step. */
typedef struct kf_link {
    double latency, rate;         /* s, bytes/s */
    double beside, beside_a_byte; /* s, s/byte */
} kf_link;

typedef struct kf_cluster {
    int node_devices;  /* that reach each other's memory */
    kf_link near, far; /* in a node, between nodes */
    double order;      /* s a step: what waiting for one another costs when nothing is hidden */
    double spread;     /* of the devices' speeds: standard deviation, relative */
} kf_cluster;
/* Describes H200s, eight a node by NVLink, with one InfiniBand NDR port a device. */
extern const kf_cluster kf_cluster_h200;

typedef enum kf_exchange {
    KF_EXCHANGE_IN_PLACE,   /* planes are read where they are in a node; beyond, copied beside the step */
    KF_EXCHANGE_HIDDEN,     /* copied beside the step, everywhere */
    KF_EXCHANGE_AFTER_STEP, /* copied when it has ended */
    KF_EXCHANGES
} kf_exchange;
extern const char *const kf_exchange_names[KF_EXCHANGES];
/* Names those of particles, where nothing is beside a step: sent from device to device, and through the host.
 */
extern const char *const kf_exchange_names_of_particles[KF_EXCHANGES];

typedef struct kf_scaling_case {
    double nodes;       /* or particles, of one device, or of all together */
    bool strong;        /* of all together */
    double rate;        /* nodes/s of one device */
    double value_bytes; /* of a stored population */
    double crossing; /* populations that cross a face's node; 0: 9, as without a solid. With one it is 27 */
    double fixed;    /* s of a device's step that do not shrink with its share: the solid's kernels */
    double plane;    /* particles, which lie in planes so many spacings thick, between which alone is cut, and
                        across one axis; 0: nodes */
} kf_scaling_case;

/* Makes the case of a cube of particles, of each device or of all together, which a device steps at `rate`
 * (particles/s); support is in spacings. Neighbour lists serve so many steps (1: none are kept), after which
 * particles are sorted. Then their whole state travels, else only place and velocity. */
kf_scaling_case kf_scaling_of_particles(double particles, bool strong, double rate, double support,
                                        int list_period);
/* Returns the most devices that a case can be cut for. */
int kf_scaling_most_devices(const kf_scaling_case *what);

/* Returns the time that one device needs for its share alone over the time of a step on so many devices.
 * Within a node the domain is cut into slabs; beyond, into blocks with a face in each direction, three of
 * them across nodes. Particles always lie in slabs, of which the thickest counts. */
double kf_scaling_efficiency(const kf_cluster *cluster, const kf_scaling_case *what, kf_exchange exchange,
                             int devices);
/* Writes the assumptions, a line each. */
void kf_scaling_assumptions(const kf_cluster *cluster, kf_text *text);
void kf_scaling_assumptions_of_particles(const kf_cluster *cluster, kf_text *text);

#endif
