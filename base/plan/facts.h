/* Facts: what is said of a problem to those who do not look inside it. Named numbers and words ("node_count",
 * "reynolds", "collision"), in the order in which they are shown. docs/architecture.md lists the common ones.
 */
#ifndef KF_BASE_PLAN_FACTS_H
#define KF_BASE_PLAN_FACTS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/space/config.h"

typedef struct kf_fact {
    char name[KF_NAME];
    double value;       /* NAN: the fact is a word */
    char word[KF_NAME]; /* "" for a number */
    char unit[24];      /* "m", "nodes"; "" for a pure number or a word */
    bool extensive;     /* work grows with it; problems are alike where these are */
} kf_fact;

/* Grows; all zero: none. */
typedef struct kf_facts {
    kf_fact *list;
    int count, capacity;
} kf_facts;

/* Append a fact, whose texts are copied; a name that is there already is a second fact. */
void kf_facts_number(kf_facts *facts, const char *name, double value, const char *unit);
void kf_facts_word(kf_facts *facts, const char *name, const char *word);
/* An extensive fact: "node_count", 8000, "nodes". */
void kf_facts_amount(kf_facts *facts, const char *name, double value, const char *unit);
/* The extent of what a problem lies on: size_x, size_y, size_z. */
void kf_facts_size(kf_facts *facts, const int size[3], const char *unit);

/* NULL: there is no such fact. */
const kf_fact *kf_facts_find(const kf_facts *facts, const char *name);
/* NAN: there is no such number. */
double kf_facts_value(const kf_facts *facts, const char *name);
/* False, and zeros: the problem has no size. */
bool kf_facts_get_size(const kf_facts *facts, int size[3]);

/* Makes *to, which has none, a copy of its own. */
void kf_facts_copy(kf_facts *to, const kf_facts *from);
void kf_facts_free(kf_facts *facts);

/* {"node_count": 8000, "collision": "bgk"}, and {"node_count": "nodes"} of those that have units; the caller
 * deletes them. */
cJSON *kf_facts_to_json(const kf_facts *facts);
cJSON *kf_facts_units(const kf_facts *facts);
/* Back again; units may be NULL. What is extensive is not in the text. file: for messages. */
kf_status kf_facts_from_json(const char *file, const cJSON *json, const cJSON *units, kf_facts *facts,
                             kf_error *error);

/* "20x20x20"; without a size as below. Returns buffer. */
enum { KF_FACTS_TEXT = 160 };
char *kf_facts_size_text(const kf_facts *facts, char buffer[KF_FACTS_TEXT]);
/* "20x20x20 nodes, 1234 samples": the size, and the other amounts that the facts whose names end in "_count"
 * say. Returns buffer. */
char *kf_facts_text(const kf_facts *facts, char buffer[KF_FACTS_TEXT]);

#endif
