/* How many processors this process may keep busy. */
#ifndef KF_BASE_UTIL_PROCESSORS_H
#define KF_BASE_UTIL_PROCESSORS_H

typedef struct kf_processors {
    int online;   /* of the machine */
    int bound;    /* on which the process may run: set by taskset or a container */
    double quota; /* most processors that control groups allow at once, on average; 0: no limit is known */
    int usable;   /* the least of these, but at least 1; half a processor of a quota is rounded down */
} kf_processors;
/* Returns the processors at the time of the first call. Threads that are bound to a processor later do not
 * change it. */
kf_processors kf_processors_find(void);

/* Returns the processor quota of control groups (version 1 or 2) below a mount point ("/sys/fs/cgroup").
 * self: the file that lists the process's own groups ("/proc/self/cgroup"). 0: there is no quota. */
double kf_processor_quota(const char *groups, const char *self);

#endif
