package kernel_test

// The functions of this file are compiled twice: by the Go compiler, and as parts of the kernel evaluate. TestArithmetic compares what they
// compute.

import (
	"math"

	"github.com/quernlab/quern/accel/kernel"
)

const results = 24 // that each function stores

type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func evaluate(t kernel.Thread, kind int, a, b, out []int64) {
	if i := t.Global(); i < len(a) {
		evaluateOne(kind, a[i], b[i], out[i*results:][:results])
	}
}

func evaluateOne(kind int, a, b int64, out []int64) {
	switch kind {
	case 0:
		ofIntegers[int8](a, b, out)
	case 1:
		ofIntegers[int16](a, b, out)
	case 2:
		ofIntegers[int32](a, b, out)
	case 3:
		ofIntegers[int64](a, b, out)
	case 4:
		ofIntegers[int](a, b, out)
	case 5:
		ofIntegers[uint8](a, b, out)
	case 6:
		ofIntegers[uint16](a, b, out)
	case 7:
		ofIntegers[uint32](a, b, out)
	case 8:
		ofIntegers[uint64](a, b, out)
	case 9:
		ofIntegers[uint](a, b, out)
	case 10:
		ofFloat32(math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b)), out)
	case 11:
		ofFloat64(math.Float64frombits(uint64(a)), math.Float64frombits(uint64(b)), out)
	case 12:
		conversions[int8](a, out)
	case 13:
		conversions[int16](a, out)
	case 14:
		conversions[int32](a, out)
	case 15:
		conversions[int64](a, out)
	case 16:
		conversions[uint8](a, out)
	case 17:
		conversions[uint16](a, out)
	case 18:
		conversions[uint32](a, out)
	case 19:
		conversions[uint64](a, out)
	case 20:
		statements(a, b, out)
	}
}

const kindsOfFunctions = 21

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func ofIntegers[T integer](a, b int64, out []int64) {
	x, y := T(a), T(b)
	out[0], out[1], out[2] = int64(x+y), int64(x-y), int64(x*y)
	if y != 0 {
		out[3], out[4] = int64(x/y), int64(x%y)
	}
	out[5], out[6], out[7], out[8] = int64(x&y), int64(x|y), int64(x^y), int64(x&^y)
	out[9], out[10] = int64(-x), int64(^x)
	n := uint(b) % 70
	out[11], out[12] = int64(x<<n), int64(x>>n)
	out[13], out[14] = int64(x<<3), int64(x>>2)
	out[15], out[16], out[17], out[18] = truth(x < y), truth(x <= y), truth(x == y), truth(x != y)
	out[19], out[20] = int64(min(x, y)), int64(max(x, y, 3))
	z := x
	z += y
	z <<= 1
	z++
	out[21] = int64(z)
	out[22] = int64(x / 7)
	out[23] = int64(x<<(b&7)) + truth(x > y) + 2*truth(x >= y)
}

func bits(x float32) int64 { return int64(math.Float32bits(x)) }

func ofFloat32(x, y float32, out []int64) {
	out[0], out[1], out[2], out[3] = bits(x+y), bits(x-y), bits(x*y), bits(x/y)
	out[4], out[5] = bits(-x), bits(float32(x*y)+x)
	out[6], out[7], out[8], out[9] = truth(x < y), truth(x <= y), truth(x == y), truth(x != y)
	out[10], out[11] = truth(x > y), truth(x >= y)
	out[12], out[13] = bits(min(x, y)), bits(max(x, y))
	out[14] = int64(math.Float64bits(float64(x)))
	out[15] = bits(float32(math.Sqrt(float64(x))))
	out[16] = bits(x * 2.5)
	out[17] = bits(1 / x)
	out[18] = truth(!(x < y) && x == x || y != y)
}

func bits64(x float64) int64 { return int64(math.Float64bits(x)) }

