package nn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/accel/tensor"
)

// cast reports whether any layer computes in or returns another type than float32.
func (t *SummaryTable) cast() bool {
	for _, r := range t.Rows {
		if r.DType != tensor.Float32 || slices.ContainsFunc(r.Ops, func(c tensors.RecordedOp) bool { return c.DType != tensor.Float32 }) {
			return true
		}
	}
	return false
}

// types returns the types in which the layer computes: that of its operation with the most
// FLOPs first, then the others with their operations.
func (r SummaryRow) types() string {
	if len(r.Ops) == 0 {
		return r.DType.String() // it only moves elements
	}
	heaviest := r.Ops[0]
	for _, op := range r.Ops {
		if op.FLOPs > heaviest.FLOPs {
			heaviest = op
		}
	}
	text := heaviest.DType.String()
	var others []tensor.DType
	names := map[tensor.DType][]string{}
	for _, op := range r.Ops {
		if op.DType == heaviest.DType {
			continue
		}
		if names[op.DType] == nil {
			others = append(others, op.DType)
		}
		if !slices.Contains(names[op.DType], op.Op) {
			names[op.DType] = append(names[op.DType], op.Op)
		}
	}
	for _, d := range others {
		text += fmt.Sprintf("; %s in %s", strings.Join(names[d], ", "), d)
	}
	return text
}

// shares returns the shares of the FLOPs in each type; "" if all are float32.
func (t *SummaryTable) shares() string {
	if !t.cast() {
		return ""
	}
	work, all := map[tensor.DType]int{}, 0
	for _, r := range t.Rows {
		for _, op := range r.Ops {
			work[op.DType] += op.FLOPs
			all += op.FLOPs
		}
	}
	var parts []string
	for _, d := range []tensor.DType{tensortype.Float8E4M3, tensor.BFloat16, tensor.Float16, tensor.Float32, tensor.Float64} {
		if work[d] > 0 {
			parts = append(parts, fmt.Sprintf("%.3g %% in %s", 100*float64(work[d])/float64(all), d))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}
