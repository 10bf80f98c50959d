import queue
def selects():
    a, b = queue.SimpleQueue(), queue.SimpleQueue()
    total = 0
    for i in range(500000):
        a.put(i)
        try:
            total += a.get_nowait() & 1
        except queue.Empty:
            total = -1
    return total
print(selects())
