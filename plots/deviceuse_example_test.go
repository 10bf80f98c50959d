package plots_test

import (
	"fmt"

	"github.com/quernlab/quern/plots"
)

func ExampleDeviceUse() {
	fmt.Println(plots.DeviceUse(plots.DeviceData{
		Name:        "NVIDIA H200",
		Seconds:     []float64{0, 1, 2},
		Busy:        []float64{80, 90, 90},
		Memory:      []float64{8 << 30, 9 << 30, 9 << 30},
		MemoryTotal: 140 << 30,
	}))
	// Output: NVIDIA H200: all processes: mean utilization 85 %, peak memory 9.00 GiB
}
