/* Properties of a scene's samples for the cost model of the kinetic system's plans. */
#ifndef KF_COST_MODEL_KINETIC_H
#define KF_COST_MODEL_KINETIC_H

#include "cost_model/model.h"
#include "scene/ordering.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic.h"

/* Numbers that memory traffic depends on, whatever the config (kinetic_cost_samples.c). */
typedef struct kf_sample_survey {
    const kf_scene *scene;
    size_t count;
    double band_nodes;       /* nodes that samples touch */
    double samples_per_cell; /* mean over cells that contain samples */
    kf_ordering cells;       /* the order of cells */
    uint32_t *by_cell;       /* indices of samples, sorted by cell */
    /* [cell] beginning of each cell in by_cell; NULL when the box is too large for a survey. */
    uint32_t *first;
    /* Results so far, [morton][block length; 0: the whole box]; 0: not yet computed. */
    double sectors[2][256];
    size_t *cells_with; /* [samples up to `most`] how many cells have so many */
    size_t most;
} kf_sample_survey;

/* Surveys the samples of a scene, which must live as long. Free the survey with kf_sample_survey_close. */
void kf_sample_survey_open(const kf_scene *scene, kf_sample_survey *survey);
void kf_sample_survey_close(kf_sample_survey *survey);
/* Returns the 32-byte sectors of one component of a field (f32, x fastest) that 32 consecutive samples touch
 * with their 2x2x2 nodes, in this order. It is a mean over some of the real samples. */
double kf_sample_survey_sectors(kf_sample_survey *survey, long block_length, bool morton);
/* Returns the number of groups of at most `length` samples of one cell. */
double kf_sample_survey_segments(const kf_sample_survey *survey, long length);

#endif
