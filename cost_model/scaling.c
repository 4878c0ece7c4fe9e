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

enum { CROSSING = 9 }; /* of 27 populations, those that lead across a face */

/* Both ways are under way at once. */
static double alone(const kf_link *link, double bytes) {
    return bytes > 0.0 ? link->latency + bytes / link->rate : 0.0;
}

static double beside(const kf_link *link, double bytes) {
    return bytes > 0.0 ? link->beside + bytes * link->beside_a_byte : 0.0;
}

/* The slowest of so many whose speeds are normally spread. */
static double wait_for_slowest(const kf_cluster *cluster, int devices) {
    return devices > 1 ? cluster->spread * sqrt(2.0 * log((double)devices)) : 0.0;
}

double kf_scaling_efficiency(const kf_cluster *cluster, const kf_scaling_case *what, kf_exchange exchange,
                             int devices) {
    const double nodes = what->strong ? what->nodes / devices : what->nodes, share = nodes / what->rate;
    const double own = what->strong ? share + what->fixed * (1.0 - 1.0 / devices) : share;
    const bool in_node = devices <= cluster->node_devices;
    /* A slab's faces are as large as the domain's; a block's as its own. */
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
