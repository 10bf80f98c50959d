def build():
    parts = []
    for i in range(1000000):
        parts.append('x')
    return len(''.join(parts))
print(build())
