/* Shared libraries that are loaded at run time, so that one binary runs with and without them. */
#ifndef KF_BASE_BACKEND_LIBRARY_H
#define KF_BASE_BACKEND_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/util/file.h"
#include "base/util/status.h"

/* Names a function and its place in a table of function pointers. A missing optional one is NULL there. */
typedef struct kf_symbol {
    const char *name;
    size_t offset; /* of the pointer in the table */
    bool optional;
} kf_symbol;

typedef struct kf_library {
    const char *override;     /* environment variable that names the file to use, or NULL */
    const char *const *names; /* file names in order of preference, NULL at the end */
    /* Searched after the loader's own places; NULL at the end. They may hold wildcards and begin with
     * $VARIABLE. */
    const char *const *folders;
    const char *cure; /* what to do when it is missing */
    const kf_symbol *symbols;
    size_t symbol_count;
} kf_library;

/* Opens the library and fills in the table. KF_MACHINE when it, or a function that is not optional, is
 * missing. It stays open until the program ends. file (KF_PATH bytes) gets the place where it was found. */
kf_status kf_library_load(const kf_library *library, void *table, char file[KF_PATH], kf_error *error);

/* Finds the first of the folders that holds the file; false if none does. */
bool kf_library_find_folder(const char *const *folders, const char *file, char folder[KF_PATH]);

/* Folders in which CUDA's toolkit and its Python packages keep their libraries; NULL at the end. */
extern const char *const kf_cuda_folders[];

#define KF_SYMBOL_TEXT_(name) #name
/* Expands macros first: cuMemAlloc becomes "cuMemAlloc_v2". */
#define KF_SYMBOL_TEXT(name) KF_SYMBOL_TEXT_(name)

#endif
