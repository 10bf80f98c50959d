package cpu

// Cache is one level of data cache. A size of 0 means that the level is missing or unknown.
type Cache struct {
	Size int `json:"size"` // bytes
	Ways int `json:"ways"` // lines of a set
}

// Caches are the data caches that a core uses: L1 and L2 are usually its own, and L3 is shared.
type Caches struct {
	L1 Cache `json:"l1"`
	L2 Cache `json:"l2"`
	L3 Cache `json:"l3"`
}

// set records the cache of a level.
func (c *Caches) set(level int, cache Cache) {
	switch level {
	case 1:
		c.L1 = cache
	case 2:
		c.L2 = cache
	case 3:
		c.L3 = cache
	}
}

// dataCaches are those of this CPU. L1 and L2 are always known: what the CPU does not report is what almost every one has.
var dataCaches = knownCaches(detectCaches())

// DataCaches returns the data caches that kernels are laid out for.
func DataCaches() Caches { return dataCaches }

func knownCaches(c Caches) Caches {
	if c.L1.Size <= 0 || c.L1.Ways <= 0 {
		c.L1 = Cache{32 << 10, 8}
	}
	if c.L2.Size <= c.L1.Size || c.L2.Ways <= 0 {
		c.L2 = Cache{512 << 10, 8}
	}
	return c
}

// share returns which part of a cache's ways rows of some bytes occupy in the sets that they fall into, if they are pitch bytes
// apart. A cache maps addresses that differ by a multiple of the size of a way to the same set, so rows that are a large power of two
// apart share a few sets.
func (c Cache) share(rows, bytes, pitch int) float64 {
	way := c.Size / c.Ways
	apart := min(max(pitch&-pitch, cacheLine), way) // the greatest power of two that divides the pitch
	starts := max(way/apart, 1)                     // of the rows, in different sets
	lines := (rows + starts - 1) / starts
	return max(float64(lines), float64(rows)*float64(bytes)/float64(way)) / float64(c.Ways)
}
