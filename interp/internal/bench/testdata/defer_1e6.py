class Box:
    def __init__(self):
        self.open, self.n = 0, 0
    def leave(self, k):
        self.open -= k
    def visit(self, n):
        self.open += 1
        try:
            self.n += n & 3
            return self.n
        finally:
            self.leave(1)
def visits():
    b = Box()
    for i in range(1000000):
        b.visit(i)
    return b.n + b.open
print(visits())
