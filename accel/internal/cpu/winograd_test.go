package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// winograds returns the assembly kernels, each with the plain Go kernel of as many lanes.
func winograds() map[string][2]*winogradKernel {
	sets := map[string][2]*winogradKernel{}
	for _, t := range nativeWinograds() {
		sets[fmt.Sprint(t.lanes, " lanes")] = [2]*winogradKernel{t, newGenericWinograd(t.lanes)}
	}
	return sets
}

// filled returns random values.
func filled(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// alike compares two arrays, including elements that a function must not change.
func alike(t *testing.T, got, want []float32, tolerance float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(float64(got[i]-w)) <= tolerance*(1+math.Abs(float64(w)))) {
			t.Fatalf("element %d is %v, want %v", i, got[i], w)
		}
	}
}

// TestTurn interleaves rows of every length and reverses it.
func TestTurn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range append(nativeWinograds(), genericWinograd, newGenericWinograd(16)) {
		for n := 1; n <= 40; n++ {
			for _, q := range []int{1, k.lanes - 1, k.lanes} {
				t.Run(fmt.Sprint(k.lanes, " lanes, ", q, "x", n), func(t *testing.T) {
					row, workspace := n+3, make([]float32, k.lanes*n)
					order := r.Perm(n)
					table := k.rowOffsets(n, func(j int) int { return order[j] * k.lanes })
					src, dst, back := filled(r, k.lanes*row), filled(r, n*k.lanes), filled(r, k.lanes*row)
					want := slices.Clone(back)
					k.interleaveRows(dst, src, row, q, n, table, workspace)
					for j, at := range order {
						for i := range k.lanes {
							w := float32(0)
							if i < q {
								w = src[i*row+j]
								want[i*row+j] = w
							}
							if got := dst[at*k.lanes+i]; got != w {
								t.Fatalf("row %d of column %d is %v, want %v", i, j, got, w)
							}
						}
					}
					k.deinterleaveRows(back, row, q, n, dst, table, workspace)
					if !slices.Equal(back, want) {
						t.Error("rows differ after interleave and deinterleave")
					}
				})
			}
		}
	}
}

// TestWinogradTransforms compares the assembly with plain Go.
func TestWinogradTransforms(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, sets := range winograds() {
		for _, n := range []int{1, 2, 7} {
			lanes := sets[0].lanes
			step, pitch, next := (n+1)*lanes, (4*n+5)*lanes, 3*lanes
			planes, image, flat := filled(r, squares*step), filled(r, 7*pitch), filled(r, 9*n*lanes)
			spaced, ends := filled(r, squares*(3*n+1)*lanes), filled(r, 2*lanes)
			for function, f := range map[string]func(k *winogradKernel, out []float32){
				"input":  func(k *winogradKernel, out []float32) { k.input(n, &out[0], step, &image[0], pitch) },
				"slope":  func(k *winogradKernel, out []float32) { k.slope(n, &out[0], step, &image[0], pitch) },
				"output": func(k *winogradKernel, out []float32) { k.output(n, &out[0], pitch, &planes[0], step, &ends[0]) },
				"weight": func(k *winogradKernel, out []float32) {
					k.weight(n, &out[0], (3*n+1)*lanes, next, &flat[0], &flat[0], 0)
				},
				"gradient": func(k *winogradKernel, out []float32) { k.gradient(n, &out[0], &spaced[0], (3*n+1)*lanes, next) },
			} {
				t.Run(fmt.Sprint(name, function, n), func(t *testing.T) {
					before := filled(r, max(len(spaced), len(planes), len(image)))
					got, want := slices.Clone(before), slices.Clone(before)
					f(sets[0], got)
					f(sets[1], want)
					if slices.Equal(want, before) {
						t.Fatal("nothing was written")
					}
					alike(t, got, want, 1e-5)
				})
			}
		}
	}
}

// TestWinogradOutputKeepsNaN checks that ReLU keeps NaN.
func TestWinogradOutputKeepsNaN(t *testing.T) {
	for _, k := range append(nativeWinograds(), genericWinograd) {
		planes, image, ends := make([]float32, squares*k.lanes), make([]float32, 16*k.lanes), make([]float32, 2*k.lanes)
		planes[0] = float32(math.NaN())
		k.output(1, &image[0], 4*k.lanes, &planes[0], k.lanes, &ends[0])
		if image[0] == image[0] || image[1] != 0 {
			t.Errorf("%d lanes: %v beside %v, want NaN beside 0", k.lanes, image[0], image[1])
		}
	}
}

