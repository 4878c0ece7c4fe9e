/* Reads the time that a program tells: a number in text or JSON, with or without its unit (docs/nightly.md).
 * What could be read in two ways is not read. */
#ifndef KF_HARNESS_NIGHTLY_PRINTED_H
#define KF_HARNESS_NIGHTLY_PRINTED_H

#include <stdbool.h>

#include <cjson/cJSON.h>

/* Says what commas within numbers are. */
typedef enum kf_comma { KF_COMMA_UNKNOWN, KF_COMMA_THOUSANDS, KF_COMMA_DECIMAL } kf_comma;
enum { KF_COMMAS = 3 };
extern const char *const kf_comma_names[KF_COMMAS]; /* "unknown", "thousands", "decimal" */

typedef struct kf_printed {
    double number;
    double unit_us; /* of the unit that stands with the number; 0: none does */
    char why[200];  /* nothing was read: what was found instead */
} kf_printed;

/* Returns the length of a unit of time ("ms", "µs", "seconds", ...) in microseconds; 0: the text is none. */
double kf_unit_of_time(const char *text);

/* Reads the number after the last place where `mark` stands. Escape sequences of terminals are passed over.
 */
bool kf_printed_in_text(const char *output, const char *mark, kf_comma comma, kf_printed *printed);

/* Reads the number at a path of kf_json_at, in the last JSON object or list of output that begins a line and
 * has it. A member time_unit or unit beside it is its unit. */
bool kf_printed_in_json(const char *output, const char *path, kf_printed *printed);
/* Finds the number in the same way in a document that was read. */
bool kf_printed_at(const cJSON *json, const char *path, kf_printed *printed);

#endif
