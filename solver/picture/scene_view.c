#include "solver/picture/scene_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/text.h"
#include "solver/picture/canvas.h"

enum { WIDTH = 1000, HEIGHT = 560, MARGIN = 24 };

/* From lattice to picture: right and down in pixels, depth towards the eye. */
typedef struct view {
    double axes[3][3]; /* right, up, towards the eye */
    double scale, right, up;
    double *depth; /* [HEIGHT][WIDTH] */
    kf_canvas canvas;
} view;

static void turn(view *v) {
    const double yaw = -0.55, pitch = 0.42;
    const double axes[3][3] = {{cos(yaw), -sin(yaw), 0},
                               {sin(pitch) * sin(yaw), sin(pitch) * cos(yaw), cos(pitch)},
                               {-cos(pitch) * sin(yaw), -cos(pitch) * cos(yaw), sin(pitch)}};
    memcpy(v->axes, axes, sizeof axes);
}

static void project(const view *v, const double point[3], double seen[3]) {
    double turned[3];
    for (int row = 0; row < 3; row++)
        turned[row] = v->axes[row][0] * point[0] + v->axes[row][1] * point[1] + v->axes[row][2] * point[2];
    seen[0] = 0.5 * WIDTH + v->scale * (turned[0] - v->right);
    seen[1] = 0.5 * HEIGHT - v->scale * (turned[1] - v->up);
    seen[2] = turned[2];
}

typedef struct view_box {
    double low[3], high[3];
} view_box;

static void corner_of(const view_box *box, int number, double point[3]) {
    for (int axis = 0; axis < 3; axis++)
        point[axis] = (number >> axis & 1) != 0 ? box->high[axis] : box->low[axis];
}

/* What is looked at fills the picture. */
static void fit(view *v, const view_box *box) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    *v = (view){.scale = 1.0};
    turn(v);
    for (int i = 0; i < 8; i++) {
        double point[3], seen[3];
        corner_of(box, i, point);
        project(v, point, seen);
        for (int axis = 0; axis < 2; axis++) {
            low[axis] = fmin(low[axis], seen[axis]);
            high[axis] = fmax(high[axis], seen[axis]);
        }
    }
    v->right = 0.5 * (low[0] + high[0]) - 0.5 * WIDTH;
    v->up = 0.5 * HEIGHT - 0.5 * (low[1] + high[1]);
    v->scale =
        fmin((WIDTH - 2.0 * MARGIN) / (high[0] - low[0]), (HEIGHT - 2.0 * MARGIN) / (high[1] - low[1]));
}

static void draw_line(view *v, const double from[3], const double to[3], kf_colour colour, double share) {
    double a[3], b[3];
    project(v, from, a);
    project(v, to, b);
    int steps = (int)fmax(fabs(b[0] - a[0]), fabs(b[1] - a[1])) + 1;
    for (int i = 0; i <= steps; i++) {
        double t = (double)i / steps;
        kf_canvas_blend(&v->canvas, (int)lround(a[0] + t * (b[0] - a[0])),
                        (int)lround(a[1] + t * (b[1] - a[1])), colour, share);
    }
}

static void draw_domain(view *v, const view_box *box) {
    const kf_colour grey = {140, 149, 159};
    for (int i = 0; i < 8; i++)
        for (int axis = 0; axis < 3; axis++) {
            if ((i >> axis & 1) != 0) continue;
            double from[3], to[3];
            corner_of(box, i, from);
            corner_of(box, i | 1 << axis, to);
            draw_line(v, from, to, grey, 0.8);
        }
}

/* Grey by the angle between the face and the light, the same from both sides: not every mesh is oriented. */
static kf_colour shade(const double corners[3][3]) {
    const double light[3] = {-0.45, -0.60, 0.66};
    double a[3], b[3], normal[3];
    for (int axis = 0; axis < 3; axis++) {
        a[axis] = corners[1][axis] - corners[0][axis];
        b[axis] = corners[2][axis] - corners[0][axis];
    }
    for (int axis = 0; axis < 3; axis++)
        normal[axis] = a[(axis + 1) % 3] * b[(axis + 2) % 3] - a[(axis + 2) % 3] * b[(axis + 1) % 3];
    double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    double cosine = length > 0.0
                        ? fabs(normal[0] * light[0] + normal[1] * light[1] + normal[2] * light[2]) / length
                        : 0.0;
    double bright = 0.35 + 0.65 * cosine;
    return (kf_colour){(unsigned char)(86 * bright), (unsigned char)(150 * bright),
                       (unsigned char)(200 * bright)};
}

