/* Finds where a run begins: at the start, or where a checkpoint ended. */
#include <inttypes.h>
#include <string.h>

#include "base/util/log.h"
#include "solver/output/checkpoint.h"
#include "solver/output/production.h"

/* Restores a checkpoint, or begins anew. Smoke and config may be others than the checkpoint's, with a
 * warning. */
kf_status kf_production_start(kf_plan *plan, kf_smoke *smoke, const char *restart, kf_error *error) {
    if (!restart) return kf_plan_initialise(plan, error);
    kf_checkpoint stored;
    KF_TRY(kf_checkpoint_restore(restart, plan, smoke, &stored, error));
    if (smoke != NULL && stored.smoke_bytes == 0) kf_warn("%s has no smoke: it begins now", restart);
    if (plan->steps_done != stored.step) {
        return kf_fail(error, KF_MACHINE, "%s: the plan did not continue from step %" PRIu64, restart,
                       stored.step);
    }
    char config_hash[KF_HASH_HEX];
    kf_config_hash(&plan->config, config_hash);
    if (strcmp(config_hash, stored.config_hash) != 0) {
        kf_warn("%s was written with another config; the run goes on from it, but not bit for bit", restart);
    }
    return KF_OK;
}

kf_status kf_production_begin_in(kf_plan *plan, const char *neighbour, bool *begun, kf_error *error) {
    kf_error why;
    const kf_status status = kf_checkpoint_begin(neighbour, plan, &why);
    *begun = status == KF_OK;
    if (*begun) return KF_OK;
    if (status != KF_BAD_INPUT) return kf_fail(error, status, "%s", why.message);
    kf_info("begins at rest, as the flow of a neighbour does not fit: %s", why.message);
    return kf_plan_initialise(plan, error);
}
