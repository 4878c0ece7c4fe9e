#include "solver/picture/scene_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/memory.h"
#include "base/util/vector.h"
#include "solver/flow/flow_frame.h"
#include "solver/picture/canvas.h"

enum { WIDTH = 1000, HEIGHT = 560, MARGIN = 24 };

/* The projection from lattice to picture: right and down in pixels, depth towards the eye. */
typedef struct view {
    /* Right, up, towards the eye. */
    double axes[3][3];
    double scale, right, up;
    double *depth; /* [HEIGHT][WIDTH] */
    kf_canvas canvas;
} view;

static void turn_usual(view *v) {
    const double yaw = -0.55, pitch = 0.42;
    const double axes[3][3] = {{cos(yaw), -sin(yaw), 0},
                               {sin(pitch) * sin(yaw), sin(pitch) * cos(yaw), cos(pitch)},
                               {-cos(pitch) * sin(yaw), -cos(pitch) * cos(yaw), sin(pitch)}};
    memcpy(v->axes, axes, sizeof axes);
}

/* Turns the view to look from there, with the stream from ahead. */
static void turn_to(view *v, const kf_scene *scene, const kf_viewpoint *from) {
    const double degree = acos(-1.0) / 180.0, beside = degree * (90.0 - from->azimuth),
                 above = degree * from->elevation;
    kf_flow_frame frame;
    double flow[3] = {0}, up[3] = {0}, *right = v->axes[0], *upward = v->axes[1], *near = v->axes[2];
    kf_flow_frame_of(scene, &frame);
    flow[frame.flow_axis] = frame.drag[frame.flow_axis] > 0 ? 1 : -1;
    up[frame.up_axis] = 1;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        const double side = flow[b] * up[c] - flow[c] * up[b];
        near[a] = cos(above) * (cos(beside) * side - sin(beside) * flow[a]) + sin(above) * up[a];
    }
    double length = 0.0;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        right[a] = up[b] * near[c] - up[c] * near[b];
        length += right[a] * right[a];
    }
    for (int a = 0; a < 3; a++)
        right[a] /= sqrt(length);
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        upward[a] = near[b] * right[c] - near[c] * right[b];
    }
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

/* Scales the view so that the box fills the picture but for some pixels at its right. */
static void fit(view *v, const view_box *box, double at_right) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    v->scale = 1.0;
    v->right = v->up = 0.0;
    for (int i = 0; i < 8; i++) {
        double point[3], seen[3];
        corner_of(box, i, point);
        project(v, point, seen);
        for (int axis = 0; axis < 2; axis++) {
            low[axis] = fmin(low[axis], seen[axis]);
            high[axis] = fmax(high[axis], seen[axis]);
        }
    }
    v->scale = fmin((WIDTH - 2.0 * MARGIN - at_right) / (high[0] - low[0]),
                    (HEIGHT - 2.0 * MARGIN) / (high[1] - low[1]));
    v->right = 0.5 * (low[0] + high[0]) - 0.5 * WIDTH + 0.5 * at_right / v->scale;
    v->up = 0.5 * HEIGHT - 0.5 * (low[1] + high[1]);
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

static void draw_box(view *v, const view_box *box, kf_colour colour) {
    for (int i = 0; i < 8; i++)
        for (int axis = 0; axis < 3; axis++) {
            if ((i >> axis & 1) != 0) continue;
            double from[3], to[3];
            corner_of(box, i, from);
            corner_of(box, i | 1 << axis, to);
            draw_line(v, from, to, colour, 0.8);
        }
}

/* Draws the boxes of nested grids. */
static void draw_levels(view *v, const kf_scene *scene) {
    const kf_colour red = {196, 60, 40};
    for (int l = 0; l < scene->finer_count; l++) {
        view_box box;
        for (int a = 0; a < 3; a++) {
            box.low[a] = ldexp(scene->boxes[l].low[a], -l) - 0.5;
            box.high[a] = ldexp(scene->boxes[l].high[a], -l) - 0.5;
        }
        draw_box(v, &box, red);
    }
}

/* Brightness by the angle between the face and the light, the same from both sides: not every mesh is
 * oriented.
 */
