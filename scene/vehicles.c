/* Makes a simple car and an aircraft of overlapping closed parts, in metres. x runs from nose to tail, y = 0
 * is the middle plane, and z points up. */
#include <math.h>

#include "scene/internal.h"

static const double PI = 3.14159265358979323846;

/* Interpolates the rows' values by Catmull-Rom's cubic. Rows are sorted by their first column. */
static double along(int rows, int columns, const double *table, int column, double x) {
    int r = 0;
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): rows are one array */
    while (r + 2 < rows && table[(r + 1) * columns] <= x)
        r++;
    const double *here = table + (size_t)(r * columns), *next = here + columns;
    const double *before = r > 0 ? here - columns : here, *after = r + 2 < rows ? next + columns : next;
    const double width = next[0] - here[0], t = (x - here[0]) / width;
    const double a = (next[column] - before[column]) / (next[0] - before[0]) * width;
    const double b = (after[column] - here[column]) / (after[0] - here[0]) * width;
    const double rise = next[column] - here[column];
    return here[column] + t * (a + t * (3 * rise - 2 * a - b + t * (a + b - 2 * rise)));
}

/* --- The car -------------------------------------------------------------------------------------------- */

enum { BODY_COLUMNS = 4, BODY_ROWS = 17, BODY_STATIONS = 160, BODY_POINTS = 96, WHEEL_POINTS = 48 };

/* The columns of the car's body: x, bottom, top, half the width below the windows. */
static const double body[BODY_ROWS][BODY_COLUMNS] = {
    {0.00, 0.36, 0.56, 0.58}, {0.05, 0.27, 0.64, 0.74}, {0.15, 0.21, 0.70, 0.82}, {0.40, 0.18, 0.76, 0.88},
    {0.90, 0.17, 0.85, 0.91}, {1.35, 0.17, 0.94, 0.91}, {1.62, 0.17, 1.10, 0.91}, {1.92, 0.17, 1.27, 0.91},
    {2.25, 0.17, 1.37, 0.91}, {2.65, 0.17, 1.40, 0.91}, {3.05, 0.17, 1.36, 0.91}, {3.45, 0.17, 1.25, 0.90},
    {3.85, 0.19, 1.09, 0.88}, {4.12, 0.24, 1.00, 0.85}, {4.30, 0.30, 0.96, 0.80}, {4.38, 0.36, 0.92, 0.75},
    {4.42, 0.48, 0.82, 0.64}};
/* The sides are inclined above the belt line. */
static const double BELT = 0.92, ROOF = 1.40, ROOF_NARROWER = 0.28;

/* Adds the car's body. It consists of rings of superellipses along its length, narrower above the windows. */
static void add_car_body(kf_mesh_builder *b) {
    /* The exponent of the superellipse is 2 / corner. */
    static const double corner = 0.42;
    const double length = body[BODY_ROWS - 1][0];
    kf_loft loft;
    double ring[BODY_POINTS][3];
    kf_loft_begin(&loft, b, BODY_POINTS);
    for (int i = 0; i <= BODY_STATIONS; i++) {
        /* Rings are closer together at both round ends. */
        const double x = 0.5 * length * (1.0 - cos(PI * i / BODY_STATIONS));
        const double low = along(BODY_ROWS, BODY_COLUMNS, &body[0][0], 1, x),
                     high = along(BODY_ROWS, BODY_COLUMNS, &body[0][0], 2, x),
                     half = along(BODY_ROWS, BODY_COLUMNS, &body[0][0], 3, x);
        for (int j = 0; j < BODY_POINTS; j++) {
            const double angle = 2.0 * PI * j / BODY_POINTS, c = cos(angle), s = sin(angle);
            const double across = copysign(pow(fabs(c), corner), c), up = copysign(pow(fabs(s), corner), s);
            const double z = low + 0.5 * (high - low) * (1.0 + up);
            const double lean = fmax(0.0, z - BELT) / (ROOF - BELT) * ROOF_NARROWER;
            ring[j][0] = x;
            ring[j][1] = across * (half - lean);
            ring[j][2] = z;
        }
        kf_loft_ring(&loft, ring);
    }
    kf_loft_end(&loft);
}

void kf_shape_car(const double *values, kf_mesh_builder *b) {
    static const double wheel[][2] = {{0, 0.24}, {0, 0.30}, {0.15, 0.33}, {0.85, 0.33}, {1, 0.30}, {1, 0.24}};
    static const double mirror[][2] = {{0, 0.035}, {0.1, 0.055}, {0.5, 0.075}, {0.9, 0.07}, {1, 0.06}};
    static const double axle[] = {0.86, 3.48};
    (void)values;
    enum { WHEEL_RINGS = sizeof wheel / sizeof *wheel, MIRROR_RINGS = sizeof mirror / sizeof *mirror };
    add_car_body(b);
    for (int side = -1; side <= 1; side += 2) {
        for (int a = 0; a < 2; a++)
            kf_loft_tube(b, (double[3]){axle[a], side * 0.70, 0.33}, (double[3]){axle[a], side * 0.93, 0.33},
                         WHEEL_POINTS, WHEEL_RINGS, wheel);
        kf_loft_tube(b, (double[3]){1.50, side * 0.98, 0.97}, (double[3]){1.68, side * 1.00, 0.98},
                     WHEEL_POINTS, MIRROR_RINGS, mirror);
    }
}

