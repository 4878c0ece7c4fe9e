/* Tests the table of the case sph-dam-break: water without friction that is released at once, by boundary
 * elements. The velocity has a potential, which on the surface follows the pressure. Its derivative across
 * the surface solves Green's equation, with the walls at x = 0 and y = 0 as planes of symmetry
 * (Longuet-Higgins and Cokelet, Proc. R. Soc. A 350 (1976) 1). Faults: a wrong entry of the table.
 * KFTUNE_TEST_ALL=1 computes as finely as for the table, and prints it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "solver/validation/data.h"

enum { MOST = 200 };
static const double gravity = 9.81, height = 2.0,
                    edge = 0.05; /* m/s^2, m; radius of the column's upper edge */

/* The surface from the wall at x = 0 to the tip on the floor; m, m^2/s. */
typedef struct water {
    int nodes;
    double x[MOST], y[MOST], potential[MOST];
} water;

typedef struct rates {
    double x[MOST], y[MOST], potential[MOST];
} rates;

/* The parts of a straight element's ends in the integrals of ln r / 2 pi and of its derivative along the
 * outward normal. */
typedef struct element {
    double source[2], doublet[2];
} element;

/* ---- Green's equation ---- */

/* The element from a to b as p sees it; side: 1 where outside is to its left. */
static element see(double px, double py, const double a[2], const double b[2], double side) {
    const double length = hypot(b[0] - a[0], b[1] - a[1]);
    const double tx = (b[0] - a[0]) / length, ty = (b[1] - a[1]) / length;
    const double begin = (a[0] - px) * tx + (a[1] - py) * ty, end = begin + length;
    const double across = side * ((a[1] - py) * tx - (a[0] - px) * ty), apart = fabs(across);
    const double r0 = begin * begin + apart * apart, r1 = end * end + apart * apart;
    const double log0 = r0 > 0.0 ? log(r0) : 0.0, log1 = r1 > 0.0 ? log(r1) : 0.0;
    const double angle = apart > 1e-14 ? atan(end / apart) - atan(begin / apart) : 0.0;
    const double constant = 0.5 * (end * log1 - begin * log0) - length + apart * angle;
    const double linear = 0.25 * (r1 * log1 - r0 * log0 - (r1 - r0));
    const double doublet = across > 0.0 ? angle : -angle;
    const double doublet_linear = r0 > 0.0 && r1 > 0.0 ? 0.5 * across * (log1 - log0) : 0.0;
    const double scale = 0.5 / M_PI;
    element e;
    e.source[1] = scale * (linear - begin * constant) / length;
    e.source[0] = scale * constant - e.source[1];
    e.doublet[1] = scale * (doublet_linear - begin * doublet) / length;
    e.doublet[0] = scale * doublet - e.doublet[1];
    return e;
}

/* Solves m[n][n + 1] by elimination with pivots. */
static void eliminate(double (*m)[MOST + 1], int n, double *solution) {
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(m[i][k]) > fabs(m[best][k])) best = i;
        for (int j = k; j <= n && best != k; j++) {
            const double swapped = m[k][j];
            m[k][j] = m[best][j];
            m[best][j] = swapped;
        }
        for (int i = k + 1; i < n; i++) {
            const double factor = m[i][k] / m[k][k];
            for (int j = k; j <= n; j++)
                m[i][j] -= factor * m[k][j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = m[i][n];
        for (int j = i + 1; j < n; j++)
            sum -= m[i][j] * solution[j];
        solution[i] = sum / m[i][i];
    }
}

/* Computes the velocity out of the surface at each node. */
static void outflow(const water *w, double *out) {
    static double m[MOST][MOST + 1];
    const int n = w->nodes;
    for (int i = 0; i < n; i++) {
        double sum = 0.0, angle = 0.0;
        memset(m[i], 0, sizeof m[i]);
        for (int k = 0; k < 4 * (n - 1); k++) { /* an element and its images */
            const int j = k / 4;
            const double sx = k & 1 ? -1.0 : 1.0, sy = k & 2 ? -1.0 : 1.0;
            const double a[2] = {sx * w->x[j], sy * w->y[j]}, b[2] = {sx * w->x[j + 1], sy * w->y[j + 1]};
            const element e = see(w->x[i], w->y[i], a, b, sx * sy);
            m[i][j] += e.source[0];
            m[i][j + 1] += e.source[1];
            sum += e.doublet[0] * w->potential[j] + e.doublet[1] * w->potential[j + 1];
            angle += e.doublet[0] + e.doublet[1];
        }
        m[i][n] = sum - angle * w->potential[i];
    }
    eliminate(m, n, out);
}

