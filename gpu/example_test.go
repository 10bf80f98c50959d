package gpu_test

import (
	"context"
	"fmt"
	"time"

	"github.com/quernlab/quern/gpu"
)

func Example() {
	device, err := gpu.Open()
	if err != nil { // it says why there is no GPU
		device = gpu.Host()
	}
	sampler := gpu.Start(context.Background(), device, 100*time.Millisecond)
	// Here the work is done.
	sampler.Stop()
	fmt.Println(len(sampler.History().Samples) >= 2)
	// Output: true
}
