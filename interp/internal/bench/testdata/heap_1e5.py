import heapq
class Item:
    __slots__ = ("priority", "id")
    def __init__(self, priority, id):
        self.priority = priority
        self.id = id
    def __lt__(self, other):
        return self.priority < other.priority
def push_and_pop(n):
    q = []
    seed = 1
    for i in range(n):
        seed = (seed * 1103515245 + 12345) % 2147483648
        heapq.heappush(q, Item(seed, i))
    total = 0
    for i in range(n):
        total += heapq.heappop(q).priority % (i + 1)
    return total
print(push_and_pop(100_000))