// TestWinogradTiles compares tiles of every size with plain Go.
func TestWinogradTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, sets := range winograds() {
		lanes := sets[0].lanes
		for rows := range sets[0].tiles {
			for vectors := range 2 {
				for _, k := range []int{1, 3} {
					t.Run(fmt.Sprintf("%s, %dx%d, %d deep", name, rows+1, vectors+1, k), func(t *testing.T) {
						add := k / 2
						rows, apart := rows+1, (rows+3)*lanes
						a, b := filled(r, k*apart), filled(r, k*lanes*(vectors+1)*lanes)
						before := filled(r, 2*apart)
						got, want := slices.Clone(before), slices.Clone(before)
						sets[0].tiles[rows-1][vectors](k, &a[0], apart, &b[0], &got[0], apart, add)
						blockTileGeneric(lanes, rows, vectors+1, k, &a[0], apart, &b[0], &want[0], apart, add)
						alike(t, got, want, 1e-5)
					})
				}
			}
		}
		for vectors := range 2 {
			for _, k := range []int{1, 4, 7} {
				for add := range 2 {
					t.Run(fmt.Sprintf("%s, sums of %d by %d, add %d", name, k, vectors+1, add), func(t *testing.T) {
						ldc := 3 * lanes
						a, b, before := filled(r, k*lanes), filled(r, (2*k+1)*lanes), filled(r, lanes*ldc)
						got, want := slices.Clone(before), slices.Clone(before)
						sets[0].sums[vectors](k, &a[0], &b[0], (k+1)*lanes, &got[0], ldc, add)
						sets[1].sums[vectors](k, &a[0], &b[0], (k+1)*lanes, &want[0], ldc, add)
						alike(t, got, want, 1e-5)
					})
				}
			}
		}
	}
}

// TestSuitsWinograd tests which convolutions use the transforms.
func TestSuitsWinograd(t *testing.T) {
	plain := ir.Conv2D{Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Padding: [2]int{1, 1}, Groups: 1}
	strided, dilated, grouped, padded := plain, plain, plain, plain
	strided.Stride[1], dilated.Dilation[0], grouped.Groups, padded.Padding[1] = 2, 2, 2, 3
	for _, row := range []struct {
		name string
		op   ir.Conv2D
		n    int
		x, w [2]int // channels and size
		want bool
		few  bool // whether there are few tiles, for which weights are transformed in blocks
	}{
		{"middle of a network", plain, 32, [2]int{128, 14}, [2]int{128, 3}, true, false},
		{"small network", plain, 128, [2]int{16, 14}, [2]int{32, 3}, true, false},
		{"one large image", plain, 1, [2]int{64, 56}, [2]int{64, 3}, true, false},
		{"one small image", plain, 1, [2]int{64, 7}, [2]int{64, 3}, false, true},
		{"one image of 6×6", plain, 1, [2]int{64, 6}, [2]int{64, 3}, false, false},
		{"one image of 14×14", plain, 1, [2]int{256, 14}, [2]int{256, 3}, false, true},
		{"two images of 7×7", plain, 2, [2]int{512, 7}, [2]int{512, 3}, false, true},
		{"one image of 28×28", plain, 1, [2]int{128, 28}, [2]int{128, 3}, true, true},
		{"images of 3×3", plain, 32, [2]int{512, 3}, [2]int{512, 3}, false, false},
		{"images of 1×1", plain, 1000, [2]int{64, 1}, [2]int{64, 3}, false, false},
		{"colors", plain, 32, [2]int{3, 32}, [2]int{64, 3}, false, false},
		{"few outputs", plain, 32, [2]int{64, 32}, [2]int{3, 3}, false, false},
		{"kernel of 5×5", plain, 32, [2]int{64, 32}, [2]int{64, 5}, false, false},
		{"stride", strided, 32, [2]int{64, 32}, [2]int{64, 3}, false, false},
		{"dilation", dilated, 32, [2]int{64, 32}, [2]int{64, 3}, false, false},
		{"groups", grouped, 32, [2]int{64, 32}, [2]int{64, 3}, false, false},
		{"padding of 3", padded, 32, [2]int{64, 32}, [2]int{64, 3}, false, false},
		{"too many weights", plain, 32, [2]int{1024, 14}, [2]int{1024, 3}, false, false},
	} {
		size := func(i int) int {
			return (row.x[1]+2*row.op.Padding[i]-row.op.Dilation[i]*(row.w[1]-1)-1)/row.op.Stride[i] + 1
		}
		g := newPlanes(row.op, row.n, row.x[0], row.x[1], row.x[1], row.w[0], size(0), size(1), row.w[1], row.w[1])
		if got := suitsWinograd(row.op, &g); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
		if got := suitsWinogradFew(row.op, &g); got != row.few {
			t.Errorf("%s, few tiles: %v, want %v", row.name, got, row.few)
		}
	}
}

