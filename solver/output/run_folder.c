#include "solver/output/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/util/json.h"
#include "base/util/text.h"

static const char record_name[] = "run.json";

static kf_status is_empty(const char *path, bool *empty, kf_error *error) {
    DIR *folder = NULL;
    if (kf_folder_open(path, &folder, error) != KF_OK) return kf_fail_context(error, "option '--output'");
    *empty = true;
    for (const struct dirent *entry; *empty && (entry = readdir(folder));) {
        *empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    }
    closedir(folder);
    return KF_OK;
}

static bool is_text(const cJSON *object, const char *key) {
    return cJSON_IsString(cJSON_GetObjectItemCaseSensitive(object, key));
}

/* Checks a folder with a record. It may be used if kftune wrote the record for the same scene. */
static kf_status check_record(const char *path, const char *record_path, const char *scene_hash,
                              kf_error *error) {
    cJSON *record = NULL;
    KF_TRY(kf_json_read_known(record_path, &record, error));
    if (!is_text(record, "kftune") || !is_text(record, "scene_hash")) {
        cJSON_Delete(record);
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: is not the record of a kftune run; give a new folder with --output, or --force",
                       record_path);
    }
    bool same = strcmp(cJSON_GetObjectItemCaseSensitive(record, "scene_hash")->valuestring, scene_hash) == 0;
    cJSON_Delete(record);
    if (same) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: holds the run of another scene; give a new folder with --output, or --force", path);
}

/* Locks the folder. The process holds the lock, which disappears however the process ends. */
static kf_status lock_folder(const char *path, int *lock, kf_error *error) {
    *lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0 && kf_errno_is_machines(errno))
        return kf_fail(error, KF_HOST, "%s: cannot be opened: %s", path, strerror(errno));
    if (*lock < 0 || flock(*lock, LOCK_EX | LOCK_NB) == 0) return KF_OK;
    const bool taken = errno == EWOULDBLOCK;
    (void)close(*lock);
    *lock = -1;
    /* Some file systems have no locks. */
    if (!taken) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: another kftune run writes into this folder now; give another one with --output",
                   path);
}

bool kf_run_folder_is_in_use(const char *path) {
    kf_error taken;
    int lock;
    if (lock_folder(path, &lock, &taken) != KF_OK || lock < 0) return true;
    (void)close(lock);
    return false;
}

static kf_status check_folder(const char *path, const char *scene_hash, bool force, kf_error *error) {
    bool empty = true;
    KF_TRY(is_empty(path, &empty, error));
    if (empty || force) return KF_OK;
    char record_path[KF_PATH];
    KF_TRY(kf_path(record_path, error, "%s/%s", path, record_name));
    if (access(record_path, F_OK) == 0) return check_record(path, record_path, scene_hash, error);
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: holds other files and no %s of a run; give a new folder with --output, or --force",
                   path, record_name);
}

kf_status kf_run_folder_open(const char *path, const char *scene_hash, bool force, int *lock,
                             kf_error *error) {
    *lock = -1;
    kf_error why = {KF_OK, ""};
    const kf_status made = kf_make_folders(path, &why);
    if (made == KF_MACHINE) return kf_fail(error, made, "%s; name another folder with --output", why.message);
    if (made != KF_OK) return kf_fail(error, made, "%s", why.message);
    if (access(path, W_OK) != 0) {
        return kf_fail(error, KF_BAD_INPUT, "%s: cannot write into this folder: %s", path, strerror(errno));
    }
    if (!force)
        KF_TRY(kf_folder_is_own(path, true, "give a folder of your own with --output, or --force", error));
    KF_TRY(lock_folder(path, lock, error));
    const kf_status status = check_folder(path, scene_hash, force, error);
    if (status != KF_OK && *lock >= 0) (void)close(*lock);
    if (status != KF_OK) *lock = -1;
    return status;
}

/* Compares the names of files. They end in the step with leading zeros, except for steps beyond a million. */
static bool is_later(const char *name, const char *than) {
    const size_t length = strlen(name), other = strlen(than);
    return length != other ? length > other : strcmp(name, than) > 0;
}

static kf_status find_last_checkpoint(const char *path, char checkpoint[KF_PATH], kf_error *error) {
    char last[256] = "";
    DIR *folder = NULL;
    checkpoint[0] = '\0';
    KF_TRY(kf_folder_open(path, &folder, error));
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (strncmp(entry->d_name, "checkpoint_", 11) == 0 && kf_ends_in(entry->d_name, ".kfc") &&
            is_later(entry->d_name, last))
            kf_copy_text(last, sizeof last, entry->d_name);
    }
    closedir(folder);
    return last[0] != '\0' ? kf_path(checkpoint, error, "%s/%s", path, last) : KF_OK;
}

/* Reads the record of the previous run; *record is NULL without one. Free it with cJSON_Delete. */
static kf_status read_record(const char *path, cJSON **record, kf_error *error) {
    char record_path[KF_PATH];
    *record = NULL;
    KF_TRY(kf_path(record_path, error, "%s/%s", path, record_name));
    return kf_json_read_known(record_path, record, error);
}

