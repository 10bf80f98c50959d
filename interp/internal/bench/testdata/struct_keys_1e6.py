def main():
    grid = {}
    for i in range(1000000):
        key = (i % 300, i % 200)
        grid[key] = grid.get(key, 0) + 1
    print(len(grid), grid[7, 7])
main()
