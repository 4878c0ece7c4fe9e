/* Lets the processes that mpirun or srun started measure each config together (base/backend/team/world.h).
 * The first process leads, and all evaluate its jobs. They do so themselves instead of in forked children,
 * because MPI does not survive fork(). A config that fails in one process has failed. One that ends a
 * process, or does not end, ends all of them. */
#ifndef KF_HARNESS_WORKER_TOGETHER_H
#define KF_HARNESS_WORKER_TOGETHER_H

#include "harness/worker/worker.h"

/* Measures the job in all processes. The first one calls it. KF_HOST if a machine failed, or if the job
 * before has ruined a device. */
kf_status kf_together_measure(const kf_worker_setup *setup, const kf_job *job, kf_measurement *measurement,
                              kf_error *error);
/* Does the first process's jobs until there are no more. The other processes call it. */
kf_status kf_together_follow(const kf_worker_setup *setup, kf_error *error);
/* Tells the others that there are no more jobs. The first process calls it. */
kf_status kf_together_end(kf_error *error);

#endif
