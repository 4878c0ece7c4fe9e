/* Hashes what a build depends on. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/backend/cache.h"
#include "base/backend/known_keys.h"
#include "base/backend/shared_headers.h"
#include "base/util/text.h"

enum { SOURCE_FILES = 128, SOURCE_LIMIT = 16 << 20 };

typedef struct source_files {
    /* All files read so far. Each is hashed once. */
    char *paths[SOURCE_FILES];
    int count;
    char include_folder[KF_PATH];
    /* The source, whose options may name more folders for includes. */
    const kf_source *source;
    kf_hasher *hasher;
    kf_places_looked places;
} source_files;

kf_status kf_source_include_folder(char path[KF_PATH], kf_error *error) {
    const char *data;
    KF_TRY(kf_data_folder(&data, error));
    return kf_path(path, error, "%s/kernels", data);
}

/* Finds the file of a kernel source: an absolute one, or one below the data folder, which no ".." may
 * leave. */
kf_status kf_source_path(const kf_source *source, char path[KF_PATH], kf_error *error) {
    const char *file = source->file, *data;
    if (file[0] == '/') {
        KF_TRY(kf_path(path, error, "%s", file));
        if (access(path, R_OK) == 0) return KF_OK;
        return kf_fail(error, KF_BAD_INPUT, "kernel source %s is missing or unreadable", path);
    }
    bool below = file[0] != '\0';
    for (const char *at = strstr(file, ".."); at != NULL; at = strstr(at + 1, ".."))
        if ((at == file || at[-1] == '/') && (at[2] == '/' || at[2] == '\0')) below = false;
    if (!below)
        return kf_fail(
            error, KF_BAD_INPUT,
            "kernel source \"%s\": name a file below the data folder, such as kernels/probe/copy.cu", file);
    KF_TRY(kf_data_folder(&data, error));
    KF_TRY(kf_path(path, error, "%s/%s", data, file));
    if (access(path, R_OK) != 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "kernel source %s is missing or unreadable; set KFTUNE_DATA to the folder "
                       "that holds kernels/",
                       path);
    return KF_OK;
}

/* --- Following includes ------------------------------------------------------------------------------- */

static kf_status hash_file(source_files *files, const char *path, kf_error *error);

/* Returns whether a file can be read there. Where none is, one that comes later would change the key. */
static bool is_there(source_files *files, const char *path) {
    if (access(path, R_OK) == 0) return true;
    kf_places_add(&files->places, path);
    return false;
}

/* Hashes the file of that name in one of the folders that the source's options add (-I). */
static kf_status hash_in_folders(source_files *files, const char *name, int length, kf_error *error) {
    char path[KF_PATH];
    for (int i = 0; i < files->source->option_count; i++) {
        const char *option = files->source->options[i];
        if (strncmp(option, "-I", 2) != 0) continue;
        KF_TRY(kf_path(path, error, "%s/%.*s", option + 2, length, name));
        if (is_there(files, path)) return hash_file(files, path, error);
    }
    return KF_OK;
}

/* Hashes the file that an #include names, when it exists. If it does not, the compiler will report it. */
static kf_status hash_included(source_files *files, const char *from, const char *name, int length,
                               kf_error *error) {
    const char *slash = strrchr(from, '/');
    char path[KF_PATH];
    if (name[0] == '/') {
        KF_TRY(kf_path(path, error, "%.*s", length, name));
        return is_there(files, path) ? hash_file(files, path, error) : KF_OK;
    }
    if (slash != NULL) {
        KF_TRY(kf_path(path, error, "%.*s/%.*s", (int)(slash - from), from, length, name));
        if (is_there(files, path)) return hash_file(files, path, error);
    }
    KF_TRY(kf_path(path, error, "%s/%.*s", files->include_folder, length, name));
    if (is_there(files, path)) return hash_file(files, path, error);
    return hash_in_folders(files, name, length, error);
}

static const char *skip_blanks(const char *text) {
    while (*text == ' ' || *text == '\t')
        text++;
    return text;
}

/* Follows one line of source if it is an include. Includes inside comments or inactive branches only make the
 * key depend on more files than necessary. An include through a macro would be missed. */
