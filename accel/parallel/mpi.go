package parallel

import (
	"context"
	"fmt"
	"sync"

	"github.com/quernlab/quern/accel/internal/mpi"
	"github.com/quernlab/quern/accel/internal/training/option"
)

// MPI makes AllReduce use MPI_Allreduce of libmpi if Open MPI's mpirun has started the ranks; otherwise the ranks use the ring, and
// [Group.Backend] says why. Small values always use the ring. All ranks must pass the option. A process can do so once, and must
// [Group.Close] the group before it ends: mpirun takes a process that does not for one that has crashed. Close waits until all
// ranks have closed their groups, or one is lost.
//
// MPI neither encrypts nor authenticates what it sends between machines.
func MPI() Option { return Option{option.New(func(s *settings) { s.mpi = true }, "MPI")} }

// messagePassing is the state of MPI in a group.
type messagePassing struct {
	world *mpi.World // nil if the ring is used
	why   string     // why it is used although MPI was requested
	leave sync.Once
}

// joinMPI initializes MPI on all ranks, or on none.
func (g *Group) joinMPI(ctx context.Context) error {
	path, err := mpi.Find()
	if why, err := g.anyReason(ctx, err); err != nil || why != "" {
		g.mpi.why = why
		return err
	}
	var world *mpi.World
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		world, failed = mpi.Init(path)
		if failed == nil && (world.Rank != g.Rank() || world.Size != g.Size()) {
			failed = fmt.Errorf("this is rank %d of %d of mpirun, and rank %d of %d of the group", world.Rank, world.Size, g.Rank(), g.Size())
		}
	}()
	select {
	case <-done:
	case <-g.broken:
		return g.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
	why, err := g.anyReason(ctx, failed)
	if err == nil && why == "" {
		g.mpi.world = world
	}
	g.mpi.why = why
	return err
}

// anyReason returns the first error of all ranks.
func (g *Group) anyReason(ctx context.Context, mine error) (why string, err error) {
	reasons, err := g.gatherErrors(ctx, mine)
	for rank, reason := range reasons {
		if reason != "" {
			return fmt.Sprintf("rank %d reports: %s", rank, reason), err
		}
	}
	return "", err
}

// sumByMPI replaces values by their sums over all ranks. If the group breaks, nobody waits for the call any more; its memory
// is then not used again, and neither is MPI.
func sumByMPI[T float32 | float64](g *Group, values []T) error {
	done := make(chan error, 1)
	go func() { done <- mpi.Sum(g.mpi.world, values) }()
	select {
	case err := <-done:
		return err
	case <-g.broken:
		return g.Err()
	}
}

// leaveMPI ends MPI on all ranks together. The ring ends before: a rank that still needs this one must not wait for it.
func (g *Group) leaveMPI() (err error) {
	g.mpi.leave.Do(func() {
		if g.mpi.world == nil || g.Err() != nil {
			return
		}
		g.notify(notice{Kind: rankLeaves, Rank: g.Rank()})
		g.next.close()
		g.previous.close()
		done := make(chan error, 1)
		go func() { done <- g.mpi.world.Finalize() }()
		select {
		case err = <-done:
		case <-g.broken:
		}
	})
	return err
}
