package onnx

import (
	"maps"
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// importer runs an op of ONNX. The row of an op with several outputs has no run; severalOutputs has it.
type importer struct {
	least, most int // number of inputs; most is -1 if there is no limit
	run         func(c *call) operand
	// attributes has the default of each attribute that is understood, which also gives its type; an
	// only for one that must have a certain value.
	attributes map[string]any
}

// only is an attribute of which just one value is supported.
type only struct{ value any }

type attributes = map[string]any

// sliding are the attributes of convolutions and pooling.
func sliding(more attributes) attributes {
	return with(more, attributes{"auto_pad": only{"NOTSET"}, "kernel_shape": []int(nil), "strides": []int(nil), "pads": []int(nil), "dilations": []int(nil)})
}

// with adds attributes to others, which it changes.
func with(more, to attributes) attributes {
	maps.Copy(to, more)
	return to
}

// importers are the ops that can be imported. More is an error.
var importers = map[string]importer{
	"Abs":                   {1, 1, unary((*tensor.Tensor).Abs), nil},
	"Add":                   {2, 2, arithmetic((*tensor.Tensor).Add, func(a, b int) int { return a + b }), nil},
	"And":                   {2, 2, logical((*tensor.Tensor).And), nil},
	"ArgMax":                {1, 1, runArgMax, attributes{"axis": 0, "keepdims": 1, "select_last_index": only{0}}},
	"AveragePool":           {1, 1, runAveragePool, sliding(attributes{"ceil_mode": only{0}, "count_include_pad": 0})},
	"BatchNormalization":    {5, 5, runBatchNorm, attributes{"epsilon": 1e-5, "momentum": 0.9, "training_mode": only{0}}},
	"Cast":                  {1, 1, runCast, attributes{"to": 0, "saturate": only{1}}},
	"Ceil":                  {1, 1, unary((*tensor.Tensor).Ceil), nil},
	"Clip":                  {1, 3, runClip, nil},
	"Concat":                {1, -1, runConcat, attributes{"axis": 0}},
	"Constant":              {0, 0, runConstant, attributes{"value": weight{}}},
	"ConstantOfShape":       {1, 1, runConstantOfShape, attributes{"value": weight{}}},
	"Conv":                  {2, 3, runConv, sliding(attributes{"group": 1, "auto_pad": "NOTSET"})},
	"ConvTranspose":         {2, 3, runConvTranspose, sliding(attributes{"group": 1, "output_padding": []int(nil)})},
	"Cos":                   {1, 1, unary((*tensor.Tensor).Cos), nil},
	"CumSum":                {2, 2, runCumSum, attributes{"exclusive": only{0}, "reverse": 0}},
	"DepthToSpace":          {1, 1, runDepthToSpace, attributes{"blocksize": 0, "mode": "DCR"}},
	"DequantizeLinear":      {2, 3, runDequantize, attributes{"axis": 1}},
	"Div":                   {2, 2, runDiv, nil},
	"Dropout":               {1, 2, runIdentity, attributes{"seed": 0, "ratio": 0.5}},
	"Elu":                   {1, 1, func(c *call) operand { return valueOf(c.tensor(0).ELU(c.float("alpha"))) }, attributes{"alpha": 1.0}},
	"Equal":                 {2, 2, logical((*tensor.Tensor).Eq), nil},
	"Erf":                   {1, 1, unary((*tensor.Tensor).Erf), nil},
	"Exp":                   {1, 1, unary((*tensor.Tensor).Exp), nil},
	"Expand":                {2, 2, runExpand, nil},
	"Flatten":               {1, 1, runFlatten, attributes{"axis": 1}},
	"Floor":                 {1, 1, unary((*tensor.Tensor).Floor), nil},
	"Gather":                {2, 2, runGather, attributes{"axis": 0}},
	"GatherElements":        {2, 2, runGatherElements, attributes{"axis": 0}},
	"Gelu":                  {1, 1, runGelu, attributes{"approximate": "none"}},
	"Gemm":                  {2, 3, runGemm, attributes{"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 0}},
	"GlobalAveragePool":     {1, 1, runGlobalAveragePool, nil},
	"GRU":                   {3, 6, nil, recurrent(attributes{"linear_before_reset": 0})},
	"Greater":               {2, 2, logical((*tensor.Tensor).Greater), nil},
	"HardSigmoid":           {1, 1, runHardSigmoid, attributes{"alpha": 0.2, "beta": 0.5}},
	"HardSwish":             {1, 1, unary((*tensor.Tensor).HardSwish), nil},
	"Identity":              {1, 1, runIdentity, nil},
	"InstanceNormalization": {3, 3, runInstanceNorm, attributes{"epsilon": 1e-5}},
	"LayerNormalization":    {2, 3, runLayerNorm, attributes{"axis": -1, "epsilon": 1e-5, "stash_type": only{1}}},
	"LeakyRelu":             {1, 1, func(c *call) operand { return valueOf(c.tensor(0).LeakyReLU(c.float("alpha"))) }, attributes{"alpha": 0.01}},
	"Less":                  {2, 2, logical((*tensor.Tensor).Less), nil},
	"Log":                   {1, 1, unary((*tensor.Tensor).Log), nil},
	"LogSoftmax":            {1, 1, along((*tensor.Tensor).LogSoftmax), attributes{"axis": -1}},
	"LSTM":                  {3, 7, nil, recurrent(attributes{"input_forget": only{0}})},
	"MatMul":                {2, 2, arithmetic((*tensor.Tensor).MatMul, nil), nil},
	"Max":                   {1, -1, variadic((*tensor.Tensor).Maximum), nil},
	"MaxPool":               {1, 1, runMaxPool, sliding(attributes{"ceil_mode": only{0}, "storage_order": only{0}})},
	"Min":                   {1, -1, variadic((*tensor.Tensor).Minimum), nil},
	"Mod":                   {2, 2, runMod, attributes{"fmod": only{0}}},
	"Mul":                   {2, 2, arithmetic((*tensor.Tensor).Mul, func(a, b int) int { return a * b }), nil},
	"Neg":                   {1, 1, unary((*tensor.Tensor).Neg), nil},
	"Not":                   {1, 1, func(c *call) operand { return mask(c.tensor(0).Not()) }, nil},
	"OneHot":                {3, 3, runOneHot, attributes{"axis": -1}},
	"Or":                    {2, 2, logical((*tensor.Tensor).Or), nil},
	"Pad":                   {2, 4, runPad, attributes{"mode": only{"constant"}}},
	"Pow":                   {2, 2, arithmetic((*tensor.Tensor).Pow, nil), nil},
	"PRelu":                 {2, 2, runPRelu, nil},
	"QuantizeLinear":        {3, 3, runQuantize, attributes{"axis": 1, "saturate": only{1}}},
	"Range":                 {3, 3, runRange, nil},
	"Reciprocal":            {1, 1, func(c *call) operand { return valueOf(c.like(1, c.tensor(0)).Div(c.tensor(0))) }, nil},
	"ReduceMax":             {1, 2, reduce((*tensor.Tensor).Max), reducing()},
	"ReduceMean":            {1, 2, reduce((*tensor.Tensor).Mean), reducing()},
	"ReduceMin":             {1, 2, reduce((*tensor.Tensor).Min), reducing()},
	"ReduceSum":             {1, 2, reduce((*tensor.Tensor).Sum), reducing()},
	"Relu":                  {1, 1, unary((*tensor.Tensor).ReLU), nil},
	"Reshape":               {2, 2, runReshape, attributes{"allowzero": 0}},
	"Resize":                {1, 4, runResize, resizing},
	"RNN":                   {3, 6, nil, recurrent(attributes{"activations": []string(nil)})},
	"Round":                 {1, 1, unary((*tensor.Tensor).Round), nil},
	"ScatterND":             {3, 3, runScatterND, attributes{"reduction": only{"add"}}},
	"Shape":                 {1, 1, runShape, attributes{"start": 0, "end": math.MaxInt}},
	"Sigmoid":               {1, 1, unary((*tensor.Tensor).Sigmoid), nil},
	"Sign":                  {1, 1, unary((*tensor.Tensor).Sign), nil},
	"Sin":                   {1, 1, unary((*tensor.Tensor).Sin), nil},
	"Size":                  {1, 1, runSize, nil},
	"Slice":                 {3, 5, runSlice, nil},
	"Softmax":               {1, 1, along((*tensor.Tensor).Softmax), attributes{"axis": -1}},
	"Softplus":              {1, 1, unary((*tensor.Tensor).Softplus), nil},
	"Split":                 {1, 2, nil, attributes{"axis": 0, "num_outputs": 0}},
	"Sqrt":                  {1, 1, unary((*tensor.Tensor).Sqrt), nil},
	"Squeeze":               {1, 2, runSqueeze, nil},
	"Sub":                   {2, 2, arithmetic((*tensor.Tensor).Sub, func(a, b int) int { return a - b }), nil},
	"Tanh":                  {1, 1, unary((*tensor.Tensor).Tanh), nil},
	"TopK":                  {2, 2, nil, attributes{"axis": -1, "largest": 1, "sorted": only{1}}},
	"Transpose":             {1, 1, runTranspose, attributes{"perm": []int(nil)}},
	"Trilu":                 {1, 2, runTrilu, attributes{"upper": 1}},
	"Unsqueeze":             {2, 2, runUnsqueeze, nil},
	"Where":                 {3, 3, runWhere, nil},
}

// reducing are the attributes of reductions.
func reducing() attributes {
	return attributes{"keepdims": 1, "axes": []int(nil), "noop_with_empty_axes": only{0}}
}
