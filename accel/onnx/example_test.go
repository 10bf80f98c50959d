package onnx_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
)

func ExampleExport() {
	accel.Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
	images := tensor.Zeros(1, 8, 8) // a batch of one; the exported model accepts any batch size

	folder, err := os.MkdirTemp("", "onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	if err := onnx.Export(filepath.Join(folder, "digits.onnx"), model, images); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("onnxruntime reads digits.onnx")
	// Output: onnxruntime reads digits.onnx
}

// Build returns the model that Export writes. It displays its inputs, outputs, weights and nodes.
func ExampleBuild() {
	accel.Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
	graph, err := onnx.Build(model, tensor.Zeros(1, 8, 8))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(graph)
	// Output:
	// quern: opset 20, 4 nodes, 5 weights of 19256 bytes
	// input  input float[batch 8 8]
	// output output float[batch 10]
	// weight 1.weight float[64 64]
	// weight 1.bias float[64]
	// weight 3.weight float[10 64]
	// weight 3.bias float[10]
	// /0/Reshape_output = Reshape(input, /ints/-1,64)
	// /1/Gemm_output = Gemm(/0/Reshape_output, 1.weight, 1.bias) transB=1
	// /2/Relu_output = Relu(/1/Gemm_output)
	// output = Gemm(/2/Relu_output, 3.weight, 3.bias) transB=1
}

// SaveTriton adds a model to a folder from which Triton Inference Server serves models.
func ExampleModel_SaveTriton() {
	accel.Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
	graph, err := onnx.Build(model, tensor.Zeros(1, 8, 8))
	if err != nil {
		fmt.Println(err)
		return
	}
	repository, err := os.MkdirTemp("", "models")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(repository)
	version, err := graph.SaveTriton(repository, "digits", onnx.MaxBatchSize(64), onnx.DynamicBatching(time.Millisecond))
	if err != nil {
		fmt.Println(err)
		return
	}
	config, err := os.ReadFile(filepath.Join(repository, "digits", "config.pbtxt"))
	fmt.Printf("version %d\n%s%v\n", version, config, err)
	// Output:
	// version 1
	// name: "digits"
	// backend: "onnxruntime"
	// max_batch_size: 64
	// input [
	//   {
	//     name: "input"
	//     data_type: TYPE_FP32
	//     dims: [ 8, 8 ]
	//   }
	// ]
	// output [
	//   {
	//     name: "output"
	//     data_type: TYPE_FP32
	//     dims: [ 10 ]
	//   }
	// ]
	// dynamic_batching {
	//   max_queue_delay_microseconds: 1000
	// }
	// <nil>
}
