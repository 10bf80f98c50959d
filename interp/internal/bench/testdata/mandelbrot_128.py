def escape(c):
    z = 0j
    for n in range(200):
        if abs(z) > 2:
            return n
        z = z * z + c
    return 200
def mandelbrot(size):
    total = 0
    for y in range(size):
        for x in range(size):
            total += escape(complex(3 * x / size - 2, 2 * y / size - 1))
    return total
print(mandelbrot(128))
