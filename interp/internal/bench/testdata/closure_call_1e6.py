def closures():
    n = 0
    def f(k):
        nonlocal n
        n += k
    for i in range(1000000):
        f(1)
    return n
print(closures())
