def insert():
    m = {}
    for i in range(1000000):
        m[i] = i
    return len(m)
print(insert())
