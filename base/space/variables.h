/* Variables: named numbers that the declaration of a space may refer to. */
#ifndef KF_BASE_SPACE_VARIABLES_H
#define KF_BASE_SPACE_VARIABLES_H

#include "base/space/config.h"

/* The values of a space that depend on scene and device (shortest_edge, node_count, sample_count, gpu, ...).
 * A problem may bring the whole declaration instead. */
typedef struct kf_variable {
    char name[KF_NAME];
    double value;
} kf_variable;
enum { KF_VARIABLES = 32 };
typedef struct kf_variables {
    int count;
    kf_variable values[KF_VARIABLES];
    /* The declaration of the space; it lives as long as the scene. NULL: the file is the system's
     * space_file. */
    const cJSON *declaration;
    const char *declaration_file; /* for messages */
} kf_variables;

/* Adds a variable; there must be room. */
void kf_add_variable(kf_variables *variables, const char *name, double value);

#endif
