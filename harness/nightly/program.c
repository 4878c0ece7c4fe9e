#include "harness/nightly/program.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util/memory.h"
#include "base/util/text.h"

/* The files and folders below the data folder that a program reads at run time. */
static const char *const data_folders[] = {"kernels", "variants", "scene/library", "metrics"};
enum { DATA_FOLDERS = sizeof data_folders / sizeof data_folders[0], MOST_DEPTH = 8, SHORT_HASH = 16 };
static const size_t LARGEST_FILE = (size_t)1 << 30;

typedef struct file_list {
    char **names; /* relative to the data folder */
    size_t count, capacity;
} file_list;

static void add_file(file_list *list, const char *name) {
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 64;
        list->names = kf_reallocate(list->names, list->capacity * sizeof *list->names);
    }
    list->names[list->count++] = kf_duplicate(name);
}

static void free_list(file_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
}

/* Lists regular files only, because files behind links out of the folder do not belong to the program. */
static kf_status list_files(const char *root, const char *folder, int depth, file_list *list,
                            kf_error *error) {
    char path[KF_PATH], name[KF_PATH];
    KF_TRY(kf_path(path, error, "%s/%s", root, folder));
    DIR *stream = NULL;
    if (access(path, F_OK) != 0 && errno == ENOENT) return KF_OK;
    KF_TRY(kf_folder_open(path, &stream, error));
    kf_status status = KF_OK;
    const struct dirent *entry;
    while (status == KF_OK && (entry = readdir(stream)) != NULL) {
        struct stat information;
        if (entry->d_name[0] == '.') continue;
        status = kf_path(name, error, "%s/%s", folder, entry->d_name);
        if (status == KF_OK) status = kf_path(path, error, "%s/%s", root, name);
        if (status != KF_OK || lstat(path, &information) != 0) continue;
        if (S_ISDIR(information.st_mode) && depth < MOST_DEPTH)
            status = list_files(root, name, depth + 1, list, error);
        if (S_ISREG(information.st_mode)) add_file(list, name);
    }
    (void)closedir(stream);
    return status;
}

