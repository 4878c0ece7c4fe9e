/* KF_FOLLOW comes first in a kernel of a pressure solve. With KF_OVERLAP it may begin while the one before it
 * ends, so nothing is read before this. */
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
