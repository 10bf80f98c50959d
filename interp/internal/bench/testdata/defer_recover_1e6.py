def guarded(n):
    try:
        if n % 10 == 0:
            raise ValueError("a tenth")
        return n
    except ValueError:
        return -1
def guards():
    total = 0
    for i in range(1000000):
        total += guarded(i)
    return total
print(guards())
