from math import sqrt
def main():
    bodies = [
        [0, 0, 0, 0, 0, 0, 39.47],
        [4.84, -1.16, -0.10, 0.60, 2.81, -0.02, 0.037],
        [8.34, 4.12, -0.40, -1.01, 1.82, 0.008, 0.011],
        [12.89, -15.11, -0.22, 1.08, 0.86, -0.010, 0.0017],
        [15.37, -25.91, 0.17, 0.97, 0.59, -0.034, 0.0020],
    ]
    pairs = [(bodies[i], bodies[j]) for i in range(5) for j in range(i + 1, 5)]
    for _ in range(50000):
        for a, b in pairs:
            dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
            d2 = dx * dx + dy * dy + dz * dz
            mag = 0.001 / (d2 * sqrt(d2))
            am, bm = a[6] * mag, b[6] * mag
            a[3] -= dx * bm
            a[4] -= dy * bm
            a[5] -= dz * bm
            b[3] += dx * am
            b[4] += dy * am
            b[5] += dz * am
        for b in bodies:
            b[0] += 0.001 * b[3]
            b[1] += 0.001 * b[4]
            b[2] += 0.001 * b[5]
    print(int(bodies[1][0] * 1000))
main()
