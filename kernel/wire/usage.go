package wire

// Usage is the content of usage_reply: what the processes of the kernel use of
// the machine. The message is ipykernel's; JupyterLab's usage panel reads it.
type Usage struct {
	Status string `json:"status"`
	Host   string `json:"hostname"`
	PID    int    `json:"pid"`
	// KernelCPU is in percent of one core, since the request before.
	KernelCPU    float64      `json:"kernel_cpu"`
	KernelMemory uint64       `json:"kernel_memory"` // bytes
	HostCPU      float64      `json:"host_cpu_percent"`
	Cores        int          `json:"cpu_count"`
	HostMemory   VirtualUsage `json:"host_virtual_memory"`
	// GPUs are those of the machine. The field is ours: front ends pass over what
	// they do not know. It is not there without a GPU.
	GPUs []GPUUsage `json:"gpus,omitempty"`
}

// GPUUsage is what all processes use of a GPU.
type GPUUsage struct {
	Index       int     `json:"index"`
	Name        string  `json:"name"`
	Percent     float64 `json:"percent"`
	MemoryUsed  uint64  `json:"memory_used"`  // bytes
	MemoryTotal uint64  `json:"memory_total"` // bytes
}

// VirtualUsage is the memory of the machine, in bytes.
type VirtualUsage struct {
	Total     uint64  `json:"total"`
	Available uint64  `json:"available"`
	Used      uint64  `json:"used"`
	Free      uint64  `json:"free"`
	Percent   float64 `json:"percent"`
}

// NewUsage fills in the status of usage.
func NewUsage(usage Usage) Usage {
	usage.Status = statusOK
	return usage
}
