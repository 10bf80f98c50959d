package tensor

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// catch returns the error that f panics with.
func catch(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = r
		}
	}()
	f()
	return nil
}

func TestErrors(t *testing.T) {
	a, b := Zeros(2, 3), Zeros(4, 5)
	p := Parameter(Ones(2))
	used := p.Sum()
	used.Backward()
	released := Ones(1)
	released.Release()
	for _, row := range []struct {
		name string
		f    func()
		want string
	}{
		{"broadcast", func() { a.Add(b) }, "Add: [2 3] and [4 5]: the shapes do not broadcast"},
		{"matmul", func() { a.MatMul(b) }, "MatMul: [2 3] and [4 5]: the last dimension of the first"},
		{"linear", func() { Linear(a, b, nil) }, "Linear: [2 3] and [4 5]: "},
		{"reshape", func() { a.Reshape(4) }, "Reshape: [2 3]: cannot be reshaped to [4]"},
		{"reshape with -1", func() { a.Reshape(-1, 4) }, "Reshape: [2 3]: cannot be reshaped to [-1 4]"},
		{"axis", func() { a.Sum(2) }, "Sum: [2 3]: axis 2 is out of range, the tensor has 2 dimensions"},
		{"axis twice", func() { a.Sum(1, -1) }, "Sum: [2 3]: axis -1 is given twice"},
		{"axis of a mean twice", func() { a.Mean(0, 0) }, "Mean: [2 3]: axis 0 is given twice"},
		{"axis of a deviation twice", func() { a.Std(1, 0, 0) }, "Std: [2 3]: axis 0 is given twice"},
		{"axis of a norm twice", func() { a.Norm(-2, 0) }, "Norm: [2 3]: axis 0 is given twice"},
		{"axis of All twice", func() { a.All(0, 1, 0) }, "All: [2 3]: axis 0 is given twice"},
		{"slice", func() { a.Slice(0, 1, 3) }, "Slice: [2 3]: the range 1:3 is outside of axis 0"},
		{"permutation", func() { a.Permute(0, 0) }, "Permute: [2 3]: the permutation [0 0]"},
		{"empty maximum", func() { Zeros(2, 0).Max(1) }, "Max: [2 0]: an empty axis"},
		{"item", func() { a.Item() }, "Item: [2 3]: the tensor must have a single element"},
		{"new", func() { New(make([]float32, 5), 2, 3) }, "New: [2 3]: the shape has 6 elements, data has 5"},
		{"dtype", func() { FromInts([]int{1}, 1).Exp() }, "Exp: int32: the input must be float32 or float64"},
		{"integers", func() { FromInts([]int{1}, 1).Div(FromInts([]int{1}, 1)) }, "Div: int32 and int32: the input must be float32 or float64; convert with Cast(tensor.Float32), or with Cast(tensor.Float64), which has all integers up to 2⁵³"},
		{"mixed compare", func() { FromInts([]int{1}, 1).Eq(Ones(1)) }, "Eq: int32 and float32"},
		{"label", func() { CrossEntropy(a, FromInts([]int{0, 3}, 2)) }, "CrossEntropy: class 3 of row 1 is outside 0..2: the logits have 3 classes, and the first one is class 0"},
		{"gather", func() { a.IndexSelect(FromInts([]int{-1}, 1)) }, "IndexSelect: index -1 (element 0) is outside 0..1"},
		{"backward of many", func() { p.MulScalar(2).Backward() }, "Backward: [2]: the loss must be a scalar"},
		{"backward of none", func() { a.Sum().Backward() }, "Backward: the loss does not depend on any parameter"},
		{"backward twice", func() { used.Backward() }, "Backward: an earlier Backward has already used the graph"},
		{"released", func() { released.Add(a) }, "Add: the tensor was released"},
		{"nil", func() { a.Add(nil) }, "Add: the tensor is nil"},
		{"assign", func() { p.Assign(Ones(3)) }, "Assign: [2] and [3]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := catch(row.f)
			if err == nil || !strings.HasPrefix(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
	var shape *ShapeError
	if err := catch(func() { a.Add(b) }); !errors.As(err, &shape) || shape.Op != "Add" || !slices.Equal(shape.Shapes[1], []int{4, 5}) {
		t.Errorf("a ShapeError without its fields: %#v", err)
	}
}

// TestErrorsOfEveryOp calls each public op with invalid arguments. Each row must panic with a typed
// error that names the op.
func TestErrorsOfEveryOp(t *testing.T) {
	m, odd, cube, ints := Zeros(2, 3), Zeros(4, 5), Zeros(2, 3, 4), FromInts([]int{0, 1}, 2)
	image, kernel := Zeros(1, 2, 4, 4), Zeros(3, 2, 3, 3)
	q := Zeros(1, 2, 3, 4)
	float64s, longs := m.Cast(Float64), ints.Cast(Int64)
	index := FromInts([]int{0, 1}, 2, 1)
	huge := math.MaxInt
	calls := map[string][]func(){
		"Abs":             {func() { longs.Abs() }},
		"Add":             {func() { m.Add(odd) }, func() { m.Add(ints) }, func() { m.Add(float64s) }, func() { m.Add(nil) }},
		"AddScalar":       {func() { longs.AddScalar(1) }},
		"And":             {func() { m.And(odd) }, func() { ints.And(ints) }},
		"ArgMax":          {func() { m.ArgMax(2) }, func() { longs.ArgMax(0) }, func() { Zeros(0, 2).ArgMax(0) }},
		"Arange":          {func() { Arange(0, 1, 0, Float32) }, func() { Arange(0, 1, -1, Float32) }, func() { Arange(math.NaN(), 1, 1, Float32) }, func() { Arange(0, math.Inf(1), 1, Float32) }, func() { Arange(0, 1, 0.5, Int32) }, func() { Arange(0, 300, 1, Uint8) }, func() { Arange(-1, 3, 1, Uint8) }, func() { Arange(0, 2, 1, Bool) }, func() { Arange(0, 1e30, 1, Float32) }, func() { Arange(0, 2, 1, DType(99)) }},
		"ArgMin":          {func() { m.ArgMin(2) }, func() { longs.ArgMin(0) }, func() { Zeros(0, 2).ArgMin(0) }},
		"Assign":          {func() { m.Assign(odd) }, func() { m.Assign(float64s) }},
		"Attention":       {func() { Attention(m, m, m, false) }, func() { Attention(q, q.Slice(3, 0, 2), q, false) }, func() { Attention(q, q, q.Cast(Float64), true) }},
		"AvgPool2D":       {func() { AvgPool2D(m, [2]int{2, 2}, Window{}) }, func() { AvgPool2D(image, [2]int{5, 1}, Window{}) }, func() { AvgPool2D(image, [2]int{2, 2}, Window{Padding: [2]int{2, 2}}) }, func() { AvgPool2D(image, [2]int{2, 2}, Window{Stride: [2]int{-1, 1}}) }},
		"Backward":        {func() { m.Backward() }, func() { Parameter(Ones(2)).Backward() }, func() { Ones().Backward() }},
		"BatchNorm":       {func() { BatchNorm(Zeros(3), nil, nil, nil, nil, 0.1, 1e-5, true) }, func() { BatchNorm(m, Ones(2), nil, nil, nil, 0.1, 1e-5, true) }, func() { BatchNorm(Zeros(1, 3), nil, nil, nil, nil, 0.1, 1e-5, true) }, func() { BatchNorm(m, nil, nil, Zeros(3), nil, 0.1, 1e-5, true) }, func() { BatchNorm(ints.Reshape(2, 1), nil, nil, nil, nil, 0.1, 1e-5, true) }},
		"ConvTranspose2D": {func() { ConvTranspose2D(m, kernel, nil, Window{}, [2]int{}) }, func() { ConvTranspose2D(image, kernel, nil, Window{}, [2]int{}) }, func() { ConvTranspose2D(image, Zeros(2, 3, 3, 3), Zeros(2), Window{}, [2]int{}) }, func() { ConvTranspose2D(image, Zeros(2, 3, 3, 3), nil, Window{}, [2]int{1, 0}) }, func() { ConvTranspose2D(image, Zeros(2, 3, 3, 3), nil, Window{Padding: [2]int{9, 9}}, [2]int{}) }, func() { ConvTranspose2D(image, Zeros(2, 3, 3, 3).Cast(Float64), nil, Window{}, [2]int{}) }},
		"Cast":            {func() { m.Cast(DType(99)) }},
		"Clamp":           {func() { m.Clamp(1, 0) }, func() { m.Clamp(math.NaN(), 0) }},
		"Concat":          {func() { Concat(0) }, func() { Concat(1, m, odd) }, func() { Concat(5, m) }, func() { Concat(0, m, float64s) }, func() { Concat(0, m, cube) }},
		"Conv2D":          {func() { Conv2D(m, kernel, nil, Window{}) }, func() { Conv2D(image, Zeros(3, 1, 3, 3), nil, Window{}) }, func() { Conv2D(image, kernel, Zeros(2), Window{}) }, func() { Conv2D(image, kernel, nil, Window{Groups: 3}) }, func() { Conv2D(image, Zeros(3, 2, 5, 5), nil, Window{}) }, func() { Conv2D(image, kernel, nil, Window{Padding: [2]int{-1, 0}}) }},
		"Cos":             {func() { ints.Cos() }},
		"CrossEntropy":    {func() { CrossEntropy(m, Zeros(2)) }, func() { CrossEntropy(m, FromInts([]int{0}, 1)) }, func() { CrossEntropy(cube, ints) }, func() { CrossEntropy(Zeros(0, 3), FromInts(nil, 0)) }, func() { CrossEntropy(m, FromInts([]int{0, -1}, 2)) }},
		"MaskedCrossEntropy": {
			func() { MaskedCrossEntropy(m, Zeros(2), -100) }, func() { MaskedCrossEntropy(m, FromInts([]int{0}, 1), -100) }, func() { MaskedCrossEntropy(Zeros(0, 3), FromInts(nil, 0), -100) },
			func() { MaskedCrossEntropy(m, ints, math.MinInt32) }, func() { MaskedCrossEntropy(m, ints, 1<<31) },
		},
		"CumSum":           {func() { m.CumSum(-3) }, func() { longs.CumSum(0) }},
		"Size":             {func() { m.Size(2) }},
		"Div":              {func() { m.Div(odd) }},
		"Dropout":          {func() { m.Dropout(1, nil, true) }, func() { m.Dropout(math.NaN(), nil, true) }},
		"Einsum":           {func() { Einsum("ij->k", m) }, func() { Einsum("ij,jk", m) }, func() { Einsum("ijk", m) }, func() { Einsum("i", m) }, func() { Einsum("ij,jk", m, Zeros(4, 4)) }, func() { Einsum("ii", m) }, func() { Einsum("ij->ii", m) }, func() { Einsum("i1", m) }, func() { Einsum("......", m) }, func() { Einsum("ij,ij", m, ints) }, func() { Einsum("") }},
		"ELU":              {func() { ints.ELU(1) }},
		"Eq":               {func() { m.Eq(odd) }, func() { m.Eq(ints) }},
		"Exp":              {func() { ints.Exp() }},
		"Expand":           {func() { m.Expand(3, 3) }, func() { m.Expand(-1, 3) }, func() { Zeros(1, 1).Expand(huge, 2) }},
		"Flatten":          {func() { m.Flatten(3) }},
		"Floor":            {func() { ints.Floor() }},
		"FromBytes":        {func() { FromBytes([]uint8{1}, 2) }},
		"FromInts":         {func() { FromInts([]int{1}, 2) }, func() { FromInts([]int{1 << 40}, 1) }},
		"Full":             {func() { Zeros(-1) }, func() { Zeros(1<<40, 1<<40) }, func() { Zeros(huge, huge) }, func() { Ones(3, huge) }},
		"GELU":             {func() { ints.GELU() }},
		"GELUTanh":         {func() { ints.GELUTanh() }},
		"IndexSelect":      {func() { Ones().IndexSelect(ints) }, func() { m.IndexSelect(m) }, func() { m.IndexSelect(FromInts([]int{2}, 1)) }, func() { m.IndexSelect(FromInts([]int{-1}, 1)) }},
		"GlobalAvgPool2D":  {func() { GlobalAvgPool2D(m) }},
		"Greater":          {func() { m.Greater(odd) }, func() { m.Greater(float64s) }},
		"Item":             {func() { m.Item() }},
		"LayerNorm":        {func() { LayerNorm(m, Ones(2), nil, 1, 1e-5) }, func() { LayerNorm(m, nil, nil, 3, 1e-5) }, func() { LayerNorm(m, nil, nil, 0, 1e-5) }},
		"LeakyReLU":        {func() { ints.LeakyReLU(0.1) }},
		"Linear":           {func() { Linear(m, odd, nil) }, func() { Linear(m, Zeros(4, 3), Zeros(3)) }, func() { Linear(Ones(), m, nil) }, func() { Linear(m, Zeros(4, 3).Cast(Float64), nil) }},
		"Log":              {func() { ints.Log() }},
		"LogSoftmax":       {func() { m.LogSoftmax(2) }, func() { Ones().LogSoftmax(0) }},
		"LogSumExp":        {func() { m.LogSumExp(2) }, func() { Zeros(2, 0).LogSumExp(1) }},
		"MSE":              {func() { MSE(m, odd) }, func() { MSE(m, Zeros(1, 3)) }},
		"MatMul":           {func() { m.MatMul(odd) }, func() { Ones(3).MatMul(m) }, func() { Zeros(2, 2, 3).MatMul(Zeros(3, 3, 2)) }, func() { m.MatMul(float64s.T()) }, func() { Zeros(1, 0).Expand(1<<40, 0).MatMul(Zeros(0, 1).Expand(0, 1<<40)) }},
		"Max":              {func() { m.Max(2) }, func() { Zeros(2, 0).Max(1) }},
		"MaxPool2D":        {func() { MaxPool2D(cube, [2]int{2, 2}, Window{}) }, func() { MaxPool2D(image, [2]int{0, 2}, Window{}) }, func() { MaxPool2D(image, [2]int{2, 2}, Window{Dilation: [2]int{4, 1}}) }},
		"Maximum":          {func() { m.Maximum(odd) }},
		"Mean":             {func() { m.Mean(7) }},
		"Min":              {func() { m.Min(2) }},
		"Minimum":          {func() { m.Minimum(odd) }},
		"Mul":              {func() { m.Mul(odd) }},
		"MulScalar":        {func() { longs.MulScalar(2) }},
		"Neg":              {func() { longs.Neg() }},
		"New":              {func() { New([]float32{1}, 2) }, func() { New(nil, -1) }},
		"Norm":             {func() { m.Norm(2) }, func() { ints.Norm() }},
		"Not":              {func() { ints.Not() }},
		"OneHot":           {func() { m.OneHot(3) }, func() { ints.OneHot(1) }, func() { ints.OneHot(-1) }},
		"Or":               {func() { m.Or(odd) }},
		"Pad":              {func() { m.Pad(2, 1, 1) }, func() { m.Pad(0, -1, 0) }},
		"Pow":              {func() { m.Pow(odd) }},
		"PowScalar":        {func() { ints.PowScalar(2) }},
		"RMSNorm":          {func() { RMSNorm(m, Ones(2), 1, 1e-5) }, func() { RMSNorm(m, nil, 4, 1e-5) }},
		"Randn":            {func() { Randn(nil, -1) }, func() { Randn(nil, huge, 2) }},
		"ReLU":             {func() { ints.ReLU() }},
		"Reshape":          {func() { m.Reshape(5) }, func() { m.Reshape(-1, -1) }, func() { m.Reshape(-2, 3) }, func() { m.Reshape(-1, 4) }, func() { Zeros(0, 2).Reshape(-1, 0) }, func() { m.Reshape(1<<33, 1<<33) }},
		"IndexAdd":         {func() { m.IndexAdd(FromInts([]int{0}, 1), 3) }, func() { m.IndexAdd(ints, 1) }, func() { Ones().IndexAdd(ints, 2) }, func() { m.IndexAdd(ints, -1) }},
		"SetData":          {func() { m.SetData(nil) }},
		"SetInts":          {func() { ints.SetInts([]int{1}) }},
		"SetRequiresGrad":  {func() { Parameter(FromInts([]int{1}, 1)) }, func() { Parameter(Parameter(Ones(1)).MulScalar(2)) }},
		"SiLU":             {func() { ints.SiLU() }},
		"Sigmoid":          {func() { ints.Sigmoid() }},
		"Sign":             {func() { ints.Sign() }},
		"Sin":              {func() { ints.Sin() }},
		"Slice":            {func() { m.Slice(0, 1, 3) }, func() { m.Slice(2, 0, 1) }, func() { m.Slice(0, 2, 1) }, func() { m.Slice(0, -1, 1) }},
		"Softmax":          {func() { m.Softmax(2) }, func() { ints.Softmax(0) }},
		"Sort":             {func() { m.Sort(2, false) }, func() { Ones().Sort(0, true) }, func() { ints.Cast(Int64).Sort(0, true) }},
		"TopK":             {func() { m.TopK(4, 1, true) }, func() { m.TopK(-1, 1, true) }, func() { m.TopK(1, 2, true) }},
		"Sqrt":             {func() { ints.Sqrt() }},
		"Square":           {func() { longs.Square() }},
		"Stack":            {func() { Stack(0) }, func() { Stack(1, m, odd) }, func() { Stack(3, m) }, func() { Stack(-4, m) }, func() { Stack(0, m, float64s) }},
		"Std":              {func() { m.Std(1, 2) }},
		"Sub":              {func() { m.Sub(odd) }},
		"Sum":              {func() { m.Sum(2) }, func() { longs.Sum() }},
		"T":                {func() { Ones(2).T() }, func() { Ones(2, 3, 4).T() }},
		"MT":               {func() { Ones(2).MT() }},
		"Tanh":             {func() { ints.Tanh() }},
		"Permute":          {func() { m.Permute(0) }, func() { m.Permute(0, 0) }, func() { m.Permute(0, 2) }},
		"Uniform":          {func() { Uniform(nil, 0, 1, -1) }},
		"Var":              {func() { m.Var(0, 2) }},
		"Where":            {func() { Where(m, m, odd) }, func() { Where(ints, m, m) }, func() { Where(m, m, float64s) }},
		"All":              {func() { m.All(2) }},
		"Any":              {func() { m.Any(0, -3) }},
		"BinCount":         {func() { m.BinCount(3) }, func() { ints.BinCount(1) }, func() { ints.BinCount(-1) }, func() { ints.BinCount(huge) }},
		"CDist":            {func() { CDist(m, odd) }, func() { CDist(Ones(3), m) }, func() { CDist(m, float64s) }, func() { CDist(Zeros(3, 1, 3), Zeros(4, 1, 3)) }},
		"Chunk":            {func() { m.Chunk(0, 1) }, func() { m.Chunk(-huge, 1) }, func() { m.Chunk(2, 2) }},
		"CosineSimilarity": {func() { CosineSimilarity(m, odd, 0) }, func() { CosineSimilarity(m, m, 2) }, func() { CosineSimilarity(ints, ints, 0) }, func() { CosineSimilarity(m, float64s, 0) }},
		"CumProd":          {func() { m.CumProd(2) }, func() { ints.CumProd(0) }},
		"Erf":              {func() { ints.Erf() }},
		"Expm1":            {func() { ints.Expm1() }},
		"Eye":              {func() { Eye(-1) }, func() { Eye(huge) }},
		"Flip":             {func() { m.Flip(2) }, func() { m.Flip(0, -2) }},
		"Gather":           {func() { m.Gather(0, m) }, func() { m.Gather(2, index) }, func() { m.Gather(0, ints) }, func() { m.Gather(1, FromInts([]int{3}, 1, 1)) }, func() { m.Gather(1, FromInts([]int{-1}, 1, 1)) }, func() { m.Gather(1, Zeros(3, 1).Cast(Int32)) }, func() { Ones().Gather(0, FromInts([]int{0})) }, func() { m.Gather(-huge, index) }},
		"Linspace":         {func() { Linspace(0, 1, -1, Float32) }, func() { Linspace(0, math.Inf(1), 3, Float32) }, func() { Linspace(math.NaN(), 1, 3, Float32) }, func() { Linspace(0, 1, 3, Int32) }, func() { Linspace(0, 1, huge, Float32) }, func() { Linspace(0, 1, 3, DType(99)) }},
		"Log1p":            {func() { ints.Log1p() }},
		"MaskedFill":       {func() { m.MaskedFill(odd, 0) }, func() { m.MaskedFill(ints, 0) }, func() { ints.MaskedFill(Ones(2), 0) }},
		"Median":           {func() { m.Median(2) }, func() { Zeros(2, 0).Median(1) }, func() { Ones().Median(0) }, func() { ints.Cast(Int64).Median(0) }},
		"Multinomial":      {func() { Multinomial(nil, cube, 1, true) }, func() { Multinomial(nil, ints, 1, true) }, func() { Multinomial(nil, Ones(3), 0, true) }, func() { Multinomial(nil, Ones(3), 4, false) }, func() { Multinomial(nil, m, 1, true) }, func() { Multinomial(nil, New([]float32{1, 0}, 2), 2, false) }, func() { Multinomial(nil, New([]float32{1, -1}, 2), 1, true) }, func() { Multinomial(nil, New([]float32{1, float32(math.NaN())}, 2), 1, true) }, func() { Multinomial(nil, New([]float32{1, float32(math.Inf(1))}, 2), 1, false) }, func() { Multinomial(nil, Zeros(0), 1, true) }, func() { Multinomial(nil, Ones(2, 3), huge, true) }},
		"Normalize":        {func() { m.Normalize(0.5, 1) }, func() { m.Normalize(math.NaN(), 1) }, func() { m.Normalize(2, 2) }, func() { ints.Normalize(2, 0) }, func() { Zeros(2, 0).Normalize(math.Inf(1), 1) }},
		"Prod":             {func() { m.Prod(2) }, func() { m.Prod(0, 0) }, func() { ints.Prod() }},
		"Quantile":         {func() { m.Quantile(1.5, 0) }, func() { m.Quantile(-0.1, 0) }, func() { m.Quantile(math.NaN(), 0) }, func() { m.Quantile(0.5, 2) }, func() { ints.Quantile(0.5, 0) }, func() { Zeros(0, 2).Quantile(0.5, 0) }},
		"RandInt":          {func() { RandInt(nil, 1, 1, 2) }, func() { RandInt(nil, 0, huge, 2) }, func() { RandInt(nil, -huge, huge, 2) }, func() { RandInt(nil, 0, 2, -1) }, func() { RandInt(nil, 0, 2, huge, huge) }},
		"RandPerm":         {func() { RandPerm(nil, -1) }, func() { RandPerm(nil, huge) }},
		"RepeatInterleave": {func() { m.RepeatInterleave(-1, 0) }, func() { m.RepeatInterleave(1, 2) }, func() { m.RepeatInterleave(huge, 0) }},
		"Roll":             {func() { m.Roll(1, 2) }},
		"Round":            {func() { ints.Round() }},
		"Scatter":          {func() { m.Scatter(0, m, m) }, func() { m.Scatter(1, index, Zeros(1, 3)) }, func() { m.Scatter(1, index, Zeros(2)) }, func() { m.Scatter(1, index, float64s) }, func() { ints.Scatter(0, ints, ints) }, func() { m.Scatter(2, index, m) }, func() { m.Scatter(1, FromInts([]int{3}, 1, 1), m) }},
		"ScatterAdd":       {func() { m.ScatterAdd(0, m, m) }, func() { m.ScatterAdd(1, index, Zeros(1, 3)) }, func() { m.ScatterAdd(1, index, Zeros(2)) }, func() { m.ScatterAdd(1, index, float64s) }, func() { ints.ScatterAdd(0, ints, ints) }, func() { m.ScatterAdd(2, index, m) }, func() { m.ScatterAdd(0, FromInts([]int{2}, 1, 1), m) }},
		"Softplus":         {func() { ints.Softplus() }},
		"Split":            {func() { m.Split(0, 1) }, func() { m.Split(-1, 1) }, func() { m.Split(1, 2) }},
		"Squeeze":          {func() { m.Squeeze(2) }, func() { m.Squeeze(0, 0) }},
		"Tile":             {func() { m.Tile(-1, 2) }, func() { m.Tile(huge, huge) }, func() { m.Tile(1, huge) }},
		"Unsqueeze":        {func() { m.Unsqueeze(3) }, func() { m.Unsqueeze(-4) }},
	}
	for _, row := range opRows {
		op, _, _ := strings.Cut(row.name, " ")
		calls[op] = append(calls[op], row.invalid...)
	}
	for op, rows := range calls {
		for i, f := range rows {
			err := catch(f)
			if !Parameter(Ones(1)).Neg().RequiresGrad() {
				t.Fatalf("%s %d: after the error %v, ops record no gradients", op, i, err)
			}
			if err == nil || !strings.HasPrefix(err.Error(), op+": ") || len(err.Error()) < len(op)+15 {
				t.Errorf("%s %d: %v", op, i, err)
				continue
			}
			var (
				shape *ShapeError
				dtype *DTypeError
				index *IndexError
				state *StateError
			)
			if !errors.As(err, &shape) && !errors.As(err, &dtype) && !errors.As(err, &index) && !errors.As(err, &state) {
				t.Errorf("%s %d: an error of type %T: %v", op, i, err, err)
			}
		}
	}
	// No uncomputable op is left in the list.
	if got := Ones(2).Add(Ones(2)).Data(); !slices.Equal(got, []float32{2, 2}) {
		t.Errorf("then 1 + 1 is %v", got)
	}
}

// TestTooLargeForAnyMachine asks for tensors that are valid but do not fit into memory: a typed
// error.
func TestTooLargeForAnyMachine(t *testing.T) {
	big := 1 << 20 // squared 2⁴⁰ elements, four terabytes
	long := Zeros(big, 1)
	for name, f := range map[string]func(){
		"Zeros":   func() { Zeros(big, big) },
		"Randn":   func() { Randn(nil, big, big) },
		"Uniform": func() { Uniform(nil, 0, 1, big, big) },
		"MatMul":  func() { long.MatMul(long.T()).Data() },
		"Add":     func() { long.Add(long.T()).Data() },
		"sum":     func() { long.MatMul(long.T()).Exp().Sum().Data() }, // only temporaries
		"Concat":  func() { y := long.Expand(big, big); Concat(0, y, y).Data() },
		"OneHot":  func() { FromInts(make([]int, big), big).OneHot(big).Data() },
	} {
		err := catch(f)
		var memory *OutOfMemoryError
		if !errors.As(err, &memory) || memory.Need < big*big || !strings.Contains(err.Error(), "try a smaller batch") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := long.Sum().Item(); got != 0 {
		t.Errorf("then the sum is %v", got)
	}
}

// TestFailedRunKeepsParameters uses a label whose value, out of range, is known only when the list
// runs.
func TestFailedRunKeepsParameters(t *testing.T) {
	n := newMLP(NewGenerator(1), 4, 3, 2)
	n.train()
	before := n.params[0].Data()
	good := n.y
	n.y = FromInts([]int{0, 1, 2, 0}, 4).Cast(Float32).MulScalar(1).Cast(Int32)
	var index *IndexError
	if err := catch(func() { n.train() }); !errors.As(err, &index) {
		t.Fatalf("got %v, want an IndexError", err)
	}
	if got := n.params[0].Data(); !slices.Equal(got, before) {
		t.Errorf("the parameters changed: %v, were %v", got, before)
	}
	n.y = good
	for _, p := range n.params {
		p.ZeroGrad()
	}
	n.train()
	if slices.Equal(n.params[0].Data(), before) {
		t.Error("training does not go on")
	}
}
