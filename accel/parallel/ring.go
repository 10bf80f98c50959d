package parallel

import (
	"errors"
	"io"
	"unsafe"
)

// A piece is what is added up, or passed on, while the next one is on its way.
const pieceBytes = 64 << 10

// smallBytes is what a connection takes without waiting for its other end to read.
const smallBytes = 4 << 10

// rooms are buffers that collectives use again.
type rooms struct {
	piece []byte
	small []byte
	wide  []float32
}

// bytesOf is the memory of numbers.
func bytesOf[T float32 | float64 | uint16](numbers []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers)*int(unsafe.Sizeof(zero)))
}

// numbersOf is memory as numbers.
func numbersOf[T float32 | float64](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// chunk is the part of n numbers that begins its way around the ring at a rank.
func (g *Group) chunk(n, rank int) (from, to int) {
	size := g.Size()
	rank = ((rank % size) + size) % size
	return n/size*rank + min(rank, n%size), n/size*(rank+1) + min(rank+1, n%size)
}

// write sends bytes to the next rank.
func (g *Group) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if _, err := g.next.conn.Write(b); err != nil {
		return g.gone(g.next, err)
	}
	g.sent(len(b))
	return nil
}

// exchange sends bytes to the next rank while take receives those of the one before.
func (g *Group) exchange(out []byte, take func() error) error {
	if len(out) <= smallBytes {
		if err := g.write(out); err != nil {
			return err
		}
		return take()
	}
	sent := make(chan error, 1)
	go func() { sent <- g.write(out) }() // ends with the write, which ends with the connection
	err := take()
	if err != nil {
		g.next.close() // else a rank that does not read any more would be waited for
		return errors.Join(err, <-sent)
	}
	return <-sent
}

// read fills bytes from the rank before.
func (g *Group) read(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if _, err := io.ReadFull(g.previous.in, b); err != nil {
		return g.gone(g.previous, err)
	}
	return nil
}

// readAdd adds numbers of the rank before to these, piece by piece.
func readAdd[T float32 | float64](g *Group, into []T) error {
	var zero T
	width := int(unsafe.Sizeof(zero))
	for len(into) > 0 {
		n := min(len(into), pieceBytes/width)
		if err := g.read(g.room.piece[:n*width]); err != nil {
			return err
		}
		came := unsafe.Slice((*T)(unsafe.Pointer(&g.room.piece[0])), n)
		part := into[:n]
		for i, v := range came {
			part[i] += v
		}
		into = into[n:]
	}
	return nil
}

// reduceScatter leaves at each rank the sum of one chunk: of the one behind its own.
// Each chunk is added up in the order of the ranks that it comes by, so that its sum
// does not depend on who is faster.
func reduceScatter[T float32 | float64](g *Group, data []T) error {
	for s := range g.Size() - 1 {
		from, to := g.chunk(len(data), g.Rank()-s)
		nextFrom, nextTo := g.chunk(len(data), g.Rank()-s-1)
		if err := g.exchange(bytesOf(data[from:to]), func() error { return readAdd(g, data[nextFrom:nextTo]) }); err != nil {
			return err
		}
	}
	return nil
}

// gatherChunks gives all ranks the chunks that reduceScatter has left at each.
func gatherChunks[T float32 | float64 | uint16](g *Group, data []T) error {
	for s := range g.Size() - 1 {
		from, to := g.chunk(len(data), g.Rank()+1-s)
		nextFrom, nextTo := g.chunk(len(data), g.Rank()-s)
		if err := g.exchange(bytesOf(data[from:to]), func() error { return g.read(bytesOf(data[nextFrom:nextTo])) }); err != nil {
			return err
		}
	}
	return nil
}

// gatherBlocks brings a block of each rank, all of one length, to all: that of rank r
// at r times the length. This rank's is there already.
func (g *Group) gatherBlocks(blocks []byte, length int) error {
	size := g.Size()
	for s := range size - 1 {
		mine, theirs := (g.Rank()-s+size)%size, (g.Rank()-s-1+size)%size
		if err := g.exchange(blocks[mine*length:(mine+1)*length], func() error { return g.read(blocks[theirs*length : (theirs+1)*length]) }); err != nil {
			return err
		}
	}
	return nil
}
