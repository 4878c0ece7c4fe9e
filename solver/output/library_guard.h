/* A guard around calls of HDF5 1.10. When memory is missing this library follows null pointers, recurses
 * without end or calls exit, and the caller cannot prevent it. */
#ifndef KF_SOLVER_OUTPUT_LIBRARY_GUARD_H
#define KF_SOLVER_OUTPUT_LIBRARY_GUARD_H

/* Between the two calls, a signal of such a fault, or exit, ends the process with KF_MACHINE and a line that
 * names the file and the library, and says what is to be done. Only one thread at a time may use it. */
void kf_library_guard_begin(const char *file, const char *library, const char *advice);
void kf_library_guard_end(void);

#endif
