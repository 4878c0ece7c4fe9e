#include "solver/picture/section.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"

/* The coordinates of one posed vertex: right, up, and height above the plane. */
typedef struct view {
    double right, up, height;
} view;

static view see(const kf_scene *scene, const double rotation[9], const double center[3],
                const kf_plane *plane, uint32_t vertex) {
    const double *start = scene->mesh.vertices + 3 * (size_t)vertex;
    double placed[3];
    for (int row = 0; row < 3; row++) {
        placed[row] = center[row];
        for (int column = 0; column < 3; column++) {
            placed[row] += rotation[3 * row + column] * (start[column] - scene->motion.center[column]);
        }
    }
    return (view){placed[plane->right], placed[plane->up], placed[plane->normal] - plane->position};
}

static void cross(view from, view to, double point[2]) {
    double part = from.height / (from.height - to.height);
    point[0] = from.right + part * (to.right - from.right);
    point[1] = from.up + part * (to.up - from.up);
}

/* Cuts a triangle by the plane. A height of exactly 0 counts as above, so a crossing triangle always gives
 * exactly one segment. */
static bool cut_triangle(const view corners[3], double ends[4]) {
    int above = 0;
    for (int c = 0; c < 3; c++)
        above += corners[c].height >= 0;
    if (above == 0 || above == 3) return false;
    /* The corner that is alone on its side. */
    int lone = 0;
    while ((corners[lone].height >= 0) != (above == 1))
        lone++;
    const view *next = &corners[(lone + 1) % 3], *last = &corners[(lone + 2) % 3];
    bool forward = above == 1;
    cross(corners[lone], *next, forward ? ends : ends + 2);
    cross(corners[lone], *last, forward ? ends + 2 : ends);
    return true;
}

/* The range of a solid's images that touch the domain. Along periodic axes images are shifted by whole
 * domains. */
typedef struct image_range {
    int first[3], last[3];
} image_range;

/* Finds the images of the solid that lie at least partly within the domain, by the solid's bounding box. */
static image_range find_images(const kf_scene *scene, const double rotation[9], const double center[3]) {
    static const double TOUCHES = 1e-6;
    const kf_plane axes = {.right = 0, .up = 1, .normal = 2};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    image_range images = {{0}, {0}};
    for (size_t i = 0; i < 3 * scene->mesh.triangle_count; i++) {
        const view corner = see(scene, rotation, center, &axes, scene->mesh.triangles[i]);
        const double at[3] = {corner.right, corner.up, corner.height};
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], at[a]);
            high[a] = fmax(high[a], at[a]);
        }
    }
    for (int a = 0; a < 3; a++) {
        if (scene->faces[2 * a] != KF_PERIODIC || scene->mesh.triangle_count == 0) continue;
        images.first[a] = (int)ceil((TOUCHES - 0.5 - high[a]) / scene->nodes[a]);
        images.last[a] = (int)floor((scene->nodes[a] - 0.5 - TOUCHES - low[a]) / scene->nodes[a]);
    }
    return images;
}

static void cut_image(const kf_scene *scene, const double rotation[9], const double center[3],
                      const kf_plane *plane, size_t *capacity, kf_section *section) {
    for (size_t t = 0; t < scene->mesh.triangle_count; t++) {
        view corners[3];
        for (size_t c = 0; c < 3; c++) {
            corners[c] = see(scene, rotation, center, plane, scene->mesh.triangles[3 * t + c]);
        }
        double ends[4];
        if (!cut_triangle(corners, ends)) continue;
        if (section->count == *capacity) {
            *capacity = *capacity ? 2 * *capacity : 256;
            section->ends = kf_reallocate(section->ends, *capacity * sizeof *section->ends);
        }
        memcpy(section->ends[section->count++], ends, sizeof ends);
    }
}

void kf_section_cut(const kf_scene *scene, const double rotation[9], const double center[3],
                    const kf_plane *plane, kf_section *section) {
    const image_range images = find_images(scene, rotation, center);
    size_t capacity = 0;
    int k[3];
    *section = (kf_section){0};
    for (k[2] = images.first[2]; k[2] <= images.last[2]; k[2]++)
        for (k[1] = images.first[1]; k[1] <= images.last[1]; k[1]++)
            for (k[0] = images.first[0]; k[0] <= images.last[0]; k[0]++) {
                double there[3];
                for (int a = 0; a < 3; a++)
                    there[a] = center[a] + k[a] * scene->nodes[a];
                cut_image(scene, rotation, there, plane, &capacity, section);
            }
}

