#include "harness/nightly/command.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/worker/await.h"

static const double USUAL_TIMEOUT_SECONDS = 600.0;
enum { USUAL_WARM_UP = 1, USUAL_REPEATS = 3, MOST_RUNS = 1000, LONGEST_TEXT = 4096 };

const char *const kf_command_keys[] = {"command", "folder",  "environment", "keep",         "time",
                                       "warm_up", "repeats", "timeout",     "instructions", NULL};

static const struct {
    const char *name;
    double us;
} units[] = {{"s", 1e6}, {"ms", 1e3}, {"us", 1.0}, {"ns", 1e-3}};
enum { UNITS = sizeof units / sizeof units[0] };

/* --- Reading ---------------------------------------------------------------------------------------------
 */

static kf_status read_list(kf_json_place place, const cJSON *json, const char *key, bool required, int most,
                           char **list, kf_error *error) {
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, key), *item;
    if (array == NULL && !required) return KF_OK;
    int count = cJSON_GetArraySize(array);
    if (!cJSON_IsArray(array) || count > most || (required && count == 0))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.%s: must be a list of %d to %d texts", place.file,
                       place.path, key, required ? 1 : 0, most);
    count = 0;
    cJSON_ArrayForEach(item, array) {
        if (!cJSON_IsString(item) || item->valuestring[0] == '\0' ||
            strlen(item->valuestring) >= LONGEST_TEXT)
            return kf_fail(error, KF_BAD_INPUT, "%s: %s.%s: each must be a text of 1 to %d bytes", place.file,
                           place.path, key, LONGEST_TEXT - 1);
        list[count++] = kf_duplicate(item->valuestring);
    }
    return KF_OK;
}

static kf_status read_environment(kf_json_place place, const cJSON *json, kf_timed_command *command,
                                  kf_error *error) {
    const cJSON *object = NULL, *item;
    KF_TRY(kf_json_object(place, json, "environment", false, &object, error));
    int count = 0;
    cJSON_ArrayForEach(item, object) {
        bool named = item->string[0] != '\0' && strchr(item->string, '=') == NULL;
        if (!named || !cJSON_IsString(item) || strlen(item->valuestring) >= LONGEST_TEXT ||
            count == KF_COMMAND_VARIABLES)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: %s.environment: must be at most %d names with a text each", place.file,
                           place.path, KF_COMMAND_VARIABLES);
        kf_text pair = {0};
        kf_text_append(&pair, "%s=%s", item->string, item->valuestring);
        command->variables[count++] = pair.text;
    }
    return KF_OK;
}

static kf_status read_short(kf_json_place place, const cJSON *json, const char *key, bool required,
                            char *target, size_t size, kf_error *error) {
    const char *text = "";
    KF_TRY(kf_json_string(place, json, key, required, &text, error));
    if (strlen(text) >= size)
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.%s: is longer than %zu bytes", place.file, place.path,
                       key, size - 1);
    kf_copy_text(target, size, text);
    return KF_OK;
}

/* Reads where the time comes from: "wall", {"printed": "time per step:", "unit": "ms"} or {"json":
 * "timing.step", "unit": "s"}. */
