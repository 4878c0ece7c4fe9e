/* The cut of the scene's solid with a plane, for drawing its cross-section. */
#ifndef KF_SOLVER_PICTURE_SECTION_H
#define KF_SOLVER_PICTURE_SECTION_H

#include "scene/scene.h"

/* A plane perpendicular to one axis, seen with two others pointing right and up. Lattice units. */
typedef struct kf_plane {
    int normal, right, up; /* axes 0, 1, 2, all different */
    double position;       /* along normal */
} kf_plane;

/* Directed segments: with consistently oriented triangles the solid lies always on the same side. */
typedef struct kf_section {
    size_t count;
    double (*ends)[4]; /* right and up of the first, then of the second end; owned */
} kf_section;

/* The mesh with its center0 (the motion's centre) at center, turned by rotation (row-major 3x3); no segments
 * when there is no solid or the plane misses it. */
void kf_section_cut(const kf_scene *scene, const double rotation[9], const double center[3],
                    const kf_plane *plane, kf_section *section);
void kf_section_free(kf_section *section);

/* Fills inside[v * width + u] = 1 where pixel (u,v) lies in the solid. Pixel (u,v) has its centre at low +
 * (u + 0.5, v + 0.5) / scale. Tolerates meshes with holes: four views (from left, right, below, above)
 * vote, three of them decide. */
void kf_section_fill(const kf_section *section, const double low[2], double scale, int width, int height,
                     unsigned char *inside);

/* Fills cover[v * width + u] with the share of a line of line_width pixels in the pixel, at most 1. */
void kf_section_outline(const kf_section *section, const double low[2], double scale, int width, int height,
                        double line_width, float *cover);

#endif
