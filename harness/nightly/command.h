/* Declares benchmarks of kind `command`: programs that are not kftune's, and where their time comes from
 * (docs/nightly.md). */
#ifndef KF_HARNESS_NIGHTLY_COMMAND_H
#define KF_HARNESS_NIGHTLY_COMMAND_H

#include "base/record/measurement.h"
#include "base/util/hash.h"
#include "base/util/json.h"
#include "harness/nightly/printed.h"

enum { KF_COMMAND_WORDS = 64, KF_COMMAND_VARIABLES = 32, KF_COMMAND_KEPT = 32 };

typedef enum kf_command_time {
    KF_TIME_WALL,    /* from its start to its end */
    KF_TIME_PRINTED, /* a number that it prints */
    KF_TIME_JSON,    /* a number of a JSON object that it prints */
} kf_command_time;

typedef struct kf_timed_command {
    char folder[KF_PATH];                      /* to work in; absolute */
    char *words[KF_COMMAND_WORDS + 1];         /* NULL-terminated; owned, as all texts below */
    char *variables[KF_COMMAND_VARIABLES + 1]; /* "NAME=VALUE" */
    char *kept[KF_COMMAND_KEPT + 1];           /* files and folders below folder that are what is judged */
    kf_command_time source;
    char key[256];      /* printed: the text before the number; JSON: the path, as of kf_json_at */
    char file[KF_PATH]; /* that it stands in, relative to folder; "": on stdout */
    kf_comma comma;     /* printed */
    double unit_us;     /* of a number that stands without */
    int warm_up, repeats;
    double timeout;    /* seconds, of one run */
    bool instructions; /* counted once a night */
} kf_timed_command;

/* Reads the keys of kf_command_keys from an object that may have others. folder is relative to base. */
extern const char *const kf_command_keys[];
enum { KF_COMMAND_KEYS = 9 };
kf_status kf_command_read(kf_json_place place, const cJSON *json, const char *base, kf_timed_command *command,
                          kf_error *error);
void kf_command_free(kf_timed_command *command);
/* Writes a command with every default filled in, as kf_command_read reads it back. The caller deletes it. */
cJSON *kf_command_to_json(const kf_timed_command *command);

/* Copies what is kept below archive, in a folder named by its content, and lets words and variables name
 * the copies (kept.c); hash is that of the content. Without anything kept the hash is that of the command
 * alone, and a later night cannot run it again as it was. */
kf_status kf_command_keep(kf_timed_command *command, const char *archive, char hash[KF_HASH_HEX],
                          kf_error *error);
/* Refuses what is kept outside the folder, or is there and named by no word or variable. */
kf_status kf_command_check_kept(kf_json_place place, kf_timed_command *command, kf_error *error);

/* Runs it: warm-up, then a sample a repeat; a program that fails, hangs or prints no time is a measurement of
 * that state. With count its instructions, too, where they can be counted, as counter "instructions" of the
 * whole. */
kf_status kf_command_measure(const kf_timed_command *command, bool count, kf_measurement *measurement,
                             kf_error *error);

/* Counts the instructions of one run by perf_event, or else by Cachegrind (command_count.c); *counted is 0
 * where neither can. The text `by` becomes "perf_event" or "cachegrind". */
kf_status kf_command_count(const kf_timed_command *command, double *counted, char by[16], kf_error *error);

#endif