/* Nodes move with the water; the potential follows Bernoulli's equation at pressure 0. */
static void find_rates(const water *w, rates *rate) {
    double out[MOST];
    const int last = w->nodes - 1;
    outflow(w, out);
    for (int i = 0; i < last; i++) {
        const int before = i == 0 ? 1 : i - 1;
        const double xb = i == 0 ? -w->x[1] : w->x[before];
        const double a = hypot(w->x[i] - xb, w->y[i] - w->y[before]);
        const double b = hypot(w->x[i + 1] - w->x[i], w->y[i + 1] - w->y[i]);
        const double low = -b / (a * (a + b)), high = a / (b * (a + b)), mid = -low - high;
        const double tx = low * xb + mid * w->x[i] + high * w->x[i + 1];
        const double ty = low * w->y[before] + mid * w->y[i] + high * w->y[i + 1], length = hypot(tx, ty);
        const double along =
            (low * w->potential[before] + mid * w->potential[i] + high * w->potential[i + 1]) / length;
        rate->x[i] = i == 0 ? 0.0 : (along * tx - out[i] * ty) / length;
        rate->y[i] = (along * ty + out[i] * tx) / length;
    }
    const double dx = w->x[last] - w->x[last - 1], dy = w->y[last] - w->y[last - 1], apart = hypot(dx, dy);
    rate->x[last] = ((w->potential[last] - w->potential[last - 1]) / apart * dx - out[last] * dy) / apart;
    rate->y[last] = 0.0;
    for (int i = 0; i <= last; i++)
        rate->potential[i] = 0.5 * (rate->x[i] * rate->x[i] + rate->y[i] * rate->y[i]) - gravity * w->y[i];
}

/* ---- Nodes ---- */

/* Second derivatives of the natural cubic spline through f at s. */
static void bend(int n, const double *s, const double *f, double *second) {
    double c[MOST] = {0.0}, d[MOST] = {0.0};
    second[0] = second[n - 1] = 0.0;
    for (int i = 1; i < n - 1; i++) {
        const double a = s[i] - s[i - 1], b = s[i + 1] - s[i], pivot = 2.0 * (a + b) - a * c[i - 1];
        c[i] = b / pivot;
        d[i] = (6.0 * ((f[i + 1] - f[i]) / b - (f[i] - f[i - 1]) / a) - a * d[i - 1]) / pivot;
    }
    for (int i = n - 2; i > 0; i--)
        second[i] = d[i] - c[i] * second[i + 1];
}

static double spline_at(const double *s, const double *f, const double *second, int i, double place) {
    const double h = s[i + 1] - s[i], a = (s[i + 1] - place) / h, b = 1.0 - a;
    return a * f[i] + b * f[i + 1] +
           ((a * a * a - a) * second[i] + (b * b * b - b) * second[i + 1]) * h * h / 6.0;
}

