/* Surveys of an H200 (results/measured), and the cost models' predictions for their configs. */
#ifndef KF_TESTS_TOOLS_SURVEYS_H
#define KF_TESTS_TOOLS_SURVEYS_H

#include "cost_model/model.h"
#include "harness/replay/landscape.h"

typedef struct kf_survey {
    const char *system, *name;
    size_t presets; /* the first configs, which are not random */
    kf_landscape *landscape;
    kf_problem *problem;
    kf_cost_model *model;
    kf_device_info device;
    size_t count;
    uint64_t *configs;
    double *measured, *said;
} kf_survey;

enum { KF_SURVEYS = 20 };
extern kf_survey kf_surveys[KF_SURVEYS]; /* those of a system follow each other */

/* Opens the surveys of a system, or of all systems with NULL. On an error it ends the program with a
 * message. */
void kf_surveys_open(const char *system);
void kf_surveys_close(void);

/* Fills in said. Returns Spearman's rank correlation with the measured times. */
double kf_survey_predict(kf_survey *survey);
/* Returns the variance of the logarithm of measured over predicted times. A survey's common factor does
 * not count. */
double kf_survey_misfit(const kf_survey *survey);

/* The rates of a system's model, fitted to its surveys except left_out (-1: to all of them) until they are
 * restored. kf_surveys_choose returns false if the model has none. */
enum { KF_MOST_RATES = 32 };
typedef struct kf_chosen_rates {
    const kf_cost_rate *rates;
    double began[KF_MOST_RATES];
    int count;
} kf_chosen_rates;
bool kf_surveys_choose(const char *system, int left_out, kf_chosen_rates *chosen);
void kf_surveys_restore(const kf_chosen_rates *chosen);

#endif
