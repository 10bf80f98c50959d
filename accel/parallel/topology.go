package parallel

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/quernlab/quern/gpu"
)

// Topology describes how the ranks of a group are connected. Notebooks display it as two figures, of the bandwidth and the latency
// between all pairs, and a table of the ranks.
type Topology struct {
	Ranks []Place // of each rank
	// Latency is half of the time that one byte takes from a rank to another and back, as [from][to]; 0 from a rank to itself. It is the
	// shortest of several.
	Latency [][]time.Duration
	// Bandwidth is how many bytes per second a rank sends to another one, as [from][to], while no other pair that contains either of
	// them is measured; 0 from a rank to itself. It is the highest of several.
	Bandwidth [][]float64
	// Links says how the GPUs of two ranks on one machine are connected, in the words of nvidia-smi topo -m, as [from][to]: NV18 for 18 NVLinks, or
	// the path on PCI Express, see [gpu.Path]. It is empty for other pairs.
	Links [][]string
}

// The measurement of a pair. A byte makes latencyRounds round trips; the bandwidth is that of bandwidthBytes at a time.
const (
	latencyRounds   = 50
	bandwidthRounds = 4
	bandwidthBytes  = 4 << 20
)

// Topology measures the latency and the bandwidth between all pairs of ranks over connections like those that carry gradients, with
// their encryption, and finds out where the ranks are. All ranks call it at the same time, and get the same result. A group of N ranks
// needs about N times 50 ms within a machine. It does not measure what NCCL or [MPI] achieve.
func (g *Group) Topology(ctx context.Context) (*Topology, error) {
	places, err := gatherJSON(ctx, g, g.place("/"))
	if err != nil {
		return nil, err
	}
	size := g.Size()
	t := &Topology{Ranks: places}
	type pair struct {
		With      int
		Latency   time.Duration
		Bandwidth float64 // to the other rank
	}
	var mine []pair
	for round := range roundsOf(size) {
		other := partner(size, round, g.Rank())
		members := []int{g.Rank()}
		if other != g.Rank() {
			members = []int{min(g.Rank(), other), max(g.Rank(), other)}
		}
		link, err := g.pairOf(ctx, members)
		if err != nil {
			return nil, err
		}
		if link == nil {
			continue
		}
		p := pair{With: other}
		p.Latency, p.Bandwidth, err = link.measurePair(ctx)
		if link != g {
			err = cmp.Or(err, link.Close())
		}
		if err != nil {
			return nil, g.breakWith(fmt.Errorf("parallel: Topology: measure ranks %d and %d: %w", g.Rank(), other, err))
		}
		mine = append(mine, p)
	}
	all, err := gatherJSON(ctx, g, mine)
	if err != nil {
		return nil, err
	}
	var known []gpu.Link
	if places[g.Rank()].PCI != "" {
		known, _ = gpu.Links() // without NVIDIA's management library the links are not known
	}
	links, err := gatherJSON(ctx, g, linksOf(places, g.Rank(), known))
	if err != nil {
		return nil, err
	}
	t.Links = links
	for from := range size {
		t.Latency, t.Bandwidth = append(t.Latency, make([]time.Duration, size)), append(t.Bandwidth, make([]float64, size))
		for _, p := range all[from] {
			t.Latency[from][p.With], t.Bandwidth[from][p.With] = p.Latency, p.Bandwidth
		}
	}
	return t, nil
}

// linksOf returns how the GPU of a rank is connected with those of all ranks.
func linksOf(places []Place, rank int, known []gpu.Link) []string {
	row, own := make([]string, len(places)), places[rank]
	for other, p := range places {
		for _, l := range known {
			if p.Host == own.Host && l.From == own.PCI && l.To == p.PCI {
				row[other] = l.String()
			}
		}
	}
	return row
}

// pairOf connects this rank with another one, or returns nil if it is alone.
func (g *Group) pairOf(ctx context.Context, members []int) (*Group, error) {
	if g.Size() == 1 {
		return nil, nil
	}
	sub, err := g.subgroup(ctx, members)
	if err != nil || len(members) > 1 {
		return sub, err
	}
	return nil, sub.Close()
}

// roundsOf returns the number of rounds in which each rank meets each other one.
func roundsOf(size int) int { return size - 1 + size%2 }

// partner returns which rank one meets in a round, itself if it is alone. In the tournament of an even number of ranks, the last one
// stays and the others move in a circle (the circle method); for an odd number the last one does not exist.
func partner(size, round, rank int) int {
	others := size - 1 + size%2 // that move
	if rank == others {
		rank = (round * (others + 1) / 2) % others // i + i = round
		return rank
	}
	other := ((round-rank)%others + others) % others
	if other != rank {
		return other
	}
	if size%2 == 1 {
		return rank
	}
	return others
}

// measurePair measures the connection with the other one of two ranks.
func (g *Group) measurePair(ctx context.Context) (latency time.Duration, bandwidth float64, err error) {
	c := collective{kind: barrier}
	err = g.run(ctx, c, func() error {
		b := make([]byte, 1)
		first := g.Rank() == 0
		for range latencyRounds {
			begin := time.Now()
			if first {
				err = g.write(b)
			}
			if err == nil {
				err = g.read(b)
			}
			if err == nil && !first {
				err = g.write(b)
			}
			if err != nil {
				return err
			}
			if d := time.Since(begin) / 2; latency == 0 || d < latency {
				latency = d
			}
		}
		data := make([]byte, bandwidthBytes)
		for round := range 2 * bandwidthRounds { // alternately, each until the other has confirmed
			begin := time.Now()
			if sends := (round%2 == 0) == first; !sends {
				if err := g.read(data); err != nil {
					return err
				}
				if err := g.write(b); err != nil {
					return err
				}
				continue
			}
			if err := g.write(data); err != nil {
				return err
			}
			if err := g.read(b); err != nil {
				return err
			}
			bandwidth = max(bandwidth, bandwidthBytes/time.Since(begin).Seconds())
		}
		return nil
	})
	return latency, bandwidth, err
}
