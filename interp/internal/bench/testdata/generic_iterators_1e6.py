def keep_if(seq, keep):
    for x in seq:
        if keep(x):
            yield x
def convert(seq, f):
    for x in seq:
        yield f(x)
def up_to(n):
    i = 0
    while i < n:
        yield i
        i += 1
def main():
    total = 0
    for x in convert(keep_if(up_to(1000000), lambda n: n % 3 == 0), lambda n: n * 2):
        total += x
    print(total)
main()