static kf_status read_time(kf_json_place place, const cJSON *json, kf_timed_command *command,
                           kf_error *error) {
    static const char *const keys[] = {"printed", "json", "unit", "file", "comma", NULL};
    const cJSON *time = cJSON_GetObjectItemCaseSensitive(json, "time");
    command->unit_us = 1e6;
    if (time == NULL || (cJSON_IsString(time) && strcmp(time->valuestring, "wall") == 0)) return KF_OK;
    char path[64];
    (void)snprintf(path, sizeof path, "%s.time", place.path);
    kf_json_place inner = {place.file, path};
    if (!cJSON_IsObject(time) || (cJSON_HasObjectItem(time, "printed") == cJSON_HasObjectItem(time, "json")))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: %s: must be \"wall\", {\"printed\": TEXT BEFORE IT, \"unit\": \"ms\"} or {\"json\": "
            "\"path.of.keys\", \"unit\": \"ms\"}",
            place.file, inner.path);
    KF_TRY(kf_json_check_keys(inner, time, keys, error));
    const char *names[UNITS];
    command->source = cJSON_HasObjectItem(time, "json") ? KF_TIME_JSON : KF_TIME_PRINTED;
    KF_TRY(read_short(inner, time, command->source == KF_TIME_JSON ? "json" : "printed", true, command->key,
                      sizeof command->key, error));
    KF_TRY(read_short(inner, time, "file", false, command->file, sizeof command->file, error));
    int comma = KF_COMMA_UNKNOWN;
    KF_TRY(kf_json_choice(inner, time, "comma", false, kf_comma_names, KF_COMMAS, &comma, error));
    command->comma = (kf_comma)comma;
    int unit = 0;
    for (int i = 0; i < UNITS; i++)
        names[i] = units[i].name;
    KF_TRY(kf_json_choice(inner, time, "unit", true, names, UNITS, &unit, error));
    command->unit_us = units[unit].us;
    return KF_OK;
}

static kf_status read_all(kf_json_place place, const cJSON *json, const char *base, kf_timed_command *command,
                          kf_error *error) {
    const char *folder = "";
    long warm_up = USUAL_WARM_UP, repeats = USUAL_REPEATS;
    command->timeout = USUAL_TIMEOUT_SECONDS;
    KF_TRY(read_list(place, json, "command", true, KF_COMMAND_WORDS, command->words, error));
    KF_TRY(read_list(place, json, "keep", false, KF_COMMAND_KEPT, command->kept, error));
    KF_TRY(kf_json_string(place, json, "folder", false, &folder, error));
    if (folder[0] == '/')
        KF_TRY(kf_path(command->folder, error, "%s", folder));
    else
        KF_TRY(kf_path(command->folder, error, "%s/%s", base, folder));
    /* A program that is given by its path is kept even if "keep" is missing. */
    if (!cJSON_HasObjectItem(json, "keep") && strchr(command->words[0], '/') != NULL &&
        command->words[0][0] != '/')
        command->kept[0] = kf_duplicate(command->words[0]);
    KF_TRY(read_environment(place, json, command, error));
    KF_TRY(read_time(place, json, command, error));
    KF_TRY(kf_json_integer(place, json, "warm_up", false, 0, MOST_RUNS, &warm_up, error));
    KF_TRY(kf_json_integer(place, json, "repeats", false, 1, MOST_RUNS, &repeats, error));
    KF_TRY(kf_json_number(place, json, "timeout", false, 0.01, 86400, &command->timeout, error));
    command->warm_up = (int)warm_up;
    command->repeats = (int)repeats;
    return kf_json_boolean(place, json, "instructions", false, &command->instructions, error);
}

kf_status kf_command_read(kf_json_place place, const cJSON *json, const char *base, kf_timed_command *command,
                          kf_error *error) {
    memset(command, 0, sizeof *command);
    kf_status status = read_all(place, json, base, command, error);
    if (status != KF_OK) kf_command_free(command);
    return status;
}

void kf_command_free(kf_timed_command *command) {
    char **const lists[] = {command->words, command->variables, command->kept};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (char **text = lists[i]; *text != NULL; text++) {
            free(*text);
            *text = NULL;
        }
}

static cJSON *list_json(char *const *list) {
    cJSON *array = cJSON_CreateArray();
    for (; *list != NULL; list++)
        (void)cJSON_AddItemToArray(array, cJSON_CreateString(*list));
    return array;
}

