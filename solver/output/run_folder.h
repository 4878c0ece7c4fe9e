/* The folder of a production run. run.json in it says what the rest is, and that the folder is ours. */
#ifndef KF_SOLVER_OUTPUT_RUN_FOLDER_H
#define KF_SOLVER_OUTPUT_RUN_FOLDER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/plan/facts.h"
#include "base/util/file.h"

/* Makes path a folder to write into. A folder with other people's files, or with the run of another scene, is
 * refused (KF_BAD_INPUT) unless force is given; an earlier run of the same scene is overwritten file by file.
 * One that a living process writes into is refused in any case: *lock is a file to be closed when the run has
 * ended, -1 where the file system has no locks. */
kf_status kf_run_folder_open(const char *path, const char *scene_hash, bool force, int *lock,
                             kf_error *error);

/* KF_BAD_INPUT when the folder's record is of a run that got beyond step `steps`: one that begins anew and
 * ends there would write over what it cannot give back. */
kf_status kf_run_folder_keep_longer(const char *path, uint64_t steps, kf_error *error);

/* KF_BAD_INPUT when the folder's record says that the columns of its tables refer to something else than what
 * kf_plan_methods.meaning says now: a run that goes on would add rows of another meaning below those. */
kf_status kf_run_folder_check_meaning(const char *path, const kf_facts *meaning, kf_error *error);

/* True when the folder's record says that a run goes on, which in a folder just opened means that it was
 * killed. checkpoint: the path of its last one, "" without. */
bool kf_run_folder_was_killed(const char *path, char checkpoint[KF_PATH]);

/* The folder of the run in whose flow this one began, as its record says; "" without. */
void kf_run_folder_begun_in(const char *path, char neighbour[KF_PATH]);

/* False when no process writes into the folder, so that a record of a run that goes on is of one that was
 * killed. True where it is not known: the folder is not there, or its file system has no locks. */
bool kf_run_folder_is_in_use(const char *path);

/* Writes run.json. record: an object with at least "kftune" and "scene_hash". */
kf_status kf_run_folder_record(const char *path, const cJSON *record, kf_error *error);

/* Finds what a run of this scene in a folder is to do to go on: nothing where one finished (*done), else
 * from the checkpoint, which lies at *step; empty and 0: from the beginning. A folder that is not there,
 * or holds another scene's run, is to begin anew. */
kf_status kf_run_folder_resume(const char *path, const char *scene_hash, bool *done, char checkpoint[KF_PATH],
                               uint64_t *step, kf_error *error);

#endif