static int compare_names(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static kf_status hash_file(kf_hasher *hasher, const char *path, kf_error *error) {
    char *content = NULL;
    size_t size = 0;
    KF_TRY(kf_file_read(path, LARGEST_FILE, &content, &size, error));
    kf_hash_add(hasher, &size, sizeof size);
    kf_hash_add(hasher, content, size);
    free(content);
    return KF_OK;
}

/* Hashes names and contents of the files in the folder `base`. */
static kf_status hash_list(kf_hasher *hasher, const char *base, const file_list *list, kf_error *error) {
    for (size_t i = 0; i < list->count; i++) {
        char path[KF_PATH];
        kf_hash_add_string(hasher, list->names[i]);
        KF_TRY(kf_path(path, error, "%s/%s", base, list->names[i]));
        KF_TRY(hash_file(hasher, path, error));
    }
    return KF_OK;
}

static kf_status hash_program(const char *executable, const char *data, const file_list *list,
                              char hash[KF_HASH_HEX], kf_error *error) {
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    KF_TRY(hash_file(&hasher, executable, error));
    KF_TRY(hash_list(&hasher, data, list, error));
    kf_hash_end(&hasher, hash);
    return KF_OK;
}

/* Lists what a program reads below the data folder, sorted by name. */
static kf_status list_data(const char *data, file_list *list, kf_error *error) {
    for (int i = 0; i < DATA_FOLDERS; i++)
        KF_TRY(list_files(data, data_folders[i], 0, list, error));
    if (list->count > 0) qsort(list->names, list->count, sizeof *list->names, compare_names);
    return KF_OK;
}

kf_status kf_program_hash(kf_program *program, kf_error *error) {
    file_list list = {0};
    kf_status status = list_data(program->data, &list, error);
    if (status == KF_OK)
        status = hash_program(program->executable, program->data, &list, program->hash, error);
    free_list(&list);
    return status;
}

static kf_status copy_file(const char *from, const char *to, mode_t mode, kf_error *error) {
    char folder[KF_PATH], *content = NULL;
    size_t size = 0;
    KF_TRY(kf_path(folder, error, "%s", to));
    KF_TRY(kf_make_folders(dirname(folder), error));
    KF_TRY(kf_file_read(from, LARGEST_FILE, &content, &size, error));
    kf_status status = kf_file_write_atomic(to, content, size, error);
    free(content);
    if (status == KF_OK && chmod(to, mode) != 0)
        status = kf_fail(error, KF_MACHINE, "%s: cannot be made executable: %s", to, strerror(errno));
    return status;
}

/* Keeps the libraries in lib/ beside a program, where it looks for them. They are linked because they are
 * large. */
static kf_status keep_libraries(const char *executable, const char *target, kf_error *error) {
    char beside[KF_PATH], from[KF_PATH], to[KF_PATH], folder[KF_PATH];
    KF_TRY(kf_path(beside, error, "%s", executable));
    KF_TRY(kf_path(from, error, "%s", dirname(beside)));
    file_list list = {0};
    kf_status status = list_files(from, "lib", MOST_DEPTH, &list, error);
    if (status == KF_OK && list.count > 0) status = kf_path(folder, error, "%s/lib", target);
    if (status == KF_OK && list.count > 0) status = kf_make_folders(folder, error);
    for (size_t i = 0; status == KF_OK && i < list.count; i++) {
        char source[KF_PATH];
        status = kf_path(source, error, "%s/%s", from, list.names[i]);
        if (status == KF_OK) status = kf_path(to, error, "%s/%s", target, list.names[i]);
        if (status == KF_OK && link(source, to) != 0) status = copy_file(source, to, 0644, error);
    }
    free_list(&list);
    return status;
}

static kf_status fill(const char *executable, const char *data, const file_list *list, const char *folder,
                      kf_error *error) {
    char to[KF_PATH];
    KF_TRY(kf_make_folders(folder, error));
    KF_TRY(kf_path(to, error, "%s/kftune", folder));
    KF_TRY(copy_file(executable, to, 0755, error));
    for (size_t i = 0; i < list->count; i++) {
        char from[KF_PATH];
        KF_TRY(kf_path(from, error, "%s/%s", data, list->names[i]));
        KF_TRY(kf_path(to, error, "%s/data/%s", folder, list->names[i]));
        KF_TRY(copy_file(from, to, 0644, error));
    }
    return keep_libraries(executable, folder, error);
}

static int remove_entry(const char *path, const struct stat *information, int type, struct FTW *place) {
    (void)information;
    (void)type;
    (void)place;
    return remove(path);
}

static void remove_folder(const char *path) {
    (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static kf_status locate(const char *archive, const char *hash, kf_program *program, kf_error *error) {
    kf_copy_text(program->hash, sizeof program->hash, hash);
    KF_TRY(kf_path(program->executable, error, "%s/%.*s/kftune", archive, SHORT_HASH, hash));
    return kf_path(program->data, error, "%s/%.*s/data", archive, SHORT_HASH, hash);
}

/* Copies a program under a temporary name first, so that it is kept completely or not at all. */
static kf_status copy_program(const char *executable, const char *data, const file_list *list,
                              const char *archive, const char *hash, kf_error *error) {
    char fresh[KF_PATH], final[KF_PATH];
    KF_TRY(kf_path(final, error, "%s/%.*s", archive, SHORT_HASH, hash));
    if (access(final, F_OK) == 0) return KF_OK;
    KF_TRY(kf_path(fresh, error, "%s/.%.*s.%ld", archive, SHORT_HASH, hash, (long)getpid()));
    remove_folder(fresh);
    kf_status status = fill(executable, data, list, fresh, error);
    if (status == KF_OK && rename(fresh, final) != 0 && access(final, F_OK) != 0)
        status = kf_fail(error, KF_MACHINE, "%s: cannot be created: %s", final, strerror(errno));
    remove_folder(fresh);
    return status;
}

kf_status kf_program_keep(const char *executable, const char *data, const char *archive, kf_program *program,
                          kf_error *error) {
    char self[KF_PATH] = "", absolute[KF_PATH];
    if (executable == NULL) {
        ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
        if (length < 0)
            return kf_fail(error, KF_MACHINE, "/proc/self/exe cannot be read: %s", strerror(errno));
        self[length] = '\0';
        executable = self;
    }
    if (data == NULL) KF_TRY(kf_data_folder(&data, error));
    KF_TRY(kf_make_folders(archive, error));
    KF_TRY(kf_folder_is_own(archive, false, "give a --store in a folder of your own", error));
    if (!kf_real_path(archive, absolute))
        return kf_fail(error, KF_MACHINE, "%s: cannot be found: %s", archive, strerror(errno));
    file_list list = {0};
    char hash[KF_HASH_HEX];
    kf_status status = list_data(data, &list, error);
    if (status == KF_OK) status = hash_program(executable, data, &list, hash, error);
    if (status == KF_OK) status = copy_program(executable, data, &list, absolute, hash, error);
    free_list(&list);
    return status == KF_OK ? locate(absolute, hash, program, error) : status;
}

/* --- Files of other programs -----------------------------------------------------------------------------
 */

static kf_status list_named(const char *base, const char *const *names, file_list *list, kf_error *error) {
    for (; *names != NULL; names++) {
        char path[KF_PATH];
        struct stat information;
        KF_TRY(kf_path(path, error, "%s/%s", base, *names));
        if (stat(path, &information) != 0)
            return kf_fail(error, kf_errno_status(errno), "keep: %s: %s", path, strerror(errno));
        if (S_ISDIR(information.st_mode))
            KF_TRY(list_files(base, *names, 0, list, error));
        else
            add_file(list, *names);
    }
    if (list->count > 0) qsort(list->names, list->count, sizeof *list->names, compare_names);
    return KF_OK;
}

static kf_status hash_files(const char *base, const file_list *list, char hash[KF_HASH_HEX],
                            kf_error *error) {
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    KF_TRY(hash_list(&hasher, base, list, error));
    kf_hash_end(&hasher, hash);
    return KF_OK;
}

static kf_status copy_files(const char *base, const file_list *list, const char *folder, kf_error *error) {
    for (size_t i = 0; i < list->count; i++) {
        char from[KF_PATH], to[KF_PATH];
        struct stat information;
        KF_TRY(kf_path(from, error, "%s/%s", base, list->names[i]));
        KF_TRY(kf_path(to, error, "%s/%s", folder, list->names[i]));
        if (stat(from, &information) != 0)
            return kf_fail(error, KF_MACHINE, "%s: cannot be read: %s", from, strerror(errno));
        KF_TRY(copy_file(from, to, information.st_mode & 0777, error));
    }
    return KF_OK;
}

kf_status kf_files_keep(const char *base, const char *const *names, const char *archive, char folder[KF_PATH],
                        char hash[KF_HASH_HEX], kf_error *error) {
    char absolute[KF_PATH], fresh[KF_PATH];
    file_list list = {0};
    KF_TRY(kf_make_folders(archive, error));
    KF_TRY(kf_folder_is_own(archive, false, "give a --store in a folder of your own", error));
    if (!kf_real_path(archive, absolute))
        return kf_fail(error, KF_MACHINE, "%s: cannot be found: %s", archive, strerror(errno));
    kf_status status = list_named(base, names, &list, error);
    if (status == KF_OK) status = hash_files(base, &list, hash, error);
    if (status == KF_OK) status = kf_path(folder, error, "%s/%.*s", absolute, SHORT_HASH, hash);
    if (status == KF_OK)
        status = kf_path(fresh, error, "%s/.%.*s.%ld", absolute, SHORT_HASH, hash, (long)getpid());
    if (status == KF_OK && list.count > 0 && access(folder, F_OK) != 0) {
        remove_folder(fresh);
        status = copy_files(base, &list, fresh, error);
        if (status == KF_OK && rename(fresh, folder) != 0 && access(folder, F_OK) != 0)
            status = kf_fail(error, KF_MACHINE, "%s: cannot be created: %s", folder, strerror(errno));
        remove_folder(fresh);
    }
    free_list(&list);
    return status;
}

kf_status kf_files_hash(const char *base, const char *const *names, char hash[KF_HASH_HEX], kf_error *error) {
    file_list list = {0};
    kf_status status = list_named(base, names, &list, error);
    if (status == KF_OK) status = hash_files(base, &list, hash, error);
    free_list(&list);
    return status;
}

kf_status kf_program_find(const char *archive, const char *hash, kf_program *program, kf_error *error) {
    char absolute[KF_PATH];
    if (!kf_real_path(archive, absolute)) kf_copy_text(absolute, sizeof absolute, archive);
    KF_TRY(locate(absolute, hash, program, error));
    if (access(program->executable, X_OK) == 0) return KF_OK;
    return kf_fail(error, KF_MACHINE, "the copy of program %.*s no longer exists", SHORT_HASH, hash);
}

void kf_program_prune(const char *archive, const char (*keep)[KF_HASH_HEX], int count) {
    DIR *stream = opendir(archive);
    if (stream == NULL) return;
    const struct dirent *entry;
    while ((entry = readdir(stream)) != NULL) {
        if (strlen(entry->d_name) != SHORT_HASH) continue;
        bool kept = strspn(entry->d_name, "0123456789abcdef") != SHORT_HASH;
        for (int i = 0; i < count; i++)
            kept = kept || strncmp(entry->d_name, keep[i], SHORT_HASH) == 0;
        char path[KF_PATH];
        if (!kept && kf_path(path, NULL, "%s/%s", archive, entry->d_name) == KF_OK) remove_folder(path);
    }
    (void)closedir(stream);
}
