def squares(n):
    for i in range(n):
        yield i * i
def sum(n):
    total = 0
    for x in squares(n):
        if x % 3 == 0:
            continue
        total += x
    return total
print(sum(1_000_000))
