package compile

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

type integers interface {
	int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 | uintptr
}

type floats interface{ float32 | float64 }

// commonSource contains the functions for integers and floats.
const commonSource = `
func relate(a, b T) (r int) {
	if a < b { r |= 1 }
	if a <= b { r |= 2 }
	if a == b { r |= 4 }
	if a != b { r |= 8 }
	if a > b { r |= 16 }
	if a >= b { r |= 32 }
	if a < 5 { r |= 64 }
	if a >= 5 { r |= 128 }
	if !(a > 5) { r |= 256 }
	x, y, z := a < b, a == b, a >= b
	if x { r |= 512 }
	if y { r |= 1024 }
	if z { r |= 2048 }
	return r
}
func toInt(a, b T) int { return int(a) }
func toInt8(a, b T) int8 { return int8(a) }
func toInt16(a, b T) int16 { return int16(a) }
func toInt32(a, b T) int32 { return int32(a) }
func toUint8(a, b T) uint8 { return uint8(a) }
func toUint16(a, b T) uint16 { return uint16(a) }
func toUint32(a, b T) uint32 { return uint32(a) }
func toUint64(a, b T) uint64 { return uint64(a) }
func toFloat64(a, b T) float64 { return float64(a) }
func toFloat32(a, b T) float32 { return float32(a) }
`

// integerSource uses each operator; T is replaced by the type.
const integerSource = commonSource + `
func add(a, b T) T { return a + b }
func sub(a, b T) T { return a - b }
func mul(a, b T) T { return a * b }
func div(a, b T) T { return a / b }
func rem(a, b T) T { return a % b }
func and(a, b T) T { return a & b }
func or(a, b T) T { return a | b }
func xor(a, b T) T { return a ^ b }
func andNot(a, b T) T { return a &^ b }
func neg(a, b T) T { return -a }
func not(a, b T) T { return ^a }
func inc(a, b T) T { a++; return a }
func dec(a, b T) T { a--; return a }
func addK(a, b T) T { return a + 7 }
func subK(a, b T) T { return a - 7 }
func mulK(a, b T) T { return a * 3 }
func divK(a, b T) T { return a / 3 }
func remK(a, b T) T { return a % 3 }
func andK(a, b T) T { return a & 5 }
func shl(a, b T) T { return a << (b & 127) }
func shr(a, b T) T { return a >> (b & 127) }
func shlK(a, b T) T { return a << 3 }
func shrK(a, b T) T { return a >> 3 }
func shlWide(a, b T) T { return a << 200 }
func shrWide(a, b T) T { return a >> 200 }
func assign(a, b T) T { x := a; x += b; x *= b; x ^= a; x <<= 2; return x }
func least(a, b T) T { return min(a, b) }
func most(a, b T) T { return max(a, b, 3) }
func toString(a, b T) string { return string(rune(a)) }
`

func relate[T integers | floats](a, b T) (r int) {
	for i, c := range []bool{a < b, a <= b, a == b, a != b, a > b, a >= b, a < 5, a >= 5, !(a > 5), a < b, a == b, a >= b} {
		if c {
			r |= 1 << i
		}
	}
	return r
}

// wantInteger returns the results of compiled code.
func wantInteger[T integers](a, b T) map[string]func() any {
	return map[string]func() any{
		"add": func() any { return a + b }, "sub": func() any { return a - b }, "mul": func() any { return a * b },
		"div": func() any { return a / b }, "rem": func() any { return a % b },
		"and": func() any { return a & b }, "or": func() any { return a | b }, "xor": func() any { return a ^ b }, "andNot": func() any { return a &^ b },
		"neg": func() any { return -a }, "not": func() any { return ^a }, "inc": func() any { return a + 1 }, "dec": func() any { return a - 1 },
		"addK": func() any { return a + 7 }, "subK": func() any { return a - 7 }, "mulK": func() any { return a * 3 },
		"divK": func() any { return a / 3 }, "remK": func() any { return a % 3 }, "andK": func() any { return a & 5 },
		"shl": func() any { return a << (b & 127) }, "shr": func() any { return a >> (b & 127) },
		"shlK": func() any { return a << 3 }, "shrK": func() any { return a >> 3 },
		"shlWide": func() any { n := 200; return a << n }, "shrWide": func() any { n := 200; return a >> n },
		"assign": func() any {
			x := a
			x += b
			x *= b
			x ^= a
			x <<= 2
			return x
		},
		"least": func() any { return min(a, b) }, "most": func() any { return max(a, b, 3) },
		"relate": func() any { return relate(a, b) },
		"toInt":  func() any { return int(a) }, "toInt8": func() any { return int8(a) }, "toInt16": func() any { return int16(a) }, "toInt32": func() any { return int32(a) },
		"toUint8": func() any { return uint8(a) }, "toUint16": func() any { return uint16(a) }, "toUint32": func() any { return uint32(a) }, "toUint64": func() any { return uint64(a) },
		"toFloat64": func() any { return float64(a) }, "toFloat32": func() any { return float32(a) }, "toString": func() any { return string(rune(a)) },
	}
}

