package rt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestPrintfGrammar(t *testing.T) {
	w := newHarness(t)
	c, n, s := Celsius(1), Int(7), Text("s")
	tests := []struct {
		format   string
		operands []any
	}{
		{"%[1]T %[1]v %[1]d", []any{n}},
		{"%[2]v %[1]v", []any{c, n}},
		{"%[2]*[1]v|", []any{n, Int(5)}},
		{"%[3]*.[2]*[1]f|", []any{Float(1.25), Int(1), 8}},
		{"%*d|%-*d|", []any{Int(4), n, Int(-6), n}},
		{"%.*f|%.*f", []any{Int(2), Float(1), Int(-1), Float(2)}},
		{"%*d", []any{s, n}},
		{"%.*d", []any{s, n}},
		{"%*d", []any{Int(10000000), n}},
		{"%[5]v", []any{n}},
		{"%[0]v", []any{n}},
		{"%[x]v", []any{n}},
		{"%[1v", []any{n}},
		{"%[", []any{n}},
		{"%[]v", []any{n}},
		{"%[1]", []any{n}},
		{"%[1]2d", []any{n}},
		{"%[1].2d", []any{n}},
		{"%2[1]d|%.2[1]d", []any{n}},
		{"%v", []any{n, s, nil, c}},
		{"%v %v %d", []any{n}},
		{"%", []any{n}},
		{"%%|%5%|%-v", []any{n}},
		{"%!", []any{n}},
		{"%-", []any{n}},
		{"%9999999999d", []any{n}},
		{"%.d|%.", []any{n}},
		{"%é %世", []any{n, s}},
		{"\xff%v\xff", []any{n}},
		{"%\xff", []any{n}},
		{"%#+v %+#v", []any{Point{1, 2, "n"}, &Point{}}},
		{"%w", []any{Code{1}}},
		{"", []any{n}},
		{"no operands", nil},
		{"%[1]v %v %[1]v", []any{n, s}},
		{"%6.2f%%", []any{Float(12.345)}},
		{"%x %X %#x % x", []any{Text("hi"), Bytes("hi"), Text("hi"), Bytes("hi")}},
		{"%c%q%U", []any{Int('a'), Int('b'), Int('c')}},
		{"%t %v", []any{Flag(true), Flag(false)}},
		{"%T %T %T %T", []any{[]Point{}, map[Text]*Node{}, struct{ A Int }{}, Pair[Text, Int]{}}},
		{"%T %10T|%-20T|", []any{nil, n, &c}},
	}
	for _, tt := range tests {
		boxed := make([]any, len(tt.operands))
		for i, x := range tt.operands {
			boxed[i] = w.box(x)
		}
		if got, want := w.Sprintf(tt.format, boxed...), fmt.Sprintf(tt.format, tt.operands...); got != want {
			t.Errorf("Sprintf(%q)\n got %q\nwant %q", tt.format, got, want)
		}
	}
}

func FuzzSprintf(f *testing.F) {
	for _, format := range []string{"%v", "%+v", "%#v", "%8.3x|%-5T", "%[2]*.[1]*[3]d", "%[1]s%", "%w%!", "%0+# 9.9q", "%[3", "%*.*e", "%8.3x|%*00", "%.1[1]+"} {
		for which := range uint8(8) {
			f.Add(format, which*9, which*5)
		}
	}
	w := newHarness(f)
	all := operands()
	f.Fuzz(func(t *testing.T, format string, i, j uint8) {
		real := []any{all[int(i)%len(all)], Int(int(j) - 100), all[int(j)%len(all)]}
		var boxed []any
		for _, x := range real {
			boxed = append(boxed, w.box(x))
		}
		got := outcome(func() string { return w.Sprintf(format, boxed...) })
		want := outcome(func() string { return fmt.Sprintf(format, real...) })
		if withoutAddresses(got) != withoutAddresses(want) {
			t.Errorf("Sprintf(%q) of operands %d and %d\n got %s\nwant %s", format, i, j, got, want)
		}
	})
}