static double brightness(const double corners[3][3], const double light[3]) {
    double a[3], b[3], normal[3];
    for (int axis = 0; axis < 3; axis++) {
        a[axis] = corners[1][axis] - corners[0][axis];
        b[axis] = corners[2][axis] - corners[0][axis];
    }
    kf_cross(a, b, normal);
    const double length = kf_length(normal);
    return length > 0.0 ? fabs(kf_dot(normal, light)) / length : 0.0;
}

/* The colour of a triangle, or the values at its corners on the colour scale, 0 to 1. */
typedef struct paint {
    /* NULL: the colour is used. */
    const double *values;
    kf_colour colour;
    double bright;
} paint;

static kf_colour colour_at(const paint *p, double w1, double w2) {
    kf_colour c = p->colour;
    if (p->values != NULL)
        c = kf_colour_map((1.0 - w1 - w2) * p->values[0] + w1 * p->values[1] + w2 * p->values[2]);
    return (kf_colour){(unsigned char)(c.red * p->bright), (unsigned char)(c.green * p->bright),
                       (unsigned char)(c.blue * p->bright)};
}

/* Draws a triangle where it is nearest, with its colour interpolated between the corners. */
static void draw_triangle(view *v, const double corners[3][3], const paint *look) {
    double p[3][3];
    for (int i = 0; i < 3; i++)
        project(v, corners[i], p[i]);
    double area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
    if (fabs(area) < 1e-12) return;
    int left = (int)fmax(0, floor(fmin(p[0][0], fmin(p[1][0], p[2][0]))));
    int right = (int)fmin(WIDTH - 1, ceil(fmax(p[0][0], fmax(p[1][0], p[2][0]))));
    int top = (int)fmax(0, floor(fmin(p[0][1], fmin(p[1][1], p[2][1]))));
    int bottom = (int)fmin(HEIGHT - 1, ceil(fmax(p[0][1], fmax(p[1][1], p[2][1]))));
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            double w1 = ((x - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (y - p[0][1])) / area;
            double w2 = ((p[1][0] - p[0][0]) * (y - p[0][1]) - (x - p[0][0]) * (p[1][1] - p[0][1])) / area;
            if (w1 < -1e-9 || w2 < -1e-9 || w1 + w2 > 1.0 + 1e-9) continue;
            double depth = p[0][2] + w1 * (p[1][2] - p[0][2]) + w2 * (p[2][2] - p[0][2]);
            double *nearest = &v->depth[(size_t)y * WIDTH + (size_t)x];
            if (depth <= *nearest) continue;
            *nearest = depth;
            kf_canvas_blend(&v->canvas, x, y, colour_at(look, w1, w2), 1.0);
        }
}

static void draw_mesh(view *v, const kf_mesh *mesh) {
    const double light[3] = {-0.45, -0.60, 0.66};
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        double corners[3][3];
        for (int k = 0; k < 3; k++)
            memcpy(corners[k], mesh->vertices + 3 * (size_t)mesh->triangles[3 * i + (size_t)k],
                   sizeof corners[k]);
        const paint look = {.colour = {86, 150, 200}, .bright = 0.35 + 0.65 * brightness(corners, light)};
        draw_triangle(v, corners, &look);
    }
}

/* Returns the solid's box with a margin of its own length around it. Its bottom does not move. */
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

