package data_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/data"
)

// colors returns a data set of one image of 4×4 pixels.
func colors() *data.Dataset {
	set, err := data.FromSlices([][]float32{make([]float32, 3*4*4)}, []int{0})
	if err == nil {
		set, err = set.Reshape(3, 4, 4)
	}
	if err != nil {
		panic(err)
	}
	return set
}

func ExampleResize() {
	small, err := colors().Map(data.Resize(2, 2), data.Grayscale())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(small.Shape())
	// Output: [1 2 2]
}

// The usual transforms of images for a model that takes 224×224 pixels.
func ExampleCenterCrop() {
	set, err := colors().Map(data.Resize(256, 256), data.CenterCrop(224, 224))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Shape())
	// Output: [3 224 224]
}

func ExampleRandomAffine() {
	set, err := colors().Map(
		data.RandomAffine(data.Affine{Degrees: 15, Translation: [2]float64{0.1, 0.1}, Scale: [2]float64{0.9, 1.1}}),
		data.RandomVerticalFlip(), data.GaussianBlur(3, 0.1, 2))
	fmt.Println(set.Shape(), err)
	// Output: [3 4 4] <nil>
}
