package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// guarded is a slice of n values, followed by others that must not change.
type guarded struct{ all, row []float32 }

func newGuarded(r *rand.Rand, n int) guarded {
	all := random(r, n+32)
	for i := range 16 {
		all[i], all[16+n+i] = 54321, 54321
	}
	return guarded{all, all[16 : 16+n]}
}

func (g guarded) check(t *testing.T, what string) {
	t.Helper()
	for i := range 16 {
		if g.all[i] != 54321 || g.all[16+len(g.row)+i] != 54321 {
			t.Fatalf("%s writes outside of its row", what)
		}
	}
}

func checkNear(t *testing.T, what string, i int, got float32, want, size float64) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= 16*ulp*size+1e-30) {
		t.Fatalf("%s: element %d is %v, want %v", what, i, got, want)
	}
}

// TestRows compares the functions of rows with their definitions, for all lengths of the
// last vector.
func TestRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	const shift, scale, slope, mean = 0.25, 1.5, -0.75, 0.125
	for _, v := range allVectors() {
		for n := range 150 {
			x, dy, w, b := random(r, n), random(r, n), random(r, n), random(r, n)
			y, dx, dw, db := newGuarded(r, n), newGuarded(r, n), newGuarded(r, n), newGuarded(r, n)
			oldW, oldB := slices.Clone(dw.row), slices.Clone(db.row)
			squares := v.squares(x, shift)
			v.normalize(y.row, x, w, b, shift, scale)
			sum, dot := v.slopes(x, dy, w, shift)
			v.normGradient(dx.row, x, dy, w, shift, slope, mean, scale)
			v.normWeights(dw.row, db.row, x, dy, shift, scale)
			wantSquares, wantSum, wantDot, size := 0.0, 0.0, 0.0, 0.0
			for i := range n {
				xi, g := float64(x[i])+shift, float64(dy[i])*float64(w[i])
				wantSquares += xi * xi
				wantSum += g
				wantDot += g * xi
				size += math.Abs(g) + math.Abs(g*xi)
				checkNear(t, v.name+" normalize", i, y.row[i], xi*scale*float64(w[i])+float64(b[i]), 4+math.Abs(xi*float64(w[i])))
				checkNear(t, v.name+" normGradient", i, dx.row[i], (g-mean-xi*slope)*scale, 4+math.Abs(g)+math.Abs(xi))
				checkNear(t, v.name+" normWeights", i, dw.row[i], float64(oldW[i])+float64(dy[i])*xi*scale, 4+math.Abs(float64(dy[i])*xi))
				checkNear(t, v.name+" normWeights, the sum", i, db.row[i], float64(oldB[i])+float64(dy[i]), 4)
			}
			checkNear(t, v.name+" squares", 0, squares, wantSquares, wantSquares)
			checkNear(t, v.name+" slopes", 0, sum, wantSum, size)
			checkNear(t, v.name+" slopes, the product", 0, dot, wantDot, size)
			for _, g := range []guarded{y, dx, dw, db} {
				g.check(t, v.name)
			}
		}
	}
}

// TestDots compares with float64, for all lengths of the last vector.
func TestDots(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	for _, v := range allVectors() {
		for n := range 100 {
			pitch := n + n%3
			x, w := random(r, n), random(r, dotRows*pitch)
			for i, got := range v.dots(x, w, pitch) {
				want, size := 0.0, 0.0
				for k, a := range x {
					b := float64(a) * float64(w[i*pitch+k])
					want, size = want+b, size+math.Abs(b)
				}
				checkNear(t, v.name+" dots", i, got, want, size)
			}
		}
	}
}

func TestAddProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 4))
	for _, v := range allVectors() {
		for n := range 100 {
			pitch := n + n%3
			w, c := random(r, dotRows*pitch), newGuarded(r, n)
			before, x := slices.Clone(c.row), [dotRows]float32(random(r, dotRows))
			v.addProducts(c.row, &x, w, pitch)
			for j, got := range c.row {
				want := float64(before[j])
				size := math.Abs(want)
				for i, a := range x {
					b := float64(a) * float64(w[i*pitch+j])
					want, size = want+b, size+math.Abs(b)
				}
				checkNear(t, v.name+" addProducts", j, got, want, size)
			}
			c.check(t, v.name)
		}
	}
}

func TestAddRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2))
	for _, v := range allVectors() {
		for _, n := range []int{0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 127, 128, 150, 300} {
			for _, rows := range []int{0, 1, 2, 9} {
				pitch := n + 3
				x, d := random(r, rows*pitch+1), make([]float64, n+1)
				for i := range d {
					d[i] = r.NormFloat64()
				}
				before := slices.Clone(d)
				v.addRows(d[:n], x, rows, pitch)
				for i, want := range before {
					for p := range rows {
						if i < n {
							want += float64(x[p*pitch+i])
						}
					}
					if allowed := float64(rows) * ulp * 4; !(math.Abs(d[i]-want) <= allowed) || i == n && d[i] != want {
						t.Errorf("%s, %d rows of %d: element %d is %v, want %v", v.name, rows, n, i, d[i], want)
					}
				}
			}
		}
	}
}

// TestScoreRows compares softmax and its gradient with their definitions, for rows with no,
// some and all keys visible.
func TestScoreRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	const pitch, factor, scale = 160, 0.5, 0.75
	for _, v := range allVectors() {
		for _, s := range []scoreRows{{5, 40, pitch, 40, 0}, {20, 17, pitch, -2, 1}, {3, 16, pitch, 15, 1}, {64, 128, pitch, 1, 1}, {1, 1, pitch, 1, 0}, {4, 150, pitch, 148, 1}, {2, 160, pitch, 0, 0}, {0, 16, pitch, 1, 1}} {
			p, ds := random(r, s.rows*pitch), random(r, s.rows*pitch)
			if s.rows == 5 {
				for i := range s.width {
					p[i] = float32(math.Inf(-1)) // a row that only has hidden keys
				}
				p[pitch], p[2*pitch+39] = float32(math.Inf(-1)), 80
			}
			for i := range s.rows { // what is not visible does not count
				for j := s.visible(i); j < pitch; j++ {
					p[i*pitch+j], ds[i*pitch+j] = float32(math.NaN()), float32(math.NaN())
				}
			}
			top, sum := random(r, s.rows), make([]float32, s.rows)
			for i := range top {
				if i%3 > 0 || s.rows == 5 {
					top[i] = float32(math.Inf(-1))
				}
			}
			logarithm, delta := random(r, s.rows), random(r, s.rows)
			weights, oldTop := slices.Clone(p), slices.Clone(top)
			v.softmaxRows(v, weights, s, factor, top, sum)
			again, slopes := slices.Clone(p), slices.Clone(ds)
			if s.rows != 5 {
				v.softmaxGradientRows(v, again, slopes, s, factor, scale, logarithm, delta)
			}
			for i := range s.rows {
				row := p[i*pitch:][:s.width]
				n := s.visible(i)
				high := float64(oldTop[i])
				for _, x := range row[:n] {
					high = max(high, float64(x)*factor)
				}
				if math.IsInf(high, -1) {
					high = 0
				}
				checkNear(t, v.name+" top", i, top[i], high, 1)
				total := 0.0
				for j := range s.width {
					want, wantAgain, wantSlope := 0.0, 0.0, 0.0
					if j < n {
						want = math.Exp(float64(row[j])*factor - high)
						wantAgain = math.Exp(float64(row[j])*factor - float64(logarithm[i]))
						wantSlope = (float64(ds[i*pitch+j]) - float64(delta[i])) * wantAgain * scale
					}
					total += want
					checkNear(t, v.name+" softmax", j, weights[i*pitch+j], want, 1)
					if s.rows != 5 {
						checkNear(t, v.name+" softmax again", j, again[i*pitch+j], wantAgain, 1+wantAgain)
						checkNear(t, v.name+" softmax gradient", j, slopes[i*pitch+j], wantSlope, 1+10*wantAgain)
					}
				}
				checkNear(t, v.name+" sum", i, sum[i], total, 1+total)
			}
		}
		spoilt := make([]float32, 64)
		spoilt[20] = float32(math.NaN())
		top, sum := []float32{float32(math.Inf(-1))}, []float32{0}
		if v.softmaxRows(v, spoilt, scoreRows{1, 40, 64, 40, 0}, 1, top, sum); sum[0] == sum[0] {
			t.Errorf("%s: the sum of a row with NaN is %v", v.name, sum[0])
		}
	}
}
