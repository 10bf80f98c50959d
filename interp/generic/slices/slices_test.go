package slices_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	standard "slices"
	"testing"

	"github.com/quernlab/quern/interp/generic/slices"
)

// The tests run a function and the standard function on the same random arguments and compare all observable effects: results,
// whether they are nil or empty, the memory of the arguments, panics, and the calls of functions.

const rounds = 2000

// outcome runs a function that changes a slice and describes all observable effects. The slice is in the middle of memory, so
// that changes outside of it are found too.
func outcome[E any](memory []E, length int, f func(s []E) any) string {
	memory = standard.Clone(memory)
	result := caught(func() any { return f(memory[:length]) })
	return fmt.Sprintf("result %s, memory %v", result, memory)
}

// caught renders the result of a function, or its panic.
func caught(f func() any) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprintf("panic %v", r)
		}
	}()
	return render(f())
}

// render formats a value. Nil and empty slices have different texts, and so do -0 and 0.
func render(v any) string {
	if s := reflect.ValueOf(v); s.Kind() == reflect.Slice && s.IsNil() {
		return "nil"
	}
	if f, ok := v.(float64); ok && f == 0 {
		return fmt.Sprintf("0 sign %v", math.Signbit(f))
	}
	return fmt.Sprintf("%T %v", v, v)
}

// random returns memory for a slice, with few distinct values so that some are equal, and the length of the slice.
func random(r *rand.Rand) (memory []int, length int) {
	switch r.IntN(20) {
	case 0:
		return nil, 0
	case 1:
		return []int{}, 0
	}
	memory = make([]int, r.IntN(40))
	for i := range memory {
		memory[i] = r.IntN(8)
	}
	if len(memory) > 0 {
		length = r.IntN(len(memory) + 1)
	}
	return memory, length
}

func newRand(t *testing.T) *rand.Rand {
	return rand.New(rand.NewPCG(1, uint64(len(t.Name()))))
}

