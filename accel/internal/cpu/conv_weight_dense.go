package cpu

// denseSums is the gradient with respect to w as products without the padding:
// for each element of the kernel, dy's rows times the rows of x that it meets,
// one for each place, with the channels side by side. One chunk takes some input
// and some output channels and the whole batch, so that nobody else adds to its
// part of w.
type denseSums struct {
	*conv2d
	blocks   int // chunks over the input channels of a group
	channels int // of one such block
	rows     int // output channels of a chunk
	tops     int // chunks over the output channels
	pitch    int // elements from one place to the next
	full     []stretch
	rest     []stretch // of the last images, if they are fewer
	longest  int
}

// stretch is some of the places of a few images, added up in one product.
type stretch struct {
	from, count int
	offsets     []int // of the places, in a run of rows of channels
}

// sumChannels is the input channels of a chunk: two vectors.
const sumChannels = 32

// Fewer channels than these leave too much of a vector, or of a tile, unused.
const (
	denseSumChannels = 12
	denseSumRows     = 16
)

// sumsDensely tells whether the gradient of w is computed by denseSums.
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

// stretches cut some places into products of almost equal depth.
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
	room := s.device.scratch[worker]
	take := func(n int) []float32 {
		part := room[:n]
		room = room[n:]
		return part
	}
	runs, turned := take(s.channels*s.phases*s.whole), take(s.pitch*s.phases*s.whole)
	slopes, sums := take(s.rows*s.longest), take(s.rows*s.pitch*s.kh*s.kw)
	mode := 0
	for first := 0; first < s.n; first += s.images {
		images, parts := s.images, s.full
		if left := s.n - first; left < images {
			images, parts = left, s.rest
		}
		from := group*s.in() + channel
		s.spread(s.device, runs, s.dataX, first, images, from, from+channels, s.whole)
		s.device.kernel.packPanel(turned, runs, s.phases*s.whole, 1, channels, s.phases*s.whole, s.pitch)
		for _, part := range parts {
			s.packSlopes(slopes, part, group*s.out()+top, rows, first)
			s.add(sums, part, slopes, turned, rows, mode)
			mode = addResult
		}
	}
	s.store(sums, group*s.out()+top, rows, channel, channels)
}

// vector is where the v-th vector of a place's products begins: vectors count
// over the elements of the kernel and, within one, over the channels.
func (s *denseSums) vector(v int) int {
	lanes := s.device.kernel.lanes
	t, c := v/(s.pitch/lanes), v%(s.pitch/lanes)*lanes
	return (s.phase[t]*s.whole+s.shift[t])*s.pitch + c
}

// add adds one stretch to the sums [rows, KH·KW, pitch], or begins with it.
func (s *denseSums) add(sums []float32, part stretch, slopes, turned []float32, rows, mode int) {
	t := &s.device.kernel
	panels, width := t.panels(rows), s.kh*s.kw*s.pitch
	vectors := width / t.lanes
	for v := 0; v < vectors; v += 2 {
		n := min(2, vectors-v)
		left, right := &turned[s.vector(v)], &turned[s.vector(v+n-1)]
		for p := range panels {
			i, to := rows*p/panels, rows*(p+1)/panels
			t.rowTiles[to-i-1][n-1](part.count, &slopes[i*part.count], left, right, &part.offsets[0], &sums[i*width+v*t.lanes], width, mode)
		}
	}
}

// store moves the sums to where w has them, [rows, channels, KH·KW].
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

// packSlopes writes dy's rows from one on, at a stretch's places, as panels.
func (s *denseSums) packSlopes(a []float32, part stretch, row, rows, first int) {
	t, results := &s.device.kernel, s.oh*s.ow
	panels := t.panels(rows)
	for p := range panels {
		i, to := rows*p/panels, rows*(p+1)/panels
		for at := part.from; at < part.from+part.count; {
			image, from := at/results, at%results
			n := min(results-from, part.from+part.count-at)
			dy := s.dataY[((first+image)*s.o+row+i)*results+from:]
			t.packPanel(a[i*part.count+(at-part.from)*(to-i):][:n*(to-i)], dy, results, 1, to-i, n, to-i)
			at += n
		}
	}
}
