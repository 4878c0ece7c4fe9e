/* Poisson-disk samples of a surface by weighted sample elimination (Yuksel, Computer Graphics Forum 34(2),
 * 2015). It draws five times too many uniform points. Then it removes the point with the nearest neighbours
 * until count are left.
 *
 * All lengths are in units of 2 r_max, the radius within which points add to each other's weight. Random
 * numbers are a function of (seed, counter). So a point is drawn again from its number and is not kept in
 * memory.
 *
 * Where many layers of the surface lie in a cube of that size, only as many points are kept as a dozen layers
 * have. So the cost of neighbours does not grow with the square of the layers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "base/util/program.h"
#include "base/util/random.h"
#include "scene/internal.h"

enum { OVERSAMPLING = 5, NEIGHBOUR_ROWS = 9, LONGEST_ROW = 1 << 20, CROWD = 128 };
static const double MINIMUM_SHARE = 0.65; /* beta of the paper; its gamma is 1.5 */

typedef struct surface {
    const kf_mesh *mesh;
    /* [triangle_count + 1] The sum of the areas before each triangle. */
    double *cumulative;
    uint64_t key;
} surface;

/* A point in units of 2 r_max from the box's lower corner. A removed point has a negative weight. */
typedef struct point {
    float x, y, z, weight;
} point;

typedef struct range {
    uint32_t begin, end;
} range;

/* The occupied cubes, x fastest. Three neighbouring cubes along x contain one range of points. */
typedef struct cubes {
    size_t count;
    uint32_t *of_point;
    range (*rows)[NEIGHBOUR_ROWS];
} cubes;

/* The points sorted into cubes, and for each the points within distance 1. */
typedef struct neighbourhood {
    /* The number of points drawn, and of those kept. */
    size_t draws, count;
    point *points;
    /* The number of each point in the sequence of draws. */
    uint32_t *draw;
    /* [count + 1] The first entry of each point in near. */
    size_t *first;
    /* The neighbours of point i are near[first[i]] to near[first[i + 1] - 1]. */
    uint32_t *near;
    /* Smaller distances count as this one (weight limiting, section 3.3 of the paper). */
    float least;
    /* Exists only while neighbours are searched. */
    cubes cubes;
} neighbourhood;

static double uniform(uint64_t key, uint64_t counter) {
    uint64_t state = key + counter * 0x9e3779b97f4a7c15ULL;
    return kf_random_unit(&state);
}

static void surface_begin(surface *s, const kf_mesh *mesh, uint64_t seed) {
    s->mesh = mesh;
    s->key = kf_random_next(&seed);
    s->cumulative = kf_allocate((mesh->triangle_count + 1) * sizeof *s->cumulative);
    s->cumulative[0] = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        s->cumulative[t + 1] = s->cumulative[t] + kf_mesh_triangle_area(mesh, t);
}