/* Makes the JSON of a timed command, with which it can be run again. The caller owns it. */
cJSON *kf_command_to_json(const kf_timed_command *command) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddItemToObject(json, "command", list_json(command->words));
    (void)cJSON_AddStringToObject(json, "folder", command->folder);
    cJSON *environment = cJSON_AddObjectToObject(json, "environment");
    for (char *const *pair = command->variables; *pair != NULL; pair++) {
        char *name = kf_duplicate(*pair), *equals = strchr(name, '=');
        *equals = '\0';
        (void)cJSON_AddStringToObject(environment, name, equals + 1);
        free(name);
    }
    (void)cJSON_AddItemToObject(json, "keep", list_json(command->kept));
    if (command->source == KF_TIME_WALL) {
        (void)cJSON_AddStringToObject(json, "time", "wall");
    } else {
        cJSON *time = cJSON_AddObjectToObject(json, "time");
        (void)cJSON_AddStringToObject(time, command->source == KF_TIME_JSON ? "json" : "printed",
                                      command->key);
        for (int i = 0; i < UNITS; i++)
            if (units[i].us == command->unit_us) (void)cJSON_AddStringToObject(time, "unit", units[i].name);
        if (command->file[0] != '\0') (void)cJSON_AddStringToObject(time, "file", command->file);
        if (command->comma != KF_COMMA_UNKNOWN)
            (void)cJSON_AddStringToObject(time, "comma", kf_comma_names[command->comma]);
    }
    (void)cJSON_AddNumberToObject(json, "warm_up", command->warm_up);
    (void)cJSON_AddNumberToObject(json, "repeats", command->repeats);
    (void)cJSON_AddNumberToObject(json, "timeout", command->timeout);
    (void)cJSON_AddBoolToObject(json, "instructions", command->instructions);
    return json;
}

/* --- Running ---------------------------------------------------------------------------------------------
 */

/* Makes the path of the file that contains the time, unless it is on stdout. */
static kf_status told_file(const kf_timed_command *command, char path[KF_PATH], kf_error *error) {
    if (command->file[0] == '/') return kf_path(path, error, "%s", command->file);
    return kf_path(path, error, "%s/%s", command->folder, command->file);
}

/* Changes the date of a file that an earlier run left, so that a run which does not write it again is
 * noticed. */
static kf_status date_back(const kf_timed_command *command, kf_error *error) {
    static const struct timespec long_ago[2] = {{0, 0}, {0, 0}};
    char path[KF_PATH];
    if (command->file[0] == '\0') return KF_OK;
    KF_TRY(told_file(command, path, error));
    if (utimensat(AT_FDCWD, path, long_ago, 0) == 0 || errno == ENOENT) return KF_OK;
    return kf_fail(error, KF_MACHINE, "%s: cannot be distinguished from the file of an earlier run: %s", path,
                   strerror(errno));
}

/* Returns the text that contains the time. The caller frees it. NULL, with the reason, if there is none. */
static char *told_text(const kf_timed_command *command, const kf_awaited *run, char *why, size_t size) {
    if (command->file[0] == '\0') return kf_duplicate(run->out.text != NULL ? run->out.text : "");
    char path[KF_PATH], *text = NULL;
    size_t length = 0;
    struct stat information;
    kf_error error = {KF_OK, ""};
    if (told_file(command, path, &error) != KF_OK || kf_file_read(path, 0, &text, &length, &error) != KF_OK) {
        (void)snprintf(why, size, "%s", error.message);
    } else if (stat(path, &information) != 0 || information.st_mtime == 0) {
        (void)snprintf(why, size, "%.300s: was not written by this run", path);
        free(text);
        text = NULL;
    }
    return text;
}

/* Reads the time of a run. Returns false, with the reason, if the run reports none. */
static bool time_of(const kf_timed_command *command, const kf_awaited *run, double *us, char *why,
                    size_t size) {
    *us = 1e6 * run->seconds;
    if (command->source == KF_TIME_WALL) return true;
    char *text = told_text(command, run, why, size);
    if (text == NULL) return false;
    kf_printed printed;
    const bool json = command->source == KF_TIME_JSON,
               found = json ? kf_printed_in_json(text, command->key, &printed)
                            : kf_printed_in_text(text, command->key, command->comma, &printed);
    free(text);
    *us = printed.number * (printed.unit_us > 0.0 ? printed.unit_us : command->unit_us);
    if (!found)
        (void)snprintf(why, size, "prints no positive number %s '%.80s': %s", json ? "in JSON at" : "after",
                       command->key, printed.why);
    else if (!(*us > 0.0) || !isfinite(*us))
        (void)snprintf(why, size, "prints no positive number %s '%.80s', but %g",
                       json ? "in JSON at" : "after", command->key, printed.number);
    return found && *us > 0.0 && isfinite(*us);
}

