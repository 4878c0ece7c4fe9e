#include "harness/worker/other_processes.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/backend/team/world.h"
#include "base/util/clean.h"
#include "base/util/log.h"
#include "base/util/text.h"

typedef struct process {
    char name[32];
    int parent;
} process;

/* False when there is none. In the line the name stands in brackets, and may hold brackets and blanks itself;
 * its state and its parent follow. */
static bool read_process(int number, process *found) {
    char path[64], line[512];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", number);
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    const bool read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    const char *begin = read ? strchr(line, '(') : NULL;
    char *end = read ? strrchr(line, ')') : NULL;
    if (begin == NULL || end == NULL || end < begin || strlen(end) < 5) return false;
    found->parent = (int)strtol(end + 4, NULL, 10);
    *end = '\0';
    kf_copy_text(found->name, sizeof found->name, begin + 1);
    kf_clean_text(found->name);
    return true;
}

static bool is_ours(int number, int parent) {
    enum { MOST_GENERATIONS = 64 }; /* processes that end meanwhile could make a circle */
    const int own = (int)getpid();
    process next = {.parent = parent};
    for (int i = 0; i < MOST_GENERATIONS && number > 1; i++) {
        if (number == own) return true;
        number = next.parent;
        if (!read_process(number, &next)) return false;
    }
    return false;
}

int kf_name_other_processes(const int *processes, int count, char *text, size_t size) {
    int others = 0;
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        process found;
        if (!read_process(processes[i], &found) || is_ours(processes[i], found.parent)) continue;
        others++;
        if (length >= size) continue;
        const int more = snprintf(text + length, size - length, "%s%s (process %d)", length > 0 ? ", " : "",
                                  found.name, processes[i]);
        length += more > 0 ? (size_t)more : 0;
    }
    return others;
}

void kf_tell_other_processes(const kf_device_info *device) {
    enum { MOST = 64 };
    int processes[MOST];
    char names[256];
    if (kf_world_size() > 1) return;
    const int count = kf_device_processes(device, processes, MOST);
    if (kf_name_other_processes(processes, count, names, sizeof names) == 0) return;
    kf_warn("%s: is also used by %s: if that computes meanwhile, all times here are too long", device->spec,
            names);
}
