/* What RFC 8259 forbids and cJSON reads all the same. Asked by kf_json_parse of texts that cJSON has read. */
#ifndef KF_BASE_UTIL_JSON_STRICT_H
#define KF_BASE_UTIL_JSON_STRICT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

struct kf_text;

/* Looks at the letters of a text that ends with a zero byte: numbers, control characters, escapes, UTF-8.
 * Returns what is wrong, with its place in *at; NULL: nothing is. */
const char *kf_json_letter_fault(const char *text, size_t size, const char **at);

/* Looks for an object with two members of one name. True: there is one, and path, which must be empty, is
 * the way to it, as in "a.list[2].b". The caller frees path either way. */
bool kf_json_name_fault(const cJSON *value, struct kf_text *path);

#endif
