/* Checkpoints: the whole state of a plan in one file, from which a run goes on bit for bit. The format is our
 * own, a line of JSON and bytes, because HDF5 cannot be trusted with damaged files. */
#ifndef KF_SOLVER_OUTPUT_CHECKPOINT_H
#define KF_SOLVER_OUTPUT_CHECKPOINT_H

#include "base/plan/plan.h"
#include "solver/smoke/smoke.h"

enum { KF_CHECKPOINT_TEXT = 128 };

/* Description of a checkpoint. */
typedef struct kf_checkpoint {
    char system[KF_NAME], scene[KF_CHECKPOINT_TEXT], scene_hash[KF_HASH_HEX], config_hash[KF_HASH_HEX];
    char collision[KF_NAME],
        storage[KF_NAME]; /* "-": the problem has no such fact, the system no parameter */
    int nodes[3];         /* the problem's size; zeros without one */
    uint64_t step, state_bytes;
    char smoke_hash[KF_HASH_HEX]; /* "-" without smoke */
    uint64_t smoke_bytes;
} kf_checkpoint;

/* Downloads the state of the plan, and of its smoke unless that is NULL, and writes it whole or not at all.
 */
kf_status kf_checkpoint_write(const char *path, kf_plan *plan, kf_smoke *smoke, kf_error *error);

/* KF_MACHINE where the folder's file system has no room for the file that kf_checkpoint_write would write. */
kf_status kf_checkpoint_check_room(const char *folder, kf_plan *plan, const kf_smoke *smoke, kf_error *error);

/* The description alone, without the state: KF_BAD_INPUT for a missing, truncated or foreign file. */
kf_status kf_checkpoint_describe(const char *path, kf_checkpoint *checkpoint, kf_error *error);

/* Puts the plan into the stored state and step, and its smoke, unless that is NULL or the file has none (then
 * there is none yet). KF_BAD_INPUT, with the plan untouched, for a file of another scene, grid, collision
 * model, storage type or smoke, and for a damaged one. *checkpoint (may be NULL) is its description; another
 * config than the plan's is fine, but only the same one goes on bit for bit. */
kf_status kf_checkpoint_restore(const char *path, kf_plan *plan, kf_smoke *smoke, kf_checkpoint *checkpoint,
                                kf_error *error);

/* Puts the plan at step 0 into the flow of another scene's checkpoint. KF_BAD_INPUT, with the plan untouched,
 * for a file that kf_checkpoint_restore would refuse for another reason than the scene, and where the state
 * of either is more than a flow (kf_flow_methods.lends). */
kf_status kf_checkpoint_begin(const char *path, kf_plan *plan, kf_error *error);

#endif
