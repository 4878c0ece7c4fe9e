/* KF_FOLLOW is the first statement of a kernel of a pressure solve. With KF_OVERLAP a kernel may begin
 * before the preceding one has ended, so it must read nothing before this statement. */
#ifndef KF_KERNELS_INCOMPRESSIBLE_FOLLOW_H
#define KF_KERNELS_INCOMPRESSIBLE_FOLLOW_H

#include "../portable.h"

#if KF_OVERLAP
#define KF_FOLLOW                                                                                            \
    KF_LET_SUCCESSOR;                                                                                        \
    KF_AWAIT_PREDECESSOR
#else
#define KF_FOLLOW ((void)0)
#endif

#endif
