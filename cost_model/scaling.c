#include "cost_model/scaling.h"

#include <math.h>

const kf_cluster kf_cluster_h200 = {
    .node_devices = 8,
    .near = {.latency = 16e-6, .rate = 393e9, .beside = 6e-6, .beside_a_byte = 0.75e-12},
    .far = {.latency = 30e-6, .rate = 45e9, .beside = 5e-6, .beside_a_byte = 1.2e-12},
    .order = 10e-6,
    .spread = 0.0005,
};

const char *const kf_exchange_names[KF_EXCHANGES] = {"read in place in a node, copied beside the step beyond",
                                                     "copied beside the step", "copied after the step"};

const char *const kf_exchange_names_of_particles[KF_EXCHANGES] = {
    "read in place in a node, sent beyond", "sent from device to device", "sent through the host"};

enum { CROSSING = 9 }; /* populations, of 27, that cross a face */

/* Returns the time of an exchange that nothing overlaps. Both directions are used at the same time. */
static double alone(const kf_link *link, double bytes) {
    return bytes > 0.0 ? link->latency + bytes / link->rate : 0.0;
}

static double beside(const kf_link *link, double bytes) {
    return bytes > 0.0 ? link->beside + bytes * link->beside_a_byte : 0.0;
}

/* Returns the relative delay by the slowest of several devices, if their speeds have a normal distribution.
 */
static double wait_for_slowest(const kf_cluster *cluster, int devices) {
    return devices > 1 ? cluster->spread * sqrt(2.0 * log((double)devices)) : 0.0;
}

/* --- Particles ------------------------------------------------------------------------------------------ */

kf_scaling_case kf_scaling_of_particles(double particles, bool strong, double rate, double support,
                                        int list_period) {
    static const double STATE = 56,
                        MOTION = 32; /* bytes of a particle's state, and of its position and velocity */
    const double sorts = 1.0 / list_period;
    return (kf_scaling_case){.nodes = particles,
                             .strong = strong,
                             .rate = rate,
                             .value_bytes = 1,
                             .crossing = support * (sorts * STATE + (1.0 - sorts) * MOTION),
                             .plane = support};
}

/* In a step that reads in place all devices wait for each other this many times. With parcels the host makes
 * this many calls in a step. Each call waits for its devices and takes CALL seconds. */
static const double MEETINGS = 5, CALLS = 3, CALL = 30e-6;
static const double HOST_RATE = 25e9; /* bytes/s over PCIe to the host and back, one after the other */

static double planes_of(const kf_scaling_case *what, int devices) {
    return fmax(1.0, floor(cbrt(what->strong ? what->nodes : what->nodes * devices) / what->plane));
}

int kf_scaling_most_devices(const kf_scaling_case *what) {
    enum { SLABS = 64, BLOCKS = 1 << 14 }; /* SLABS equals KF_SPH_PARTS of kernels/sph/arguments.h */
    int most = 1;
    if (!(what->plane > 0)) return BLOCKS;
    while (most < SLABS && planes_of(what, 2 * most) >= 2 * most)
        most *= 2;
    return most;
}

/* Returns the time of a step of particles. The box is cut across one axis between planes of cells, so the
 * thickest slab counts. Nothing overlaps. Within a node neighbours are read in place, for which all devices
 * wait for each other. Otherwise particles are sent in parcels, for which the host waits. */
static double time_of_particles(const kf_cluster *cluster, const kf_scaling_case *what, kf_exchange exchange,
                                int devices, double share) {
    const double planes = planes_of(what, devices), own = share * ceil(planes / devices) * devices / planes;
    const double face = pow(what->strong ? what->nodes : what->nodes * devices, 2.0 / 3.0),
                 bytes = what->crossing * what->value_bytes * face;
    const bool in_node = devices <= cluster->node_devices;
    if (devices == 1) return share;
    if (exchange == KF_EXCHANGE_IN_PLACE && in_node)
        return own + 2.0 * bytes / cluster->near.rate + 0.5 * MEETINGS * cluster->order;
    const double by_host = exchange == KF_EXCHANGE_AFTER_STEP ? 2.0 * bytes / HOST_RATE : 0.0;
    return own + CALLS * CALL + by_host + alone(in_node ? &cluster->near : &cluster->far, 2.0 * bytes);
}

