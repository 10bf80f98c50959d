package plan

import "math"

// group is the ranks of a collective: size ranks whose numbers differ by stride.
type group struct {
	size      int
	bandwidth float64 // of each rank, in bytes per second
	latency   float64 // of a ring around all ranks, in seconds
	tree      float64 // latency of a tree to all ranks
	copied    float64 // seconds for each byte before and after it is sent
}

// group returns the ranks of a dimension of the mesh. Ranks are numbered within the nodes first.
func (c Cluster) group(size, stride int) group {
	g := group{size: size}
	within := max(1, min(size, c.PerNode/stride)) // members in each node
	nodes := (size + within - 1) / within
	g.bandwidth, g.copied = c.Within.Bandwidth, c.Within.Copy
	if nodes > 1 {
		g.copied = c.Between.Copy
		// A ring for each member in a node, which all enter and leave the node by their own links.
		if between := c.Between.Bandwidth * float64(within); within == 1 || between < g.bandwidth {
			g.bandwidth = between
		}
	}
	g.bandwidth *= c.Efficiency.Network
	if nodes == 1 {
		g.latency = float64(size) * c.Within.Latency
		g.tree = math.Ceil(math.Log2(float64(size))) * c.Within.Latency
	} else {
		g.latency = float64(size-nodes)*c.Within.Latency + float64(nodes)*c.Between.Latency
		g.tree = math.Ceil(math.Log2(float64(within)))*c.Within.Latency + math.Ceil(math.Log2(float64(nodes)))*c.Between.Latency
	}
	return g
}

// share returns the part of the bytes that each rank sends around a ring, and the part of the ring's latency.
func (g group) share() float64 { return float64(g.size-1) / float64(g.size) }

// gather is the time of an all-gather that leaves bytes on each rank, and of the reduce-scatter that is its inverse. The one copies
// the bytes after they have been sent, the other one before.
func (g group) gather(bytes float64) float64 {
	if g.size == 1 || bytes == 0 {
		return 0
	}
	return g.copied*bytes/2 + g.share()*(g.latency+bytes/g.bandwidth)
}

// allReduce is the time of the faster one of two algorithms: a reduce-scatter and an all-gather on a ring, or sums up and
// down a tree, which is better for few bytes on many ranks.
func (g group) allReduce(bytes float64) float64 {
	if g.size == 1 || bytes == 0 {
		return 0
	}
	return min(2*g.gather(bytes), g.copied*bytes+2*(g.tree+bytes/g.bandwidth))
}

// send is the time of a message between two ranks with this distance.
func (c Cluster) send(bytes float64, distance int) float64 {
	link := c.Within
	if distance >= c.PerNode {
		link = c.Between
	}
	return link.Latency + bytes*link.Copy + bytes/(link.Bandwidth*c.Efficiency.Network)
}
