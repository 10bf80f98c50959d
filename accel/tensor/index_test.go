package tensor

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestIndicesOfAnyType selects rows with each index type and checks that an index out of range is
// an error, also if its lower 32 bits are in range.
func TestIndicesOfAnyType(t *testing.T) {
	x := New([]float32{10, 11, 12}, 3)
	for _, d := range []DType{Int32, Int64, Uint8} {
		for _, known := range []bool{true, false} {
			index := func(v ...float32) *Tensor {
				i := New(v, len(v)).Cast(d)
				if known {
					i.Ints()
				}
				return i
			}
			if got := x.IndexSelect(index(2, 0, 2)).Data(); !slices.Equal(got, []float32{12, 10, 12}) {
				t.Errorf("%v: rows %v", d, got)
			}
			if got := x.IndexAdd(index(1, 1, 0), 2).Data(); !slices.Equal(got, []float32{12, 21}) {
				t.Errorf("%v: sums %v", d, got)
			}
			if got := index(1, 0).OneHot(2).Data(); !slices.Equal(got, []float32{0, 1, 1, 0}) {
				t.Errorf("%v: one-hot %v", d, got)
			}
			outside := []float32{3}
			if d == Int64 {
				outside = append(outside, -1, 1<<32, 1<<32+1, -1<<32, 1<<62)
			}
			for _, v := range outside {
				for name, f := range map[string]func(){
					"IndexSelect":  func() { x.IndexSelect(index(v)).Data() },
					"OneHot":       func() { index(v).OneHot(3).Data() },
					"IndexAdd":     func() { Ones(1).IndexAdd(index(v), 3).Data() },
					"CrossEntropy": func() { CrossEntropy(Zeros(1, 3), index(v)).Data() },
					"Embedding":    func() { Embedding(Zeros(3, 2), index(v)).Data() },
				} {
					err := catch(f)
					bad, ok := err.(*IndexError)
					if !ok || bad.Index != int(v) || bad.Size != 3 || (bad.Op != name && name != "Embedding") {
						t.Errorf("%s of %v as %v, known %v: %v", name, v, d, known, err)
					}
				}
			}
		}
	}
}

// wholes are integers of all sizes, with the extremes.
func wholes(n int, least, most int) []int {
	random := rand.New(rand.NewPCG(7, uint64(n)))
	values := []int{least, most, 0, 1, least + 1, most - 1, most / 2, 2}
	for len(values) < n {
		values = append(values, least+int(random.Int64N(int64(most-least)+1))>>random.IntN(31))
	}
	for i, v := range values {
		values[i] = min(max(v, least), most)
	}
	return values[:n]
}

// TestIntegerArithmetic compares with Go's int32 and uint8, which wrap around.
func TestIntegerArithmetic(t *testing.T) { compareIntegers(t) }

