package kernel_test

// The functions of this file, like those of functions_test.go, are compiled by the Go compiler and as parts of the kernel oddities.
// TestOddities compares what they return. Each uses something that is easily compiled wrongly.

import (
	"math"

	"github.com/quernlab/quern/accel/kernel"
)

func oddities(t kernel.Thread, n int, a, b, out []int64) {
	if i := t.Global(); i < len(a) {
		for k := range n {
			var scratch [8]int64
			out[i*n+k] = oddity(k, a[i], b[i], scratch[:])
		}
	}
}

const kindsOfOddities = 103

type small interface{ ~int8 | ~uint8 | ~int16 }

type celsius float64

func (c celsius) warmer(by celsius) celsius { return c + by }

type point struct{ x, y int32 }

func (p point) plus(q point) point { return point{p.x + q.x, p.y + q.y} }

func (p point) scaled(n int32) (q point) {
	q = p
	q.x *= n
	if n < 0 {
		return
	}
	q.y *= n
	return q
}

type box struct {
	point
	corners [2]point
	full    bool
}

type stack[T any] struct {
	items [4]T
	n     int
}

func (s stack[T]) pushed(v T) stack[T] {
	s.items[s.n%4] = v
	s.n++
	return s
}

func (s stack[T]) top() T { return s.items[(s.n+3)%4] }

func sumOf[S ~[]E, E ~int64 | ~float64](s S) (total E) {
	for _, v := range s {
		total += v
	}
	return
}

func mapped[A, B int64 | float64 | int32](x A, one B) B { return B(x) + one }

func twice[T small](x T) T { return x + x }

func clampTo[T int64 | float32](x, low, high T) T { return max(low, min(x, high)) }

func divmod(a, b int64) (q, r int64) {
	if b == 0 {
		return 0, a
	}
	return a / b, a % b
}

func named(a int64) (x, y int64) {
	x, y = a, 2
	if a > 10 {
		return y, x
	}
	y += x
	return
}

func nested(depth int64) int64 {
	for i := int64(0); ; i++ {
		for j := int64(0); j < 3; j++ {
			if i*j >= depth&15 {
				return 10*i + j
			}
		}
	}
}

func fill(s []int64, v int64) { // a slice shares its array
	for i := range s {
		s[i] = v + int64(i)
	}
}

func reslice(s []int64) []int64 { return s[1:3:5] }

const (
	huge  = 1 << 100
	tiny  = 1.0 / huge
	first = iota + 1
	second
	mask   = ^uint32(0)
	letter = 'x'
)

const (
	kb = 1 << (10 * (iota + 1))
	mb
)

