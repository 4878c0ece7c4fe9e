/* Reads types and parameters of a kernel from its source. Source that is not compiled tells little for
 * certain, so anything that is not understood is skipped. */
#ifndef KF_SOLVER_T1_T1_TYPES_H
#define KF_SOLVER_T1_T1_TYPES_H

#include "solver/t1/t1.h"
#include "solver/t1/t1_tokens.h"

enum { KF_T1_MOST_WORDS = 24, KF_T1_MOST_TEMPLATE = 8 };

/* The files of a kernel without comments and strings. Directives are separate; '#' stands in their place. */
typedef struct kf_t1_source_text {
    const kf_t1_problem *problem;
    kf_t1_language language;
    const char *const *files;
    char *code[KF_T1_FILES], *directives[KF_T1_FILES];
    int file_count;     /* number of files that were read */
    const char *kernel; /* KernelName */
    kf_t1_token name;   /* the kernel's name without namespaces and template arguments */
    kf_t1_token type_names[KF_T1_MOST_TEMPLATE],
        type_values[KF_T1_MOST_TEMPLATE]; /* of the template's parameters */
    int type_count;
} kf_t1_source_text;

/* Returns whether a word is a macro of the files or of the compiler options, or a parameter of the space.
 * *intricate: it may stand for more than one word. */
bool kf_t1_is_macro(const kf_t1_source_text *s, kf_t1_token word, bool *intricate);
/* Reads one parameter from its tokens, at most 2 * KF_T1_MOST_WORDS. False if it may not be a single
 * parameter: a macro that stands for several, a pointer to a function, a pack. */
bool kf_t1_read_parameter(const kf_t1_source_text *s, const kf_t1_token *tokens, int count,
                          kf_t1_parameter_text *p);

#endif