/* Draws an arrow in the direction of the wind, on the floor before the solid. */
static void draw_wind(view *v, const kf_scene *scene, const view_box *box) {
    const kf_colour blue = {31, 90, 180};
    const double *wind = scene->initial_velocity;
    const double speed = kf_length(wind);
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

static view *open_view(void) {
    view *v = kf_allocate_zeroed(1, sizeof *v);
    v->depth = kf_allocate((size_t)WIDTH * HEIGHT * sizeof *v->depth);
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
        v->depth[i] = -INFINITY;
    kf_canvas_begin(&v->canvas, WIDTH, HEIGHT, (kf_colour){255, 255, 255});
    return v;
}

static kf_status close_view(view *v, const char *path, kf_error *error) {
    const kf_status status = kf_canvas_write_png(&v->canvas, path, error);
    kf_canvas_free(&v->canvas);
    free(v->depth);
    free(v);
    return status;
}

/* Writes the name of the scene and the sizes in metres of the solid and the domain. When only a part of the
 * domain is drawn, another line gives the size of that part. The widest numbers fit in the bitmap font. */
static void name_scene(view *v, const kf_scene *scene, const view_box *box) {
    enum { LINE = 23 };
    const kf_colour black = {25, 25, 25};
    const double h = scene->cell_size, speed = kf_length(scene->initial_velocity) * h / scene->time_step;
    double solid[3], room[3], whole[3];
    bool part = false;
    for (int a = 0; a < 3; a++) {
        solid[a] = (scene->solid_high[a] - scene->solid_low[a]) * h;
        room[a] = (box->high[a] - box->low[a]) * h;
        whole[a] = scene->nodes[a] * h;
        part = part || room[a] < 0.999 * whole[a];
    }
    int y = HEIGHT - (part ? 3 : 2) * LINE - 8;
    char text[160];
    int used = snprintf(text, sizeof text, "%.40s", scene->name);
    if (speed > 0.0) used += snprintf(text + used, sizeof text - (size_t)used, "   flow of %.4g m/s", speed);
    if (scene->reynolds > 0.0)
        (void)snprintf(text + used, sizeof text - (size_t)used, "   Re = %.6g", scene->reynolds);
    kf_canvas_text(&v->canvas, MARGIN, y, 2, black, text);
    used = 0;
    if (scene->mesh.triangle_count > 0)
        used = snprintf(text, sizeof text, "solid %.4g x %.4g x %.4g m in a ", solid[0], solid[1], solid[2]);
    (void)snprintf(text + used, sizeof text - (size_t)used, "domain of %.4g x %.4g x %.4g m", whole[0],
                   whole[1], whole[2]);
    kf_canvas_text(&v->canvas, MARGIN, y += LINE, 2, black, text);
    if (!part) return;
    (void)snprintf(text, sizeof text, "of which %.4g x %.4g x %.4g m are shown", room[0], room[1], room[2]);
    kf_canvas_text(&v->canvas, MARGIN, y + LINE, 2, black, text);
}

/* Draws the box of the domain, or of the solid's surroundings, the boxes of nested grids, and the mesh. */
kf_status kf_scene_view_write(const kf_scene *scene, bool close, const char *path, kf_error *error) {
    view *v = open_view();
    const kf_colour grey = {140, 149, 159};
    view_box box = close_box(scene);
    for (int a = 0; a < 3 && (!close || scene->finer_count > 0); a++) {
        box.low[a] = -0.5;
        box.high[a] = scene->nodes[a] - 0.5;
    }
    turn_usual(v);
    fit(v, &box, 0.0);
    draw_box(v, &box, grey);
    draw_levels(v, scene);
    if (close) draw_wind(v, scene, &box);
    draw_mesh(v, &scene->mesh);
    name_scene(v, scene, &box);
    return close_view(v, path, error);
}

/* --- A surface ------------------------------------------------------------------------------------------ */

enum { SCALE_ROOM = 130, SCALE_WIDTH = 22, SCALE_TICKS = 5 };

/* Returns a round number that exceeds the magnitude of 98 of 100 values. */
static double usual_reach(const kf_quantity *quantity, size_t count) {
    double *sizes = kf_allocate((count + 1) * sizeof *sizes);
    for (size_t i = 0; i < count; i++)
        sizes[i] = fabs((double)quantity->values[i]);
    qsort(sizes, count, sizeof *sizes, kf_ascending);
    const double reach = count > 0 ? sizes[(size_t)(0.98 * (double)(count - 1))] : 0.0;
    free(sizes);
    return reach > 0.0 && isfinite(reach) ? kf_scale_top(reach) : 1.0;
}

static void draw_scale(view *v, const char *name, double low, double high) {
    const kf_colour black = {25, 25, 25};
    const int left = WIDTH - SCALE_ROOM, top = 3 * MARGIN, height = HEIGHT - 5 * MARGIN;
    char text[32];
    for (int y = 0; y < height; y++)
        kf_canvas_fill(&v->canvas, left, top + y, SCALE_WIDTH, 1, kf_colour_map((height - y - 0.5) / height));
    kf_canvas_frame(&v->canvas, left - 1, top - 1, SCALE_WIDTH + 2, height + 2, black);
    for (int tick = 0; tick < SCALE_TICKS; tick++) {
        const double share = (double)tick / (SCALE_TICKS - 1);
        (void)snprintf(text, sizeof text, "%.4g", low + share * (high - low));
        kf_canvas_text(&v->canvas, left + SCALE_WIDTH + 8, top + (int)lround((1.0 - share) * height) - 6, 2,
                       black, text);
    }
    kf_canvas_text(&v->canvas, left - 10, top - 30, 2, black, name);
}

/* Draws the title: scene, step, time, Reynolds number. */
static void draw_title(view *v, const kf_scene *scene, const kf_snapshot *surface) {
    char text[160];
    const int used = snprintf(text, sizeof text, "%.48s  step %llu  t = %.4g s", scene->name,
                              (unsigned long long)surface->step, surface->time);
    if (scene->reynolds > 0.0)
        (void)snprintf(text + used, sizeof text - (size_t)used, "  Re = %.6g", scene->reynolds);
    kf_canvas_text(&v->canvas, MARGIN, 14, 2, (kf_colour){25, 25, 25}, text);
}

static void corner_in_cells(const kf_scene *scene, const float *position, double place[3]) {
    for (int a = 0; a < 3; a++)
        place[a] = (double)position[a] / scene->cell_size - 0.5;
}

static void draw_surface(view *v, const kf_scene *scene, const kf_snapshot *surface, const float *values,
                         double low, double high) {
    const float *positions = kf_snapshot_find(surface, "position")->values;
    const double *near = v->axes[2];
    for (size_t t = 0; t < surface->triangle_count; t++) {
        double corners[3][3], shares[3];
        for (size_t k = 0; k < 3; k++) {
            const size_t vertex = surface->triangles[3 * t + k];
            corner_in_cells(scene, positions + 3 * vertex, corners[k]);
            shares[k] = ((double)values[vertex] - low) / (high - low);
        }
        const paint look = {.values = shares, .bright = 0.6 + 0.4 * brightness(corners, near)};
        draw_triangle(v, corners, &look);
    }
}

const char *const kf_surface_kinds[KF_SURFACE_KINDS] = {"surface", "y_plus"};

/* Returns the quantity by which a surface is coloured, and its name in the picture. */
static const kf_quantity *find_colours(const kf_snapshot *surface, kf_surface_kind kind, const char **name) {
    const kf_quantity *cp = kf_snapshot_find(surface, "pressure_coefficient");
    *name = kind == KF_SURFACE_Y_PLUS ? "y+" : cp != NULL ? "pressure, Cp" : "pressure, m²/s²";
    if (kind == KF_SURFACE_Y_PLUS) return kf_snapshot_find(surface, "y_plus");
    return cp != NULL ? cp : kf_snapshot_find(surface, "kinematic_pressure");
}

kf_status kf_surface_view_write(const kf_scene *scene, const kf_snapshot *surface, kf_surface_kind kind,
                                const kf_viewpoint *from, double low, double high, const char *path,
                                kf_error *error) {
    const char *name;
    const kf_quantity *colours = find_colours(surface, kind, &name),
                      *position = kf_snapshot_find(surface, "position");
    view_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t i = 0; i < surface->count; i++) {
        double place[3];
        corner_in_cells(scene, position->values + 3 * i, place);
        for (int a = 0; a < 3; a++) {
            box.low[a] = fmin(box.low[a], place[a]);
            box.high[a] = fmax(box.high[a], place[a]);
        }
    }
    if (low >= high) {
        high = usual_reach(colours, surface->count);
        low = kind == KF_SURFACE_Y_PLUS ? 0.0 : -high;
    }
    view *v = open_view();
    turn_to(v, scene, from);
    fit(v, &box, SCALE_ROOM);
    /* The scale keeps its space. */
    v->right -= 0.5 * SCALE_ROOM / v->scale * (1.0 - 1.0 / from->zoom);
    v->scale *= from->zoom;
    draw_surface(v, scene, surface, colours->values, low, high);
    draw_title(v, scene, surface);
    draw_scale(v, name, low, high);
    return close_view(v, path, error);
}
