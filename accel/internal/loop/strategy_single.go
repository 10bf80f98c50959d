package loop

import (
	"context"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// single is the strategy of a single process; nothing has to be combined.
type single struct{}

func (single) begin() error  { return nil }
func (single) finish() error { return nil }

func (single) lastBatch(_ *precision, _ *measurement, learn func()) error {
	learn()
	return nil
}

func (single) idle(func(data.Batch)) {}

// loss makes the step fail on the device if the loss is not finite.
func (single) loss(p *precision, loss *tensor.Tensor) *tensor.Tensor { return p.requireFinite(loss) }

func (single) askStop() error                      { return nil }
func (single) interrupt(ctx context.Context) error { return ctx.Err() }
func (single) groupError() error                   { return nil }
func (single) stopSynchronizing()                  {}
func (single) end(error, bool)                     {}

func (single) shard() data.Option               { return data.Option{} }
func (single) writes() bool                     { return true }
func (single) runOnAll(work func() error) error { return work() }
func (single) anyRank(mine bool) (bool, error)  { return mine, nil }

func (single) broadcastFile(tensors map[string]*tensor.Tensor, notes map[string]string) (map[string]*tensor.Tensor, map[string]string, error) {
	return tensors, notes, nil
}

func (single) broadcastBuffers(nn.Module) error { return nil }

func (single) sumResult(loss weightedLoss, m *measures) (weightedLoss, *measures, error) {
	return loss, m, nil
}

func (single) compareModels(context.Context, nn.Module, *data.Dataset) error { return nil }

func (single) meter(ctx context.Context, examples int) *display.Meter {
	meter, _ := display.Measure(ctx, "examples", float64(examples))
	return meter
}

func (single) release(string, bool) {}
