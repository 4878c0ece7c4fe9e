/* Holds two files of times against each other, for kftune nightly compare OLD NEW. */
#ifndef KF_HARNESS_CLI_NIGHTLY_FILES_H
#define KF_HARNESS_CLI_NIGHTLY_FILES_H

#include "harness/cli/command.h"

/* Compares the two files that the positional arguments name after "compare"; KF_GATE_FAILED when anything
 * became slower. */
kf_status kf_nightly_compare_files(const kf_arguments *arguments, kf_error *error);

#endif
