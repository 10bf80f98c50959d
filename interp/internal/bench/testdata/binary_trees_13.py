def bottom_up(depth):
    if depth == 0:
        return (None, None)
    return (bottom_up(depth - 1), bottom_up(depth - 1))
def count(t):
    left, right = t
    if left is None:
        return 1
    return 1 + count(left) + count(right)
def main():
    total = 0
    for depth in range(4, 14, 3):
        for _ in range(1 << (13 - depth)):
            total += count(bottom_up(depth))
    print(total)
main()
