/* Prints what `kftune store` shows: the stored runs, or one run with its configs. */
#ifndef KF_HARNESS_CLI_STORE_SHOW_H
#define KF_HARNESS_CLI_STORE_SHOW_H

#include "harness/cli/command.h"
#include "results/store.h"

/* Opens the store that --store names, otherwise the user's. The caller closes it. */
kf_status kf_store_of_arguments(const kf_arguments *arguments, bool read_only, kf_store **store,
                                kf_error *error);
/* Begins the JSON that an action prints. The caller frees it. */
cJSON *kf_store_answer(const char *action, const kf_store *store);

/* These are the actions list and show. */
kf_status kf_store_list(const kf_arguments *arguments, kf_error *error);
kf_status kf_store_show(const kf_arguments *arguments, kf_error *error);

#endif
