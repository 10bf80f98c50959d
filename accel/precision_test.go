package accel_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestAMP trains the same model in three precisions. The 16-bit ones lead to other weights,
// still float32, and to the same accuracy.
func TestAMP(t *testing.T) {
	train, test := digits(t)
	fit := func(options ...accel.Option) (*accel.Run, []uint32) {
		accel.Seed(1)
		model := mlp(32)
		run, err := accel.Fit(t.Context(), model, train, append(options, accel.Epochs(6), accel.AdamW(3e-3), accel.Validate(test), accel.Quiet())...)
		must(t, run, err)
		result, err := accel.Evaluate(t.Context(), model, test)
		if err != nil {
			t.Fatal(err)
		}
		if d := math.Abs(result.Loss() - run.Loss()); !(d < 0.01) {
			t.Errorf("%v: loss %v in training, %v after it", run.Options, run.Loss(), result.Loss())
		}
		return run, weights(model)
	}
	plain, want := fit()
	auto, same := fit(accel.AMP())
	if !slices.Equal(same, want) || !strings.Contains(auto.Summary(), "computed in float32") {
		t.Errorf("AMP() is not float32 on the CPU: %s", auto.Summary())
	}
	for dtype, note := range map[accel.Precision]string{accel.BF16: "rounded to bfloat16", accel.FP16: "loss scale 65536, 0 steps skipped",
		accel.FP8: "rounded to 8-bit floats in linear layers"} {
		run, got := fit(accel.AMP(dtype))
		if slices.Equal(got, want) {
			t.Errorf("%v: nothing was rounded", dtype)
		}
		if !(math.Abs(run.Accuracy()-plain.Accuracy()) <= 0.02) {
			t.Errorf("%v: accuracy %v, in float32 %v", dtype, run.Accuracy(), plain.Accuracy())
		}
		if !strings.Contains(run.Summary(), note) {
			t.Errorf("%v: the summary does not say %q:\n%s", dtype, note, run.Summary())
		}
	}
}

// TestAMPSkips has steps whose scaled gradients overflow: they change nothing and do not
// advance the schedule.
func TestAMPSkips(t *testing.T) {
	train, _ := digits(t)
	model := mlp(8)
	loud := func(logits, y *tensor.Tensor) *tensor.Tensor { return nn.CrossEntropy(logits, y).MulScalar(5000) }
	run, err := accel.Fit(t.Context(), model, train, accel.Steps(20), accel.SGD(1e-7, 0), accel.WarmupCosine(5), accel.Minimize(loud), accel.AMP(accel.FP16), accel.Quiet())
	must(t, run, err)
	skipped := 0
	for skipped < len(run.Steps) && run.Steps[skipped].Skipped {
		skipped++
	}
	if skipped < 2 || skipped > 15 {
		t.Fatalf("%d steps were skipped", skipped)
	}
	// The host learns of a skipped step while the next one runs.
	if a, b := run.Steps[1].LearningRate, run.Steps[skipped].LearningRate; a != b {
		t.Errorf("the schedule went from %v to %v while steps were skipped", a, b)
	}
	if a, b := run.Steps[skipped].LearningRate, run.Steps[skipped+3].LearningRate; !(b > a) {
		t.Errorf("the schedule stays at %v", b)
	}
	all := 0
	for _, s := range run.Steps {
		if s.Skipped {
			all++
		}
	}
	if run.Card().Skipped != all {
		t.Errorf("the card says %d, %d were skipped", run.Card().Skipped, all)
	}
}

// TestAMPOverflowingEpochs has steps whose losses are infinite, which are skipped and have no part in the loss of the epoch. An epoch that
// has no other steps has no loss; it must not seem to be 0, the best one.
func TestAMPOverflowingEpochs(t *testing.T) {
	train, _ := digits(t)
	train = train.First(64)
	for _, row := range []struct {
		finite  int // steps of each epoch, of 4, whose loss is finite
		resumed bool
	}{{0, false}, {1, false}, {4, false}, {0, true}} {
		call := 0
		loss := func(logits, y *tensor.Tensor) *tensor.Tensor {
			factor := math.Inf(1)
			if call++; (call-1)%4 < row.finite {
				factor = 1e-3
			}
			return nn.CrossEntropy(logits, y).MulScalar(factor)
		}
		options := []accel.Option{accel.Epochs(3), accel.BatchSize(16), accel.SGD(1e-7, 0), accel.Minimize(loss), accel.AMP(accel.FP16), accel.Quiet(), accel.NoChecks()}
		path := filepath.Join(t.TempDir(), "training")
		if row.resumed { // resumed within an epoch
			ctx, cancel := context.WithCancel(t.Context())
			stop := accel.StopWhen(func(r *accel.Run) bool {
				if len(r.Steps) == 5 {
					cancel()
				}
				return false
			})
			if _, err := accel.Fit(ctx, mlp(4), train, append(options, accel.Resume(path), stop)...); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			options = append(options, accel.Resume(path))
		}
		run, err := accel.Fit(t.Context(), mlp(4), train, options...)
		must(t, run, err)
		if len(run.Epochs) != 3 || len(run.Steps) != 12 {
			t.Fatalf("%d epochs, %d steps", len(run.Epochs), len(run.Steps))
		}
		for _, e := range run.Epochs {
			sum := 0.0
			for _, s := range run.Steps[e.Steps-4 : e.Steps-4+row.finite] {
				sum += s.Loss
			}
			if want := sum / float64(row.finite); !(math.Abs(e.Loss-want) < 1e-9) && !(math.IsNaN(e.Loss) && row.finite == 0) {
				t.Errorf("%d of 4 steps with a finite loss: the loss of the epoch is %v, want %v", row.finite, e.Loss, want)
			}
		}
		if got := run.String(); row.finite == 0 && !strings.Contains(got, "loss NaN") {
			t.Errorf("without a finite loss: %s", got)
		}
		if card := run.Card(); (card.Loss == nil) != (row.finite == 0) {
			t.Errorf("%d of 4 steps with a finite loss: the card has the loss %v", row.finite, card.Loss)
		}
	}
}

// TestAMPGivesUp has a loss that is never finite.
func TestAMPGivesUp(t *testing.T) {
	train, _ := digits(t)
	nan := func(logits, y *tensor.Tensor) *tensor.Tensor { return nn.CrossEntropy(logits, y).MulScalar(math.NaN()) }
	run, err := accel.Fit(t.Context(), mlp(4), train, accel.Steps(200), accel.Minimize(nan), accel.AMP(accel.FP16), accel.Quiet())
	if err == nil || len(run.Steps) > 60 {
		t.Errorf("%d steps, %v", len(run.Steps), err)
	}
	if _, err := accel.Fit(t.Context(), mlp(4), train, accel.AMP(accel.Precision(7))); err == nil || err.Error() != "accel: AMP(Precision(7)): the precision must be BF16, FP16 or FP8, or be left out" {
		t.Errorf("%v", err)
	}
}
