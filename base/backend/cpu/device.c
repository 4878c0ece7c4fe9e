/* Describes the cpu device: read from the kernel's files, no thread started. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/backend/cpu/cpu.h"
#include "base/util/processors.h"
#include "base/util/text.h"

/* --- Reading ------------------------------------------------------------------------------------------ */

/* The reason why a file that may exist could not be opened: too many open files, or no memory. 0: this has
 * not happened. */
static _Thread_local int lacked;

static FILE *open_fact(const char *file) {
    FILE *stream = fopen(file, "re");
    if (stream == NULL && kf_errno_is_machines(errno)) lacked = errno;
    return stream;
}

/* Reads the rest of the first line of a file that starts with key, after blanks and ':'. Returns false when
 * there is none. */
static bool read_line_value(const char *file, const char *key, char *value, size_t size) {
    FILE *stream = open_fact(file);
    if (stream == NULL) return false;
    char line[1024];
    bool found = false;
    while (!found && fgets(line, sizeof line, stream) != NULL) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        const char *at = line + strlen(key);
        /* This is a longer key. */
        if (strchr(" \t:\n", *at) == NULL) continue;
        at += strspn(at, " \t:");
        line[strcspn(line, "\n")] = '\0';
        kf_copy_text(value, size, at);
        found = true;
    }
    fclose(stream);
    return found;
}

/* Reads the first line of a file with one value. */
static bool read_value(const char *file, char *value, size_t size) {
    FILE *stream = open_fact(file);
    if (stream == NULL) return false;
    const bool found = size <= 4096 && fgets(value, (int)size, stream) != NULL;
    fclose(stream);
    if (found) value[strcspn(value, "\n")] = '\0';
    return found;
}

/* --- Memory ------------------------------------------------------------------------------------------- */

/* Returns the bytes of a key in /proc/meminfo, or 0 if it cannot be read. */
static uint64_t memory_info(const char *key) {
    char value[64];
    struct sysinfo system;
    if (read_line_value("/proc/meminfo", key, value, sizeof value)) return strtoull(value, NULL, 10) * 1024;
    /* Without /proc the system call is used. It does not count memory that can be reclaimed. */
    if (sysinfo(&system) != 0) return UINT64_MAX;
    return (strcmp(key, "MemTotal") == 0 ? system.totalram : system.freeram + system.bufferram) *
           (uint64_t)system.mem_unit;
}

static const char control_groups[] = "/sys/fs/cgroup";

/* Limits of control groups, version 2 and 1, and what counts against them (page cache does not: it gives
 * way). */
static const struct {
    const char *limit, *usage, *key;
} memory_groups[] = {
    {"memory.max", "memory.stat", "anon"},
    {"memory/memory.limit_in_bytes", "memory/memory.stat", "total_rss"},
};

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t kf_cpu_memory_within(const char *groups, uint64_t bytes, bool subtract_usage) {
    for (size_t i = 0; i < sizeof memory_groups / sizeof memory_groups[0]; i++) {
        char limits[256], usages[256], text[64];
        snprintf(limits, sizeof limits, "%s/%s", groups, memory_groups[i].limit);
        snprintf(usages, sizeof usages, "%s/%s", groups, memory_groups[i].usage);
        if (!read_value(limits, text, sizeof text) || text[0] < '0' || text[0] > '9') continue;
        const uint64_t limit = strtoull(text, NULL, 10);
        uint64_t used = 0;
        if (subtract_usage && read_line_value(usages, memory_groups[i].key, text, sizeof text))
            used = strtoull(text, NULL, 10);
        bytes = smaller(bytes, limit > used ? limit - used : 0);
    }
    return bytes;
}

/* Returns the bytes of this process's address space that `ulimit -v` still allows; UINT64_MAX without a
 * limit. */
static uint64_t address_space_left(void) {
    struct rlimit limit;
    char text[64];
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        !read_value("/proc/self/statm", text, sizeof text))
        return UINT64_MAX;
    const uint64_t used = strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

uint64_t kf_cpu_available_memory(void) {
    return smaller(kf_cpu_memory_within(control_groups, memory_info("MemAvailable"), true),
                   address_space_left());
}

uint64_t kf_cpu_available_for(kf_cpu_memory *memory, size_t bytes) {
    enum { SMALL = 1 << 20 };
    memory->since_asked += bytes;
    if (memory->available == 0 || bytes >= SMALL || memory->since_asked >= SMALL) {
        memory->available = kf_cpu_available_memory();
        memory->since_asked = 0;
    }
    return memory->available;
}

/* --- Processor ---------------------------------------------------------------------------------------- */

