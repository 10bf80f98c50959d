def main():
    rows = [(i * 7919 % 20011, "v") for i in range(20000)]
    rows.sort(key=lambda r: r[0])
    print(rows[0][0], rows[19999][0])
main()
