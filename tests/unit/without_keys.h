/* Leaves out each key of a JSON file in turn, and tells what a reader says of the rest. */
#ifndef KF_TESTS_UNIT_WITHOUT_KEYS_H
#define KF_TESTS_UNIT_WITHOUT_KEYS_H

#include <cJSON.h>

#include "base/util/status.h"
#include "tests/unit/known_text.h"

/* Reads a file and lets go of it. */
typedef kf_status (*file_reader)(const char *path, kf_error *error);

/* Deletes the key number *left of all below `item`, depth first, and writes its place. Returns whether there
 * is one. */
static inline bool delete_key(cJSON *item, int *left, const char *where, char place[256]) {
    int index = 0;
    cJSON *child;
    cJSON_ArrayForEach(child, item) {
        char below[256];
        if (cJSON_IsObject(item))
            (void)snprintf(below, sizeof below, "%.150s%s%.90s", where, where[0] != '\0' ? "." : "",
                           child->string);
        else
            (void)snprintf(below, sizeof below, "%.200s[%d]", where, index++);
        if (cJSON_IsObject(item) && (*left)-- == 0) {
            (void)snprintf(place, 256, "%s", below);
            cJSON_Delete(cJSON_DetachItemViaPointer(item, child));
            return true;
        }
        if (delete_key(child, left, below, place)) return true;
    }
    return false;
}

/* Compares what is needed of the file `source` with a known text. `path`: a file that may be written, beside
 * what the source refers to. */
static inline void assert_needed(const char *source, const char *path, file_reader read, const char *known) {
    char *text = NULL;
    size_t size = 0;
    kf_text told = {0};
    kf_error error = {KF_OK, ""};
    if (kf_file_read(source, 0, &text, &size, &error) != KF_OK) fail_msg("%s", error.message);
    for (int key = 0;; key++) {
        char place[256] = "";
        int left = key;
        cJSON *root = cJSON_Parse(text);
        assert_non_null(root);
        error = (kf_error){KF_OK, ""};
        const bool found = delete_key(root, &left, "", place);
        char *rest = cJSON_Print(root);
        cJSON_Delete(root);
        assert_int_equal(kf_file_write_atomic(path, rest, strlen(rest), NULL), KF_OK);
        free(rest);
        const kf_status status = read(path, &error);
        const char *said = strstr(error.message, path);
        if (!found) break;
        if (status != KF_OK && status != KF_BAD_INPUT) fail_msg("%s: %s", place, error.message);
        if (status != KF_OK)
            kf_text_append(&told, "%s: %s\n", place,
                           said != NULL ? said + strlen(path) + strlen(": ") : error.message);
    }
    free(text);
    assert_known(known, told.text);
}

#endif
