from math import sqrt
def a(i, j):
    return 1 / ((i + j) * (i + j + 1) // 2 + i + 1)
def transposed(i, j):
    return a(j, i)
def times(x, at):
    return [sum(at(i, j) * e for j, e in enumerate(x)) for i in range(len(x))]
def main():
    u = [1.0] * 100
    for _ in range(10):
        v = times(times(u, a), transposed)
        u = times(times(v, a), transposed)
    uv = sum(x * y for x, y in zip(u, v))
    vv = sum(y * y for y in v)
    print(int(sqrt(uv / vv) * 1e6))
main()