// TestIsSmall tests which convolutions are computed position by position.
func TestIsSmall(t *testing.T) {
	plain := ir.Conv2D{Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Padding: [2]int{1, 1}, Groups: 1}
	grouped, valid, strided := plain, plain, plain
	grouped.Groups, valid.Padding, strided.Stride = 2, [2]int{}, [2]int{2, 2}
	d := NewWith(genericVectors.name, 1)
	defer d.Close()
	for _, row := range []struct {
		name     string
		op       ir.Conv2D
		n, c, hw int
		want     bool
	}{
		{"end of a network", plain, 32, 512, 3, true},
		{"one image", plain, 1, 512, 3, false},
		{"few channels", plain, 32, 3, 3, false},
		{"large images", plain, 32, 64, 14, false},
		{"no padding", valid, 32, 64, 3, false},
		{"stride", strided, 32, 64, 14, true},
		{"stride in large images", strided, 32, 64, 28, false},
		{"groups", grouped, 32, 64, 3, false},
		{"very many channels", plain, 32, 4096, 3, false},
	} {
		size := (row.hw+2*row.op.Padding[0]-3)/row.op.Stride[0] + 1
		k := conv2d{device: d, planes: newPlanes(row.op, row.n, row.c, row.hw, row.hw, row.c, size, size, 3, 3)}
		if got := k.isSmall(); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

// TestTilingCoversEveryTile counts the tiles of all parts.
func TestTilingCoversEveryTile(t *testing.T) {
	for _, size := range []int{1, 4, 5, 23, 70} {
		for _, n := range []int{1, 3, 10} {
			for _, most := range []int{1, 16, 48, 1000} {
				g := newTiling(n, size, size, size, size, 1, 1)
				g.divide(most)
				seen := make([]int, n*g.down)
				for i := range g.parts() {
					p := g.part(i)
					for image := p.first; image < p.first+p.images; image++ {
						for r := p.tile; r < p.tile+p.rows; r++ {
							seen[image*g.down+r]++
						}
					}
					if p.images*p.rows*g.across > max(most, g.across) || p.images*p.rows*g.across > g.most() {
						t.Errorf("%d images of %d, at most %d: part %d has %+v", n, size, most, i, p)
					}
				}
				if slices.Min(seen) != 1 || slices.Max(seen) != 1 {
					t.Errorf("%d images of %d, at most %d: tiles were visited %v times", n, size, most, seen)
				}
			}
		}
	}
}

// TestStridesNeedNoMemory checks that the runs of a channel do not grow with the square of the stride.
func TestStridesNeedNoMemory(t *testing.T) {
	for _, stride := range []int{1, 2, 3, 4, 50, 64, 1000} {
		op := ir.Conv2D{Stride: [2]int{stride, stride}, Dilation: [2]int{1, 1}, Groups: 1}
		out := max(0, 64-3)/stride + 1
		g := newPlanes(op, 1, 1, 64, 64, 1, out, out, 3, 3)
		_, whole := g.span(1, 16)
		if want := min(stride*stride, 9); g.phases != want || g.phases*whole > 64*64+9*64 {
			t.Errorf("stride %d: %d runs of %d elements for an image of 64×64", stride, g.phases, whole)
		}
	}
}
