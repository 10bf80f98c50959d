import functools
class Person:
    __slots__ = ("name", "age")
    def __init__(self, name, age):
        self.name = name
        self.age = age
def compare(a, b):
    return -1 if a.age < b.age else 1 if a.age > b.age else 0
def sort(n):
    people = []
    seed = 1
    for i in range(n):
        seed = (seed * 1103515245 + 12345) % 2147483648
        people.append(Person("p", seed))
    people.sort(key=functools.cmp_to_key(compare))
    total = 0
    for i, p in enumerate(people):
        total += p.age % (i + 1)
    return total
print(sort(100_000))