func TestPrintSpacing(t *testing.T) {
	w := newHarness(t)
	rows := [][]any{
		{Int(1), Int(2)}, {Text("a"), Text("b")}, {Int(1), Text("a"), Int(2), 3}, {"s", Int(1), nil, nil}, {Celsius(1), Celsius(2)},
		{Point{}, &Point{}, Code{1}}, {Text("a")}, {},
	}
	for _, real := range rows {
		var boxed []any
		for _, x := range real {
			boxed = append(boxed, w.box(x))
		}
		var out, want bytes.Buffer
		w.Fprint(&out, boxed...)
		w.Fprintln(&out, boxed...)
		w.Fprintf(&out, "%v\n", boxed...)
		out.WriteString(w.Sprint(boxed...) + w.Sprintln(boxed...))
		out.Write(w.Append(w.Appendf(w.Appendln([]byte("x"), boxed...), "%d", boxed...), boxed...))
		fmt.Fprint(&want, real...)
		fmt.Fprintln(&want, real...)
		fmt.Fprintf(&want, "%v\n", real...)
		want.WriteString(fmt.Sprint(real...) + fmt.Sprintln(real...))
		want.Write(fmt.Append(fmt.Appendf(fmt.Appendln([]byte("x"), real...), "%d", real...), real...))
		if out.String() != want.String() {
			t.Errorf("printing %v\n got %q\nwant %q", real, out.String(), want.String())
		}
	}
}

func TestCompiledPrintingOfBoxes(t *testing.T) {
	w := newHarness(t)
	for i, x := range operands() {
		for _, format := range []string{"%v", "%+v", "%#v", "%d", "%s", "%8.2f", "%q", "%x"} {
			for _, nested := range []bool{false, true} {
				real, boxed := x, w.box(x)
				if nested {
					real, boxed = []any{real}, []any{boxed}
				}
				got := outcome(func() string { return fmt.Sprintf(format, boxed) })
				want := outcome(func() string { return fmt.Sprintf(format, real) })
				if want == "a panic" {
					continue // fmt recovers this panic around Format but not elsewhere
				}
				if withoutAddresses(got) != withoutAddresses(want) {
					t.Errorf("operand %d, %T: fmt.Sprintf(%q) of the box, nested %v\n got %s\nwant %s", i, x, format, nested, got, want)
				}
			}
		}
	}
}

func TestErrorf(t *testing.T) {
	w := newHarness(t)
	plain := errors.New("plain")
	tests := []struct {
		format   string
		operands []any
	}{
		{"a: %w", []any{Code{1}}},
		{"a: %w %w", []any{Code{1}, plain}},
		{"a: %[2]w %[1]w %[2]w", []any{Code{1}, plain}},
		{"%[1]w %[1]w", []any{Code{2}}},
		{"%w", []any{Point{1, 2, ""}}},
		{"%w", []any{nil}},
		{"%w %d", []any{plain, Int(3)}},
		{"%+w %#w", []any{Code{1}, &Wrapped{"op", Code{4}}}},
		{"no %v", []any{Code{1}}},
		{"%w", []any{io.EOF}},
		{"%w %v", []any{Many{Code{1}, Code{2}}, Celsius(1)}},
	}
	for _, tt := range tests {
		var boxed []any
		for _, x := range tt.operands {
			boxed = append(boxed, w.box(x))
		}
		want, got := fmt.Errorf(tt.format, tt.operands...), w.Errorf(tt.format, boxed...)
		if got.Error() != want.Error() {
			t.Errorf("Errorf(%q)\n got %q\nwant %q", tt.format, got, want)
		}
		if got, want := w.TypeName(got), fmt.Sprintf("%T", want); got != want {
			t.Errorf("Errorf(%q) has type %s, want %s", tt.format, got, want)
		}
		for i, x := range tt.operands {
			if e, ok := x.(error); ok {
				if _, slice := x.(Many); slice {
					continue // not comparable
				}
				if got, want := errors.Is(got, boxed[i].(error)), errors.Is(want, e); got != want {
					t.Errorf("Errorf(%q): errors.Is of operand %d is %v, want %v", tt.format, i, got, want)
				}
			}
		}
	}
}

func BenchmarkSprintfStruct(b *testing.B) {
	w := newHarness(b)
	real := Point{1, 2, "note"}
	boxed := w.box(real)
	b.Run("fmt", func(b *testing.B) {
		for b.Loop() {
			_ = fmt.Sprintf("%+v", real)
		}
	})
	b.Run("rt", func(b *testing.B) {
		for b.Loop() {
			_ = w.Sprintf("%+v", boxed)
		}
	})
	b.Run("unboxed", func(b *testing.B) {
		for b.Loop() {
			_ = w.Sprintf("%d %s", 1, "x")
		}
	})
}
