#include "base/util/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util/status.h"

static void (*out_of_memory)(size_t bytes);

void kf_on_out_of_memory(void (*handler)(size_t bytes)) {
    out_of_memory = handler;
}

void kf_out_of_memory(size_t bytes) {
    if (out_of_memory != NULL) out_of_memory(bytes);
    char line[128];
    const int length =
        snprintf(line, sizeof line,
                 "kftune: out of memory: %zu bytes cannot be allocated; use a smaller grid or mesh\n", bytes);
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0) _exit(KF_MACHINE);
    _exit(
        /* No exit handlers run: they would need memory too, and in a child they belong to the parent. */
        KF_MACHINE);
}

static void *checked(void *memory, size_t size) {
    if (memory == NULL) kf_out_of_memory(size);
    return memory;
}

void *kf_allocate(size_t size) {
    return checked(malloc(size > 0 ? size : 1), size);
}

void *kf_allocate_zeroed(size_t count, size_t size) {
    size_t wanted = 0;
    if (__builtin_mul_overflow(count, size, &wanted)) wanted = (size_t)-1;
    return checked(calloc(count > 0 ? count : 1, size > 0 ? size : 1), wanted);
}

void *kf_reallocate(void *memory, size_t size) {
    return checked(realloc(memory, size > 0 ? size : 1), size);
}

void *kf_grow(void *array, size_t count, size_t *capacity, size_t element_bytes) {
    if (array == NULL) *capacity = 0;
    if (count < *capacity) return array;
    *capacity = 2 * count + 8;
    return kf_reallocate(array, *capacity * element_bytes);
}
