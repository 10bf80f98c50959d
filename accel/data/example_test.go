package data_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/data"
)

func Example() {
	train, test, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(train)
	fmt.Println(test)
	it := train.Batches(256, data.Shuffle(1))
	for it.Next() {
		b := it.Batch()
		fmt.Println(b.X.Shape(), b.Y.Shape())
	}
	fmt.Println(it.Err())
	// Output:
	// digits, train: 1437 examples of shape [1 8 8], 10 classes
	// digits, test: 360 examples of shape [1 8 8], 10 classes
	// [256 1 8 8] [256]
	// [256 1 8 8] [256]
	// [256 1 8 8] [256]
	// [256 1 8 8] [256]
	// [256 1 8 8] [256]
	// [157 1 8 8] [157]
	// <nil>
}

func ExampleFromSlices() {
	points := [][]float32{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	xor, err := data.FromSlices(points, []int{0, 1, 1, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(xor.Named("xor"))
	// Output: xor: 4 examples of shape [2], 2 classes
}

func ExampleDataset_OnDevice() {
	train, _, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	shifted, err := train.Map(data.RandomShift(1), data.Cutout(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	onDevice, err := shifted.OnDevice()
	if err != nil {
		fmt.Println(err)
		return
	}
	batches := onDevice.Batches(256, data.Shuffle(1))
	batches.Next()
	fmt.Println(onDevice)
	fmt.Println(batches.Batch().X.Shape())
	// Output:
	// digits, train: 1437 examples of shape [1 8 8], 10 classes, by RandomShift(1), Cutout(2)
	// [256 1 8 8]
}