/* --- The aircraft --------------------------------------------------------------------------------------- */

enum { HULL_COLUMNS = 3, HULL_ROWS = 12, HULL_STATIONS = 160, HULL_POINTS = 64 };
enum { WING_STATIONS = 48, WING_POINTS = 64, ENGINE_POINTS = 48 };

/* The columns of the hull: x, radius, height of the middle. */
static const double hull[HULL_ROWS][HULL_COLUMNS] = {
    {0.0, 0.10, -0.50}, {0.35, 0.62, -0.46}, {1.0, 1.10, -0.36}, {2.2, 1.60, -0.18},
    {4.0, 1.93, -0.03}, {6.0, 2.00, 0.00},   {14.0, 2.00, 0.00}, {23.0, 2.00, 0.00},
    {27.0, 1.82, 0.16}, {31.0, 1.30, 0.55},  {35.0, 0.62, 1.00}, {37.5, 0.16, 1.25}};

/* Adds the aircraft's hull, which consists of circles along its length. */
static void add_hull(kf_mesh_builder *b) {
    const double length = hull[HULL_ROWS - 1][0];
    kf_loft loft;
    double ring[HULL_POINTS][3];
    kf_loft_begin(&loft, b, HULL_POINTS);
    for (int i = 0; i <= HULL_STATIONS; i++) {
        const double x = 0.5 * length * (1.0 - cos(PI * i / HULL_STATIONS));
        const double radius = along(HULL_ROWS, HULL_COLUMNS, &hull[0][0], 1, x),
                     middle = along(HULL_ROWS, HULL_COLUMNS, &hull[0][0], 2, x);
        for (int j = 0; j < HULL_POINTS; j++) {
            const double angle = 2.0 * PI * j / HULL_POINTS;
            ring[j][0] = x;
            ring[j][1] = radius * cos(angle);
            ring[j][2] = middle + radius * sin(angle);
        }
        kf_loft_ring(&loft, ring);
    }
    kf_loft_end(&loft);
}

/* A wing's section at one end: leading edge and chord. */
typedef struct section {
    double edge[3], chord;
} section;

/* Adds a wing with symmetric sections of 12 % thickness (NACA 0012, closed trailing edge) from root to tip.
 * thick: the axis of the thickness. */
static void add_wing(kf_mesh_builder *b, const section *root, const section *tip, int thick) {
    static const double thickness = 0.12;
    kf_loft loft;
    double ring[WING_POINTS][3];
    const bool reversed = thick == 2 ? tip->edge[1] > root->edge[1] : tip->edge[2] < root->edge[2];
    kf_loft_begin(&loft, b, WING_POINTS);
    for (int i = 0; i <= WING_STATIONS; i++) {
        const double t = (double)i / WING_STATIONS, near_tip = fmax(0.0, t - 0.96) / 0.04;
        /* The tip is round. */
        const double slim = sqrt(fmax(0.0, 1.0 - near_tip * near_tip)) * 0.98 + 0.02;
        const double chord = root->chord + t * (tip->chord - root->chord);
        for (int j = 0; j < WING_POINTS; j++) {
            const double angle = 2.0 * PI * j / WING_POINTS * (reversed ? -1.0 : 1.0);
            const double x = 0.5 * (1.0 + cos(angle));
            const double y = 5.0 * thickness *
                             (0.2969 * sqrt(x) - x * (0.1260 + x * (0.3516 - x * (0.2843 - 0.1036 * x))));
            for (int a = 0; a < 3; a++)
                ring[j][a] = root->edge[a] + t * (tip->edge[a] - root->edge[a]);
            ring[j][0] += chord * x;
            ring[j][thick] += slim * chord * copysign(y, sin(angle));
        }
        kf_loft_ring(&loft, ring);
    }
    kf_loft_end(&loft);
}

/* Makes an aircraft: hull, wings, tailplanes, fin and two engines. */
void kf_shape_aircraft(const double *values, kf_mesh_builder *b) {
    static const double engine[][2] = {{0, 0.80},    {0.02, 0.98}, {0.12, 1.10}, {0.45, 1.12},
                                       {0.75, 0.92}, {0.95, 0.66}, {1, 0.55}};
    enum { ENGINE_RINGS = sizeof engine / sizeof *engine };
    (void)values;
    add_hull(b);
    for (int side = -1; side <= 1; side += 2) {
        const section root = {{11.6, side * 0.5, -1.1}, 7.4}, tip = {{20.6, side * 17.5, 0.7}, 1.7};
        const section tail_root = {{32.0, side * 0.2, 1.1}, 4.2}, tail_tip = {{35.6, side * 6.3, 1.6}, 1.5};
        add_wing(b, &root, &tip, 2);
        add_wing(b, &tail_root, &tail_tip, 2);
        kf_loft_tube(b, (double[3]){11.4, side * 5.8, -1.95}, (double[3]){16.2, side * 5.8, -1.80},
                     ENGINE_POINTS, ENGINE_RINGS, engine);
    }
    const section fin_root = {{29.6, 0, 1.6}, 6.2}, fin_tip = {{35.4, 0, 7.6}, 2.2};
    add_wing(b, &fin_root, &fin_tip, 1);
}
