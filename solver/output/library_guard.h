/* Around calls of a library that cannot bear a lack of memory: HDF5 1.10 then follows null pointers, recurses
 * without end or calls exit, whatever is looked at outside of it. */
#ifndef KF_SOLVER_OUTPUT_LIBRARY_GUARD_H
#define KF_SOLVER_OUTPUT_LIBRARY_GUARD_H

/* Between the two a signal of such a fault, and exit, end the process with KF_MACHINE and a line that names
 * the file and the library. One thread at a time. */
void kf_library_guard_begin(const char *file, const char *library);
void kf_library_guard_end(void);

#endif
