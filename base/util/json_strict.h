/* Checks for JSON that RFC 8259 forbids and cJSON accepts. kf_json_parse calls them on texts that cJSON has
 * parsed. */
#ifndef KF_BASE_UTIL_JSON_STRICT_H
#define KF_BASE_UTIL_JSON_STRICT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

struct kf_text;

/* Checks the characters of a text that ends with a zero byte: numbers, control characters, escapes, UTF-8.
 * Returns a message about the first fault and sets *at to its place. Returns NULL if there is no fault. */
const char *kf_json_letter_fault(const char *text, size_t size, const char **at);

/* Returns how many digits text begins with. Unlike strspn it looks at nothing behind them: sanitizers hold
 * all of strspn's text against its memory, which takes minutes where a file has many numbers. */
size_t kf_json_digits(const char *text);

/* Returns whether some object has two members with the same name. The function then appends the path of this
 * member to `path`, which must be empty, as in "a.list[2].b". The caller frees `path` in either case. */
bool kf_json_name_fault(const cJSON *value, struct kf_text *path);

#endif
