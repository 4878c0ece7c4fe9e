#include "solver/picture/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/flow/flow_frame.h"
#include "solver/picture/canvas.h"

enum {
    LEFT = 84,
    RIGHT = 172,
    TOP = 76,
    BOTTOM = 64,
    LEAST_WIDTH = 900,
    PLOT_WIDTH = 1000,
    MOST_WIDTH = 1600,
    MOST_HEIGHT = 1200,
    LEAST_HEIGHT = 150,
    BAR_WIDTH = 22,
    TEXT_SCALE = 2,
    TICK = 6
};

const char *const kf_picture_fields[KF_PICTURE_FIELDS] = {"speed", "pressure", "vorticity"};

static const kf_colour white = {255, 255, 255}, black = {25, 25, 25}, grey = {110, 110, 110},
                       solid_grey = {205, 205, 208};

/* A picture of a slice and its parts. The slice covers plot_width x plot_height pixels from (left, top). */
typedef struct slice_picture {
    /* The scene on the grid of the snapshot. */
    const kf_scene *scene;
    /* The scene with the boxes of nested grids. */
    const kf_scene *whole;
    kf_plane plane;
    /* The number of nodes to the right and upwards. */
    int nodes[2];
    /* [up][right], in the field's unit; owned. */
    float *values;
    /* The title of the scale: "speed, m/s". */
    char name[48];
    /* The range of the colours. */
    double bottom, most;
    /* The range of the values. */
    double least, highest;
    /* Pixels per cell. */
    double scale;
    int left, top, plot_width, plot_height;
    kf_canvas canvas;
} slice_picture;

/* Chooses the plane of a slice: as the user says, else along flow and height, through the middle of the
 * solid or of the domain. */
void kf_picture_plane(const kf_scene *scene, const kf_picture_view *view, kf_plane *plane) {
    kf_flow_frame frame;
    int normal = view->normal;
    kf_flow_frame_of(scene, &frame);
    if (normal == KF_AXIS_AUTO) {
        normal = 3 - frame.flow_axis - frame.up_axis;
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            if (4L * scene->nodes[a] <= scene->nodes[b] && 4L * scene->nodes[a] <= scene->nodes[c])
                normal = a;
        }
    }
    int first = normal == 0 ? 1 : 0, second = 3 - normal - first;
    bool turned = second == frame.flow_axis || first == frame.up_axis;
    bool solid = scene->mesh.triangle_count > 0;
    double middle =
        solid ? (scene->solid_low[normal] + scene->solid_high[normal]) / 2 : (scene->nodes[normal] - 1) / 2.0;
    if (view->placed) middle = view->position / scene->cell_size - 0.5;
    *plane = (kf_plane){.normal = normal, .right = turned ? second : first, .up = turned ? first : second};
    plane->position = fmin(fmax(round(middle), 0), scene->nodes[normal] - 1);
}

/* Returns the index in the snapshot of a node of the slice. */
static size_t node_of(const slice_picture *slice, int right, int up) {
    const int *n = slice->scene->nodes;
    int at[3];
    at[slice->plane.normal] = (int)slice->plane.position;
    at[slice->plane.right] = right;
    at[slice->plane.up] = up;
    return ((size_t)at[2] * (size_t)n[1] + (size_t)at[1]) * (size_t)n[0] + (size_t)at[0];
}

static double speed_of(const float *velocity) {
    const double x = velocity[0], y = velocity[1], z = velocity[2];
    return sqrt(x * x + y * y + z * z);
}

/* Returns d component / d (axis 0: right, 1: up) in 1/s: central, one-sided at edges that are not periodic.
 */
static double slope(const slice_picture *slice, const float *velocity, const int at[2], int component,
                    int axis) {
    const int last = slice->nodes[axis] - 1, along = axis == 0 ? slice->plane.right : slice->plane.up;
    const bool wraps = slice->scene->faces[2 * along] == KF_PERIODIC;
    int low[2] = {at[0], at[1]}, high[2] = {at[0], at[1]};
    low[axis] = at[axis] > 0 ? at[axis] - 1 : wraps ? last : 0;
    high[axis] = at[axis] < last ? at[axis] + 1 : wraps ? 0 : last;
    const double distance = (wraps ? 2 : high[axis] - low[axis]) * slice->scene->cell_size;
    if (distance == 0.0) return 0.0;
    const double above = velocity[3 * node_of(slice, high[0], high[1]) + (size_t)component],
                 below = velocity[3 * node_of(slice, low[0], low[1]) + (size_t)component];
    return (above - below) / distance;
}

