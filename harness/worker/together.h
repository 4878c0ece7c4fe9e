/* Lets several processes that mpirun or srun started measure each config together
 * (base/backend/team/world.h). The first leads, and all evaluate the job that it gives. They do so in these
 * very processes, not in one made by fork(), which MPI does not survive. A config that fails on one has
 * failed; one that ends a process, or does not end, ends all. */
#ifndef KF_HARNESS_WORKER_TOGETHER_H
#define KF_HARNESS_WORKER_TOGETHER_H

#include "harness/worker/worker.h"

/* Measures the job on all; the first process calls it. KF_HOST when a machine could not do it, or when the
 * job before has left a device of no use. */
kf_status kf_together_measure(const kf_worker_setup *setup, const kf_job *job, kf_measurement *measurement,
                              kf_error *error);
/* Does what the first process gives until that ends; the others call it. */
kf_status kf_together_follow(const kf_worker_setup *setup, kf_error *error);
/* Says that there is nothing more to do; the first process calls it. */
kf_status kf_together_end(kf_error *error);

#endif