/* Returns the size of the last-level cache of the first processor, in bytes. */
static uint64_t last_level_cache(void) {
    uint64_t size = 0;
    long deepest = 0;
    for (int index = 0; index < 16; index++) {
        char file[128], level[32], text[32], *unit;
        snprintf(file, sizeof file, "/sys/devices/system/cpu/cpu0/cache/index%d/level", index);
        if (!read_value(file, level, sizeof level)) break;
        snprintf(file, sizeof file, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
        if (!read_value(file, text, sizeof text) || strtol(level, NULL, 10) < deepest) continue;
        deepest = strtol(level, NULL, 10);
        size = strtoull(text, &unit, 10);
        size <<= *unit == 'K' ? 10 : *unit == 'M' ? 20 : 0;
    }
    if (size > 0) return size;
    const long known = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return known > 0 ? (uint64_t)known : 0;
}

/* Lanes of a float in the widest vectors the processor has. */
static int simd_lanes(void) {
#if defined(__x86_64__) || defined(__i386__)
    if (__builtin_cpu_supports("avx512f")) return 16;
    if (__builtin_cpu_supports("avx2")) return 8;
#endif
    return 4;
}

/* Returns the clock rate of the first core in MHz, or the mean in /proc/cpuinfo. NAN: neither is known. */
double kf_cpu_clock_mhz(void) {
    char text[64];
    if (read_value("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", text, sizeof text))
        return strtod(text, NULL) / 1000; /* kHz */
    FILE *stream = fopen("/proc/cpuinfo", "re");
    if (stream == NULL) return NAN;
    double sum = 0;
    int count = 0;
    char line[1024];
    while (fgets(line, sizeof line, stream) != NULL) {
        if (strncmp(line, "cpu MHz", 7) != 0 || strchr(line, ':') == NULL) continue;
        sum += strtod(strchr(line, ':') + 1, NULL);
        count++;
    }
    fclose(stream);
    return count > 0 ? sum / count : NAN;
}

double kf_cpu_energy_joules(void) {
    double sum = 0;
    for (int package = 0; package < 64; package++) {
        char file[96], text[64];
        snprintf(file, sizeof file, "/sys/class/powercap/intel-rapl:%d/energy_uj", package);
        if (!read_value(file, text, sizeof text)) break;
        sum += 1e-6 * strtod(text, NULL);
    }
    return sum > 0 ? sum : NAN;
}

/* --- Description -------------------------------------------------------------------------------------- */

static void name_identity(kf_device_info *info) {
    kf_hasher hasher;
    char hex[KF_HASH_HEX], flags[1024] = "";
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    read_line_value("/proc/cpuinfo", "flags", flags, sizeof flags);
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, info->name);
    kf_hash_add_string(&hasher, flags);
    kf_hash_add(&hasher, &processors, sizeof processors);
    kf_hash_add(&hasher, &info->l2_bytes, sizeof info->l2_bytes);
    kf_hash_end(&hasher, hex);
    snprintf(info->identity, sizeof info->identity, "cpu-%.16s", hex);
}

/* Describes the cpu as a device: name, cores, memory within control groups, last-level cache, and the
 * compiler of its kernels. Values that cannot be read because of too many open files would make it a
 * different device, so that is an error. */
kf_status kf_cpu_device_describe(kf_device_info *info, kf_error *error) {
    memset(info, 0, sizeof *info);
    lacked = 0;
    kf_copy_text(info->spec, sizeof info->spec, "cpu");
    kf_copy_text(info->backend, sizeof info->backend, "cpu");
    struct utsname system = {0};
    uname(&system);
    if (!read_line_value("/proc/cpuinfo", "model name", info->name, sizeof info->name))
        snprintf(info->name, sizeof info->name, "%s processor", system.machine);
    snprintf(info->driver, sizeof info->driver, "%.20s %.40s", system.sysname, system.release);
    info->multiprocessors = kf_processors_find().usable;
    info->warp_size = simd_lanes();
    /* A block is a tile of loops. */
    info->max_threads_per_block = 1 << 30;
    info->memory_bytes = kf_cpu_memory_within(control_groups, memory_info("MemTotal"), false);
    info->memory_free_bytes = kf_cpu_available_memory();
    info->l2_bytes = last_level_cache();
    name_identity(info);
    if (lacked != 0)
        return kf_fail(error, KF_HOST, "what the cpu is cannot be read in /proc and /sys: %s",
                       strerror(lacked));

    kf_host_compiler compiler;
    KF_TRY(kf_host_compiler_find(&compiler, error));
    kf_copy_text(info->architecture, sizeof info->architecture, compiler.architecture);
    kf_copy_text(info->compiler, sizeof info->compiler, compiler.version);
    return KF_OK;
}
