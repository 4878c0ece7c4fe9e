/* Files and folders: whole-file reads, atomic writes, where kftune keeps its data. */
#ifndef KF_BASE_UTIL_FILE_H
#define KF_BASE_UTIL_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/util/status.h"

enum { KF_PATH = 4096 };

/* Reads a whole file into *text (zero-terminated, to be freed by the caller); *size without the zero.
 * A file larger than limit bytes is refused (limit 0: 1 GiB). Missing or unreadable: KF_BAD_INPUT. */
kf_status kf_file_read(const char *path, size_t limit, char **text, size_t *size, kf_error *error);

/* Writes to a temporary file in the same folder, then renames it over path: readers see the old or the new
 * content, never half of it. */
kf_status kf_file_write_atomic(const char *path, const void *data, size_t size, kf_error *error);

/* A draft is a file that is made in its place, without a copy in memory: begin gives `size` bytes to fill,
 * zeros at first; end puts the file in place of path when status is KF_OK, drops it otherwise, and returns
 * the first failure. Only a draft that was begun is ended. Of a process that is killed between the two
 * nothing stays, where the file system knows files without a name. */
typedef struct kf_file_draft {
    char target[KF_PATH], temporary[KF_PATH];
    void *data;
    size_t size;
    int file;
    int lacking;   /* 0, or the errno of a kf_file_resize that failed: the draft can only be dropped */
    bool mapped;   /* else data are written at the end, where files cannot be mapped */
    bool nameless; /* until it is whole */
} kf_file_draft;
kf_status kf_file_begin(const char *path, size_t size, kf_file_draft *draft, kf_error *error);
/* Gives the draft another size, not 0; its data may lie elsewhere afterwards, and what is new is zeros. False
 * without room: then kf_file_end says so, whatever status it is given. */
bool kf_file_resize(kf_file_draft *draft, size_t size);
kf_status kf_file_end(kf_file_draft *draft, kf_status status, kf_error *error);

/* Writes like kf_file_write_atomic a file that only its owner may write, whatever the user's mask. */
kf_status kf_file_write_own(const char *path, const void *data, size_t size, kf_error *error);

/* Returns whether programs and libraries in the folder cannot be run: its file system is mounted noexec. */
bool kf_folder_is_noexec(const char *folder);

/* mkdir -p. */
kf_status kf_make_folders(const char *path, kf_error *error);
/* KF_BAD_INPUT, ending in `cure`, unless a folder, and the link that leads to it, belong to this user or to
 * root, and nobody else may replace what lies in it; group_may: but for members of its group. */
kf_status kf_folder_is_own(const char *path, bool group_may, const char *cure, kf_error *error);

/* While a file of somebody else is mapped into memory: where it is made shorter meanwhile, which takes away
 * what was mapped, the process ends with one line that names it and status KF_MACHINE. NULL: no more. */
void kf_file_guard(const char *path);

/* The folder that holds kernels/, variants/ and scene/library/: $KFTUNE_DATA, else beside the executable, its
 * parent, or ../share/kftune from it. The result lives as long as the program. */
kf_status kf_data_folder(const char **folder, kf_error *error);

/* $XDG_CACHE_HOME/kftune (or ~/.cache/kftune) and $XDG_DATA_HOME/kftune (or ~/.local/share/kftune); created.
 */
kf_status kf_cache_folder(char path[KF_PATH], kf_error *error);
kf_status kf_store_folder(char path[KF_PATH], kf_error *error);

/* Formats a path into a buffer of KF_PATH bytes; one that is too long is KF_BAD_INPUT. */
kf_status kf_path(char path[KF_PATH], kf_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