func TestChange(t *testing.T) {
	type change struct {
		name           string
		ours, standard func(s []int, i, j int, v []int) []int
	}
	odd := func(x int) bool { return x%2 == 1 }
	near := func(a, b int) bool { return a-b <= 1 && b-a <= 1 } // not transitive
	greater := func(a, b int) bool { return a > b }             // not even symmetric
	tests := []change{
		{"Insert", func(s []int, i, _ int, v []int) []int { return slices.Insert(s, i, v...) },
			func(s []int, i, _ int, v []int) []int { return standard.Insert(s, i, v...) }},
		{"InsertItself", func(s []int, i, j int, _ []int) []int { return slices.Insert(s, i, s[min(j, len(s)):]...) },
			func(s []int, i, j int, _ []int) []int { return standard.Insert(s, i, s[min(j, len(s)):]...) }},
		{"Delete", func(s []int, i, j int, _ []int) []int { return slices.Delete(s, i, j) },
			func(s []int, i, j int, _ []int) []int { return standard.Delete(s, i, j) }},
		{"DeleteFunc", func(s []int, _, _ int, _ []int) []int { return slices.DeleteFunc(s, odd) },
			func(s []int, _, _ int, _ []int) []int { return standard.DeleteFunc(s, odd) }},
		{"Replace", func(s []int, i, j int, v []int) []int { return slices.Replace(s, i, j, v...) },
			func(s []int, i, j int, v []int) []int { return standard.Replace(s, i, j, v...) }},
		{"ReplaceByItself", func(s []int, i, j int, _ []int) []int { return slices.Replace(s, i, j, s...) },
			func(s []int, i, j int, _ []int) []int { return standard.Replace(s, i, j, s...) }},
		{"Compact", func(s []int, _, _ int, _ []int) []int { return slices.Compact(s) },
			func(s []int, _, _ int, _ []int) []int { return standard.Compact(s) }},
		{"CompactFunc near", func(s []int, _, _ int, _ []int) []int { return slices.CompactFunc(s, near) },
			func(s []int, _, _ int, _ []int) []int { return standard.CompactFunc(s, near) }},
		{"CompactFunc greater", func(s []int, _, _ int, _ []int) []int { return slices.CompactFunc(s, greater) },
			func(s []int, _, _ int, _ []int) []int { return standard.CompactFunc(s, greater) }},
		{"Reverse", func(s []int, _, _ int, _ []int) []int { slices.Reverse(s); return s },
			func(s []int, _, _ int, _ []int) []int { standard.Reverse(s); return s }},
		{"Sort", func(s []int, _, _ int, _ []int) []int { slices.Sort(s); return s },
			func(s []int, _, _ int, _ []int) []int { standard.Sort(s); return s }},
		{"Clip", func(s []int, _, _ int, _ []int) []int { return append(slices.Clip(s), 9) },
			func(s []int, _, _ int, _ []int) []int { return append(standard.Clip(s), 9) }},
		{"Grow", func(s []int, i, _ int, _ []int) []int { g := slices.Grow(s, i); return g[:len(s)+max(i, 0)][:len(s)] },
			func(s []int, i, _ int, _ []int) []int { g := standard.Grow(s, i); return g[:len(s)+max(i, 0)][:len(s)] }},
		{"Clone", func(s []int, _, _ int, _ []int) []int { return slices.Clone(s) },
			func(s []int, _, _ int, _ []int) []int { return standard.Clone(s) }},
		{"CloneIsNew", func(s []int, _, _ int, _ []int) []int { c := slices.Clone(s); clear(c); return c },
			func(s []int, _, _ int, _ []int) []int { c := standard.Clone(s); clear(c); return c }},
		{"Concat", func(s []int, _, _ int, v []int) []int { return slices.Concat(s, nil, v, []int{}, s) },
			func(s []int, _, _ int, v []int) []int { return standard.Concat(s, nil, v, []int{}, s) }},
		{"ConcatIsNew", func(s []int, _, _ int, _ []int) []int { c := slices.Concat(s); clear(c); return c },
			func(s []int, _, _ int, _ []int) []int { c := standard.Concat(s); clear(c); return c }},
		{"Repeat", func(s []int, i, _ int, _ []int) []int { return slices.Repeat(s, i) },
			func(s []int, i, _ int, _ []int) []int { return standard.Repeat(s, i) }},
		{"AppendSeq", func(s []int, _, _ int, v []int) []int { return slices.AppendSeq(s, standard.Values(v)) },
			func(s []int, _, _ int, v []int) []int { return standard.AppendSeq(s, standard.Values(v)) }},
		{"Collect", func(_ []int, _, _ int, v []int) []int { return slices.Collect(standard.Values(v)) },
			func(_ []int, _, _ int, v []int) []int { return standard.Collect(standard.Values(v)) }},
		{"Sorted", func(_ []int, _, _ int, v []int) []int { return slices.Sorted(standard.Values(v)) },
			func(_ []int, _, _ int, v []int) []int { return standard.Sorted(standard.Values(v)) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRand(t)
			panics := 0
			for range rounds {
				memory, length := random(r)
				v, n := random(r)
				v = v[:n]
				i := r.IntN(length+3) - 1
				j := i + r.IntN(max(length-i, 0)+3) - 1
				got := outcome(memory, length, func(s []int) any { return test.ours(s, i, j, v) })
				want := outcome(memory, length, func(s []int) any { return test.standard(s, i, j, v) })
				if got != want {
					t.Fatalf("%v[:%d], i %d, j %d, v %v:\ngot  %s\nwant %s", memory, length, i, j, v, got, want)
				}
				if len(want) > 12 && want[:12] == "result panic" {
					panics++
				}
			}
			t.Logf("%d of %d panic", panics, rounds)
		})
	}
}

func TestRepeatTooLong(t *testing.T) {
	for _, count := range []int{math.MaxInt, math.MaxInt / 2, math.MinInt, -1} {
		got := caught(func() any { return slices.Repeat(make([]struct{}, 3), count) })
		want := caught(func() any { return standard.Repeat(make([]struct{}, 3), count) })
		if got != want {
			t.Errorf("count %d: got %s, want %s", count, got, want)
		}
	}
}

