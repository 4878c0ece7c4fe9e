/* Places particles in shapes, column by column, so that ten million take seconds. The result is the same for
 * any number of threads. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "base/util/program.h"
#include "base/util/random.h"
#include "base/util/text.h"
#include "scene/crossings.h"
#include "scene/particles_internal.h"

typedef struct particle {
    float place[3];
    int body;
} particle;

typedef struct placing {
    const kf_particle_scene *scene;
    const kf_particle_bodies *bodies;
    kf_crossings meshes[KF_PARTICLE_SHAPES];
    /* The lattice points along the slow axes, and along the last axis. */
    int columns[2], rows;
    /* The number of particles before each column, first fluid, then walls. */
    size_t *counts;
    /* The fates of the particles, once they are counted. */
    kf_particle_fates fates[KF_PARTICLE_SHAPES];
    pthread_mutex_t lock; /* on these */
    bool fill;
    /* True when some particles lie on the lattice of spacings. */
    bool lattice;
} placing;

/* ---- Places inside of shapes ---- */

bool kf_particle_in_polygon(const kf_particle_body *b, int axes, double x, double y) {
    if (axes == 1) return x >= b->low[0] && x <= b->high[0];
    bool inside = false;
    for (int i = 0, j = b->corner_count - 1; i < b->corner_count; j = i++) {
        const double *p = b->corners + 2 * i, *q = b->corners + 2 * j;
        if ((p[1] > y) != (q[1] > y) && x < (q[0] - p[0]) * (y - p[1]) / (q[1] - p[1]) + p[0])
            inside = !inside;
    }
    return inside;
}

static bool contains(const placing *p, int b, size_t column, const double place[3]) {
    const kf_particle_body *body = &p->bodies->list[b];
    const int d = p->scene->dimensions;
    for (int i = 0; i < d; i++)
        if (place[i] < body->low[i] || place[i] > body->high[i]) return false;
    if (body->kind == KF_BODY_BOX) return true;
    if (body->kind == KF_BODY_MESH) return kf_crossings_inside(&p->meshes[b], column, place[2]);
    double r2 = 0.0;
    for (int i = 0; i < d; i++)
        r2 += (place[i] - body->center[i]) * (place[i] - body->center[i]);
    return r2 <= body->radius * body->radius;
}

/* Returns whether a place lies in the layers of particles beyond a face. */
static bool in_layer(const kf_particle_scene *s, const double place[3]) {
    const int axes = s->dimensions == 2 ? 2 : 3;
    for (int i = 0; i < axes; i++) {
        if (s->sides[2 * i] == KF_SIDE_DUMMIES && place[i] < s->origin[i]) return true;
        if (s->sides[2 * i + 1] == KF_SIDE_DUMMIES && place[i] > s->size[i] - ceil(s->support)) return true;
    }
    return false;
}

static double ground_at(const kf_particle_scene *s, double x, double y, double *upright) {
    double slope[2];
    if (s->terrain.heights == NULL) return -INFINITY;
    const double height = kf_terrain_height(&s->terrain, x, y, slope);
    *upright = sqrt(1.0 + slope[0] * slope[0] + slope[1] * slope[1]);
    return height;
}

bool kf_particle_in_box(const kf_particle_scene *s, double x, double y) {
    return x > s->origin[0] && x < kf_particle_box_end(s, 0) &&
           (s->dimensions == 2 || (y > s->origin[1] && y < kf_particle_box_end(s, 1)));
}

double kf_particle_layers(const kf_particle_scene *s, const kf_particle_body *body, double x, double y) {
    double upright = 1.0;
    (void)ground_at(s, x, y, &upright);
    return fmax(0.0, ceil(body->depth * upright - 0.5 * upright));
}

/* ---- Columns ---- */

/* Stores a particle of a body or a wall, with its velocity. In a hydrostatic start it also gets the density
 * of its pressure. The first pass only counts. */
static void keep(placing *p, size_t *at, const double place[3], int body, bool wall, double top) {
    if (p->fill) {
        const kf_particle_scene *s = p->scene;
        const size_t k = at[wall];
        for (int i = 0; i < 3; i++)
            s->position[3 * k + (size_t)i] = (float)place[i];
        if (!wall) {
            const kf_particle_body *b = &p->bodies->list[body];
            const double dx = place[0] - 0.5 * (b->low[0] + b->high[0]),
                         dy = place[1] - 0.5 * (b->low[1] + b->high[1]);
            const double velocity[3] = {b->velocity[0] - b->rotation * dy, b->velocity[1] + b->rotation * dx,
                                        b->velocity[2]};
            for (int i = 0; i < 3; i++)
                s->velocity[3 * k + (size_t)i] = (float)velocity[i];
            const int up = s->dimensions - 1;
            const double pressure = b->hydrostatic ? fmax(0.0, -s->gravity[up] * (top - place[up])) : 0.0;
            s->deviation[k] =
                (float)(s->material.stiff ? pow(1.0 + 7.0 * pressure, 1.0 / 7.0) - 1.0 : pressure);
        }
    }
    at[wall]++;
}

