#include "harness/cli/store_shards.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"

typedef struct shard_list {
    kf_shard *shards;
    size_t count, room;
} shard_list;

static void add_shard(void *context, const kf_shard *shard) {
    shard_list *list = context;
    list->shards = kf_grow(list->shards, list->count, &list->room, sizeof *list->shards);
    list->shards[list->count++] = *shard;
}

static bool same_landscape(const kf_shard *a, const kf_shard *b) {
    return strcmp(a->scene_hash, b->scene_hash) == 0 && strcmp(a->device, b->device) == 0 &&
           a->seed == b->seed && a->count == b->count;
}

/* Returns the median of the anchors of a landscape's shards on one chip; identity NULL: on all chips. */
static double anchor_of(const shard_list *list, const kf_shard *like, const char *identity) {
    double *times = kf_allocate((list->count + 1) * sizeof *times);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (same_landscape(&list->shards[i], like) && isfinite(list->shards[i].anchor_us) &&
            (identity == NULL || strcmp(list->shards[i].identity, identity) == 0))
            times[count++] = list->shards[i].anchor_us;
    const double median = kf_median(times, count);
    free(times);
    return median;
}

/* A chip whose anchors differ from its model's by more than this share does not count as the same device. */
static const double apart = 0.01;

/* Checks the chips that measured the shards of a landscape. Every shard measures the presets, which show
 * whether a chip is slower or faster than the others. The times of such a chip are kept apart. */
static void check_chips(const shard_list *list, const kf_shard *first, cJSON *json) {
    const double all = anchor_of(list, first, NULL);
    cJSON *chips = json != NULL ? cJSON_AddArrayToObject(json, "chips") : NULL;
    for (size_t i = 0; i < list->count; i++) {
        const kf_shard *shard = &list->shards[i];
        bool known = !same_landscape(shard, first);
        int shards = 0;
        for (size_t j = 0; j < list->count; j++) {
            const bool same = same_landscape(&list->shards[j], first) &&
                              strcmp(list->shards[j].identity, shard->identity) == 0;
            known = known || (same && j < i);
            shards += same;
        }
        if (known) continue;
        const double factor = anchor_of(list, first, shard->identity) / all;
        const bool other = isfinite(factor) && fabs(factor - 1.0) > apart;
        if (json == NULL) {
            printf("  chip %s: %d shards, its presets take %.4g times the median%s\n", shard->identity,
                   shards, factor, other ? ": kept apart" : "");
            continue;
        }
        cJSON *chip = cJSON_CreateObject();
        (void)cJSON_AddItemToArray(chips, chip);
        (void)cJSON_AddStringToObject(chip, "identity", shard->identity);
        (void)cJSON_AddNumberToObject(chip, "shards", shards);
        kf_json_add_number(chip, "factor", factor);
        (void)cJSON_AddBoolToObject(chip, "apart", other);
    }
}

/* Returns the number of a landscape's missing shards. */
static int check_landscape(const shard_list *list, const kf_shard *first, cJSON *json) {
    int missing = 0, configs = 0;
    kf_text names = {0};
    cJSON *array = json != NULL ? cJSON_AddArrayToObject(json, "missing") : NULL;
    for (int index = 0; index < first->count; index++) {
        bool finished = false;
        for (size_t i = 0; i < list->count; i++) {
            const kf_shard *shard = &list->shards[i];
            if (!same_landscape(shard, first) || shard->index != index) continue;
            finished = finished || shard->finished;
            configs += shard->configs;
        }
        if (finished) continue;
        missing++;
        kf_text_append(&names, "%s%d", names.length > 0 ? "," : "", index);
        if (array != NULL) (void)cJSON_AddItemToArray(array, cJSON_CreateNumber(index));
    }
    if (json == NULL) {
        printf("%s on %s: %d of %d shards, %d configs measured\n", first->scene, first->device,
               first->count - missing, first->count, configs);
        if (missing > 0) printf("  missing: --shard I/%d for I in %s\n", first->count, names.text);
    } else {
        (void)cJSON_AddStringToObject(json, "scene", first->scene);
        (void)cJSON_AddStringToObject(json, "device", first->device);
        (void)cJSON_AddNumberToObject(json, "shards", first->count);
        (void)cJSON_AddNumberToObject(json, "configs", configs);
    }
    kf_text_free(&names);
    return missing;
}

/* Checks the shards of every landscape in a store: counts missing ones, and compares the chips that measured
 * them. */
kf_status kf_check_shards(kf_store *store, cJSON *root, int *missing, kf_error *error) {
    shard_list list = {NULL, 0, 0};
    const kf_status status = kf_store_shards(store, add_shard, &list, error);
    cJSON *all = root != NULL ? cJSON_AddArrayToObject(root, "landscapes") : NULL;
    *missing = 0;
    for (size_t i = 0; i < list.count; i++) {
        bool known = false;
        for (size_t j = 0; j < i; j++)
            known = known || same_landscape(&list.shards[i], &list.shards[j]);
        if (known) continue;
        cJSON *json = all != NULL ? cJSON_CreateObject() : NULL;
        if (json != NULL) (void)cJSON_AddItemToArray(all, json);
        *missing += check_landscape(&list, &list.shards[i], json);
        check_chips(&list, &list.shards[i], json);
    }
    if (status == KF_OK && root == NULL && list.count == 0)
        printf("no shards of landscapes in %s\n", kf_store_path(store));
    free(list.shards);
    return status;
}
