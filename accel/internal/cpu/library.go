package cpu

import (
	"fmt"
	"math"
	"os"
	"sync"
	"time"
)

// A library of the system may multiply matrices faster than our kernels: Accelerate on macOS uses the matrix unit of Apple's
// processors, for which there are no documented instructions.

// sgemm computes c = a·b for a row-major c without gaps. Each operand is contiguous in one of its dimensions.
type sgemm func(c []float32, m, n, k int, a, b matrix)

// LibraryVariable is the environment variable that keeps products from a library of the system if it is off.
const LibraryVariable = "QUERN_CPU_LIBRARY"

// libraryProduct is the product of a library, from a number of multiplications on; its zero value is that of no library.
type libraryProduct struct {
	sgemm
	least int
}

// librarySides are the sizes of the products that are measured, the smallest first, and leastSide is the smallest side of a matrix that
// a library multiplies: only cubes are measured, and the tiles of Apple's matrix unit have 16 rows and columns.
var librarySides = []int{64, 128, 256}

const leastSide = 16

// library returns the product of the system's library if it passes the check, and what was found, in words.
var library = sync.OnceValues(func() (libraryProduct, string) {
	if os.Getenv(LibraryVariable) == "off" {
		return libraryProduct{}, LibraryVariable + " is off"
	}
	f, name, err := systemLibrary()
	if err != nil {
		return libraryProduct{}, err.Error()
	}
	if f == nil {
		return libraryProduct{}, ""
	}
	return checkedLibrary(f, name)
})

// checkedLibrary returns a library's product only if its results agree with ours, for sizes from which on it is faster.
func checkedLibrary(f sgemm, name string) (libraryProduct, string) {
	d := newDevice(0)
	defer d.Close()
	for _, s := range [][3]int{{1, 5, 3}, {33, 17, 70}, {96, 64, 130}} {
		for transposed := range 4 {
			if err := checkProduct(d, f, s[0], s[1], s[2], transposed&1 != 0, transposed&2 != 0); err != nil {
				return libraryProduct{}, fmt.Sprintf("%s is not used: %v", name, err)
			}
		}
	}
	var ours, theirs time.Duration
	for _, size := range librarySides {
		if ours, theirs = measureLibrary(d, f, size); theirs < ours {
			return libraryProduct{f, size * size * size}, fmt.Sprintf("%s multiplies matrices from %d×%d×%d on: %v, our kernels %v", name, size, size, size, theirs, ours)
		}
	}
	return libraryProduct{}, fmt.Sprintf("%s is not used: a product of %d takes %v, ours %v", name, librarySides[len(librarySides)-1], theirs, ours)
}

// measureLibrary returns the shortest times of a product, ours and the library's.
func measureLibrary(d *Device, f sgemm, size int) (ours, theirs time.Duration) {
	a, b, c := testMatrix(size, size, false), testMatrix(size, size, false), make([]float32, size*size)
	g := newGEMM(d, size, size, size, a, b)
	g.c = c
	ours, theirs = time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range 5 {
		start := time.Now()
		g.run()
		middle := time.Now()
		f(c, size, size, size, a, b)
		ours, theirs = min(ours, middle.Sub(start)), min(theirs, time.Since(middle))
	}
	return ours, theirs
}

// checkProduct compares one product with ours.
func checkProduct(d *Device, f sgemm, m, n, k int, ta, tb bool) error {
	a, b := testMatrix(m, k, ta), testMatrix(k, n, tb)
	got, want := make([]float32, m*n), make([]float32, m*n)
	g := newGEMM(d, m, n, k, a, b)
	g.c = want
	g.run()
	f(got, m, n, k, a, b)
	const tolerance = 1e-5 // of sums of k products of numbers up to 1
	for i := range want {
		if !(math.Abs(float64(got[i]-want[i])) <= tolerance*float64(k)) {
			return fmt.Errorf("element %d of a product of %d×%d×%d is %v instead of %v", i, m, k, n, got[i], want[i])
		}
	}
	return nil
}

// testMatrix returns numbers from -1 to 1, in rows or columns with a gap.
func testMatrix(rows, cols int, transposed bool) matrix {
	m := matrix{row: cols + 1, col: 1}
	if transposed {
		m = matrix{row: 1, col: rows + 1}
	}
	m.data = make([]float32, rows*m.row+cols*m.col)
	for i := range m.data {
		m.data[i] = float32(i*37%101)/50 - 1
	}
	return m
}

// suitsLibrary reports whether a library computes a product: if it is large, and BLAS can name its operands.
func (g *gemm) suitsLibrary() bool {
	plain := func(m matrix, rows, cols int) bool {
		return m.col == 1 && m.row >= max(cols, 1) || m.row == 1 && m.col >= max(rows, 1)
	}
	l := &g.device.library
	return l.sgemm != nil && g.m*g.n*g.k >= l.least && min(g.m, g.n, g.k) >= leastSide && plain(g.a, g.m, g.k) && plain(g.b, g.k, g.n)
}

// Kernels says which instruction set the CPU's kernels use, and whether a library multiplies matrices.
func Kernels() string {
	text := Implementations()[0]
	if _, found := library(); found != "" {
		text += "; " + found
	}
	return text
}
