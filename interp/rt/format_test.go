package rt

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"testing"
	"time"
)

// operands returns values of all kinds of types. Tests compare what packages do with them and with
// the values that stand for them in cells.
func operands() []any {
	one, now := Int(1), time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	var nilError *Code
	var nilStringer *Celsius
	list := &Node{Value: 1, Next: &Node{Value: 2}, By: map[Text]*Node{}}
	cycle := &Node{Value: 3}
	cycle.Next, cycle.Kids = cycle, []*Node{cycle}
	outer := Outer{
		C: 1, c: 2, P: &Point{1, 2, "n"}, E: Code{4}, S: Celsius(5), A: Celsius(6), L: []Celsius{7, 8},
		M: map[Celsius]Weekday{2: 1, 1: 0}, lst: []Celsius{9}, T: now, D: time.Second, B: bytes.NewBufferString("buf"),
	}
	outer.Anon.Q, outer.Anon.r = 1, 2
	return []any{
		Int(-42), Uint8(200), Float(1.5), Float(math.Inf(1)), Float32(2.25), Complex(1 + 2i), Text("héllo"), Text(""), Flag(true),
		Bytes("abc"), Bytes(nil), Octets{1, 2}, Hash{1, 2, 3, 255}, Ints{1, 2}, Ints(nil), Grid{{1, 2}, {3, 4}},
		Names{"b": 2, "a": 1}, Names(nil), Any{Int(2): Text("x"), Int(1): nil}, Action(nil), Pipe(nil), Empty{}, Seconds(90), Moment(now),
		Point{1, 2, "note"}, &Point{1, 2, "note"}, (*Point)(nil), []Point{{1, 2, ""}}, []*Point{nil}, &[]Point{{3, 4, ""}}, map[string]Point{"k": {5, 6, ""}}, &map[Int]Point{1: {}},
		Celsius(21.5), &one, nilStringer, []Celsius{1, 2}, map[Celsius]Celsius{1: 2, 0: 3}, [1]Celsius{4}, struct{ C Celsius }{5}, struct{ c Celsius }{5}, &struct{ P *Point }{},
		Weekday(1), Weekday(9), []Weekday{0, 7}, Shy{1}, &Shy{2}, []Shy{{3}}, []*Shy{{4}}, (*Shy)(nil), Loud{"x"}, []Loud{{"y"}}, &Loud{"z"},
		Code{1}, &Code{2}, nilError, []Code{{3}}, &Wrapped{"op", Code{5}}, Wrapped{"op", errors.New("plain")}, Many{Code{1}, nil}, Both{1}, []Both{{2}}, Convertible{3},
		Fancy{1}, []Fancy{{2}}, &Fancy{3}, Panicky{"boom"}, Panicky{Code{7}}, Panicky{Panicky{"nested"}}, []Panicky{{1}}, (*Panicky)(nil),
		*list.Next, list.Next, Derived{Base: Base{1, "n"}, Point: nil, inner: inner{1, 2}, Extra: "e"}, inner{3, 4}, struct{ inner }{inner{5, 6}},
		outer, &Outer{}, Holder{Shape: Square{2}, Others: []Shape{Square{3}, nil}, Any: &Point{}}, Holder{},
		Pair[Text, Int]{"k", 1}, []Pair[Int, Celsius]{{1, 2}}, Tree[Int]{Data: 5}, Color{1, 2, 3}, Temp(3), Level(4),
		[]any{Celsius(1), Int(2), nil, "s", Text("t")}, []any{Point{1, 2, "q"}, Weekday(8)}, map[string]any{"a": Celsius(1), "b": []any{Code{2}}},
		[]error{Code{1}, errors.New("e"), nil}, []fmt.Stringer{Celsius(3), now}, struct{ E error }{Code{9}}, [2]any{Int(1), 2.5},
		fmt.Errorf("wrapped: %w", Code{3}), 42, "plain", nil, 1.5, []int{1}, []byte("xyz"), map[string]int{"z": 1}, now, time.Second, &struct{ X int }{7}, errors.New("std"),
	}
}

func verbs() []string {
	var formats []string
	for _, flags := range []string{"", "+", "#", "-", " ", "0", "+#", "8", "-8", "08", ".2", "8.3", "+.1", "# 010.2"} {
		for _, verb := range "vdsqxXtbcoOUeEfFgGpTwyz" {
			formats = append(formats, "%"+flags+string(verb))
		}
	}
	return formats
}

// address matches possible addresses, which differ between a real and a raw value.
var address = regexp.MustCompile(`[0-9a-fA-F]{10,}`)

func withoutAddresses(s string) string { return address.ReplaceAllString(s, "ADDRESS") }

// outcome returns the result of f, or "a panic". Package fmt panics if formatting the panic
// value of a String method panics too.
func outcome(f func() string) (s string) {
	defer func() {
		if recover() != nil {
			s = "a panic"
		}
	}()
	return f()
}

func TestSprintf(t *testing.T) {
	w := newHarness(t)
	for i, x := range operands() {
		boxed := w.box(x)
		for _, format := range verbs() {
			want := outcome(func() string { return fmt.Sprintf(format, x) })
			got := outcome(func() string { return fmt.Sprintf(format, boxed) })
			if withoutAddresses(got) != withoutAddresses(want) {
				t.Errorf("operand %d, %T: Sprintf(%q)\n got %s\nwant %s", i, x, format, got, want)
			}
		}
	}
}
