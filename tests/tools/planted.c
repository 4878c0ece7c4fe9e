#include "tests/tools/planted.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/util/file.h"

static const char file[] = "kernels/probe/busy.cu";

/* Systems are tables of functions without data, so this one keeps its data here. */
static const kf_system *inner;
static kf_system planted;
static int planted_rounds;

typedef struct busy_arguments { /* as in kernels/probe/busy.cu */
    int extent[3];
    int rounds;
    float *result;
} busy_arguments;

static kf_status append_busy_loop(kf_plan *plan, kf_error *error) {
    const kf_source source = {.file = file};
    kf_module *module = NULL;
    kf_function *function = NULL;
    kf_buffer *buffer = NULL;
    KF_TRY(kf_plan_module(plan, &source, &module, error));
    KF_TRY(kf_module_function(module, "busy", &function, error));
    KF_TRY(kf_plan_buffer(plan, 32 * sizeof(float), &buffer, error));
    KF_TRY(kf_buffer_fill(buffer, 0, error));
    busy_arguments arguments = {
        .extent = {1, 1, 1}, .rounds = planted_rounds, .result = kf_buffer_address(buffer)};
    kf_launch launch;
    kf_launch_set(&launch, "planted_busy_loop", function, (const int[3]){32, 1, 1}, &arguments,
                  sizeof arguments);
    (void)kf_plan_add_kernel(plan, &launch);
    return KF_OK;
}

static kf_status make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                           kf_plan **plan, kf_error *error) {
    KF_TRY(inner->plan(problem, config, backend, plan, error));
    kf_status status = append_busy_loop(*plan, error);
    if (status != KF_OK) {
        kf_plan_free(*plan);
        *plan = NULL;
    }
    return status;
}

static kf_status visit_sources(const kf_problem *problem, const kf_config *config,
                               const kf_device_info *device,
                               kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                               void *data, kf_error *error) {
    KF_TRY(inner->sources(problem, config, device, visit, data, error));
    return visit(&(kf_source){.file = file}, data, error);
}

static const char variable[] = "KFTUNE_PLANTED_ROUNDS";

void kf_planted_rounds_set(long rounds) {
    char text[24];
    (void)snprintf(text, sizeof text, "%ld", rounds);
    (void)setenv(variable, text, 1);
}

/* A file in the data folder is kept with a night's program, which runs again beside later ones. */
static int find_rounds(void) {
    const char *text = getenv(variable), *data = NULL;
    char path[KF_PATH], *content = NULL;
    size_t size = 0;
    if (text != NULL) return atoi(text);
    if (kf_data_folder(&data, NULL) != KF_OK || kf_path(path, NULL, "%s/kernels/planted", data) != KF_OK ||
        kf_file_read(path, 64, &content, &size, NULL) != KF_OK)
        return 0;
    const int rounds = atoi(content);
    free(content);
    return rounds;
}

const kf_system *kf_system_planted(const kf_system *system) {
    planted_rounds = find_rounds();
    if (planted_rounds <= 0) return system;
    inner = system;
    planted = *system;
    planted.plan = make_plan;
    planted.sources = visit_sources;
    return &planted;
}