func TestAsk(t *testing.T) {
	type question struct {
		name           string
		ours, standard func(a, b []int, x int) any
	}
	compare := func(a, b int) int { return cmp.Compare(a/2, b/2) }
	equal := func(a, b int) bool { return a/2 == b/2 }
	large := func(a int) bool { return a > 5 }
	two := func(i int, ok bool) any { return fmt.Sprint(i, ok) }
	tests := []question{
		{"Equal", func(a, b []int, _ int) any { return slices.Equal(a, b) }, func(a, b []int, _ int) any { return standard.Equal(a, b) }},
		{"EqualSame", func(a, _ []int, _ int) any { return slices.Equal(a, standard.Clone(a)) }, func(a, _ []int, _ int) any { return true }},
		{"EqualFunc", func(a, b []int, _ int) any { return slices.EqualFunc(a, b, equal) }, func(a, b []int, _ int) any { return standard.EqualFunc(a, b, equal) }},
		{"EqualFuncSame", func(a, _ []int, _ int) any { return slices.EqualFunc(a, a, equal) }, func(a, _ []int, _ int) any { return true }},
		{"Compare", func(a, b []int, _ int) any { return slices.Compare(a, b) }, func(a, b []int, _ int) any { return standard.Compare(a, b) }},
		{"ComparePart", func(a, b []int, x int) any { return slices.Compare(a, a[:min(x, len(a))]) }, func(a, b []int, x int) any { return standard.Compare(a, a[:min(x, len(a))]) }},
		{"ComparePart2", func(a, b []int, x int) any { return slices.Compare(a[:min(x, len(a))], a) }, func(a, b []int, x int) any { return standard.Compare(a[:min(x, len(a))], a) }},
		{"CompareFunc", func(a, b []int, _ int) any { return slices.CompareFunc(a, b, compare) }, func(a, b []int, _ int) any { return standard.CompareFunc(a, b, compare) }},
		{"ComparePartFunc", func(a, b []int, x int) any { return slices.CompareFunc(a, a[:min(x, len(a))], compare) }, func(a, b []int, x int) any { return standard.CompareFunc(a, a[:min(x, len(a))], compare) }},
		{"Index", func(a, _ []int, x int) any { return slices.Index(a, x) }, func(a, _ []int, x int) any { return standard.Index(a, x) }},
		{"IndexFunc", func(a, _ []int, x int) any { return slices.IndexFunc(a, large) }, func(a, _ []int, x int) any { return standard.IndexFunc(a, large) }},
		{"Contains", func(a, _ []int, x int) any { return slices.Contains(a, x) }, func(a, _ []int, x int) any { return standard.Contains(a, x) }},
		{"ContainsFunc", func(a, _ []int, x int) any { return slices.ContainsFunc(a, large) }, func(a, _ []int, x int) any { return standard.ContainsFunc(a, large) }},
		{"IsSorted", func(a, _ []int, _ int) any { return slices.IsSorted(a) }, func(a, _ []int, _ int) any { return standard.IsSorted(a) }},
		{"IsSortedFunc", func(a, _ []int, _ int) any { return slices.IsSortedFunc(a, compare) }, func(a, _ []int, _ int) any { return standard.IsSortedFunc(a, compare) }},
		{"Min", func(a, _ []int, _ int) any { return slices.Min(a) }, func(a, _ []int, _ int) any { return standard.Min(a) }},
		{"Max", func(a, _ []int, _ int) any { return slices.Max(a) }, func(a, _ []int, _ int) any { return standard.Max(a) }},
		{"MinFunc", func(a, _ []int, _ int) any { return slices.MinFunc(a, compare) }, func(a, _ []int, _ int) any { return standard.MinFunc(a, compare) }},
		{"MaxFunc", func(a, _ []int, _ int) any { return slices.MaxFunc(a, compare) }, func(a, _ []int, _ int) any { return standard.MaxFunc(a, compare) }},
		{"BinarySearch", func(a, _ []int, x int) any { return two(slices.BinarySearch(standard.Sorted(standard.Values(a)), x)) },
			func(a, _ []int, x int) any { return two(standard.BinarySearch(standard.Sorted(standard.Values(a)), x)) }},
		{"BinarySearchFunc", func(a, _ []int, x int) any {
			return two(slices.BinarySearchFunc(standard.Sorted(standard.Values(a)), x, compare))
		},
			func(a, _ []int, x int) any {
				return two(standard.BinarySearchFunc(standard.Sorted(standard.Values(a)), x, compare))
			}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRand(t)
			for range rounds {
				a, n := random(r)
				b, m := random(r)
				if a, b = a[:n], b[:m]; r.IntN(3) == 0 {
					standard.Sort(a)
				}
				x := r.IntN(10)
				got := outcome(a, len(a), func(a []int) any { return test.ours(a, b, x) })
				want := outcome(a, len(a), func(a []int) any { return test.standard(a, b, x) })
				if got != want {
					t.Fatalf("%v, %v, %d:\ngot  %s\nwant %s", a, b, x, got, want)
				}
			}
		})
	}
}

