/* The command kftune roofs measures the roofs of a device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "base/backend/device_json.h"
#include "base/backend/team/team.h"
#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "harness/cli/command.h"
#include "harness/roofs/roofs.h"
#include "harness/worker/device_lock.h"
#include "results/store.h"

/* --- Output ------------------------------------------------------------------------------------------- */

/* Prints the device and its measured and theoretical roofs as one JSON object. */
static void print_json(const kf_device_info *device, const kf_roofs *roofs) {
    cJSON *root = kf_json_answer("roofs");
    (void)cJSON_AddItemToObject(root, "device", kf_device_to_json(device));
    cJSON *list = cJSON_AddArrayToObject(root, "roofs");
    for (int i = 0; i < roofs->count; i++) {
        const kf_roof *roof = &roofs->list[i];
        cJSON *object = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(object, "name", roof->name);
        kf_json_add_number(object, "value", roof->value);
        (void)cJSON_AddStringToObject(object, "unit", roof->unit);
        kf_json_add_number(object, "theoretical", roof->theoretical);
        kf_json_add_number(object, "spread", roof->spread);
        (void)cJSON_AddItemToArray(list, object);
    }
    kf_json_print(root);
}

static void print_table(const kf_device_info *device, const kf_roofs *roofs) {
    printf("roofs of %s (%s)\n", device->spec, device->name);
    printf("%-20s %15s %7s %12s %6s  %s\n", "roof", "measured", "spread", "theoretical", "share", "what");
    for (int i = 0; i < roofs->count; i++) {
        const kf_roof *roof = &roofs->list[i];
        char theoretical[32] = "-", share[16] = "-";
        if (isfinite(roof->theoretical)) {
            (void)snprintf(theoretical, sizeof theoretical, "%.4g", roof->theoretical);
            (void)snprintf(share, sizeof share, "%.0f %%", 100 * roof->value / roof->theoretical);
        }
        printf("%-20s %7.4g %-7s %5.1f %% %12s %6s  %s\n", roof->name, roof->value, roof->unit,
               100 * roof->spread, theoretical, share, kf_roof_about(roof->name));
    }
}

/* --- The command -------------------------------------------------------------------------------------- */

static void say_how_steady(const kf_roofs *roofs) {
    static const double DISTURBED =
        0.25; /* Half of the rounds were slower by more than this share. On a quiet machine it is 0.02. */
    const int scattered = kf_roofs_scattered(roofs, DISTURBED);
    if (scattered > 0)
        kf_warn("%d of %d roofs vary by more than %.0f %%: is the device busy with other work? Measure again "
                "when it is idle, because predictions and plots depend on the roofs",
                scattered, roofs->count, 100.0 * DISTURBED);
}

static kf_status measure(kf_backend *backend, kf_store *store, bool json, kf_error *error) {
    kf_roofs *roofs = kf_allocate(sizeof *roofs);
    const bool team = kf_backend_device(backend)->parts > 1;
    kf_status status = team ? kf_links_measure(backend, roofs, error)
                            : kf_roofs_measure(backend, KF_ROOFS_ALL, roofs, error);
    if (status == KF_OK && !team)
        status = kf_store_save_roofs(store, kf_backend_device(backend), roofs, error);
    if (status == KF_OK && json)
        print_json(kf_backend_device(backend), roofs);
    else if (status == KF_OK)
        print_table(kf_backend_device(backend), roofs);
    if (status == KF_OK) say_how_steady(roofs);
    free(roofs);
    return status;
}

/* Measures the roofs of a device, or the links of a team, and prints them. */
static kf_status run(const kf_arguments *arguments, kf_error *error) {
    kf_store *store = NULL;
    kf_backend *backend = NULL;
    kf_device_locks locks = {.count = 0};
    const char *device = kf_argument_device(arguments, NULL);
    KF_TRY(kf_store_open(kf_argument(arguments, "--store", NULL), false, &store, error));
    kf_status status = kf_devices_lock(device, &locks, error);
    if (status == KF_OK) status = kf_backend_open(device, &backend, error);
    if (status == KF_OK) {
        kf_info("measuring the roofs of %s, up to a second each", kf_backend_device(backend)->name);
        status = measure(backend, store, kf_arguments_json(arguments), error);
        kf_backend_close(backend);
    }
    kf_devices_unlock(&locks);
    kf_store_close(store);
    return status;
}

static const kf_option options[] = {
    {"--device", "cuda:N|cpu", "device to measure (default: a GPU if one works, else the cpu)", KF_TEXT},
    {"--devices", "cuda:0-3|cpu,cpu", "a team: measure its links, and do not store them", KF_TEXT},
    {"--store", "FILE", "where the roofs are kept (default: kftune.db in $XDG_DATA_HOME/kftune)", KF_TEXT},
    {NULL, NULL, NULL, KF_FLAG},
};

extern const kf_command kf_command_roofs;
const kf_command kf_command_roofs = {
    .name = "roofs",
    .summary = "measure the machine's roofs: memory, caches, arithmetic, atomics, launches",
    .synopsis = "kftune roofs [--device cuda:N|cpu | --devices cuda:0-3] [--store FILE] [--json]",
    .description =
        "Measures the best rates that memory, caches, arithmetic, atomics and launches of a device reach,\n"
        "in less than a minute. Prints them beside the hardware's peak values. The store keeps them for\n"
        "roofline plots and the cost model. With --devices it measures the links of a team instead: from\n"
        "each device to the next, both ways at once, to the host, and how long one device waits for\n"
        "another.",
    .example = "kftune roofs --device cpu",
    .options = options,
    .run = run,
};
