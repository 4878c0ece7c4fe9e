/* Collides the populations of one node in registers (Toelke 2008, Eq. 3 to 9): LBGK, MRT, and the linear
 * variants of both for Stokes flow.
 *
 * Defines that a config sets:
 *   KF_MODEL           the collision operator (choices.h)
 *   KF_BODY_FORCE 0|1  a body force acts on the fluid
 *   KF_FULL_WAY 0|1    full-way bounce-back: solid nodes invert the populations that arrive */
#ifndef KF_KERNELS_D2Q9_COLLISION_H
#define KF_KERNELS_D2Q9_COLLISION_H

#include "lattice.h"

#define KF_LINEAR (KF_MODEL & KF_LINEAR_MODEL)

/* Computes the density less 1, and the momentum of a node. */
KF_FUNCTION void kf_momentum(const kf_nine *f, kf_real *density, kf_real *jx, kf_real *jy) {
    const kf_real up = f->ne + f->nw, down = f->se + f->sw, right = f->ne + f->se, left = f->nw + f->sw;
    *density = ((f->e + f->w) + (f->n + f->s)) + (up + down) + f->r;
    *jx = (f->e - f->w) + (right - left);
    *jy = (f->n - f->s) + (up - down);
}

#if !(KF_MODEL & KF_MRT_MODEL)
/* The LBGK collision with f_eq = w (density + 3 e.j + 9/2 (e.j)^2 - 3/2 j^2). The linear model drops the
 * last two terms. */
KF_FUNCTION void kf_collide(const kf_d2q9_arguments *a, kf_nine *f) {
    const kf_real rate = KF_PARAMETER(a, rate_v), keep = KF_R(1) - rate;
    kf_real density, jx, jy;
    kf_momentum(f, &density, &jx, &jy);
#if KF_LINEAR
    const kf_real base = density, square_x = 0, square_y = 0, square_p = 0, square_m = 0;
#else
    const kf_real sum = jx + jy, difference = jx - jy;
    const kf_real base = density - KF_R(1.5) * (jx * jx + jy * jy);
    const kf_real square_x = KF_R(4.5) * jx * jx, square_y = KF_R(4.5) * jy * jy;
    const kf_real square_p = KF_R(4.5) * sum * sum, square_m = KF_R(4.5) * difference * difference;
#endif
    const kf_real axis = rate * KF_R(1.0 / 9.0), corner = rate * KF_R(1.0 / 36.0);
#if KF_BODY_FORCE
    const kf_real gx = KF_PARAMETER(a, force_x) * KF_R(1.0 / 3.0),
                  gy = KF_PARAMETER(a, force_y) * KF_R(1.0 / 3.0);
#else
    const kf_real gx = 0, gy = 0;
#endif
    const kf_real tx = KF_R(3) * jx, ty = KF_R(3) * jy;
    f->r = keep * f->r + rate * KF_R(4.0 / 9.0) * base;
    f->e = keep * f->e + axis * (base + square_x + tx) + gx;
    f->w = keep * f->w + axis * (base + square_x - tx) - gx;
    f->n = keep * f->n + axis * (base + square_y + ty) + gy;
    f->s = keep * f->s + axis * (base + square_y - ty) - gy;
    f->ne = keep * f->ne + corner * (base + square_p + (tx + ty)) + KF_R(0.25) * (gx + gy);
    f->sw = keep * f->sw + corner * (base + square_p - (tx + ty)) - KF_R(0.25) * (gx + gy);
    f->se = keep * f->se + corner * (base + square_m + (tx - ty)) + KF_R(0.25) * (gx - gy);
    f->nw = keep * f->nw + corner * (base + square_m - (tx - ty)) - KF_R(0.25) * (gx - gy);
}
#else
/* The MRT collision. It changes the populations by M^-1 k with M^-1 = W M^T diag(1/|Q|^2), since the rows
 * of M are orthogonal in the weights W. The k are the changes in moment space, already divided by the
 * norms |Q|^2. */
KF_FUNCTION void kf_collide(const kf_d2q9_arguments *a, kf_nine *f) {
    const kf_real axis_x = f->e + f->w, axis_y = f->n + f->s, axis = axis_x + axis_y;
    const kf_real slant_p = f->ne + f->sw, slant_m = f->nw + f->se, slant = slant_p + slant_m;
    const kf_real ex = f->e - f->w, ey = f->n - f->s;
    const kf_real dp = f->ne - f->sw, dm = f->se - f->nw;
    const kf_real dx = dp + dm, dy = dp - dm;
    const kf_real jx = ex + dx, jy = ey + dy;
#if KF_LINEAR
    const kf_real xx = 0, yy = 0, xy = 0;
#else
    const kf_real xx = jx * jx, yy = jy * jy, xy = jx * jy;
#endif
    const kf_real e = KF_R(4) * slant + axis - KF_R(2) * f->r;
    const kf_real epsilon = KF_R(4) * slant - KF_R(2) * axis + f->r;
    const kf_real ke = KF_PARAMETER(a, rate_e) * KF_R(0.25) * (KF_R(3) * (xx + yy) - e);
    const kf_real kxx = KF_PARAMETER(a, rate_v) * KF_R(0.25) * ((xx - yy) - (axis_x - axis_y));
    const kf_real kxy = KF_PARAMETER(a, rate_v) * KF_R(0.25) * (xy - (slant_p - slant_m));
    const kf_real keps = KF_PARAMETER(a, rate_eps) * KF_R(-0.25) * epsilon;
    const kf_real khx = KF_PARAMETER(a, rate_h) * KF_R(1.0 / 6.0) * (ex - KF_R(2) * dx);
    const kf_real khy = KF_PARAMETER(a, rate_h) * KF_R(1.0 / 6.0) * (ey - KF_R(2) * dy);
#if KF_BODY_FORCE
    const kf_real gx = KF_PARAMETER(a, force_x) * KF_R(1.0 / 3.0),
                  gy = KF_PARAMETER(a, force_y) * KF_R(1.0 / 3.0);
#else
    const kf_real gx = 0, gy = 0;
#endif
    f->r += KF_R(4.0 / 9.0) * (keps - KF_R(2) * ke);
    const kf_real even = KF_R(1.0 / 9.0) * (ke - KF_R(2) * keps), odd_x = gx - khx, odd_y = gy - khy;
    f->e += (even + kxx) + odd_x;
    f->w += (even + kxx) - odd_x;
    f->n += (even - kxx) + odd_y;
    f->s += (even - kxx) - odd_y;
    const kf_real far = KF_R(1.0 / 9.0) * (ke + keps);
    const kf_real odd_p = KF_R(0.25) * (gx + gy) + KF_R(0.5) * (khx + khy);
    const kf_real odd_m = KF_R(0.25) * (gx - gy) + KF_R(0.5) * (khx - khy);
    f->ne += (far + kxy) + odd_p;
    f->sw += (far + kxy) - odd_p;
    f->se += (far - kxy) + odd_m;
    f->nw += (far - kxy) - odd_m;
}
#endif

/* Collides a fluid node. With full-way bounce-back a solid node inverts the populations that arrived. */
KF_FUNCTION void kf_relax(const kf_d2q9_arguments *a, kf_nine *f, int solid) {
#if KF_FULL_WAY
    kf_nine g = *f;
    kf_collide(a, &g);
#define KF_SELECT(i, name, cx, cy, opposite) f->name = solid ? inverted.opposite : g.name;
    const kf_nine inverted = *f;
    KF_D2Q9(KF_SELECT)
#else
    (void)solid;
    kf_collide(a, f);
#endif
}

#endif
