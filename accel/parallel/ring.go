package parallel

import (
	"errors"
	"io"
	"unsafe"
)

// A piece is summed or forwarded while the next one is being received.
const pieceBytes = 64 << 10

// smallBytes is the size that a connection accepts without waiting for its other end to read.
const smallBytes = 4 << 10

// buffers holds memory that collectives reuse.
type buffers struct {
	piece    []byte
	small    []byte
	float32s []float32
}

// bytesOf returns the bytes of values. Both slices share their memory.
func bytesOf[T float32 | float64 | uint16](numbers []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers)*int(unsafe.Sizeof(zero)))
}

// numbersOf returns the values whose bytes are b, the inverse of bytesOf. Both slices share their
// memory.
func numbersOf[T float32 | float64](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// chunk returns the part of n values that starts its way around the ring at a rank.
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
		return g.lostError(g.next, err)
	}
	g.sent(len(b))
	return nil
}

// exchange sends bytes to the next rank while take receives those of the previous one.
func (g *Group) exchange(out []byte, take func() error) error {
	if len(out) <= smallBytes {
		if err := g.write(out); err != nil {
			return err
		}
		return take()
	}
	sent := make(chan error, 1)
	go func() { sent <- g.write(out) }() // ends with the write, at the latest when the connection is closed
	err := take()
	if err != nil {
		g.next.close() // otherwise it would wait for a rank that no longer reads
		return errors.Join(err, <-sent)
	}
	return <-sent
}

// read fills bytes from the previous rank.
func (g *Group) read(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if _, err := io.ReadFull(g.previous.in, b); err != nil {
		return g.lostError(g.previous, err)
	}
	return nil
}

// readAdd adds values from the previous rank, piece by piece.
func readAdd[T float32 | float64](g *Group, into []T) error {
	var zero T
	width := int(unsafe.Sizeof(zero))
	for len(into) > 0 {
		n := min(len(into), pieceBytes/width)
		if err := g.read(g.buffers.piece[:n*width]); err != nil {
			return err
		}
		came := unsafe.Slice((*T)(unsafe.Pointer(&g.buffers.piece[0])), n)
		part := into[:n]
		for i, v := range came {
			part[i] += v
		}
		into = into[n:]
	}
	return nil
}

// reduceScatter leaves the sum of one chunk at each rank: that of its own number plus shift. Each
// chunk is summed in the order of the ranks on its way, so the result does not depend on timing.
func reduceScatter[T float32 | float64](g *Group, data []T, shift int) error {
	first := g.Rank() + shift - 1
	for s := range g.Size() - 1 {
		from, to := g.chunk(len(data), first-s)
		nextFrom, nextTo := g.chunk(len(data), first-s-1)
		if err := g.exchange(bytesOf(data[from:to]), func() error { return readAdd(g, data[nextFrom:nextTo]) }); err != nil {
			return err
		}
	}
	return nil
}

// gatherChunks passes the chunks of reduceScatter to all ranks.
func gatherChunks[T float32 | float64 | uint16](g *Group, data []T, shift int) error {
	var zero T
	return g.gatherParts(bytesOf(data), len(data), int(unsafe.Sizeof(zero)), shift)
}

// gatherParts is gatherChunks for n values of the given number of bytes each.
func (g *Group) gatherParts(data []byte, n, width, shift int) error {
	first := g.Rank() + shift
	for s := range g.Size() - 1 {
		from, to := g.chunk(n, first-s)
		nextFrom, nextTo := g.chunk(n, first-s-1)
		if err := g.exchange(data[from*width:to*width], func() error { return g.read(data[nextFrom*width : nextTo*width]) }); err != nil {
			return err
		}
	}
	return nil
}

// gatherBlocks passes a block of each rank, all of the same length, to all ranks: that of rank
// r at offset r times the length. This rank's block is already there.
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
