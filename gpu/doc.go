// Package gpu measures how a GPU or the host's CPU is used over time.
//
// [Open] opens the GPU and [Host] the machine; [Start] samples a [Device] in the background.
// The resulting [History] displays itself as a figure:
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
// [Links] says how the GPUs of the machine are connected: by NVLink, or what is between them on PCI Express.
//
// GPUs are queried through NVML, the library that comes with the NVIDIA driver and that
// nvidia-smi uses. It is loaded when a device is opened, and only in builds for Linux with cgo;
// other builds return [ErrNoGPU]. Busy is the time in which any kernel ran on the GPU; it does
// not say how well the kernel used it.
package gpu
