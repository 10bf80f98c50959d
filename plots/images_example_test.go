package plots_test

import (
	"fmt"
	"image"

	"github.com/quernlab/quern/plots"
)

func ExampleImages() {
	digit := image.NewGray(image.Rect(0, 0, 28, 28))
	fmt.Println(plots.Images([]image.Image{digit, digit}, "a zero", "another"))
	// Output: 2 images
}

func ExamplePredictions() {
	digit := image.NewGray(image.Rect(0, 0, 28, 28))
	f := plots.Predictions("digits", []image.Image{digit, digit}, []int{3, 8}, []int{3, 3}, nil)
	fmt.Println(f)
	// Output: digits: 1 of 2 right; in red: actual → guess
}
