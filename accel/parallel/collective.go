package parallel

import (
	"encoding/binary"
	"fmt"
	"io"
)

// call describes a collective. Ranks compare it before they exchange data.
type call struct {
	kind   callKind
	count  int       // values or bytes; 0 if it may differ between ranks
	how    Reduction // of a reduction
	from   int       // root of a broadcast
	number uint64    // sequence number in the group
}

type callKind uint8

const (
	allReduce callKind = iota + 1
	allReduceFloat64
	allReduceBFloat16
	broadcast
	allGather
	barrier
)

var callNames = map[callKind]string{
	allReduce: "AllReduce", allReduceFloat64: "AllReduceFloat64", allReduceBFloat16: "AllReduceBFloat16",
	broadcast: "Broadcast", allGather: "AllGather", barrier: "Barrier",
}

// String describes the call for errors.
func (c call) String() string {
	name, ok := callNames[c.kind]
	switch {
	case !ok:
		return fmt.Sprintf("an unknown collective, number %d", c.number)
	case c.kind <= allReduceBFloat16:
		name += fmt.Sprintf("(%d numbers, %v)", c.count, c.how)
	case c.kind == broadcast:
		name += fmt.Sprintf("(from rank %d)", c.from)
	}
	if c.number > 0 {
		name += fmt.Sprintf(", collective %d", c.number)
	}
	return name
}

const headerBytes = 32

func (c call) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, c.number)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.count))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.from))
	return binary.LittleEndian.AppendUint64(b, uint64(c.kind)|uint64(c.how)<<8)
}

func callOf(b []byte) call {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return call{number: word(0), count: int(word(1)), from: int(word(2)), kind: callKind(word(3)), how: Reduction(word(3) >> 8)}
}

// agree compares the call with that of the previous rank.
func (g *Group) agree(here call) error {
	var b [headerBytes]byte
	if _, err := io.ReadFull(g.previous.in, b[:]); err != nil {
		return g.gone(g.previous, err)
	}
	if there := callOf(b[:]); there != here {
		return &MismatchError{Rank: g.previous.rank, There: there.String(), Here: here.String()}
	}
	return nil
}
