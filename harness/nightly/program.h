/* Keeps programs that measured: executable and data files lie beside the store, so that a later night can run
 * an earlier program next to its own. */
#ifndef KF_HARNESS_NIGHTLY_PROGRAM_H
#define KF_HARNESS_NIGHTLY_PROGRAM_H

#include <stdbool.h>

#include "base/util/file.h"
#include "base/util/hash.h"

typedef struct kf_program {
    char hash[KF_HASH_HEX]; /* of the executable and the data files */
    char executable[KF_PATH];
    char data[KF_PATH]; /* for KFTUNE_DATA */
} kf_program;

/* Copies executable (NULL: this program) and what it reads of data (NULL: the data folder) into the folder
 * archive, unless the same content is there already. */
kf_status kf_program_keep(const char *executable, const char *data, const char *archive, kf_program *program,
                          kf_error *error);
/* Keeps in the same way files and folders (NULL-terminated; relative to base) of a program that is not
 * kftune: their copies lie in *folder under the same names. hash is of their names and content. */
kf_status kf_files_keep(const char *base, const char *const *names, const char *archive, char folder[KF_PATH],
                        char hash[KF_HASH_HEX], kf_error *error);
/* Computes the hashes alone, of what program->executable and ->data name, and of files. */
kf_status kf_program_hash(kf_program *program, kf_error *error);
kf_status kf_files_hash(const char *base, const char *const *names, char hash[KF_HASH_HEX], kf_error *error);
/* Finds a kept program; KF_MACHINE if it is not kept any more. */
kf_status kf_program_find(const char *archive, const char *hash, kf_program *program, kf_error *error);
/* Deletes every program but those whose hashes are given. */
void kf_program_prune(const char *archive, const char (*keep)[KF_HASH_HEX], int count);

#endif
