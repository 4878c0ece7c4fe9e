#include "base/record/roofs.h"

#include <string.h>

const kf_roof *kf_roofs_find(const kf_roofs *roofs, const char *name) {
    for (int i = 0; i < roofs->count; i++)
        if (strcmp(roofs->list[i].name, name) == 0) return &roofs->list[i];
    return NULL;
}

int kf_roofs_scattered(const kf_roofs *roofs, double spread) {
    int count = 0;
    for (int i = 0; i < roofs->count; i++)
        count += strcmp(roofs->list[i].unit, "us") != 0 && roofs->list[i].spread > spread;
    return count;
}
