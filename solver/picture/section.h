/* The cut of a plane through the scene's solid, for its cross-section in pictures. */
#ifndef KF_SOLVER_PICTURE_SECTION_H
#define KF_SOLVER_PICTURE_SECTION_H

#include "scene/scene.h"

/* A plane across one axis; two other axes point right and up. Lattice units. */
typedef struct kf_plane {
    int normal, right, up; /* axes 0, 1, 2, all different */
    double position;       /* along normal */
} kf_plane;

/* Directed segments. If the triangles are oriented consistently, the solid is always on the same side. */
typedef struct kf_section {
    size_t count;
    double (*ends)[4]; /* [count] right and up of the first end, then of the second; owned */
} kf_section;

/* Cuts the mesh, whose motion's centre is moved to `center` and which is turned by rotation (row-major 3x3),
 * and its images beyond periodic faces. Without a solid, or if the plane misses it, there are no segments. */
void kf_section_cut(const kf_scene *scene, const double rotation[9], const double center[3],
                    const kf_plane *plane, kf_section *section);
void kf_section_free(kf_section *section);

/* Sets inside[v * width + u] to 1 where pixel (u,v) lies in the solid. The pixel's centre is at low + (u +
 * 0.5, v + 0.5) / scale. Meshes with holes are tolerated: four views (from left, right, below, above) vote,
 * and three decide. */
void kf_section_fill(const kf_section *section, const double low[2], double scale, int width, int height,
                     unsigned char *inside);

/* Sets cover[v * width + u] to the share of the pixel, at most 1, that a line of line_width pixels covers. */
void kf_section_outline(const kf_section *section, const double low[2], double scale, int width, int height,
                        double line_width, float *cover);

#endif
