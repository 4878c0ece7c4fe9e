/* Tests the cost model before any calibration, and searches with it, on landscapes of an H200
 * (results/landscapes). Faults: a change that makes the order or the searches worse. `kftune bench --suite
 * search` has the scenes that take long to sample. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/statistics/statistics.h"
#include "base/util/file.h"
#include "base/util/text.h"
#include "cost_model/model.h"
#include "harness/replay/replay.h"
#include "solver/systems.h"

enum { MOST = 128, MOST_NODES = 1500000 };
static kf_landscape *landscapes[MOST];
static int landscape_count;

static int open_landscapes(void **state) {
    (void)state;
    const char *data = NULL;
    char folder[KF_PATH], path[KF_PATH];
    if (kf_data_folder(&data, NULL) != KF_OK || kf_path(folder, NULL, "%s/results/landscapes", data) != KF_OK)
        return 1;
    DIR *open = opendir(folder);
    if (open == NULL) return 0;
    int failed = 0;
    for (const struct dirent *entry = readdir(open); entry != NULL && !failed; entry = readdir(open)) {
        if (strstr(entry->d_name, ".json.gz") == NULL || landscape_count == MOST) continue;
        kf_error error = {KF_OK, ""};
        failed = kf_path(path, NULL, "%s/%s", folder, entry->d_name) != KF_OK ||
                 kf_landscape_open(path, &landscapes[landscape_count], &error) != KF_OK;
        if (failed) (void)fprintf(stderr, "%s: %s\n", entry->d_name, error.message);
        landscape_count += !failed;
    }
    (void)closedir(open);
    return failed;
}

static int close_landscapes(void **state) {
    (void)state;
    for (int i = 0; i < landscape_count; i++)
        kf_landscape_free(landscapes[i]);
    return 0;
}

/* The cost model of a landscape's scene and device. */
typedef struct kf_believer {
    kf_problem *problem;
    kf_device_info device;
    kf_cost_prior source;
} kf_believer;

static void open_believer(const kf_landscape *landscape, kf_believer *believer) {
    kf_error error = {KF_OK, ""};
    memset(believer, 0, sizeof *believer);
    if (kf_problem_open(landscape->scene, "kinetic", &landscape->options, &believer->problem, &error) !=
        KF_OK)
        fail_msg("%s", error.message);
    kf_copy_text(believer->device.backend, sizeof believer->device.backend, landscape->backend);
    believer->device.peak_bandwidth = landscape->peak_bandwidth;
    kf_cost_model_open(believer->problem, &believer->device, NULL, &believer->source.model);
    believer->source.space = landscape->space;
    assert_non_null(believer->source.model);
}

static void close_believer(kf_believer *believer) {
    kf_cost_model_close(believer->source.model);
    kf_problem_free(believer->problem);
}

static double rank_correlation(const kf_landscape *landscape, kf_believer *believer) {
    double *measured = calloc(landscape->size, sizeof *measured),
           *predicted = calloc(landscape->size, sizeof *predicted);
    size_t count = 0;
    for (uint64_t i = 0; i < landscape->size; i++) {
        if (landscape->states[i] != KF_STATE_OK) continue;
        measured[count] = landscape->times_us[i];
        predicted[count++] = kf_cost_prior_time(&believer->source, i);
    }
    const double correlation = kf_rank_correlation(measured, predicted, count);
    free(measured);
    free(predicted);
    return correlation;
}

static double regret_after(const kf_landscape *landscape, kf_believer *believer, int evaluations) {
    const kf_prior prior = {kf_cost_prior_time, &believer->source};
    const kf_replay_request request = {landscape, "model", evaluations, 10, 1, &prior};
    kf_replay_result result;
    kf_error error = {KF_OK, ""};
    if (kf_replay(&request, &result, &error) != KF_OK) fail_msg("%s", error.message);
    const double regret = result.means[result.evaluations - 1];
    kf_replay_free(&result);
    return regret;
}

static void test_model_and_search_on_an_h200(void **state) {
    (void)state;
    bool judged = false;
    for (int i = 0; i < landscape_count; i++) {
        const kf_landscape *landscape = landscapes[i];
        kf_believer believer;
        kf_config first;
        kf_space_config(landscape->space, 0, &first);
        if (strcmp(first.system, "kinetic") != 0) continue; /* there is no cost model of others' kernels */
        if ((double)landscape->options.nodes[0] * landscape->options.nodes[1] * landscape->options.nodes[2] >
            MOST_NODES)
            continue;
        open_believer(landscape, &believer);
        const double correlation = rank_correlation(landscape, &believer);
        const double regret = regret_after(landscape, &believer, 20);
        print_message("%s: rank correlation %.3f, regret after 20 evaluations %.2f %%\n", landscape->name,
                      correlation, 100 * regret);
        close_believer(&believer);
        /* This is without calibration. Where the model says little, half of the configs are its own
         * choice, within a tenth of the best. */
        assert_true(correlation >= 0.78);
        assert_true(regret <= 0.02);
        judged = true;
    }
    if (!judged) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_model_and_search_on_an_h200)};
    return cmocka_run_group_tests(tests, open_landscapes, close_landscapes);
}
