package cpu

// denseSums is the gradient with respect to w as one product for each part of
// the batch, without the padding: dy's rows times the columns of x's shifted
// runs. One chunk takes some input channels and the whole batch, so that nobody
// else adds to its part of w.
type denseSums struct {
	*conv2d
	chunks   int // of a group
	channels int // of one chunk
	full     []stretch
	rest     []stretch // of the last images, if they are fewer
	longest  int
}

// stretch is some of the positions of a few images, added up in one product.
type stretch struct {
	from, count int
	windows     []window
}

// sumColumns is the columns of one chunk, about.
const sumColumns = 288

func newDenseSums(k *conv2d) *denseSums {
	s := &denseSums{conv2d: k}
	area, results := k.kh*k.kw, k.oh*k.ow
	s.chunks = (k.in()*area + sumColumns - 1) / sumColumns
	s.chunks = min(roundUp(s.chunks, k.device.pool.size), k.in())
	s.channels = (k.in() + s.chunks - 1) / s.chunks
	s.chunks = (k.in() + s.channels - 1) / s.channels
	k.images = max(1, min(k.n, kcMax/results))
	k.used, k.whole = k.span(k.images, windowLen)
	at := positions{0, k.oh, k.ow, k.pitch, k.image}
	s.full = s.stretches(at, k.images*results)
	s.rest = s.stretches(at, k.n%k.images*results)
	k.offsets = make([]int, s.channels*area)
	for i := range k.offsets {
		c, t := i/area, i%area
		k.offsets[i] = (c*k.phases+k.phase[t])*k.whole + k.shift[t]
	}
	columns := s.channels * area
	k.device.reserve(0, s.channels*k.phases*k.whole+maxTile+s.longest*(columns+roundUp(columns, k.device.kernel.lanes)+k.out())+2*windowLen)
	return s
}

// stretches cut some positions into products of almost equal depth.
func (s *denseSums) stretches(at positions, count int) []stretch {
	n := (count + kcMax - 1) / kcMax
	list := make([]stretch, n)
	for i := range list {
		from, to := count*i/n, count*(i+1)/n
		list[i] = stretch{from, to - from, at.windows(nil, from, to-from)}
		s.longest = max(s.longest, to-from)
	}
	return list
}

func (s *denseSums) work(chunk, worker int) {
	group, channel := chunk/s.chunks, chunk%s.chunks*s.channels
	channels := min(s.channels, s.in()-channel)
	room := s.device.scratch[worker]
	runs, room := room[:s.channels*s.phases*s.whole], room[s.channels*s.phases*s.whole:]
	for first := 0; first < s.n; first += s.images {
		images, parts := s.images, s.full
		if left := s.n - first; left < images {
			images, parts = left, s.rest
		}
		from := group*s.in() + channel
		s.spread(s.device, runs, s.dataX, first, images, from, from+channels, s.whole)
		for i, part := range parts {
			s.add(part, runs, group, channel, channels, first, first+i > 0, room)
		}
	}
}

// add adds one product to some columns of a group's weights, or begins with it.
func (s *denseSums) add(part stretch, runs []float32, group, channel, channels, first int, more bool, room []float32) {
	t, n := &s.device.kernel, part.count
	area, columns := s.kh*s.kw, channels*s.kh*s.kw
	edge, a, room := room[:maxTile], room[maxTile:][:s.out()*n], room[maxTile+s.out()*n:]
	b, rows := room[:roundUp(columns, t.lanes)*n], room[roundUp(columns, t.lanes)*n:]
	t.packWindows(rows, runs, s.offsets[:columns], n, part.windows)
	t.packColumns(b, rows, 1, n, columns, n)
	s.packSlopes(a, part, group, first)
	mode := 0
	if more {
		mode = addResult
	}
	s.device.multiply(panelProduct{c: s.dataW[group*s.out()*s.depth+channel*area:], ldc: s.depth, a: a, depth: n, k: n, b: b,
		rows: s.out(), cols: columns, mode: mode, edge: edge})
}

// packSlopes writes dy's rows of a group at a stretch's positions as panels.
func (s *denseSums) packSlopes(a []float32, part stretch, group, first int) {
	t, results := &s.device.kernel, s.oh*s.ow
	panels := t.panels(s.out())
	for p := range panels {
		i, to := s.out()*p/panels, s.out()*(p+1)/panels
		for at := part.from; at < part.from+part.count; {
			image, from := at/results, at%results
			n := min(results-from, part.from+part.count-at)
			dy := s.dataY[((first+image)*s.o+group*s.out()+i)*results+from:]
			t.packPanel(a[i*part.count+(at-part.from)*(to-i):][:n*(to-i)], dy, results, 1, to-i, n, to-i)
			at += n
		}
	}
}
