/* The work of the kinetic system's plans. */
#ifndef KF_COST_MODEL_KINETIC_H
#define KF_COST_MODEL_KINETIC_H

#include "cost_model/model.h"
#include "scene/ordering.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic.h"

/* Numbers of a scene's samples that memory traffic depends on, whatever the config
 * (kinetic_cost_samples.c). */
typedef struct kf_sample_survey {
    const kf_scene *scene;
    size_t count;
    double band_nodes;       /* that samples touch */
    double samples_per_cell; /* mean over cells that hold any */
    kf_ordering cells;       /* by cell */
    uint32_t *by_cell;       /* samples, cell by cell */
    uint32_t *first;         /* [cell] in by_cell; NULL when the box is too large to survey */
    double sectors[2][256];  /* found so far, [morton][block length; 0: the whole box]; 0: not yet */
    double segments[65];     /* the same, [length] */
} kf_sample_survey;

void kf_sample_survey_open(const kf_scene *scene, kf_sample_survey *survey);
void kf_sample_survey_close(kf_sample_survey *survey);
/* Sectors of one component of a field (f32, x fastest) that 32 consecutive samples touch with their 2x2x2
 * nodes, from the real samples in this order; a mean over some of them. */
double kf_sample_survey_sectors(kf_sample_survey *survey, long block_length, bool morton);
/* Groups of up to length samples of one cell. */
double kf_sample_survey_segments(kf_sample_survey *survey, long length);

#endif
