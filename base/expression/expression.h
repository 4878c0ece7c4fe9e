/* Expressions over named numbers: a strict subset of Python (the language of T1 files), used for domains and
 * constraints. Integers, floats, strings in quotes, True/False; + - * / // % ** with Python's meaning (also
 * on negatives); comparisons, chained; and/or/not; in, not in; list literals, lists joined by +, list(),
 * range(), one-variable list comprehensions with `if`; min, max, abs, floor, ceil, log2 (integer floor of the
 * binary logarithm). Lists hold single values. Anything else is refused with the column (in characters, from
 * 1). Integers have 64 bits; leaving them is an error. Text, nesting, list sizes and work are bounded, so
 * that any text is safe. */
#ifndef KF_BASE_EXPRESSION_EXPRESSION_H
#define KF_BASE_EXPRESSION_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/util/status.h"

typedef struct kf_expression kf_expression;

typedef enum kf_scalar_kind {
    KF_SCALAR_INTEGER,
    KF_SCALAR_FLOAT,
    KF_SCALAR_STRING,
    KF_SCALAR_BOOLEAN
} kf_scalar_kind;
typedef struct kf_scalar {
    kf_scalar_kind kind;
    long long integer; /* integer and boolean */
    double number;     /* float */
    const char *text;  /* string; not owned */
} kf_scalar;

/* Looks a name up; false when unknown. */
typedef bool (*kf_name_lookup)(void *context, const char *name, kf_scalar *value);

/* Errors are KF_BAD_INPUT: "column 12: unknown name 'alpa' (did you mean 'alpha'?)". */
kf_status kf_expression_parse(const char *text, kf_expression **expression, kf_error *error);
kf_status kf_expression_scalar(const kf_expression *expression, kf_name_lookup lookup, void *context,
                               kf_scalar *value, kf_error *error);
kf_status kf_expression_truth(const kf_expression *expression, kf_name_lookup lookup, void *context,
                              bool *truth, kf_error *error);
/* For list-valued expressions; *values is allocated for the caller (strings inside live as long as the
 * expression). At most limit entries, more is an error. */
kf_status kf_expression_list(const kf_expression *expression, kf_name_lookup lookup, void *context,
                             size_t limit, kf_scalar **values, size_t *count, kf_error *error);
/* Calls visit for every free name once. */
void kf_expression_names(const kf_expression *expression, void (*visit)(void *context, const char *name),
                         void *context);
/* Every free name must be among names, else KF_BAD_INPUT with its column and the nearest right one. */
kf_status kf_expression_check_names(const kf_expression *expression, const char *const *names, int count,
                                    kf_error *error);
void kf_expression_free(kf_expression *expression);

#endif
