/* How many processors this process may keep busy. */
#ifndef KF_BASE_UTIL_PROCESSORS_H
#define KF_BASE_UTIL_PROCESSORS_H

typedef struct kf_processors {
    int online;   /* of the machine */
    int bound;    /* that it may run on: taskset, a container's set */
    double quota; /* that control groups let it use at once, on average; 0: no limit is known */
    int usable;   /* the least of these, at least 1; half a processor of a quota counts as none */
} kf_processors;
/* Returns the processors as they were when this was asked first: threads that are bound later do not
 * count. */
kf_processors kf_processors_find(void);

/* The quota of control groups below a mount point ("/sys/fs/cgroup"), of both versions; self: the list of the
 * process's own ("/proc/self/cgroup"). 0: none. */
double kf_processor_quota(const char *groups, const char *self);

#endif
