package progress_test

import (
	"fmt"

	"github.com/quernlab/quern/widgets/progress"
)

func ExampleEach() {
	sum := 0
	for n := range progress.Each([]int{1, 2, 3}) {
		sum += n
	}
	fmt.Println(sum)
}
