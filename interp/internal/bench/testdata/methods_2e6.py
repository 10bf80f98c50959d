class Counter:
    def __init__(self):
        self.n = 0
    def add(self, k):
        self.n += k
    def get(self):
        return self.n
def methods():
    c = Counter()
    for i in range(1000000):
        c.add(1)
        if c.get() < 0:
            return 0
    return c.get()
print(methods())
