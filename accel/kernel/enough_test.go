package kernel

import (
	_ "embed"
	"testing"

	"github.com/quernlab/quern/accel/tensor"
)

//go:embed testdata/kernels.go
var kernelsText string

// A check that has seen enough instructions begins no further block.
func TestEnough(t *testing.T) {
	k, err := Compile(Source(kernelsText, "saxpy"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := check(t.Context(), k, Grid(3200, 32), 1, []any{float32(2), tensor.Ones(3200), tensor.Ones(3200)})
	if err != nil || r.Work.Blocks != 1 || r.Work.FLOPs != 64 {
		t.Errorf("%+v, %v", r.Work, err)
	}
}
