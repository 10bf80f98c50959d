def main():
    people = []
    seed = 1
    for _ in range(100000):
        seed = (seed * 1103515245 + 12345) % 2147483648
        people.append((str(seed % 100), seed % 89))
    people.sort(key=lambda p: (p[1], p[0]))
    print(people[50000][1], people[50000][0])
main()