// TestFloats tests NaN and both zeros.
func TestFloats(t *testing.T) {
	values := []float64{math.NaN(), math.Inf(-1), -1, math.Copysign(0, -1), 0, 1, math.Inf(1)}
	r := newRand(t)
	two := func(i int, ok bool) any { return fmt.Sprint(i, ok) }
	for range rounds {
		s := make([]float64, r.IntN(20))
		for i := range s {
			s[i] = values[1+r.IntN(6)]
			if r.IntN(20) == 0 {
				s[i] = values[0]
			}
		}
		x := values[r.IntN(len(values))]
		sorted := standard.Sorted(standard.Values(s))
		for name, pair := range map[string][2]func(s []float64) any{
			"Min":             {func(s []float64) any { return slices.Min(s) }, func(s []float64) any { return standard.Min(s) }},
			"Max":             {func(s []float64) any { return slices.Max(s) }, func(s []float64) any { return standard.Max(s) }},
			"Index":           {func(s []float64) any { return slices.Index(s, x) }, func(s []float64) any { return standard.Index(s, x) }},
			"Equal":           {func(s []float64) any { return slices.Equal(s, s) }, func(s []float64) any { return standard.Equal(s, s) }},
			"Compare":         {func(s []float64) any { return slices.Compare(s, sorted) }, func(s []float64) any { return standard.Compare(s, sorted) }},
			"Compact":         {func(s []float64) any { return slices.Compact(s) }, func(s []float64) any { return standard.Compact(s) }},
			"IsSorted":        {func(s []float64) any { return slices.IsSorted(s) }, func(s []float64) any { return standard.IsSorted(s) }},
			"IsSorted sorted": {func(s []float64) any { return slices.IsSorted(sorted) }, func(s []float64) any { return true }},
			"BinarySearch":    {func(s []float64) any { return two(slices.BinarySearch(sorted, x)) }, func(s []float64) any { return two(standard.BinarySearch(sorted, x)) }},
		} {
			if got, want := outcome(s, len(s), pair[0]), outcome(s, len(s), pair[1]); got != want {
				t.Fatalf("%s of %v with %v:\ngot  %s\nwant %s", name, s, x, got, want)
			}
		}
		if slices.Sort(s); !standard.IsSorted(s) {
			t.Fatalf("Sort gave %v", s)
		}
	}
}

type celsius float32
type words []name
type name string

// TestNamedTypes tests the functions that use package compiled with named types.
func TestNamedTypes(t *testing.T) {
	r := newRand(t)
	for range 200 {
		w := make(words, 9+r.IntN(20))
		c := make([]celsius, len(w))
		for i := range w {
			w[i], c[i] = name(fmt.Sprint(r.IntN(30))), celsius(r.IntN(30))
		}
		sortedW, sortedC := standard.Clone(w), standard.Clone(c)
		standard.Sort(sortedW)
		standard.Sort(sortedC)
		if got, want := slices.Index(w, w[5]), standard.Index(w, w[5]); got != want {
			t.Fatalf("Index %d, want %d", got, want)
		}
		if got, want := slices.Min(w), sortedW[0]; got != want {
			t.Fatalf("Min %v, want %v", got, want)
		}
		if got, want := slices.Max(c), sortedC[len(c)-1]; got != want {
			t.Fatalf("Max %v, want %v", got, want)
		}
		slices.Sort(w)
		slices.Sort(c)
		if !slices.Equal(w, sortedW) || !standard.Equal(w, sortedW) || !standard.Equal(c, sortedC) {
			t.Fatalf("Sort gave %v %v", w, c)
		}
	}
}

// TestStructs tests element types for which package compiled is not used.
func TestStructs(t *testing.T) {
	type point struct{ x, y int }
	s := make([]point, 30)
	for i := range s {
		s[i] = point{i, -i}
	}
	if got := slices.Index(s, point{20, -20}); got != 20 {
		t.Errorf("Index %d, want 20", got)
	}
	if !slices.Equal(s, standard.Clone(s)) || slices.Equal(s, append(s[1:30:30], point{})) {
		t.Error("Equal")
	}
	var errs [9]error
	if got := slices.Index(errs[:], nil); got != 0 {
		t.Errorf("Index of nil %d, want 0", got)
	}
	slices.Reverse(s)
	if s[0] != (point{29, -29}) || s[29] != (point{}) {
		t.Errorf("Reverse gave %v", s)
	}
}

