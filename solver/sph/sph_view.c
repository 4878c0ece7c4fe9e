#include "solver/sph/sph_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "base/util/vector.h"

static const float FAR = 1e30f;
/* The depth of the ground below the lowest point of the terrain: a share of the height, and at least a share
 * of the width. Rays would step over flatter ground. */
static const double SOCKLE = 0.08, LEAST_SOCKLE = 0.03;

/* Finds where the fluid may go, metres from the file's origin: the box, as high as terrain or fluid reach
 * at first. */
static void bounds(const kf_particle_scene *s, double low[3], double high[3]) {
    double top = 0.0;
    for (int i = 0; i < 3; i++) {
        low[i] = 0.0;
        high[i] = (s->size[i] - s->origin[i]) * s->spacing;
    }
    for (size_t k = 0; k < s->count - s->wall_count; k++)
        top = fmax(top, ((double)s->position[3 * k + 2] - s->origin[2]) * s->spacing);
    if (s->terrain.heights != NULL) {
        double lowest, highest;
        kf_terrain_range(&s->terrain, &lowest, &highest);
        top = fmax(top, (highest - s->origin[2]) * s->spacing);
        low[2] = (lowest - s->origin[2]) * s->spacing;
        low[2] -= fmax(SOCKLE * (top - low[2]), LEAST_SOCKLE * fmax(high[0], high[1]));
    }
    high[2] = fmin(high[2], low[2] + 1.15 * (top - low[2]));
}

/* Sets the camera in front and above, at a distance at which the bounds fill the picture. */
static void place_camera(kf_sph_view *v) {
    static const double terrain_view[3] = {0.74, -0.50, 0.46}, box_view[3] = {0.35, -0.85, 0.32};
    const double *from = v->scene->terrain.heights != NULL ? terrain_view : box_view;
    double low[3], high[3], middle[3], distance = 0.0;
    bounds(v->scene, low, high);
    v->base = low[2];
    for (int i = 0; i < 3; i++) {
        middle[i] = 0.5 * (low[i] + high[i]);
        v->ahead[i] = -from[i];
    }
    const double up[3] = {0, 0, 1};
    kf_normalise(v->ahead);
    kf_cross(v->ahead, up, v->right);
    kf_normalise(v->right);
    kf_cross(v->right, v->ahead, v->above);
    v->focal = 1.6 * v->width;
    for (int corner = 0; corner < 8; corner++) {
        double d[3];
        for (int i = 0; i < 3; i++)
            d[i] = (corner >> i & 1 ? high[i] : low[i]) - middle[i];
        const double deep = kf_dot(d, v->ahead), wide = fabs(kf_dot(d, v->right)),
                     tall = fabs(kf_dot(d, v->above));
        distance = fmax(
            distance, fmax(v->focal * wide / (0.47 * v->width), v->focal * tall / (0.44 * v->height)) - deep);
    }
    for (int i = 0; i < 3; i++)
        v->eye[i] = middle[i] - distance * v->ahead[i];
    const double sun[3] = {-0.35, -0.75, 0.75};
    memcpy(v->light, sun, sizeof sun);
    kf_normalise(v->light);
}

static float *filled(size_t count, float value) {
    float *values = kf_allocate(count * sizeof *values);
    for (size_t k = 0; k < count; k++)
        values[k] = value;
    return values;
}

void kf_sph_view_begin(const kf_particle_scene *scene, int width, int height, kf_sph_view *view) {
    const size_t count = (size_t)width * (size_t)height;
    memset(view, 0, sizeof *view);
    view->scene = scene;
    view->width = width;
    view->height = height;
    view->radius = 0.8 * scene->spacing;
    view->ground = filled(count, FAR);
    view->surface = filled(count, FAR);
    view->scratch = filled(count, FAR);
    view->value = filled(count, 0.0f);
    view->wall = kf_allocate_zeroed(count, 1);
    view->pixels = kf_allocate_zeroed(count, sizeof *view->pixels);
    place_camera(view);
}

void kf_sph_view_free(kf_sph_view *view) {
    free(view->ground);
    free(view->surface);
    free(view->scratch);
    free(view->value);
    free(view->wall);
    free(view->pixels);
}

