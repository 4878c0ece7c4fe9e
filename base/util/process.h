/* Reads what Linux says of a process of this machine (/proc). */
#ifndef KF_BASE_UTIL_PROCESS_H
#define KF_BASE_UTIL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct kf_process {
    char name[32]; /* of its program, at most 15 letters, without control characters */
    char state;    /* 'R' runs, 'T' is stopped, 'Z' has ended, ... */
    int parent;    /* the number of the process that began it */
} kf_process;

/* Reads what a process is. Returns false when there is none of this number. */
bool kf_process_read(int64_t number, kf_process *process);

#endif
