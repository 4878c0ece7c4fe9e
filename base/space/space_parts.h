/* The internals of a space, shared by the files that read it, build its tree and print it. */
#ifndef KF_BASE_SPACE_SPACE_PARTS_H
#define KF_BASE_SPACE_SPACE_PARTS_H

#include "base/expression/expression.h"
#include "base/space/space.h"
#include "base/util/text.h"

enum {
    KF_SPACE_DOMAIN = 65535,  /* most values of a parameter; positions fit 16 bits */
    KF_SPACE_EDGES = 1 << 24, /* most edges of the tree, which take about 270 MB */
    KF_SPACE_CONSTRAINTS = 256,
    KF_SPACE_PRESETS = 64,
    KF_SPACE_RULES = 256,
    /* Outcomes remembered for one constraint during the building of the tree. */
    KF_SPACE_CONSTRAINT_TABLE = 1 << 22,
    KF_SPACE_CONSTRAINT_TABLES = 1 << 25, /* and for all constraints together */
};

typedef struct kf_parameter {
    char name[KF_NAME];
    kf_value_kind kind;
    char *help;        /* may be "" */
    bool team;         /* it determines how a team of devices shares the work */
    kf_scalar *values; /* integers, booleans or strings; strings are owned */
    int value_count;
    int *sorted;  /* positions in ascending order of value, to look values up */
    int *choices; /* [choice_count] positions that --fix allows, ascending; NULL: all */
    int choice_count;
    int default_position;
} kf_parameter;

/* The meaning of a name in a constraint. It is found once, because constraints are evaluated millions of
 * times. */
typedef struct kf_meaning {
    const char *name; /* the pointer in the expression, which identifies the name */
    int parameter;    /* the parameter's index; -1: the name is the variable below */
    kf_scalar variable;
} kf_meaning;

typedef struct kf_constraint {
    char *text, *reason;
    kf_expression *expression;
    int meaning_count;
    kf_meaning meanings[KF_CONFIG_VALUES + KF_VARIABLES];
    int parameter_count;
    int parameters[KF_CONFIG_VALUES]; /* parameters that it mentions, ascending */
} kf_constraint;

typedef struct kf_preset {
    char name[KF_NAME];
    int positions[KF_CONFIG_VALUES];
} kf_preset;

/* One level of the tree binds one parameter. A node stands for all prefixes that allow the same
 * continuations. Its edges, in ascending order of value, lead to nodes of the next level; those of the last
 * level end the config. */
typedef struct kf_level {
    int parameter;
    uint32_t node_count;
    uint32_t *first_edge; /* node_count + 1 of them */
    uint16_t *value;
    uint32_t *child;
    uint64_t *before; /* configs that the node's earlier edges lead to */
} kf_level;

struct kf_space {
    char system[KF_NAME];
    char *file;
    kf_variables variables;
    kf_parameter parameters[KF_CONFIG_VALUES];
    int parameter_count;
    int by_name[KF_CONFIG_VALUES]; /* parameters sorted by name, as the values of a config are */
    kf_constraint *constraints;
    int constraint_count;
    kf_preset *presets;
    int preset_count;
    /* One for each parameter, in an order in which constraints are decided early. */
    kf_level levels[KF_CONFIG_VALUES];
    uint64_t size;
    cJSON *former; /* the declaration's list of former parameters; NULL: it has none */
};

/* Fills everything but the tree from the declaration (space_read.c). */
kf_status kf_space_read(kf_space *space, const cJSON *declaration, kf_error *error);
/* Return the number of values that --fix allows, and the position of each. */
static inline int kf_parameter_choices(const kf_parameter *parameter) {
    return parameter->choices != NULL ? parameter->choice_count : parameter->value_count;
}
static inline int kf_parameter_choice(const kf_parameter *parameter, int number) {
    return parameter->choices != NULL ? parameter->choices[number] : number;
}
/* The next three are in space_values.c. kf_scalar_compare compares two values of one kind and returns as
 * strcmp does. */
int kf_scalar_compare(const kf_scalar *left, const kf_scalar *right);
bool kf_space_variable(void *space, const char *name, kf_scalar *value); /* a kf_name_lookup */
bool kf_parameter_allows(const kf_parameter *parameter, int position);
/* Returns the position of a value in the parameter's domain, or -1. */
int kf_parameter_position(const kf_parameter *parameter, const kf_scalar *value);

/* Checks a text for people that must be one line. KF_BAD_INPUT when it holds control characters. NULL is
 * allowed. */
kf_status kf_space_check_line(const char *file, const char *path, const char *key, const char *text,
                              kf_error *error);

/* Finds a preset; NULL and KF_BAD_INPUT when the space has none of that name (space.c). */
kf_status kf_space_find_preset(const kf_space *space, const char *name, const kf_preset **preset,
                               kf_error *error);

/* Adds a config of the space as one of its presets (space_listed.c). */
kf_status kf_space_add_preset(kf_space *space, const char *name, const kf_config *config, kf_error *error);

/* Stores the declaration's list of former parameters (space_former.c). */
kf_status kf_space_read_former(kf_space *space, const cJSON *list, kf_error *error);
/* Returns name if the space once had a parameter of this name, else NULL. *becomes: the parameter's present
 * name; NULL: it no longer exists. */
const char *kf_space_former(const kf_space *space, const char *name, const char **becomes);

/* space_constraint.c */
kf_status kf_constraint_read(kf_space *space, const cJSON *json, int number, kf_constraint *constraint,
                             kf_error *error);
kf_status kf_constraint_holds(const kf_space *space, const kf_constraint *constraint, const int *positions,
                              bool *holds, kf_error *error);
/* Finds the first constraint that the positions violate; NULL when they violate none. */
kf_status kf_constraint_violated(const kf_space *space, const int *positions, const kf_constraint **violated,
                                 kf_error *error);
/* Returns the constraint that allows the smallest share of the combinations of its own parameters. *excluded:
 * the share that it excludes, 0 to 1. */
const kf_constraint *kf_constraint_strictest(const kf_space *space, double *excluded);

/* space_tree.c */
kf_status kf_tree_build(kf_space *space, kf_error *error);
void kf_tree_free(kf_space *space);

/* Writes the domain in few words, "1 2 4 ... 4096 (13 values)" (space_text.c). */
void kf_domain_text(const kf_parameter *parameter, kf_text *text);
void kf_scalar_text(const kf_scalar *value, kf_text *text);

#endif
