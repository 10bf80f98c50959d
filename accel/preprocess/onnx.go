package preprocess

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/quernlab/quern/accel/frame"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
)

// ExportError says that the preparation of a column cannot be written to an ONNX file.
type ExportError struct {
	Column string // name of the column
	Reason string // which step has no equivalent
}

// Error names the column, the reason and what to do.
func (e *ExportError) Error() string {
	return fmt.Sprintf("preprocess: column %q cannot be exported: %s", e.Column, e.Reason)
}

// ExportONNX writes the preparation of the columns and a model of the features, [rows, features], to one ONNX file; see
// [onnx.Export]. The file has an input [batch, 1] for each column, with its name: of type string for text, with
// an empty string for a missing value, and otherwise of type double, with NaN for a missing value and 1 for true.
//
// Other values than those that [Transform.Tensor] prepares are errors when the file runs, too: a missing number without
// Impute, and a category that no training row has without Other. The message has the name of the column.
//
// [Dates], and categories that these inputs cannot have, are an [*ExportError].
func (t *Transform) ExportONNX(path string, model nn.Module, options ...onnx.Option) error {
	features, err := t.onnxFeatures()
	if err != nil {
		return err
	}
	example := tensor.Zeros(2, len(t.Features()))
	return onnx.Export(path, model, example, append(slices.Clone(options), onnx.Columns(features...))...)
}

const noDates = "ONNX has no dates: make columns of the year, month and so on with WithInt of the frame, and prepare them with Numbers"

func (t *Transform) onnxFeatures() ([]onnx.Feature, error) {
	var features []onnx.Feature
	for _, e := range t.encoders {
		switch e := e.(type) {
		case *number:
			features = append(features, onnx.Number{Column: e.Column, Fill: e.Fill, Indicator: e.Indicator, Log: e.Log, Mean: e.Mean, Scale: e.Scale})
		case *category:
			c, err := e.onnx()
			if err != nil {
				return nil, err
			}
			features = append(features, c)
		case *date:
			if len(e.Parts) > 0 {
				return nil, &ExportError{Column: e.Column, Reason: noDates}
			}
		}
	}
	return features, nil
}

// onnx returns the category with its values as numbers, unless they are text.
func (c *category) onnx() (onnx.Category, error) {
	exported := onnx.Category{Column: c.Column, Missing: c.Missing, Index: c.Index, Other: c.Other}
	if c.Type == frame.Text.String() {
		if slices.Contains(c.Values, "") {
			return exported, &ExportError{Column: c.Column, Reason: "an empty text is a category, but stands for a missing value in the file: replace it in the frame"}
		}
		exported.Texts = slices.Clone(c.Values)
		return exported, nil
	}
	if c.Type == frame.Time.String() {
		return exported, &ExportError{Column: c.Column, Reason: noDates}
	}
	exported.Numbers = []float64{}
	for _, text := range c.Values {
		v, err := strconv.ParseFloat(text, 64)
		switch {
		case c.Type == frame.Bool.String():
			v = 0
			if text == "true" {
				v = 1
			}
		case err != nil || c.Type == frame.Int.String() && math.Abs(v) > 1<<53:
			return exported, &ExportError{Column: c.Column, Reason: fmt.Sprintf("the category %s is no number that float64 has: make it text with As when the file is read", text)}
		}
		exported.Numbers = append(exported.Numbers, v)
	}
	return exported, nil
}
