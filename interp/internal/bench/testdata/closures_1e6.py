def main():
    def counter(step):
        n = 0
        def count():
            nonlocal n
            n += step
            return n
        return count
    one, two = counter(1), counter(2)
    total = 0
    for _ in range(500000):
        total += one() - two()
    print(total)
main()
