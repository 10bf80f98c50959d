package parallel

import (
	"fmt"
	"slices"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/plots"
)

// Slowest returns the pair of ranks with the lowest bandwidth, which limits a ring; ok is false for a single rank.
func (t *Topology) Slowest() (from, to int, ok bool) {
	for a, row := range t.Bandwidth {
		for b, v := range row {
			if a != b && (!ok || v < t.Bandwidth[from][to]) {
				from, to, ok = a, b, true
			}
		}
	}
	return from, to, ok
}

// Report returns the figures of bandwidths and latencies, from the rank of a row to that of a column, and the table of the ranks.
func (t *Topology) Report() *display.Report {
	r := new(display.Report)
	if from, to, ok := t.Slowest(); ok {
		r.Figure(plots.HeatMap("Bandwidth in MB/s, from the row to the column", t.scaled(func(a, b int) float64 { return t.Bandwidth[a][b] / 1e6 }), t.names(), t.names()))
		r.Figure(plots.HeatMap("Latency in µs", t.scaled(func(a, b int) float64 { return float64(t.Latency[a][b]) / float64(time.Microsecond) }), t.names(), t.names()))
		r.Text(fmt.Sprintf("The lowest bandwidth is %s, from rank %d (%s) to rank %d (%s).", quantity.Bandwidth(t.Bandwidth[from][to]), from, t.Ranks[from].Host, to, t.Ranks[to].Host))
	}
	r.Table("rank", "machine", "device", "NUMA node", "network", "speed", "to the next rank", "latency")
	for i, p := range t.Ranks {
		next := (i + 1) % len(t.Ranks)
		row := []any{i, p.Host, p.Device, p.NUMA, p.Interface, p.Speed, "", ""}
		if next != i {
			row[6], row[7] = quantity.Bandwidth(t.Bandwidth[i][next]), quantity.Seconds(t.Latency[i][next].Seconds())
		}
		r.Row(row...)
	}
	if slices.ContainsFunc(t.Links, func(row []string) bool { return slices.ContainsFunc(row, func(l string) bool { return l != "" }) }) {
		r.Table(append([]string{"GPU of rank"}, t.names()...)...)
		for i, row := range t.Links {
			cells := []any{i}
			for _, l := range row {
				cells = append(cells, l)
			}
			r.Row(cells...)
		}
		r.Text("NV: number of NVLinks. On PCI Express, from near to far: INT within a board, PIX a switch, PXB several switches, PHB a host bridge, NODE a NUMA node, SYS between NUMA nodes.")
	}
	return r
}

// String returns the table as text.
func (t *Topology) String() string { return t.Report().String() }

// names returns the numbers of the ranks.
func (t *Topology) names() (all []string) {
	for i := range t.Ranks {
		all = append(all, fmt.Sprint(i))
	}
	return all
}

// scaled returns a matrix of the pairs.
func (t *Topology) scaled(value func(from, to int) float64) (rows [][]float64) {
	for a := range t.Ranks {
		row := make([]float64, len(t.Ranks))
		for b := range row {
			if a != b {
				row[b] = value(a, b)
			}
		}
		rows = append(rows, row)
	}
	return rows
}