static void draw_triangle(view *v, const double corners[3][3]) {
    double p[3][3];
    for (int i = 0; i < 3; i++)
        project(v, corners[i], p[i]);
    double area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
    if (fabs(area) < 1e-12) return;
    int left = (int)fmax(0, floor(fmin(p[0][0], fmin(p[1][0], p[2][0]))));
    int right = (int)fmin(WIDTH - 1, ceil(fmax(p[0][0], fmax(p[1][0], p[2][0]))));
    int top = (int)fmax(0, floor(fmin(p[0][1], fmin(p[1][1], p[2][1]))));
    int bottom = (int)fmin(HEIGHT - 1, ceil(fmax(p[0][1], fmax(p[1][1], p[2][1]))));
    kf_colour colour = shade(corners);
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            double w1 = ((x - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (y - p[0][1])) / area;
            double w2 = ((p[1][0] - p[0][0]) * (y - p[0][1]) - (x - p[0][0]) * (p[1][1] - p[0][1])) / area;
            if (w1 < -1e-9 || w2 < -1e-9 || w1 + w2 > 1.0 + 1e-9) continue;
            double depth = p[0][2] + w1 * (p[1][2] - p[0][2]) + w2 * (p[2][2] - p[0][2]);
            double *nearest = &v->depth[(size_t)y * WIDTH + (size_t)x];
            if (depth <= *nearest) continue;
            *nearest = depth;
            kf_canvas_blend(&v->canvas, x, y, colour, 1.0);
        }
}

static void draw_mesh(view *v, const kf_mesh *mesh) {
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        double corners[3][3];
        for (int k = 0; k < 3; k++)
            memcpy(corners[k], mesh->vertices + 3 * (size_t)mesh->triangles[3 * i + (size_t)k],
                   sizeof corners[k]);
        draw_triangle(v, corners);
    }
}

/* The solid's box with as much room around it as it is long; its bottom stays where it is. */
static view_box close_box(const kf_scene *scene) {
    view_box box;
    double longest = 0.0;
    for (int a = 0; a < 3; a++)
        longest = fmax(longest, scene->solid_high[a] - scene->solid_low[a]);
    for (int a = 0; a < 3; a++) {
        const double room = a == 2 ? 0.1 * longest : 0.5 * longest;
        box.low[a] = fmax(-0.5, scene->solid_low[a] - (a == 2 ? 0.0 : room));
        box.high[a] = fmin(scene->nodes[a] - 0.5, scene->solid_high[a] + room);
    }
    return box;
}

/* An arrow with the wind, on the floor in front of the solid. */
static void draw_wind(view *v, const kf_scene *scene, const view_box *box) {
    const kf_colour blue = {31, 90, 180};
    const double *wind = scene->initial_velocity;
    const double speed = sqrt(wind[0] * wind[0] + wind[1] * wind[1] + wind[2] * wind[2]);
    if (scene->faces[KF_XMIN] != KF_INFLOW || speed == 0.0) return;
    const double length = 0.8 * (scene->solid_low[0] - box->low[0]);
    const double from[3] = {box->low[0] + 0.05 * length, box->low[1], box->low[2]};
    double tip[3], seen[3];
    for (int lane = 1; lane <= 3; lane++) {
        double start[3] = {from[0], box->low[1] + 0.25 * lane * (box->high[1] - box->low[1]), from[2]};
        for (int a = 0; a < 3; a++)
            tip[a] = start[a] + length * wind[a] / speed;
        draw_line(v, start, tip, blue, 1.0);
        for (int side = -1; side <= 1; side += 2) {
            const double barb[3] = {tip[0] - 0.2 * length, tip[1] + side * 0.1 * length, tip[2]};
            draw_line(v, tip, barb, blue, 1.0);
        }
    }
    project(v, from, seen);
    kf_canvas_text(&v->canvas, (int)fmax(MARGIN, seen[0] - 40.0), (int)seen[1] + 8, 2, blue, "wind");
}

kf_status kf_scene_view_write(const kf_scene *scene, bool close, const char *path, kf_error *error) {
    view *v = kf_allocate(sizeof *v);
    view_box box = close_box(scene);
    for (int a = 0; a < 3 && !close; a++) {
        box.low[a] = -0.5;
        box.high[a] = scene->nodes[a] - 0.5;
    }
    fit(v, &box);
    v->depth = kf_allocate((size_t)WIDTH * HEIGHT * sizeof *v->depth);
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
        v->depth[i] = -INFINITY;
    kf_canvas_begin(&v->canvas, WIDTH, HEIGHT, (kf_colour){255, 255, 255});
    draw_domain(v, &box);
    if (close) draw_wind(v, scene, &box);
    draw_mesh(v, &scene->mesh);
    kf_status status = kf_canvas_write_png(&v->canvas, path, error);
    kf_canvas_free(&v->canvas);
    free(v->depth);
    free(v);
    return status;
}
