import math
def calls():
    s = 0.0
    for i in range(1000000):
        s += math.sqrt(float(i))
    return s
print(int(calls()))
