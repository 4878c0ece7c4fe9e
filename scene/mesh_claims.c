/* What a mesh file says it contains is what an importer makes room for before it reads any of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "scene/internal.h"
#include "scene/mesh_import.h"

/* The beginning of a file, zero-terminated, for the caller to free; NULL when it cannot be read. */
static char *read_beginning(const char *file, size_t offset, size_t most, size_t *length) {
    FILE *stream = fopen(file, "rbe");
    if (stream == NULL) return NULL;
    char *text = kf_allocate(most + 1);
    *length = fseek(stream, (long)offset, SEEK_SET) == 0 ? fread(text, 1, most, stream) : 0;
    text[*length] = '\0';
    (void)fclose(stream);
    return text;
}

static kf_status refuse(const char *file, double count, const char *what, size_t bytes, kf_error *error) {
    return kf_fail(error, KF_BAD_INPUT, "%s: claims %.0f %s in %zu bytes; is it whole?", file, count, what,
                   bytes);
}

/* ---- PLY: "element vertex 8" in the lines of its header ---- */

static kf_status check_ply(const char *file, size_t bytes, kf_error *error) {
    enum { LONGEST_HEADER = 1 << 20 };
    size_t length = 0;
    char *header = read_beginning(file, 0, LONGEST_HEADER, &length), *rest = NULL;
    kf_status status = KF_OK;
    if (header == NULL) return KF_OK; /* assimp says why */
    for (const char *line = strtok_r(header, "\r\n", &rest); line != NULL && status == KF_OK;
         line = strtok_r(NULL, "\r\n", &rest)) {
        char name[32];
        double count = 0.0;
        if (strncmp(line, "end_header", strlen("end_header")) == 0) break;
        if (sscanf(line, " element %31s %lf", name, &count) == 2 && !(count >= 0.0 && count <= (double)bytes))
            status = refuse(file, count, name, bytes, error);
    }
    free(header);
    return status;
}

/* ---- glTF ---- */

/* Bytes of the files beside this one that its buffers name. */
static double external_bytes(const char *file, const cJSON *buffers) {
    const char *slash = strrchr(file, '/');
    double bytes = 0.0;
    const cJSON *buffer;
    cJSON_ArrayForEach(buffer, buffers) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(buffer, "uri"));
        char path[KF_PATH];
        struct stat about;
        if (name == NULL || strncmp(name, "data:", 5) == 0) continue;
        const int folder = slash != NULL ? (int)(slash - file) + 1 : 0;
        if (kf_path(path, NULL, "%.*s%s", folder, file, name) == KF_OK && stat(path, &about) == 0)
            bytes += (double)about.st_size;
    }
    return bytes;
}

static kf_status check_list(const char *file, const cJSON *list, const char *key, const char *what,
                            double most, kf_error *error) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        const cJSON *claim = cJSON_GetObjectItemCaseSensitive(item, key);
        if (cJSON_IsNumber(claim) && !(claim->valuedouble <= most))
            return refuse(file, claim->valuedouble, what, (size_t)most, error);
        const cJSON *sparse = cJSON_GetObjectItemCaseSensitive(item, "sparse");
        claim = cJSON_GetObjectItemCaseSensitive(sparse, "count");
        if (cJSON_IsNumber(claim) && !(claim->valuedouble <= most))
            return refuse(file, claim->valuedouble, what, (size_t)most, error);
    }
    return KF_OK;
}

static kf_status check_gltf_text(const char *file, const char *text, size_t length, size_t bytes,
                                 kf_error *error) {
    cJSON *root = NULL;
    if (kf_json_parse(file, text, length, &root, NULL) != KF_OK) return KF_OK; /* assimp says what is wrong */
    const cJSON *buffers = cJSON_GetObjectItemCaseSensitive(root, "buffers");
    const double most = (double)bytes + external_bytes(file, buffers);
    kf_status status = check_list(file, buffers, "byteLength", "bytes of data", most, error);
    if (status == KF_OK)
        status = check_list(file, cJSON_GetObjectItemCaseSensitive(root, "bufferViews"), "byteLength",
                            "bytes of data", most, error);
    if (status == KF_OK)
        status = check_list(file, cJSON_GetObjectItemCaseSensitive(root, "accessors"), "count", "elements",
                            most, error);
    cJSON_Delete(root);
    return status;
}

/* Longer texts are left to the limits of the importer's process. */
enum { LONGEST_TEXT = 64 << 20 };

static kf_status check_gltf(const char *file, size_t bytes, kf_error *error) {
    size_t length = 0;
    if (bytes > LONGEST_TEXT) return KF_OK;
    char *text = read_beginning(file, 0, bytes, &length);
    if (text == NULL) return KF_OK;
    const kf_status status = check_gltf_text(file, text, length, bytes, error);
    free(text);
    return status;
}

/* "glTF", version, length of the file; length of the text, "JSON", the text. */
static kf_status check_glb(const char *file, size_t bytes, kf_error *error) {
    enum { HEAD = 20, LENGTH_AT = 8, TEXT_AT = 12 };
    size_t length = 0;
    uint32_t whole = 0, text_bytes = 0;
    char *head = read_beginning(file, 0, HEAD, &length);
    const bool known = head != NULL && length == HEAD && memcmp(head, "glTF", 4) == 0;
    if (known) memcpy(&whole, head + LENGTH_AT, sizeof whole);
    if (known) memcpy(&text_bytes, head + TEXT_AT, sizeof text_bytes);
    free(head);
    if (!known) return KF_OK; /* assimp says so */
    if (whole > bytes) return refuse(file, whole, "bytes", bytes, error);
    if (text_bytes > bytes - HEAD) return refuse(file, text_bytes, "bytes of text", bytes, error);
    if (text_bytes > LONGEST_TEXT) return KF_OK;
    char *text = read_beginning(file, HEAD, text_bytes, &length);
    if (text == NULL) return KF_OK;
    const kf_status status = check_gltf_text(file, text, length, bytes, error);
    free(text);
    return status;
}

kf_status kf_mesh_check_claims(const char *file, size_t bytes, kf_error *error) {
    const char *ending = kf_mesh_ending(file);
    if (strcasecmp(ending, ".ply") == 0) return check_ply(file, bytes, error);
    if (strcasecmp(ending, ".gltf") == 0) return check_gltf(file, bytes, error);
    if (strcasecmp(ending, ".glb") == 0) return check_glb(file, bytes, error);
    return KF_OK;
}
