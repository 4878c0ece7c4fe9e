/* Declares benchmarks of kind `command`: programs other than kftune, with the source of their time
 * (docs/nightly.md). */
#ifndef KF_HARNESS_NIGHTLY_COMMAND_H
#define KF_HARNESS_NIGHTLY_COMMAND_H

#include "base/record/measurement.h"
#include "base/util/hash.h"
#include "base/util/json.h"
#include "harness/nightly/printed.h"

enum { KF_COMMAND_WORDS = 64, KF_COMMAND_VARIABLES = 32, KF_COMMAND_KEPT = 32 };

typedef enum kf_command_time {
    KF_TIME_WALL,    /* from the start to the end of the program */
    KF_TIME_PRINTED, /* a number in its output */
    KF_TIME_JSON,    /* a number in a JSON object of its output */
} kf_command_time;

typedef struct kf_timed_command {
    char folder[KF_PATH];                      /* working folder; absolute */
    char *words[KF_COMMAND_WORDS + 1];         /* NULL-terminated; owned, like all texts below */
    char *variables[KF_COMMAND_VARIABLES + 1]; /* "NAME=VALUE" */
    char *kept[KF_COMMAND_KEPT + 1];           /* files and folders below `folder` that are judged */
    kf_command_time source;
    char key[256];      /* printed: the text before the number; JSON: its path (kf_json_at) */
    char file[KF_PATH]; /* file with the number, relative to `folder`; "": stdout */
    kf_comma comma;     /* printed */
    double unit_us;     /* unit of a number that has none beside it */
    int warm_up, repeats;
    double timeout;    /* limit for one run in seconds */
    bool instructions; /* instructions are counted once a night */
} kf_timed_command;

/* Reads the keys of kf_command_keys from an object that may have other keys. folder is relative to base. */
extern const char *const kf_command_keys[];
enum { KF_COMMAND_KEYS = 9 };
kf_status kf_command_read(kf_json_place place, const cJSON *json, const char *base, kf_timed_command *command,
                          kf_error *error);
void kf_command_free(kf_timed_command *command);
/* Writes a command with all defaults filled in. kf_command_read reads it. The caller frees the JSON. */
cJSON *kf_command_to_json(const kf_timed_command *command);

/* Copies the kept files into a folder below archive that is named by their content, and replaces them by the
 * copies in words and variables (kept.c). hash is the hash of the content. If nothing is kept, it is the hash
 * of the command, and a later night cannot repeat the run. */
kf_status kf_command_keep(kf_timed_command *command, const char *archive, char hash[KF_HASH_HEX],
                          kf_error *error);
/* Refuses kept files outside the folder, and existing ones that no word or variable names. */
kf_status kf_command_check_kept(kf_json_place place, kf_timed_command *command, kf_error *error);

/* Runs the command: first to warm up, then once for each sample. A program that fails, hangs or prints no
 * time gives a measurement with that state. With `count` its instructions are counted as counter
 * "instructions" if possible. */
kf_status kf_command_measure(const kf_timed_command *command, bool count, kf_measurement *measurement,
                             kf_error *error);

/* Counts the instructions of one run by perf_event, otherwise by Cachegrind (command_count.c); *counted is 0
 * if neither can. `by` becomes "perf_event" or "cachegrind". */
kf_status kf_command_count(const kf_timed_command *command, double *counted, char by[16], kf_error *error);

#endif