void kf_section_free(kf_section *section) {
    free(section->ends);
    *section = (kf_section){0};
}

/* Returns the first pixel whose centre lies at or beyond the position (in pixels), within [0, count]. */
static int first_beyond(double position, int count) {
    return (int)fmin(fmax(ceil(position - 0.5), 0), count);
}

/* Adds the crossings of one segment with the pixel lines of the direction `along`: windings[line][along + 1].
 */
static void add_crossings(const double pixels[4], int along, int line_count, int along_count, int *windings) {
    int across = 1 - along;
    double start = pixels[across], end = pixels[2 + across];
    int direction = start < end ? 1 : -1;
    int first = first_beyond(fmin(start, end), line_count),
        beyond = first_beyond(fmax(start, end), line_count);
    for (int line = first; line < beyond; line++) {
        double part = (line + 0.5 - start) / (end - start);
        double position = pixels[along] + part * (pixels[2 + along] - pixels[along]);
        windings[(size_t)line * ((size_t)along_count + 1) + (size_t)first_beyond(position, along_count)] +=
            direction;
    }
}

/* Gives each pixel one vote for each of the two directions along the line in which the winding number is not
 * zero. */
static void vote(const int *windings, int along, int width, int height, unsigned char *votes) {
    int line_count = along == 0 ? height : width, along_count = along == 0 ? width : height;
    for (int line = 0; line < line_count; line++) {
        const int *row = windings + (size_t)line * ((size_t)along_count + 1);
        int total = 0, before = 0;
        for (int i = 0; i <= along_count; i++)
            total += row[i];
        for (int i = 0; i < along_count; i++) {
            before += row[i];
            size_t u = (size_t)(along == 0 ? i : line), v = (size_t)(along == 0 ? line : i);
            votes[v * (size_t)width + u] =
                (unsigned char)(votes[v * (size_t)width + u] + (before != 0) + (total != before));
        }
    }
}

static void to_pixels(const double ends[4], const double low[2], double scale, double pixels[4]) {
    for (int i = 0; i < 4; i++)
        pixels[i] = (ends[i] - low[i % 2]) * scale;
}

void kf_section_fill(const kf_section *section, const double low[2], double scale, int width, int height,
                     unsigned char *inside) {
    size_t count = (size_t)width * (size_t)height;
    memset(inside, 0, count);
    for (int along = 0; along < 2; along++) {
        int line_count = along == 0 ? height : width, along_count = along == 0 ? width : height;
        int *windings = kf_allocate_zeroed((size_t)line_count * ((size_t)along_count + 1), sizeof *windings);
        for (size_t s = 0; s < section->count; s++) {
            double pixels[4];
            to_pixels(section->ends[s], low, scale, pixels);
            add_crossings(pixels, along, line_count, along_count, windings);
        }
        vote(windings, along, width, height, inside);
        free(windings);
    }
    for (size_t i = 0; i < count; i++)
        inside[i] = inside[i] >= 3;
}

static double distance_to_segment(double x, double y, const double pixels[4]) {
    double dx = pixels[2] - pixels[0], dy = pixels[3] - pixels[1];
    double length2 = dx * dx + dy * dy;
    double part = length2 > 0 ? ((x - pixels[0]) * dx + (y - pixels[1]) * dy) / length2 : 0;
    part = fmin(fmax(part, 0), 1);
    return hypot(x - pixels[0] - part * dx, y - pixels[1] - part * dy);
}

void kf_section_outline(const kf_section *section, const double low[2], double scale, int width, int height,
                        double line_width, float *cover) {
    memset(cover, 0, (size_t)width * (size_t)height * sizeof *cover);
    double reach = line_width / 2 + 1;
    for (size_t s = 0; s < section->count; s++) {
        double pixels[4];
        to_pixels(section->ends[s], low, scale, pixels);
        int u0 = first_beyond(fmin(pixels[0], pixels[2]) - reach, width);
        int u1 = first_beyond(fmax(pixels[0], pixels[2]) + reach, width);
        int v0 = first_beyond(fmin(pixels[1], pixels[3]) - reach, height);
        int v1 = first_beyond(fmax(pixels[1], pixels[3]) + reach, height);
        for (int v = v0; v < v1; v++) {
            for (int u = u0; u < u1; u++) {
                double share = line_width / 2 + 0.5 - distance_to_segment(u + 0.5, v + 0.5, pixels);
                float *pixel = &cover[(size_t)v * (size_t)width + (size_t)u];
                *pixel = fmaxf(*pixel, (float)fmin(share, 1));
            }
        }
    }
}
