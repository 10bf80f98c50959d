package plan

import (
	"fmt"
	"slices"
)

// task is the forward or backward pass of a micro-batch through a chunk.
type task struct {
	micro, chunk int // chunk of the rank
	backward     bool
}

// pipeline is a pipeline of ranks, each of which has chunks of the model: rank r has the chunks r, r+ranks, ...
type pipeline struct {
	ranks, chunks, micros int
	forward, backward     []float64 // seconds of each chunk of the model
	send                  float64   // seconds from one rank to the next
}

// schedule is when each task runs.
type schedule struct {
	orders [][]task    // of each rank
	begin  [][]float64 // of each task
	more   float64     // seconds that must be added to all times from the last backward passes on
}

// rounds is the number of rounds, of as many micro-batches as ranks, after which a pipeline repeats itself.
const rounds = 4

// run simulates a pipeline. Of a long one, which does the same in each round, it simulates the first rounds.
func (p pipeline) run() (schedule, error) {
	short := rounds*p.ranks + p.micros%p.ranks
	if p.micros <= short+p.ranks {
		return p.simulate()
	}
	all := p.micros
	p.micros = short
	before, err := p.simulate()
	if err != nil {
		return before, err
	}
	p.micros += p.ranks
	s, err := p.simulate()
	s.more = (p.end(s) - p.end(before)) * float64(all-p.micros) / float64(p.ranks)
	return s, err
}

// end returns when the last task ends.
func (p pipeline) end(s schedule) (end float64) {
	for r := range p.ranks {
		end = max(end, p.ended(s, r))
	}
	return end
}

// ended returns when the last task of a rank ends, which is a backward pass.
func (p pipeline) ended(s schedule, rank int) float64 {
	last := len(s.orders[rank]) - 1
	return s.begin[rank][last] + p.backward[s.orders[rank][last].chunk*p.ranks+rank] + s.more
}

// order returns the tasks of a rank: first forward passes that fill the pipeline, then one forward and one
// backward pass alternately (1F1B), then the rest. With several chunks it is the interleaved schedule of Narayanan et al.,
// Efficient Large-Scale Language Model Training on GPU Clusters, 2021, for which micros is a multiple of ranks.
func (p pipeline) order(rank int) []task {
	total := p.micros * p.chunks
	warmup := min(p.ranks-rank-1, total)
	if p.chunks > 1 {
		warmup = min(2*(p.ranks-rank-1)+(p.chunks-1)*p.ranks, total)
	}
	at := func(k int, backward bool) task {
		if p.chunks == 1 {
			return task{micro: k, backward: backward}
		}
		round, in := k/(p.ranks*p.chunks), k%(p.ranks*p.chunks)
		t := task{micro: round*p.ranks + in%p.ranks, chunk: in / p.ranks, backward: backward}
		if backward {
			t.chunk = p.chunks - 1 - t.chunk
		}
		return t
	}
	order := make([]task, 0, 2*total)
	for k := range warmup {
		order = append(order, at(k, false))
	}
	for k := range total {
		if warmup+k < total {
			order = append(order, at(warmup+k, false))
		}
		order = append(order, at(k, true))
	}
	return order
}

// simulate runs all tasks in the order of each rank, as early as their inputs arrive.
func (p pipeline) simulate() (schedule, error) {
	s := schedule{orders: make([][]task, p.ranks), begin: make([][]float64, p.ranks)}
	all := p.ranks * p.chunks
	none := []float64{-1}
	done := [2][]float64{slices.Repeat(none, all*p.micros), slices.Repeat(none, all*p.micros)} // ends of the passes, forward and backward
	for r := range p.ranks {
		s.orders[r] = p.order(r)
		s.begin[r] = make([]float64, 0, len(s.orders[r]))
	}
	free := make([]float64, p.ranks)
	for left := 2 * len(done[0]); left > 0; {
		before := left
		for r := range p.ranks {
			for len(s.begin[r]) < len(s.orders[r]) {
				t := s.orders[r][len(s.begin[r])]
				chunk := t.chunk*p.ranks + r
				ready := p.ready(done, t, chunk)
				if ready < 0 {
					break
				}
				begin, seconds, pass := max(free[r], ready), p.forward[chunk], 0
				if t.backward {
					seconds, pass = p.backward[chunk], 1
				}
				free[r] = begin + seconds
				done[pass][chunk*p.micros+t.micro] = free[r]
				s.begin[r] = append(s.begin[r], begin)
				left--
			}
		}
		if left == before {
			return s, fmt.Errorf("plan: the schedule of %d ranks with %d chunks and %d micro-batches never ends", p.ranks, p.chunks, p.micros)
		}
	}
	return s, nil
}

// ready returns when the input of a task arrives, or -1 if the task before it has not run.
func (p pipeline) ready(done [2][]float64, t task, chunk int) float64 {
	last := p.ranks*p.chunks - 1
	from, pass := chunk-1, 0
	if t.backward {
		from, pass = chunk+1, 1
	}
	switch {
	case !t.backward && chunk == 0:
		return 0
	case t.backward && chunk == last:
		return done[0][chunk*p.micros+t.micro]
	}
	end := done[pass][from*p.micros+t.micro]
	if end < 0 || p.ranks == 1 {
		return end
	}
	return end + p.send
}
