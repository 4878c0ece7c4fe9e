/* The tree of valid prefixes. Parameters are bound level by level, in an order that completes constraints
 * early; a constraint is asked as soon as its last parameter is bound. Prefixes that agree in all parameters
 * which a constraint still waits for allow the same continuations, so they share a node: the tree is a graph
 * with few nodes, however large the product. A second pass from the leaves drops dead ends and counts
 * configs. */
#include <stdlib.h>
#include <string.h>

#include "base/space/space_parts.h"
#include "base/util/memory.h"

/* A constraint during building. Its outcomes are in a table with the positions of its parameters as the
 * index. */
typedef struct kf_bound_constraint {
    const kf_constraint *constraint;
    /* The step of every parameter in the table, or 0 if the constraint does not use it. */
    uint64_t stride[KF_CONFIG_VALUES];
    /* NULL when the table would be too large. */
    uint8_t *outcomes;
} kf_bound_constraint;
enum { UNKNOWN, HOLDS, FAILS };

/* Prefixes of one level, told apart by the positions of the parameters that constraints still wait for. */
typedef struct kf_states {
    int width;                        /* parameters kept */
    int parameters[KF_CONFIG_VALUES]; /* which */
    /* Each state has `width` entries. */
    uint16_t *positions;
    uint32_t count, capacity;
    /* A hash table of state + 1; 0 is a free slot. */
    uint32_t *slots;
    uint32_t slot_count;
} kf_states;

typedef struct kf_tree_builder {
    kf_space *space;
    kf_bound_constraint *checks;
    /* Checks[ready[l]] to checks[ready[l+1]-1] are complete at level l. */
    int ready[KF_CONFIG_VALUES + 1];
    /* The last level whose checks need the parameter, or -1. */
    int last_use[KF_CONFIG_VALUES];
    /* The counts so far: edges made, cost of evaluations, bytes of outcomes. */
    uint64_t edges, work, remembered;
    kf_error *error;
} kf_tree_builder;

/* Reading an outcome costs 1, evaluating the expression about 64 times that. The limit is some seconds. */
static const uint64_t ask_cost = 64, work_limit = (uint64_t)1 << 32;

/* --- Order ---------------------------------------------------------------------------------------------- */

/* Combinations of the constraint's parameters that are not yet bound. */
static double open_product(const kf_space *space, const kf_constraint *constraint, const bool *bound) {
    double product = 1;
    for (int i = 0; i < constraint->parameter_count; i++)
        if (!bound[constraint->parameters[i]])
            product *= kf_parameter_choices(&space->parameters[constraint->parameters[i]]);
    return product;
}

static int bind(kf_space *space, int level, int parameter, bool *bound) {
    if (bound[parameter]) return level;
    bound[parameter] = true;
    space->levels[level].parameter = parameter;
    return level + 1;
}

static const kf_constraint *cheapest(const kf_space *space, const bool *bound, const bool *done, int *which) {
    double least = 0;
    *which = -1;
    for (int c = 0; c < space->constraint_count; c++) {
        if (done[c]) continue;
        double product = open_product(space, &space->constraints[c], bound);
        if (*which >= 0 && product >= least) continue;
        least = product;
        *which = c;
    }
    return *which < 0 ? NULL : &space->constraints[*which];
}

/* Orders the levels. The next constraint is always the one that increases the number of prefixes least. Free
 * parameters come last. */
static void order_levels(kf_space *space) {
    bool bound[KF_CONFIG_VALUES] = {false};
    bool *done = kf_allocate_zeroed((size_t)space->constraint_count + 1, sizeof *done);
    int level = 0, which;
    const kf_constraint *next;
    while ((next = cheapest(space, bound, done, &which)) != NULL) {
        done[which] = true;
        for (int i = 0; i < next->parameter_count; i++)
            level = bind(space, level, next->parameters[i], bound);
    }
    for (int p = 0; p < space->parameter_count; p++)
        level = bind(space, level, p, bound);
    free(done);
}

/* --- Checks --------------------------------------------------------------------------------------------- */

