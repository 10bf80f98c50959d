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
	piece []byte
	small []byte
}

// bytesOf returns the bytes of values. Both slices share their memory.
func bytesOf[T float32 | float64](numbers []T) []byte {
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
	if g.buffers.piece == nil {
		g.buffers.piece = make([]byte, pieceBytes)
	}
	for len(into) > 0 {
		n := min(len(into), pieceBytes/width)
		piece := g.buffers.piece[:n*width]
		if err := g.read(piece); err != nil {
			return err
		}
		part := into[:n]
		for i, v := range numbersOf[T](piece) {
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

// gatherChunks passes the chunks of reduceScatter to all ranks. Each of the values has the given number of bytes.
func (g *Group) gatherChunks(data []byte, width, shift int) error {
	return g.passAround(shift, func(rank int) []byte {
		from, to := g.chunk(len(data)/width, rank)
		return data[from*width : to*width]
	})
}

// passAround passes the blocks of all ranks to all ranks. This rank already has the block of its own number plus shift.
func (g *Group) passAround(shift int, block func(rank int) []byte) error {
	size := g.Size()
	for s := range size - 1 {
		mine := (g.Rank() + shift - s + size) % size
		if err := g.exchange(block(mine), func() error { return g.read(block((mine + size - 1) % size)) }); err != nil {
			return err
		}
	}
	return nil
}
