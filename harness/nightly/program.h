/* Keeps measured programs. Executable and data files are copied to a folder beside the store, so that a later
 * night can compare its program with an earlier one. */
#ifndef KF_HARNESS_NIGHTLY_PROGRAM_H
#define KF_HARNESS_NIGHTLY_PROGRAM_H

#include <stdbool.h>

#include "base/util/file.h"
#include "base/util/hash.h"

typedef struct kf_program {
    char hash[KF_HASH_HEX]; /* hash of the executable and the data files */
    char executable[KF_PATH];
    char data[KF_PATH]; /* for KFTUNE_DATA */
} kf_program;

/* Copies executable (NULL: this program) and the files that it reads in data (NULL: the data folder) into the
 * folder archive, unless the same content is there already. */
kf_status kf_program_keep(const char *executable, const char *data, const char *archive, kf_program *program,
                          kf_error *error);
/* Keeps files and folders (NULL-terminated; relative to base) of another program in the same way. Their
 * copies have the same names below *folder. The hash covers names and content. */
kf_status kf_files_keep(const char *base, const char *const *names, const char *archive, char folder[KF_PATH],
                        char hash[KF_HASH_HEX], kf_error *error);
/* Compute only the hashes: of the files that program->executable and ->data name, and of other files. */
kf_status kf_program_hash(kf_program *program, kf_error *error);
kf_status kf_files_hash(const char *base, const char *const *names, char hash[KF_HASH_HEX], kf_error *error);
/* Finds a kept program. KF_MACHINE if it is no longer kept. */
kf_status kf_program_find(const char *archive, const char *hash, kf_program *program, kf_error *error);
/* Deletes all kept programs except those with the given hashes. */
void kf_program_prune(const char *archive, const char (*keep)[KF_HASH_HEX], int count);

#endif