func ofFloat64(x, y float64, out []int64) {
	out[0], out[1], out[2], out[3] = bits64(x+y), bits64(x-y), bits64(x*y), bits64(x/y)
	out[4], out[5] = bits64(-x), bits(float32(x))
	out[6], out[7], out[8], out[9] = truth(x < y), truth(x <= y), truth(x == y), truth(x != y)
	out[10], out[11] = bits64(min(x, y)), bits64(max(x, y))
	out[12], out[13], out[14], out[15] = bits64(math.Sqrt(x)), bits64(math.Abs(x)), bits64(math.Floor(x)), bits64(math.Ceil(x))
	out[16], out[17], out[18] = bits64(math.Trunc(x)), bits64(math.RoundToEven(x)), bits64(math.FMA(x, y, x))
	out[19], out[20], out[21] = bits64(math.Max(x, y)), bits64(math.Min(x, y)), bits64(math.Copysign(x, y))
	out[22] = truth(math.Signbit(x)) + 2*truth(math.IsNaN(x)) + 4*truth(math.IsInf(x, 0)) + 8*truth(math.IsInf(x, 1)) + 16*truth(math.IsInf(x, -1))
	out[23] = bits64(x * math.Pi)
}

func conversions[T integer](a int64, out []int64) {
	x := T(a)
	out[0], out[1], out[2], out[3] = int64(int8(x)), int64(int16(x)), int64(int32(x)), int64(x)
	out[4], out[5], out[6], out[7] = int64(uint8(x)), int64(uint16(x)), int64(uint32(x)), int64(uint64(x))
	out[8], out[9] = bits(float32(x)), bits64(float64(x))
	out[10] = int64(int8(float64(int8(x)) / 3))
	out[11] = int64(int32(float32(int16(x)) / 7))
	out[12] = int64(uint8(float32(uint8(x)) / 2))
	out[13] = int64(float64(int32(x)) * 1.5)
	out[14] = int64(uint64(float64(uint32(x)) * 2.5))
}

type pair struct {
	first  int64
	second [3]int64
}

func (p pair) total() int64 {
	s := p.first
	for _, v := range p.second {
		s += v
	}
	return s
}

func swap[A, B any](a A, b B) (B, A) { return b, a }

func statements(a, b int64, out []int64) {
	// Assignments of several values.
	i, x := 0, [3]int64{a, b, a ^ b}
	i, x[i] = 2, 5
	out[0], out[1] = x[0], int64(i)
	a, b = b, a
	out[2], out[3] = swap(a, b)
	// Arrays and structs are values.
	p := pair{a, x}
	q := p
	q.second[1]++
	q.first, p = 7, pair{second: [3]int64{2: 9}}
	out[4], out[5] = q.total(), p.total()
	out[6] = truth(p.second == q.second)
	// Loops, labels and jumps.
	n := int64(0)
outer:
	for i := range 10 {
		for j := 0; ; j++ {
			switch {
			case j > i:
				continue outer
			case j == 7:
				break outer
			case (i+j)%3 == 0:
				continue
			}
			n += int64(i * j)
		}
	}
	out[7] = n
	// A switch evaluates its cases in order; one falls through to the next.
	switch m := uint64(a) % 5; m {
	default:
		out[8] = 1
	case 1, 2:
		out[8] = 2
		if b < 0 {
			break
		}
		fallthrough
	case 3:
		out[8] += 3
	}
	// Slices of slices.
	s := x[:]
	s = s[1:2:3]
	s[0] += 2
	out[9], out[10], out[11] = int64(len(s)), int64(cap(s)), x[1]
	s = s[:2]
	for i := range s {
		out[12] = out[12]*31 + s[i]
	}
	for i, v := range s {
		s[len(s)-1-i] = v + int64(i)
	}
	out[13], out[14] = s[0], s[1]
	// Range over an array uses a copy of it.
	for i, v := range x {
		x[2] = 100
		out[15] += v * int64(i+1)
	}
	// Operands of && and || are evaluated only if they decide.
	if k := a % 40; k >= 0 && k < 3 && x[k] != 0 || b == 5 {
		out[16] = x[max(k, 0)%3]
	}
	var nested [2][3]int64
	nested[1] = x
	nested[1][0]++
	row := nested[1]
	row[1] = -1
	out[17], out[18] = nested[1][0]+nested[1][1], row[1]+row[2]
	for k := range int8(5) {
		out[19] += int64(k)
	}
	{
		a := a + 1
		out[20] = a
	}
	out[21] = a
	const big = 1 << 40
	out[22] = a*big + big/3
	out[23] = early(a)
}

func early(a int64) (n int64) {
	for n = 0; n < 100; n++ {
		if a>>uint(n)&1 == 0 {
			return
		}
		if n == 50 {
			return -n
		}
	}
	return 1000
}