/* Returns the first shape of the lattice that contains a place, or -1. */
static int body_at(const placing *p, size_t column, const double place[3]) {
    for (int b = 0; b < p->bodies->count; b++)
        if (p->bodies->list[b].kind != KF_BODY_POLYGON && contains(p, b, column, place)) return b;
    return -1;
}

/* Returns whether the lattice of spacings has particles at all. Particles of polygons lie on the ground
 * instead. */
static bool fills_lattice(const kf_particle_scene *s, const kf_particle_bodies *bodies) {
    for (int side = 0; side < 2 * s->dimensions; side++)
        if (s->sides[side] == KF_SIDE_DUMMIES) return true;
    for (int b = 0; b < bodies->count; b++)
        if (bodies->list[b].kind != KF_BODY_POLYGON) return true;
    return false;
}

static void fill_lattice(placing *p, size_t column, const double at_column[2], double ground, size_t *at,
                         kf_particle_fates *fates) {
    const kf_particle_scene *s = p->scene;
    const int up = s->dimensions - 1;
    for (int k = 0; k < p->rows; k++) {
        double place[3] = {at_column[0], at_column[1], 0.0};
        place[up] = k + 0.5;
        const bool buried = place[up] < ground + 0.45;
        if (buried && p->fill) continue;
        if (!buried && in_layer(s, place)) {
            keep(p, at, place, 0, true, 0.0);
            continue;
        }
        const int b = body_at(p, column, place);
        if (b < 0) continue;
        fates[b].in_ground += buried;
        fates[b].placed += !buried;
        if (!buried) keep(p, at, place, b, p->bodies->list[b].wall, p->bodies->list[b].high[up]);
    }
}

/* Fills the layers of snow, which are parallel to the terrain. */
static void fill_polygons(placing *p, const double at_column[2], double ground, double upright, size_t *at,
                          kf_particle_fates *fates) {
    const kf_particle_scene *s = p->scene;
    const int up = s->dimensions - 1;
    for (int b = 0; b < p->bodies->count; b++) {
        const kf_particle_body *body = &p->bodies->list[b];
        if (body->kind != KF_BODY_POLYGON || !kf_particle_in_polygon(body, up, at_column[0], at_column[1]))
            continue;
        const double depth = body->depth * upright, top = ground + depth;
        double z = 0.5 * upright;
        while (z < depth) {
            double place[3] = {at_column[0], at_column[1], 0.0};
            place[up] = ground + z;
            const bool below = place[up] < s->origin[up], above = place[up] >= s->size[up];
            /* This is the weight of the material above, along the normal. */
            if (!below && !above)
                keep(p, at, place, b, false, place[up] + (top - place[up]) / (upright * upright));
            fates[b].below += below;
            fates[b].above += above;
            fates[b].placed += !below && !above;
            z += 1.0;
        }
    }
}

static void add_fates(placing *p, const kf_particle_fates *fates) {
    (void)pthread_mutex_lock(&p->lock);
    for (int b = 0; b < p->bodies->count; b++) {
        p->fates[b].placed += fates[b].placed;
        p->fates[b].above += fates[b].above;
        p->fates[b].below += fates[b].below;
        p->fates[b].in_ground += fates[b].in_ground;
    }
    (void)pthread_mutex_unlock(&p->lock);
}

/* Places or counts the particles of the columns from begin to end - 1, on the lattice of spacings and on
 * polygons along the ground. */
static void place_columns(void *data, size_t begin, size_t end) {
    placing *p = data;
    const kf_particle_scene *s = p->scene;
    kf_particle_fates fates[KF_PARTICLE_SHAPES] = {{0}};
    for (size_t c = begin; c < end && !kf_interrupted; c++) {
        const size_t row = c / (size_t)p->columns[1];
        const double at_column[2] = {(double)row + 0.5,
                                     s->dimensions == 3 ? (double)(c % (size_t)p->columns[1]) + 0.5 : 0.0};
        size_t at[2] = {p->fill ? p->counts[2 * c] : 0, p->fill ? p->counts[2 * c + 1] : 0};
        double upright = 1.0;
        const double ground = ground_at(s, at_column[0], at_column[1], &upright);
        if (p->lattice) fill_lattice(p, c, at_column, ground, at, fates);
        if (isfinite(ground)) fill_polygons(p, at_column, ground, upright, at, fates);
        if (!p->fill) {
            p->counts[2 * c] = at[0];
            p->counts[2 * c + 1] = at[1];
        }
    }
    if (!p->fill) add_fates(p, fates);
}