static void fail(kf_measurement *measurement, kf_state state, const char *what, const char *why) {
    measurement->state = state;
    (void)snprintf(measurement->reason, sizeof measurement->reason, "%s: %s", what, why);
}

/* Does one run. The measurement's state says whether it failed, and how. */
static kf_status run_once(const kf_timed_command *command, kf_measurement *measurement, double *us,
                          kf_error *error) {
    const kf_await_request request = {.words = (const char *const *)command->words,
                                      .folder = command->folder,
                                      .environment = (const char *const *)command->variables,
                                      .limit_seconds = command->timeout};
    kf_awaited run;
    char why[400];
    KF_TRY(date_back(command, error));
    kf_status status = kf_await(&request, &run, error);
    measurement->measure_seconds += run.seconds;
    if (status == KF_OK && !run.ended) {
        (void)snprintf(why, sizeof why, "not done within %g s", command->timeout);
        fail(measurement, KF_STATE_TIMEOUT, command->words[0], why);
    } else if (status == KF_OK && (!WIFEXITED(run.status) || WEXITSTATUS(run.status) != 0)) {
        fail(measurement, KF_STATE_CRASH, command->words[0], kf_awaited_complaint(&run, why, sizeof why));
    } else if (status == KF_OK && !time_of(command, &run, us, why, sizeof why)) {
        fail(measurement, KF_STATE_INVALID, command->words[0], why);
    }
    kf_awaited_free(&run);
    return status;
}

static kf_status count_once(const kf_timed_command *command, kf_measurement *measurement, kf_error *error) {
    double counted = 0.0;
    char by[16];
    KF_TRY(kf_command_count(command, &counted, by, error));
    if (counted <= 0.0) return KF_OK;
    measurement->counters = kf_allocate_zeroed(1, sizeof *measurement->counters);
    measurement->counter_count = 1;
    kf_counter *counter = &measurement->counters[0];
    *counter = (kf_counter){.unit = "1", .value = counted, .passes = 1};
    /* The metric's name contains the program that counted, so that counts of different programs are never
     * compared. */
    (void)snprintf(counter->metric, sizeof counter->metric, "instructions_%s", by);
    return KF_OK;
}

kf_status kf_command_measure(const kf_timed_command *command, bool count, kf_measurement *measurement,
                             kf_error *error) {
    double ignored = 0.0;
    memset(measurement, 0, sizeof *measurement);
    measurement->verification = (kf_verification){.error = (double)NAN, .bound = (double)NAN};
    measurement->effort = 1.0;
    measurement->batch = 1;
    measurement->stop = KF_STOP_SAMPLES;
    for (int i = 0; i < command->warm_up && measurement->state == KF_STATE_OK; i++)
        KF_TRY(run_once(command, measurement, &ignored, error));
    measurement->samples_us = kf_allocate_zeroed((size_t)command->repeats, sizeof *measurement->samples_us);
    for (int i = 0; i < command->repeats && measurement->state == KF_STATE_OK; i++) {
        KF_TRY(run_once(command, measurement, &measurement->samples_us[i], error));
        if (measurement->state != KF_STATE_OK) break;
        measurement->sample_count++;
    }
    if (measurement->state != KF_STATE_OK) {
        measurement->sample_count = 0;
        return KF_OK;
    }
    measurement->step_us = kf_summarise(measurement->samples_us, measurement->sample_count);
    return count && command->instructions ? count_once(command, measurement, error) : KF_OK;
}