/* Computes pixel and depth. Returns false behind the camera. */
static bool project(const kf_sph_view *v, const double place[3], double *x, double *y, double *depth) {
    double d[3];
    for (int i = 0; i < 3; i++)
        d[i] = place[i] - v->eye[i];
    *depth = kf_dot(d, v->ahead);
    if (*depth <= 0.0) return false;
    *x = 0.5 * v->width + v->focal * kf_dot(d, v->right) / *depth;
    *y = 0.5 * v->height - v->focal * kf_dot(d, v->above) / *depth;
    return true;
}

static void place_of(const kf_sph_view *v, double x, double y, double depth, double place[3]) {
    for (int i = 0; i < 3; i++)
        place[i] = v->eye[i] + depth * (v->ahead[i] + (x - 0.5 * v->width) / v->focal * v->right[i] -
                                        (y - 0.5 * v->height) / v->focal * v->above[i]);
}

/* ---- The ground: along each ray, steps of half a cell, then bisection ---- */

static double ground_below(const kf_particle_scene *s, double x, double y, double slope[2]) {
    const double height =
        kf_terrain_height(&s->terrain, x / s->spacing + s->origin[0], y / s->spacing + s->origin[1], slope);
    return (height - s->origin[2]) * s->spacing;
}

static bool above_box(const kf_sph_view *v, const double place[3]) {
    for (int i = 0; i < 2; i++)
        if (place[i] < 0.0 || place[i] > (v->scene->size[i] - v->scene->origin[i]) * v->scene->spacing)
            return false;
    return true;
}

/* Shortens from..to to where low <= begin + t direction <= high. */
static void clip(double begin, double direction, double low, double high, double *from, double *to) {
    const double one = (low - begin) / direction, other = (high - begin) / direction;
    if (fabs(direction) < 1e-12) return;
    *from = fmax(*from, fmin(one, other));
    *to = fmin(*to, fmax(one, other));
}

/* Nothing of the ground in a block of the terrain's cells is higher than its top, in metres: the spline lies
 * between its nodes. Rays pass over most blocks, so most steps along them need no spline. */
typedef struct tops {
    int count[2];
    /* The size of a block, in metres. */
    double size;
    double *top;
} tops;

/* The cells of a block, and the nodes that its splines use beyond it. */
enum { BLOCK = 8, MARGIN = 3 };

static double top_of_block(const kf_terrain *t, int bx, int by) {
    double top = -INFINITY;
    const int first[2] = {bx * BLOCK - MARGIN, by * BLOCK - MARGIN};
    for (int i = first[0]; i <= first[0] + BLOCK + 2 * MARGIN; i++)
        for (int j = first[1]; j <= first[1] + BLOCK + 2 * MARGIN; j++) {
            const int x = i < 0              ? 0
                          : i >= t->nodes[0] ? t->nodes[0] - 1
                                             : i,
                      y = j < 0              ? 0
                          : j >= t->nodes[1] ? t->nodes[1] - 1
                                             : j;
            top = fmax(top, t->heights[(size_t)x * (size_t)t->nodes[1] + (size_t)y]);
        }
    return top;
}

static void find_tops(const kf_particle_scene *s, tops *all) {
    const kf_terrain *t = &s->terrain;
    for (int a = 0; a < 2; a++)
        all->count[a] = (t->nodes[a] + BLOCK - 1) / BLOCK;
    all->size = BLOCK * t->cell * s->spacing;
    all->top = kf_allocate((size_t)all->count[0] * (size_t)all->count[1] * sizeof *all->top);
    for (int x = 0; x < all->count[0]; x++)
        for (int y = 0; y < all->count[1]; y++)
            all->top[x * all->count[1] + y] = (top_of_block(t, x, y) - s->origin[2]) * s->spacing;
}

/* A ray through the middle of a pixel: place(t) = eye + t direction. */
typedef struct ray {
    const kf_sph_view *view;
    const tops *tops;
    double x, y, direction[3];
} ray;

static bool is_below(const ray *r, double t) {
    double place[3];
    place_of(r->view, r->x, r->y, t, place);
    return above_box(r->view, place) && place[2] >= r->view->base &&
           place[2] <= ground_below(r->view->scene, place[0], place[1], NULL);
}

/* Returns the position up to which the ray stays over the present block, when it is higher than the block all
 * the way; else t. */