double kf_scaling_efficiency(const kf_cluster *cluster, const kf_scaling_case *what, kf_exchange exchange,
                             int devices) {
    const double nodes = what->strong ? what->nodes / devices : what->nodes, share = nodes / what->rate;
    const double own = what->strong ? share + what->fixed * (1.0 - 1.0 / devices) : share;
    if (what->plane > 0)
        return share / time_of_particles(cluster, what, exchange, devices, share) /
               (1.0 + wait_for_slowest(cluster, devices));
    const bool in_node = devices <= cluster->node_devices;
    /* A slab's face has the size of the domain's face; that of a block depends on the block. */
    const double face = pow(in_node ? what->nodes : nodes, 2.0 / 3.0);
    const double bytes = (what->crossing > 0 ? what->crossing : CROSSING) * what->value_bytes * face;
    const double near = devices == 1 ? 0.0
                        : in_node    ? 2.0 * bytes
                                     : 3.0 * bytes,
                 far = in_node ? 0.0 : 3.0 * bytes;
    const double outer = fmin(1.0, (in_node ? 2.0 : 6.0) * face / nodes) * own;
    const double copies =
        alone(&cluster->near, exchange == KF_EXCHANGE_IN_PLACE ? 0.0 : near) + alone(&cluster->far, far);
    double time = own;
    if (devices > 1 && exchange == KF_EXCHANGE_AFTER_STEP)
        time = own + copies + cluster->order;
    else if (devices > 1)
        time = fmax(own + (exchange == KF_EXCHANGE_IN_PLACE ? 0.0 : beside(&cluster->near, near)) +
                        beside(&cluster->far, far),
                    copies > 0.0 ? outer + copies : own);
    return share / time / (1.0 + wait_for_slowest(cluster, devices));
}

static void describe(const char *name, const kf_link *link, kf_text *text) {
    kf_text_append(
        text,
        "%s: an exchange alone takes %.3g us + bytes / %.4g GB/s; beside a step %.3g us + %.3g us a MB\n",
        name, 1e6 * link->latency, 1e-9 * link->rate, 1e6 * link->beside, 1e12 * link->beside_a_byte);
}

void kf_scaling_assumptions(const kf_cluster *cluster, kf_text *text) {
    describe("in a node (measured: NVLink)", &cluster->near, text);
    describe("between nodes (assumed: InfiniBand NDR, a port a device)", &cluster->far, text);
    kf_text_append(text,
                   "%d devices a node; slabs in a node, beyond it blocks in three directions; nine "
                   "populations cross a face's "
                   "node\n",
                   cluster->node_devices);
    kf_text_append(text,
                   "waiting when nothing is hidden %.3g us; speeds of devices spread by %.2g %%, a step "
                   "waits for the slowest\n",
                   1e6 * cluster->order, 100.0 * cluster->spread);
    kf_text_append(text, "not in it: solids, kernels below 50 us that do not reach the memory's speed, "
                         "networks that others use\n");
}

void kf_scaling_assumptions_of_particles(const kf_cluster *cluster, kf_text *text) {
    describe("in a node (measured: NVLink)", &cluster->near, text);
    describe("between nodes (assumed: InfiniBand NDR, a port a device)", &cluster->far, text);
    kf_text_append(text,
                   "%d devices a node; slabs of planes of cells everywhere, of which the thickest counts; at "
                   "most 64 devices\n",
                   cluster->node_devices);
    kf_text_append(
        text,
        "in place %g meetings of all devices, %.3g us each; in parcels %g calls of the host, %.3g us "
        "each; nothing is hidden\n",
        MEETINGS, 0.5e6 * cluster->order, CALLS, 1e6 * CALL);
    kf_text_append(text, "not in it: cubes that are not full, cuts that move\n");
}
