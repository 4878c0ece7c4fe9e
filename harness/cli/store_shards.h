/* Checks the shards of landscapes in a store: which ones are missing, and whether the chips that measured
 * them are alike. */
#ifndef KF_HARNESS_CLI_STORE_SHARDS_H
#define KF_HARNESS_CLI_STORE_SHARDS_H

#include <cjson/cJSON.h>

#include "results/store.h"

/* Prints the result, or adds it to root if root is not NULL. *missing: the number of shards without an end.
 */
kf_status kf_check_shards(kf_store *store, cJSON *root, int *missing, kf_error *error);

#endif
