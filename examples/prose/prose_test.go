package prose_test

import (
	"fmt"

	"example.com/prose"
)

func ExampleFrequencies() {
	for _, f := range prose.Frequencies("The cat saw the dog. The dog ran.")[:2] {
		fmt.Println(f.Value, f.N)
	}
	// Output:
	// the 3
	// dog 2
}
