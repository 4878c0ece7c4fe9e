/* Named numbers that a space's declaration may refer to. */
#ifndef KF_BASE_SPACE_VARIABLES_H
#define KF_BASE_SPACE_VARIABLES_H

#include "base/space/config.h"

/* Variables are what scene and device decide of a space: named numbers that its JSON may refer to
 * (shortest_edge, node_count, sample_count, gpu, ...), or all of it. */
typedef struct kf_variable {
    char name[KF_NAME];
    double value;
} kf_variable;
enum { KF_VARIABLES = 32 };
typedef struct kf_variables {
    int count;
    kf_variable values[KF_VARIABLES];
    const cJSON *declaration; /* of the space; lives as long as the scene. NULL: the system's space_file */
    const char *declaration_file; /* for messages */
} kf_variables;

/* Adds a variable; there must be room. */
void kf_add_variable(kf_variables *variables, const char *name, double value);

#endif
