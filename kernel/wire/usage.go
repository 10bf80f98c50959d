package wire

// Usage is the content of usage_reply: the resource usage of the kernel's processes. The
// message was introduced by ipykernel and is shown in JupyterLab's usage panel.
type Usage struct {
	Status string `json:"status"`
	Host   string `json:"hostname"`
	PID    int    `json:"pid"`
	// KernelCPU is the CPU usage in percent of one core since the previous request.
	KernelCPU    float64      `json:"kernel_cpu"`
	KernelMemory uint64       `json:"kernel_memory"` // bytes
	HostCPU      float64      `json:"host_cpu_percent"`
	Cores        int          `json:"cpu_count"`
	HostMemory   VirtualUsage `json:"host_virtual_memory"`
	// GPUs are the GPUs of the machine. The field is an extension, which front ends
	// ignore. It is omitted if there is no GPU.
	GPUs []GPUUsage `json:"gpus,omitempty"`
}

// GPUUsage is the usage of a GPU by all processes.
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

// NewUsage sets the status of usage.
func NewUsage(usage Usage) Usage {
	usage.Status = statusOK
	return usage
}
