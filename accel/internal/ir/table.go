package ir

// Table is one value of every op, by name. Devices and tests go through it to
// see that nothing is missing.
func Table() []Op {
	return []Op{
		Abs{}, Add{}, AddScalar{}, Alias{}, ArgMax{}, Attention{}, AttentionGradient{}, AvgPool2D{}, AvgPool2DGradient{}, BatchNorm{}, BatchNormInputGradient{}, BatchNormSums{}, BatchStatistics{}, Bernoulli{}, Cast{},
		Concat{}, Conv2D{}, Conv2DInputGradient{}, Conv2DWeightGradient{}, Copy{}, CrossEntropy{}, CrossEntropyGradient{}, Div{},
		Equal{}, Exp{}, Expand{}, Fill{}, GELU{}, GELUGradient{}, Gather{},
		Greater{}, LayerNorm{}, LayerNormInputGradient{}, LayerNormWeightGradient{}, Linear{}, Log{}, LogSoftmax{}, MatMul{}, Max{}, MaxPool2D{}, MaxPool2DGradient{}, Maximum{},
		Mul{}, MulScalar{}, Neg{}, Pad{}, PowScalar{}, RMSNorm{}, RMSNormInputGradient{}, RMSNormWeightGradient{}, ReLU{}, ReLUGradient{},
		Reshape{}, ScatterAdd{}, Sigmoid{}, Slice{}, Softmax{}, Sqrt{},
		Square{}, Sub{}, Sum{}, Tanh{}, Transpose{}, Where{},
	}
}
