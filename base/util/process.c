#include "base/util/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/clean.h"
#include "base/util/text.h"

/* Reads the state and the parent of a process. In the line they follow the name in brackets, which may itself
 * contain brackets and blanks. */
bool kf_process_read(int64_t number, kf_process *process) {
    char path[64], line[512];
    (void)snprintf(path, sizeof path, "/proc/%lld/stat", (long long)number);
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    const bool read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    const char *begin = read ? strchr(line, '(') : NULL;
    char *end = read ? strrchr(line, ')') : NULL;
    if (begin == NULL || end == NULL || end < begin || strlen(end) < 5) return false;
    process->state = end[2];
    process->parent = (int)strtol(end + 4, NULL, 10);
    *end = '\0';
    kf_copy_text(process->name, sizeof process->name, begin + 1);
    kf_clean_text(process->name);
    return true;
}
