/* Declares the system `functions`, whose configs are run by functions of the program that uses the library.
 */
#ifndef KF_HARNESS_LIBRARY_FUNCTIONS_H
#define KF_HARNESS_LIBRARY_FUNCTIONS_H

#include "base/plan/system.h"
#include "harness/library/kftune.h"

struct kftune_config {
    kf_config config;
};

/* Opens the problem with the space that `text` (JSON) declares. `functions` is copied. The caller frees the
 * problem. */
kf_status kf_functions_open(const char *name, const char *text, const kftune_functions *functions,
                            kf_problem **problem, kf_error *error);

#endif
