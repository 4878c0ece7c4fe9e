#include "harness/worker/other_processes.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/backend/team/world.h"
#include "base/util/log.h"
#include "base/util/process.h"

static bool is_ours(int number, int parent) {
    enum { MOST_GENERATIONS = 64 }; /* processes that end meanwhile could form a cycle */
    const int own = (int)getpid();
    kf_process next = {.parent = parent};
    for (int i = 0; i < MOST_GENERATIONS && number > 1; i++) {
        if (number == own) return true;
        number = next.parent;
        if (!kf_process_read(number, &next)) return false;
    }
    return false;
}

int kf_name_other_processes(const int *processes, int count, char *text, size_t size) {
    int others = 0;
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        kf_process found;
        if (!kf_process_read(processes[i], &found) || is_ours(processes[i], found.parent)) continue;
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
