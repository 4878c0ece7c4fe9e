/* Makes one surface of a set of triangles (mesh_mend.h). A patch is a part whose triangles are connected by
 * edges of exactly two triangles. Within a patch the side of each triangle follows from its neighbours. Where
 * more than two triangles meet at an edge it does not, so patches end there. */
#include "scene/mesh_mend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/mesh_edges.h"
#include "scene/mesh_unite.h"

static const uint32_t NONE = UINT32_MAX;

typedef struct patch {
    /* The patch's part of the list of triangles sorted by patch. */
    size_t first, count;
    /* Some edges belong to one triangle only. */
    bool open;
    /* The surface has one side only, as a Moebius strip. */
    bool twisted;
    /* The file has each of its triangles with both windings. */
    bool twin;
    /* It is closed without other patches, and encloses a volume. */
    bool closed;
    /* The volume of a closed patch; negative when its normals point inwards. */
    double volume;
} patch;

typedef struct surface {
    kf_mesh *mesh;
    /* Votes for the winding of each triangle; 0 where the file does not decide it. */
    int32_t *votes;
    /* The patch of each triangle. */
    uint32_t *of;
    /* The triangles sorted by patch. */
    uint32_t *sorted;
    patch *patches;
    size_t count;
    kf_mended *done;
} surface;

static void turn_triangle(uint32_t *triangle) {
    const uint32_t second = triangle[1];
    triangle[1] = triangle[2];
    triangle[2] = second;
}

/* ---- Patches ---- */

static uint32_t side_from(const kf_mesh *mesh, size_t triangle, size_t side) {
    return mesh->triangles[3 * triangle + side];
}

/* Returns whether two triangles run along their shared edge in the same direction. */
static bool same_direction(const kf_mesh *mesh, size_t triangle, size_t side, size_t other) {
    uint32_t from, to;
    kf_side(mesh, triangle, side, &from, &to);
    for (size_t s = 0; s < 3; s++)
        if (side_from(mesh, other, s) == from && side_from(mesh, other, (s + 1) % 3) == to) return true;
    return false;
}

/* Spreads a patch from its first triangle over all connected ones. turned[t] says whether triangle t must be
 * turned to agree with the first. */
static void spread_patch(surface *s, const kf_edges *edges, uint32_t number, size_t *filled, bool *turned) {
    patch *p = &s->patches[number];
    for (size_t at = p->first; at < *filled; at++) {
        const size_t t = s->sorted[at];
        p->twin = p->twin && s->votes[t] == 0;
        for (size_t side = 0; side < 3; side++) {
            const kf_edge *edge = kf_edge_at(edges, s->mesh, t, side);
            p->open = p->open || edge->count == 1;
            if (edge->count != 2) continue;
            const uint32_t other = edge->triangle[edge->triangle[0] == t];
            const bool turns = turned[t] != same_direction(s->mesh, t, side, other);
            if (s->of[other] == NONE) {
                s->of[other] = number;
                turned[other] = turns;
                s->sorted[(*filled)++] = other;
            } else if (turned[other] != turns) {
                p->twisted = true;
            }
        }
    }
    p->count = *filled - p->first;
}

/* Turns a patch's triangles to the side of most of its area in the file. An open patch stays as it is,
 * because only the flow decides which of its sides is the outer one. */
static void turn_patch(surface *s, const patch *p, const bool *turned) {
    double balance = 0.0;
    if (p->open || p->twisted) return;
    for (size_t i = p->first; i < p->first + p->count; i++) {
        const size_t t = s->sorted[i];
        balance += (turned[t] ? -1.0 : 1.0) * s->votes[t] * kf_mesh_triangle_area(s->mesh, t);
    }
    for (size_t i = p->first; i < p->first + p->count; i++) {
        const size_t t = s->sorted[i];
        if (turned[t] == (balance < 0.0)) continue;
        turn_triangle(s->mesh->triangles + 3 * t);
        s->done->turned += s->votes[t] > 0;
    }
}

