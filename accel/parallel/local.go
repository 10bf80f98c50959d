package parallel

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/quernlab/quern/accel/internal/training/interrupt"
)

// Local returns the ranks of a group within one process, one for each of n goroutines, connected
// like processes. It is meant for tests and for work other than training, because a process can
// train only one model at a time. Models with nn.SyncBatchNorm are rejected.
func Local(ctx context.Context, n int, options ...Option) (ranks []*Group, err error) {
	if err := interrupt.RequireContext(ctx, "parallel: Local"); err != nil {
		return nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	ranks = make([]*Group, max(n, 1))
	errs := make([]error, len(ranks))
	secret := Secret(string(nonce()))
	var joining sync.WaitGroup
	for r := range ranks {
		joining.Go(func() {
			at := At(RankInfo{Rank: r, Size: len(ranks), LocalRank: r, LocalSize: len(ranks), Address: address, local: true})
			ranks[r], errs[r] = Join(ctx, append([]Option{secret, at}, options...)...)
		})
	}
	joining.Wait()
	if err := errors.Join(errs...); err != nil {
		for _, g := range ranks {
			if g != nil {
				err = errors.Join(err, g.Close())
			}
		}
		return nil, err
	}
	return ranks, nil
}
