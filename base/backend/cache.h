/* Compiled kernels on disk, shared by both backends: one file an entry in <cache folder>/kernels, named
 * <key>.<extension>, ending in a trailer with the hash of key and content. Only what this user (or root)
 * wrote, and nobody else can write, is used. Writing is atomic, so several processes may use the folder at
 * once. The folder is kept below $KFTUNE_CACHE_LIMIT bytes (default 1 GiB) by dropping what was used longest
 * ago. */
#ifndef KF_BASE_BACKEND_CACHE_H
#define KF_BASE_BACKEND_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/backend/backend.h"
#include "base/util/file.h"
#include "base/util/hash.h"

/* Path of a kernel source: source->file itself if it is absolute, else below the data folder (no ".."). */
kf_status kf_source_path(const kf_source *source, char path[KF_PATH], kf_error *error);
/* The folder kernels include from: <data folder>/kernels. */
kf_status kf_source_include_folder(char path[KF_PATH], kf_error *error);

/* Key of a build: hash of the source file and every file it includes by quoted name (followed through files,
 * looked for beside the including file and in the include folder), the defines in their order, and whatever
 * else decides the machine code: compiler (its version line), flags, architecture. */
kf_status kf_cache_key(const kf_source *source, const char *compiler, const char *flags,
                       const char *architecture, char key[KF_HASH_HEX], kf_error *error);

/* Looks an entry up; false when there is none. An entry that is corrupt, of another key, or could be
 * another user's, is dropped and counts as none. A hit refreshes
 * the entry's time of use. The content (without trailer) goes to *data, to be freed by the caller; *size
 * without the terminating zero that follows it. */
bool kf_cache_get(const char *key, const char *extension, void **data, size_t *size);

/* Finds content that is used from the file itself (shared objects: the trailer does not disturb the
 * loader). */
bool kf_cache_find(const char *key, const char *extension, char path[KF_PATH]);

/* Stores an entry and then evicts others if the folder has become too large; never the one just written.
 * KF_HOST when it cannot be written. */
kf_status kf_cache_put(const char *key, const char *extension, const void *data, size_t size,
                       kf_error *error);

/* Waits until no other process builds what has this key, and keeps others from it until the file it returns
 * is closed, or the process ends. -1 where there is nothing to hold: then it is built twice, which does no
 * harm. */
int kf_cache_claim(const char *key);

/* Creates an empty file in the cache folder for a compiler to write to; the caller removes it. What killed
 * processes leave behind is removed by a later kf_cache_put or kf_cache_try. */
kf_status kf_cache_temporary(char path[KF_PATH], const char *extension, kf_error *error);

/* KF_HOST, with the folder's name, when the cache cannot take what a compiler makes: its folder cannot be
 * made or written, or the disk is full. Removes what killed processes left there. */
kf_status kf_cache_try(kf_error *error);

/* Finds the folder of the entries, which is created when missing. KF_HOST when it cannot be, or when it is
 * another user's. */
kf_status kf_cache_kernel_folder(char path[KF_PATH], kf_error *error);

#endif
