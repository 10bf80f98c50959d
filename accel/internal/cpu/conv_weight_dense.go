package cpu

// denseSums is the gradient with respect to w as matrix multiplications without padding:
// for each kernel element, dy's rows times the rows of x under the element, one row per
// position, with contiguous channels. One chunk computes some input and some output
// channels for the whole batch, so no other chunk adds to its part of w.
type denseSums struct {
	*conv2d
	blocks   int // number of chunks over the input channels of a group
	channels int // input channels per chunk
	rows     int // output channels per chunk
	tops     int // number of chunks over the output channels
	pitch    int // distance of positions in elements
	full     []stretch
	rest     []stretch // for the last images, if they are fewer
	longest  int
}

// stretch is some of the positions of a few images, summed in one matrix multiplication.
type stretch struct {
	from, count int
	offsets     []int // offsets of the positions, in a run of rows of channels
}

// sumChannels is the number of input channels of a chunk: two vectors.
const sumChannels = 32

// With fewer channels, too much of a vector or of a tile is unused.
const (
	denseSumChannels = 12
	denseSumRows     = 16
)

// sumsDensely reports whether denseSums computes the gradient of w.
func (k *conv2d) sumsDensely() bool {
	return k.device.kernel.rowTiles != nil && k.in() >= denseSumChannels && k.out() >= denseSumRows
}

func newDenseSums(k *conv2d) *denseSums {
	s := &denseSums{conv2d: k}
	t, threads := &k.device.kernel, k.device.pool.size
	s.channels = min(sumChannels, k.in())
	s.blocks = (k.in() + s.channels - 1) / s.channels
	s.pitch = roundUp(s.channels, t.lanes)
	s.tops = 1
	if chunks := s.blocks * k.groups; chunks < threads {
		s.tops = min((threads+chunks-1)/chunks, t.panels(k.out()))
	}
	s.rows = (k.out() + s.tops - 1) / s.tops
	s.tops = (k.out() + s.rows - 1) / s.rows
	results := k.oh * k.ow
	k.images = max(1, min(k.n, kcMax/results))
	k.used, k.whole = k.span(k.images, windowLen)
	at := positions{0, k.oh, k.ow, k.planes.pitch, k.image}
	s.full = s.stretches(at, k.images*results)
	s.rest = s.stretches(at, k.n%k.images*results)
	runs := k.phases * k.whole
	k.device.reserve(0, s.channels*runs+s.pitch*runs+s.rows*s.longest+s.rows*s.pitch*k.kh*k.kw)
	return s
}

// stretches splits positions into matrix multiplications of almost equal depth.
func (s *denseSums) stretches(at positions, count int) []stretch {
	n := (count + kcMax - 1) / kcMax
	list := make([]stretch, n)
	for i := range list {
		from, to := count*i/n, count*(i+1)/n
		offsets := make([]int, to-from)
		for j := range offsets {
			offsets[j] = at.at(from+j) * s.pitch
		}
		list[i] = stretch{from, to - from, offsets}
		s.longest = max(s.longest, to-from)
	}
	return list
}

func (s *denseSums) work(chunk, worker int) {
	top, block, group := chunk%s.tops*s.rows, chunk/s.tops%s.blocks, chunk/s.tops/s.blocks
	channel := block * s.channels
	channels, rows := min(s.channels, s.in()-channel), min(s.rows, s.out()-top)
	workspace := s.device.scratch[worker]
	take := func(n int) []float32 {
		part := workspace[:n]
		workspace = workspace[n:]
		return part
	}
	runs, transposed := take(s.channels*s.phases*s.whole), take(s.pitch*s.phases*s.whole)
	slopes, sums := take(s.rows*s.longest), take(s.rows*s.pitch*s.kh*s.kw)
	mode := 0
	for first := 0; first < s.n; first += s.images {
		images, parts := s.images, s.full
		if left := s.n - first; left < images {
			images, parts = left, s.rest
		}
		from := group*s.in() + channel
		s.spread(s.device, runs, s.dataX, first, images, from, from+channels, s.whole)
		s.device.kernel.packPanel(transposed, runs, s.phases*s.whole, 1, channels, s.phases*s.whole, s.pitch)
		for _, part := range parts {
			s.packSlopes(slopes, part, group*s.out()+top, rows, first)
			s.add(sums, part, slopes, transposed, rows, mode)
			mode = addResult
		}
	}
	s.store(sums, group*s.out()+top, rows, channel, channels)
}

// vector returns the offset of the v-th vector of a position's products. Vectors are
// ordered by kernel element, then by channel.
func (s *denseSums) vector(v int) int {
	lanes := s.device.kernel.lanes
	t, c := v/(s.pitch/lanes), v%(s.pitch/lanes)*lanes
	return (s.phase[t]*s.whole+s.shift[t])*s.pitch + c
}

// add adds one stretch to the sums [rows, KH·KW, pitch], or initializes them with it.
func (s *denseSums) add(sums []float32, part stretch, slopes, transposed []float32, rows, mode int) {
	t := &s.device.kernel
	panels, width := t.panels(rows), s.kh*s.kw*s.pitch
	vectors := width / t.lanes
	for v := 0; v < vectors; v += 2 {
		n := min(2, vectors-v)
		left, right := &transposed[s.vector(v)], &transposed[s.vector(v+n-1)]
		for p := range panels {
			i, to := panelTop(rows, panels, p), panelTop(rows, panels, p+1)
			t.rowTiles[to-i-1][n-1](part.count, &slopes[i*part.count], left, right, &part.offsets[0], &sums[i*width+v*t.lanes], width, mode)
		}
	}
}

// store writes the sums to w, [rows, channels, KH·KW].
func (s *denseSums) store(sums []float32, row, rows, channel, channels int) {
	area := s.kh * s.kw
	for r := range rows {
		w := s.dataW[(row+r)*s.depth+channel*area:][:channels*area]
		from := sums[r*area*s.pitch:][:area*s.pitch]
		for t := range area {
			for c, v := range from[t*s.pitch:][:channels] {
				w[c*area+t] = v
			}
		}
	}
}

// packSlopes packs dy's rows, starting at row, at a stretch's positions.
func (s *denseSums) packSlopes(a []float32, part stretch, row, rows, first int) {
	t, results := &s.device.kernel, s.oh*s.ow
	panels := t.panels(rows)
	for p := range panels {
		i, to := panelTop(rows, panels, p), panelTop(rows, panels, p+1)
		for at := part.from; at < part.from+part.count; {
			image, from := at/results, at%results
			n := min(results-from, part.from+part.count-at)
			dy := s.dataY[((first+image)*s.o+row+i)*results+from:]
			t.packPanel(a[i*part.count+(at-part.from)*(to-i):][:n*(to-i)], dy, results, 1, to-i, n, to-i)
			at += n
		}
	}
}
