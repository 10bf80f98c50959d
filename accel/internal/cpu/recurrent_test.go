package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLSTMRows compares a step of an LSTM and its gradient with their definitions, for whole vectors and others.
func TestLSTMRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 5))
	for _, v := range allVectors() {
		for _, n := range []int{0, 1, 7, 8, 9, 16, 24, 33, 64} {
			what := fmt.Sprintf("%s, %d: ", v.name, n)
			gates, cell, next := newGuarded(r, 4*n), newGuarded(r, n), newGuarded(r, n)
			x, before, old := random(r, 4*n), random(r, n), slices.Clone(gates.row)
			if n > 0 {
				x[0], x[4*n-1] = 200, -200
			}
			v.lstm(v, gates.row, x, before, cell.row, next.row)
			at := func(all []float32, gate, i int) float64 { return float64(all[gate*n+i]) }
			for i := range n {
				var y [4]float64
				for g := range y {
					sum := float64(old[g*n+i] + x[g*n+i])
					if y[g] = 1 / (1 + math.Exp(-sum)); g == 2 {
						y[g] = math.Tanh(sum)
					}
					checkNear(t, what+"gate", g*n+i, gates.row[g*n+i], y[g], 1)
				}
				c := y[1]*float64(before[i]) + y[0]*y[2]
				checkNear(t, what+"cell", i, cell.row[i], c, 2+math.Abs(float64(before[i])))
				checkNear(t, what+"state", i, next.row[i], y[3]*math.Tanh(c), 2+math.Abs(float64(before[i])))
			}
			slopes, dh, dc := newGuarded(r, 4*n), newGuarded(r, n), newGuarded(r, n)
			oldH, oldC := slices.Clone(dh.row), slices.Clone(dc.row)
			v.lstmGradient(v, slopes.row, gates.row, before, cell.row, dh.row, dc.row)
			for i := range n {
				in, forget, candidate, out := at(gates.row, 0, i), at(gates.row, 1, i), at(gates.row, 2, i), at(gates.row, 3, i)
				h, through := float64(oldH[i]), math.Tanh(float64(cell.row[i]))
				c := float64(oldC[i]) + h*out*(1-through*through)
				size := 2 + math.Abs(h) + math.Abs(c)*(1+math.Abs(float64(before[i])))
				checkNear(t, what+"slope of i", i, slopes.row[i], c*candidate*in*(1-in), size)
				checkNear(t, what+"slope of f", n+i, slopes.row[n+i], c*float64(before[i])*forget*(1-forget), size)
				checkNear(t, what+"slope of g", 2*n+i, slopes.row[2*n+i], c*in*(1-candidate*candidate), size)
				checkNear(t, what+"slope of o", 3*n+i, slopes.row[3*n+i], h*through*out*(1-out), size)
				checkNear(t, what+"slope of the cell", i, dc.row[i], c*forget, size)
				checkNear(t, what+"slope of the state", i, dh.row[i], 0, 0)
			}
			for _, g := range []guarded{gates, cell, next, slopes, dh, dc} {
				g.check(t, what)
			}
		}
	}
}