/* Computes the volume of the triangles of a list, and returns whether they are closed. */
static bool enclosed(const kf_mesh *mesh, const uint32_t *list, size_t count, double *volume) {
    kf_mesh part = {.vertex_count = mesh->vertex_count, .triangle_count = count, .vertices = mesh->vertices};
    kf_body body;
    part.triangles = kf_allocate(3 * count * sizeof *part.triangles + 1);
    for (size_t i = 0; i < count; i++)
        memcpy(part.triangles + 3 * i, mesh->triangles + 3 * (size_t)list[i], 3 * sizeof *part.triangles);
    const bool closed = kf_mesh_body(&part, false, &body) == 0 && body.volume > 0.0;
    free(part.triangles);
    *volume = body.inwards ? -body.volume : body.volume;
    return closed;
}

static void free_patches(surface *s) {
    free(s->of);
    free(s->sorted);
    free(s->patches);
}

/* Finds the patches of a surface and turns the triangles of each to one side. Then finds which patches
 * enclose a volume. */
static void find_patches(surface *s) {
    const size_t triangles = s->mesh->triangle_count;
    kf_edges edges = kf_edges_of(s->mesh, triangles);
    bool *turned = kf_allocate_zeroed(triangles + 1, sizeof *turned);
    size_t capacity = 0, filled = 0;
    s->of = kf_allocate((triangles + 1) * sizeof *s->of);
    s->sorted = kf_allocate((triangles + 1) * sizeof *s->sorted);
    s->patches = NULL;
    s->count = 0;
    memset(s->of, 0xff, triangles * sizeof *s->of);
    for (size_t t = 0; t < triangles; t++) {
        if (s->of[t] != NONE) continue;
        if (s->count == capacity) s->patches = kf_grow(s->patches, s->count, &capacity, sizeof *s->patches);
        s->patches[s->count] = (patch){.first = filled, .twin = true};
        s->of[t] = (uint32_t)s->count;
        s->sorted[filled++] = (uint32_t)t;
        spread_patch(s, &edges, (uint32_t)s->count, &filled, turned);
        turn_patch(s, &s->patches[s->count++], turned);
    }
    for (size_t p = 0; p < s->count && s->count > 1; p++) {
        patch *here = &s->patches[p];
        here->closed = !here->open && !here->twisted &&
                       enclosed(s->mesh, s->sorted + here->first, here->count, &here->volume);
    }
    free(turned);
    kf_edges_free(&edges);
}

/* ---- Surfaces within others ---- */

typedef struct triangle_list {
    uint32_t *corners;
    size_t count, capacity;
} triangle_list;

static void append_triangle(triangle_list *list, const uint32_t *corners) {
    if (3 * (list->count + 1) > list->capacity) {
        list->capacity = 2 * list->capacity + 3072;
        list->corners = kf_reallocate(list->corners, list->capacity * sizeof *list->corners);
    }
    memcpy(list->corners + 3 * list->count++, corners, 3 * sizeof *corners);
}

/* Returns the volume of the largest closed patch, or 0 without any. Its sign shows the side of outer
 * surfaces. */
static double largest_volume(const surface *s) {
    double largest = 0.0;
    for (size_t p = 0; p < s->count; p++)
        if (s->patches[p].closed && fabs(s->patches[p].volume) > fabs(largest))
            largest = s->patches[p].volume;
    return largest;
}

/* Returns whether a patch bounds a cavity. Its normals then point opposite to those of the surface around it.
 */
static bool is_cavity(const patch *p, double outer) {
    return p->closed && (p->twin || outer == 0.0 || (p->volume > 0.0) != (outer > 0.0));
}

/* Removes from the mesh what the stream does not reach. Cavities go into a list. Returns whether anything was
 * removed, because the connections may then change. */
static bool take_hidden(surface *s, triangle_list *cavities) {
    bool *hidden = kf_allocate_zeroed(s->count, sizeof *hidden);
    const double outer = largest_volume(s);
    size_t kept = 0;
    kf_mesh_find_hidden(s->mesh, s->of, s->count, hidden);
    for (size_t t = 0; t < s->mesh->triangle_count; t++) {
        const uint32_t *corners = s->mesh->triangles + 3 * t;
        const patch *p = &s->patches[s->of[t]];
        if (hidden[s->of[t]]) {
            if (is_cavity(p, outer)) append_triangle(cavities, corners);
            s->done->inside++;
            continue;
        }
        memmove(s->mesh->triangles + 3 * kept, corners, 3 * sizeof *corners);
        s->votes[kept++] = s->votes[t];
    }
    const bool fewer = kept < s->mesh->triangle_count;
    s->mesh->triangle_count = kept;
    free(hidden);
    return fewer;
}

