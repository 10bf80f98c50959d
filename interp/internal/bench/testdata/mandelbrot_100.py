def main():
    inside = 0
    for py in range(100):
        for px in range(100):
            x0, y0 = px / 50 - 1.5, py / 50 - 1
            x, y, i = 0.0, 0.0, 0
            while i < 100 and x * x + y * y <= 4:
                x, y = x * x - y * y + x0, 2 * x * y + y0
                i += 1
            if i == 100:
                inside += 1
    print(inside)
main()
