#include "base/util/processors.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/file.h"

enum { LONGEST = 1024 };

static int bound_processors(void) {
    const long configured = sysconf(_SC_NPROCESSORS_CONF);
    const int most = configured > CPU_SETSIZE ? (int)configured : CPU_SETSIZE;
    cpu_set_t *set = CPU_ALLOC((size_t)most);
    if (set == NULL) return 1;
    const size_t bytes = CPU_ALLOC_SIZE((size_t)most);
    const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 1;
    CPU_FREE(set);
    return count > 0 ? count : 1;
}

/* Reads a quota of version 2, such as "100000 100000". "max ..." means no limit. */
static double quota_of_two(const char *folder) {
    char path[3 * LONGEST], line[LONGEST];
    double allowed = 0.0, period = 0.0;
    (void)snprintf(path, sizeof path, "%s/cpu.max", folder);
    return kf_first_line(path, line, sizeof line) && sscanf(line, "%lf %lf", &allowed, &period) == 2 &&
                   period > 0.0
               ? allowed / period
               : 0.0;
}

/* Reads the two files of version 1. A quota of -1 means no limit. */
static double quota_of_one(const char *folder) {
    char path[3 * LONGEST], allowed[LONGEST], period[LONGEST];
    (void)snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    if (!kf_first_line(path, allowed, sizeof allowed)) return 0.0;
    (void)snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    return kf_first_line(path, period, sizeof period) && atof(period) > 0.0 && atof(allowed) > 0.0
               ? atof(allowed) / atof(period)
               : 0.0;
}

/* Returns the smallest quota of a group and all groups that contain it. */
static double least_quota(const char *mount, const char *group, double (*quota_of)(const char *folder)) {
    char folder[2 * LONGEST];
    double least = 0.0;
    (void)snprintf(folder, sizeof folder, "%s%s", mount, group);
    for (;;) {
        const double quota = quota_of(folder);
        if (quota > 0.0 && (least <= 0.0 || quota < least)) least = quota;
        char *slash = strrchr(folder, '/');
        if (slash == NULL || strlen(folder) <= strlen(mount)) return least;
        *slash = '\0';
    }
}

/* Returns whether "cpu" is among controllers, which have commas between. */
static bool has_cpu(const char *controllers) {
    for (const char *at = controllers; *at != '\0'; at += strspn(at, ",")) {
        const size_t length = strcspn(at, ",");
        if (length == 3 && strncmp(at, "cpu", 3) == 0) return true;
        at += length;
    }
    return false;
}

/* Returns the quota of processors of the process's control groups, of either version; 0 if there is none. */
double kf_processor_quota(const char *groups, const char *self) {
    static const char *const mounts[] = {"cpu", "cpu,cpuacct"};
    char line[LONGEST], mount[LONGEST];
    double least = least_quota(groups, "", quota_of_two);
    FILE *stream = fopen(self, "re");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        /* A line is "0::/group" in version 2, or "1:cpu,cpuacct:/group" in version 1. */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'),
             *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL) continue;
        *group++ = '\0';
        controllers++;
        double quota = 0.0;
        if (*controllers == '\0') quota = least_quota(groups, group, quota_of_two);
        for (size_t i = 0; i < sizeof mounts / sizeof *mounts && has_cpu(controllers) && quota <= 0.0; i++) {
            (void)snprintf(mount, sizeof mount, "%s/%s", groups, mounts[i]);
            quota = least_quota(mount, group, quota_of_one);
        }
        if (quota > 0.0 && (least <= 0.0 || quota < least)) least = quota;
    }
    if (stream != NULL) (void)fclose(stream);
    return least;
}

static kf_processors known;

static void find(void) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    known = (kf_processors){.online = online > 0 ? (int)online : 1,
                            .bound = bound_processors(),
                            .quota = kf_processor_quota("/sys/fs/cgroup", "/proc/self/cgroup")};
    known.usable = known.bound;
    if (known.quota > 0.0 && known.quota < known.usable) known.usable = (int)(known.quota + 0.01);
    if (known.usable < 1) known.usable = 1;
}

kf_processors kf_processors_find(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find);
    return known;
}
