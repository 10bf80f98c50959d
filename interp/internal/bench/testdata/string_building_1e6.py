def main():
    parts = []
    for i in range(500000):
        parts.append(str(i % 10))
        parts.append(",")
    s = "".join(parts)
    upper = 0
    for r in s:
        if r == "7":
            upper += 1
    print(len(s), upper)
main()
