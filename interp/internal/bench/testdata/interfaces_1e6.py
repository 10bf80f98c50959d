class Square:
    def __init__(self, side):
        self.side = side
    def area(self):
        return self.side * self.side
class Rectangle:
    def __init__(self, w, h):
        self.w, self.h = w, h
    def area(self):
        return self.w * self.h
def main():
    shapes = [Square(3), Rectangle(2, 5), Square(4), Rectangle(1, 7)]
    total = 0
    for i in range(1000000):
        total += shapes[i & 3].area()
    print(total)
main()
