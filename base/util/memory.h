/* Allocation that never returns NULL. */
#ifndef KF_BASE_UTIL_MEMORY_H
#define KF_BASE_UTIL_MEMORY_H

#include <stddef.h>

/* Called when memory is gone, must not return; NULL: the program ends with a clear line and status 3. For a
 * library, which must not end the program it serves. */
void kf_on_out_of_memory(void (*handler)(size_t bytes));
/* Reports that `bytes` of memory are missing: calls the handler of kf_on_out_of_memory, or ends the
 * program. */
_Noreturn void kf_out_of_memory(size_t bytes);
/* Do the same as malloc, calloc and realloc, but never return NULL. The caller frees the memory. */
void *kf_allocate(size_t size) __attribute__((returns_nonnull));
void *kf_allocate_zeroed(size_t count, size_t size) __attribute__((returns_nonnull));
void *kf_reallocate(void *memory, size_t size) __attribute__((returns_nonnull));
/* Returns the array with room for one more element than count. *capacity (0 for a NULL array) doubles when
 * the array must grow. */
void *kf_grow(void *array, size_t count, size_t *capacity, size_t element_bytes)
    __attribute__((returns_nonnull));

#endif