static double clear_until(const ray *r, double t) {
    const kf_sph_view *v = r->view;
    const kf_particle_scene *s = v->scene;
    double place[3], end = INFINITY;
    int block[2];
    place_of(v, r->x, r->y, t, place);
    for (int a = 0; a < 2; a++) {
        const double shift = (s->origin[a] - s->terrain.origin[a]) * s->spacing,
                     within = (place[a] + shift) / r->tops->size;
        block[a] = (int)fmin(fmax(floor(within), 0.0), r->tops->count[a] - 1.0);
        const double edge = (block[a] + (r->direction[a] > 0.0)) * r->tops->size - shift;
        if (within < 0.0 || within >= r->tops->count[a]) return t;
        if (fabs(r->direction[a]) > 1e-12) end = fmin(end, t + (edge - place[a]) / r->direction[a]);
    }
    const double top = r->tops->top[block[0] * r->tops->count[1] + block[1]];
    return end < INFINITY && place[2] > top && place[2] + (end - t) * r->direction[2] > top ? end : t;
}

/* Finds how far along the ray the ground is; `highest` is that of the ground in metres. Most of a ray is
 * beside the box or above all ground nearby: there nothing is looked up, which leaves the steps that are
 * taken where they are. The halvings are as fine as a depth in single precision. */
static float ground_depth(const ray *r, double from, double to, double step, double highest) {
    enum { HALVINGS = 15 };
    const kf_sph_view *v = r->view;
    double first = from, last = to;
    for (int i = 0; i < 2; i++)
        clip(v->eye[i], r->direction[i], 0.0, (v->scene->size[i] - v->scene->origin[i]) * v->scene->spacing,
             &first, &last);
    clip(v->eye[2], r->direction[2], v->base, highest, &first, &last);
    const double end = fmin(to, last + step);
    for (int k = (int)fmax(0.0, floor((first - from) / step) - 1.0); from + k * step < end; k++) {
        const double t = from + k * step, clear = clear_until(r, t);
        if (clear > t) k = (int)fmax(k, fmin(floor((clear - from) / step), 1e9));
        if (clear > t || !is_below(r, t)) continue;
        double low = t - step, high = t;
        for (int half = 0; half < HALVINGS; half++) {
            const double middle = 0.5 * (low + high);
            if (is_below(r, middle))
                high = middle;
            else
                low = middle;
        }
        return (float)high;
    }
    return FAR;
}

typedef struct ground_work {
    kf_sph_view *view;
    tops tops;
} ground_work;

/* Finds the ground's depth at each pixel of rows begin to end - 1, in steps that are short enough for the
 * terrain's cells. */
static void ground_rows(void *data, size_t begin, size_t end) {
    const ground_work *work = data;
    kf_sph_view *v = work->view;
    const kf_particle_scene *s = v->scene;
    double low[3], high[3], nearest = INFINITY, furthest = 0.0;
    bounds(s, low, high);
    for (int corner = 0; corner < 8; corner++) {
        double d[3];
        for (int i = 0; i < 3; i++)
            d[i] = (corner >> i & 1 ? high[i] : low[i]) - v->eye[i];
        nearest = fmin(nearest, kf_dot(d, v->ahead));
        furthest = fmax(furthest, kf_dot(d, v->ahead));
    }
    double lowest, highest;
    kf_terrain_range(&s->terrain, &lowest, &highest);
    const double sockle = (lowest - s->origin[2]) * s->spacing - v->base, range = furthest - nearest;
    const double top = (highest - s->origin[2]) * s->spacing;
    const double step =
        fmin(fmax(0.5 * s->terrain.cell * s->spacing, range / 800.0), fmax(0.1 * sockle, range / 4000.0));
    for (size_t y = begin; y < end; y++)
        for (int x = 0; x < v->width; x++) {
            ray r = {.view = v, .tops = &work->tops, .x = x + 0.5, .y = (double)y + 0.5};
            place_of(v, r.x, r.y, 1.0, r.direction);
            for (int i = 0; i < 3; i++)
                r.direction[i] -= v->eye[i];
            v->ground[y * (size_t)v->width + (size_t)x] = ground_depth(&r, nearest, furthest, step, top);
        }
}

