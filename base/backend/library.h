/* Shared libraries that are looked for at run time, so that one binary runs with and without them. */
#ifndef KF_BASE_BACKEND_LIBRARY_H
#define KF_BASE_BACKEND_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/util/file.h"
#include "base/util/status.h"

/* A function pointer's place in a table of functions. A missing optional one is left NULL. */
typedef struct kf_symbol {
    const char *name;
    size_t offset; /* of the pointer in the table */
    bool optional;
} kf_symbol;

typedef struct kf_library {
    const char *override;       /* environment variable that names the file to use, or NULL */
    const char *const *names;   /* file names, preferred first, NULL at the end */
    const char *const *folders; /* searched after the loader's own places, NULL at the end; may hold wildcards
                                   and start with $VARIABLE */
    const char *cure;           /* what to do when it is missing */
    const kf_symbol *symbols;
    size_t symbol_count;
} kf_library;

/* Opens the library and fills table; KF_MACHINE when it or one of its functions is missing. It stays open as
 * long as the program. file (KF_PATH bytes) gets where it was found. */
kf_status kf_library_load(const kf_library *library, void *table, char file[KF_PATH], kf_error *error);

/* The first of such folders that holds the file; false when none does. */
bool kf_library_find_folder(const char *const *folders, const char *file, char folder[KF_PATH]);

/* CUDA's toolkit and its Python packages keep their libraries in these folders; NULL at the end. */
extern const char *const kf_cuda_folders[];

#define KF_SYMBOL_TEXT_(name) #name
#define KF_SYMBOL_TEXT(name)  KF_SYMBOL_TEXT_(name) /* after macros: cuMemAlloc is "cuMemAlloc_v2" */

#endif
