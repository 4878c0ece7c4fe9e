/* Tests the model of scaling against a plain D3Q27 kernel on two and four H200s of a host (docs/teams.md).
 * Faults: an efficiency that is off, with copies beside the step or after it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost_model/scaling.h"

static const struct {
    double edge, alone_ms;
    bool strong;
    kf_exchange exchange;
    int devices;
    double percent;
} measured[] = {
    {256, 0.959, false, KF_EXCHANGE_IN_PLACE, 2, 100.5},
    {256, 0.959, false, KF_EXCHANGE_IN_PLACE, 4, 100.0},
    {400, 3.700, false, KF_EXCHANGE_IN_PLACE, 2, 100.0},
    {400, 3.700, false, KF_EXCHANGE_IN_PLACE, 4, 100.0},
    {256, 0.959, false, KF_EXCHANGE_HIDDEN, 2, 100.0},
    {256, 0.959, false, KF_EXCHANGE_HIDDEN, 4, 99.5},
    {400, 3.700, false, KF_EXCHANGE_HIDDEN, 2, 99.6},
    {400, 3.700, false, KF_EXCHANGE_HIDDEN, 4, 99.6},
    {256, 0.959, false, KF_EXCHANGE_AFTER_STEP, 2, 97.0},
    {256, 0.959, false, KF_EXCHANGE_AFTER_STEP, 4, 96.2},
    {400, 3.700, false, KF_EXCHANGE_AFTER_STEP, 2, 98.4},
    {400, 3.700, false, KF_EXCHANGE_AFTER_STEP, 4, 98.1},
    {512, 7.640, true, KF_EXCHANGE_AFTER_STEP, 2, 98.2},
    {512, 7.640, true, KF_EXCHANGE_AFTER_STEP, 4, 95.9},
};

/* With the Ahmed body across the cut, on two H200s (results/measured/h200-teams.json), planes were copied
 * from GPU to GPU, through the host, or by NCCL. */
static const struct {
    double nodes, alone_ms;
    bool strong;
    kf_exchange exchange;
    double percent;
} with_solid[] = {
    {64e6, 3.4817, false, KF_EXCHANGE_IN_PLACE, 100.03},
    {64e6, 3.4817, false, KF_EXCHANGE_HIDDEN, 99.29},
    {64e6, 3.4817, false, KF_EXCHANGE_HIDDEN, 99.33},
    {64e6, 3.4817, false, KF_EXCHANGE_HIDDEN, 98.70},
    {16777216, 0.9293, false, KF_EXCHANGE_IN_PLACE, 99.13},
    {16777216, 0.9293, false, KF_EXCHANGE_HIDDEN, 98.29},
    {16777216, 0.9293, false, KF_EXCHANGE_HIDDEN, 96.70},
    {134217728, 7.1846, true, KF_EXCHANGE_IN_PLACE, 98.64},
    {134217728, 7.1846, true, KF_EXCHANGE_HIDDEN, 97.25},
    {16777216, 0.9290, true, KF_EXCHANGE_HIDDEN, 93.40},
    {16777216, 0.9290, true, KF_EXCHANGE_HIDDEN, 92.98},
    {16777216, 0.9290, true, KF_EXCHANGE_HIDDEN, 92.03},
    {16e6, 0.9434, true, KF_EXCHANGE_IN_PLACE, 97.77},
};

/* A solid adds planes from which 27 populations per node cross, and kernels that take as long for a part
 * as for the whole. */
static void test_solid_within_two_percent(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof with_solid / sizeof *with_solid; i++) {
        const kf_scaling_case what = {.nodes = with_solid[i].nodes,
                                      .strong = with_solid[i].strong,
                                      .rate = with_solid[i].nodes / (1e-3 * with_solid[i].alone_ms),
                                      .value_bytes = 4,
                                      .crossing = 27,
                                      .fixed = 28e-6};
        const double said = 100.0 * kf_scaling_efficiency(&kf_cluster_h200, &what, with_solid[i].exchange, 2);
        if (fabs(said - with_solid[i].percent) > 2.0)
            fail_msg("row %zu: %.1f %%, measured %.1f %%", i, said, with_solid[i].percent);
    }
}

static void test_measured_within_two_percent(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        const double nodes = pow(measured[i].edge, 3.0);
        const kf_scaling_case what = {.nodes = nodes,
                                      .strong = measured[i].strong,
                                      .rate = nodes / (1e-3 * measured[i].alone_ms),
                                      .value_bytes = 4};
        const double said =
            100.0 * kf_scaling_efficiency(&kf_cluster_h200, &what, measured[i].exchange, measured[i].devices);
        if (fabs(said - measured[i].percent) > 2.0)
            fail_msg("row %zu: %.1f %%, measured %.1f %%", i, said, measured[i].percent);
    }
}