func TestSortFunc(t *testing.T) {
	type item struct{ key, place int }
	r := newRand(t)
	byKey := func(a, b item) int { return cmp.Compare(a.key, b.key) }
	for range rounds {
		s := make([]item, r.IntN(70))
		for i := range s {
			s[i] = item{r.IntN(1 + r.IntN(20)), i}
		}
		stable, want := standard.Clone(s), standard.Clone(s)
		standard.SortStableFunc(stable, byKey)
		standard.SortFunc(want, byKey)
		for _, c := range []struct {
			name string
			sort func([]item, func(a, b item) int)
			want []item
		}{
			{"SortFunc", slices.SortFunc[[]item, item], want},
			{"SortStableFunc", slices.SortStableFunc[[]item, item], stable},
			{"SortedFunc", func(s []item, f func(a, b item) int) { copy(s, slices.SortedFunc(standard.Values(s), f)) }, want},
			{"SortedStableFunc", func(s []item, f func(a, b item) int) { copy(s, slices.SortedStableFunc(standard.Values(s), f)) }, stable},
		} {
			got := standard.Clone(s)
			if c.sort(got, byKey); !standard.Equal(got, c.want) {
				t.Fatalf("%s of %v\ngot  %v\nwant %v", c.name, s, got, c.want)
			}
		}
	}
}

// TestSortFuncPanic checks that no element is lost if the comparison panics.
func TestSortFuncPanic(t *testing.T) {
	r := newRand(t)
	for range rounds {
		s := r.Perm(50)
		calls := r.IntN(250)
		caught(func() any {
			slices.SortFunc(s, func(a, b int) int {
				if calls--; calls < 0 {
					panic("enough")
				}
				return a - b
			})
			return nil
		})
		if standard.Sort(s); s[0] != 0 || s[49] != 49 || len(standard.Compact(s)) != 50 {
			t.Fatalf("elements got lost: %v", s)
		}
	}
}

// TestSortFuncCalls checks that the comparisons are those of the standard package, in the same order.
func TestSortFuncCalls(t *testing.T) {
	r := newRand(t)
	for _, s := range [][]int{r.Perm(1024), make([]int, 1024), {3, 1, 2}} {
		var got, want [][2]int
		slices.SortFunc(standard.Clone(s), func(a, b int) int { got = append(got, [2]int{a, b}); return a - b })
		standard.SortFunc(standard.Clone(s), func(a, b int) int { want = append(want, [2]int{a, b}); return a - b })
		if !standard.Equal(got, want) {
			t.Errorf("%d comparisons, want %d, or in another order", len(got), len(want))
		}
	}
}

// TestStop stops each iterator after every possible number of values.
func TestStop(t *testing.T) {
	s := []int{4, 5, 6, 7, 8}
	for n := range 7 {
		var got, want []string
		limit := func(list *[]string) func(v ...any) bool {
			return func(v ...any) bool { *list = append(*list, fmt.Sprint(v...)); return len(*list) < n }
		}
		iterate := func(list *[]string, all, backward func(func(int, int) bool), values func(func(int) bool), chunk func(func([]int) bool)) {
			var part []string
			all(func(i, v int) bool { return limit(&part)(i, v) })
			*list, part = append(*list, part...), nil
			backward(func(i, v int) bool { return limit(&part)(i, v) })
			*list, part = append(*list, part...), nil
			values(func(v int) bool { return limit(&part)(v) })
			*list, part = append(*list, part...), nil
			chunk(func(c []int) bool { return limit(&part)(c, cap(c)) })
			*list = append(*list, part...)
		}
		iterate(&got, slices.All(s), slices.Backward(s), slices.Values(s), slices.Chunk(s, 2))
		iterate(&want, standard.All(s), standard.Backward(s), standard.Values(s), standard.Chunk(s, 2))
		if !standard.Equal(got, want) {
			t.Errorf("stopped after %d:\ngot  %v\nwant %v", n, got, want)
		}
	}
	for _, n := range []int{0, -1} {
		got, want := caught(func() any { return slices.Chunk(s, n) }), caught(func() any { return standard.Chunk(s, n) })
		if got != want {
			t.Errorf("Chunk of %d: got %s, want %s", n, got, want)
		}
	}
	for range slices.Chunk(s, math.MaxInt) {
	}
}
