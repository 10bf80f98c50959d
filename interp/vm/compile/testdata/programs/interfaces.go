package main

import (
	"errors"
	"fmt"
)

type Shape interface {
	Area() float64
	Scale(k float64) Shape
	Name() string
}
type Circle struct {
	r   float64
	tag [2]int
}
type Rect struct{ w, h float64 }
type Num float64
type Str string
type List []float64
type M map[string]int
type One struct{ p *int }

func (c Circle) Area() float64         { return 3 * c.r * c.r }
func (c Circle) Scale(k float64) Shape { c.r *= k; c.tag[0]++; return c }
func (c Circle) Name() string          { return fmt.Sprint("circle", c.tag) }
func (r *Rect) Area() float64          { return r.w * r.h }
func (r *Rect) Scale(k float64) Shape  { r.w *= k; return r }
func (r *Rect) Name() string           { return "rect" }
func (n Num) Area() float64            { return float64(n) }
func (n Num) Scale(k float64) Shape    { return n * Num(k) }
func (n Num) Name() string             { return "num" }
func (s Str) Area() float64            { return float64(len(s)) }
func (s Str) Scale(k float64) Shape    { return s + "x" }
func (s Str) Name() string             { return string(s) }
func (l List) Area() float64 {
	t := 0.0
	for _, x := range l {
		t += x
	}
	return t
}
func (l List) Scale(k float64) Shape {
	for i := range l {
		l[i] *= k
	}
	return append(l, 1)
}
func (l List) Name() string         { return fmt.Sprint(len(l)) }
func (m M) Area() float64           { return float64(m["a"]) }
func (m M) Scale(k float64) Shape   { m["a"] *= int(k); return m }
func (m M) Name() string            { return "map" }
func (o One) Area() float64         { return float64(*o.p) }
func (o One) Scale(k float64) Shape { *o.p *= int(k); return One{new(int)} }
func (o One) Name() string          { return "one" }

type Wrap struct {
	Shape
	extra int
}
type Deep struct{ *Rect }
type E struct{ code int }

func (e E) Error() string { return fmt.Sprint("E", e.code) }
func total(xs []Shape) (t float64, s string) {
	for _, x := range xs {
		t += x.Area()
		y := x.Scale(2)
		s += y.Name() + fmt.Sprint(y.Area(), x.Area()) + " "
	}
	return
}
func which(x any) string {
	switch v := x.(type) {
	case nil:
		return "nil"
	case int:
		return fmt.Sprint("int", v+1)
	case string, bool:
		return fmt.Sprint("sb", v)
	case Circle:
		v.r++
		v.tag[1] = 7
		return fmt.Sprint("circle", v.r, v.tag)
	case *Rect:
		v.h++
		return fmt.Sprint("rect", v.h)
	case Num:
		return fmt.Sprint("num", float64(v*2))
	case List:
		return fmt.Sprint("list", len(v))
	case error:
		return "error " + v.Error()
	case Shape:
		return "shape " + v.Name()
	case []int:
		v[0]++
		return fmt.Sprint(v)
	case func() int:
		return fmt.Sprint(v())
	case One:
		return fmt.Sprint("one", *v.p)
	default:
		return "other"
	}
}
func assert(x any) (out string) {
	if c, ok := x.(Circle); ok {
		c.r = 100
		out += fmt.Sprint(c.r)
	} else {
		out += fmt.Sprint(c.r, c.tag)
	}
	if s, ok := x.(Shape); ok {
		out += s.Name()
	}
	if n, ok := x.(int); ok {
		out += fmt.Sprint(n)
	}
	if e, ok := x.(error); ok {
		out += e.Error()
	}
	_, ok := x.(interface{ Area() float64 })
	return out + fmt.Sprint(ok, ";")
}
func must(x any) int          { return x.(int) }
func mustC(x Shape) Circle    { return x.(Circle) }
func mustS(x any) Shape       { return x.(Shape) }
func nilcall(s Shape) float64 { return s.Area() }
func eerr(err error) string {
	switch e := err.(type) {
	case E:
		return fmt.Sprint("E!", e.code)
	case nil:
		return "ok"
	default:
		return "err " + e.Error()
	}
}
func try(f func()) { defer func() { fmt.Println("R", recover()) }(); f() }
func main() {
	n := 5
	c := Circle{r: 1}
	xs := []Shape{c, &Rect{2, 3}, Num(4), Str("abc"), List{1, 2}, M{"a": 3}, One{&n}, Wrap{Circle{r: 2}, 1}, &Wrap{&Rect{1, 1}, 2}, Deep{&Rect{5, 5}}, c}
	fmt.Println(total(xs))
	fmt.Println(total(xs))
	fmt.Println(c)
	all := []any{nil, 1, "s", true, c, &Rect{1, 2}, Num(3), List{1}, E{4}, errors.New("x"), M{}, []int{1}, func() int { return 9 }, One{&n}, 2.5, Str("q"), Wrap{c, 1}}
	for range 2 {
		for _, x := range all {
			fmt.Print(which(x), " | ", assert(x), "\n")
		}
	}
	fmt.Println(c, eerr(E{3}), eerr(nil), eerr(errors.New("z")), eerr(fmt.Errorf("w %w", E{1})))
	try(func() { must("a") })
	try(func() { must(nil) })
	try(func() { mustC(Num(2)) })
	try(func() { mustC(nil) })
	try(func() { mustS(3) })
	try(func() { mustS(E{1}) })
	try(func() { nilcall(nil) })
	try(func() { var r *Rect; nilcall(r) })
	try(func() { nilcall(Wrap{}) })
	try(func() { nilcall(Deep{}) })
}
