def main():
    n, found = 10, 0
    columns, up, down = [False] * n, [False] * 2 * n, [False] * 2 * n
    def place(row):
        nonlocal found
        if row == n:
            found += 1
            return
        for c in range(n):
            if columns[c] or up[row + c] or down[row - c + n]:
                continue
            columns[c] = up[row + c] = down[row - c + n] = True
            place(row + 1)
            columns[c] = up[row + c] = down[row - c + n] = False
    place(0)
    print(found)
main()
