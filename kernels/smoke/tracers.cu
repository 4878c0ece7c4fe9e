/* Moves smoke tracers, which are points that the flow carries. It adds new ones at the emitters, moves each
 * with the velocity of the nodes around it, and projects their density onto the picture's grid. */
#include "portable.h"
#include "tracers.h"

#define KF_NOWHERE    (-1e30f)
#define KF_IS_HERE(x) ((x) >= -1.0f)

/* The two nodes around a position along one axis, and the share of the upper one. */
typedef struct kf_between {
    int low, high;
    float share;
} kf_between;

/* Returns the two nodes around a position along one axis, and the share of the upper one. On a periodic axis
 * they may lie on both sides of the seam. In the half cell before a face both are the outermost node. */
KF_FUNCTION kf_between kf_around(float position, int nodes, int wraps) {
    kf_between b;
    const float floored = floorf(position);
    b.low = (int)floored;
    b.high = b.low + 1;
    b.share = position - floored;
    if (wraps) {
        b.low = b.low < 0 ? b.low + nodes : b.low;
        b.high = b.high >= nodes ? b.high - nodes : b.high;
    } else if (b.low < 0) { /* in the half cell between the outermost node and the face */
        b.low = b.high = 0;
    } else if (b.high >= nodes) {
        b.low = b.high = nodes - 1;
    }
    return b;
}

typedef struct kf_triple {
    float x, y, z;
} kf_triple;

/* Interpolates the velocity trilinearly. */
KF_FUNCTION kf_triple kf_velocity_at(const kf_tracer_arguments *a, float x, float y, float z) {
    const kf_between bx = kf_around(x, a->nodes[0], a->faces[0] == KF_TRACER_WRAP),
                     by = kf_around(y, a->nodes[1], a->faces[2] == KF_TRACER_WRAP),
                     bz = kf_around(z, a->nodes[2], a->faces[4] == KF_TRACER_WRAP);
    kf_triple sum;
    sum.x = sum.y = sum.z = 0.0f;
    for (int corner = 0; corner < 8; corner++) {
        const int up = corner & 1, back = corner >> 1 & 1, top = corner >> 2;
        const float weight = (up ? bx.share : 1.0f - bx.share) * (back ? by.share : 1.0f - by.share) *
                             (top ? bz.share : 1.0f - bz.share);
        const long long row = (back ? by.high : by.low) + (long long)a->nodes[1] * (top ? bz.high : bz.low);
        const float *u = a->velocity + 4 * ((up ? bx.high : bx.low) + a->nodes[0] * row);
        sum.x += weight * u[0];
        sum.y += weight * u[1];
        sum.z += weight * u[2];
    }
    return sum;
}

/* Brings a coordinate back into the domain. Returns 0 if the tracer has left it. */
KF_FUNCTION int kf_contain(float *position, int nodes, int low_face, int high_face) {
    const float low = -0.5f, high = (float)nodes - 0.5f;
    const int below = *position < low, above = *position >= high;
    if (!below && !above) return *position == *position;
    const int face = below ? low_face : high_face;
    if (face == KF_TRACER_RETIRE) return 0;
    if (face == KF_TRACER_WRAP)
        *position += below ? (float)nodes : -(float)nodes;
    else
        *position = below ? low : high;
    return *position >= low && *position <= high;
}

/* Stores a tracer and the velocity at its place, or empties its slot if it has left the domain. */
KF_FUNCTION void kf_put(const kf_tracer_arguments *a, int place, float x, float y, float z) {
    const int *f = a->faces;
    if (!kf_contain(&x, a->nodes[0], f[0], f[1]) || !kf_contain(&y, a->nodes[1], f[2], f[3]) ||
        !kf_contain(&z, a->nodes[2], f[4], f[5])) {
        a->x[place] = KF_NOWHERE;
        return;
    }
    const kf_triple u = kf_velocity_at(a, x, y, z);
    a->x[place] = x;
    a->y[place] = y;
    a->z[place] = z;
    a->u[place] = u.x;
    a->v[place] = u.y;
    a->w[place] = u.z;
}

/* Moves the tracers by the second-order Runge-Kutta method of Heun. It uses the mean of two velocities: that
 * at the tracer's place at the last move, and the present one at the place to which the first would carry it.
 * Extent: slots of the ring. */
KF_SCALAR_KERNEL(move, kf_tracer_arguments) {
    (void)y, (void)z;
    const float px = a->x[x];
    if (!KF_IS_HERE(px)) return;
    const float py = a->y[x], pz = a->z[x], t = a->steps;
    const float u = a->u[x], v = a->v[x], w = a->w[x];
    float qx = px + t * u, qy = py + t * v, qz = pz + t * w;
    const int *f = a->faces;
    if (!kf_contain(&qx, a->nodes[0], f[0], f[1]) || !kf_contain(&qy, a->nodes[1], f[2], f[3]) ||
        !kf_contain(&qz, a->nodes[2], f[4], f[5])) {
        a->x[x] = KF_NOWHERE;
        return;
    }
    const kf_triple q = kf_velocity_at(a, qx, qy, qz);
    const float half = 0.5f * t;
    kf_put(a, x, px + half * (u + q.x), py + half * (v + q.y), pz + half * (w + q.z));
}