kf_status kf_run_folder_keep_longer(const char *path, uint64_t steps, kf_error *error) {
    char checkpoint[KF_PATH];
    cJSON *record = NULL;
    KF_TRY(read_record(path, &record, error));
    const cJSON *last = cJSON_GetObjectItemCaseSensitive(record, "last_step");
    const double reached = cJSON_IsNumber(last) ? last->valuedouble : 0.0;
    cJSON_Delete(record);
    if (reached <= (double)steps) return KF_OK;
    KF_TRY(find_last_checkpoint(path, checkpoint, error));
    return kf_fail(
        error, KF_BAD_INPUT,
        "%s: holds a run of %.0f steps, more than these; give another folder with --output%s%s, or --force "
        "to write over it",
        path, reached, checkpoint[0] != '\0' ? ", go on with --restart " : "", checkpoint);
}

/* Returns the first fact that both have with different values, or NULL. Numbers have been converted to text
 * and back. */
static const cJSON *first_difference(const cJSON *known, const kf_facts *meaning) {
    for (int i = 0; i < meaning->count; i++) {
        const kf_fact *now = &meaning->list[i];
        const cJSON *then = cJSON_GetObjectItemCaseSensitive(known, now->name);
        if (cJSON_IsNumber(then) && fabs(then->valuedouble - now->value) > 1e-9 * fabs(now->value))
            return then;
        if (cJSON_IsString(then) && strcmp(then->valuestring, now->word) != 0) return then;
    }
    return NULL;
}

/* Refuses a run folder whose tables refer to other areas or places than this run's would. */
kf_status kf_run_folder_check_meaning(const char *path, const kf_facts *meaning, kf_error *error) {
    cJSON *record = NULL;
    KF_TRY(read_record(path, &record, error));
    const cJSON *then =
        first_difference(cJSON_GetObjectItemCaseSensitive(record, "columns_refer_to"), meaning);
    kf_status status = KF_OK;
    if (cJSON_IsString(then)) {
        status = kf_fail(
            error, KF_BAD_INPUT,
            "%s: its tables refer to \"%.*s\" as %s, and this run to \"%s\"; say the same as then, "
            "or give another folder with --output",
            path, KF_NAME, then->valuestring, then->string, kf_facts_find(meaning, then->string)->word);
    } else if (then != NULL) {
        const kf_fact *now = kf_facts_find(meaning, then->string);
        status =
            kf_fail(error, KF_BAD_INPUT,
                    "%s: its tables refer to a %s of %.9g %s, and this run to one of %.9g; say the same as "
                    "then, or give another folder with --output",
                    path, now->name, then->valuedouble, now->unit, now->value);
    }
    cJSON_Delete(record);
    return status;
}

kf_status kf_run_folder_was_killed(const char *path, bool *killed, char checkpoint[KF_PATH],
                                   kf_error *error) {
    cJSON *record = NULL;
    checkpoint[0] = '\0';
    KF_TRY(read_record(path, &record, error));
    const char *state = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(record, "state"));
    *killed = state != NULL && strcmp(state, "running") == 0;
    cJSON_Delete(record);
    return *killed ? find_last_checkpoint(path, checkpoint, error) : KF_OK;
}

kf_status kf_run_folder_begun_in(const char *path, char neighbour[KF_PATH], kf_error *error) {
    cJSON *record = NULL;
    KF_TRY(read_record(path, &record, error));
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(record, "begun_in"));
    kf_copy_text(neighbour, KF_PATH, name != NULL ? name : "");
    cJSON_Delete(record);
    return KF_OK;
}

kf_status kf_run_folder_resume(const char *path, const char *scene_hash, bool *done, char checkpoint[KF_PATH],
                               uint64_t *step, kf_error *error) {
    cJSON *record = NULL;
    KF_TRY(read_record(path, &record, error));
    const char *state = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(record, "state")),
               *hash = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(record, "scene_hash"));
    const bool same = state != NULL && hash != NULL && strcmp(hash, scene_hash) == 0;
    *done = same && strcmp(state, "finished") == 0;
    checkpoint[0] = '\0';
    const double last = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(record, "last_step"));
    *step = *done && last > 0.0 && last < 1e15 ? (uint64_t)last : 0;
    cJSON_Delete(record);
    if (same && !*done) KF_TRY(find_last_checkpoint(path, checkpoint, error));
    const char *number = strrchr(checkpoint, '_');
    if (number == NULL || sscanf(number, "_%" SCNu64, step) == 1) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: its name does not contain the number of its step", checkpoint);
}

kf_status kf_run_folder_record(const char *path, const cJSON *record, kf_error *error) {
    char record_path[KF_PATH];
    KF_TRY(kf_path(record_path, error, "%s/%s", path, record_name));
    return kf_json_write_file(record_path, record, error);
}
