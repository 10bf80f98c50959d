package fakelib

import (
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"math"
	"net"
	"sync"

	"github.com/quernlab/quern/accel/internal/cuda/nccl"
)

// hubCall is a call of a rank.
type hubCall struct {
	Op    nccl.Op
	Type  nccl.Type
	Peer  int
	Bytes int    // that the rank contributes or gets, whichever is less
	Data  []byte // what it contributes
}

// same reports whether two ranks make the same collective call.
func (c hubCall) same(d hubCall) bool {
	return c.Op == d.Op && c.Type == d.Type && c.Peer == d.Peer && c.Bytes == d.Bytes
}

func (c hubCall) String() string { return fmt.Sprintf("%v of %d bytes", c.Op, c.Bytes) }

// hubAnswer is what a rank gets for a call.
type hubAnswer struct {
	Data   []byte
	Failed string
}

// hub is what the ranks of a group are connected to.
type hub struct {
	conns []net.Conn
	gone  []chan struct{} // by rank; closed when it leaves
	any   chan struct{}   // closed when the first rank leaves
	first sync.Once

	mu      sync.Mutex
	made    []int                      // number of collective calls of each rank; guarded by mu
	rounds  map[int]*round             // the calls that not all ranks have made, by their number; guarded by mu
	letters map[[2]int]chan sentLetter // by sender and receiver; guarded by mu
}

// round is a collective call of all ranks.
type round struct {
	calls   []*hubCall // by rank; nil if it has not made its call
	missing int
	done    chan struct{}
	answers []hubAnswer // once done
}

// sentLetter is what a rank sends to another.
type sentLetter struct {
	call  hubCall
	taken chan hubAnswer // the receiver's answer to the sender
}

// serveHub accepts the ranks, each of which sends its number and the size of the group, and
// answers their calls until one of them leaves.
func serveHub(listener net.Listener) {
	h := &hub{any: make(chan struct{}), rounds: map[int]*round{}, letters: map[[2]int]chan sentLetter{}}
	defer func() {
		_ = listener.Close()
		for _, c := range h.conns {
			if c != nil {
				_ = c.Close()
			}
		}
	}()
	for came := 0; h.conns == nil || came < len(h.conns); came++ {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		var who [2]uint64 // rank and size
		if err := binary.Read(c, binary.LittleEndian, &who); err != nil {
			return
		}
		if h.conns == nil {
			h.conns, h.made, h.gone = make([]net.Conn, who[1]), make([]int, who[1]), make([]chan struct{}, who[1])
		}
		if int(who[1]) != len(h.conns) || who[0] >= who[1] || h.conns[who[0]] != nil {
			return
		}
		h.conns[who[0]], h.gone[who[0]] = c, make(chan struct{})
	}
	for _, c := range h.conns {
		if _, err := c.Write([]byte{1}); err != nil { // all have joined
			return
		}
	}
	var running sync.WaitGroup
	for rank := range h.conns {
		running.Go(func() {
			defer h.leave(rank)
			h.serve(rank)
		})
	}
	running.Wait()
}

// leave ends what waits for a rank. Exchanges of the others go on.
func (h *hub) leave(rank int) {
	close(h.gone[rank])
	h.first.Do(func() { close(h.any) })
	_ = h.conns[rank].Close() // so that the rank does not wait; it may be closed already
}

// serve answers the calls of a rank, group by group.
func (h *hub) serve(rank int) {
	in, out := gob.NewDecoder(h.conns[rank]), gob.NewEncoder(h.conns[rank])
	for {
		var calls []hubCall
		if in.Decode(&calls) != nil {
			return
		}
		answers, complete := make([]hubAnswer, len(calls)), make([]bool, len(calls))
		var group sync.WaitGroup
		for i := range calls {
			var wait func() (hubAnswer, bool)
			if op := calls[i].Op; op == nccl.Send || op == nccl.Recv {
				wait = func() (hubAnswer, bool) { return h.transfer(rank, calls[i]) }
			} else {
				wait = h.join(rank, &calls[i])
			}
			group.Go(func() { answers[i], complete[i] = wait() })
		}
		group.Wait()
		for _, ok := range complete {
			if !ok {
				return
			}
		}
		if out.Encode(answers) != nil {
			return
		}
	}
}

