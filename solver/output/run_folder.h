/* The folder of a production run. Its run.json describes the other files, and shows that the folder is
 * kftune's. */
#ifndef KF_SOLVER_OUTPUT_RUN_FOLDER_H
#define KF_SOLVER_OUTPUT_RUN_FOLDER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/plan/facts.h"
#include "base/util/file.h"

/* Opens a folder for writing. KF_BAD_INPUT, unless force is given, if it holds other files or the run of
 * another scene. An earlier run of the same scene is overwritten file by file. A folder that a running
 * process writes into is refused even with force. *lock: a file to close when the run has ended; -1 if the
 * file system has no locks. */
kf_status kf_run_folder_open(const char *path, const char *scene_hash, bool force, int *lock,
                             kf_error *error);

/* KF_BAD_INPUT if the folder holds a run that got beyond step `steps`. A new run that ends there would
 * overwrite results that it does not reach. */
kf_status kf_run_folder_keep_longer(const char *path, uint64_t steps, kf_error *error);

/* KF_BAD_INPUT if the columns of the folder's tables mean something else, according to run.json, than
 * `meaning` (kf_plan_methods.meaning). Otherwise a run that continues would add rows of another meaning. */
kf_status kf_run_folder_check_meaning(const char *path, const kf_facts *meaning, kf_error *error);

/* Finds whether run.json says that a run is in progress. In a folder that was just opened this means that
 * the run was killed. checkpoint: the path of its last one, or "". */
kf_status kf_run_folder_was_killed(const char *path, bool *killed, char checkpoint[KF_PATH], kf_error *error);

/* Finds the folder of the run in whose flow this run began, from run.json; "" if there is none. */
kf_status kf_run_folder_begun_in(const char *path, char neighbour[KF_PATH], kf_error *error);

/* Returns false if no process writes into the folder; a run in progress according to run.json was then
 * killed. True if that is not known: the folder is missing, or its file system has no locks. */
bool kf_run_folder_is_in_use(const char *path);

/* Writes run.json. record: an object with at least the keys "kftune" and "scene_hash". */
kf_status kf_run_folder_record(const char *path, const cJSON *record, kf_error *error);

/* Finds how to continue a run of this scene in a folder. *done: it has finished, after *step. Otherwise it
 * continues from the checkpoint, which is of *step; "" and 0: from the beginning. A folder that is missing or
 * holds another scene's run begins anew. */
kf_status kf_run_folder_resume(const char *path, const char *scene_hash, bool *done, char checkpoint[KF_PATH],
                               uint64_t *step, kf_error *error);

#endif
