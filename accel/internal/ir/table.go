package ir

// Table returns one value of every op, by name. Devices and tests use it to check that
// nothing is missing.
func Table() []Op {
	return []Op{
		Abs{}, Add{}, AddScalar{}, Alias{}, And{}, ArgMax{}, AtLeast{}, AtMost{},
		Attention{}, AttentionGradient{}, AvgPool2D{}, AvgPool2DGradient{},
		BatchNorm{}, BatchNormInputGradient{}, BatchNormSums{}, BatchStatistics{},
		Bernoulli{}, Int8Linear{}, Cast{}, Recompute{}, Concat{}, Conv2D{}, Conv2DInputGradient{},
		Conv2DWeightGradient{}, Copy{}, Cos{}, CrossEntropy{},
		CrossEntropyGradient{}, CumSum{}, Div{}, ELU{}, Eq{}, Exp{}, Expand{},
		Fill{}, Finite{}, Floor{}, GELU{}, GELUGradient{}, IndexSelect{}, Greater{}, Index{}, LayerNorm{},
		LayerNormInputGradient{}, LayerNormWeightGradient{}, LeakyReLU{}, Linear{},
		Log{}, LogSoftmax{}, MatMul{}, Max{}, MaxPool2D{}, MaxPool2DGradient{},
		Maximum{}, Minimum{}, Mul{}, MulScalar{}, Neg{}, Not{}, OneHot{}, Or{},
		Pad{}, Pow{}, PowScalar{}, Quantized{}, RMSNorm{}, RMSNormInputGradient{},
		RMSNormWeightGradient{}, ReLU{}, ReLUGradient{}, Reshape{}, Round8{To: Float8E4M3}, IndexAdd{},
		SiLU{}, Sigmoid{}, Sin{}, Slice{}, Softmax{}, Sqrt{}, Square{}, Sub{},
		Sum{}, Tanh{}, Permute{}, Where{},
	}
}