static size_t pick_triangle(const surface *s, uint64_t number) {
    const double target = uniform(s->key, 3 * number) * s->cumulative[s->mesh->triangle_count];
    size_t low = 0, high = s->mesh->triangle_count - 1;
    /* Finds the last triangle whose area begins at or before target. */
    while (low < high) {
        const size_t middle = low + (high - low + 1) / 2;
        if (s->cumulative[middle] <= target)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static size_t draw_point(const surface *s, uint64_t number, double position[3]) {
    const size_t triangle = pick_triangle(s, number);
    const double root = sqrt(uniform(s->key, 3 * number + 1)), v = uniform(s->key, 3 * number + 2);
    const uint32_t *corner = s->mesh->triangles + 3 * triangle;
    const double *a = s->mesh->vertices + 3 * (size_t)corner[0];
    const double *b = s->mesh->vertices + 3 * (size_t)corner[1];
    const double *c = s->mesh->vertices + 3 * (size_t)corner[2];
    for (int i = 0; i < 3; i++)
        position[i] = (1.0 - root) * a[i] + root * (1.0 - v) * b[i] + root * v * c[i];
    return triangle;
}

/* ---- Work shared by threads: each index is handled alike whoever handles it ---- */

static void in_parallel(size_t count, void (*work)(void *data, size_t begin, size_t end), void *data) {
    /* Fewer points do not justify a thread. */
    enum { LEAST = 10000 };
    kf_in_parallel(count, LEAST, work, data);
}

/* ---- The points and their neighbours ---- */

typedef struct drawing {
    const surface *surface;
    /* The length `unit` becomes 1. */
    double low[3], unit;
    /* The edge of a cube in units, at least 1. */
    double cube;
    /* The step of a cube's key along y and z. */
    int64_t row, slab;
    point *points;
    uint64_t *keys;
} drawing;

static void draw_points(void *data, size_t begin, size_t end) {
    drawing *d = data;
    for (size_t i = begin; i < end; i++) {
        double position[3];
        (void)draw_point(d->surface, i, position);
        for (int a = 0; a < 3; a++)
            position[a] = fmax(0.0, (position[a] - d->low[a]) / d->unit);
        d->points[i] = (point){(float)position[0], (float)position[1], (float)position[2], 0.0F};
        d->keys[i] = (uint64_t)((int64_t)(position[0] / d->cube) + d->row * (int64_t)(position[1] / d->cube) +
                                d->slab * (int64_t)(position[2] / d->cube));
    }
}

/* Finds the nine ranges of each occupied cube. Keys grow along the list, so the ends of each row only move
 * forward. */
static void find_rows(cubes *c, const int64_t *keys, const uint32_t *starts, int64_t row, int64_t slab) {
    for (int r = 0; r < NEIGHBOUR_ROWS; r++) {
        const int64_t offset = (r % 3 - 1) * row + (r / 3 - 1) * slab;
        size_t first = 0, last = 0;
        for (size_t i = 0; i < c->count; i++) {
            const int64_t low = keys[i] + offset - 1, high = keys[i] + offset + 1;
            while (first < c->count && keys[first] < low)
                first++;
            while (last < c->count && keys[last] <= high)
                last++;
            c->rows[i][r] = (range){starts[first], starts[last]};
        }
    }
}

/* Keeps the first points of each cube in the order of drawing. */
static void sort_into_cubes(neighbourhood *n, const drawing *d, uint64_t key_count) {
    cubes *c = &n->cubes;
    size_t kept = 0, in_cube = 0;
    uint64_t before = 0;
    kf_radix_order(n->draws, d->keys, key_count, n->draw);
    n->points = kf_allocate(n->draws * sizeof *n->points);
    c->of_point = kf_allocate(n->draws * sizeof *c->of_point);
    for (size_t i = 0; i < n->draws; i++) {
        const uint32_t draw = n->draw[i];
        if (i == 0 || d->keys[draw] != before) {
            c->count++;
            in_cube = 0;
        }
        before = d->keys[draw];
        if (++in_cube > CROWD) continue;
        n->points[kept] = d->points[draw];
        n->draw[kept] = draw;
        c->of_point[kept++] = (uint32_t)(c->count - 1);
    }
    n->count = kept;
    int64_t *keys = kf_allocate(c->count * sizeof *keys);
    uint32_t *starts = kf_allocate((c->count + 1) * sizeof *starts);
    /* The loop runs backwards, so a cube's first point is written last. */
    for (size_t i = n->count; i-- > 0;) {
        keys[c->of_point[i]] = (int64_t)d->keys[n->draw[i]];
        starts[c->of_point[i]] = (uint32_t)i;
    }
    starts[c->count] = (uint32_t)n->count;
    c->rows = kf_allocate(c->count * sizeof *c->rows);
    find_rows(c, keys, starts, d->row, d->slab);
    free(keys);
    free(starts);
}

/* Draws the candidates and sorts them into cubes of their radius. */
static void gather_points(neighbourhood *n, const surface *s, double radius) {
    const kf_box box = kf_mesh_bounds(s->mesh);
    drawing d = {.surface = s, .unit = 2.0 * radius, .cube = 1.0};
    /* The cubes of a needle would need more bits than a key has. Larger cubes only cost time. */
    for (int a = 0; a < 3; a++)
        d.cube = fmax(d.cube, (box.high[a] - box.low[a]) / d.unit / LONGEST_ROW);
    int64_t cells[3];
    for (int a = 0; a < 3; a++)
        cells[a] = (int64_t)((box.high[a] - box.low[a]) / d.unit / d.cube) + 2;
    d.row = cells[0];
    d.slab = cells[0] * cells[1];
    memcpy(d.low, box.low, sizeof d.low);
    d.points = kf_allocate(n->draws * sizeof *d.points);
    d.keys = kf_allocate(n->draws * sizeof *d.keys);
    in_parallel(n->draws, draw_points, &d);
    sort_into_cubes(n, &d, (uint64_t)(d.slab * cells[2]));
    free(d.points);
    free(d.keys);
}

static float square_distance(const point *p, const point *q) {
    const float dx = p->x - q->x, dy = p->y - q->y, dz = p->z - q->z;
    return dx * dx + dy * dy + dz * dz;
}

/* Returns (1 - d)^8 for two points at distance d < 1. */
static float pair_weight(const neighbourhood *n, float square) {
    const float distance = sqrtf(square);
    float w = 1.0F - (distance < n->least ? n->least : distance);
    w *= w;
    w *= w;
    return w * w;
}

/* Sums each point's weight, and stores its number of neighbours in first[i + 1]. */
static void sum_weights(void *data, size_t begin, size_t end) {
    neighbourhood *n = data;
    for (size_t i = begin; i < end; i++) {
        const point here = n->points[i];
        const range *rows = n->cubes.rows[n->cubes.of_point[i]];
        float sum = 0.0F;
        size_t near = 0;
        n->first[i + 1] = 0;
        if (kf_interrupted) continue;
        for (int r = 0; r < NEIGHBOUR_ROWS; r++)
            for (size_t j = rows[r].begin; j < rows[r].end; j++) {
                const float square = square_distance(&here, &n->points[j]);
                if (square >= 1.0F || j == i) continue;
                sum += pair_weight(n, square);
                near++;
            }
        n->points[i].weight = sum;
        n->first[i + 1] = near;
    }
}

static void list_neighbours(void *data, size_t begin, size_t end) {
    neighbourhood *n = data;
    for (size_t i = begin; i < end; i++) {
        const range *rows = n->cubes.rows[n->cubes.of_point[i]];
        uint32_t *near = n->near + n->first[i];
        if (kf_interrupted) return;
        for (int r = 0; r < NEIGHBOUR_ROWS; r++)
            for (size_t j = rows[r].begin; j < rows[r].end; j++)
                if (square_distance(&n->points[i], &n->points[j]) < 1.0F && j != i) *near++ = (uint32_t)j;
    }
}

static void find_neighbours(neighbourhood *n) {
    n->first = kf_allocate((n->count + 1) * sizeof *n->first);
    n->first[0] = 0;
    in_parallel(n->count, sum_weights, n);
    for (size_t i = 0; i < n->count; i++)
        n->first[i + 1] += n->first[i];
    n->near = kf_allocate((n->first[n->count] + 1) * sizeof *n->near);
    in_parallel(n->count, list_neighbours, n);
    free(n->cubes.of_point);
    free(n->cubes.rows);
}

/* ---- Elimination ---- */

/* A queue by weight. It has a list of points for each range of weights. The ranges are 2^-12 of a weight
 * wide, so adding and taking need a constant time. Lists consist of chunks of one cache line, because
 * following single points would wait for memory. Weights only decrease, so an entry may have an old, larger
 * weight. It is corrected when it is taken. */
enum { WEIGHT_SHIFT = 11, RANGES = 1 << (31 - WEIGHT_SHIFT), BATCH = 14 };
static const uint32_t END = UINT32_MAX;

typedef struct chunk {
    /* The index of the next chunk, or END; and the points in this one. */
    uint32_t next, count;
    uint32_t points[BATCH];
} chunk;

typedef struct queue {
    /* [RANGES] The first chunk of each list, or END. */
    uint32_t *heads;
    chunk *chunks;
    /* The first chunk never used, and a list of free ones. */
    uint32_t fresh, idle;
    /* No entry lies above this range. */
    size_t heaviest;
} queue;

/* Returns the range of a weight. The leading bits of a non-negative float grow with its value. */
static size_t weight_range(float weight) {
    uint32_t bits;
    memcpy(&bits, &weight, sizeof bits);
    return bits >> WEIGHT_SHIFT;
}

static queue queue_begin(size_t count) {
    queue q = {.idle = END, .heaviest = RANGES - 1};
    q.heads = kf_allocate(RANGES * sizeof *q.heads);
    memset(q.heads, 0xff, RANGES * sizeof *q.heads);
    /* Each list has at most one chunk that is not full. Memory that is never touched costs nothing. */
    q.chunks = kf_allocate((count / BATCH + RANGES + 1) * sizeof *q.chunks);
    return q;
}

static void queue_end(queue *q) {
    free(q->heads);
    free(q->chunks);
}

/* Puts a point into the list of its range of weights, in chunks of BATCH. */
static void queue_put(queue *q, uint32_t index, size_t range_index) {
    uint32_t head = q->heads[range_index];
    if (head == END || q->chunks[head].count == BATCH) {
        const uint32_t full = head;
        head = q->idle;
        if (head != END)
            q->idle = q->chunks[head].next;
        else
            head = q->fresh++;
        q->chunks[head].next = full;
        q->chunks[head].count = 0;
        q->heads[range_index] = head;
    }
    chunk *c = &q->chunks[head];
    c->points[c->count++] = index;
}

/* Takes a chunk of the heaviest list. */
static chunk queue_take(queue *q) {
    while (q->heads[q->heaviest] == END)
        q->heaviest--;
    const uint32_t head = q->heads[q->heaviest];
    const chunk taken = q->chunks[head];
    q->heads[q->heaviest] = taken.next;
    q->chunks[head].next = q->idle;
    q->idle = head;
    return taken;
}

static void eliminate_point(neighbourhood *n, size_t index) {
    const point gone = n->points[index];
    n->points[index].weight = -1.0F;
    for (size_t k = n->first[index]; k < n->first[index + 1]; k++) {
        point *other = &n->points[n->near[k]];
        /* The point is removed, or has no weight left. */
        if (other->weight <= 0.0F) continue;
        const float left = other->weight - pair_weight(n, square_distance(&gone, other));
        other->weight = left > 0.0F ? left : 0.0F;
    }
}

/* Chunks of one list that are processed together. The memory that their points need is prefetched for all of
 * them at once, because most time is spent waiting for memory. */
enum { GROUP = 8 * BATCH };
typedef struct group {
    size_t count;
    uint32_t points[GROUP];
} group;

/* Takes up to GROUP points from the heaviest list. */
static void queue_take_group(queue *q, group *g) {
    size_t list;
    g->count = 0;
    do {
        const chunk taken = queue_take(q);
        list = q->heaviest;
        memcpy(g->points + g->count, taken.points, taken.count * sizeof *g->points);
        g->count += taken.count;
    } while (g->count + BATCH <= GROUP && q->heads[list] != END);
}

/* Prefetches the points of a group. For those that are removed it then prefetches the lists of neighbours,
 * and the neighbours. */
static void prefetch(const neighbourhood *n, const group *g, size_t range_index) {
    uint32_t going[GROUP];
    size_t count = 0;
    for (size_t p = 0; p < g->count; p++)
        __builtin_prefetch(&n->points[g->points[p]]);
    for (size_t p = 0; p < g->count; p++) {
        going[count] = g->points[p];
        count += weight_range(n->points[g->points[p]].weight) >= range_index;
    }
    for (size_t p = 0; p < count; p++)
        __builtin_prefetch(&n->first[going[p]]);
    for (size_t p = 0; p < count; p++)
        for (size_t k = n->first[going[p]]; k < n->first[going[p] + 1]; k += 16)
            __builtin_prefetch(&n->near[k]);
    for (size_t p = 0; p < count; p++)
        for (size_t k = n->first[going[p]]; k < n->first[going[p] + 1]; k++)
            __builtin_prefetch(&n->points[n->near[k]]);
}

/* Removes points until keep are left. Returns false when it was interrupted. */
static bool eliminate(neighbourhood *n, size_t keep) {
    queue q = queue_begin(n->count);
    for (size_t i = 0; i < n->count; i++)
        queue_put(&q, (uint32_t)i, weight_range(n->points[i].weight));
    for (size_t left = n->count; left > keep && !kf_interrupted;) {
        group taken;
        queue_take_group(&q, &taken);
        prefetch(n, &taken, q.heaviest);
        for (size_t p = 0; p < taken.count && left > keep; p++) {
            const uint32_t index = taken.points[p];
            const size_t now = weight_range(n->points[index].weight);
            if (now < q.heaviest) {
                queue_put(&q, index, now);
            } else {
                eliminate_point(n, index);
                left--;
            }
        }
    }
    queue_end(&q);
    return !kf_interrupted;
}

/* Writes the remaining points in the order of their triangles, and within a triangle in the order of drawing.
 */
static void collect(const neighbourhood *n, const surface *s, size_t asked, size_t count, kf_samples *samples,
                    uint32_t *triangle_of) {
    bool *kept = kf_allocate_zeroed(n->draws, sizeof *kept);
    for (size_t i = 0; i < n->count; i++)
        kept[n->draw[i]] = n->points[i].weight >= 0.0F;
    uint64_t *triangles = kf_allocate(count * sizeof *triangles);
    uint32_t *numbers = kf_allocate(count * sizeof *numbers), *order = kf_allocate(count * sizeof *order);
    size_t found = 0;
    for (size_t i = 0; i < n->draws; i++) {
        if (!kept[i]) continue;
        numbers[found] = (uint32_t)i;
        triangles[found++] = pick_triangle(s, i);
    }
    kf_radix_order(count, triangles, s->mesh->triangle_count, order);
    const double share_of_area = s->cumulative[s->mesh->triangle_count] / (double)asked;
    for (size_t i = 0; i < count; i++) {
        double position[3];
        (void)draw_point(s, numbers[order[i]], position);
        if (triangle_of != NULL) triangle_of[i] = (uint32_t)triangles[order[i]];
        samples->x[i] = position[0];
        samples->y[i] = position[1];
        samples->z[i] = position[2];
        samples->area[i] = share_of_area;
    }
    free(kept);
    free(triangles);
    free(numbers);
    free(order);
}

double kf_sample_radius(double area, size_t count) {
    return sqrt(area / (2.0 * sqrt(3.0) * (double)count));
}

bool kf_sample_mesh(const kf_mesh *mesh, size_t count, uint64_t seed, kf_samples *samples,
                    uint32_t *triangles) {
    surface s;
    surface_begin(&s, mesh, seed);
    neighbourhood n = {.draws = OVERSAMPLING * count};
    const double kept_share = 1.0 / OVERSAMPLING;
    n.least = (float)(MINIMUM_SHARE * (1.0 - kept_share * sqrt(kept_share)));
    n.draw = kf_allocate(n.draws * sizeof *n.draw);
    gather_points(&n, &s, kf_sample_radius(s.cumulative[mesh->triangle_count], count));
    find_neighbours(&n);
    const size_t asked = count;
    count = (n.count + OVERSAMPLING - 1) / OVERSAMPLING;
    const bool whole = !kf_interrupted && eliminate(&n, count);
    memset(samples, 0, sizeof *samples);
    if (whole) {
        samples->count = count;
        samples->x = kf_allocate(count * sizeof(double));
        samples->y = kf_allocate(count * sizeof(double));
        samples->z = kf_allocate(count * sizeof(double));
        samples->area = kf_allocate(count * sizeof(double));
        collect(&n, &s, asked, count, samples, triangles);
    }
    free(n.points);
    free(n.draw);
    free(n.first);
    free(n.near);
    free(s.cumulative);
    return whole;
}

void kf_samples_free(kf_samples *samples) {
    free(samples->x);
    free(samples->y);
    free(samples->z);
    free(samples->area);
    free(samples->solid);
    memset(samples, 0, sizeof *samples);
}