static void prepare_check(kf_tree_builder *builder, const kf_constraint *constraint,
                          kf_bound_constraint *check) {
    const kf_space *space = builder->space;
    uint64_t product = 1;
    check->constraint = constraint;
    for (int i = 0; i < constraint->parameter_count && product <= KF_SPACE_CONSTRAINT_TABLE; i++) {
        int p = constraint->parameters[i];
        check->stride[p] = product;
        product *= (uint64_t)space->parameters[p].value_count;
    }
    if (product > KF_SPACE_CONSTRAINT_TABLE || builder->remembered + product > KF_SPACE_CONSTRAINT_TABLES)
        return;
    builder->remembered += product;
    check->outcomes = kf_allocate_zeroed((size_t)product, 1);
}

static int level_of(const kf_space *space, int parameter) {
    int level = 0;
    while (space->levels[level].parameter != parameter)
        level++;
    return level;
}

/* Sorts the constraints by the level that binds their last parameter. Constraints without parameters are
 * evaluated at level 0. */
static void prepare_checks(kf_tree_builder *builder) {
    kf_space *space = builder->space;
    int count = 0;
    builder->checks = kf_allocate_zeroed((size_t)space->constraint_count + 1, sizeof *builder->checks);
    for (int p = 0; p < space->parameter_count; p++)
        builder->last_use[p] = -1;
    for (int level = 0; level < space->parameter_count; level++) {
        builder->ready[level] = count;
        for (int c = 0; c < space->constraint_count; c++) {
            const kf_constraint *constraint = &space->constraints[c];
            int last = 0;
            for (int i = 0; i < constraint->parameter_count; i++) {
                int bound_at = level_of(space, constraint->parameters[i]);
                if (bound_at > last) last = bound_at;
            }
            if (last != level) continue;
            prepare_check(builder, constraint, &builder->checks[count++]);
            for (int i = 0; i < constraint->parameter_count; i++)
                builder->last_use[constraint->parameters[i]] = level;
        }
    }
    builder->ready[space->parameter_count] = count;
}

static kf_status ask(kf_tree_builder *builder, const kf_bound_constraint *check, const int *positions,
                     bool *holds) {
    uint8_t *outcome = NULL;
    if (check->outcomes != NULL) {
        uint64_t place = 0;
        for (int i = 0; i < check->constraint->parameter_count; i++) {
            int p = check->constraint->parameters[i];
            place += check->stride[p] * (uint64_t)positions[p];
        }
        outcome = &check->outcomes[place];
        builder->work++;
        if (*outcome != UNKNOWN) {
            *holds = *outcome == HOLDS;
            return KF_OK;
        }
    }
    builder->work += ask_cost;
    KF_TRY(kf_constraint_holds(builder->space, check->constraint, positions, holds, builder->error));
    if (outcome != NULL) *outcome = *holds ? HOLDS : FAILS;
    return KF_OK;
}

/* --- States --------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0xff51afd7ed558ccd;
    return hash ^ hash >> 32;
}

static uint32_t hash_positions(const uint16_t *positions, int width) {
    enum { TOGETHER = sizeof(uint64_t) / sizeof *positions };
    uint64_t hash = 0x9e3779b97f4a7c15, word;
    int i = 0;
    for (; i + TOGETHER <= width; i += TOGETHER) {
        memcpy(&word, positions + i, sizeof word);
        hash = mix(hash, word);
    }
    for (; i < width; i++)
        hash = mix(hash, positions[i]);
    return (uint32_t)hash;
}

/* Parameters bound before level that a check at level or later needs. */
static void choose_parameters(const kf_tree_builder *builder, int level, kf_states *states) {
    for (int earlier = 0; earlier < level; earlier++) {
        int p = builder->space->levels[earlier].parameter;
        if (builder->last_use[p] >= level) states->parameters[states->width++] = p;
    }
}