// outcome returns the value of f, or what f panics with.
func outcome(f func() any) (result string) {
	defer func() {
		if r := recover(); r != nil {
			result = fmt.Sprint("panic: ", r)
		}
	}()
	v := f()
	switch v := v.(type) {
	case float64:
		if v != v {
			return "float64 NaN"
		}
		return fmt.Sprintf("float64 %x", math.Float64bits(v))
	case float32:
		if v != v {
			return "float32 NaN"
		}
		return fmt.Sprintf("float32 %x", math.Float32bits(v))
	}
	return fmt.Sprintf("%T %v", v, v)
}

func compare(t *testing.T, p *program, name string, want func() any, arguments ...any) {
	t.Helper()
	if got, want := outcome(func() any { return p.call(t, name, arguments...) }), outcome(want); got != want {
		t.Errorf("%s%v: got %s, want %s", name, arguments, got, want)
	}
}

func testIntegers[T integers](t *testing.T) {
	name := reflect.TypeFor[T]().String()
	t.Run(name, func(t *testing.T) {
		source := strings.ReplaceAll(integerSource, " T) ", " "+name+") ")
		source = strings.ReplaceAll(source, ") T {", ") "+name+" {")
		if name[0] == 'i' {
			source += strings.ReplaceAll("func shlBy(a, b T) T { return a << b }\nfunc shrBy(a, b T) T { return a >> b }", "T", name)
		}
		p := compile(t, source)
		var list []T
		for _, shift := range []int{0, 7, 15, 31, 62, 63} {
			one := T(1) << shift
			list = append(list, one, one-1, -one, ^one, one+5)
		}
		list = append(list, 100, 77, ^T(0), 0)
		for _, a := range list {
			for _, b := range list {
				for name, want := range wantInteger(a, b) {
					compare(t, p, name, want, a, b)
				}
				if name[0] == 'i' {
					compare(t, p, "shlBy", func() any { return a << b }, a, b)
					compare(t, p, "shrBy", func() any { return a >> b }, a, b)
				}
			}
		}
	})
}

func TestIntegers(t *testing.T) {
	testIntegers[int](t)
	testIntegers[int8](t)
	testIntegers[int16](t)
	testIntegers[int32](t)
	testIntegers[int64](t)
	testIntegers[uint](t)
	testIntegers[uint8](t)
	testIntegers[uint16](t)
	testIntegers[uint32](t)
	testIntegers[uint64](t)
	testIntegers[uintptr](t)
}

const floatSource = commonSource + `
func add(a, b T) T { return a + b }
func sub(a, b T) T { return a - b }
func mul(a, b T) T { return a * b }
func div(a, b T) T { return a / b }
func neg(a, b T) T { return -a }
func inc(a, b T) T { a++; return a }
func dec(a, b T) T { a--; return a }
func addK(a, b T) T { return a + 0.1 }
func assign(a, b T) T { a += b; a *= b; a -= 1; a /= b; return a }
`

func wantFloat[T floats](a, b T) map[string]func() any {
	return map[string]func() any{
		"add": func() any { return a + b }, "sub": func() any { return a - b }, "mul": func() any { return a * b }, "div": func() any { return a / b },
		"neg": func() any { return -a }, "inc": func() any { return a + 1 }, "dec": func() any { return a - 1 }, "addK": func() any { return a + 0.1 },
		"assign": func() any {
			a := a
			a += b
			a *= b
			a -= 1
			a /= b
			return a
		},
		"relate": func() any { return relate(a, b) },
		"toInt":  func() any { return int(a) }, "toInt8": func() any { return int8(a) }, "toInt16": func() any { return int16(a) }, "toInt32": func() any { return int32(a) },
		"toUint8": func() any { return uint8(a) }, "toUint16": func() any { return uint16(a) }, "toUint32": func() any { return uint32(a) }, "toUint64": func() any { return uint64(a) },
		"toFloat64": func() any { return float64(a) }, "toFloat32": func() any { return float32(a) },
	}
}

func testFloats[T floats](t *testing.T) {
	name := reflect.TypeFor[T]().String()
	t.Run(name, func(t *testing.T) {
		source := strings.ReplaceAll(floatSource, " T) ", " "+name+") ")
		p := compile(t, strings.ReplaceAll(source, ") T {", ") "+name+" {"))
		zero := T(0)
		list := []T{0, -zero, T(math.Copysign(0, -1)), 1, -1, 0.1, 5, 1e10, -1e10, 1e19, 1e30, 127.9, 128, 255.5, -128.9, 65536, 2147483648, -2147483649,
			9223372036854775808, 1 / zero, -1 / zero, zero / zero, 1e-40, 3.5}
		for _, a := range list {
			for _, b := range list {
				for name, want := range wantFloat(a, b) {
					compare(t, p, name, want, a, b)
				}
			}
		}
	})
}

func TestFloats(t *testing.T) {
	testFloats[float64](t)
	testFloats[float32](t)
}
