/* Facts: what a problem tells those who do not look inside it. They are named numbers and words
 * ("node_count", "reynolds", "collision"), in the order in which they are shown. */
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
    bool extensive;     /* work grows with it. Problems are similar if these are */
} kf_fact;

/* A list that grows. All zero: no facts. */
typedef struct kf_facts {
    kf_fact *list;
    int count, capacity;
} kf_facts;

/* Append a fact and copy its texts. A name that is there already makes a second fact. */
void kf_facts_number(kf_facts *facts, const char *name, double value, const char *unit);
void kf_facts_word(kf_facts *facts, const char *name, const char *word);
/* An extensive fact: "node_count", 8000, "nodes". */
void kf_facts_amount(kf_facts *facts, const char *name, double value, const char *unit);
/* Adds the size of the problem's grid as size_x, size_y, size_z. */
void kf_facts_size(kf_facts *facts, const int size[3], const char *unit);

/* Finds a fact by its name; NULL: there is none. */
const kf_fact *kf_facts_find(const kf_facts *facts, const char *name);
/* Returns a fact's number; NAN: there is none. */
double kf_facts_value(const kf_facts *facts, const char *name);
/* False, and zeros: the problem has no size. */
bool kf_facts_get_size(const kf_facts *facts, int size[3]);

/* Makes *to, which must be empty, an own copy of *from. */
void kf_facts_copy(kf_facts *to, const kf_facts *from);
void kf_facts_free(kf_facts *facts);

/* Return the values, {"node_count": 8000, "collision": "bgk"}, and the units of those that have one,
 * {"node_count": "nodes"}. The caller deletes them. */
cJSON *kf_facts_to_json(const kf_facts *facts);
cJSON *kf_facts_units(const kf_facts *facts);
/* Reads facts from such JSON; units may be NULL. Whether a fact is extensive is not in the JSON. file: for
 * messages. */
kf_status kf_facts_from_json(const char *file, const cJSON *json, const cJSON *units, kf_facts *facts,
                             kf_error *error);

/* Writes the size, "20x20x20"; without a size, the same as kf_facts_text. Returns buffer. */
enum { KF_FACTS_TEXT = 160 };
char *kf_facts_size_text(const kf_facts *facts, char buffer[KF_FACTS_TEXT]);
/* Writes the size and the other amounts whose names end in "_count": "20x20x20 nodes, 1234 samples". Returns
 * buffer. */
char *kf_facts_text(const kf_facts *facts, char buffer[KF_FACTS_TEXT]);

#endif