static kf_status follow_line(source_files *files, const char *path, const char *line, kf_error *error) {
    const char *at = skip_blanks(line);
    if (*at != '#') return KF_OK;
    at = skip_blanks(at + 1);
    if (strncmp(at, "include", 7) != 0 || isalnum((unsigned char)at[7]) || at[7] == '_') return KF_OK;
    at = skip_blanks(at + 7);
    /* The compiler provides system headers. */
    if (*at == '<') return hash_in_folders(files, at + 1, (int)strcspn(at + 1, ">\r\n"), error);
    const size_t length = *at == '"' ? strcspn(at + 1, "\"\r\n") : 0;
    if (length == 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: a kernel must include by quoted name (\"portable.h\"), so that the cache can tell what it "
            "depends on",
            path);
    return hash_included(files, path, at + 1, (int)length, error);
}

/* Adds a file to the hash, and all files that its lines include, each once. */
static kf_status hash_file(source_files *files, const char *path, kf_error *error) {
    for (int i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], path) == 0) return KF_OK;
    if (files->count == SOURCE_FILES)
        return kf_fail(error, KF_BAD_INPUT, "%s: a kernel may include %d files at most", path, SOURCE_FILES);
    files->paths[files->count++] = kf_duplicate(path);

    char *text;
    size_t size;
    kf_places_add(&files->places, path);
    KF_TRY(kf_file_read(path, SOURCE_LIMIT, &text, &size, error));
    kf_hash_add(files->hasher, &size, sizeof size);
    kf_hash_add(files->hasher, text, size);
    const size_t folder = strlen(files->include_folder);
    kf_status status = KF_OK;
    if (strncmp(path, files->include_folder, folder) == 0 && path[folder] == '/')
        status = kf_shared_header_check(path + folder + 1, text, size, path, error);
    for (const char *line = text; status == KF_OK && line != NULL; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        status = follow_line(files, path, line, error);
    }
    free(text);
    return status;
}

/* --- The key ------------------------------------------------------------------------------------------ */

/* Hashes what a key depends on besides the content of files. */
static void hash_inputs(kf_hasher *hasher, const kf_source *source, const char *compiler, const char *flags,
                        const char *architecture) {
    kf_hash_begin(hasher);
    /* Raise this number when the way of building changes. */
    kf_hash_add_string(hasher, "kftune kernel 1");
    kf_hash_add_string(hasher, compiler);
    kf_hash_add_string(hasher, flags);
    kf_hash_add_string(hasher, architecture);
    kf_hash_add_string(hasher, source->file);
    kf_hash_add(hasher, &source->define_count, sizeof source->define_count);
    for (int i = 0; i < source->define_count; i++) {
        kf_hash_add_string(hasher, source->defines[i].name);
        kf_hash_add_string(hasher, source->defines[i].value);
    }
    for (int i = 0; i < source->option_count; i++)
        kf_hash_add_string(hasher, source->options[i]);
    if (source->name != NULL) kf_hash_add_string(hasher, source->name);
    if (source->language != KF_LANGUAGE_C) kf_hash_add(hasher, &source->language, sizeof source->language);
}

kf_status kf_cache_key(const kf_source *source, const char *compiler, const char *flags,
                       const char *architecture, char key[KF_HASH_HEX], kf_error *error) {
    kf_hasher hasher;
    char path[KF_PATH], inputs[KF_HASH_HEX];
    source_files files = {.source = source, .hasher = &hasher};
    KF_TRY(kf_source_path(source, path, error));
    KF_TRY(kf_source_include_folder(files.include_folder, error));
    hash_inputs(&hasher, source, compiler, flags, architecture);
    kf_hasher asked = hasher;
    kf_hash_add_string(&asked, path);
    kf_hash_add_string(&asked, files.include_folder);
    kf_hash_end(&asked, inputs);
    if (kf_known_key_find(inputs, key)) return KF_OK;

    const kf_status status = hash_file(&files, path, error);
    for (int i = 0; i < files.count; i++)
        free(files.paths[i]);
    if (status == KF_OK) {
        kf_hash_end(&hasher, key);
        kf_known_key_keep(inputs, key, &files.places, time(NULL));
    }
    kf_places_free(&files.places); /* those of a key that was not found */
    return status;
}
