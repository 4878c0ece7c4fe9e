/* Declares what a run knows before it measures: the cost model, and results of similar scenes. */
#ifndef KF_HARNESS_TUNE_KNOWLEDGE_H
#define KF_HARNESS_TUNE_KNOWLEDGE_H

#include "cost_model/model.h"
#include "harness/search/strategy.h"
#include "results/store.h"

typedef struct kf_knowledge {
    kf_cost_model *model; /* NULL: the system has none, or it does not cover this backend */
    kf_cost_prior prior;
} kf_knowledge;

/* Gives the strategy the cost model's predictions. The roofs are those of the device in the store. */
void kf_knowledge_open(kf_knowledge *knowledge, const kf_problem *problem, const kf_device_info *device,
                       kf_store *store, const kf_space *space, kf_strategy *strategy);
void kf_knowledge_close(kf_knowledge *knowledge);

/* A query for scenes that were tuned before. */
typedef struct kf_similar_query {
    const kf_problem *problem;
    const kf_device_info *device;
    const kf_space *space; /* the space of the problem */
    int64_t before;        /* only runs with a smaller number; 0: all */
    double farthest;       /* largest product of the factors between extensive facts; INFINITY: any */
} kf_similar_query;
/* Beyond this product another scene's best config is worse than the default, because caches and launches
 * matter differently. */
#define KF_SIMILAR_FARTHEST 4.0

typedef struct kf_similar {
    bool found;
    bool same_scene; /* its hash is the same */
    kf_config config;
    char scene_name[128];
    char facts[KF_FACTS_TEXT]; /* facts of that scene */
    int64_t run;
    double time_us, updates_per_us; /* of a step of that scene */
} kf_similar;

/* Finds the best config of the most similar scene that is in the space. Runs of the same scene are tried
 * first, then others by their distance, newer ones first. A device with the same name counts as the same. For
 * a team, runs on one device like the team's are tried afterwards. */
kf_status kf_knowledge_similar(kf_store *store, const kf_similar_query *query, kf_similar *similar,
                               kf_error *error);

#endif