func oddity(kind int, a, b int64, s []int64) int64 {
	switch kind {
	case 0: // arithmetic in small types wraps
		return int64(uint8(a)+uint8(b)) + int64(uint8(a)*uint8(b))<<8 + int64(-uint8(a))<<16
	case 1:
		x := uint8(a)
		x--
		x += 3
		x <<= 1
		x ^= 0x5a
		return int64(x)
	case 2:
		x, y := int8(a), int8(b)
		if y == 0 {
			y = -1
		}
		return int64(x/y)<<8 | int64(uint8(x%y))
	case 3:
		x, y := int16(a), int16(b)
		return int64(x<<(uint(y)&31)) + int64(x>>(uint(y)&31))
	case 4: // shifts by as much as the width, or more
		n := uint64(b)
		return a<<n ^ a>>n ^ int64(uint64(a)>>n)
	case 5:
		n := uint64(b)
		return int64(int32(a)<<n) ^ int64(int32(a)>>n) ^ int64(uint32(a)>>n)
	case 6:
		n := uint8(b)
		return int64(uint8(a)<<n) ^ int64(int8(a)>>n)
	case 7:
		return a<<63>>63 ^ int64(uint64(a)<<40>>33) ^ int64(int8(a)<<7)
	case 8:
		return int64(uint16(1)<<(uint(b)&63)) + int64(uint32(1)<<(uint(b)&63))
	case 9: // division and remainder
		if b == 0 {
			return 1
		}
		return a/b ^ a%b
	case 10:
		return a/-1 ^ a%-1 ^ a/7 ^ a%-7 ^ a/math.MinInt64
	case 11:
		q, r := divmod(int64(int32(a)), int64(int32(b)))
		return q<<1 ^ r
	case 12:
		if uint32(b) == 0 {
			return 0
		}
		return int64(uint32(a)/uint32(b)) + int64(uint32(a)%uint32(b))<<20
	case 13:
		return int64(int32(a)/4) + int64(int32(a)%4) + int64(uint64(a)/1000) + int64(int64(int8(a))/16)
	case 14: // comparisons of unsigned and signed numbers
		return truth(uint64(a) < uint64(b)) + 2*truth(a < b) + 4*truth(uint8(a) < uint8(b)) + 8*truth(int8(a) < int8(b)) + 16*truth(uint32(a) <= uint32(b))
	case 15: // NaN
		x, nan := float64(a), math.NaN()
		if a&1 == 0 {
			x = nan
		}
		return truth(x == x) + 2*truth(x != x) + 4*truth(x < 1) + 8*truth(!(x >= 1)) + 16*truth(x > nan) + 32*truth(nan != nan)
	case 16:
		x := float32(a) / float32(b) // may be an infinity or NaN
		return truth(x < 0) + 2*truth(!(x < 0)) + 4*truth(x == x) + 8*truth(min(x, 1) != min(x, 1)) + 16*truth(max(1, x, 2) == 2)
	case 17:
		x := 0.0
		y := -x
		return truth(math.Signbit(min(x, y))) + 2*truth(math.Signbit(max(y, x))) + 4*truth(x == y) + 8*truth(1/y < 0)
	case 18: // min and max of constants and several operands
		return max(a, b, 5) - min(a, 7, b) + int64(max(3, 2.0)) + int64(min(uint8(a), 200))
	case 19:
		return bits(max(float32(a), float32(b))) ^ bits(min(float32(a), 2.5))
	case 20: // ranges
		n := int64(0)
		for i := range a & 7 {
			n = 10*n + i
		}
		return n
	case 21:
		n := 0
		for range 5 {
			n++
		}
		for i := range uint8(200) {
			n += int(i & 1)
		}
		for i := range int8(-3) {
			n += int(i) + 100
		}
		return int64(n)
	case 22:
		n := int64(0)
		for i := range 10 { // changes of the index do not change the loop
			i *= 3
			n += int64(i)
		}
		return n
	case 23:
		x := [3]int64{a, b, 1}
		n := int64(0)
		for i, v := range x { // a copy
			x[2] = 100
			n += v * int64(i+1)
		}
		return n + x[2]
	case 24:
		fill(s, a)
		n := int64(0)
		for i, v := range s { // not a copy
			s[7] = 3
			n += v ^ int64(i)
		}
		return n
	case 25:
		n := int64(0)
		for i := range s[:0] {
			n += int64(i) + 1
		}
		for range s[2:5] {
			n++
		}
		return n + int64(len(s[3:3]))
	case 26: // labels
		n := int64(0)
	outer:
		for i := range int64(6) {
			for j := range int64(6) {
				if (i+a)&3 == j {
					continue outer
				}
				if i*j > b&31 {
					break outer
				}
				n += i*6 + j
			}
			n += 1000
		}
		return n
	case 27:
		n := a & 7
	loop:
		for {
			switch {
			case n > 20:
				break loop
			case n&1 == 0:
				n += 3
				continue loop
			}
			n *= 2
			n++
		}
		return n
	case 28:
		n := a & 3
	first:
		for i := range 3 {
		second:
			switch {
			case n == 1:
				for {
					n++
					if i == 1 {
						continue first
					}
					break second
				}
			case n > 12:
				break first
			}
			n += 10
		}
		return n
	case 29:
		n := int64(0)
	choice:
		switch a & 3 {
		case 0:
			for {
				n++
				if n > b&7 {
					break choice
				}
			}
		case 1:
			n = 50
			fallthrough
		case 2:
			n += 100
		default:
			n = 7
		}
		return n
	case 30: // switches
		switch x := a & 7; {
		case x < 2:
			return 1
		case x < 4 && b > 0, x == 7:
			return 2
		}
		return 3
	case 31:
		n := int64(0)
		switch uint8(a) {
		case 0, 255:
			n = 1
			fallthrough
		case 1, 2, 3:
			n += 2
			if b > 0 {
				break
			}
			fallthrough
		default:
			n += 4
		case 100, 'a':
			n = 8
		}
		return n
	case 32:
		switch {
		default:
			return 1
		case a > b:
			return 2
		case a == b:
			return 3
		}
	case 33:
		switch a {
		}
		switch x := float64(b); x {
		case 1.5, 0, -1:
			return 1
		}
		switch a > 0 {
		case true:
			return 2
		case b > 0:
			return 3
		}
		return 4
	case 34: // shadowing
		x := a
		if x := b; x > 0 {
			x++
			a += x
		} else if x := x * 2; x < -10 {
			a -= x
		}
		{
			a := x
			a++
			b = a
		}
		return a ^ b ^ x
	case 35:
		len := func1(a)
		true := len > 0
		if true {
			return 1
		}
		return 0
	case 36:
		n := int64(0)
		for i := int64(0); i < 4; i++ {
			i := i * a
			n += i
			var a int64
			a += i
			n ^= a
		}
		return n
	case 37: // evaluation and assignment of several values
		a, b = b, a+b
		a, b = a-b, a
		return a ^ b<<1
	case 38:
		x := [4]int64{a, b, 2, 3}
		i := int64(1)
		i, x[i], x[i+1] = 3, x[i+1], x[i]
		return x[1] + 2*x[2] + i
	case 39:
		x := [3]int64{1, 2, 3}
		x[0], x[1], x[2] = x[2], x[0], x[1]
		y := x
		y[0] = a
		return x[0] + 10*x[1] + 100*x[2] + y[0]
	case 40:
		q, _ := divmod(a, b)
		_, r := divmod(a, 3)
		x, y := named(a)
		return q ^ r ^ x<<3 ^ y
	case 41:
		fill(s, 1)
		s[0], s[1] = named(s[2])
		s[s[0]&7] += s[1]
		return sumOf(s)
	case 42: // slices
		fill(s, a)
		r := reslice(s)
		r[0] = 7
		r = r[:4]
		return r[3] + s[1] + int64(len(r)) + int64(cap(r))<<8
	case 43:
		fill(s, b)
		r := s[2:6]
		r = r[1:]
		q := r[:cap(r)]
		q[len(q)-1] = 5
		return s[7] + int64(len(r))*10 + int64(cap(r))
	case 44:
		var x [8]int64
		r := x[:]
		r[3], r[a&7] = a, 9
		y := x
		r[3] = 1
		return y[3] + x[3] + x[a&7]
	case 45:
		x := [...]int64{2: a, 5: b, 7}
		return int64(len(x)) + x[2] ^ x[5] + x[6] + x[0]
	case 46:
		x := [2][3]int32{{1, 2, 3}, {4, int32(a), 6}}
		y := x[1]
		x[1][2]++
		x[0] = y
		return int64(x[0][1]) + int64(x[1][2]) + int64(y[2])
	case 47: // structs
		p := point{int32(a), int32(b)}
		q := p
		q.x++
		p = p.plus(q).scaled(3)
		return int64(p.x)<<32 ^ int64(p.y) ^ int64(q.x)
	case 48:
		p := point{1, int32(a)}.scaled(-2)
		return int64(p.x)*1000 + int64(p.y)
	case 49:
		x := box{point: point{y: int32(a)}}
		x.x = 5
		x.corners[b&1] = x.plus(point{1, 1})
		y := x
		y.corners[1].x += 100
		return int64(x.corners[1].x) + int64(y.corners[1].x)<<8 + int64(x.corners[0].y)<<16 + truth(x == y)
	case 50:
		var x [3]box
		x[a&1].corners[1] = point{7, 8}
		x[2] = x[1]
		x[2].full = true
		return int64(x[2].corners[1].y) + truth(x[2] == x[1]) + 2*truth(x[0].point == x[1].point) + 4*truth(x[2].full)
	case 51:
		type pair struct {
			k int64
			v [2]bool
		}
		x := [2]pair{{k: a}, {b, [2]bool{true, a > 0}}}
		x[0], x[1] = x[1], x[0]
		return x[0].k ^ x[1].k<<1 ^ truth(x[0].v[1]) ^ truth(x[1].v[0])
	case 52:
		v := struct {
			a, b int64
			_    bool
		}{a: a, b: b}
		w := v
		w.a, w.b = w.b, w.a
		return truth(v == w) + w.a
	case 53: // generics
		var st stack[int64]
		st = st.pushed(a).pushed(b).pushed(3)
		return st.top() + st.items[1]
	case 54:
		st := stack[point]{n: 1}.pushed(point{int32(a), 2})
		return int64(st.top().x) + int64(st.n)
	case 55:
		return int64(mapped[int64, float64](a>>12, 0.5)) + int64(mapped(float64(b&1023)/2, int32(1))) + int64(twice(int8(a))) + int64(twice(uint8(b)))
	case 56:
		return clampTo(a, -5, 5) + int64(clampTo(float32(b), -2.5, 2.5)*2)
	case 57:
		x := [3]float64{float64(a), 1.5, 2}
		return bits64(sumOf(x[:2]))
	case 58: // conversions
		return int64(int8(a)) + int64(uint16(int8(b)))<<8 + int64(uint32(int16(a)))<<16
	case 59:
		return int64(float32(uint64(a)>>2)) ^ int64(float64(uint32(b))) ^ bits(float32(uint64(b)))
	case 60:
		return bits(float32(a)) ^ bits64(float64(b)) ^ bits(float32(float64(a)))
	case 61:
		return int64(int32(float64(int32(a))/3)) + int64(uint8(float32(uint8(b))/3)) + int64(celsius(int16(a)).warmer(0.25)*4)
	case 62: // constants
		return huge>>98 + int64(tiny*huge) + int64(first) + int64(second)<<4 + int64(mask) + letter + kb + mb
	case 63:
		const c = 1<<62 - 1 + 1<<62
		var f float32 = 1 << 40
		var d = 0.1 + 0.2
		return c ^ bits(f) ^ bits64(d) ^ bits(0.1) ^ bits64(1e400/1e390)
	case 64:
		var x uint64 = math.MaxUint64
		var y uint32 = math.MaxUint32
		return int64(x) + int64(y) + int64(x>>60) + math.MinInt64 + int64('\n') + int64(len("text"))
	case 65:
		return truth(a > 3.0) + 2*truth(float64(b) < 1e18) + int64(5.0/2*float64(a&1)) + 5/2*(a&1)
	case 66: // logic
		x, y := a > 0, b > 0
		return truth(x && y) + 2*truth(x || y) + 4*truth(x != y) + 8*truth(!x == y) + 16*truth(x == (a > 0))
	case 67:
		return truth(b != 0 && a/b > 1) + 2*truth(b == 0 || a%b == 0)
	case 68:
		fill(s, 0)
		i := a & 15
		return truth(i < 8 && s[i&7] == i) + 2*truth(i < int64(len(s)) && s[i] > 3)
	case 69: // bits
		return a&b ^ (a | b) ^ a&^b ^ ^a ^ -b
	case 70:
		x := uint32(a)
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		return int64(x)
	case 71:
		h := uint64(14695981039346656037)
		for i := range 8 {
			h ^= uint64(a) >> (8 * i) & 255
			h *= 1099511628211
		}
		return int64(h)
	case 72:
		n := int64(0)
		for x := uint64(a); x != 0; x &= x - 1 {
			n++
		}
		return n
	case 73:
		x := a
		x &^= b
		x |= 1
		x %= 1000
		x /= 3
		x -= b
		x >>= 2
		return x
	case 74: // loops
		n, x := int64(0), uint64(a)>>40
		for x != 1 && n < 200 {
			if x&1 == 0 {
				x >>= 1
			} else {
				x = 3*x + 1
			}
			n++
		}
		return n
	case 75:
		n := int64(0)
		for i, j := int64(0), a&15; i < j; i, j = i+1, j-1 {
			n += i*j + 1
		}
		return n
	case 76:
		n := int64(0)
		for i := uint8(250); i != 3; i++ { // wraps
			n += int64(i)
		}
		return n
	case 77:
		return nested(a)
	case 78:
		n := a & 3
		for n < 5 {
			if n == 2 {
				n += 2
				continue
			}
			n++
			if b > 100 {
				return n * 100
			}
		}
		return n
	case 79:
		x, y := a, b
		for y != 0 && x != math.MinInt64 {
			x, y = y, x%y
		}
		return x
	case 80:
		var found int64 = -1
		fill(s, a)
		for i, v := range s {
			if v&3 == b&3 {
				found = int64(i)
				break
			}
		}
		return found
	case 81:
		n := int64(0)
		for i := range 3 { // unrolled, with a switch and jumps in it
			switch {
			case int64(i) == a&3:
				continue
			case int64(i) == b&3:
				n += 100
				break
			default:
				n += 10
			}
			if n > 150 {
				break
			}
			n++
		}
		return n
	case 82:
		var table [4]int64
		for i := range table {
			for j := range 4 {
				table[i] += int64(i*j) + a
			}
		}
		return table[3] - table[a&3]
	case 83:
		var v int64
		for i := range int64(5) {
			var fresh int64
			if i&1 == 0 {
				fresh = a
			}
			v = v*3 + fresh
		}
		return v
	case 84: // floats round after each operation
		x := float32(a)
		return bits(x*x+x) ^ bits(x*1.1-x*0.1) ^ bits(x/3*3)
	case 85:
		x := float64(a) / 7
		return bits64(x*x-x) ^ bits64(x*0.1+0.3)
	case 86:
		var sum float32
		for i := range 20 {
			sum += 1 / float32(i+1) * float32(a&255)
		}
		return bits(sum)
	case 87:
		x := float32(a)
		x++
		x -= 0.5
		x *= -x
		x /= 1.5
		return bits(-x)
	case 88:
		return bits64(math.Sqrt(float64(uint32(a)))) ^ bits64(math.Floor(float64(b)/3)) ^ bits64(math.Trunc(-float64(uint8(b))/3))
	case 89:
		x := math.Float32frombits(uint32(a))
		return int64(math.Float32bits(x)&0x7f800000) + truth(x == x) + 2*truth(math.IsInf(float64(x), 0))
	case 90:
		return bits64(math.FMA(float64(int32(a)), 1.5, float64(int32(b)))) ^ bits64(math.Abs(float64(a))) ^ bits64(math.Copysign(3, float64(b)))
	case 91:
		return bits64(math.Max(float64(a), math.NaN()))&0x7ff0000000000000 ^ bits64(math.Min(math.Inf(-1), float64(b)))
	case 92: // methods and calls
		c := celsius(int16(a))
		return bits64(float64(c.warmer(1).warmer(c)))
	case 93:
		return func1(func1(a)) + func1(b)*func1(a&b)
	case 94:
		x, y := func2(func2(a, b))
		return x ^ y<<1
	case 95:
		p := [2]point{{1, 2}, {int32(a), int32(b)}}[1]
		return int64(p.plus(point{}).y)
	case 96:
		return [4]int64{a, b, 3, 4}[a&3] + [2][2]int64{{1, 2}, {3, 4}}[b&1][a&1]
	case 97:
		var u8 uint8 = 255
		u8 += uint8(a)
		var i8 int8 = -128
		i8 -= int8(b)
		var i8b = -i8
		return int64(u8) + int64(i8)<<8 + int64(i8b)<<16
	case 98:
		var x, y uint16 = uint16(a), uint16(b)
		return int64(x*y) + int64(x-y)<<16 + int64(^x)<<32
	case 99:
		x := int32(a)
		return int64(x*x) ^ int64(x+math.MaxInt32) ^ int64(-x) ^ int64(x-1)<<3
	case 100:
		var b8 bool = a > b
		c8 := !b8
		b8, c8 = c8, b8
		return truth(b8) + 2*truth(c8) + 4*truth(b8 == c8)
	case 101:
		var zero [0]int64
		n := int64(len(zero))
		for range zero {
			n++
		}
		return n + int64(len(s[:0]))
	case 102:
		if x, y := func2(a, b); x > y {
			return x
		} else if z := x - y; z < -5 {
			return z
		} else {
			return x + y + z
		}
	}
	return -1
}

func func1(a int64) int64 {
	if a > 100 {
		return a / 2
	}
	return a + 3
}

func func2(a, b int64) (int64, int64) { return b - 1, a + 1 }
