/* Checkpoints: the whole state of a plan in one file, from which a run continues bit for bit. kftune has its
 * own format, a line of JSON and bytes, because HDF5 does not handle damaged files safely. */
#ifndef KF_SOLVER_OUTPUT_CHECKPOINT_H
#define KF_SOLVER_OUTPUT_CHECKPOINT_H

#include "base/plan/plan.h"
#include "solver/smoke/smoke.h"

enum { KF_CHECKPOINT_TEXT = 128 };

/* The description of a checkpoint. */
typedef struct kf_checkpoint {
    char system[KF_NAME], scene[KF_CHECKPOINT_TEXT], scene_hash[KF_HASH_HEX], config_hash[KF_HASH_HEX];
    char collision[KF_NAME],
        storage[KF_NAME]; /* "-" if the problem has no such fact, or the system no such parameter */
    int nodes[3];         /* size of the problem; zeros if it has none */
    uint64_t step, state_bytes;
    char smoke_hash[KF_HASH_HEX]; /* "-" without smoke */
    uint64_t smoke_bytes;
} kf_checkpoint;

/* Writes the state of the plan, and of its smoke (may be NULL). The file appears whole or not at all. */
kf_status kf_checkpoint_write(const char *path, kf_plan *plan, kf_smoke *smoke, kf_error *error);

/* KF_MACHINE if the folder's file system has no room for the file that kf_checkpoint_write would write. */
kf_status kf_checkpoint_check_room(const char *folder, kf_plan *plan, const kf_smoke *smoke, kf_error *error);

/* Reads the description without the state. KF_BAD_INPUT for a missing, truncated or foreign file. */
kf_status kf_checkpoint_describe(const char *path, kf_checkpoint *checkpoint, kf_error *error);

/* Restores state and step of the plan, and its smoke. smoke may be NULL; if the file has none, the run starts
 * without smoke. KF_BAD_INPUT, with the plan unchanged, for a damaged file, or one of another scene, grid,
 * collision model, storage type or smoke. *checkpoint (may be NULL): its description. The config may differ
 * from the plan's, but only the same config continues bit for bit. */
kf_status kf_checkpoint_restore(const char *path, kf_plan *plan, kf_smoke *smoke, kf_checkpoint *checkpoint,
                                kf_error *error);

/* Starts the plan at step 0 from the flow of another scene's checkpoint. KF_BAD_INPUT, with the plan
 * unchanged, for a file that kf_checkpoint_restore would refuse for a reason other than the scene, and if
 * either state contains more than a flow (kf_flow_methods.lends). */
kf_status kf_checkpoint_begin(const char *path, kf_plan *plan, kf_error *error);

#endif
