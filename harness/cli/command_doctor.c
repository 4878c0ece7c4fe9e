/* The command kftune doctor says what works on this machine, what does not, and how to repair it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/backend/device_json.h"
#include "base/util/json.h"
#include "harness/cli/command.h"
#include "harness/doctor/checks.h"

static const char *const state_names[] = {"ok", "degraded", "missing"};

/* All checks, in the order in which they are printed. */
static const kf_diagnosis all_checks[] = {
    {.name = "cpu backend", .backend = true, .run = kf_check_cpu},
    {.name = "NVIDIA driver", .run = kf_check_driver},
    {.name = "NVRTC", .run = kf_check_nvrtc},
    {.name = "cuda backend", .backend = true, .run = kf_check_cuda},
    {.name = "NVML", .gpu = true, .run = kf_check_nvml},
    {.name = "CUPTI", .gpu = true, .run = kf_check_cupti},
    {.name = "NCCL", .gpu = true, .run = kf_check_nccl},
    {.name = "cuFFT", .gpu = true, .run = kf_check_cufft},
    {.name = "GPU clock", .gpu = true, .run = kf_check_clock},
    {.name = "GPU sharing", .gpu = true, .run = kf_check_sharing},
    {.name = "PAPI", .run = kf_check_papi},
    {.name = "FFTW", .run = kf_check_fftw},
    {.name = "gnuplot", .run = kf_check_gnuplot},
    {.name = "store folder", .run = kf_check_store},
    {.name = "cache folder", .run = kf_check_cache},
    {.name = "memory", .run = kf_check_memory},
    {.name = "processors", .run = kf_check_threads},
    {.name = "competing load", .run = kf_check_load},
};
enum { CHECKS = sizeof all_checks / sizeof all_checks[0] };

static void print_line(const kf_diagnosis *check) {
    printf("%-8s  %-14s  %s\n", state_names[check->state], check->name, check->detail);
    if (check->cure[0] != '\0') printf("%-8s  %-14s  -> %s\n", "", "", check->cure);
}

/* Prints all checks as one JSON object, with the best working device or null. */
static void print_json(const kf_diagnosis *checks, const char *device) {
    cJSON *root = kf_json_answer("doctor");
    kf_device_info info;
    const bool known =
        device != NULL && (strcmp(device, "cpu") == 0 ? kf_cpu_device_describe(&info, NULL)
                                                      : kf_cuda_device_describe(0, &info, NULL)) == KF_OK;
    cJSON_AddItemToObject(root, "device", known ? kf_device_to_json(&info) : cJSON_CreateNull());
    cJSON *list = cJSON_AddArrayToObject(root, "checks");
    for (int i = 0; i < CHECKS; i++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "name", checks[i].name);
        cJSON_AddStringToObject(object, "state", state_names[checks[i].state]);
        cJSON_AddStringToObject(object, "detail", checks[i].detail);
        if (checks[i].cure[0] != '\0') cJSON_AddStringToObject(object, "cure", checks[i].cure);
        cJSON_AddItemToArray(list, object);
    }
    kf_json_print(root);
}

/* Runs all checks and prints them. KF_MACHINE if neither backend works. Checks of a GPU are left out on a
 * machine without one. */
static kf_status run(const kf_arguments *arguments, kf_error *error) {
    const bool json = kf_arguments_json(arguments);
    kf_diagnosis checks[CHECKS];
    const char *device = NULL; /* the best working device */
    char why[256] = "";
    const bool has_gpu = kf_cuda_device_count(why, sizeof why) > 0;
    for (int i = 0; i < CHECKS; i++) {
        checks[i] = all_checks[i];
        if (checks[i].gpu && !has_gpu)
            kf_check_report(&checks[i], KF_CHECK_OK, "", "no GPU");
        else
            checks[i].run(&checks[i]);
        if (checks[i].backend && checks[i].state != KF_CHECK_MISSING)
            device = checks[i].run == kf_check_cuda ? "cuda:0" : "cpu";
        if (!json) print_line(&checks[i]);
    }
    if (json)
        print_json(checks, device);
    else if (device != NULL)
        printf("kftune can tune and run on this machine; the default device is %s\n", device);
    if (device != NULL) return KF_OK;
    return kf_fail(error, KF_MACHINE,
                   "tuning is impossible here: neither the cpu nor the cuda backend works; follow "
                   "the cure of either");
}

static const kf_option options[] = {{NULL, NULL, NULL, KF_FLAG}};

const kf_command kf_command_doctor = {
    .name = "doctor",
    .summary = "show what works on this machine, and the cure for what does not",
    .synopsis = "kftune doctor [--json]",
    .description =
        "Builds and runs a small kernel on every backend, and checks everything else that kftune uses. "
        "Prints\n"
        "a line for each: ok, degraded (works, but less well) or missing, with what to do. Status 3 when\n"
        "neither backend works.",
    .example = "kftune doctor",
    .options = options,
    .positional = NULL,
    .run = run,
};
