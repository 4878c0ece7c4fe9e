#include "base/backend/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/text.h"

const char *const kf_cuda_folders[] = {
    "$CUDA_HOME/lib64",
    "$CUDA_PATH/lib64",
    "/usr/local/cuda/lib64",
    "/usr/local/cuda-*/lib64",
    "/usr/local/cuda-*/lib",
    "/usr/local/cuda-*/targets/*/lib",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/*/lib",
    "$CONDA_PREFIX/lib",
    "/usr/lib/python3*/*-packages/nvidia/*/lib",
    "/usr/local/lib/python3*/*-packages/nvidia/*/lib",
    "/opt/*/lib/python3*/*-packages/nvidia/*/lib",
    "/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib",
    NULL,
};

/* Replaces a leading $VARIABLE; false when the variable is not set. */
static bool expand_folder(const char *folder, char path[KF_PATH]) {
    if (folder[0] != '$') return kf_path(path, NULL, "%s", folder) == KF_OK;
    const size_t length = strcspn(folder, "/");
    char variable[64];
    if (length > sizeof variable) return false;
    memcpy(variable, folder + 1, length - 1);
    variable[length - 1] = '\0';
    const char *value = getenv(variable);
    if (!value || value[0] != '/') return false;
    return kf_path(path, NULL, "%s%s", value, folder + length) == KF_OK;
}

static void *open_in_folder(const kf_library *library, const char *folder) {
    char pattern[KF_PATH], path[KF_PATH];
    if (!expand_folder(folder, pattern)) return NULL;
    glob_t found;
    void *handle = NULL;
    if (glob(pattern, 0, NULL, &found) != 0) return NULL;
    /* The list is sorted, so the newest version comes last. */
    for (size_t i = found.gl_pathc; i-- > 0 && !handle;)
        for (const char *const *name = library->names; *name && !handle; name++)
            if (kf_path(path, NULL, "%s/%s", found.gl_pathv[i], *name) == KF_OK)
                handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
    return handle;
}

static bool find_in_folder(const char *folder, const char *file, char found[KF_PATH]) {
    char pattern[KF_PATH], path[KF_PATH];
    glob_t matches;
    bool there = false;
    if (!expand_folder(folder, pattern) || glob(pattern, 0, NULL, &matches) != 0) return false;
    for (size_t i = matches.gl_pathc; i-- > 0 && !there;) {
        there = kf_path(path, NULL, "%s/%s", matches.gl_pathv[i], file) == KF_OK && access(path, R_OK) == 0;
        if (there) kf_copy_text(found, KF_PATH, matches.gl_pathv[i]);
    }
    globfree(&matches);
    return there;
}

bool kf_library_find_folder(const char *const *folders, const char *file, char folder[KF_PATH]) {
    for (; *folders; folders++)
        if (find_in_folder(*folders, file, folder)) return true;
    return false;
}

/* Opens a library: the file that the user names, or the first that is found by its names or in its
 * folders. */
static void *open_library(const kf_library *library, kf_error *error) {
    const char *chosen = library->override ? getenv(library->override) : NULL;
    if (chosen && chosen[0]) {
        void *handle = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            kf_fail(error, KF_MACHINE, "$%s: %s: unset it or name the library's file", library->override,
                    dlerror());
        return handle;
    }
    for (const char *const *name = library->names; *name; name++) {
        void *handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (handle) return handle;
    }
    for (const char *const *folder = library->folders; *folder; folder++) {
        void *handle = open_in_folder(library, *folder);
        if (handle) return handle;
    }
    kf_fail(error, KF_MACHINE, "%s is not on this machine: %s", library->names[0], library->cure);
    return NULL;
}

static void name_file(const kf_library *library, void *symbol, char file[KF_PATH]) {
    Dl_info info;
    const bool known = dladdr(symbol, &info) != 0 && info.dli_fname;
    kf_copy_text(file, KF_PATH, known ? info.dli_fname : library->names[0]);
}

kf_status kf_library_load(const kf_library *library, void *table, char file[KF_PATH], kf_error *error) {
    void *handle = open_library(library, error);
    if (!handle) return KF_MACHINE;
    name_file(library, dlsym(handle, library->symbols[0].name), file);
    for (size_t i = 0; i < library->symbol_count; i++) {
        const kf_symbol *symbol = &library->symbols[i];
        void *address = dlsym(handle, symbol->name);
        if (!address && !symbol->optional)
            return kf_fail(error, KF_MACHINE, "%s lacks %s, it is too old: %s", file, symbol->name,
                           library->cure);
        memcpy((char *)table + symbol->offset, &address, sizeof address);
    }
    return KF_OK;
}
