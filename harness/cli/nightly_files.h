/* Reads files of times that something else measured, for kftune nightly compare OLD NEW and kftune nightly
 * import FILE... */
#ifndef KF_HARNESS_CLI_NIGHTLY_FILES_H
#define KF_HARNESS_CLI_NIGHTLY_FILES_H

#include "harness/cli/command.h"

/* Compares the two files that the positional arguments name after "compare"; KF_GATE_FAILED when anything
 * became slower. */
kf_status kf_nightly_compare_files(const kf_arguments *arguments, kf_error *error);

/* Judges the series of the files that the positional arguments name after "import"; KF_GATE_FAILED when a
 * series became slower or drifted from --pin. */
kf_status kf_nightly_import(const kf_arguments *arguments, kf_error *error);

#endif
