package cpu

import (
	"strings"
	"testing"
)

// plainProduct is a correct product of a library.
func plainProduct(c []float32, m, n, k int, a, b matrix) {
	for i := range m {
		for j := range n {
			sum := 0.0
			for p := range k {
				sum += a.at(i, p) * b.at(p, j)
			}
			c[i*n+j] = float32(sum)
		}
	}
}

// TestLibraryIsChecked rejects a library that is wrong, for one layout only, or slower.
func TestLibraryIsChecked(t *testing.T) {
	for _, row := range []struct {
		name, want string
		f          sgemm
	}{
		{"wrong", "element 0 of a product", func(c []float32, _, _, _ int, _, _ matrix) { clear(c) }},
		{"wrong for one layout", "not used: element", func(c []float32, m, n, k int, a, b matrix) {
			plainProduct(c, m, n, k, a, b)
			if b.row == 1 && n > 16 {
				c[len(c)-1]++
			}
		}},
		{"slower", "a product of 256 takes", plainProduct},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, found := checkedLibrary(row.f, "a library")
			if f.sgemm != nil || !strings.Contains(found, row.want) {
				t.Errorf("used %v, %q; want %q", f.sgemm != nil, found, row.want)
			}
		})
	}
	f, found := checkedLibrary(func(c []float32, m, n, k int, a, b matrix) {
		if m < 256 { // nothing is faster for the larger one
			plainProduct(c, m, n, k, a, b)
		}
	}, "a library")
	if f.sgemm == nil || f.least != 256*256*256 || !strings.HasPrefix(found, "a library multiplies matrices from 256×256×256 on") {
		t.Errorf("a library that is fast from 256 on is used from %d multiplications on: %q", f.least, found)
	}
}

// TestLibraryComputesLargeProducts checks which products a library gets, and that bias and ReLU come after it.
func TestLibraryComputesLargeProducts(t *testing.T) {
	for _, row := range []struct {
		name    string
		m, n, k int
		a, b    matrix
		want    int // calls
	}{
		{"large", 64, 64, 64, testMatrix(64, 64, false), testMatrix(64, 64, true), 1},
		{"small", 63, 64, 64, testMatrix(63, 64, false), testMatrix(64, 64, false), 0},
		{"few rows", 8, 256, 256, testMatrix(8, 256, false), testMatrix(256, 256, false), 0},
		{"both strides", 64, 64, 64, matrix{make([]float32, 64*256), 256, 2}, testMatrix(64, 64, false), 0},
		{"broadcast", 64, 64, 64, matrix{make([]float32, 64), 0, 1}, testMatrix(64, 64, false), 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := New(1)
			defer d.Close()
			calls := 0
			d.library = libraryProduct{func(c []float32, m, n, k int, a, b matrix) {
				calls++
				plainProduct(c, m, n, k, a, b)
			}, 64 * 64 * 64}
			g := newGEMM(d, row.m, row.n, row.k, row.a, row.b)
			g.c, g.relu, g.bias = make([]float32, row.m*row.n), true, make([]float32, row.n)
			for i := range g.bias {
				g.bias[i] = -1
			}
			g.run()
			if calls != row.want {
				t.Errorf("%d calls, want %d", calls, row.want)
			}
			want := make([]float32, row.m*row.n)
			plainProduct(want, row.m, row.n, row.k, row.a, row.b)
			for i, v := range want {
				if v = max(v-1, 0); g.c[i]-v > 1e-4 || v-g.c[i] > 1e-4 {
					t.Fatalf("element %d is %v, want %v", i, g.c[i], v)
				}
			}
		})
	}
}
