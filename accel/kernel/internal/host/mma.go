package host

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// compileMMA compiles the multiplication of matrices [16, k] and [k, 8] that a warp holds. Which thread holds which element is that of mma.sync of
// PTX. The products are added exactly before the sum is rounded, as in the simulator.
func (m *machine) compileMMA(i *program.Instr) code {
	columns := make([]*column, len(i.Args))
	for n, x := range i.Args {
		columns[n] = m.operand(x)
	}
	sum, a, b := columns[:4], columns[4:], []*column(nil)
	depth, element := 16, tensortype.Float16Value
	if i.Text == "tf32" {
		depth = 8
		a, b = a[:4], a[4:]
	} else {
		a, b = a[:8], a[8:]
	}
	if i.Text == "bf16" {
		element = tensortype.BFloat16Value
	}
	value := func(c *column, k int) float64 {
		if depth == 8 {
			return tf32(vec[uint32](m, c)[k])
		}
		return float64(element(vec[uint16](m, c)[k]))
	}
	return func(t threads) threads {
		for _, c := range columns {
			m.fill(c)
		}
		for _, c := range sum {
			m.assigned(c, t, false)
		}
		return m.warps(i, t, func(first, _ int) { // of 32 threads, see compile
			var x [16][16]float64
			var y [8][16]float64
			for lane := range program.WarpSize {
				g, q := lane/4, lane%4
				for n, c := range a {
					row, column := g+8*(n/2%2), 2*q+n%2+8*(n/4)
					if depth == 8 {
						row, column = g+8*(n%2), q+4*(n/2)
					}
					x[row][column] = value(c, first+lane)
				}
				for n, c := range b {
					row := 2*q + n%2 + 8*(n/2)
					if depth == 8 {
						row = q + 4*n
					}
					y[g][row] = value(c, first+lane)
				}
			}
			for lane := range program.WarpSize {
				for n, c := range sum {
					left, right := &x[lane/4+8*(n/2)], &y[2*(lane%4)+n%2]
					total := 0.0
					for k := range depth {
						total += left[k] * right[k]
					}
					s := &vec[float32](m, c)[first+lane]
					*s = rounded(total, float64(*s))
				}
			}
		})
	}
}

// tf32 returns a float32 with 11 bits, ties away from zero.
func tf32(bits uint32) float64 {
	if bits&0x7f800000 != 0x7f800000 { // neither an infinity nor NaN
		bits += 0x1000
	}
	return float64(math.Float32frombits(bits &^ 0x1fff))
}

// rounded returns a+b, rounded once.
func rounded(a, b float64) float32 {
	s := a + b
	t := s - a
	rest := (a - (s - t)) + (b - t)
	if rest != 0 && !math.IsNaN(rest) && !math.IsInf(s, 0) {
		// The last bit of an odd sum says that there is a rest, so that the second rounding does not take it for a tie.
		bits := math.Float64bits(s)
		if bits&1 == 0 {
			if (rest < 0) == (s > 0) {
				bits--
			}
			s = math.Float64frombits(bits | 1)
		}
	}
	return float32(s)
}
