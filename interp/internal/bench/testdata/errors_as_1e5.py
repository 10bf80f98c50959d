class Missing(Exception):
    def __init__(self, key):
        self.key = key
class Odd(Exception):
    pass
def find(key):
    if key % 2 == 1:
        try:
            raise Odd("odd")
        except Odd as e:
            raise RuntimeError("find: odd") from e
    try:
        raise Missing(key)
    except Missing as e:
        raise RuntimeError("find: missing") from e
def count(n):
    total = 0
    for i in range(n):
        try:
            find(i)
        except RuntimeError as e:
            if isinstance(e.__cause__, Odd):
                total += 1
            elif isinstance(e.__cause__, Missing):
                total += e.__cause__.key
    return total
print(count(100_000))
