package cells

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/interp"
)

// limit is how long one cell may take; the longest takes a quarter of a minute on an idle machine.
const limit = 5 * time.Minute

// notebook runs cells one after the other.
type notebook struct {
	t       *testing.T
	session *interp.Session
	out     bytes.Buffer // written by cells that have ended when it is read
	cell    int
}

func newNotebook(t *testing.T) *notebook {
	n := &notebook{t: t}
	n.session = newSession(t, &n.out)
	return n
}

func newSession(t *testing.T, out io.Writer) *interp.Session {
	s, err := interp.New(interp.Stdout(out), interp.Stderr(out), interp.Stdin(strings.NewReader("")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// run executes a cell; the error is nil if it succeeds.
func (n *notebook) run(src string) (text string, failure *interp.Error) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), limit)
	defer cancel()
	n.cell++
	n.out.Reset()
	result, err := n.session.Execute(ctx, n.cell, src)
	if err != nil && !errors.As(err, &failure) {
		n.t.Fatalf("%s\n%v", src, err)
	}
	return n.out.String() + fmt.Sprint(result.Data["text/plain"]), failure
}

func (n *notebook) want(src, want string) {
	n.t.Helper()
	if got, failure := n.run(src); failure != nil || !strings.Contains(got, want) {
		n.t.Errorf("%s\nwant %q\ngot  %q, %+v", src, want, got, failure)
	}
}

func (n *notebook) fails(src string, wants ...string) {
	n.t.Helper()
	got, failure := n.run(src)
	if failure == nil {
		n.t.Errorf("%s\nwant an error, got %q", src, got)
		return
	}
	all := failure.Name + ": " + failure.Value + "\n" + strings.Join(failure.Traceback, "\n")
	for _, want := range wants {
		if !strings.Contains(all, want) {
			n.t.Errorf("%s\nwant %q\ngot  %s", src, want, all)
		}
	}
}

// Allocations beyond the memory limit fail with an error, in an op, in Fit and in a
// recorded list. Afterwards the session has its variables, and a smaller batch trains.
func TestOutOfMemory(t *testing.T) {
	n := newNotebook(t)
	n.want("train, test, err := data.Digits()\nkept := tensor.Ones(3)\ntrain.Len()", "1437")
	n.want("old := tensor.SetMemoryLimit(8 << 20)\nold", "0")
	n.fails("tensor.Zeros(4096, 4096)", "out of memory on cpu", "67108864 bytes are needed", "try a smaller batch")
	n.want(`model := nn.Sequential(nn.Flatten(), nn.Dense(2048), nn.ReLU(), nn.Dense(10))
_, fitErr := accel.Fit(ctx, model, train, accel.BatchSize(1024), accel.Epochs(1), accel.Quiet())
var memory *tensor.OutOfMemoryError
errors.As(fitErr, &memory)`, "true")
	n.want("fitErr", "try a smaller batch")
	n.want(`kept.Sum().Item()`, "3")
	n.want(`small := nn.Sequential(nn.Flatten(), nn.Dense(16), nn.ReLU(), nn.Dense(10))
run, err := accel.Fit(ctx, small, train, accel.BatchSize(64), accel.Epochs(1), accel.Quiet())
len(run.Steps)`, "23")
	n.want("tensor.SetMemoryLimit(0)\ntensor.Zeros(1024, 1024).Sum().Item()", "0")
}

// TestErrorsInCells checks how cells show errors of tensors.
func TestErrorsInCells(t *testing.T) {
	n := newNotebook(t)
	n.fails("a := tensor.Zeros(2, 3)\nb := tensor.Zeros(4, 5)\na.MatMul(b)", "MatMul: [2 3] and [4 5]")
	n.fails("tensor.Zeros(1 << 40, 1 << 40)", "exceeds the range of int")
	n.fails("w := tensor.Parameter(tensor.Ones(2))\nw.MulScalar(2).Backward()", "Backward: [2]: the loss must be a scalar")
	n.fails("nn.CrossEntropy(tensor.Zeros(1, 3), tensor.FromInts([]int{3}, 1))", "CrossEntropy: class 3 of row 0 is outside 0..2")
	n.want("train, test, err := data.Digits()\n_, diverged := accel.Fit(ctx, nn.Sequential(nn.Flatten(), nn.Dense(10)), train, accel.SGD(1e38, 0), accel.Quiet())\ndiverged", "the first tensor that is not finite is")
	n.want("tensor.Ones(2).Sum().Item()", "2")
}

// TestScopesInCells opens scopes such as NoGrad in interpreted code, and uses a module that
// a cell declares.
func TestScopesInCells(t *testing.T) {
	n := newNotebook(t)
	n.want(`p := tensor.Parameter(tensor.Ones(2, 2))
var inside bool
var short tensor.DType
tensor.NoGrad(func() { inside = p.MulScalar(2).RequiresGrad() })
tensor.Autocast(tensor.BFloat16, func() { short = p.MatMul(p).DType() })
fmt.Println(inside, short, p.MatMul(p).DType(), p.MulScalar(2).RequiresGrad())`, "false bfloat16 float32 true")
	n.want(`type Twice struct{ inner nn.Module }
func (t *Twice) Forward(x *nn.Tensor) *nn.Tensor { return t.inner.Forward(x).Exp().Log().MulScalar(2) }
train, test, err := data.Digits()
accel.Seed(1)
run, err := accel.Fit(ctx, &Twice{nn.Sequential(nn.Flatten(), nn.Dense(10))}, train, accel.Epochs(2), accel.AMP(accel.BF16), accel.Quiet())
run.Steps[len(run.Steps)-1].Loss < run.Steps[0].Loss`, "true")
}

// TestObserverInCells registers an observer whose type a cell declares.
func TestObserverInCells(t *testing.T) {
	n := newNotebook(t)
	n.want(`type watcher struct {
	accel.NopObserver
	steps, epochs int
	end           string
}
func (w *watcher) Step(t *accel.Training, s accel.Step) error {
	w.steps++
	if s.Epoch == 2 {
		return accel.ErrStop
	}
	return nil
}
func (w *watcher) Epoch(*accel.Training, accel.Epoch) error { w.epochs++; return nil }
func (w *watcher) End(t *accel.Training, err error) { w.end = fmt.Sprint(len(t.Run.Steps), " of ", t.TotalSteps, " ", err) }

train, _, err := data.Digits()
w := &watcher{}
run, err := accel.Fit(ctx, nn.Sequential(nn.Flatten(), nn.Dense(10)), train.First(128), accel.Epochs(5), accel.Observe(w), accel.Quiet())
fmt.Println(w.steps, w.epochs, w.end, err)`, "4 2 4 of 10 <nil> <nil>")
}

// TestNilField requires that Fit names the field of a cell's model that is nil.
func TestNilField(t *testing.T) {
	n := newNotebook(t)
	n.want(`type net struct{ Body, Head nn.Module }
func (m *net) Forward(x *nn.Tensor) *nn.Tensor { return m.Head.Forward(m.Body.Forward(x)) }
m := &net{Body: nn.Dense(3)}
set, err := data.FromSlices([][]float32{{1, 2}, {3, 4}}, []int{0, 1})
_, err = accel.Fit(ctx, m, set, accel.Epochs(1), accel.Quiet())
fmt.Println(err)`, "create Head before")
}
