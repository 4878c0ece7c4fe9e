/* Loads PAPI at run time if the machine has it. */
#ifndef KF_HARNESS_COUNTERS_PAPI_LIBRARY_H
#define KF_HARNESS_COUNTERS_PAPI_LIBRARY_H

#include "base/util/status.h"

/* The functions of its stable binary interface that kftune uses; 0 means success. */
#define KF_PAPI_FUNCTIONS(X)                                                                                 \
    X(PAPI_library_init, (int version))                                                                      \
    X(PAPI_create_eventset, (int *set))                                                                      \
    X(PAPI_assign_eventset_component, (int set, int component))                                              \
    X(PAPI_attach, (int set, unsigned long thread))                                                          \
    X(PAPI_add_named_event, (int set, const char *event))                                                    \
    X(PAPI_start, (int set))                                                                                 \
    X(PAPI_stop, (int set, long long *values))                                                               \
    X(PAPI_cleanup_eventset, (int set))                                                                      \
    X(PAPI_destroy_eventset, (int *set))

typedef struct kf_papi_table {
#define KF_MEMBER(name, arguments)                                                                           \
    int(*(name)) arguments; /* NOLINT(bugprone-macro-parentheses): parameters */
    KF_PAPI_FUNCTIONS(KF_MEMBER)
#undef KF_MEMBER
} kf_papi_table;

extern kf_papi_table kf_papi;

enum { KF_PAPI_NO_SET = -1 };

/* Loads the library. KF_MACHINE says what to install. */
kf_status kf_papi_load(kf_error *error);

#endif