/* Up to the largest machines, more devices, or less work to hide transfers behind, are never better. */
static void test_efficiency_never_rises_with_devices(void **state) {
    (void)state;
    for (int strong = 0; strong < 2; strong++)
        for (int e = 0; e < KF_EXCHANGES; e++) {
            double before = 1.0;
            for (int devices = 1; devices <= 16384; devices *= 2) {
                const kf_scaling_case what = {.nodes = strong ? pow(2048, 3) : pow(400, 3),
                                              .strong = strong,
                                              .rate = 18e9,
                                              .value_bytes = 4};
                const double now = kf_scaling_efficiency(&kf_cluster_h200, &what, (kf_exchange)e, devices);
                assert_true(now > 0.0 && now <= 1.0);
                assert_true(devices == 16 ||
                            now <= before + 1e-12); /* the first of more nodes is cut another way */
                before = now;
                if (e > 0)
                    assert_true(
                        now <= kf_scaling_efficiency(&kf_cluster_h200, &what, (kf_exchange)(e - 1), devices) +
                                   1e-12);
            }
        }
}

/* A million particles with a support of 2.03 spacings have 49 planes. Each of four devices has 12 or 13 of
 * them, and each of 32 at least one. Nothing is faster than transfer in place, and nothing slower than
 * through the host. */
static void test_planes_of_particles_are_shared_out(void **state) {
    (void)state;
    const kf_cluster free_links = {.node_devices = 8, .near = {.rate = 1e30}, .far = {.rate = 1e30}};
    const kf_scaling_case strong = kf_scaling_of_particles(1e6, true, 2e9, 2.03, 8),
                          weak = kf_scaling_of_particles(16e6, false, 2e9, 2.03, 8),
                          sorted = kf_scaling_of_particles(16e6, false, 2e9, 2.03, 1);
    const double slabs = kf_scaling_efficiency(&free_links, &strong, KF_EXCHANGE_IN_PLACE, 4);
    assert_true(fabs(slabs - 49.0 / 52.0) < 1e-9);
    assert_int_equal(kf_scaling_most_devices(&strong), 32);
    assert_int_equal(kf_scaling_most_devices(&weak), 64);
    assert_true(fabs(weak.crossing - 2.03 * (56.0 / 8 + 32.0 * 7 / 8)) < 1e-9);
    assert_true(fabs(sorted.crossing - 2.03 * 56.0) < 1e-9);
    for (int devices = 2; devices <= 64; devices *= 2) {
        double before = 1.0;
        for (int e = 0; e < KF_EXCHANGES; e++) {
            const double now = kf_scaling_efficiency(&kf_cluster_h200, &weak, (kf_exchange)e, devices);
            assert_true(now > 0.0 && now <= before);
            before = now;
        }
    }
    /* By hand: two faces of a slab of 317^2 particles, of 35 x 2.03 bytes each, at 393 GB/s; 25 us of
     * synchronisation; the slower of two devices. */
    const double said = kf_scaling_efficiency(&kf_cluster_h200, &weak, KF_EXCHANGE_IN_PLACE, 2),
                 face = pow(32e6, 2.0 / 3.0), wait = 25e-6 + 2 * face * 35 * 2.03 / 393e9;
    assert_true(fabs(said - 8e-3 / (8e-3 * 78 * 2 / 156 + wait) / (1 + 0.0005 * sqrt(2 * log(2)))) < 1e-6);
}

static void test_assumptions_are_said(void **state) {
    (void)state;
    kf_text text = {0};
    kf_scaling_assumptions(&kf_cluster_h200, &text);
    assert_non_null(strstr(text.text, "393 GB/s"));
    assert_non_null(strstr(text.text, "assumed: InfiniBand"));
    assert_non_null(strstr(text.text, "not in it"));
    kf_text_free(&text);
    kf_scaling_assumptions_of_particles(&kf_cluster_h200, &text);
    assert_non_null(strstr(text.text, "of which the thickest counts"));
    assert_non_null(strstr(text.text, "3 calls of the host"));
    kf_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_measured_within_two_percent),
                                       cmocka_unit_test(test_solid_within_two_percent),
                                       cmocka_unit_test(test_efficiency_never_rises_with_devices),
                                       cmocka_unit_test(test_planes_of_particles_are_shared_out),
                                       cmocka_unit_test(test_assumptions_are_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