/* Places nodes anew along the surface: `fine` apart at the tip, `coarse` from 0.6 m before it on. */
static void place_nodes(water *w, double fine, double coarse) {
    enum { PIECES = 4000 };
    const water old = *w;
    double s[MOST], x[MOST], y[MOST], potential[MOST], wanted = 0.0, sum = 0.0;
    s[0] = 0.0;
    for (int i = 1; i < old.nodes; i++)
        s[i] = s[i - 1] + hypot(old.x[i] - old.x[i - 1], old.y[i] - old.y[i - 1]);
    const double length = s[old.nodes - 1], piece = length / PIECES;
    bend(old.nodes, s, old.x, x);
    bend(old.nodes, s, old.y, y);
    bend(old.nodes, s, old.potential, potential);
    for (int k = 0; k < PIECES; k++)
        wanted += piece / (fine + (coarse - fine) * fmin(1.0, (length - (k + 0.5) * piece) / 0.6));
    const int nodes = (int)ceil(wanted) + 1;
    assert_true(nodes <= MOST);
    int made = 1, i = 0;
    for (int k = 0; k < PIECES && made < nodes - 1; k++) {
        const double place = (k + 1) * piece;
        sum += piece / (fine + (coarse - fine) * fmin(1.0, (length - (k + 0.5) * piece) / 0.6));
        if (sum < wanted / (nodes - 1) * made) continue;
        while (i < old.nodes - 2 && s[i + 1] < place)
            i++;
        w->x[made] = spline_at(s, old.x, x, i, place);
        w->y[made] = fmax(spline_at(s, old.y, y, i, place), 1e-5);
        w->potential[made++] = spline_at(s, old.potential, potential, i, place);
    }
    w->x[made] = old.x[old.nodes - 1];
    w->y[made] = 0.0;
    w->potential[made] = old.potential[old.nodes - 1];
    w->nodes = made + 1;
}

static water column(double fine, double coarse) {
    water w = {0};
    for (int i = 0; i < 40; i++, w.nodes++)
        w.x[w.nodes] = (1.0 - edge) * i / 40, w.y[w.nodes] = height;
    for (int i = 0; i < 20; i++, w.nodes++) {
        const double angle = 0.5 * M_PI * (1.0 - i / 20.0);
        w.x[w.nodes] = 1.0 - edge + edge * cos(angle), w.y[w.nodes] = height - edge + edge * sin(angle);
    }
    for (int i = 0; i <= 100; i++, w.nodes++)
        w.x[w.nodes] = 1.0, w.y[w.nodes] = (height - edge) * (1.0 - i / 100.0);
    place_nodes(&w, fine, coarse);
    return w;
}

static void move(const water *from, const rates *rate, double step, water *to) {
    to->nodes = from->nodes;
    for (int i = 0; i < from->nodes; i++) {
        to->x[i] = from->x[i] + step * rate->x[i];
        to->y[i] = i == from->nodes - 1 ? 0.0 : fmax(from->y[i] + step * rate->y[i], 1e-5);
        to->potential[i] = from->potential[i] + step * rate->potential[i];
    }
}

/* Returns a step in which no element changes its length by more than a tenth. */
static double longest_step(const water *w, const rates *rate) {
    double step = 0.004;
    for (int i = 0; i < w->nodes - 1; i++) {
        const double change = hypot(rate->x[i + 1] - rate->x[i], rate->y[i + 1] - rate->y[i]);
        step = fmin(step, 0.1 * hypot(w->x[i + 1] - w->x[i], w->y[i + 1] - w->y[i]) / fmax(change, 0.2));
    }
    return step;
}

static double volume(const water *w) {
    double sum = 0.0;
    for (int i = 0; i < w->nodes - 1; i++)
        sum += 0.5 * (w->y[i] + w->y[i + 1]) * (w->x[i + 1] - w->x[i]);
    return sum;
}

static void the_table_is_that_of_boundary_elements(void **state) {
    (void)state;
    const bool all = getenv("KFTUNE_TEST_ALL") != NULL;
    const double fine = all ? 0.005 : 0.02, coarse = all ? 0.04 : 0.08;
    static water w, half;
    static rates rate;
    w = column(fine, coarse);
    const double begun = volume(&w);
    double time = 0.0;
    for (int k = 0; k < KF_DAM_BREAK_TIPS; k++) {
        const double end = KF_DAM_BREAK_SECONDS * k;
        while (time < end - 1e-9) {
            find_rates(&w, &rate);
            const double step = fmin(longest_step(&w, &rate), end - time);
            move(&w, &rate, 0.5 * step, &half);
            find_rates(&half, &rate);
            half = w;
            move(&half, &rate, step, &w);
            place_nodes(&w, fine, coarse);
            time += step;
        }
        const double tip = w.x[w.nodes - 1];
        if (all) print_message("%.2f s: %.4f m\n", end, tip);
        assert_true(fabs(tip - kf_dam_break_tip[k]) < (all ? 2e-4 : 4e-3));
        assert_true(fabs(volume(&w) - begun) < 5e-3 * begun);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_table_is_that_of_boundary_elements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