/* Returns a number in [0, 1) that depends on key and counter (the finaliser of SplitMix64). */
KF_FUNCTION float kf_random(kf_uint64 key, kf_uint64 counter) {
    kf_uint64 bits = key + counter * 0x9e3779b97f4a7c15ULL;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
    bits ^= bits >> 31;
    return (float)(bits >> 40) * (1.0f / 16777216.0f);
}

/* Adds the tracers that an emitter has released since the last move. Each is released at some moment of that
 * time and has moved with the flow since. They replace the oldest ones in the ring. Extent: new tracers. */
KF_SCALAR_KERNEL(emit, kf_tracer_arguments) {
    (void)y, (void)z;
    const float turn = 6.28318531f;
    const kf_uint64 draw = 5 * (a->first_birth + (kf_uint64)x);
    const float r0 = kf_random(a->key, draw), r1 = kf_random(a->key, draw + 1),
                r2 = kf_random(a->key, draw + 2), r3 = kf_random(a->key, draw + 3);
    const float age = a->steps * kf_random(a->key, draw + 4);
    float p[3];
    if (a->shape == KF_PLACE_BOX) {
        p[0] = a->from[0] + r0 * (a->to[0] - a->from[0]);
        p[1] = a->from[1] + r1 * (a->to[1] - a->from[1]);
        p[2] = a->from[2] + r2 * (a->to[2] - a->from[2]);
    } else if (a->shape == KF_PLACE_DISC) {
        const float out = sqrtf(r0), c = out * cosf(turn * r1), s = out * sinf(turn * r1);
        for (int i = 0; i < 3; i++)
            p[i] = a->from[i] + c * a->across[0][i] + s * a->across[1][i];
    } else {
        const int last = a->nozzles - 1, nozzle = (int)(r0 * (float)a->nozzles);
        const float along = last > 0 ? (float)(nozzle < last ? nozzle : last) / (float)last : 0.0f;
        const float out = a->radius * cbrtf(r1), up = 2.0f * r2 - 1.0f, flat = sqrtf(1.0f - up * up);
        p[0] = a->from[0] + along * (a->to[0] - a->from[0]) + out * flat * cosf(turn * r3);
        p[1] = a->from[1] + along * (a->to[1] - a->from[1]) + out * flat * sinf(turn * r3);
        p[2] = a->from[2] + along * (a->to[2] - a->from[2]) + out * up;
    }
    const int place = (int)((a->first_place + (kf_int64)x) % a->capacity);
    const int *f = a->faces;
    if (!kf_contain(&p[0], a->nodes[0], f[0], f[1]) || !kf_contain(&p[1], a->nodes[1], f[2], f[3]) ||
        !kf_contain(&p[2], a->nodes[2], f[4], f[5])) {
        a->x[place] = KF_NOWHERE;
        return;
    }
    const kf_triple u = kf_velocity_at(a, p[0], p[1], p[2]);
    kf_put(a, place, p[0] + age * u.x, p[1] + age * u.y, p[2] + age * u.z);
}

/* Returns the paint of a tracer. The ring is ordered by release, which gives the age. */
KF_FUNCTION int kf_paint_of(const kf_tracer_arguments *a, int place) {
    float value;
    if (a->painted == KF_PAINTED_AGE) {
        const int born_since = a->next_place - 1 - place;
        value = (float)(born_since < 0 ? born_since + a->capacity : born_since);
    } else {
        const float u = a->u[place], v = a->v[place], w = a->w[place];
        value = sqrtf(u * u + v * v + w * w);
    }
    value = value * a->per_paint + 0.5f;
    return value < (float)KF_PAINT_UNIT ? (int)value : KF_PAINT_UNIT;
}

/* Distributes every tracer to the eight nodes around it on the fine grid. Extent: slots of the ring. */
KF_SCALAR_KERNEL(project, kf_tracer_arguments) {
    (void)y, (void)z;
    if (!KF_IS_HERE(a->x[x])) return;
    const float position[3] = {a->x[x], a->y[x], a->z[x]}, fine = (float)a->refinement;
    const int paint = a->painted == KF_PAINTED_PLAIN ? 0 : kf_paint_of(a, x);
    int low[3], high[3], share[3];
    for (int i = 0; i < 3; i++) {
        const kf_between b = kf_around((position[i] + 0.5f) * fine - 0.5f, a->nodes[i] * a->refinement,
                                       a->faces[2 * i] == KF_TRACER_WRAP);
        low[i] = b.low;
        high[i] = b.high;
        share[i] = (int)(b.share * (float)KF_TRACER_PARTS + 0.5f);
    }
    for (int corner = 0; corner < 8; corner++) {
        long long node = 0, weight = 1;
        for (int i = 2; i >= 0; i--) {
            const int up = corner >> i & 1;
            node = node * a->nodes[i] * a->refinement + (up ? high[i] : low[i]);
            weight *= up ? share[i] : KF_TRACER_PARTS - share[i];
        }
        kf_atomic_add_int64((kf_int64 *)a->density + node, weight);
        if (paint > 0) kf_atomic_add_int64((kf_int64 *)a->paint + node, weight * paint);
    }
}
