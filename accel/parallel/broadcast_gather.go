package parallel

import (
	"context"
	"encoding/binary"
	"fmt"
)

// Broadcast returns the bytes of one rank on all ranks; the argument of the others is ignored.
// On the root it returns the argument, on other ranks new memory.
func (g *Group) Broadcast(ctx context.Context, from int, data []byte) (all []byte, err error) {
	if from < 0 || from >= g.Size() {
		return nil, fmt.Errorf("parallel: Broadcast: there is no rank %d: the group has %d ranks, numbered from 0", from, g.Size())
	}
	c := collective{kind: broadcast, from: from}
	all = data
	err = g.run(ctx, c, func() error {
		if err := g.start(c); err != nil {
			return err
		}
		last := (g.Rank()+1)%g.Size() == from // the last rank of the ring does not forward
		if g.Rank() == from {
			if err := g.write(binary.LittleEndian.AppendUint64(nil, uint64(len(data)))); err != nil {
				return err
			}
			return g.write(data)
		}
		var length [8]byte
		if err := g.read(length[:]); err != nil {
			return err
		}
		if !last {
			if err := g.write(length[:]); err != nil {
				return err
			}
		}
		all = make([]byte, binary.LittleEndian.Uint64(length[:]))
		for at := 0; at < len(all); at += pieceBytes {
			piece := all[at:min(at+pieceBytes, len(all))]
			if err := g.read(piece); err != nil {
				return err
			}
			if !last {
				if err := g.write(piece); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// AllGather returns the bytes of each rank on all ranks, by rank. The lengths may differ.
func (g *Group) AllGather(ctx context.Context, data []byte) (all [][]byte, err error) {
	c := collective{kind: allGather}
	all = make([][]byte, g.Size())
	all[g.Rank()] = data
	err = g.run(ctx, c, func() error {
		if err := g.start(c); err != nil {
			return err
		}
		lengths := make([]byte, 8*g.Size())
		binary.LittleEndian.PutUint64(lengths[8*g.Rank():], uint64(len(data)))
		if err := g.passAround(0, func(rank int) []byte { return lengths[8*rank : 8*rank+8] }); err != nil {
			return err
		}
		for rank := range all {
			if rank != g.Rank() {
				all[rank] = make([]byte, binary.LittleEndian.Uint64(lengths[8*rank:]))
			}
		}
		return g.passAround(0, func(rank int) []byte { return all[rank] })
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Barrier returns when all ranks have called it.
func (g *Group) Barrier(ctx context.Context) error {
	c := collective{kind: barrier}
	return g.run(ctx, c, func() error {
		if err := g.start(c); err != nil {
			return err
		}
		// When a byte of each rank has arrived, all ranks have called Barrier.
		bytes := make([]byte, g.Size())
		return g.passAround(0, func(rank int) []byte { return bytes[rank : rank+1] })
	})
}
