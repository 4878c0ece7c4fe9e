/* Files and folders: whole-file reads, atomic writes, where kftune keeps its data. */
#ifndef KF_BASE_UTIL_FILE_H
#define KF_BASE_UTIL_FILE_H

#include <dirent.h>
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

/* A draft is a file that is written in place, without a copy in memory. kf_file_begin gives `size` bytes to
 * fill, which are zero at first. kf_file_end puts the file in the place of path if status is KF_OK, and drops
 * it otherwise. It returns the first failure. Only a draft that was begun may be ended. If the process is
 * killed in between, nothing is left where the file system knows files without a name. */
typedef struct kf_file_draft {
    char target[KF_PATH], temporary[KF_PATH];
    void *data;
    size_t size;
    int file;
    int lacking;   /* 0, or the errno of a kf_file_resize that failed: the draft can only be dropped */
    bool mapped;   /* data are mapped from the file; otherwise they are written at the end */
    bool nameless; /* the file has no name until it is whole */
} kf_file_draft;
kf_status kf_file_begin(const char *path, size_t size, kf_file_draft *draft, kf_error *error);
/* Changes the draft's size (not to 0). Its data may lie elsewhere afterwards; added bytes are zero. False
 * where there is no room: kf_file_end then reports it, whatever its status argument. */
bool kf_file_resize(kf_file_draft *draft, size_t size);
kf_status kf_file_end(kf_file_draft *draft, kf_status status, kf_error *error);

/* Writes all bytes to an open file, pipe or terminal. False: it took no more of them, and errno says why. A
 * signal's handler may call it. */
bool kf_write_all(int file, const void *data, size_t size);

/* Reads the first line of a file, at most size - 1 characters, without its newline. Returns false where there
 * is none; the line is then empty. */
bool kf_first_line(const char *path, char *line, size_t size);

/* Finds the whole path of what is there, without links. Returns false if it is not there. Without memory the
 * program ends, so that a path never stays as it was given by chance. */
bool kf_real_path(const char *path, char real[KF_PATH]);

/* Opens a folder to list it; the caller closes it. Returns KF_HOST if the machine has no files or memory
 * left, otherwise KF_BAD_INPUT. A folder that cannot be read is not an empty one. */
kf_status kf_folder_open(const char *path, DIR **stream, kf_error *error);

/* Does the same as kf_file_write_atomic. Only the owner may write the file, whatever the user's umask. */
kf_status kf_file_write_own(const char *path, const void *data, size_t size, kf_error *error);

/* Returns whether programs and libraries in the folder cannot be run: its file system is mounted noexec. */
bool kf_folder_is_noexec(const char *folder);

/* Creates a folder and those above it, as mkdir -p does. */
kf_status kf_make_folders(const char *path, kf_error *error);
/* KF_BAD_INPUT, ending in the text `cure`, unless the folder and the link that leads to it belong to this
 * user or to root, and nobody else may replace a file in it. group_may: members of its group may. */
kf_status kf_folder_is_own(const char *path, bool group_may, const char *cure, kf_error *error);

/* Call it while a file of somebody else is mapped into memory. If its owner shortens the file meanwhile, the
 * process ends with status KF_MACHINE and one line that names the file. path NULL: no file is guarded any
 * more. */
void kf_file_guard(const char *path);

/* The folder that holds kernels/, variants/ and scene/library/: $KFTUNE_DATA, else beside the executable, its
 * parent, or ../share/kftune from it. The result lives as long as the program. */
kf_status kf_data_folder(const char **folder, kf_error *error);

/* Return kftune's folders, and create them: $XDG_CACHE_HOME/kftune (or ~/.cache/kftune) and
 * $XDG_DATA_HOME/kftune (or ~/.local/share/kftune). */
kf_status kf_cache_folder(char path[KF_PATH], kf_error *error);
kf_status kf_store_folder(char path[KF_PATH], kf_error *error);

/* Formats a path into a buffer of KF_PATH bytes; one that is too long is KF_BAD_INPUT. */
kf_status kf_path(char path[KF_PATH], kf_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
