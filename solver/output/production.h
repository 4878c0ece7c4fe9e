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

/* A picture of the solid's surface with colours from low to high; if they are equal, kf_surface_view_write
 * chooses. */
typedef struct kf_surface_picture {
    bool drawn;
    double low, high;
} kf_surface_picture;

typedef struct kf_production_options {
    const char *folder; /* it exists and may be written to (run_folder.h) */
    uint64_t steps;     /* number of steps from the start of this run, at least 1 */
    /* Seconds of the flow to run instead, for steps of varying length; `steps` is then an estimate; 0: not
     * used. */
    double seconds;
    /* If the run began in the flow of another run, no mean of forces begins before this step. */
    uint64_t foreign;
    uint64_t every; /* output after every step that is a multiple of this, and after the last; at least 1 */
    uint64_t record_every; /* a row of each table after every step that is a multiple of this; at least 1 */
    double turn;           /* yaw of the solid in radians, for means in its own axes */
    double flow_through;   /* steps in which the stream crosses the domain once; 0: there is no stream */
    kf_drag_judge *judge;  /* computes the drag in an open stream for forces.csv; NULL: not computed */
    const void *judge_context;
    bool until_settled; /* ends the run early, once the drag is known (kf_drag_is_done) */
    int checkpoints;    /* the number of newest ones that are kept; 0: one only after an interruption */
    double checkpoint_seconds; /* seconds between two checkpoints; one more is written at the end */
    kf_picture_view pictures[KF_PICTURE_FIELDS]; /* of a flow; if picture_count is 0, the speed is drawn */
    int picture_count;
    kf_surface_picture surfaces[KF_SURFACE_KINDS]; /* pictures of the solid, from the viewpoint */
    kf_viewpoint viewpoint;
    uint64_t picture_every; /* also pictures after every step that is a multiple of this; 0: none */
    /* A frame of a film, film_00001.png, after every step that is a multiple of this; 0: none. */
    uint64_t film_every;
    uint64_t mean_from;     /* the step from which on fields of a flow are averaged over time; 0: never */
    uint64_t mean_every;    /* steps between two moments that are averaged */
    const kf_probe *probes; /* probes that are recorded */
    size_t probe_count;
    uint64_t probe_every; /* after every step that is a multiple of this, and after the last; at least 1 */
    bool no_pictures, no_fields; /* for any system: draws nothing; writes no files of fields or particles */
    int quantities;  /* what files of a flow contain: bits of flow_files.h; 0: velocity and pressure */
    int compression; /* gzip level of fields, 0 to 9 */
    kf_smoke *smoke; /* the plan's smoke; NULL: there is none */
    /* A picture of the smoke after every step that is a multiple of this, and after the last. */
    uint64_t smoke_every;
    /* Checked a few times a second; if it is not 0, the run writes a checkpoint and ends. */
    const volatile int *interrupted;
    /* Called in another thread when steps take more than a hundred times as long as earlier ones, and ten
     * minutes more. It ends the process, because the main thread cannot. NULL: hanging is not noticed. */
    void (*hangs)(void *context, const kf_error *why);
    void *hangs_context;
    const kf_watchdog_clock *clock; /* the clock for this; NULL: the machine's */
} kf_production_options;
/* Returns the first kind of surface picture that is drawn; -1: none is. */
int kf_surface_drawn(const kf_production_options *options);

typedef struct kf_production {
    uint64_t first_step, last_step;              /* the plan's steps before and after the run */
    double seconds_left;                         /* seconds of the flow that remain of the options' seconds */
    double seconds;                              /* time spent on steps, without output */
    double output_seconds;                       /* time spent on files, pictures and checkpoints */
    double steps_per_second, updates_per_second; /* 0 if no step was done */
    size_t output_count;
    char **outputs;           /* paths of all files written, in order, without removed checkpoints; owned */
    char checkpoint[KF_PATH]; /* path of the newest checkpoint; "" when there is none */
    kf_records records;       /* the last row of each table; without tables if there are none */
    kf_drag_report drag;      /* over the whole run, including the part before a restart */
    kf_probe_report *probes;  /* [probe_count] in the order of the options; owned */
    size_t probe_count;
    size_t smoke_pictures, frames;
    uint64_t tracers; /* in the smoke at the last output */
} kf_production;

/* Sets the plan to step 0, or restores a checkpoint (checkpoint.h) if restart is not NULL; its smoke (may be
 * NULL) too. */
kf_status kf_production_start(kf_plan *plan, kf_smoke *smoke, const char *restart, kf_error *error);

/* Starts the plan at step 0 from the flow of another scene's checkpoint. If this is not possible, a line says
 * why and the plan starts as with kf_production_start without a restart. *begun: whether it was possible. */
kf_status kf_production_begin_in(kf_plan *plan, const char *neighbour, bool *begun, kf_error *error);

/* Runs on from the plan's present step. In a run of several processes (base/backend/team/world.h) all call
 * this, and the first writes the files. KF_GATE_FAILED when the simulation diverges; files written before
 * stay. KF_INTERRUPTED after an interruption; production->checkpoint continues the run. *production is filled
 * in whatever the status. */
kf_status kf_produce(kf_plan *plan, const kf_production_options *options, kf_production *production,
                     kf_error *error);
void kf_production_free(kf_production *production);

#endif
