/* Probes: points, lines and cuts along the solid's surface where a run records velocity and pressure over
 * time. */
#ifndef KF_SCENE_PROBES_H
#define KF_SCENE_PROBES_H

#include "scene/scene.h"

enum { KF_PROBE_NAME = 24, KF_PROBES = 16, KF_PROBE_POINTS = 2000 };

/* The frame of reference of places, in metres from the domain's lower corner. */
typedef struct kf_probe_frame {
    int nodes[3];
    double cell_size;      /* m */
    double length;         /* metres of 1L; 0: places cannot be given in L */
    double origin[3];      /* the point from which lengths in L are counted: the middle of the solid's box */
    int across;            /* default axis across which a cut is made */
    const kf_scene *scene; /* NULL: there is no solid whose surface could be cut */
} kf_probe_frame;

/* Sets a flow's frame, with y as `across`. */
void kf_probe_frame_of(const kf_scene *scene, kf_probe_frame *frame);

typedef enum kf_probe_kind { KF_PROBE_POINT, KF_PROBE_LINE, KF_PROBE_SURFACE } kf_probe_kind;

typedef struct kf_probe {
    char name[KF_PROBE_NAME];
    kf_probe_kind kind;
    size_t count, room;
    double (*points)[3]; /* [count], m, at step 0; owned */
    /* [count] unit normals that point out of the solid, for surfaces; otherwise NULL; owned. */
    double (*normals)[3];
} kf_probe;

/* The names and places of probes as they stand in a scene's file. */
typedef struct kf_probe_texts {
    int count;
    struct {
        char name[KF_PROBE_NAME], text[128];
    } list[KF_PROBES];
} kf_probe_texts;
/* Reads the object "probes" of a scene's file. Places are checked later, by kf_probe_read. */
kf_status kf_probes_of_file(const char *file, const cJSON *root, kf_probe_texts *texts, kf_error *error);

/* Reads the place of a probe; docs/run.md describes the syntax. "2L,0,0.5L" is a point. A coordinate is in
 * metres (m) or cells (c) from the domain's lower corner, or in lengths of the solid (L) from its middle.
 * Without a unit it is in L if another one is, else in metres. "2L,0,-1L:2L,0,1L:41" is a line of equally
 * spaced points with both ends; without a number it has a point in every cell. "surface:y=0.4m" is the cut of
 * that plane and the surface, in points about a cell apart. Without a place the plane goes through the
 * solid's middle; without an axis it is upright along the flow. In two dimensions the third coordinate may be
 * left out. place: the beginning of messages. */
kf_status kf_probe_read(const char *place, const char *name, const char *text, const kf_probe_frame *frame,
                        kf_probe *probe, kf_error *error);
void kf_probe_free(kf_probe *probe); /* its contents */

/* Returns how many points of a point or line probe lie inside the solid, where there is no fluid. */
size_t kf_probe_points_inside(const kf_probe *probe, const kf_scene *scene);

/* Returns whether a text may be a probe's name, which becomes part of file names. */
bool kf_probe_name_is_good(const char *name);

#endif