static double turning(const slice_picture *slice, const float *velocity, const int at[2]) {
    return slope(slice, velocity, at, slice->plane.up, 0) - slope(slice, velocity, at, slice->plane.right, 1);
}

static kf_status read_values(slice_picture *slice, const kf_snapshot *snapshot, kf_picture_field field,
                             kf_error *error) {
    const kf_quantity *quantity = kf_snapshot_find(snapshot, "velocity");
    if (field == KF_PICTURE_PRESSURE) {
        quantity = kf_snapshot_find(snapshot, "pressure_coefficient");
        if (quantity == NULL) quantity = kf_snapshot_find(snapshot, "kinematic_pressure");
    }
    if (quantity == NULL)
        return kf_fail(error, KF_BAD_INPUT, "the flow has no %s to draw", kf_picture_fields[field]);
    if (field == KF_PICTURE_PRESSURE)
        (void)snprintf(slice->name, sizeof slice->name, "%s",
                       strcmp(quantity->name, "pressure_coefficient") == 0 ? "pressure, Cp"
                                                                           : "pressure, m²/s²");
    else
        (void)snprintf(slice->name, sizeof slice->name,
                       field == KF_PICTURE_SPEED ? "speed, m/s" : "vorticity, 1/s");
    for (int v = 0; v < slice->nodes[1]; v++)
        for (int u = 0; u < slice->nodes[0]; u++) {
            const size_t node = node_of(slice, u, v);
            const double value = field == KF_PICTURE_SPEED ? speed_of(quantity->values + 3 * node)
                                 : field == KF_PICTURE_PRESSURE
                                     ? (double)quantity->values[node]
                                     : turning(slice, quantity->values, (const int[2]){u, v});
            slice->values[(size_t)v * (size_t)slice->nodes[0] + (size_t)u] = (float)value;
        }
    return KF_OK;
}

