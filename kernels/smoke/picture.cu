/* Draws pictures of smoke. Rays from a camera go through the smoke's density and are composited front to
 * back, with absorption and single scattering of a distant light. Behind the smoke are the shaded solid, the
 * road and a soft background. */
#include "picture.h"
#include "portable.h"
#include "tracers.h"

typedef struct kf_vector {
    float x, y, z;
} kf_vector;

KF_FUNCTION kf_vector kf_make(float x, float y, float z) {
    kf_vector v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}
KF_FUNCTION kf_vector kf_load(const float *v) {
    return kf_make(v[0], v[1], v[2]);
}
KF_FUNCTION kf_vector kf_along(kf_vector p, float t, kf_vector d) {
    return kf_make(p.x + t * d.x, p.y + t * d.y, p.z + t * d.z);
}
KF_FUNCTION kf_vector kf_scaled(float t, kf_vector v) {
    return kf_make(t * v.x, t * v.y, t * v.z);
}
KF_FUNCTION float kf_dot(kf_vector a, kf_vector b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
KF_FUNCTION kf_vector kf_cross(kf_vector a, kf_vector b) {
    return kf_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
KF_FUNCTION kf_vector kf_unit(kf_vector v) {
    return kf_scaled(1.0f / sqrtf(kf_dot(v, v) + 1e-30f), v);
}
KF_FUNCTION kf_vector kf_mixed(kf_vector a, kf_vector b, float share) {
    return kf_along(kf_scaled(1.0f - share, a), share, b);
}
KF_FUNCTION float kf_axis(kf_vector v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}
KF_FUNCTION float kf_least(float a, float b) {
    return a < b ? a : b;
}
KF_FUNCTION float kf_most(float a, float b) {
    return a > b ? a : b;
}

/* --- Density and shade --- */

KF_FUNCTION int kf_within(int i, int n) {
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* Computes the extinction from the tracers' density, smoothed with weights 1 2 1 along each axis. */
KF_SCALAR_KERNEL(smooth, kf_picture_arguments) {
    double sum = 0, paint = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const long long node = kf_within(x + dx, a->nodes[0]) +
                                       kf_within(y + dy, a->nodes[1]) * a->stride[1] +
                                       kf_within(z + dz, a->nodes[2]) * a->stride[2];
                const double weight = (double)((2 - dx * dx) * (2 - dy * dy) * (2 - dz * dz));
                sum += (double)a->density[node] * weight;
                if (a->paint != 0) paint += (double)a->paint[node] * weight;
            }
    const long long node = x + y * a->stride[1] + z * a->stride[2];
    a->extinction[node] = (float)(sum * (1.0 / 64.0)) * a->per_unit;
    if (a->paint != 0) a->painted[node] = (float)(paint * (1.0 / (64.0 * KF_PAINT_UNIT))) * a->per_unit;
}

/* Marks the blocks with smoke, or with smoke within the margin. The nodes on a block's upper sides belong to
 * it, too. Extent: blocks. */
KF_SCALAR_KERNEL(find_occupied, kf_picture_arguments) {
    const int from = -a->margin, to = KF_SMOKE_BLOCK + a->margin;
    int found = 0;
    for (int k = from; k <= to && !found; k++)
        for (int j = from; j <= to && !found; j++)
            for (int i = from; i <= to && !found; i++) {
                const long long node = kf_within(x * KF_SMOKE_BLOCK + i, a->nodes[0]) +
                                       kf_within(y * KF_SMOKE_BLOCK + j, a->nodes[1]) * a->stride[1] +
                                       kf_within(z * KF_SMOKE_BLOCK + k, a->nodes[2]) * a->stride[2];
                found = a->extinction[node] > 0.0f;
            }
    a->occupied[x + a->blocks[0] * (y + a->blocks[1] * z)] = found;
}

/* Separates thin smoke, in which single tracers are visible, so that it can be spread further. The share
 * falls with the density, so that thick smoke keeps its detail. The extent is nodes. */
KF_SCALAR_KERNEL(part_thin, kf_picture_arguments) {
    const long long node = x + y * a->stride[1] + z * a->stride[2];
    const float ratio = a->extinction[node] / a->sparse, thin = 1.0f / (1.0f + ratio * ratio);
    a->shade[node] = thin * a->extinction[node];
    a->extinction[node] -= a->shade[node];
    if (a->paint == 0) return;
    a->thin[node] = thin * a->painted[node];
    a->painted[node] -= a->thin[node];
}

/* Returns the mean of a field around a node with weights 1 4 6 4 1 along each axis. */
KF_FUNCTION float kf_spread(const kf_picture_arguments *a, const float *field, int x, int y, int z) {
    const float weights[2 * KF_SPREAD_TAPS + 1] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    float sum = 0.0f;
    for (int k = -KF_SPREAD_TAPS; k <= KF_SPREAD_TAPS; k++)
        for (int j = -KF_SPREAD_TAPS; j <= KF_SPREAD_TAPS; j++) {
            const float *row = field + kf_within(y + j * a->spacing, a->nodes[1]) * a->stride[1] +
                               kf_within(z + k * a->spacing, a->nodes[2]) * a->stride[2];
            float line = 0.0f;
            for (int i = -KF_SPREAD_TAPS; i <= KF_SPREAD_TAPS; i++)
                line += weights[i + KF_SPREAD_TAPS] * row[kf_within(x + i * a->spacing, a->nodes[0])];
            sum += weights[j + KF_SPREAD_TAPS] * weights[k + KF_SPREAD_TAPS] * line;
        }
    return sum;
}

/* Spreads the thin smoke and adds it again. Extent: nodes. */
KF_SCALAR_KERNEL(spread_thin, kf_picture_arguments) {
    const int block =
        x / KF_SMOKE_BLOCK + a->blocks[0] * (y / KF_SMOKE_BLOCK + a->blocks[1] * (z / KF_SMOKE_BLOCK));
    if (!a->occupied[block]) return;
    const long long node = x + y * a->stride[1] + z * a->stride[2];
    a->extinction[node] += kf_spread(a, a->shade, x, y, z);
    if (a->paint != 0) a->painted[node] += kf_spread(a, a->thin, x, y, z);
}

/* Returns a coordinate in the smoke's finer grid. */
KF_FUNCTION float kf_fine(const kf_picture_arguments *a, kf_vector p, int axis) {
    return (kf_axis(p, axis) + 0.5f) * a->refinement - 0.5f;
}

/* Interpolates a field trilinearly. It is 0 outside the domain. In the half cell at each face the values of
 * the outermost nodes continue. */
KF_FUNCTION float kf_value_at(const kf_picture_arguments *a, const float *field, kf_vector p) {
    long long low[3], high[3];
    float share[3];
    for (int i = 0; i < 3; i++) {
        const float q = kf_fine(a, p, i), floored = floorf(q);
        if (!(q >= -0.5f && q <= (float)a->nodes[i] - 0.5f)) return 0.0f;
        low[i] = kf_within((int)floored, a->nodes[i]) * a->stride[i];
        high[i] = kf_within((int)floored + 1, a->nodes[i]) * a->stride[i];
        share[i] = q - floored;
    }
    float value[4];
    for (int side = 0; side < 4; side++) {
        const float *row = field + (side & 1 ? high[1] : low[1]) + (side >> 1 ? high[2] : low[2]);
        value[side] = row[low[0]] + share[0] * (row[high[0]] - row[low[0]]);
    }
    const float lower = value[0] + share[1] * (value[1] - value[0]),
                upper = value[2] + share[1] * (value[3] - value[2]);
    return lower + share[2] * (upper - lower);
}

/* --- The solid --- */

typedef struct kf_ray {
    kf_vector from, along; /* along is a unit vector */
} kf_ray;

typedef struct kf_hit {
    float distance;
    kf_vector normal; /* unit vector towards the origin of the ray */
} kf_hit;

/* Transforms the ray to the solid's own axes at time 0. */
KF_FUNCTION kf_ray kf_to_solid(const kf_picture_arguments *a, kf_ray ray) {
    const kf_vector p = kf_along(ray.from, -1.0f, kf_load(a->center)), d = ray.along;
    const float *r = a->rotation;
    kf_ray turned;
    turned.from = kf_make(r[0] * p.x + r[3] * p.y + r[6] * p.z + a->start[0],
                          r[1] * p.x + r[4] * p.y + r[7] * p.z + a->start[1],
                          r[2] * p.x + r[5] * p.y + r[8] * p.z + a->start[2]);
    turned.along = kf_make(r[0] * d.x + r[3] * d.y + r[6] * d.z, r[1] * d.x + r[4] * d.y + r[7] * d.z,
                           r[2] * d.x + r[5] * d.y + r[8] * d.z);
    return turned;
}

/* Returns whether the ray meets the box before this distance. */
KF_FUNCTION int kf_meets(const kf_box_node *box, kf_vector from, kf_vector inverse, float farthest) {
    const float x0 = (box->low[0] - from.x) * inverse.x, x1 = (box->high[0] - from.x) * inverse.x;
    const float y0 = (box->low[1] - from.y) * inverse.y, y1 = (box->high[1] - from.y) * inverse.y;
    const float z0 = (box->low[2] - from.z) * inverse.z, z1 = (box->high[2] - from.z) * inverse.z;
    const float enter = kf_most(kf_most(kf_least(x0, x1), kf_least(y0, y1)), kf_least(z0, z1));
    const float leave = kf_least(kf_least(kf_most(x0, x1), kf_most(y0, y1)), kf_most(z0, z1));
    return leave >= 0.0f && enter <= leave && enter < farthest;
}

/* Intersects a triangle (Moeller and Trumbore 1997) and returns the distance, or `farthest` if there is no
 * hit before it. */
KF_FUNCTION float kf_triangle(const float *t, kf_ray ray, float farthest, float *u, float *v) {
    const kf_vector edge1 = kf_load(t + 3), edge2 = kf_load(t + 6), p = kf_cross(ray.along, edge2);
    const float determinant = kf_dot(edge1, p);
    if (determinant == 0.0f) return farthest;
    const float inverse = 1.0f / determinant;
    const kf_vector from = kf_along(ray.from, -1.0f, kf_load(t));
    const float b1 = kf_dot(from, p) * inverse;
    const kf_vector q = kf_cross(from, edge1);
    const float b2 = kf_dot(ray.along, q) * inverse, distance = kf_dot(edge2, q) * inverse;
    if (!(b1 >= 0.0f && b2 >= 0.0f && b1 + b2 <= 1.0f && distance > 0.0f && distance < farthest))
        return farthest;
    *u = b1;
    *v = b2;
    return distance;
}

/* Finds the nearest hit before `farthest`; its distance is `farthest` if there is none. `any`: any hit
 * suffices. */
KF_FUNCTION kf_hit kf_cast(const kf_picture_arguments *a, kf_ray world, float farthest, int any) {
    kf_hit hit;
    hit.distance = farthest;
    hit.normal = kf_make(0.0f, 0.0f, 0.0f);
    if (a->tree == 0) return hit;
    const kf_ray ray = kf_to_solid(a, world);
    const kf_vector inverse =
        kf_make(1.0f / (ray.along.x + 1e-20f), 1.0f / (ray.along.y + 1e-20f), 1.0f / (ray.along.z + 1e-20f));
    int stack[KF_TREE_DEPTH], depth = 0, nearest = -1;
    float u = 0.0f, v = 0.0f;
    stack[depth++] = 0;
    while (depth > 0) {
        const kf_box_node *node = a->tree + stack[--depth];
        if (!kf_meets(node, ray.from, inverse, hit.distance)) continue;
        if (node->count == 0) {
            if (depth + 2 > KF_TREE_DEPTH) continue;
            stack[depth++] = node->first;
            stack[depth++] = node->first + 1;
            continue;
        }
        for (int i = node->first; i < node->first + node->count; i++) {
            const float distance =
                kf_triangle(a->triangles + (long long)KF_TRIANGLE_FLOATS * i, ray, hit.distance, &u, &v);
            if (distance >= hit.distance) continue;
            hit.distance = distance;
            hit.normal.x = u; /* the place in the triangle, until the nearest hit is known */
            hit.normal.y = v;
            nearest = i;
        }
        if (any && nearest >= 0) return hit;
    }
    if (nearest < 0) return hit;
    const float *t = a->triangles + (long long)KF_TRIANGLE_FLOATS * nearest, *r = a->rotation;
    const float b1 = hit.normal.x, b2 = hit.normal.y;
    const kf_vector n = kf_along(kf_along(kf_scaled(1.0f - b1 - b2, kf_load(t + 9)), b1, kf_load(t + 12)), b2,
                                 kf_load(t + 15));
    hit.normal = kf_unit(kf_make(r[0] * n.x + r[1] * n.y + r[2] * n.z, r[3] * n.x + r[4] * n.y + r[5] * n.z,
                                 r[6] * n.x + r[7] * n.y + r[8] * n.z));
    if (kf_dot(hit.normal, world.along) > 0.0f) hit.normal = kf_scaled(-1.0f, hit.normal);
    return hit;
}

/* Computes the optical depth between the nodes of one plane and the light, and whether the solid is between
 * them. It is the depth where the ray meets the plane above, plus the depth of the way between the planes.
 * Extent: nodes along the two other axes. */
KF_SCALAR_KERNEL(cast_shade, kf_picture_arguments) {
    (void)z;
    const int first = a->up == 0 ? 1 : 0, second = a->up == 2 ? 1 : 2;
    float p[3];
    p[a->up] = ((float)a->plane + 0.5f) / a->refinement - 0.5f;
    p[first] = ((float)x + 0.5f) / a->refinement - 0.5f;
    p[second] = ((float)y + 0.5f) / a->refinement - 0.5f;
    const long long node = a->plane * a->stride[a->up] + x * a->stride[first] + y * a->stride[second];
    kf_ray ray;
    ray.from = kf_load(p);
    ray.along = kf_load(a->light);
    const kf_vector above = kf_along(ray.from, 1.0f, kf_load(a->shift));
    const float way = 0.5f * a->slant * (a->extinction[node] + kf_value_at(a, a->extinction, above));
    a->shade[node] = way + kf_value_at(a, a->shade, above);
    if (a->tree != 0)
        a->behind[node] =
            kf_cast(a, ray, a->slant, 1).distance < a->slant ? 1.0f : kf_value_at(a, a->behind, above);
}

/* --- Light --- */

/* All colours here are linear. */
#define KF_SUN     kf_make(2.5f, 2.35f, 2.1f)
#define KF_SKY     kf_make(0.20f, 0.25f, 0.34f)
#define KF_HORIZON kf_make(0.030f, 0.036f, 0.046f)
#define KF_ZENITH  kf_make(0.006f, 0.008f, 0.013f)
#define KF_SHADOW                                                                                            \
    3.0f /* as much higher is the extinction towards the light, which gives thin smoke a shape */

/* Returns a number in [0, 1) that depends on the pixel and a counter. */
KF_FUNCTION float kf_noise(int x, int y, int counter) {
    unsigned bits = (unsigned)x * 0x8da6b343u + (unsigned)y * 0xd8163841u + (unsigned)counter * 0xcb1ab31fu;
    bits = (bits ^ (bits >> 16)) * 0x7feb352du;
    bits = (bits ^ (bits >> 15)) * 0x846ca68bu;
    bits ^= bits >> 16;
    return (float)(bits >> 8) * (1.0f / 16777216.0f);
}

KF_FUNCTION kf_vector kf_background(const kf_picture_arguments *a, kf_vector along) {
    const float rise = kf_most(kf_axis(along, a->up), 0.0f);
    return kf_mixed(KF_HORIZON, KF_ZENITH, kf_least(1.0f, 1.8f * sqrtf(rise + 1e-4f) - 0.018f));
}

/* Returns a direction near the unit vector axis; `out`: sine of the angle between them. */
KF_FUNCTION kf_vector kf_about(kf_vector axis, float out, float turn) {
    const kf_vector helper = axis.x * axis.x > 0.5f ? kf_make(0.0f, 1.0f, 0.0f) : kf_make(1.0f, 0.0f, 0.0f);
    const kf_vector first = kf_unit(kf_cross(axis, helper)), second = kf_cross(axis, first);
    const float angle = 6.28318531f * turn;
    return kf_along(kf_along(kf_scaled(sqrtf(1.0f - out * out), axis), out * cosf(angle), first),
                    out * sinf(angle), second);
}

/* One of a pixel's rays. Its number lets the secondary rays of all the pixel's rays be spread evenly
 * together. */
typedef struct kf_pixel_sample {
    int x, y, number;
    float first, second; /* in [0, 1) */
} kf_pixel_sample;

/* Returns the light on a surface. The sun is a disc that smoke and solid may hide. The solid may also hide
 * the sky. */
KF_FUNCTION kf_vector kf_light_on(const kf_picture_arguments *a, kf_vector place, kf_vector normal,
                                  kf_pixel_sample sample) {
    const kf_vector sun = kf_load(a->light);
    kf_ray ray;
    ray.from = kf_along(place, 0.12f, normal); /* away from the facets of a round surface */
    kf_vector light = kf_make(0.0f, 0.0f, 0.0f);
    const float facing = kf_dot(normal, sun);
    if (facing > 0.0f) {
        ray.along = kf_about(sun, 0.06f * sqrtf(sample.first), sample.second);
        if (!(kf_cast(a, ray, 1e9f, 1).distance < 1e9f))
            light = kf_scaled(facing * expf(-kf_value_at(a, a->shade, ray.from)), KF_SUN);
    }
    const float range = 0.5f * a->reach;
    ray.along = kf_about(normal, sqrtf(sample.second), sample.first);
    const float seen = kf_least(1.0f, kf_cast(a, ray, range, 1).distance / range);
    float up[3];
    up[0] = up[1] = up[2] = 0.0f;
    up[a->up] = 1.0f;
    const float open = 0.6f + 0.4f * kf_dot(normal, kf_load(up));
    return kf_along(light, seen * open, KF_SKY);
}

KF_FUNCTION kf_vector kf_times(kf_vector a, kf_vector b) {
    return kf_make(a.x * b.x, a.y * b.y, a.z * b.z);
}

KF_FUNCTION kf_vector kf_shade_solid(const kf_picture_arguments *a, kf_vector place, kf_vector normal,
                                     kf_vector along, kf_pixel_sample sample) {
    const kf_vector light = kf_light_on(a, place, normal, sample);
    const float facing = -kf_dot(normal, along);
    const kf_vector mirrored = kf_along(along, 2.0f * facing, normal);
    const float grazing = 1.0f - kf_least(facing, 1.0f), square = grazing * grazing;
    const float fresnel = a->gloss * (0.16f + 2.40f * square * square * grazing);
    const float glint = kf_most(kf_dot(mirrored, kf_load(a->light)), 0.0f);
    const kf_vector sky = kf_scaled(2.0f, kf_background(a, mirrored));
    /* A part that slopes and faces upwards counts as roof. Walls and terraces do not. */
    const float rise = kf_axis(normal, a->up);
    const int roof = rise > 0.15f && rise < 0.98f;
    kf_vector colour = kf_times(kf_load(roof ? a->roof : a->body), light);
    colour = kf_along(colour, fresnel, sky);
    return kf_along(colour, a->gloss * powf(glint, 40.0f) * light.y, kf_make(1.0f, 1.0f, 1.0f));
}

/* Shades the road, which fades into the background far from the focus. */
KF_FUNCTION kf_vector kf_shade_ground(const kf_picture_arguments *a, kf_vector place,
                                      kf_pixel_sample sample) {
    float up[3];
    up[0] = up[1] = up[2] = 0.0f;
    up[a->up] = 1.0f;
    const kf_vector from = kf_along(place, -1.0f, kf_load(a->focus));
    const float far =
        (kf_dot(from, from) - kf_axis(from, a->up) * kf_axis(from, a->up)) / (a->reach * a->reach);
    const float fade = expf(-0.35f * far);
    if (fade < 0.004f) return KF_HORIZON;
    const kf_vector light = kf_light_on(a, place, kf_load(up), sample);
    return kf_mixed(KF_HORIZON, kf_times(kf_load(a->road), light), fade);
}

/* --- The picture --- */

/* Returns the distance from p at which the ray leaves its block. */
KF_FUNCTION float kf_leave_block(const kf_picture_arguments *a, kf_vector p, kf_vector along) {
    float least = 1e9f;
    for (int i = 0; i < 3; i++) {
        const float q = kf_fine(a, p, i), d = kf_axis(along, i) * a->refinement, edge = (float)KF_SMOKE_BLOCK;
        if (d > -1e-6f && d < 1e-6f) continue;
        const float face = edge * (floorf(q / edge) + (d > 0.0f ? 1.0f : 0.0f));
        least = kf_least(least, (face - q) / d);
    }
    return kf_most(least, 0.0f);
}

/* Returns the colour of smoke with this extinction at a place. */
KF_FUNCTION kf_vector kf_smoke_colour(const kf_picture_arguments *a, kf_vector p, float extinction) {
    if (a->paint == 0) return kf_load(a->colours[1]);
    const float share = 2.0f * kf_least(1.0f, kf_value_at(a, a->painted, p) / extinction);
    const int upper = share > 1.0f;
    return kf_mixed(kf_load(a->colours[upper]), kf_load(a->colours[upper + 1]), share - (float)upper);
}

/* Returns the light that the smoke before the distance `end` scatters into the ray, and in *clear the
 * share of light that passes the smoke. Two further terms with less absorption stand for light that is
 * scattered more than once (Wrenninge, Kulla and Lundqvist 2013). */
KF_FUNCTION kf_vector kf_march(const kf_picture_arguments *a, kf_ray ray, float end, float offset,
                               float *clear) {
    const float step = 0.8f / a->refinement, g = 0.35f;
    kf_vector colour = kf_make(0.0f, 0.0f, 0.0f);
    float start = 0.0f;
    *clear = 1.0f;
    for (int i = 0; i < 3; i++) {
        const float q = kf_axis(ray.from, i), d = kf_axis(ray.along, i),
                    inverse = 1.0f / (d + (d < 0.0f ? -1e-9f : 1e-9f));
        const float size = (float)a->nodes[i] / a->refinement;
        const float t0 = (-0.5f - q) * inverse, t1 = (size - 0.5f - q) * inverse;
        start = kf_most(start, kf_least(t0, t1));
        end = kf_least(end, kf_most(t0, t1));
    }
    const float cosine = kf_dot(ray.along, kf_load(a->light));
    const float lobe = 1.0f + g * g - 2.0f * g * cosine;
    const float phase = 0.5f + 0.5f * (1.0f - g * g) / (lobe * sqrtf(lobe));
    for (float t = start + offset * step; t < end; t += step) {
        const kf_vector p = kf_along(ray.from, t, ray.along);
        int block[3];
        for (int i = 0; i < 3; i++)
            block[i] =
                kf_within((int)floorf(kf_fine(a, p, i) * (1.0f / (float)KF_SMOKE_BLOCK)), a->blocks[i]);
        if (!a->occupied[block[0] + a->blocks[0] * (block[1] + a->blocks[1] * block[2])]) {
            t += step * floorf(kf_leave_block(a, p, ray.along) / step);
            continue;
        }
        const float extinction = kf_value_at(a, a->extinction, p);
        if (extinction <= 0.0f) continue;
        const float depth = kf_value_at(a, a->shade, p);
        const float pass = expf(-extinction * step), taken = *clear * (1.0f - pass);
        const float sunny = a->tree == 0 ? 1.0f : 1.0f - kf_value_at(a, a->behind, p);
        const float often =
            0.07f * expf(-0.3f * KF_SHADOW * depth) + 0.02f * expf(-0.08f * KF_SHADOW * depth);
        const float direct = sunny * 0.31f * phase * expf(-KF_SHADOW * depth) + (0.4f + 0.6f * sunny) * often;
        const float open = 0.20f + 0.50f * expf(-depth);
        const kf_vector light = kf_along(kf_scaled(direct, KF_SUN), open, KF_SKY);
        colour = kf_along(colour, taken, kf_times(kf_smoke_colour(a, p, extinction), light));
        *clear *= pass;
        if (*clear < 0.004f) break;
    }
    return colour;
}

/* Returns the colour of one ray of a pixel: the nearest of solid, road and background, behind the smoke in
 * front of it. */
KF_FUNCTION kf_vector kf_look(const kf_picture_arguments *a, kf_ray ray, kf_pixel_sample sample) {
    const kf_hit hit = kf_cast(a, ray, 1e9f, 0);
    float distance = hit.distance;
    int what = distance < 1e9f; /* 0: background, 1: solid, 2: road */
    const float fall = kf_axis(ray.along, a->up), height = kf_axis(ray.from, a->up) - a->ground;
    if (a->has_ground && fall < -1e-6f && -height / fall < distance) {
        distance = -height / fall;
        what = 2;
    }
    const kf_vector place = kf_along(ray.from, distance, ray.along);
    const kf_vector behind = what == 0   ? kf_background(a, ray.along)
                             : what == 1 ? kf_shade_solid(a, place, hit.normal, ray.along, sample)
                                         : kf_shade_ground(a, place, sample);
    float clear;
    const kf_vector smoke =
        kf_march(a, ray, distance, kf_noise(sample.x, sample.y, 31 + sample.number), &clear);
    return kf_along(smoke, clear, behind);
}

/* Maps a value to 0 to 1 for display. Highlights approach white gradually (the fit of Narkowicz 2015 to the
 * film curve of ACES), and the curve of sRGB follows. */
KF_FUNCTION float kf_shown(float value) {
    const float bent = value * (2.51f * value + 0.03f) / (value * (2.43f * value + 0.59f) + 0.14f);
    const float shown = kf_least(1.0f, bent);
    return shown <= 0.0031308f ? 12.92f * shown : 1.055f * powf(shown, 1.0f / 2.4f) - 0.055f;
}

/* Rounds up or down at random, which hides the steps between the few dark values. */
KF_FUNCTION unsigned char kf_to_byte(float shown, float random) {
    return (unsigned char)kf_least(255.0f, shown * 255.0f + random);
}

/* Returns the displayed colour of the ray through one of the pixel's places. There are KF_PICTURE_GRID
 * squared places: first those on the diagonal, then groups of three in which every row and column occurs
 * once. */
KF_FUNCTION kf_vector kf_look_through(const kf_picture_arguments *a, int x, int y, int number) {
    const int column = number % KF_PICTURE_GRID,
              row = (number % KF_PICTURE_GRID + number / KF_PICTURE_GRID) % KF_PICTURE_GRID;
    const float part = 1.0f / (float)KF_PICTURE_GRID;
    kf_pixel_sample sample;
    sample.x = x;
    sample.y = y;
    sample.number = number;
    /* Secondary rays are spread in the opposite order, and rotated from pixel to pixel. */
    const float first = part * ((float)row + kf_noise(x, y, 2 * number)) + kf_noise(x, y, 101);
    const float second = part * ((float)column + kf_noise(x, y, 2 * number + 1)) + kf_noise(x, y, 102);
    sample.first = first - floorf(first);
    sample.second = second - floorf(second);
    const float sx = 2.0f * ((float)x + part * ((float)column + 0.5f)) / (float)a->width - 1.0f;
    const float sy = 1.0f - 2.0f * ((float)y + part * ((float)row + 0.5f)) / (float)a->height;
    kf_ray ray;
    ray.from = kf_load(a->eye);
    ray.along = kf_unit(kf_along(kf_along(kf_load(a->ahead), sx, kf_load(a->right)), sy, kf_load(a->above)));
    const float corner = 0.55f * sx * sx + 0.45f * sy * sy; /* pictures are darker in their corners */
    const kf_vector colour = kf_scaled(1.0f - 0.38f * corner, kf_look(a, ray, sample));
    return kf_make(kf_shown(colour.x), kf_shown(colour.y), kf_shown(colour.z));
}

KF_FUNCTION float kf_difference(kf_vector a, kf_vector b) {
    const kf_vector d = kf_along(a, -1.0f, b);
    return kf_most(kf_most(d.x < 0.0f ? -d.x : d.x, d.y < 0.0f ? -d.y : d.y), d.z < 0.0f ? -d.z : d.z);
}

/* Draws the pixels. If a pixel's rays on the diagonal agree, the others are left out. It averages
 * displayed colours, so that edges of dark before light are as smooth as those of light before dark. Rows
 * from above and below alternate, so that adjacent threads have equal work. The extent is pixels. */
KF_SCALAR_KERNEL(draw, kf_picture_arguments) {
    (void)z;
    const int row = y % 2 == 0 ? y / 2 : a->height - 1 - y / 2;
    kf_vector sum = kf_make(0.0f, 0.0f, 0.0f), one = sum;
    float difference = 0.0f;
    int count = 0;
    for (; count < KF_PICTURE_GRID * KF_PICTURE_GRID; count++) {
        if (count == KF_PICTURE_GRID && difference < 0.012f) break;
        const kf_vector colour = kf_look_through(a, x, row, count);
        if (count > 0) difference = kf_most(difference, kf_difference(one, colour));
        one = colour;
        sum = kf_along(sum, 1.0f, colour);
    }
    const float share = 1.0f / (float)count;
    unsigned char *pixel = a->pixels + 3 * (x + (long long)a->width * row);
    const float random = kf_noise(x, row, 103);
    pixel[0] = kf_to_byte(share * sum.x, random);
    pixel[1] = kf_to_byte(share * sum.y, random);
    pixel[2] = kf_to_byte(share * sum.z, random);
}
