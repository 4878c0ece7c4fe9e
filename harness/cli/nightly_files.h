/* Reads files of times that other programs measured, for kftune nightly compare OLD NEW and kftune nightly
 * import FILE... */
#ifndef KF_HARNESS_CLI_NIGHTLY_FILES_H
#define KF_HARNESS_CLI_NIGHTLY_FILES_H

#include "harness/cli/command.h"

/* Compares the two files that are named after "compare". KF_GATE_FAILED if a benchmark became slower. */
kf_status kf_nightly_compare_files(const kf_arguments *arguments, kf_error *error);

/* Judges the series in the files that are named after "import". KF_GATE_FAILED if one became slower or
 * drifted from --pin. */
kf_status kf_nightly_import(const kf_arguments *arguments, kf_error *error);

#endif
