/* kftune nightly compare OLD NEW: two files of times. */
#ifndef KF_HARNESS_CLI_NIGHTLY_FILES_H
#define KF_HARNESS_CLI_NIGHTLY_FILES_H

#include "harness/cli/command.h"

/* positional: "compare" and the two files. KF_GATE_FAILED when anything became slower. */
kf_status kf_nightly_compare_files(const kf_arguments *arguments, kf_error *error);

#endif