/* ---- Sheets ---- */

/* Moves sheets to the end when the file has both of their sides, and the rest of the mesh is closed without
 * them. */
static void part_sheets(surface *s) {
    const kf_mesh *mesh = s->mesh;
    uint32_t *rest = kf_allocate((mesh->triangle_count + 1) * sizeof *rest);
    triangle_list all = {NULL, 0, 0};
    size_t count = 0;
    double volume;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const patch *p = &s->patches[s->of[t]];
        if (!p->twin || p->closed) rest[count++] = (uint32_t)t;
    }
    if (count > 0 && count < mesh->triangle_count && enclosed(mesh, rest, count, &volume)) {
        for (size_t sheet = 0; sheet < 2; sheet++)
            for (size_t t = 0; t < mesh->triangle_count; t++) {
                const patch *p = &s->patches[s->of[t]];
                if ((p->twin && !p->closed) == (sheet == 1)) append_triangle(&all, mesh->triangles + 3 * t);
            }
        memcpy(mesh->triangles, all.corners, 3 * all.count * sizeof *all.corners);
        s->mesh->sheet_count = mesh->triangle_count - count;
    }
    free(all.corners);
    free(rest);
}

/* ---- All of it ---- */

/* Turns each closed patch to the same side as the largest one. */
static void turn_closed(surface *s) {
    const double outer = largest_volume(s);
    for (size_t p = 0; p < s->count; p++) {
        const patch *here = &s->patches[p];
        if (!here->closed || (here->volume > 0.0) == (outer > 0.0)) continue;
        for (size_t i = here->first; i < here->first + here->count; i++)
            turn_triangle(s->mesh->triangles + 3 * (size_t)s->sorted[i]);
        s->done->turned += here->twin ? 0 : here->count;
    }
}

/* Removes unused vertices, and keeps the order of the others. */
static void drop_unused(kf_mesh *mesh) {
    const size_t corners = 3 * (mesh->triangle_count + mesh->inner_count);
    uint32_t *new_index = kf_allocate((mesh->vertex_count + 1) * sizeof *new_index);
    size_t kept = 0;
    memset(new_index, 0xff, mesh->vertex_count * sizeof *new_index);
    for (size_t c = 0; c < corners; c++)
        new_index[mesh->triangles[c]] = 0;
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        if (new_index[v] == NONE) continue;
        memmove(mesh->vertices + 3 * kept, mesh->vertices + 3 * v, 3 * sizeof *mesh->vertices);
        new_index[v] = (uint32_t)kept++;
    }
    for (size_t c = 0; c < corners; c++)
        mesh->triangles[c] = new_index[mesh->triangles[c]];
    mesh->vertex_count = kept;
    free(new_index);
}

static void append_cavities(kf_mesh *mesh, const triangle_list *cavities) {
    mesh->inner_count = cavities->count;
    if (cavities->count == 0) return;
    mesh->triangles = kf_reallocate(mesh->triangles,
                                    3 * (mesh->triangle_count + cavities->count) * sizeof *mesh->triangles);
    memcpy(mesh->triangles + 3 * mesh->triangle_count, cavities->corners,
           3 * cavities->count * sizeof *cavities->corners);
}

static void mend_patches(surface *s) {
    triangle_list cavities = {NULL, 0, 0};
    find_patches(s);
    if (s->count > 1 && take_hidden(s, &cavities)) {
        free_patches(s);
        find_patches(s);
    }
    if (s->count > 1) turn_closed(s);
    if (s->count > 1) part_sheets(s);
    free_patches(s);
    append_cavities(s->mesh, &cavities);
    free(cavities.corners);
}

void kf_mesh_mend(kf_mesh *mesh, kf_mended *done) {
    memset(done, 0, sizeof *done);
    mesh->sheet_count = mesh->inner_count = 0;
    done->flat = kf_mesh_clean(mesh);
    int32_t *votes = kf_allocate((mesh->triangle_count + 1) * sizeof *votes);
    for (size_t t = 0; t < mesh->triangle_count; t++)
        votes[t] = 1;
    done->repeated = kf_mesh_unite(mesh, votes);
    done->joined = kf_mesh_stitch(mesh, &votes);
    surface s = {.mesh = mesh, .votes = votes, .done = done};
    mend_patches(&s);
    drop_unused(mesh);
    free(votes);
}
