package accel

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/internal/loop"
	"github.com/quernlab/quern/accel/parallel"
)

// DataParallel trains on all ranks of a group together, on several GPUs or several machines.
// Each rank calls Fit with the same model, data set and options.
//
// Up to rounding, the result is that of one process: each batch is divided among the ranks, so
// [BatchSize] is the number of examples of all ranks together, and the gradients are added over
// all ranks (all-reduce) while the rest of the backward pass is computed. In an epoch each
// example is used once, by one rank; if the last batch cannot be divided evenly, its gradients
// are weighted by examples. Loss and accuracy are those of all ranks, and validation is divided
// as well. Decisions such as a skipped step, an early end or StopWhen on one rank apply to all
// ranks. All ranks start with the weights of rank 0. With [Accumulate] gradients are exchanged
// once a step.
//
// Random numbers in layers, such as those of Dropout, differ between ranks. nn.BatchNorm
// normalizes with the rank's part of the batch, as with PyTorch's DistributedDataParallel, and
// validation uses the running means of rank 0; nn.SyncBatchNorm normalizes with the batch of
// all ranks, as one process does.
//
// Rank 0 draws the figure and writes the files of [Resume], [TensorBoard] and [Track]. A
// training may be resumed with a different number of ranks; only rank 0 needs the file.
//
// When the context of a rank is done, all ranks stop after the same step. When a rank fails or
// its process dies, the others fail with a [*parallel.LostError], and the group cannot be used
// any more.
func DataParallel(group *parallel.Group) Option {
	return fitOption("DataParallel(group)", func(c *loop.Settings) error {
		if group == nil {
			return errors.New("accel: DataParallel(nil): the group is nil: check the error of parallel.Join")
		}
		if err := group.Err(); err != nil {
			return fmt.Errorf("accel: DataParallel(group): %w", err)
		}
		c.Group = group
		return nil
	}).in(inFit | inEvaluate)
}
