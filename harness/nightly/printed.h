/* Reads the time that a program prints: a number in text or JSON, with or without a unit (docs/nightly.md).
 * An ambiguous number is refused. */
#ifndef KF_HARNESS_NIGHTLY_PRINTED_H
#define KF_HARNESS_NIGHTLY_PRINTED_H

#include <stdbool.h>

#include <cjson/cJSON.h>

/* The meaning of commas in numbers. */
typedef enum kf_comma { KF_COMMA_UNKNOWN, KF_COMMA_THOUSANDS, KF_COMMA_DECIMAL } kf_comma;
enum { KF_COMMAS = 3 };
extern const char *const kf_comma_names[KF_COMMAS]; /* "unknown", "thousands", "decimal" */

typedef struct kf_printed {
    double number;
    double unit_us; /* the unit beside the number; 0: it has none */
    char why[200];  /* if there is no number: what was found instead */
} kf_printed;

/* Returns a unit of time ("ms", "µs", "seconds", ...) in microseconds; 0: the text is not a unit. */
double kf_unit_of_time(const char *text);

/* Reads the number after the last occurrence of `mark`. Escape sequences of terminals are skipped. */
bool kf_printed_in_text(const char *output, const char *mark, kf_comma comma, kf_printed *printed);

/* Reads the number at a path of kf_json_at. It takes the last JSON object or list in the output that begins a
 * line and contains the path. A member time_unit or unit beside the number gives its unit. */
bool kf_printed_in_json(const char *output, const char *path, kf_printed *printed);
/* Finds the number in the same way in a parsed document. */
bool kf_printed_at(const cJSON *json, const char *path, kf_printed *printed);

#endif