static void insert_slot(kf_states *states, uint32_t state) {
    const uint16_t *key = states->positions + (size_t)state * (size_t)states->width;
    uint32_t slot = hash_positions(key, states->width) & (states->slot_count - 1);
    while (states->slots[slot] != 0)
        slot = (slot + 1) & (states->slot_count - 1);
    states->slots[slot] = state + 1;
}

static void grow(kf_states *states) {
    states->capacity = states->capacity == 0 ? 16 : 2 * states->capacity;
    states->positions = kf_reallocate(
        states->positions, ((size_t)states->capacity * (size_t)states->width + 1) * sizeof(uint16_t));
    free(states->slots);
    states->slot_count = 2 * states->capacity;
    states->slots = kf_allocate_zeroed(states->slot_count, sizeof *states->slots);
    for (uint32_t state = 0; state < states->count; state++)
        insert_slot(states, state);
}

/* Finds the state of these positions, and makes it when it is new. */
static uint32_t find_state(kf_states *states, const int *positions) {
    if (states->count == states->capacity) grow(states);
    size_t width = (size_t)states->width;
    /* The place of a new state. */
    uint16_t *key = states->positions + states->count * width;
    for (size_t i = 0; i < width; i++)
        key[i] = (uint16_t)positions[states->parameters[i]];
    uint32_t slot = hash_positions(key, states->width) & (states->slot_count - 1);
    while (states->slots[slot] != 0) {
        uint32_t state = states->slots[slot] - 1;
        if (memcmp(states->positions + state * width, key, width * sizeof *key) == 0) return state;
        slot = (slot + 1) & (states->slot_count - 1);
    }
    states->slots[slot] = states->count + 1;
    return states->count++;
}

static void free_states(kf_states *states) {
    free(states->positions);
    free(states->slots);
    *states = (kf_states){0};
}

/* --- Forward: nodes and edges --------------------------------------------------------------------------- */

typedef struct edge_list {
    uint32_t count, capacity;
} edge_list;

static kf_status add_edge(kf_tree_builder *builder, kf_level *level, edge_list *edges, int value,
                          uint32_t child) {
    if (++builder->edges > KF_SPACE_EDGES)
        return kf_fail(
            builder->error, KF_BAD_INPUT,
            "%s: the space is too large to build (more than %d distinct prefixes); add constraints that need "
            "fewer parameters at a time",
            builder->space->file, KF_SPACE_EDGES);
    if (edges->count == edges->capacity) {
        edges->capacity = edges->capacity == 0 ? 64 : edges->capacity + edges->capacity / 2;
        level->value = kf_reallocate(level->value, edges->capacity * sizeof *level->value);
        level->child = kf_reallocate(level->child, edges->capacity * sizeof *level->child);
    }
    level->value[edges->count] = (uint16_t)value;
    level->child[edges->count++] = child;
    return KF_OK;
}

static kf_status check_value(kf_tree_builder *builder, int number, const int *positions, bool *holds) {
    *holds = true;
    for (int c = builder->ready[number]; c < builder->ready[number + 1] && *holds; c++)
        KF_TRY(ask(builder, &builder->checks[c], positions, holds));
    builder->work++;
    if (builder->work > work_limit)
        return kf_fail(
            builder->error, KF_BAD_INPUT,
            "%s: the space takes too long to build; add constraints that need fewer parameters at a time",
            builder->space->file);
    return KF_OK;
}

static kf_status expand_node(kf_tree_builder *builder, int number, int *positions, edge_list *edges,
                             kf_states *next) {
    kf_level *level = &builder->space->levels[number];
    const kf_parameter *parameter = &builder->space->parameters[level->parameter];
    for (int i = 0; i < kf_parameter_choices(parameter); i++) {
        int value = kf_parameter_choice(parameter, i);
        bool holds = false;
        positions[level->parameter] = value;
        KF_TRY(check_value(builder, number, positions, &holds));
        if (holds) KF_TRY(add_edge(builder, level, edges, value, find_state(next, positions)));
    }
    return KF_OK;
}

