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
//
// # Linking
//
// The library binds NVML's functions when they are first called. A linker that
// was told to bind all functions at start (-z now, as conda-forge and
// hardened systems do) makes a program that cannot start without the driver:
// build with -ldflags '-extldflags=-Wl,-z,lazy'.
//
// # For who changes this package
//
// A call to an NVML function that the installed driver lacks does not fail, it
// ends the process. So each function has its row in the symbols of nvml.go,
// and no call is made before the row was looked up.
package gpu
