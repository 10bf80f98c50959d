package parallel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/gpu"
)

// In the rounds of a tournament each rank meets each other one once.
func TestPartner(t *testing.T) {
	for size := 1; size <= 9; size++ {
		met := map[[2]int]int{}
		for round := range roundsOf(size) {
			for rank := range size {
				other := partner(size, round, rank)
				if back := partner(size, round, other); back != rank {
					t.Fatalf("%d ranks, round %d: %d meets %d, which meets %d", size, round, rank, other, back)
				}
				met[[2]int{rank, other}]++
			}
		}
		for a := range size {
			for b := range size {
				if times := met[[2]int{a, b}]; a != b && times != 1 {
					t.Errorf("%d ranks: %d and %d meet %d times", size, a, b, times)
				}
			}
		}
	}
}

func TestLinksOf(t *testing.T) {
	places := []Place{{Host: "a", PCI: "0000:3b:00.0"}, {Host: "a", PCI: "0000:3c:00.0"}, {Host: "b", PCI: "0000:3c:00.0"}, {Host: "a"}}
	known := []gpu.Link{{From: "0000:3b:00.0", To: "0000:3c:00.0", NVLinks: 4, Path: gpu.OneSwitch}, {From: "0000:3c:00.0", To: "0000:3b:00.0", Path: gpu.OneSwitch}}
	if got := linksOf(places, 0, known); !slices.Equal(got, []string{"", "NV4", "", ""}) {
		t.Errorf("of rank 0: %q", got)
	}
	if got := linksOf(places, 1, known); !slices.Equal(got, []string{"PIX", "", "", ""}) {
		t.Errorf("of rank 1: %q", got)
	}
	one := [][]float64{{0, 1}, {1, 0}}
	top := Topology{Ranks: places[:2], Bandwidth: one, Latency: [][]time.Duration{{0, 1}, {1, 0}}, Links: [][]string{{"", "NV4"}, {"PIX", ""}}}
	if text := top.String(); !strings.Contains(text, "NV4") || !strings.Contains(text, "GPU of rank") {
		t.Error(text)
	}
}

func TestTopology(t *testing.T) {
	for n := 1; n <= 4; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			texts := make([]string, n)
			mustEach(t, ranks(t, n), func(ctx context.Context, g *Group) error {
				top, err := g.Topology(ctx)
				if err != nil {
					return err
				}
				for a := range n {
					for b := range n {
						if measured := top.Bandwidth[a][b] > 0 && top.Latency[a][b] > 0; measured != (a != b) {
							return fmt.Errorf("from %d to %d: %v bytes per second, latency %v", a, b, top.Bandwidth[a][b], top.Latency[a][b])
						}
					}
				}
				if p := top.Ranks[n-1]; p.Host != hostname() || p.Device == "" || n > 1 && p.Interface != g.place("/").Interface {
					return fmt.Errorf("%+v", p)
				}
				texts[g.Rank()] = top.String()
				return g.Barrier(ctx) // the group can still be used
			})
			for r, text := range texts {
				if text != texts[0] || !strings.Contains(text, hostname()) || strings.Contains(text, "lowest bandwidth") != (n > 1) {
					t.Errorf("rank %d:\n%s", r, text)
				}
			}
		})
	}
}

func TestTopologyReport(t *testing.T) {
	top := &Topology{
		Ranks:     []Place{{Host: "a", Device: "cuda:0", NUMA: "0", Interface: "ib0", Speed: "100 Gbit/s"}, {Host: "b", Device: "cuda:0", NUMA: "1", Interface: "ib0", Speed: "100 Gbit/s"}},
		Latency:   [][]time.Duration{{0, 2 * time.Microsecond}, {3 * time.Microsecond, 0}},
		Bandwidth: [][]float64{{0, 8.5e9}, {999.9e6, 0}},
	}
	text := top.String()
	for _, want := range []string{"The lowest bandwidth is 1 GB/s, from rank 1 (b) to rank 0 (a).", "100 Gbit/s", "8.5 GB/s"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestPlace(t *testing.T) {
	for _, row := range []struct {
		name        string
		allowed     string
		nodes       map[string]string
		numa, speed string
		want        string
	}{
		{"one node", "0-3", map[string]string{"node0": "0-7", "node1": "8-15"}, "0", "10000", "10 Gbit/s"},
		{"both", "0-15", map[string]string{"node0": "0-7", "node1": "8-15"}, "0-1", "2500", "2.5 Gbit/s"},
		{"every second", "0,20", map[string]string{"node0": "0-7", "node1": "8-15", "node2": "16-23"}, "0,2", "100", "100 Mbit/s"},
		{"a node without cores", "0", map[string]string{"node0": "0-7", "node1": ""}, "0", "-1", ""},
		{"no nodes", "0", nil, "", "x", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			root := t.TempDir()
			write := func(path, text string) {
				path = filepath.Join(root, path)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text+"\n"), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			write("proc/self/status", "Name:\tx\nCpus_allowed_list:\t"+row.allowed)
			for node, list := range row.nodes {
				write("sys/devices/system/node/"+node+"/cpulist", list)
			}
			write("sys/class/net/ib0/speed", row.speed)
			if got := numa(root); got != row.numa {
				t.Errorf("NUMA nodes %q, want %q", got, row.numa)
			}
			if got := speedOf(root, "ib0"); got != row.want {
				t.Errorf("speed %q, want %q", got, row.want)
			}
		})
	}
}

func TestScaling(t *testing.T) {
	mustEach(t, ranks(t, 3), func(ctx context.Context, g *Group) error {
		var sizes []int
		s, err := MeasureScaling(ctx, g, func(ctx context.Context, sub *Group) (int, error) {
			sizes = append(sizes, sub.Size())
			return 1000 * sub.Size(), sub.Barrier(ctx)
		})
		if err != nil {
			return err
		}
		want := []int{1, 1, 2, 2, 3, 3}[2*g.Rank():]
		if fmt.Sprint(sizes) != fmt.Sprint(want) || len(s) != 3 || s[2].Ranks != 3 || !(s[2].Examples > 0) {
			return fmt.Errorf("%v in groups of %v, want %v", s, sizes, want)
		}
		if _, err := MeasureScaling(ctx, g, nil, 4); err == nil || !strings.Contains(err.Error(), "4 of 3 ranks") {
			return fmt.Errorf("4 of 3 ranks: %w", err)
		}
		return nil
	})
	s := Scaling{{1, 100}, {2, 180}, {4, 300}}
	if e := s.Efficiency(2); e != 0.75 {
		t.Errorf("efficiency %v", e)
	}
	for _, want := range []string{"180", "1.80", "90 %", "75 %"} {
		if !strings.Contains(s.String(), want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
}

func TestScalingFails(t *testing.T) {
	for r, err := range each(t, ranks(t, 2), func(ctx context.Context, g *Group) error {
		_, err := MeasureScaling(ctx, g, func(ctx context.Context, sub *Group) (int, error) {
			if sub.Size() == 2 && g.Rank() == 1 {
				return 0, errors.New("no such file")
			}
			return 1, sub.Barrier(ctx)
		})
		return err
	}) {
		if err == nil || !strings.Contains(err.Error(), "parallel: MeasureScaling: 2 ranks:") || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}
