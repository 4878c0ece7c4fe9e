/* Reads the parameters of a config into the members of a struct, by a table with one line for each
 * parameter. */
#ifndef KF_BASE_SPACE_OPTIONS_H
#define KF_BASE_SPACE_OPTIONS_H

#include <stddef.h>

#include "base/space/config.h"

typedef enum kf_option_kind {
    KF_OPTION_INT,    /* int */
    KF_OPTION_LONG,   /* long */
    KF_OPTION_FLAG,   /* bool */
    KF_OPTION_CHOICE, /* an enum; its values are positions in the list of names */
    KF_OPTION_SECOND  /* bool: true for the second of two names */
} kf_option_kind;

typedef struct kf_config_field {
    const char *parameter;
    kf_option_kind kind;
    size_t offset;            /* of the member */
    long low, high;           /* bounds of a number, both allowed */
    const char *const *names; /* of a choice, ended by NULL */
} kf_config_field;

#define KF_NUMBER(type, kind, member, parameter, low, high)                                                  \
    { parameter, kind, offsetof(type, member), low, high, NULL }
#define KF_FLAG(type, member, parameter)                                                                     \
    { parameter, KF_OPTION_FLAG, offsetof(type, member), 0, 0, NULL }
#define KF_CHOICE(type, member, parameter, ...)                                                              \
    {                                                                                                        \
        parameter, KF_OPTION_CHOICE, offsetof(type, member), 0, 0, (const char *const[]) {                   \
            __VA_ARGS__, NULL                                                                                \
        }                                                                                                    \
    }
#define KF_SECOND(type, member, parameter, first, second)                                                    \
    {                                                                                                        \
        parameter, KF_OPTION_SECOND, offsetof(type, member), 0, 0, (const char *const[]) {                   \
            first, second, NULL                                                                              \
        }                                                                                                    \
    }

/* Fills in the members of *options. KF_BAD_INPUT for a parameter that is missing, of another kind or out of
 * bounds. */
kf_status kf_options_read(const kf_config *config, const kf_config_field *table, size_t count, void *options,
                          kf_error *error);
/* Reads a config that may be older than the table: a member whose parameter is missing, of another kind or
 * out of bounds stays as it is. */
void kf_options_read_known(const kf_config *config, const kf_config_field *table, size_t count,
                           void *options);
/* KF_BAD_INPUT with the reason why a system refuses values of parameters that do not go together. */
kf_status kf_options_refuse(kf_error *error, const char *reason);

#endif
