/* Does work on untrusted input in a child process with limits on memory and time. If the input makes a
 * library crash, loop for ever or ask for gigabytes, this costs one error message. */
#ifndef KF_BASE_UTIL_CONFINED_H
#define KF_BASE_UTIL_CONFINED_H

#include <stddef.h>

#include "base/util/status.h"

typedef struct kf_confinement {
    /* Bytes of address space beyond that of this process; also the most bytes of the answer. */
    size_t memory_bytes;
    unsigned cpu_seconds;
} kf_confinement;

enum { KF_ANSWER_PARTS = 4 };

/* Bytes that come back from the child. The receiver frees the parts; a part without bytes is NULL. */
typedef struct kf_answer {
    void *part[KF_ANSWER_PARTS];
    size_t bytes[KF_ANSWER_PARTS];
} kf_answer;

typedef kf_status kf_confined_work(const void *context, kf_answer *answer, kf_error *error);

/* Runs work in a child and takes its status, message and answer; what the child prints is lost. A crash, or a
 * limit that was reached, is KF_BAD_INPUT: "NAME: ...", where name is the input's. KF_MACHINE when no process
 * is to be had, KF_HOST when it lacked what the machine has too little of, KF_INTERRUPTED after Ctrl-C. The
 * answer is as untrusted as the input. */
kf_status kf_confined_run(const char *name, const kf_confinement *limits, kf_confined_work *work,
                          const void *context, kf_answer *answer, kf_error *error);

/* Frees the parts of an answer, not the struct; one without parts is fine. */
void kf_answer_free(kf_answer *answer);

#endif