static kf_status expand_level(kf_tree_builder *builder, int number, const kf_states *current,
                              kf_states *next) {
    kf_level *level = &builder->space->levels[number];
    int positions[KF_CONFIG_VALUES] = {0};
    edge_list edges = {0};
    level->node_count = current->count;
    level->first_edge = kf_allocate(((size_t)current->count + 1) * sizeof *level->first_edge);
    for (uint32_t node = 0; node < current->count; node++) {
        level->first_edge[node] = edges.count;
        for (int i = 0; i < current->width; i++)
            positions[current->parameters[i]] = current->positions[node * (size_t)current->width + (size_t)i];
        KF_TRY(expand_node(builder, number, positions, &edges, next));
    }
    level->first_edge[current->count] = edges.count;
    return KF_OK;
}

/* Makes the levels of the tree one after the other, beginning with the empty prefix. */
static kf_status expand(kf_tree_builder *builder) {
    kf_states current = {0}, next = {0};
    static const int nothing[1] = {0};
    (void)find_state(&current, nothing);
    kf_status status = KF_OK;
    for (int level = 0; level < builder->space->parameter_count && status == KF_OK; level++) {
        choose_parameters(builder, level + 1, &next);
        status = expand_level(builder, level, &current, &next);
        free_states(&current);
        current = next;
        next = (kf_states){0};
    }
    free_states(&current);
    return status;
}

/* --- Backward: drop dead ends, count -------------------------------------------------------------------- */

static kf_status count_level(kf_space *space, kf_level *level, const uint64_t *child_counts, uint64_t *counts,
                             kf_error *error) {
    uint32_t kept = 0, edge = 0, edge_count = level->first_edge[level->node_count];
    level->before = kf_allocate(((size_t)edge_count + 1) * sizeof *level->before);
    for (uint32_t node = 0; node < level->node_count; node++) {
        uint64_t total = 0;
        uint32_t end = level->first_edge[node + 1], start = kept;
        for (; edge < end; edge++) {
            uint64_t below = child_counts == NULL ? 1 : child_counts[level->child[edge]];
            if (below == 0) continue;
            level->value[kept] = level->value[edge];
            level->child[kept] = level->child[edge];
            level->before[kept++] = total;
            if (__builtin_add_overflow(total, below, &total) || total > INT64_MAX)
                return kf_fail(error, KF_BAD_INPUT, "%s: the space has more than 2^63 valid configs",
                               space->file);
        }
        level->first_edge[node] = start;
        counts[node] = total;
    }
    level->first_edge[level->node_count] = kept;
    size_t size = kept == 0 ? 1 : kept;
    level->before = kf_reallocate(level->before, size * sizeof *level->before);
    level->child = kf_reallocate(level->child, size * sizeof *level->child);
    level->value = kf_reallocate(level->value, size * sizeof *level->value);
    return KF_OK;
}

static kf_status count_configs(kf_space *space, kf_error *error) {
    uint64_t *below = NULL;
    kf_status status = KF_OK;
    for (int number = space->parameter_count - 1; number >= 0 && status == KF_OK; number--) {
        kf_level *level = &space->levels[number];
        uint64_t *counts = kf_allocate(((size_t)level->node_count + 1) * sizeof *counts);
        status = count_level(space, level, below, counts, error);
        free(below);
        below = counts;
    }
    if (status == KF_OK) space->size = below == NULL ? 0 : below[0];
    free(below);
    return status;
}

kf_status kf_tree_build(kf_space *space, kf_error *error) {
    kf_tree_builder builder = {.space = space, .error = error};
    order_levels(space);
    prepare_checks(&builder);
    kf_status status = expand(&builder);
    for (int c = 0; c < space->constraint_count; c++)
        free(builder.checks[c].outcomes);
    free(builder.checks);
    if (status == KF_OK) status = count_configs(space, error);
    return status;
}

void kf_tree_free(kf_space *space) {
    for (int i = 0; i < space->parameter_count; i++) {
        free(space->levels[i].first_edge);
        free(space->levels[i].value);
        free(space->levels[i].child);
        free(space->levels[i].before);
    }
}
