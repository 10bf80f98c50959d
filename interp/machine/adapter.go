package machine

import (
	"strings"
	"unsafe"
)

// adapter makes the native operation that calls f, without reflection, if it has
// one of the usual signatures; in and out are the registers of its parameters and
// results.
func adapter(f any, in, out []uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	a := func(i int) uint16 { return in[i] }
	switch f := f.(type) {
	case func(float64, float64) float64:
		x, y, r := a(0), a(1), out[0]
		return func(_ *thread, nb, _ unsafe.Pointer) { *floating(nb, r) = f(*floating(nb, x), *floating(nb, y)) }
	case func(int) int:
		x, r := a(0), out[0]
		return func(_ *thread, nb, _ unsafe.Pointer) { *integer(nb, r) = int64(f(int(*integer(nb, x)))) }
	case func() int:
		r := out[0]
		return func(_ *thread, nb, _ unsafe.Pointer) { *integer(nb, r) = int64(f()) }
	case func() float64:
		r := out[0]
		return func(_ *thread, nb, _ unsafe.Pointer) { *floating(nb, r) = f() }
	case func(uint) int:
		x, r := a(0), out[0]
		return func(_ *thread, nb, _ unsafe.Pointer) { *integer(nb, r) = int64(f(uint(*integer(nb, x)))) }
	case func(uint64) int:
		x, r := a(0), out[0]
		return func(_ *thread, nb, _ unsafe.Pointer) { *integer(nb, r) = int64(f(uint64(*integer(nb, x)))) }
	case func(rune) bool:
		x, r := a(0), out[0]
		return func(_ *thread, nb, _ unsafe.Pointer) { *integer(nb, r) = truth(f(rune(*integer(nb, x)))) }
	case func(rune) rune:
		x, r := a(0), out[0]
		return func(_ *thread, nb, _ unsafe.Pointer) { *integer(nb, r) = int64(f(rune(*integer(nb, x)))) }
	case func(string) string:
		x, r := a(0), out[0]
		return func(_ *thread, _, sb unsafe.Pointer) { *text(sb, r) = f(*text(sb, x)) }
	case func(string) int:
		x, r := a(0), out[0]
		return func(_ *thread, nb, sb unsafe.Pointer) { *integer(nb, r) = int64(f(*text(sb, x))) }
	case func(int) string:
		x, r := a(0), out[0]
		return func(_ *thread, nb, sb unsafe.Pointer) { *text(sb, r) = f(int(*integer(nb, x))) }
	case func(string, string) bool:
		x, y, r := a(0), a(1), out[0]
		return func(_ *thread, nb, sb unsafe.Pointer) { *integer(nb, r) = truth(f(*text(sb, x), *text(sb, y))) }
	case func(string, string) int:
		x, y, r := a(0), a(1), out[0]
		return func(_ *thread, nb, sb unsafe.Pointer) { *integer(nb, r) = int64(f(*text(sb, x), *text(sb, y))) }
	case func(string, string) string:
		x, y, r := a(0), a(1), out[0]
		return func(_ *thread, _, sb unsafe.Pointer) { *text(sb, r) = f(*text(sb, x), *text(sb, y)) }
	case func(string, int) string:
		x, y, r := a(0), a(1), out[0]
		return func(_ *thread, nb, sb unsafe.Pointer) { *text(sb, r) = f(*text(sb, x), int(*integer(nb, y))) }
	case func([]string, string) string:
		x, y, r := a(0), a(1), out[0]
		return func(_ *thread, _, sb unsafe.Pointer) {
			*text(sb, r) = f(*(*[]string)(unsafe.Add(sb, x)), *text(sb, y))
		}
	case func(string) []string:
		x, r := a(0), out[0]
		return func(_ *thread, _, sb unsafe.Pointer) { *(*[]string)(unsafe.Add(sb, r)) = f(*text(sb, x)) }
	case func(string, string) []string:
		x, y, r := a(0), a(1), out[0]
		return func(_ *thread, _, sb unsafe.Pointer) {
			*(*[]string)(unsafe.Add(sb, r)) = f(*text(sb, x), *text(sb, y))
		}
	case func([]int):
		x := a(0)
		return func(_ *thread, _, sb unsafe.Pointer) { f(*(*[]int)(unsafe.Add(sb, x))) }
	case func(string) (int, error):
		x, r, e := a(0), out[0], out[1]
		return func(_ *thread, nb, sb unsafe.Pointer) {
			n, err := f(*text(sb, x))
			*integer(nb, r), *failure(sb, e) = int64(n), err
		}
	case func(string) error:
		x, e := a(0), out[0]
		return func(_ *thread, _, sb unsafe.Pointer) { *failure(sb, e) = f(*text(sb, x)) }
	case func(string, ...any) string:
		x, y, r := a(0), a(1), out[0]
		return func(_ *thread, _, sb unsafe.Pointer) { *text(sb, r) = f(*text(sb, x), *values(sb, y)...) }
	case func(string, ...any) error:
		x, y, e := a(0), a(1), out[0]
		return func(_ *thread, _, sb unsafe.Pointer) { *failure(sb, e) = f(*text(sb, x), *values(sb, y)...) }
	case func(string, ...any) (int, error):
		x, y, r, e := a(0), a(1), out[0], out[1]
		return func(_ *thread, nb, sb unsafe.Pointer) {
			n, err := f(*text(sb, x), *values(sb, y)...)
			*integer(nb, r), *failure(sb, e) = int64(n), err
		}
	case func(...any) string:
		x, r := a(0), out[0]
		return func(_ *thread, _, sb unsafe.Pointer) { *text(sb, r) = f(*values(sb, x)...) }
	case func(...any) (int, error):
		x, r, e := a(0), out[0], out[1]
		return func(_ *thread, nb, sb unsafe.Pointer) {
			n, err := f(*values(sb, x)...)
			*integer(nb, r), *failure(sb, e) = int64(n), err
		}
	}
	return builderAdapter(f, in, out)
}

// builderAdapter is adapter for the methods of a strings.Builder.
func builderAdapter(f any, in, out []uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	b := func(sb unsafe.Pointer) *strings.Builder { return (*strings.Builder)(*pointer(sb, in[0])) }
	switch f := f.(type) {
	case func(*strings.Builder, byte) error:
		x, e := in[1], out[0]
		return func(_ *thread, nb, sb unsafe.Pointer) { *failure(sb, e) = f(b(sb), byte(*integer(nb, x))) }
	case func(*strings.Builder, string) (int, error):
		x, r, e := in[1], out[0], out[1]
		return func(_ *thread, nb, sb unsafe.Pointer) {
			n, err := f(b(sb), *text(sb, x))
			*integer(nb, r), *failure(sb, e) = int64(n), err
		}
	case func(*strings.Builder, rune) (int, error):
		x, r, e := in[1], out[0], out[1]
		return func(_ *thread, nb, sb unsafe.Pointer) {
			n, err := f(b(sb), rune(*integer(nb, x)))
			*integer(nb, r), *failure(sb, e) = int64(n), err
		}
	case func(*strings.Builder) string:
		r := out[0]
		return func(_ *thread, _, sb unsafe.Pointer) { *text(sb, r) = f(b(sb)) }
	}
	return nil
}

func failure(sb unsafe.Pointer, at uint16) *error { return (*error)(unsafe.Add(sb, int(at)-8)) }

func values(sb unsafe.Pointer, at uint16) *[]any { return (*[]any)(unsafe.Add(sb, at)) }
