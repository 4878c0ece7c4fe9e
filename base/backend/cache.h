/* Compiled kernels on disk, shared by both backends. An entry is a file <cache
 * folder>/kernels/<key>.<extension>. It ends in a trailer with the hash of key and content. kftune uses only
 * entries that this user or root wrote and nobody else can write. Writing is atomic, so several processes may
 * use the folder at once. The folder is kept below $KFTUNE_CACHE_LIMIT bytes (default 1 GiB): the entries
 * used longest ago are removed. */
#ifndef KF_BASE_BACKEND_CACHE_H
#define KF_BASE_BACKEND_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/backend/backend.h"
#include "base/util/file.h"
#include "base/util/hash.h"

/* Returns the path of a kernel source: source->file itself if it is absolute, else below the data folder
 * (without ".."). */
kf_status kf_source_path(const kf_source *source, char path[KF_PATH], kf_error *error);
/* Returns the folder from which kernels include files: <data folder>/kernels. */
kf_status kf_source_include_folder(char path[KF_PATH], kf_error *error);

/* Computes the key of a build: the hash of everything that determines the machine code. That is the source
 * file and every file that it includes by quoted name (also indirectly; beside the including file or in the
 * include folder), the defines in their order, the compiler's version line, flags and architecture. */
kf_status kf_cache_key(const kf_source *source, const char *compiler, const char *flags,
                       const char *architecture, char key[KF_HASH_HEX], kf_error *error);

/* Looks an entry up; false if there is none. An entry that is corrupt, has another key or could be another
 * user's is removed and counts as none. A hit renews the entry's time of use. *data is the content without
 * the trailer, which the caller frees; *size does not count the terminating zero behind it. */
bool kf_cache_get(const char *key, const char *extension, void **data, size_t *size);

/* Finds an entry that is used as a file. The trailer does not disturb the loader of shared objects. */
bool kf_cache_find(const char *key, const char *extension, char path[KF_PATH]);

/* Stores an entry. If the folder is then too large, others are removed, never the new one. KF_HOST when it
 * cannot be written. */
kf_status kf_cache_put(const char *key, const char *extension, const void *data, size_t size,
                       kf_error *error);

/* Waits until no other process builds this key, and locks the key until kf_cache_release, or until the
 * process ends. -1 if no lock is to be had, or the other does not come to an end: the module is then built
 * twice, which does no harm. */
int kf_cache_claim(const char *key);

/* Releases what was claimed; nothing for -1. */
void kf_cache_release(int claim);

/* Creates an empty file in the cache folder for a compiler to write to. The caller removes it. Files of
 * killed processes are removed by a later kf_cache_put or kf_cache_try. */
kf_status kf_cache_temporary(char path[KF_PATH], const char *extension, kf_error *error);

/* KF_HOST with the folder's name if the cache cannot store what a compiler makes: its folder cannot be made
 * or written, or the disk is full. It also removes files of killed processes. */
kf_status kf_cache_try(kf_error *error);

/* Returns the folder of the entries, and creates it if it is missing. KF_HOST when it cannot be created or
 * belongs to another user. */
kf_status kf_cache_kernel_folder(char path[KF_PATH], kf_error *error);

#endif
