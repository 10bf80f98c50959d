package main

// Settings of the process of PyTorch in which another program computes instead.
const (
	onnxruntime = "onnxruntime"
	pyarrow     = "pyarrow"
	tokenizers  = "tokenizers"
)

var programs = []string{onnxruntime, pyarrow, tokenizers}
