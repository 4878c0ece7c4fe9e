# Prints a body as OBJ, closed, x along the wind, of unit reference size, for scripts/gpu/coverage.sh.
# usage: awk -f bodies.awk -v body=NAME [-v a=NUMBER] [-v degrees=NUMBER] /dev/null
# sphere; spheroid (a: length over diameter); disc and rod (a: length over diameter, flat ends to the wind);
# hemisphere (round side first; a=-1: flat side first); crossrod (a: length over diameter, axis along y);
# wedge (a: length over base height, edge first), saloon (three boxes of a car, of unit height), both 1.4 deep;
# tube and bar (round and square cylinder of length a along z, open at both ends, for a periodic slab);
# box (a: length along the wind over its unit height and width; degrees: turned about y, nose up).
function vertex(x, y, z,   c, s) {
    c = cos(turn); s = sin(turn)
    printf "v %.9f %.9f %.9f\n", c * x + s * z, y, c * z - s * x
    return ++vertices
}
function quad(i, j, k, l) { printf "f %d %d %d\nf %d %d %d\n", i, j, k, i, k, l }
# ring RADIUS X: of a body of revolution about x, or about y for a rod across the wind.
function ring(radius, along,   i, angle, y, z) {
    for (i = 0; i < SEGMENTS; i++) {
        angle = 2 * PI * i / SEGMENTS; y = radius * cos(angle); z = radius * sin(angle)
        if (across) vertex(-y, along, z); else vertex(along, y, z)
    }
    if (rings++ > 0) for (i = 0; i < SEGMENTS; i++)
        quad(last + i, vertices - SEGMENTS + 1 + i, vertices - SEGMENTS + 1 + (i + 1) % SEGMENTS, last + (i + 1) % SEGMENTS)
    last = vertices - SEGMENTS + 1
}
# cap X: a fan that closes the front (before the first ring: kept) or the back.
function fan(centre, first, backward,   i, j) {
    for (i = 0; i < SEGMENTS; i++) {
        j = (i + 1) % SEGMENTS
        if (backward) printf "f %d %d %d\n", centre, first + j, first + i; else printf "f %d %d %d\n", centre, first + i, first + j
    }
}
function point(along) { return across ? vertex(0, along, 0) : vertex(along, 0, 0) }
# A flat end gets rings of its own, so that triangles stay short.
function revolve(kind,   n, i, t, front, first, length_) {
    n = 48
    if (kind == "round") { # a spheroid of length a
        front = point(-0.5 * a); first = vertices + 1
        for (i = 1; i < n; i++) { t = PI * i / n; ring(0.5 * sin(t), -0.5 * a * cos(t)) }
    } else if (kind == "half") { # a hemisphere of radius 1/2, round side at x = -1/4
        front = point(-0.25); first = vertices + 1
        for (i = 1; i <= n / 2; i++) { t = PI * i / n; ring(0.5 * sin(t), 0.25 - 0.5 * cos(t)) }
        for (i = 11; i > 0; i--) ring(0.5 * i / 12, 0.25)
    } else { # a cylinder of length a
        front = point(-0.5 * a); first = vertices + 1
        for (i = 1; i < 12; i++) ring(0.5 * i / 12, -0.5 * a)
        for (i = 0; i <= 24; i++) ring(0.5, a * (i / 24 - 0.5))
        for (i = 11; i > 0; i--) ring(0.5 * i / 12, 0.5 * a)
    }
    fan(front, first, 1)
    fan(point(kind == "half" ? 0.25 : 0.5 * a), last, 0)
}
# prism POINTS WIDTH: the polygon "x,z x,z ..." of points against the clock, seen from -y, star-shaped about its first one.
function prism(points, width,   n, i, j, list, xz) {
    n = split(points, list, " ")
    for (i = 1; i <= n; i++) { split(list[i], xz, ","); vertex(xz[1], -0.5 * width, xz[2]); vertex(xz[1], 0.5 * width, xz[2]) }
    for (i = 2; i <= n; i++) {
        j = i == n ? 2 : i + 1
        quad(2 * i - 1, 2 * i, 2 * j, 2 * j - 1)
        printf "f 1 %d %d\nf 2 %d %d\n", 2 * i - 1, 2 * j - 1, 2 * j, 2 * i
    }
}
# slab N: the side of a cylinder with N edges along z.
function slab(n,   i, j, angle) {
    for (i = 0; i < n; i++) {
        angle = 2 * PI * (i + (n == 4 ? 0.5 : 0)) / n
        for (j = 0; j < 2; j++) vertex((n == 4 ? sqrt(0.5) : 0.5) * cos(angle), (n == 4 ? sqrt(0.5) : 0.5) * sin(angle), (j - 0.5) * a)
    }
    for (i = 0; i < n; i++) { j = (i + 1) % n; quad(2 * i + 1, 2 * j + 1, 2 * j + 2, 2 * i + 2) }
}
BEGIN {
    PI = atan2(0, -1); SEGMENTS = 96
    if (a == 0) a = 1
    turn = degrees * PI / 180
    if (body == "sphere") { a = 1; revolve("round") }
    else if (body == "spheroid") revolve("round")
    else if (body == "hemisphere") { if (a < 0) turn = PI; revolve("half") }
    else if (body == "disc" || body == "rod") revolve("flat")
    else if (body == "crossrod") { across = 1; revolve("flat") }
    else if (body == "box") {
        for (i = 0; i < 8; i++) vertex((i % 2 - 0.5) * a, (int(i / 2) % 2) - 0.5, int(i / 4) - 0.5)
        quad(1, 3, 4, 2); quad(5, 6, 8, 7); quad(1, 2, 6, 5); quad(3, 7, 8, 4); quad(1, 5, 7, 3); quad(2, 4, 8, 6)
    } else if (body == "wedge") prism("0," 0 " " (-a / 2) ",0 " (a / 2) ",-0.5 " (a / 2) ",0.5", 1.4)
    else if (body == "saloon") prism("0.1,0 -1.5,-0.5 1.5,-0.5 1.5,0.1 0.9,0.15 0.6,0.5 -0.3,0.5 -0.7,0.1 -1.5,0", 1.4)
    else if (body == "tube") slab(192)
    else if (body == "bar") slab(4)
    else { print "bodies.awk: no body is called " body >"/dev/stderr"; exit 2 }
}
