package plots_test

import (
	"fmt"

	"github.com/quernlab/quern/plots"
)

func ExampleConfusion() {
	counts := [][]int{
		{45, 5}, // cats: 45 called cat, 5 called dog
		{2, 48},
	}
	fmt.Println(plots.Confusion("test set", []string{"cat", "dog"}, counts))
	// Output: test set: accuracy 93.0 %, most often wrong: cat as dog
}
