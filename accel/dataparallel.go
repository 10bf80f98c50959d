package accel

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/parallel"
)

// DataParallel trains on all ranks of a group together, each of which calls Fit with
// the same model, set and options: on several GPUs, or on several machines.
//
// The training is that of one process, up to rounding: each batch is divided among the
// ranks, so that [BatchSize] is that of all together, and the gradients are added up
// before the update, while those of the layers before are computed. Each example is met
// once in an epoch, by one rank; a last batch that cannot be divided evenly counts by its
// examples. Loss and accuracy are those of all ranks, validation is divided as well, and
// all decisions (a skipped step, an early end, StopWhen on any rank) hold for all.
// All ranks begin with the weights of rank 0. With [Accumulate] gradients are exchanged
// once a step.
//
// Random numbers in layers, those of Dropout for instance, are other ones on each rank.
// nn.BatchNorm normalises with the part of the batch that a rank has, as PyTorch's
// DistributedDataParallel does, and is validated with the running means of rank 0;
// nn.SyncBatchNorm normalises with the batch of all ranks, as one process does.
//
// Rank 0 shows and writes: the figure, the files of [Resume], [TensorBoard] and [Track].
// A training that is resumed may have another number of ranks than before; only rank 0
// needs the file.
//
// When a rank's context is done, all stop behind the same step. When a rank fails or
// dies the others fail with a [*parallel.LostError], and the group is of no more use.
func DataParallel(group *parallel.Group) Option {
	return fitOption("DataParallel(group)", func(c *options) error {
		if group == nil {
			return errors.New("accel: DataParallel(nil): there is no group; was the error of parallel.Join read?")
		}
		if err := group.Err(); err != nil {
			return fmt.Errorf("accel: DataParallel(group): %w", err)
		}
		c.group = group
		return nil
	}).in(inFit | inEvaluate)
}