/* Turns the counts into offsets: first all fluid, then all walls. */
static void add_up(placing *p, size_t columns, kf_particle_scene *s) {
    size_t fluid = 0, walls = 0;
    for (size_t c = 0; c < columns; c++) {
        const size_t f = p->counts[2 * c], w = p->counts[2 * c + 1];
        p->counts[2 * c] = fluid;
        p->counts[2 * c + 1] = walls;
        fluid += f;
        walls += w;
    }
    for (size_t c = 0; c < columns; c++)
        p->counts[2 * c + 1] += fluid;
    s->count = fluid + walls;
    s->wall_count = walls;
}

static float uneven(uint64_t seed, uint64_t index) {
    return (float)((double)(kf_random_mix(seed + 0x9e3779b97f4a7c15 * (index + 1)) >> 40) / 8388608.0 - 1.0);
}

static void shake(kf_particle_scene *s) {
    const float by = (float)s->shake;
    for (size_t k = 0; by > 0.0f && k < s->count - s->wall_count; k++)
        for (int i = 0; i < s->dimensions; i++) {
            const size_t at = 3 * k + (size_t)i;
            s->position[at] += by * uneven(s->seed, 2 * at);
            s->velocity[at] += 0.1f * by * uneven(s->seed, 2 * at + 1);
        }
}

/* Estimates the particles of a box or ball inside the scene's box, as if no other shape and no ground took
 * any. Returns 0 where only placing gives the number. */
static double claimed(const kf_particle_scene *scene, const kf_particle_body *body) {
    double places = 1.0;
    if (body->kind != KF_BODY_BOX && body->kind != KF_BODY_BALL) return 0.0;
    for (int i = 0; i < scene->dimensions; i++)
        places *= fmax(0.0, fmin(body->high[i], scene->size[i]) - fmax(body->low[i], scene->origin[i]));
    /* A ball fills 0.52 of its cube, a disk 0.79 of its square. */
    return body->kind == KF_BODY_BOX ? places : 0.5 * places;
}

/* Prints the size of a large scene before it is placed, because the user must wait. */
static void tell_places(const kf_particle_scene *scene, double places, const kf_particle_bodies *bodies) {
    static const double LARGE = 1e8, PARTICLE_BYTES = 7 * sizeof(float);
    double particles = 0.0;
    char bytes[32];
    for (int b = 0; b < bodies->count; b++)
        particles += claimed(scene, &bodies->list[b]);
    if (places < LARGE || !fills_lattice(scene, bodies)) return;
    if (particles == 0.0) {
        kf_info("%s: %.2g places are looked at for particles, which may take minutes", scene->source, places);
        return;
    }
    kf_human_bytes(PARTICLE_BYTES * particles, bytes);
    kf_info("%s: %.2g places are looked at for about %.2g particles (%s here), which may take minutes",
            scene->source, places, particles, bytes);
}

/* Returns the number of places to test: all of the lattice in the box, or the layers of its columns when all
 * shapes lie on the ground. */
static double places_of(const kf_particle_scene *scene, const kf_particle_bodies *bodies) {
    const int up = scene->dimensions - 1;
    double places = 1.0, layers = 1.0;
    for (int i = 0; i < up; i++)
        places *= scene->size[i];
    for (int b = 0; b < bodies->count; b++)
        layers += bodies->list[b].depth;
    return places * (fills_lattice(scene, bodies) ? scene->size[up] : layers);
}

/* Checks the size of the scene before anything is placed. A few characters of a file can request hours of
 * work. */
static kf_status check_claims(const kf_particle_scene *scene, const kf_particle_bodies *bodies,
                              kf_error *error) {
    /* Testing that many places takes a minute. */
    static const double most_places = 4294967296.0;
    const double places = places_of(scene, bodies);
    for (int b = 0; b < bodies->count; b++)
        if (claimed(scene, &bodies->list[b]) > 1.1 * KF_PARTICLES_LIMIT)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: a shape of about %.2g particles; a scene has 1 to %d: change particles.spacing or the "
                "shapes",
                scene->source, claimed(scene, &bodies->list[b]), KF_PARTICLES_LIMIT);
    if (places <= most_places) {
        tell_places(scene, places, bodies);
        return KF_OK;
    }
    return kf_fail(
        error, KF_BAD_INPUT,
        "%s: the box has %.2g places for particles, at most %.2g are looked at: change particles.spacing or "
        "box.size",
        scene->source, places, most_places);
}

/* Refuses particles that do not fit on the devices of the run. `told` is the estimate in the message, and
 * `certain` its lower limit. */
