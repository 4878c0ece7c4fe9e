/* Strict reading of JSON through cJSON: every key must be known, every error names file, key path and cure.
 */
#ifndef KF_BASE_UTIL_JSON_H
#define KF_BASE_UTIL_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/util/status.h"

/* Origin of an object, for messages: "ball.scene.json: solid.motion". */
typedef struct kf_json_place {
    const char *file;
    const char *path; /* dotted key path of the object, "" at the top */
} kf_json_place;

/* From now on cJSON's memory is kf_allocate's in all of this process: none of its results is ever incomplete.
 * For the program and the children of a library, not for a program that a library is part of. */
void kf_json_check_memory(void);

/* Parses text; a syntax error is KF_BAD_INPUT with "file:line:column: ...". The caller calls cJSON_Delete.
 * So is a text of more values than half of the machine's memory holds, which is found before any is made. */
kf_status kf_json_parse(const char *file, const char *text, size_t size, cJSON **root, kf_error *error);
kf_status kf_json_read_file(const char *file, cJSON **root, kf_error *error);

/* Every key of object must be among keys (NULL-terminated list), no key twice; else KF_BAD_INPUT naming the
 * nearest right one. */
kf_status kf_json_check_keys(kf_json_place place, const cJSON *object, const char *const *keys,
                             kf_error *error);

/* Refuses each of keys (NULL-terminated) that object has, with the reason why it would not be read there:
 * "belongs to a picture". A key that does nothing is a mistake of whoever wrote it. */
kf_status kf_json_refuse_keys(kf_json_place place, const cJSON *object, const char *const *keys,
                              const char *why, kf_error *error);

/* Typed access. A missing key leaves *value unchanged and is an error only if required. Numbers must be
 * finite and within [low, high]; vectors must have exactly count numbers. Strings live as long as the object.
 */
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
/* One of names[0..count-1]; *index gets its position; else an error listing them and the nearest. */
kf_status kf_json_choice(kf_json_place place, const cJSON *object, const char *key, bool required,
                         const char *const *names, int count, int *index, kf_error *error);
/* A member that is an object; *member is NULL when missing and not required. */
kf_status kf_json_object(kf_json_place place, const cJSON *object, const char *key, bool required,
                         const cJSON **member, kf_error *error);

/* The value at a path through JSON that others wrote: names and places (from 0) with points between,
 * [name=value] for the only item of a list whose member has this value, ["name"] for a name with points or
 * brackets. *parent: what holds it. NULL, and why, when there is none. */
const cJSON *kf_json_at(const cJSON *root, const char *path, const cJSON **parent, char *why, size_t size);

/* A number, or null where it is not finite. */
cJSON *kf_json_number_or_null(double value);
void kf_json_add_number(cJSON *object, const char *key, double value);
/* How all that a command prints with --json begins: the version, and which command ("store", "nightly list")
 * it was. Caller deletes it. */
cJSON *kf_json_answer(const char *command);
/* Prints it on stdout, for people too, and deletes it. */
void kf_json_print(cJSON *json);
/* Writes it into a file, indented, whole or not at all. */
kf_status kf_json_write_file(const char *file, const cJSON *json, kf_error *error);

/* Deterministic text: keys sorted, no spaces, numbers in the shortest form that reads back the same. Caller
 * frees. */
char *kf_json_canonical(const cJSON *value);

/* The text of value, indented or on one line, always valid UTF-8 whatever its strings hold. Caller frees. */
char *kf_json_text(const cJSON *value, bool indented);

#endif
