/* The production run: advances a plan and writes snapshots, pictures, records and checkpoints as it goes. */
#ifndef KF_SOLVER_OUTPUT_PRODUCTION_H
#define KF_SOLVER_OUTPUT_PRODUCTION_H

#include "base/plan/plan.h"
#include "base/util/watchdog.h"
#include "solver/output/drag.h"
#include "solver/output/prober.h"
#include "solver/picture/picture.h"
#include "solver/picture/scene_view.h"
#include "solver/smoke/smoke.h"

/* A picture of the solid's surface, in colours from low to high; equal: as kf_surface_view_write. */
typedef struct kf_surface_picture {
    bool drawn;
    double low, high;
} kf_surface_picture;

typedef struct kf_production_options {
    const char *folder;    /* exists and may be written to, see run_folder.h */
    uint64_t steps;        /* to do, from where the run starts; at least 1 */
    double seconds;        /* of the flow instead, where steps differ in length: `steps` is a guess; 0 */
    uint64_t foreign;      /* no mean of forces begins before this step: the flow began as another run's */
    uint64_t every;        /* output after every step divisible by this, and after the last; at least 1 */
    uint64_t record_every; /* likewise a row of each table of records; at least 1 */
    double turn;           /* radians of the solid's yaw, for means in its own axes */
    double flow_through;   /* steps in which the stream goes once through the domain; 0: there is none */
    kf_drag_judge *judge;  /* of the drag in an open stream, for columns of forces.csv; NULL: none */
    const void *judge_context;
    bool until_settled;        /* ends earlier, once the drag is settled and narrow (drag.h) */
    int checkpoints;           /* the newest so many are kept; 0: one only when interrupted */
    double checkpoint_seconds; /* one when the last is older than this, and one at the end */
    kf_picture_view pictures[KF_PICTURE_FIELDS]; /* of a flow, one each; 0 of them: the speed */
    int picture_count;
    kf_surface_picture surfaces[KF_SURFACE_KINDS]; /* and of the solid, from the viewpoint */
    kf_viewpoint viewpoint;
    uint64_t picture_every; /* further pictures after every step divisible by this; 0: none */
    uint64_t film_every; /* a frame of a film, film_00001.png, after every step divisible by this; 0: none */
    uint64_t mean_from;  /* means of a flow's fields over time from this step on; 0: none */
    uint64_t mean_every; /* steps between the moments that go into them */
    const kf_probe *probes; /* that are asked */
    size_t probe_count;
    uint64_t probe_every;        /* after every step divisible by this, and after the last; at least 1 */
    bool no_pictures, no_fields; /* of whatever system: nothing is drawn; no files of fields or particles */
    int quantities;              /* of a flow's files: bits of flow_files.h; 0: velocity and pressure */
    int compression;             /* of the snapshots, gzip level */
    kf_smoke *smoke;             /* of the plan; NULL: none, and nothing is spent on it */
    uint64_t smoke_every;        /* a picture of it after every step divisible by this, and after the last */
    const volatile int *interrupted; /* looked at a few times a second; not 0: write a checkpoint and end */
    /* Called in another thread when steps do not come back within a hundred times what they took so far and
     * ten minutes more: it ends the process, as the main thread cannot. NULL: nobody notices. */
    void (*hangs)(void *context, const kf_error *why);
    void *hangs_context;
    const kf_watchdog_clock *clock; /* of that; NULL: the machine's */
} kf_production_options;
/* The first kind of picture of the solid's surface that is drawn; -1: none. */
int kf_surface_drawn(const kf_production_options *options);

typedef struct kf_production {
    uint64_t first_step, last_step;              /* steps done before and after */
    double seconds_left;                         /* of the options' seconds of the flow */
    double seconds;                              /* spent advancing, output not counted */
    double output_seconds;                       /* spent on files, pictures and checkpoints */
    double steps_per_second, updates_per_second; /* 0 when nothing was advanced */
    size_t output_count;
    char **outputs; /* paths of all files written, in order, those of removed checkpoints left out; owned */
    char checkpoint[KF_PATH]; /* the newest, "" when there is none */
    kf_records records;       /* the last rows; no tables: there are none */
    kf_drag_report drag;      /* over the whole run, what it went on from included */
    kf_probe_report *probes;  /* [probe_count], as the options have them; owned */
    size_t probe_count;
    size_t smoke_pictures, frames;
    uint64_t tracers; /* in the smoke at the last output */
} kf_production;

/* Puts the plan at step 0, or into the state of a checkpoint (see checkpoint.h) unless restart is NULL; and
 * its smoke, which may be NULL. */
kf_status kf_production_start(kf_plan *plan, kf_smoke *smoke, const char *restart, kf_error *error);

/* Puts the plan at step 0 into the flow of another scene's checkpoint; where that does not fit, which a line
 * says, as kf_production_start does without a restart. */
kf_status kf_production_begin_in(kf_plan *plan, const char *neighbour, bool *begun, kf_error *error);

/* Runs on from where the plan is. In a world of several processes (base/backend/team/world.h) all call this,
 * and the first writes the files. KF_GATE_FAILED when the simulation blows up (what was written before
 * stays); KF_INTERRUPTED after an interruption, with production->checkpoint to go on from. *production is
 * filled in every case. */
kf_status kf_produce(kf_plan *plan, const kf_production_options *options, kf_production *production,
                     kf_error *error);
void kf_production_free(kf_production *production);

#endif
