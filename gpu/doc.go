// Package gpu measures how a GPU, or the processor, is used over time.
//
// [Open] finds the GPU and [Host] the machine; [Start] samples a [Device] in
// the background, and the [History] that results draws itself:
//
//	device, err := gpu.Open()
//	if errors.Is(err, gpu.ErrNoGPU) {
//		device = gpu.Host()
//	}
//	sampler := gpu.Start(ctx, device, time.Second)
//	...
//	sampler.Stop()
//	sampler.History()
//
// GPUs are asked through NVML, the library that comes with the NVIDIA driver
// and that nvidia-smi uses. It is opened when a device is opened, never
// before, and only in builds for Linux with cgo; all others answer
// [ErrNoGPU]. Busy counts the time in which any kernel ran on the GPU. It does
// not say how well the kernel used it.
package gpu
