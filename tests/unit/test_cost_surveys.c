/* Cost models held against random surveys of an H200 (results/measured): the rank correlation of each without
 * calibration, presets included. What the models have since learned from them must not be lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/statistics/statistics.h"
#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "cost_model/model.h"
#include "harness/replay/landscape.h"
#include "solver/systems.h"

static double correlation_of(const char *survey) {
    const char *data = NULL;
    char path[KF_PATH];
    kf_error error = {KF_OK, ""};
    kf_landscape *landscape;
    kf_config config;
    kf_problem *problem;
    kf_cost_model *model = NULL;
    kf_device_info device = {0};
    if (kf_data_folder(&data, &error) != KF_OK ||
        kf_path(path, &error, "%s/results/measured/h200-survey-%s.json.gz", data, survey) != KF_OK ||
        kf_landscape_open(path, &landscape, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_space_config(landscape->space, 0, &config);
    if (kf_problem_open(landscape->scene, config.system, &landscape->options, &problem, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_copy_text(device.backend, sizeof device.backend, landscape->backend);
    device.peak_bandwidth = landscape->peak_bandwidth;
    device.l2_bytes = landscape->l2_bytes;
    kf_cost_model_open(problem, &device, NULL, &model);
    assert_non_null(model);
    double *predicted = kf_allocate(landscape->size * sizeof *predicted),
           *measured = kf_allocate(landscape->size * sizeof *measured);
    size_t count = 0;
    for (uint64_t i = 0; i < landscape->size; i++) {
        kf_prediction prediction;
        if (landscape->states[i] != KF_STATE_OK) continue;
        kf_space_config(landscape->space, i, &config);
        if (kf_cost_model_predict(model, &config, NULL, &prediction, &error) != KF_OK)
            fail_msg("%s: %s", survey, error.message);
        measured[count] = landscape->times_us[i];
        predicted[count++] = prediction.time_us;
    }
    const double correlation = kf_rank_correlation(measured, predicted, count);
    free(predicted);
    free(measured);
    kf_cost_model_close(model);
    kf_problem_free(problem);
    kf_landscape_free(landscape);
    return correlation;
}

static void surveys_of_an_h200(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double least;
    } surveys[] = {{"cavity2d-1536x1536x1", 0.93}, {"cylinder_array2d-1280x1280x1", 0.93},
                   {"cavity2d-1024x1024x1", 0.97}, {"cylinder_array2d-1792x1792x1", 0.9},
                   {"decay-768x768x1", 0.87},      {"decay-3072x3072x1", 0.86},
                   {"decay-1024x1024x1", 0.89},    {"decay-2304x2304x1", 0.86},
                   {"ball-128x112x96", 0.95}};
    for (size_t i = 0; i < sizeof surveys / sizeof *surveys; i++) {
        const double correlation = correlation_of(surveys[i].name);
        if (!(correlation >= surveys[i].least))
            fail_msg("%s: rank correlation %.4f", surveys[i].name, correlation);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(surveys_of_an_h200)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
