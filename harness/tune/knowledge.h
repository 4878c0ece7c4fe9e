/* What a run knows before it measures: the cost model, and what similar scenes came to. Internal to
 * harness/tune. */
#ifndef KF_HARNESS_TUNE_KNOWLEDGE_H
#define KF_HARNESS_TUNE_KNOWLEDGE_H

#include "cost_model/model.h"
#include "results/store.h"

typedef struct kf_knowledge {
    kf_cost_model *model; /* NULL: the system has none, or it is not for this backend */
    kf_cost_prior prior;
} kf_knowledge;

/* Gives the strategy the cost model's predictions, with the roofs that the store has of the device. */
void kf_knowledge_open(kf_knowledge *knowledge, const kf_system *system, const kf_scene *scene,
                       const kf_device_info *device, kf_store *store, const kf_space *space,
                       kf_strategy *strategy);
void kf_knowledge_close(kf_knowledge *knowledge);

/* The best config that the store has for this system and device, of the scene most like this one (nodes and
 * samples within a factor of 4), that lies in the space. *found false: there is none. scene_name: of that
 * scene. */
kf_status kf_knowledge_similar(kf_store *store, const kf_system *system, const kf_scene *scene,
                               const kf_device_info *device, const kf_space *space, kf_config *config,
                               char scene_name[128], bool *found, kf_error *error);

#endif
