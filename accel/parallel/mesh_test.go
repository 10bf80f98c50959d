package parallel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

// meshes makes a mesh on the ranks of a group, which is closed at the end of the test.
func meshes(t testing.TB, all []*Group, s MeshShape) []*DeviceMesh {
	t.Helper()
	made := make([]*DeviceMesh, len(all))
	mustEach(t, all, func(ctx context.Context, g *Group) (err error) {
		made[g.Rank()], err = Mesh(ctx, g, s.DP, s.TP, s.PP)
		return err
	})
	t.Cleanup(func() {
		for _, m := range made {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return made
}

func TestMeshShape(t *testing.T) {
	s := MeshShape{DP: 2, TP: 3, PP: 2}
	for rank, want := range []Coordinate{{0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {1, 0, 0}, {1, 1, 0}, {1, 2, 0}, {0, 0, 1}, {0, 1, 1}, {0, 2, 1}, {1, 0, 1}, {1, 1, 1}, {1, 2, 1}} {
		if got := s.Coordinate(rank); got != want || s.Rank(got) != rank {
			t.Errorf("rank %d: %+v is rank %d, want %+v", rank, got, s.Rank(got), want)
		}
	}
	if s.Size() != 12 || s.String() != "dp 2 × tp 3 × pp 2" {
		t.Errorf("%v has %d ranks", s, s.Size())
	}
}

// TestMesh sums the ranks along each dimension, which shows who is in each sub-group.
func TestMesh(t *testing.T) {
	for _, s := range []MeshShape{{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {2, 2, 1}, {1, 2, 2}, {3, 1, 2}, {2, 2, 2}} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			all := ranks(t, s.Size())
			made := meshes(t, all, s)
			mustEach(t, all, func(ctx context.Context, g *Group) error {
				m := made[g.Rank()]
				c := m.Coordinate()
				for _, d := range []struct {
					name        string
					sub         *Group
					index, size int
					rank        func(i int) int
				}{
					{"dp", m.DP, c.DP, s.DP, func(i int) int { return s.Rank(Coordinate{i, c.TP, c.PP}) }},
					{"tp", m.TP, c.TP, s.TP, func(i int) int { return s.Rank(Coordinate{c.DP, i, c.PP}) }},
					{"pp", m.PP, c.PP, s.PP, func(i int) int { return s.Rank(Coordinate{c.DP, c.TP, i}) }},
				} {
					if d.sub.Rank() != d.index || d.sub.Size() != d.size {
						return fmt.Errorf("%s: %v at index %d of %d", d.name, d.sub, d.index, d.size)
					}
					mine, want := []float32{float32(g.Rank())}, float32(0)
					for i := range d.size {
						want += float32(d.rank(i))
					}
					if err := d.sub.AllReduce(ctx, mine, Sum); err != nil || mine[0] != want {
						return fmt.Errorf("%s: the sum is %v, want %v: %w", d.name, mine[0], want, err)
					}
				}
				return nil
			})
		})
	}
}

func TestMeshOfAnotherSize(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(g *Group) MeshShape
		want string
	}{
		{"too many", func(*Group) MeshShape { return MeshShape{2, 2, 1} }, "a mesh of dp 2 × tp 2 × pp 1 needs 4 ranks, but there are 2: dp·tp·pp must be the number of ranks"},
		{"none", func(*Group) MeshShape { return MeshShape{2, 0, 1} }, "a mesh of dp 2 × tp 0 × pp 1: each dimension must be at least 1"},
		{"different", func(g *Group) MeshShape { return MeshShape{1 + g.Rank(), 2 - g.Rank(), 1} }, "all ranks need the same sizes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for r, err := range each(t, ranks(t, 2), func(ctx context.Context, g *Group) error {
				s := c.make(g)
				_, err := Mesh(ctx, g, s.DP, s.TP, s.PP)
				return err
			}) {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("rank %d: %v, want %q", r, err, c.want)
				}
			}
		})
	}
}

// TestARankOfAMeshDies requires that all ranks of the mesh, also those in no sub-group with it,
// get an error that names it by its number in the whole group.
func TestARankOfAMeshDies(t *testing.T) {
	const dead = 3
	all := ranks(t, 4)
	made := meshes(t, all, MeshShape{DP: 2, TP: 2, PP: 1})
	for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
		m := made[g.Rank()]
		if g.Rank() == dead {
			for _, sub := range []*Group{g, m.TP, m.DP} { // as the end of a process, which announces nothing
				for _, l := range append([]*link{sub.next, sub.previous}, sub.hub...) {
					if l != nil {
						l.close()
					}
				}
			}
			return nil
		}
		for {
			if err := errors.Join(m.TP.AllReduce(ctx, make([]float32, 5000), Sum), m.DP.Barrier(ctx)); err != nil {
				return err
			}
		}
	}) {
		if r == dead {
			continue
		}
		var lost *LostError
		if !errors.As(err, &lost) || lost.Rank != dead {
			t.Errorf("rank %d: %v, want the loss of rank %d", r, err, dead)
		}
	}
}

func TestReduceScatter(t *testing.T) {
	for n := 1; n <= 5; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			all := ranks(t, n)
			for _, length := range lengths {
				for _, how := range []Reduction{Sum, Mean} {
					want, size := make([]float64, length), make([]float64, length)
					inputs := make([][]float32, n)
					for r := range inputs {
						inputs[r] = random(length, uint64(r))
						for i, v := range inputs[r] {
							want[i] += float64(v)
							size[i] += math.Abs(float64(v))
						}
					}
					if how == Mean {
						for i := range want {
							want[i] /= float64(n)
						}
					}
					var mu sync.Mutex
					gathered := map[int][]float32{}
					mustEach(t, all, func(ctx context.Context, g *Group) error {
						wide := make([]float64, length)
						for i, v := range inputs[g.Rank()] {
							wide[i] = float64(v)
						}
						part, err := g.ReduceScatter(ctx, slices.Clone(inputs[g.Rank()]), how)
						if err != nil {
							return err
						}
						part64, err := g.ReduceScatterFloat64(ctx, wide, how)
						if err != nil {
							return err
						}
						from, to := g.Chunk(length)
						if len(part) != to-from || len(part64) != to-from {
							return fmt.Errorf("%d and %d values, want %d", len(part), len(part64), to-from)
						}
						all := make([]float32, length)
						copy(all[from:], part)
						for i := range part {
							if math.Abs(part64[i]-want[from+i]) > 1e-12*size[from+i] {
								return fmt.Errorf("float64 value %d is %v, want %v", from+i, part64[i], want[from+i])
							}
						}
						if err := g.AllGatherInto(ctx, all); err != nil {
							return err
						}
						mu.Lock()
						defer mu.Unlock()
						gathered[g.Rank()] = all
						return nil
					})
					for r, got := range gathered {
						for i := range got {
							if math.Abs(float64(got[i])-want[i]) > 1e-6*size[i] || math.Float32bits(got[i]) != math.Float32bits(gathered[0][i]) {
								t.Fatalf("%v of %d values: value %d is %v on rank %d, want %v", how, length, i, got[i], r, want[i])
							}
						}
					}
				}
			}
		})
	}
}