static int compare_floats(const void *left, const void *right) {
    float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

/* Chooses the colour scale. All but two in a thousand nodes lie within it, so one spike does not darken the
 * picture. The scale of the speed begins at 0. Signed values get a symmetric scale. */
static void choose_scale(slice_picture *slice, const kf_picture_view *view) {
    const size_t count = (size_t)slice->nodes[0] * (size_t)slice->nodes[1];
    float *sorted = kf_allocate(count * sizeof *sorted);
    memcpy(sorted, slice->values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_floats);
    slice->least = sorted[0];
    slice->highest = sorted[count - 1];
    const double low = sorted[(size_t)(0.002 * (double)(count - 1))],
                 high = sorted[(size_t)(0.998 * (double)(count - 1))];
    free(sorted);
    const bool has_sign = view->field != KF_PICTURE_SPEED || view->minus != NULL;
    double most = has_sign ? fmax(fabs(low), fabs(high)) : high;
    if (!(most > 0)) most = slice->highest;
    slice->most = most > 0 && isfinite(most) ? kf_scale_top(most) : 1;
    slice->bottom = has_sign ? -slice->most : 0.0;
    if (!view->ranged) return;
    slice->bottom = view->low;
    slice->most = view->high;
}

static kf_colour colour_of(const slice_picture *slice, double value) {
    return kf_colour_map((value - slice->bottom) / (slice->most - slice->bottom));
}

static void lay_out(slice_picture *slice) {
    double across = slice->nodes[0], up = slice->nodes[1];
    double width = across <= PLOT_WIDTH ? PLOT_WIDTH : fmin(across, MOST_WIDTH);
    slice->scale = fmin(width / across, MOST_HEIGHT / up);
    slice->plot_width = (int)fmax(1, round(across * slice->scale));
    slice->plot_height = (int)fmax(1, round(up * slice->scale));
    int canvas_width = slice->plot_width + LEFT + RIGHT;
    int band = slice->plot_height > LEAST_HEIGHT ? slice->plot_height : LEAST_HEIGHT;
    if (canvas_width < LEAST_WIDTH) canvas_width = LEAST_WIDTH;
    slice->left = LEFT + (canvas_width - LEFT - RIGHT - slice->plot_width) / 2;
    slice->top = TOP + (band - slice->plot_height) / 2;
    kf_canvas_begin(&slice->canvas, canvas_width, TOP + band + BOTTOM, white);
}

/* Interpolates linearly between the nodes. In the half cell beyond the outermost nodes the value is constant.
 */
static double value_at(const slice_picture *slice, double right, double up) {
    double u = fmin(fmax(right, 0), slice->nodes[0] - 1), v = fmin(fmax(up, 0), slice->nodes[1] - 1);
    int u0 = (int)u, v0 = (int)v;
    int u1 = u0 + 1 < slice->nodes[0] ? u0 + 1 : u0, v1 = v0 + 1 < slice->nodes[1] ? v0 + 1 : v0;
    const float *low = slice->values + (size_t)v0 * (size_t)slice->nodes[0];
    const float *high = slice->values + (size_t)v1 * (size_t)slice->nodes[0];
    double below = low[u0] + (u - u0) * (low[u1] - low[u0]),
           above = high[u0] + (u - u0) * (high[u1] - high[u0]);
    return below + (v - v0) * (above - below);
}

static void draw_flow(slice_picture *slice) {
    for (int y = 0; y < slice->plot_height; y++) {
        double up = (slice->plot_height - y - 0.5) / slice->scale - 0.5;
        for (int x = 0; x < slice->plot_width; x++) {
            const double value = value_at(slice, (x + 0.5) / slice->scale - 0.5, up);
            kf_canvas_blend(&slice->canvas, slice->left + x, slice->top + y, colour_of(slice, value), 1);
        }
    }
}

/* Finds where the solid is after so many steps, and in the lattice, of the coarsest grid, in that of the
 * picture. */
static void find_pose(const kf_scene *scene, const kf_solid_pose *free, double step, kf_solid_pose *pose) {
    if (free == NULL) {
        kf_motion_pose(&scene->motion, ldexp(step, scene->level), pose->rotation, pose->center);
        return;
    }
    *pose = *free;
    kf_scene_place_on_level(scene, free->center, pose->center);
}

/* Pixels at the edge of a region, by what they come to. */
typedef struct region_edge {
    /* The number of pixel edges at the solid's outline (or the picture's end), and of those at nothing. */
    size_t drawn, open;
} region_edge;

/* Walks the region of inside pixels without outline, from one of them. With `remove` it clears its pixels.
 * stack: space for all pixels. marks: 1 for the pixels visited before. */
static region_edge walk_region(unsigned char *inside, const float *cover, unsigned char *marks, int width,
                               int height, size_t from, size_t *stack, bool remove) {
    region_edge edge = {0, 0};
    const unsigned char visited = remove ? 2 : 1;
    size_t depth = 1;
    stack[0] = from;
    marks[from] = visited;
    while (depth > 0) {
        const size_t pixel = stack[--depth];
        const int u = (int)(pixel % (size_t)width), v = (int)(pixel / (size_t)width);
        if (remove) inside[pixel] = 0;
        for (int side = 0; side < 4; side++) {
            const int next_u = u + (side == 0) - (side == 1), next_v = v + (side == 2) - (side == 3);
            const size_t next = (size_t)next_v * (size_t)width + (size_t)next_u;
            const bool beyond = next_u < 0 || next_v < 0 || next_u >= width || next_v >= height;
            if (beyond || cover[next] > 0) {
                edge.drawn++;
            } else if (marks[next] == visited) {
                continue;
            } else if (marks[next] + 1 == visited && inside[next]) {
                marks[next] = visited;
                stack[depth++] = next;
            } else {
                edge.open++;
            }
        }
    }
    return edge;
}

/* Removes regions that the surface surrounds only in part. Where a surface is open, the rays that decide what
 * lies inside are wrong and leave such regions. */
static void drop_open_regions(unsigned char *inside, const float *cover, int width, int height) {
    static const double MOST_OPEN = 0.2;
    const size_t count = (size_t)width * (size_t)height;
    unsigned char *marks = kf_allocate_zeroed(count, 1);
    size_t *stack = kf_allocate(count * sizeof *stack);
    for (size_t pixel = 0; pixel < count; pixel++) {
        if (!inside[pixel] || cover[pixel] > 0 || marks[pixel] != 0) continue;
        const region_edge edge = walk_region(inside, cover, marks, width, height, pixel, stack, false);
        if ((double)edge.open > MOST_OPEN * (double)(edge.open + edge.drawn))
            (void)walk_region(inside, cover, marks, width, height, pixel, stack, true);
    }
    free(stack);
    free(marks);
}

/* Draws the solid's section into the slice: filled where it is closed, with its outline. */
static void draw_solid(slice_picture *slice, const kf_solid_pose *pose, double step) {
    kf_section section;
    const kf_scene *placed = kf_scene_placed(slice->scene, step);
    kf_section_cut(placed, pose->rotation, pose->center, &slice->plane, &section);
    kf_scene_free_placed(slice->scene, placed);
    const double low[2] = {-0.5, -0.5};
    int width = slice->plot_width, height = slice->plot_height;
    size_t count = (size_t)width * (size_t)height;
    unsigned char *inside = kf_allocate(count);
    float *cover = kf_allocate(count * sizeof *cover);
    kf_section_fill(&section, low, slice->scale, width, height, inside);
    kf_section_outline(&section, low, slice->scale, width, height, 1.6, cover);
    drop_open_regions(inside, cover, width, height);
    for (int v = 0; v < height; v++) {
        int y = slice->top + height - 1 - v;
        for (int u = 0; u < width; u++) {
            size_t pixel = (size_t)v * (size_t)width + (size_t)u;
            if (inside[pixel]) kf_canvas_blend(&slice->canvas, slice->left + u, y, solid_grey, 1);
            if (cover[pixel] > 0) kf_canvas_blend(&slice->canvas, slice->left + u, y, black, cover[pixel]);
        }
    }
    free(cover);
    free(inside);
    kf_section_free(&section);
}

/* Draws the solid nodes of a two-dimensional scene's mask as squares. */
static void draw_mask(slice_picture *slice) {
    const kf_scene *scene = slice->scene;
    if (scene->mask == NULL || slice->plane.normal != 2) return;
    for (int y = 0; y < slice->plot_height; y++)
        for (int x = 0; x < slice->plot_width; x++) {
            int at[2], right = (int)((x + 0.5) / slice->scale),
                       up = (int)((slice->plot_height - y - 0.5) / slice->scale);
            at[slice->plane.right] = right < slice->nodes[0] ? right : slice->nodes[0] - 1;
            at[slice->plane.up] = up < slice->nodes[1] ? up : slice->nodes[1] - 1;
            if (scene->mask[(size_t)at[1] * (size_t)scene->nodes[0] + (size_t)at[0]] == KF_NODE_SOLID)
                kf_canvas_blend(&slice->canvas, slice->left + x, slice->top + y, solid_grey, 1);
        }
}

/* Draws the boxes of nested grids that the slice cuts. */
static void draw_boxes(slice_picture *slice) {
    const kf_scene *whole = slice->whole;
    const int across[3] = {slice->plane.right, slice->plane.up, slice->plane.normal};
    for (int l = 0; l < whole->finer_count; l++) {
        /* In cells of the picture, from the domain's corner. */
        double low[3], high[3];
        for (int k = 0; k < 3; k++) {
            const double cells = (double)slice->scene->nodes[across[k]] / (whole->nodes[across[k]] << l);
            low[k] = whole->boxes[l].low[across[k]] * cells;
            high[k] = whole->boxes[l].high[across[k]] * cells;
        }
        if (slice->plane.position + 0.5 < low[2] || slice->plane.position + 0.5 > high[2]) continue;
        const int left = slice->left + (int)lround(low[0] * slice->scale),
                  right = slice->left + (int)lround(high[0] * slice->scale),
                  top = slice->top + slice->plot_height - (int)lround(high[1] * slice->scale),
                  bottom = slice->top + slice->plot_height - (int)lround(low[1] * slice->scale);
        kf_canvas_frame(&slice->canvas, left, top, right - left, bottom - top, white);
    }
}

/* Returns 1, 2 or 5 times a power of ten, for at most most_ticks ticks over range. */
static double tick_step(double range, int most_ticks) {
    double least = range / most_ticks, power = pow(10, floor(log10(least)));
    if (least <= power) return power;
    if (least <= 2 * power) return 2 * power;
    return least <= 5 * power ? 5 * power : 10 * power;
}

static void tick_label(double value, double step, char text[32]) {
    int exponent = (int)floor(log10(step) + 1e-9);
    if (exponent < -4 || exponent > 4) {
        snprintf(text, 32, "%.3g", fabs(value) < step / 2 ? 0 : value);
    } else {
        snprintf(text, 32, "%.*f", exponent < 0 ? -exponent : 0, value);
    }
}

/* Draws the axis to the right, in metres. */
static void draw_right_axis(slice_picture *slice) {
    kf_canvas *canvas = &slice->canvas;
    double metres = slice->nodes[0] * slice->scene->cell_size,
           step = tick_step(metres, slice->plot_width / 90 + 1);
    int bottom = slice->top + slice->plot_height;
    char text[32];
    for (int i = 0; i * step <= metres * (1 + 1e-9); i++) {
        int x = slice->left + (int)lround(i * step / metres * (slice->plot_width - 1));
        tick_label(i * step, step, text);
        kf_canvas_fill(canvas, x, bottom, 1, TICK, black);
        kf_canvas_text(canvas, x - kf_text_width(text, TEXT_SCALE) / 2, bottom + TICK + 5, TEXT_SCALE, black,
                       text);
    }
    snprintf(text, sizeof text, "%c, m", 'x' + slice->plane.right);
    int x = slice->left + (slice->plot_width - kf_text_width(text, TEXT_SCALE)) / 2;
    kf_canvas_text(canvas, x, bottom + TICK + 28, TEXT_SCALE, black, text);
}

/* Draws the axis upwards, in metres. */
static void draw_up_axis(slice_picture *slice) {
    kf_canvas *canvas = &slice->canvas;
    double metres = slice->nodes[1] * slice->scene->cell_size,
           step = tick_step(metres, slice->plot_height / 50 + 1);
    char text[32];
    for (int i = 0; i * step <= metres * (1 + 1e-9); i++) {
        int y =
            slice->top + slice->plot_height - 1 - (int)lround(i * step / metres * (slice->plot_height - 1));
        tick_label(i * step, step, text);
        kf_canvas_fill(canvas, slice->left - TICK, y, TICK, 1, black);
        kf_canvas_text(canvas, slice->left - TICK - 5 - kf_text_width(text, TEXT_SCALE), y - 6, TEXT_SCALE,
                       black, text);
    }
    snprintf(text, sizeof text, "%c, m", 'x' + slice->plane.up);
    kf_canvas_text(canvas, slice->left - TICK - 5 - kf_text_width(text, TEXT_SCALE), slice->top - 26,
                   TEXT_SCALE, black, text);
}

/* Draws the scale of colours. Arrowheads show that some nodes lie beyond it. */
static void draw_bar(slice_picture *slice) {
    kf_canvas *canvas = &slice->canvas;
    int height = canvas->height - TOP - BOTTOM, x = slice->left + slice->plot_width + 28;
    for (int y = 0; y < height; y++) {
        kf_canvas_fill(canvas, x, TOP + y, BAR_WIDTH, 1, kf_colour_map((height - y - 0.5) / height));
    }
    kf_canvas_frame(canvas, x - 1, TOP - 1, BAR_WIDTH + 2, height + 2, black);
    /* Arrowheads say that some nodes are beyond what the scale shows. */
    for (int row = 0; slice->highest > slice->most && row < BAR_WIDTH / 2; row++) {
        kf_canvas_fill(canvas, x + row, TOP - 2 - row, BAR_WIDTH - 2 * row, 1, kf_colour_map(1));
    }
    for (int row = 0; slice->least < slice->bottom && row < BAR_WIDTH / 2; row++) {
        kf_canvas_fill(canvas, x + row, TOP + height + 1 + row, BAR_WIDTH - 2 * row, 1, kf_colour_map(0));
    }
    const double range = slice->most - slice->bottom, step = tick_step(range, height / 50 + 1);
    char text[32];
    const double first = ceil(slice->bottom / step - 1e-9);
    for (int i = 0; (first + i) * step <= slice->most + 1e-9 * range; i++) {
        const double tick = (first + i) * step;
        int y = TOP + height - 1 - (int)lround((tick - slice->bottom) / range * (height - 1));
        tick_label(tick, step, text);
        kf_canvas_fill(canvas, x + BAR_WIDTH + 1, y, TICK, 1, black);
        kf_canvas_text(canvas, x + BAR_WIDTH + TICK + 6, y - 6, TEXT_SCALE, black, text);
    }
    kf_canvas_text(canvas, x, TOP - 32, TEXT_SCALE, black, slice->name);
}

/* Draws the title: scene, size, step, time, place of the slice, Reynolds number. */
static void draw_title(slice_picture *slice, uint64_t step, const kf_picture_view *view) {
    const kf_scene *scene = slice->whole;
    char text[192], name[33], grid[KF_GRID_TEXT], levels[32] = "";
    if (scene->finer_count > 0) (void)snprintf(levels, sizeof levels, " + %d finer", scene->finer_count);
    const char *caption = view->caption != NULL ? view->caption : scene->name;
    kf_copy_text(name, sizeof name, caption);
    /* The caption is cut. */
    if (strlen(caption) >= sizeof name) memcpy(name + sizeof name - 3, "..", 3);
    snprintf(text, sizeof text, "%s  %s%s  %sstep %" PRIu64 "  t = %.4g s", name,
             kf_grid_text(scene->nodes, grid), levels, view->mean ? "mean until " : "", step,
             (double)step * scene->time_step);
    kf_canvas_text(&slice->canvas, slice->left, 14, TEXT_SCALE, black, text);
    double metres = (slice->plane.position + 0.5) * slice->scene->cell_size;
    /* A flat scene has only one plane. */
    const bool flat = scene->nodes[2] == 1;
    int used = 0;
    text[0] = '\0';
    if (!flat)
        used = snprintf(text, sizeof text, "slice at %c = %.4g m   ", 'x' + slice->plane.normal, metres);
    if (scene->reynolds > 0) snprintf(text + used, sizeof text - (size_t)used, "Re = %.6g", scene->reynolds);
    kf_canvas_text(&slice->canvas, slice->left + 60, slice->top < TOP + 20 ? 44 : slice->top - 30, TEXT_SCALE,
                   grey, text);
}

/* Reads the values of a view, or how far they are above those of another snapshot. */
static kf_status read_view(slice_picture *slice, const kf_scene *scene, const kf_snapshot *snapshot,
                           const kf_picture_view *view, kf_error *error) {
    slice->whole = scene;
    slice->scene = scene = kf_scene_of_outputs(scene);
    kf_picture_plane(scene, view, &slice->plane);
    slice->nodes[0] = scene->nodes[slice->plane.right];
    slice->nodes[1] = scene->nodes[slice->plane.up];
    const size_t count = (size_t)slice->nodes[0] * (size_t)slice->nodes[1];
    slice->values = kf_allocate(count * sizeof *slice->values);
    kf_status status = read_values(slice, snapshot, view->field, error);
    if (status == KF_OK && view->minus != NULL) {
        float *above = slice->values;
        slice->values = kf_allocate(count * sizeof *slice->values);
        status = read_values(slice, view->minus, view->field, error);
        for (size_t i = 0; i < count && status == KF_OK; i++)
            slice->values[i] = above[i] - slice->values[i];
        free(above);
    }
    if (status == KF_OK) choose_scale(slice, view);
    return status;
}

kf_status kf_picture_range(const kf_scene *scene, const kf_snapshot *snapshot, const kf_picture_view *view,
                           double *low, double *high, kf_error *error) {
    slice_picture slice = {.nodes = {0, 0}};
    const kf_status status = read_view(&slice, scene, snapshot, view, error);
    *low = slice.bottom;
    *high = slice.most;
    free(slice.values);
    return status;
}

kf_status kf_picture_write(const char *path, const kf_scene *scene, const kf_snapshot *snapshot,
                           const kf_solid_pose *free_pose, const kf_picture_view *view, kf_error *error) {
    slice_picture slice = {.nodes = {0, 0}};
    kf_status status = read_view(&slice, scene, snapshot, view, error);
    if (status != KF_OK) {
        free(slice.values);
        return status;
    }
    lay_out(&slice);
    draw_flow(&slice);
    kf_solid_pose pose;
    find_pose(slice.scene, free_pose, (double)snapshot->step, &pose);
    draw_solid(&slice, &pose, (double)snapshot->step);
    draw_mask(&slice);
    draw_boxes(&slice);
    kf_canvas_frame(&slice.canvas, slice.left - 1, slice.top - 1, slice.plot_width + 2, slice.plot_height + 2,
                    black);
    draw_right_axis(&slice);
    draw_up_axis(&slice);
    draw_bar(&slice);
    draw_title(&slice, snapshot->step, view);
    status = kf_canvas_write_png(&slice.canvas, path, error);
    kf_canvas_free(&slice.canvas);
    free(slice.values);
    return status;
}

kf_status kf_picture_of_plan(const char *path, kf_plan *plan, const kf_snapshot *snapshot,
                             const kf_picture_view *view, kf_error *error) {
    kf_solid_pose pose;
    const bool free_solid = kf_plan_scene(plan)->motion.free;
    if (free_solid) KF_TRY(plan->methods->flow->pose(plan, &pose, error));
    return kf_picture_write(path, kf_plan_scene(plan), snapshot, free_solid ? &pose : NULL, view, error);
}
