/* Probes: the points, lines and cuts along the solid's surface at which a run is asked for velocity and
 * pressure over time. */
#ifndef KF_SCENE_PROBES_H
#define KF_SCENE_PROBES_H

#include "scene/scene.h"

enum { KF_PROBE_NAME = 24, KF_PROBES = 16, KF_PROBE_POINTS = 2000 };

/* The frame that places refer to, in metres from the domain's lower corner. */
typedef struct kf_probe_frame {
    int nodes[3];
    double cell_size;      /* m */
    double length;         /* m that 1L stands for; 0: no place can be given so */
    double origin[3];      /* from where lengths in L are counted: the middle of the solid's box */
    int across;            /* the axis that a cut without one is across */
    const kf_scene *scene; /* NULL: there is no solid whose surface could be cut */
} kf_probe_frame;

/* A flow's frame but for `across`, which is y. */
void kf_probe_frame_of(const kf_scene *scene, kf_probe_frame *frame);

typedef enum kf_probe_kind { KF_PROBE_POINT, KF_PROBE_LINE, KF_PROBE_SURFACE } kf_probe_kind;

typedef struct kf_probe {
    char name[KF_PROBE_NAME];
    kf_probe_kind kind;
    size_t count, room;
    double (*points)[3];  /* [count], m, at step 0; owned */
    double (*normals)[3]; /* [count], unit vectors out of the solid, of a surface's; else NULL; owned */
} kf_probe;

/* Probes as a scene's file has them: their names and places. */
typedef struct kf_probe_texts {
    int count;
    struct {
        char name[KF_PROBE_NAME], text[128];
    } list[KF_PROBES];
} kf_probe_texts;
/* Reads the object "probes" of a scene's file; places are only read by kf_probe_read. */
kf_status kf_probes_of_file(const char *file, const cJSON *root, kf_probe_texts *texts, kf_error *error);

/* Reads where a probe is. "2L,0,0.5L" is a point: each coordinate is in metres (m) or cells (c) from the
 * domain's lower corner, or in lengths of the solid (L) from its middle; without a unit it is in L where
 * another one is, else in metres. "2L,0,-1L:2L,0,1L:41" are equally spaced points of a line with both ends,
 * without a number one in every cell. "surface:y=0.4m" is the surface where that plane cuts it, in points
 * about a cell apart; without a place the plane goes through the solid's middle, without an axis along the
 * flow and upright. In two dimensions the third coordinate may be left out. place: for messages, which begin
 * with it. */
kf_status kf_probe_read(const char *place, const char *name, const char *text, const kf_probe_frame *frame,
                        kf_probe *probe, kf_error *error);
void kf_probe_free(kf_probe *probe); /* its contents */

/* How many of the points of a point or line lie in the scene's solid, where there is no fluid. */
size_t kf_probe_points_inside(const kf_probe *probe, const kf_scene *scene);

/* Says whether a text may be a probe's name: it becomes part of file names. */
bool kf_probe_name_is_good(const char *name);

#endif
