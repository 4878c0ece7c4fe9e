#include "base/util/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/clean.h"
#include "base/util/text.h"

/* In the line the name stands in brackets, and may hold brackets and blanks itself. The state and the parent
 * follow. */
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
