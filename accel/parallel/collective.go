package parallel

import (
	"encoding/binary"
	"fmt"
	"io"
)

// collective describes a collective. Ranks compare it before they exchange data.
type collective struct {
	kind     collectiveKind
	count    int       // values or bytes; 0 if it may differ between ranks
	how      Reduction // of a reduction
	from     int       // root of a broadcast
	sequence uint64    // sequence number in the group
}

type collectiveKind uint8

const (
	allReduce collectiveKind = iota + 1
	allReduceFloat64
	broadcast
	allGather
	barrier
	reduceScatterKind
	reduceScatterFloat64
	allGatherInto
)

var collectiveNames = map[collectiveKind]string{
	allReduce: "AllReduce", allReduceFloat64: "AllReduceFloat64",
	broadcast: "Broadcast", allGather: "AllGather", barrier: "Barrier",
	reduceScatterKind: "ReduceScatter", reduceScatterFloat64: "ReduceScatterFloat64", allGatherInto: "AllGatherInto",
}

// String describes the call for errors.
func (c collective) String() string {
	name, ok := collectiveNames[c.kind]
	switch {
	case !ok:
		return fmt.Sprintf("an operation that this program does not know, collective %d", c.sequence)
	case c.kind <= allReduceFloat64 || c.kind == reduceScatterKind || c.kind == reduceScatterFloat64:
		name += fmt.Sprintf("(%d values, %v)", c.count, c.how)
	case c.kind == allGatherInto:
		name += fmt.Sprintf("(%d values)", c.count)
	case c.kind == broadcast:
		name += fmt.Sprintf("(from rank %d)", c.from)
	}
	if c.sequence > 0 {
		name += fmt.Sprintf(", collective %d", c.sequence)
	}
	return name
}

const headerBytes = 32

func (c collective) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, c.sequence)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.count))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.from))
	return binary.LittleEndian.AppendUint64(b, uint64(c.kind)|uint64(c.how)<<8)
}

func parseCollective(b []byte) collective {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return collective{sequence: word(0), count: int(word(1)), from: int(word(2)), kind: collectiveKind(word(3)), how: Reduction(word(3) >> 8)}
}

// start compares a call with that of the previous rank, and sends it to the next one.
func (g *Group) start(c collective) error {
	c.sequence = g.sequence
	if err := g.write(c.appendTo(nil)); err != nil {
		return err
	}
	return g.checkSameCall(c)
}

// checkSameCall compares the call with that of the previous rank.
func (g *Group) checkSameCall(here collective) error {
	var b [headerBytes]byte
	if _, err := io.ReadFull(g.previous.in, b[:]); err != nil {
		return g.lostError(g.previous, err)
	}
	if there := parseCollective(b[:]); there != here {
		return &MismatchError{Rank: g.previous.rank, There: there.String(), Here: here.String()}
	}
	return nil
}
