/* Inside of a space, shared by its reader, its tree and its printer. */
#ifndef KF_BASE_SPACE_SPACE_PARTS_H
#define KF_BASE_SPACE_SPACE_PARTS_H

#include "base/expression/expression.h"
#include "base/space/space.h"
#include "base/util/text.h"

enum {
    KF_SPACE_DOMAIN = 65535,  /* values a parameter may have; positions fit 16 bits */
    KF_SPACE_EDGES = 1 << 24, /* of the tree: bounds its memory to about 270 MB */
    KF_SPACE_CONSTRAINTS = 256,
    KF_SPACE_PRESETS = 64,
    KF_SPACE_RULES = 256,
    KF_SPACE_CONSTRAINT_TABLE = 1 << 22,  /* outcomes remembered for one constraint while building */
    KF_SPACE_CONSTRAINT_TABLES = 1 << 25, /* and for all */
};

typedef struct kf_parameter {
    char name[KF_NAME];
    kf_value_kind kind;
    char *help;        /* may be "" */
    bool team;         /* says how a team of devices shares the work, not what each does */
    kf_scalar *values; /* integers, booleans or strings; strings are owned */
    int value_count;
    int *sorted;  /* positions in ascending order of value, for looking values up */
    int *choices; /* positions that --fix leaves, ascending, so many of them; NULL: all */
    int choice_count;
    int default_position;
} kf_parameter;

/* A name's meaning in a constraint, found once: constraints are asked millions of times. */
typedef struct kf_meaning {
    const char *name; /* the expression's own, so that pointers tell names apart */
    int parameter;    /* or -1: */
    kf_scalar variable;
} kf_meaning;

typedef struct kf_constraint {
    char *text, *reason;
    kf_expression *expression;
    int meaning_count;
    kf_meaning meanings[KF_CONFIG_VALUES + KF_VARIABLES];
    int parameter_count;
    int parameters[KF_CONFIG_VALUES]; /* what it mentions, ascending */
} kf_constraint;

typedef struct kf_preset {
    char name[KF_NAME];
    int positions[KF_CONFIG_VALUES];
} kf_preset;

/* One level of the tree binds one parameter. A node stands for all prefixes that allow the same
 * continuations; its edges, in ascending order of value, lead to nodes of the next level (behind the last
 * level: to the end). */
typedef struct kf_level {
    int parameter;
    uint32_t node_count;
    uint32_t *first_edge; /* node_count + 1 of them */
    uint16_t *value;
    uint32_t *child;
    uint64_t *before; /* configs reached through the node's earlier edges */
} kf_level;

struct kf_space {
    char system[KF_NAME];
    char *file;
    kf_variables variables;
    kf_parameter parameters[KF_CONFIG_VALUES];
    int parameter_count;
    int by_name[KF_CONFIG_VALUES]; /* parameters in the order in which a config has their values */
    kf_constraint *constraints;
    int constraint_count;
    kf_preset *presets;
    int preset_count;
    kf_level levels[KF_CONFIG_VALUES]; /* one a parameter, in an order that binds constraints early */
    uint64_t size;
    cJSON *former; /* what the declaration says of parameters that there were; NULL: nothing */
};

/* Fills everything but the tree from the declaration (space_read.c). */
kf_status kf_space_read(kf_space *space, const cJSON *declaration, kf_error *error);
/* How many values --fix leaves, and their positions. */
static inline int kf_parameter_choices(const kf_parameter *parameter) {
    return parameter->choices != NULL ? parameter->choice_count : parameter->value_count;
}
static inline int kf_parameter_choice(const kf_parameter *parameter, int number) {
    return parameter->choices != NULL ? parameter->choices[number] : number;
}
/* The file space_values.c has what follows; kf_scalar_compare is for two of the same kind, as strcmp. */
int kf_scalar_compare(const kf_scalar *left, const kf_scalar *right);
bool kf_space_variable(void *space, const char *name, kf_scalar *value); /* a kf_name_lookup */
bool kf_parameter_allows(const kf_parameter *parameter, int position);
/* Position of value in the parameter's domain, or -1. */
int kf_parameter_position(const kf_parameter *parameter, const kf_scalar *value);

/* A text for people that must be one line: KF_BAD_INPUT when it holds control characters. NULL is fine. */
kf_status kf_space_check_line(const char *file, const char *path, const char *key, const char *text,
                              kf_error *error);

/* Finds a preset; NULL and KF_BAD_INPUT when the space has none of that name (space.c). */
kf_status kf_space_find_preset(const kf_space *space, const char *name, const kf_preset **preset,
                               kf_error *error);

/* Adds a config of the space as one of its presets (space_listed.c). */
kf_status kf_space_add_preset(kf_space *space, const char *name, const kf_config *config, kf_error *error);

/* Keeps what the declaration says of parameters that there were (space_former.c). */
kf_status kf_space_read_former(kf_space *space, const cJSON *list, kf_error *error);
/* The name, when the space had a parameter of that name, and what it is called now (NULL: it is gone); else
 * NULL. */
const char *kf_space_former(const kf_space *space, const char *name, const char **becomes);

/* space_constraint.c */
kf_status kf_constraint_read(kf_space *space, const cJSON *json, int number, kf_constraint *constraint,
                             kf_error *error);
kf_status kf_constraint_holds(const kf_space *space, const kf_constraint *constraint, const int *positions,
                              bool *holds, kf_error *error);
/* The first constraint that positions violate, NULL when none does. */
kf_status kf_constraint_violated(const kf_space *space, const int *positions, const kf_constraint **violated,
                                 kf_error *error);
/* The constraint that leaves the smallest share of the combinations of its own parameters, and what it
 * excludes. */
const kf_constraint *kf_constraint_strictest(const kf_space *space, double *excluded);

/* space_tree.c */
kf_status kf_tree_build(kf_space *space, kf_error *error);
void kf_tree_free(kf_space *space);

/* Writes the domain in few words, "1 2 4 ... 4096 (13 values)" (space_text.c). */
void kf_domain_text(const kf_parameter *parameter, kf_text *text);
void kf_scalar_text(const kf_scalar *value, kf_text *text);

#endif