func compareIntegers(t *testing.T) {
	t.Helper()
	const n = 400
	for name, d := range map[string]struct {
		of          DType
		least, most int
		wrap        func(int) int
	}{
		"int32": {Int32, math.MinInt32, math.MaxInt32, func(v int) int { return int(int32(v)) }},
		"uint8": {Uint8, 0, 255, func(v int) int { return int(uint8(v)) }},
	} {
		a, b := wholes(n, d.least, d.most), wholes(n, d.least, d.most)
		rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { b[i], b[j] = b[j], b[i] })
		of := func(v []int) *Tensor {
			if d.of == Int32 {
				return FromInts(v, n)
			}
			bytes := make([]byte, n)
			for i, x := range v {
				bytes[i] = byte(x)
			}
			return FromBytes(bytes, n)
		}
		x, y := of(a), of(b)
		abs := func(v int) int { return max(v, -v) }
		for op, row := range map[string]struct {
			got  *Tensor
			want func(a, b int) int
		}{
			"Add":       {x.Add(y), func(a, b int) int { return a + b }},
			"Sub":       {x.Sub(y), func(a, b int) int { return a - b }},
			"Mul":       {x.Mul(y), func(a, b int) int { return a * b }},
			"Square":    {x.Square(), func(a, _ int) int { return a * a }},
			"Neg":       {x.Neg(), func(a, _ int) int { return -a }},
			"Abs":       {x.Abs(), func(a, _ int) int { return abs(a) }},
			"Maximum":   {x.Maximum(y), func(a, b int) int { return max(a, b) }},
			"Minimum":   {x.Minimum(y), func(a, b int) int { return min(a, b) }},
			"AddScalar": {x.AddScalar(-77), func(a, _ int) int { return a - 77 }},
			"MulScalar": {x.MulScalar(-65537), func(a, _ int) int { return a * -65537 }},
			"Clamp":     {x.Clamp(3, math.Inf(1)), func(a, _ int) int { return max(a, 3) }},
			"Where":     {Where(x.Less(y), x, y), func(a, b int) int { return min(a, b) }},
		} {
			if row.got.DType() != d.of {
				t.Errorf("%s of %s is %s", op, name, row.got.DType())
			}
			for i, got := range row.got.Ints() {
				if want := d.wrap(row.want(a[i], b[i])); got != want {
					t.Fatalf("%s of %s: %d and %d give %d, want %d", op, name, a[i], b[i], got, want)
				}
			}
		}
		sum, sums := 0, []int(nil)
		for _, v := range a {
			sum += v
			sums = append(sums, sum)
		}
		if s := x.Sum(); s.DType() != Int64 || s.Ints()[0] != sum || !slices.Equal(x.CumSum(0).Ints(), sums) {
			t.Errorf("the sum of %s is %v, want %d", name, s, sum)
		}
		rows := x.Reshape(20, 20)
		if got, want := rows.Max(1).Ints()[0], slices.Max(a[:20]); got != want || rows.Max(1).DType() != d.of {
			t.Errorf("the maximum of %s is %d, want %d", name, got, want)
		}
		if got, want := x.Min().Ints()[0], slices.Min(a); got != want {
			t.Errorf("the minimum of %s is %d, want %d", name, got, want)
		}
		if got, want := x.ArgMax(0).Ints()[0], slices.Index(a, slices.Max(a)); got != want {
			t.Errorf("ArgMax of %s is %d, want %d", name, got, want)
		}
	}
}

// TestIntegersRefuse has what integers cannot do exactly.
func TestIntegersRefuse(t *testing.T) {
	x := FromInts([]int{1, 2, 3}, 3)
	wide := x.Cast(Int64)
	for name, f := range map[string]func() *Tensor{
		"half":            func() *Tensor { return x.AddScalar(0.5) },
		"NaN":             func() *Tensor { return x.MulScalar(math.NaN()) },
		"large":           func() *Tensor { return x.MulScalar(1 << 40) },
		"bound":           func() *Tensor { return x.Clamp(0.5, 2) },
		"mixed":           func() *Tensor { return x.Add(FromBytes([]byte{1, 2, 3}, 3)) },
		"with floats":     func() *Tensor { return x.Mul(Ones(3)) },
		"division":        func() *Tensor { return x.Div(x) },
		"mean":            func() *Tensor { return x.Mean() },
		"root":            func() *Tensor { return x.Sqrt() },
		"int64":           func() *Tensor { return wide.Add(wide) },
		"comparison bool": func() *Tensor { return x.Cast(Bool).Add(x.Cast(Bool)) },
		"long sum":        func() *Tensor { return Zeros(mostAdded + 1).Cast(Int32).Sum() },
	} {
		err := catch(func() { f() })
		var dtype *DTypeError
		if !errors.As(err, &dtype) || dtype.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := FromInts(nil, 0).Sum(); s.DType() != Int64 || s.Ints()[0] != 0 {
		t.Errorf("the sum of no integers is %v", s)
	}
	if s := FromInts([]int{1, 2, 3, 4}, 2, 2).Add(FromInts([]int{10, 20}, 2)).Ints(); !slices.Equal(s, []int{11, 22, 13, 24}) {
		t.Errorf("broadcast: %v", s)
	}
}