static kf_status check_room(const kf_particle_scene *scene, const kf_particle_options *options, double told,
                            double certain, kf_error *error) {
    static const double MANY = 1e7;
    char least[32], memory[32];
    if (options->memory == NULL || certain < MANY) return KF_OK;
    const double room = options->memory(options->memory_context);
    if (!(room > 0.0) || KF_PARTICLE_LEAST_BYTES * certain <= room) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: about %.3g particles, which take %s at least, but the memory for them has %s; make "
                   "particles.spacing larger, or name more devices",
                   scene->source, told, kf_human_bytes(KF_PARTICLE_LEAST_BYTES * told, least),
                   kf_human_bytes(room, memory));
}

/* Estimates the particles of a large scene from random columns, because counting all of them can take a
 * minute. */
static kf_status check_sample(placing *p, const kf_particle_options *options, size_t columns,
                              kf_error *error) {
    /* This takes a tenth of a second with one shape. */
    enum { LOOKS = 10000000, LEAST_COLUMNS = 64 };
    /* The margin in standard deviations, because the number of columns with particles is random. */
    static const double DEVIATIONS = 4.0;
    size_t drawn = LOOKS / (size_t)(p->rows * p->bodies->count), found = 0;
    double particles = 0.0;
    if (drawn < LEAST_COLUMNS) drawn = LEAST_COLUMNS;
    if (options->memory == NULL || 4 * drawn > columns) return KF_OK;
    for (size_t k = 0; k < drawn; k++) {
        const size_t c = (size_t)(kf_random_mix(k + 1) % columns);
        place_columns(p, c, c + 1);
        const size_t here = p->counts[2 * c] + p->counts[2 * c + 1];
        particles += (double)here;
        found += here > 0;
    }
    memset(p->fates, 0, sizeof p->fates);
    if (found == 0) return KF_OK;
    particles *= (double)columns / (double)drawn;
    return check_room(p->scene, options, particles,
                      particles * fmax(0.0, 1.0 - DEVIATIONS / sqrt((double)found)), error);
}

kf_status kf_particle_place(kf_particle_scene *scene, const kf_particle_options *options,
                            const kf_particle_bodies *bodies, kf_text *notes, kf_error *error) {
    placing p = {.scene = scene,
                 .bodies = bodies,
                 .lattice = fills_lattice(scene, bodies),
                 .lock = PTHREAD_MUTEX_INITIALIZER};
    const int up = scene->dimensions - 1;
    KF_TRY(check_claims(scene, bodies, error));
    p.columns[0] = (int)scene->size[0];
    p.columns[1] = scene->dimensions == 3 ? (int)scene->size[1] : 1;
    p.rows = (int)scene->size[up];
    const size_t columns = (size_t)p.columns[0] * (size_t)p.columns[1];
    p.counts = kf_allocate(2 * columns * sizeof *p.counts);
    for (int b = 0; b < bodies->count; b++)
        if (bodies->list[b].kind == KF_BODY_MESH)
            p.meshes[b] = kf_crossings_of(&bodies->list[b].mesh, p.columns);
    kf_status status = check_sample(&p, options, columns, error);
    if (status == KF_OK) {
        kf_in_parallel(columns, 64, place_columns, &p);
        add_up(&p, columns, scene);
        status = check_room(scene, options, (double)scene->count, (double)scene->count, error);
    }
    if (kf_interrupted) status = kf_fail(error, KF_INTERRUPTED, "interrupted while particles were placed");
    if (status == KF_OK) status = kf_particle_tell_left_out(scene, bodies, p.fates, notes, error);
    if (status != KF_OK)
        scene->count = scene->wall_count = 0;
    else if (scene->count == scene->wall_count || scene->count > KF_PARTICLES_LIMIT)
        status =
            kf_fail(error, KF_BAD_INPUT,
                    "%s: %zu particles of fluid, and %zu of walls; a scene has 1 to %d: change "
                    "particles.spacing or the shapes",
                    scene->source, scene->count - scene->wall_count, scene->wall_count, KF_PARTICLES_LIMIT);
    if (status == KF_OK) {
        scene->position = kf_allocate_zeroed(3 * scene->count, sizeof(float));
        scene->velocity = kf_allocate_zeroed(3 * scene->count, sizeof(float));
        scene->deviation = kf_allocate_zeroed(scene->count, sizeof(float));
        p.fill = true;
        kf_in_parallel(columns, 64, place_columns, &p);
        shake(scene);
        if (kf_interrupted)
            status = kf_fail(error, KF_INTERRUPTED, "interrupted while particles were placed");
    }
    for (int b = 0; b < bodies->count; b++)
        kf_crossings_free(&p.meshes[b]);
    free(p.counts);
    return status;
}