/* Draws the floor of the box, without terrain. */
static void floor_rows(void *data, size_t begin, size_t end) {
    kf_sph_view *v = data;
    for (size_t y = begin; y < end; y++)
        for (int x = 0; x < v->width; x++) {
            double place[3];
            place_of(v, x + 0.5, (double)y + 0.5, 1.0, place);
            const double down = v->eye[2] - place[2], depth = down > 0.0 ? v->eye[2] / down : -1.0;
            if (depth <= 0.0) continue;
            place_of(v, x + 0.5, (double)y + 0.5, depth, place);
            if (above_box(v, place)) v->ground[y * (size_t)v->width + (size_t)x] = (float)depth;
        }
}

void kf_sph_view_ground(kf_sph_view *view) {
    ground_work work = {.view = view};
    if (view->scene->terrain.heights == NULL) {
        kf_in_parallel((size_t)view->height, 16, floor_rows, view);
        return;
    }
    find_tops(view->scene, &work.tops);
    kf_in_parallel((size_t)view->height, 16, ground_rows, &work);
    free(work.tops.top);
}

/* ---- Particles ---- */

bool kf_sph_view_shows_wall(const kf_sph_view *view, const float place[3]) {
    const kf_particle_scene *s = view->scene;
    for (int i = 0; i < 3; i++) {
        const double layer = s->sides[2 * i + 1] == KF_SIDE_DUMMIES ? ceil(s->support) : 0.0;
        const double high = (s->size[i] - s->origin[i] - layer) * s->spacing;
        if (place[i] < 0.0f || (double)place[i] > high) return false;
    }
    return true;
}

/* Draws a particle as a ball into the surface's depths, where it is nearest. */
void kf_sph_view_particle(kf_sph_view *v, const float place[3], float value, bool wall) {
    const double at[3] = {(double)place[0], (double)place[1], (double)place[2]};
    double x, y, depth;
    if (!project(v, at, &x, &y, &depth)) return;
    const double radius = fmax(0.7, v->focal * v->radius / depth);
    for (int j = (int)fmax(0.0, floor(y - radius)); j <= (int)fmin(v->height - 1.0, y + radius); j++)
        for (int i = (int)fmax(0.0, floor(x - radius)); i <= (int)fmin(v->width - 1.0, x + radius); i++) {
            const double dx = (i + 0.5 - x) / radius, dy = (j + 0.5 - y) / radius,
                         left = 1.0 - dx * dx - dy * dy;
            if (left < 0.0) continue;
            const float front = (float)(depth - v->radius * sqrt(left));
            const size_t pixel = (size_t)j * (size_t)v->width + (size_t)i;
            if (front >= v->surface[pixel]) continue;
            v->surface[pixel] = front;
            v->value[pixel] = value;
            v->wall[pixel] = wall;
        }
}

/* ---- One surface ---- */

typedef struct smoothing {
    kf_sph_view *view;
    const float *from;
    float *to;
    int dx, dy, reach;
} smoothing;

/* Computes the mean depth along a line of pixels that belong to the same surface. */
static void smooth_rows(void *data, size_t begin, size_t end) {
    const smoothing *s = data;
    const kf_sph_view *v = s->view;
    const float near = (float)(5.0 * v->radius);
    for (size_t y = begin; y < end; y++)
        for (int x = 0; x < v->width; x++) {
            const size_t pixel = y * (size_t)v->width + (size_t)x;
            const float own = s->from[pixel];
            float sum = 0.0f, weight = 0.0f;
            for (int k = -s->reach; k <= s->reach && own < FAR; k++) {
                const int i = x + k * s->dx, j = (int)y + k * s->dy;
                if (i < 0 || j < 0 || i >= v->width || j >= v->height) continue;
                const float other = s->from[(size_t)j * (size_t)v->width + (size_t)i];
                if (!(fabsf(other - own) < near)) continue;
                const float share = (float)(s->reach + 1 - (k < 0 ? -k : k));
                sum += share * other;
                weight += share;
            }
            s->to[pixel] = weight > 0.0f ? sum / weight : FAR;
        }
}

