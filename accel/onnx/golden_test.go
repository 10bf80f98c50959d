package onnx_test

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/golden"
)

// field is a field of a message of onnx.proto3: its name, and its type: "int", "float", "string",
// "bytes", or the name of a message.
type field struct{ name, kind string }

// messages are the messages of onnx.proto3 that a model uses, by field number.
var messages = map[string]map[protowire.Number]field{
	"ModelProto":         {1: {"ir_version", "int"}, 2: {"producer_name", "string"}, 7: {"graph", "GraphProto"}, 8: {"opset_import", "OperatorSetIdProto"}, 14: {"metadata_props", "StringStringEntryProto"}},
	"OperatorSetIdProto": {1: {"domain", "string"}, 2: {"version", "int"}},
	"StringStringEntryProto": {
		1: {"key", "string"}, 2: {"value", "string"},
	},
	"GraphProto":     {1: {"node", "NodeProto"}, 2: {"name", "string"}, 5: {"initializer", "TensorProto"}, 11: {"input", "ValueInfoProto"}, 12: {"output", "ValueInfoProto"}},
	"NodeProto":      {1: {"input", "string"}, 2: {"output", "string"}, 3: {"name", "string"}, 4: {"op_type", "string"}, 5: {"attribute", "AttributeProto"}},
	"AttributeProto": {1: {"name", "string"}, 2: {"f", "float"}, 3: {"i", "int"}, 4: {"s", "string"}, 8: {"ints", "int"}, 20: {"type", "int"}},
	"TensorProto":    {1: {"dims", "int"}, 2: {"data_type", "int"}, 6: {"string_data", "string"}, 8: {"name", "string"}, 9: {"raw_data", "bytes"}, 13: {"external_data", "StringStringEntryProto"}, 14: {"data_location", "int"}},
	"ValueInfoProto": {1: {"name", "string"}, 2: {"type", "TypeProto"}},
	"TypeProto":      {1: {"tensor_type", "TypeProto.Tensor"}},
	"TypeProto.Tensor": {
		1: {"elem_type", "int"}, 2: {"shape", "TensorShapeProto"},
	},
	"TensorShapeProto":           {1: {"dim", "TensorShapeProto.Dimension"}},
	"TensorShapeProto.Dimension": {1: {"dim_value", "int"}, 2: {"dim_param", "string"}},
}

// dump formats a message as text, one field per line.
func dump(out *strings.Builder, message string, b []byte, indent string) error {
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		f, ok := messages[message][number]
		if !ok {
			return fmt.Errorf("%s has no field %d", message, number)
		}
		n = protowire.ConsumeFieldValue(number, wire, b)
		if n < 0 {
			return fmt.Errorf("%s.%s: %w", message, f.name, protowire.ParseError(n))
		}
		value := b[:n]
		b = b[n:]
		fmt.Fprintf(out, "%s%s: ", indent, f.name)
		switch f.kind {
		case "int":
			v, _ := protowire.ConsumeVarint(value)
			fmt.Fprintf(out, "%d\n", int64(v))
		case "float":
			v, _ := protowire.ConsumeFixed32(value)
			fmt.Fprintf(out, "%v\n", math.Float32frombits(v))
		case "string":
			v, _ := protowire.ConsumeBytes(value)
			fmt.Fprintf(out, "%s\n", strconv.Quote(string(v)))
		case "bytes":
			v, _ := protowire.ConsumeBytes(value)
			fmt.Fprintf(out, "%x\n", v)
		default:
			v, _ := protowire.ConsumeBytes(value)
			fmt.Fprintf(out, "%s\n", f.kind)
			if err := dump(out, f.kind, v, indent+"  "); err != nil {
				return err
			}
		}
	}
	return nil
}

// steps returns a tensor of small values, which text shows exactly.
func steps(shape ...int) *tensor.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(i%7)/4 - 0.75
	}
	return tensor.New(data, shape...)
}

// stepped sets the parameters of a model to small values.
func stepped(model nn.Module, x *tensor.Tensor) nn.Module {
	model.Forward(x)
	for _, p := range nn.State(model) {
		p.SetData(steps(p.Shape()...).Data())
	}
	return model
}

// TestGolden compares the bytes of files, as text.
func TestGolden(t *testing.T) {
	tokens := tokens(3, 2, 4)
	for name, build := range map[string]func() (*onnx.Model, error){
		"mlp": func() (*onnx.Model, error) {
			x := steps(2, 1, 2, 2)
			return onnx.Build(stepped(nn.Sequential(nn.Flatten(), nn.Dense(3), nn.ReLU(), nn.Dropout(0.5), nn.Dense(2)), x), x, onnx.Note("classes", "cat,dog"))
		},
		"attention": func() (*onnx.Model, error) {
			m := stepped(nn.Sequential(nn.Embedding(3, 2), nn.PositionEmbedding(6, 2), nn.Residual(nn.LayerNorm(), nn.SelfAttention(1, nn.Causal()))), tokens)
			return onnx.Build(m, tokens, onnx.Axes(0, "batch", "time"), onnx.Inputs("tokens"), onnx.Outputs("mixed"), onnx.Name("block"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := build()
			if err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if _, err := m.WriteTo(&file); err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := dump(&text, "ModelProto", file.Bytes(), ""); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name+".txt", []byte(text.String()))
			golden.Check(t, name+".summary.txt", []byte(m.String()))
		})
	}
}
