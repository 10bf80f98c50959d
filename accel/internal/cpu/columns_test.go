package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPackWindows compares the assembly with plain Go, and both with single positions.
func TestPackWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, p := range []positions{{0, 1, 1, 1, 1}, {0, 5, 7, 8, 45}, {11, 3, 3, 4, 30}, {0, 2, 40, 41, 90}, {3, 9, 1, 5, 50}, {0, 4, 16, 16, 64}} {
		images, offsets := 3, []int{0, 2, 1, 9}
		runs := make([]float32, images*p.image+64)
		for i := range runs {
			runs[i] = r.Float32()
		}
		total := images * p.count()
		for _, count := range []int{1, total / 2, total} {
			first := r.IntN(total - count + 1)
			list := p.windows(nil, first, count)
			for _, kernel := range allTiles() {
				t.Run(fmt.Sprint(kernel.name, p, count), func(t *testing.T) {
					dst := make([]float32, len(offsets)*count+2*windowLen)
					kernel.packWindows(dst, runs, offsets, count, list)
					for k, offset := range offsets {
						for i := range count {
							if got, want := dst[k*count+i], runs[offset+p.at(first+i)]; got != want {
								t.Fatalf("row %d, position %d is %v, want %v", k, first+i, got, want)
							}
						}
					}
				})
			}
		}
	}
}

// TestCopyGrid compares copies of neighbors and of every second element with plain loops, of rows that end with the memory.
func TestCopyGrid(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, kernel := range allTiles() {
		d := &Device{kernel: kernel}
		for _, step := range []int{1, 2, 3} {
			for _, cols := range []int{0, 1, 7, 8, 9, 16, 23, 24, 31} {
				const rows = 3
				to, from := max(cols, 1)+2, max(step*(cols-1)+1, 1)
				src, got := random(r, rows*from), make([]float32, rows*to)
				d.copyGrid(grid{got, to, 1}, grid{src, from, step}, rows, cols)
				for i, v := range got {
					want := float32(0)
					if row, col := i/to, i%to; col < cols {
						want = src[row*from+col*step]
					}
					if v != want {
						t.Errorf("%s, %d columns, every %d: element %d is %v, want %v", kernel.name, cols, step, i, v, want)
					}
				}
			}
		}
	}
}

// TestRowTiles compares tiles of rows at offsets with tiles of packed rows, in every size.
func TestRowTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, kernel := range nativeTiles() {
		for mr := 1; mr <= len(kernel.rowTiles); mr++ {
			for nv := 1; nv <= len(kernel.rowTiles[mr-1]); nv++ {
				for _, k := range []int{1, 5, 12} {
					n := nv * kernel.lanes
					a, left, right, c := random(r, k*mr), random(r, 400), random(r, 400), random(r, mr*n)
					offsets, b := make([]int, k), make([]float32, k*n)
					for p := range offsets {
						offsets[p] = r.IntN(400 - kernel.lanes)
						copy(b[p*n:], left[offsets[p]:][:kernel.lanes])
						if nv > 1 {
							copy(b[p*n+kernel.lanes:], right[offsets[p]:][:kernel.lanes])
						}
					}
					for _, mode := range []int{0, addResult} {
						want, got := slices.Clone(c), slices.Clone(c)
						kernel.tiles[mr-1][nv-1](k, &a[0], 1, mr, &b[0], n, &want[0], n, mode, nil, &a[0], 1, 1, 0, 0, 0)
						kernel.rowTiles[mr-1][nv-1](k, &a[0], &left[0], &right[0], &offsets[0], &got[0], n, mode)
						if !slices.Equal(got, want) {
							t.Fatalf("%s, %d×%d×%d, mode %d: the tiles differ", kernel.name, mr, n, k, mode)
						}
					}
				}
			}
		}
	}
}

// TestTiles compares every tile with its definition: one, and three at some distance from each other, downward and upward.
func TestTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 5))
	for _, kernel := range allTiles() {
		for i, row := range kernel.tiles {
			for j, tile := range row {
				m, n, k := i+1, (j+1)*kernel.lanes, 9
				for layout, l := range [][3]int{{1, m, n}, {k + 3, 1, n + 5}, {1, m + 2, n}} {
					row, step, next := l[0], l[1], l[2]
					one, gap := m*row+k*step, (m+1)*n // elements of a of a tile, and distance of the results
					a, b, c, bias := random(r, 3*one), random(r, k*next), random(r, 3*gap), random(r, n)
					for mode := range 4 {
						for _, biased := range []bool{false, true} {
							for order, count := range []int{1, 3, 3} {
								got := slices.Clone(c)
								from := (*float32)(nil)
								if biased {
									from = &bias[0]
								}
								first, sign := 0, 1
								if order == 2 {
									first, sign = 2, -1
								}
								tile(k, &a[first*one], row, step, &b[0], next, &got[first*gap], n, mode, from, &a[0], 1, count, sign*one, sign*gap, 3)
								for at := range got {
									q, x, y := at/gap, at%gap/n, at%n
									want := float64(c[at])
									if inside := x < m && q < count; inside && mode&addResult == 0 {
										want = 0
									} else if !inside && got[at] != c[at] {
										t.Fatalf("%s, %d×%d: an element outside of %d tiles has changed", kernel.name, m, n, count)
									} else if !inside {
										continue
									}
									for p := range k {
										want += float64(a[q*one+x*row+p*step]) * float64(b[p*next+y])
									}
									if biased {
										want += float64(bias[y])
									}
									if mode&clampZero != 0 {
										want = max(want, 0)
									}
									if d := float64(got[at]) - want; !(d < 1e-5 && d > -1e-5) {
										t.Fatalf("%s, %d×%d, layout %d, mode %d, bias %v: element (%d, %d) of tile %d of %d is %v, want %v", kernel.name, m, n, layout, mode, biased, x, y, q, count, got[at], want)
									}
								}
							}
						}
					}
				}
			}
		}
	}
}

func random(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}