static void smooth(kf_sph_view *v) {
    enum { PASSES = 3 };
    double middle[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        middle[i] = 0.5 * v->scene->size[i] * v->scene->spacing - v->eye[i];
    const double pixels = v->focal * v->radius / fmax(kf_dot(middle, v->ahead), 1e-9);
    const int reach = (int)fmin(24.0, fmax(2.0, 1.6 * pixels));
    for (int pass = 0; pass < PASSES; pass++) {
        smoothing across = {v, v->surface, v->scratch, 1, 0, reach},
                  down = {v, v->scratch, v->surface, 0, 1, reach};
        kf_in_parallel((size_t)v->height, 16, smooth_rows, &across);
        kf_in_parallel((size_t)v->height, 16, smooth_rows, &down);
    }
}

/* Computes a normal from neighbouring pixels of the same surface. */
static void normal_at(const kf_sph_view *v, const float *depths, int x, int y, double normal[3]) {
    double along[2][3];
    for (int axis = 0; axis < 2; axis++) {
        const int dx = axis == 0, dy = axis == 1;
        const size_t pixel = (size_t)y * (size_t)v->width + (size_t)x;
        const float own = depths[pixel];
        int from = 0, to = 0;
        const float near = (float)(4.0 * v->radius + 0.02 * (double)own);
        const size_t step = axis == 0 ? 1 : (size_t)v->width;
        if (x + dx < v->width && y + dy < v->height && fabsf(depths[pixel + step] - own) < near) to = 1;
        if (x - dx >= 0 && y - dy >= 0 && fabsf(depths[pixel - step] - own) < near) from = -1;
        double a[3], b[3];
        const float deep = to ? depths[pixel + step] : own, shallow = from ? depths[pixel - step] : own;
        place_of(v, x + dx * to + 0.5, y + dy * to + 0.5, (double)deep, a);
        place_of(v, x + dx * from + 0.5, y + dy * from + 0.5, (double)shallow, b);
        for (int i = 0; i < 3; i++)
            along[axis][i] = a[i] - b[i];
    }
    kf_cross(along[1], along[0], normal);
    const double size = kf_length(normal);
    for (int i = 0; i < 3; i++)
        normal[i] = size > 0.0 ? normal[i] / size : -v->ahead[i];
}

/* Finds what each pixel of rows begin to end - 1 shows: surface with its normal, or ground with slope,
 * contour lines, and cuts at the box's faces. */
static void see_rows(void *data, size_t begin, size_t end) {
    kf_sph_view *v = data;
    const kf_particle_scene *s = v->scene;
    double low[3], high[3];
    bounds(s, low, high);
    const double interval = (high[2] - low[2]) / 20.0;
    for (size_t y = begin; y < end; y++)
        for (int x = 0; x < v->width; x++) {
            const size_t at = y * (size_t)v->width + (size_t)x;
            kf_sph_pixel *pixel = &v->pixels[at];
            if (v->surface[at] >= FAR && v->ground[at] >= FAR) continue;
            if (v->surface[at] < v->ground[at]) {
                pixel->kind = KF_SPH_SURFACE;
                pixel->value = v->value[at];
                pixel->wall = v->wall[at] != 0;
                normal_at(v, v->surface, x, (int)y, pixel->normal);
                continue;
            }
            double place[3], slope[2] = {0.0, 0.0};
            pixel->kind = KF_SPH_GROUND;
            place_of(v, x + 0.5, (double)y + 0.5, (double)v->ground[at], place);
            if (s->terrain.heights != NULL) {
                const double height = ground_below(s, place[0], place[1], slope);
                pixel->cut = place[2] < height - 0.5 * s->terrain.cell * s->spacing;
            }
            /* The nearest face of the box. */
            if (pixel->cut) {
                double nearest = INFINITY;
                for (int face = 0; face < 4; face++) {
                    const int axis = face / 2;
                    const double side = face % 2 == 0 ? 0.0 : (s->size[axis] - s->origin[axis]) * s->spacing;
                    if (fabs(place[axis] - side) > nearest) continue;
                    nearest = fabs(place[axis] - side);
                    memset(pixel->normal, 0, sizeof pixel->normal);
                    pixel->normal[axis] = face % 2 == 0 ? -1.0 : 1.0;
                }
                continue;
            }
            const double size = sqrt(1.0 + slope[0] * slope[0] + slope[1] * slope[1]);
            pixel->normal[0] = -slope[0] / size;
            pixel->normal[1] = -slope[1] / size;
            pixel->normal[2] = 1.0 / size;
            const double grain = (double)v->ground[at] / v->focal * fmax(0.15, hypot(slope[0], slope[1]));
            pixel->contour = s->terrain.heights != NULL && fabs(remainder(place[2], interval)) < 0.7 * grain;
        }
}

void kf_sph_view_end(kf_sph_view *view) {
    smooth(view);
    kf_in_parallel((size_t)view->height, 16, see_rows, view);
}