// join adds a collective call of a rank to its round. The returned function waits for the other
// ranks; ok is false if one is gone.
func (h *hub) join(rank int, call *hubCall) (wait func() (answer hubAnswer, ok bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.made[rank]
	h.made[rank]++
	r := h.rounds[n]
	if r == nil {
		r = &round{calls: make([]*hubCall, len(h.conns)), missing: len(h.conns), done: make(chan struct{})}
		h.rounds[n] = r
	}
	r.calls[rank] = call
	if r.missing--; r.missing == 0 {
		delete(h.rounds, n)
		r.answer()
		close(r.done)
	}
	return func() (hubAnswer, bool) {
		select {
		case <-r.done:
			return r.answers[rank], true
		case <-h.any:
		}
		select {
		case <-r.done: // both
			return r.answers[rank], true
		default:
			return hubAnswer{}, false
		}
	}
}

// answer computes the answers of a round, of which all calls are there.
func (r *round) answer() {
	r.answers = make([]hubAnswer, len(r.calls))
	first := r.calls[0]
	for rank, c := range r.calls {
		if !c.same(*first) {
			for i := range r.answers {
				r.answers[i].Failed = fmt.Sprintf("rank %d calls %v, rank 0 %v", rank, *c, *first)
			}
			return
		}
	}
	switch first.Op {
	case nccl.AllGather:
		var all []byte
		for _, c := range r.calls {
			all = append(all, c.Data...)
		}
		for i := range r.answers {
			r.answers[i].Data = all
		}
	case nccl.Broadcast:
		for i := range r.answers {
			r.answers[i].Data = r.calls[first.Peer].Data
		}
	default:
		total := r.sum()
		for i := range r.answers {
			if r.answers[i].Data = total; first.Op == nccl.ReduceScatter {
				r.answers[i].Data = total[i*first.Bytes : (i+1)*first.Bytes]
			}
		}
	}
}

// sum adds up what all ranks contribute, in their order.
func (r *round) sum() (raw []byte) {
	if len(r.calls[0].Data) == 0 {
		return nil
	}
	single := r.calls[0].Type == nccl.Float32
	var total []float64
	for rank, c := range r.calls {
		i := 0
		for b := c.Data; len(b) > 0; i++ {
			var v float64
			if single {
				v, b = float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), b[4:]
			} else {
				v, b = math.Float64frombits(binary.LittleEndian.Uint64(b)), b[8:]
			}
			if rank == 0 {
				total = append(total, 0)
			}
			total[i] += v
		}
	}
	for _, v := range total {
		if single {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
		} else {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
	}
	return raw
}

// transfer waits until a send has met its receive.
func (h *hub) transfer(rank int, call hubCall) (answer hubAnswer, ok bool) {
	between := [2]int{rank, call.Peer}
	if call.Op == nccl.Recv {
		between = [2]int{call.Peer, rank}
	}
	h.mu.Lock()
	letters := h.letters[between]
	if letters == nil {
		letters = make(chan sentLetter)
		h.letters[between] = letters
	}
	h.mu.Unlock()
	if call.Op == nccl.Send {
		l := sentLetter{call, make(chan hubAnswer, 1)}
		select {
		case letters <- l:
			return <-l.taken, true
		case <-h.gone[call.Peer]:
			return hubAnswer{}, false
		}
	}
	select {
	case l := <-letters:
		if l.call.Bytes != call.Bytes || l.call.Type != call.Type {
			answer.Failed = fmt.Sprintf("rank %d calls %v, rank %d %v", between[0], l.call, between[1], call)
			l.taken <- answer
			return answer, true
		}
		l.taken <- answer
		return hubAnswer{Data: l.call.Data}, true
	case <-h.gone[call.Peer]:
		return hubAnswer{}, false
	}
}
