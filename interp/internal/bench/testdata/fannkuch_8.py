def main():
    n = 8
    perm1, count = list(range(n)), [0] * n
    most, total, r, number = 0, 0, n, 0
    while r >= 0:
        while r != 1:
            count[r - 1] = r
            r -= 1
        perm = perm1[:]
        flips = 0
        k = perm[0]
        while k != 0:
            perm[:k + 1] = perm[k::-1]
            flips += 1
            k = perm[0]
        most = max(most, flips)
        total += flips if number % 2 == 0 else -flips
        number += 1
        while True:
            if r == n:
                r = -1
                break
            perm1.insert(r, perm1.pop(0))
            count[r] -= 1
            if count[r] > 0:
                break
            r += 1
    print(total, most)
main()
