/* Checks a glTF file before the library reads it. The library would allocate any size that the file claims,
 * skip what it does not know, and read other numbers as floats. */
#include "scene/mesh_gltf.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/util/file.h"
#include "base/util/json.h"

typedef struct gltf_text {
    const char *file;
    const cJSON *root;
    /* The size of the file and of those that it names, in bytes. */
    double most;
    kf_error *error;
} gltf_text;

static const cJSON *get(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* ---- Versions and extensions ---- */

static kf_status check_version(const gltf_text *t) {
    const char *version = cJSON_GetStringValue(get(get(t->root, "asset"), "version"));
    if (version == NULL && !cJSON_IsObject(get(t->root, "buffers")))
        return kf_fail(t->error, KF_BAD_INPUT, "%s: names no version (asset.version); is it a glTF file?",
                       t->file);
    if (version != NULL && strncmp(version, "2.", 2) == 0) return KF_OK;
    return kf_fail(t->error, KF_BAD_INPUT, "%s: is glTF %s; glTF 2.0 is read, export it as that", t->file,
                   version != NULL ? version : "1.0");
}

/* Returns whether an extension can be read. These change colours, light or data beside the shape. Draco is
 * one of them: the library reads it. */
static bool is_read(const char *extension) {
    static const char *const beginnings[] = {"KHR_draco_mesh_compression",
                                             "KHR_materials_",
                                             "KHR_texture_",
                                             "EXT_texture_",
                                             "MSFT_texture_",
                                             "KHR_lights_",
                                             "EXT_lights_",
                                             "KHR_xmp",
                                             "KHR_technique",
                                             "KHR_animation_",
                                             "EXT_structural_",
                                             "EXT_mesh_features",
                                             "EXT_feature_metadata",
                                             "KHR_audio",
                                             "CESIUM_primitive_outline"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(extension, beginnings[i], strlen(beginnings[i])) == 0) return true;
    return false;
}

static kf_status refuse_extension(const gltf_text *t, const char *extension) {
    return kf_fail(
        t->error, KF_BAD_INPUT,
        "%s: needs the extension %.64s, which kftune does not read; export it without (plain glTF 2.0)",
        t->file, extension);
}

static kf_status check_extensions(const gltf_text *t) {
    static const char *const instancing = "EXT_mesh_gpu_instancing";
    const cJSON *item;
    cJSON_ArrayForEach(item, get(t->root, "extensionsRequired")) {
        const char *name = cJSON_GetStringValue(item);
        if (name != NULL && !is_read(name)) return refuse_extension(t, name);
    }
    cJSON_ArrayForEach(item, get(t->root, "nodes")) if (get(get(item, "extensions"), instancing) !=
                                                        NULL) return refuse_extension(t, instancing);
    return KF_OK;
}

/* Checks positions. Only an extension allows whole numbers, whether the file names the extension or not. */
static kf_status check_positions(const gltf_text *t) {
    enum { FLOATS = 5126 };
    const cJSON *mesh, *primitive;
    cJSON_ArrayForEach(mesh, get(t->root, "meshes")) cJSON_ArrayForEach(primitive, get(mesh, "primitives")) {
        const cJSON *index = get(get(primitive, "attributes"), "POSITION");
        if (!cJSON_IsNumber(index)) continue;
        const cJSON *accessor = cJSON_GetArrayItem(get(t->root, "accessors"), index->valueint),
                    *type = get(accessor, "componentType");
        if (cJSON_IsNumber(type) && type->valuedouble != FLOATS)
            return refuse_extension(t, "KHR_mesh_quantization");
    }
    return KF_OK;
}

/* Returns whether the weights of morph targets, which a mesh has or one of its nodes, change the shape. */
static bool has_weights(const cJSON *object) {
    const cJSON *weight;
    cJSON_ArrayForEach(weight, get(object, "weights")) if (cJSON_IsNumber(weight) &&
                                                           weight->valuedouble != 0.0) return true;
    return false;
}

/* Refuses what crashes the library: a skeleton whose matrices are left out because each is the identity. */
static kf_status check_skins(const gltf_text *t) {
    const cJSON *item;
    cJSON_ArrayForEach(item, get(t->root, "nodes")) {
        const cJSON *skin = get(item, "skin");
        if (cJSON_IsNumber(skin) &&
            get(cJSON_GetArrayItem(get(t->root, "skins"), skin->valueint), "inverseBindMatrices") == NULL)
            return kf_fail(
                t->error, KF_BAD_INPUT,
                "%s: its skeleton (skin) has no inverseBindMatrices, without which it cannot be read "
                "here; export the mesh without its skeleton",
                t->file);
    }
    return KF_OK;
}

/* Notes what differs from what a viewer shows: poses, and nodes that are hidden. */
static void note_poses(const gltf_text *t, kf_text *notes) {
    const cJSON *item;
    bool skin = false, morph = false, hidden = false;
    cJSON_ArrayForEach(item, get(t->root, "nodes")) {
        const cJSON *visibility = get(get(item, "extensions"), "KHR_node_visibility");
        skin = skin || get(item, "skin") != NULL;
        morph = morph || has_weights(item);
        hidden = hidden || cJSON_IsFalse(get(visibility, "visible"));
    }
    cJSON_ArrayForEach(item, get(t->root, "meshes")) morph = morph || has_weights(item);
    if (skin || morph)
        kf_note(notes, "%s: %s not read: it has the shape that its mesh has without", t->file,
                skin ? "its skeleton (skin) is" : "its morph targets are");
    if (hidden) kf_note(notes, "%s: nodes that are hidden are read like others", t->file);
}

/* ---- Claims ---- */

static kf_status refuse_claim(const gltf_text *t, double count, const char *what) {
    return kf_fail(t->error, KF_BAD_INPUT, "%s: claims %.0f %s in %.0f bytes; is it whole?", t->file, count,
                   what, t->most);
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

void kf_gltf_decode(char *address) {
    char *to = address;
    for (const char *from = address; *from != '\0'; from++) {
        const int high = *from == '%' ? hex_digit(from[1]) : -1, low = high < 0 ? -1 : hex_digit(from[2]);
        *to++ = low > 0 || (low == 0 && high > 0) ? (char)(16 * high + low) : *from;
        if (low > 0 || (low == 0 && high > 0)) from += 2;
    }
    *to = '\0';
}

/* Returns the size in bytes of the external files that the buffers name. */
static double external_bytes(const char *file, const cJSON *buffers) {
    const char *slash = strrchr(file, '/');
    double bytes = 0.0;
    const cJSON *buffer;
    cJSON_ArrayForEach(buffer, buffers) {
        const char *name = cJSON_GetStringValue(get(buffer, "uri"));
        char path[KF_PATH];
        struct stat about;
        if (name == NULL || strncmp(name, "data:", 5) == 0) continue;
        const int folder = slash != NULL ? (int)(slash - file) + 1 : 0;
        if (kf_path(path, NULL, "%.*s%s", folder, file, name) != KF_OK) continue;
        if (stat(path, &about) != 0) kf_gltf_decode(path + folder);
        if (stat(path, &about) == 0) bytes += (double)about.st_size;
    }
    return bytes;
}

static kf_status check_list(const gltf_text *t, const char *list, const char *key, const char *what) {
    const cJSON *item;
    cJSON_ArrayForEach(item, get(t->root, list)) {
        const cJSON *claims[] = {get(item, key), get(get(item, "sparse"), "count")};
        for (int c = 0; c < 2; c++)
            if (cJSON_IsNumber(claims[c]) && !(claims[c]->valuedouble <= t->most))
                return refuse_claim(t, claims[c]->valuedouble, what);
    }
    return KF_OK;
}

static kf_status check_text(gltf_text *t, kf_text *notes) {
    t->most += external_bytes(t->file, get(t->root, "buffers"));
    KF_TRY(check_version(t));
    KF_TRY(check_extensions(t));
    KF_TRY(check_list(t, "buffers", "byteLength", "bytes of data"));
    KF_TRY(check_list(t, "bufferViews", "byteLength", "bytes of data"));
    KF_TRY(check_list(t, "accessors", "count", "elements"));
    KF_TRY(check_positions(t));
    KF_TRY(check_skins(t));
    note_poses(t, notes);
    return KF_OK;
}

/* ---- The text in the file ---- */

/* Finds the text of a GLB file. It holds "glTF", version, length of the file, length of the text, "JSON" and
 * the text. */
static kf_status find_glb_text(const gltf_text *t, const char *data, size_t size, const char **text,
                               size_t *length) {
    enum { HEAD = 20, VERSION_AT = 4, LENGTH_AT = 8, TEXT_AT = 12 };
    uint32_t version = 0, whole = 0, text_bytes = 0;
    if (size < HEAD || memcmp(data, "glTF", 4) != 0)
        return kf_fail(t->error, KF_BAD_INPUT, "%s: does not begin as a binary glTF file does; is it one?",
                       t->file);
    memcpy(&version, data + VERSION_AT, sizeof version);
    memcpy(&whole, data + LENGTH_AT, sizeof whole);
    memcpy(&text_bytes, data + TEXT_AT, sizeof text_bytes);
    if (version != 2)
        return kf_fail(t->error, KF_BAD_INPUT, "%s: is glTF %u.0; glTF 2.0 is read, export it as that",
                       t->file, version);
    if (whole > size) return refuse_claim(t, whole, "bytes");
    if (text_bytes > size - HEAD) return refuse_claim(t, text_bytes, "bytes of text");
    *text = data + HEAD;
    *length = text_bytes;
    return KF_OK;
}

/* Checks the JSON of a glTF or GLB file, and notes what is left out. */
kf_status kf_gltf_check(const char *file, kf_text *notes, kf_error *error) {
    char *data = NULL;
    size_t size = 0, length = 0;
    KF_TRY(kf_file_read(file, (size_t)KF_MESH_FILE_GIB << 30, &data, &size, error));
    gltf_text t = {.file = file, .most = (double)size, .error = error};
    const char *text = data;
    cJSON *root = NULL;
    kf_status status = KF_OK;
    length = size;
    if (strcasecmp(kf_mesh_ending(file), ".glb") == 0) status = find_glb_text(&t, data, size, &text, &length);
    if (status == KF_OK) status = kf_json_parse(file, text, length, &root, error);
    t.root = root;
    if (status == KF_OK) status = check_text(&t, notes);
    cJSON_Delete(root);
    free(data);
    return status;
}
