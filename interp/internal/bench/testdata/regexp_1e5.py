import re
def main():
    text = "name=value; other=thing, x=1 " * 10000
    total = 0
    for key, value in re.findall("([a-z]+)=([a-z0-9]+)", text):
        total += len(key) * len(value)
    print(total)
main()
