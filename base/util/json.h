/* Strict reading of JSON through cJSON: every key must be known, every error names file, key path and cure.
 */
#ifndef KF_BASE_UTIL_JSON_H
#define KF_BASE_UTIL_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/util/status.h"

/* Says where an object comes from, for messages: "ball.scene.json: solid.motion". */
typedef struct kf_json_place {
    const char *file;
    const char *path; /* dotted key path of the object, "" at the top */
} kf_json_place;

/* From this call on cJSON allocates with kf_allocate in the whole process, so that none of its results is
 * incomplete. It is for the program and for the children of a library, not for a program that uses the
 * library. */
void kf_json_check_memory(void);

/* Parses text. KF_BAD_INPUT: a syntax error, as "file:line:column: ...", or more values than half of the
 * machine's memory holds, which is checked before any is made. The caller frees *root with cJSON_Delete. */
kf_status kf_json_parse(const char *file, const char *text, size_t size, cJSON **root, kf_error *error);
kf_status kf_json_read_file(const char *file, cJSON **root, kf_error *error);
/* Reads a file that need not be there, or be JSON: *root is NULL then. What the machine lacks to read it is a
 * fault all the same, so that a file that cannot be read now is not taken for one that is missing. */
kf_status kf_json_read_known(const char *file, cJSON **root, kf_error *error);

/* KF_BAD_INPUT unless every key of the object is in keys (a NULL-terminated list), and none occurs twice. The
 * message names the nearest key that is right. */
kf_status kf_json_check_keys(kf_json_place place, const cJSON *object, const char *const *keys,
                             kf_error *error);

/* Refuses each of the keys (a NULL-terminated list) that the object has. why: the reason why the key would
 * not be read there, such as "belongs to a picture". A key without effect is a mistake of its author. */
kf_status kf_json_refuse_keys(kf_json_place place, const cJSON *object, const char *const *keys,
                              const char *why, kf_error *error);

/* 2^53 - 1, the largest whole number that a file of JSON may hold: cJSON reads into a double, which takes
 * 2^53 + 1 for 2^53. */
#define KF_JSON_WHOLE 9007199254740991L

/* Read a typed member. If the key is missing *value stays unchanged; this is an error only if the key is
 * required. Numbers must be finite and within [low, high]; vectors must have exactly `count` numbers. Strings
 * live as long as the object. */
kf_status kf_json_number(kf_json_place place, const cJSON *object, const char *key, bool required, double low,
                         double high, double *value, kf_error *error);
kf_status kf_json_integer(kf_json_place place, const cJSON *object, const char *key, bool required, long low,
                          long high, long *value, kf_error *error);
kf_status kf_json_boolean(kf_json_place place, const cJSON *object, const char *key, bool required,
                          bool *value, kf_error *error);
kf_status kf_json_string(kf_json_place place, const cJSON *object, const char *key, bool required,
                         const char **value, kf_error *error);
kf_status kf_json_numbers(kf_json_place place, const cJSON *object, const char *key, bool required,
                          double low, double high, int count, double *values, kf_error *error);
/* Reads one of names[0..count-1] and sets *index to its position. Any other text is an error that lists the
 * names and the nearest of them. */
kf_status kf_json_choice(kf_json_place place, const cJSON *object, const char *key, bool required,
                         const char *const *names, int count, int *index, kf_error *error);
/* Finds a member that is an object. *member is NULL if it is missing and not required. */
kf_status kf_json_object(kf_json_place place, const cJSON *object, const char *key, bool required,
                         const cJSON **member, kf_error *error);

/* Finds the value at a path through JSON that others wrote. The path consists of names and positions (from 0)
 * with points between them. [name=value] stands for the only item of a list whose member has this value,
 * ["name"] for a name with points or brackets. *parent: the object or list that holds the value. NULL if
 * there is none; `why` then says the reason. */
const cJSON *kf_json_at(const cJSON *root, const char *path, const cJSON **parent, char *why, size_t size);

/* Makes a number, or null where the value is not finite. */
cJSON *kf_json_number_or_null(double value);
void kf_json_add_number(cJSON *object, const char *key, double value);
/* Makes the beginning of everything that a command prints with --json: the version, and the command ("store",
 * "nightly list"). The caller deletes it. */
cJSON *kf_json_answer(const char *command);
/* Prints the value on stdout, indented for people, and deletes it. */
void kf_json_print(cJSON *json);
/* Writes the value into a file, indented. The file appears whole or not at all. */
kf_status kf_json_write_file(const char *file, const cJSON *json, kf_error *error);

/* Returns the canonical text of a value: keys sorted, no spaces, numbers in the shortest form that reads back
 * the same. The caller frees it. */
char *kf_json_canonical(const cJSON *value);

/* Returns the text of a value, indented or on one line. It is valid UTF-8 whatever bytes the strings hold.
 * The caller frees it. */
char *kf_json_text(const cJSON *value, bool indented);

#endif
