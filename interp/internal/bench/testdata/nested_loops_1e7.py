def loops():
    s = 0
    for i in range(1000):
        for j in range(10000):
            s += j
    return s
print(loops())
