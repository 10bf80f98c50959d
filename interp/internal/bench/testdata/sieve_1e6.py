def sieve(n):
    composite = [False] * (n + 1)
    count = 0
    for i in range(2, n + 1):
        if composite[i]:
            continue
        count += 1
        for j in range(i * i, n + 1, i):
            composite[j] = True
    return count
print(sieve(1000000))
