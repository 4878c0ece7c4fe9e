/* Checks the shards of landscapes in a store: which are missing, and how alike the chips are that measured
 * them. */
#ifndef KF_HARNESS_CLI_STORE_SHARDS_H
#define KF_HARNESS_CLI_STORE_SHARDS_H

#include <cjson/cJSON.h>

#include "results/store.h"

/* Prints them, or adds them to root unless that is NULL; *missing: shards that nobody has finished. */
kf_status kf_check_shards(kf_store *store, cJSON *root, int *missing, kf_error *error);

#endif
