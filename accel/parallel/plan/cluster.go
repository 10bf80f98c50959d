package plan

// Element types of matrix multiplications, the keys of [GPU].FLOPs.
const (
	Float32  = "float32"
	BFloat16 = "bfloat16"
	Float8   = "float8"
)

// GPU is a kind of GPU, or another device, by its specification.
type GPU struct {
	Name      string             // for the report
	FLOPs     map[string]float64 // peak floating-point operations per second, by element type, without sparsity
	Bandwidth float64            // of its memory, in bytes per second
	Memory    float64            // bytes
}

// Link connects GPUs.
type Link struct {
	Bandwidth float64 // bytes per second and GPU, in one direction
	Latency   float64 // seconds that a message takes apart from its bytes
	// Copy is the seconds that a rank needs for each byte that it exchanges, to copy it out of its tensors and back; 0 if that is
	// negligible, as on GPUs.
	Copy float64
}

// Efficiency is the share of the specified performance that programs reach. It cannot be read from a specification: it
// depends on kernels, clocks, cooling and software. [prof.Report.Ceilings] measures the first and the third on a machine at hand.
type Efficiency struct {
	Matmul    float64 // of the peak FLOPs, in large matrix multiplications
	Attention float64 // of the peak FLOPs in 16-bit floats, in attention
	Memory    float64 // of the memory's bandwidth
	Network   float64 // of the links' bandwidth
}

// Cluster is a number of equal nodes.
type Cluster struct {
	GPU        GPU        // of all nodes
	PerNode    int        // GPUs of a node
	Nodes      int        // at most
	Within     Link       // between the GPUs of a node
	Between    Link       // between nodes, for each GPU
	Efficiency Efficiency // of GPUs and links
	Price      float64    // of a GPU for an hour, in any currency; 0 if unknown
	// Reserved is memory of each GPU that no tensor can use, in bytes: the CUDA context, libraries, and fragmentation.
	Reserved float64
	// Cores is the number of ranks that compute at the same time, if ranks share the cores of a machine; 0 if
	// each has its own device.
	Cores int
}

// GPUs returns the number of GPUs.
func (c Cluster) GPUs() int { return c.PerNode * c.Nodes }

// The latencies of the links are those of NCCL's own model for large messages: 3.4 µs and 14 µs
// (github.com/NVIDIA/nccl, src/graph/tuning.cc).
const (
	nvlinkLatency  = 3.4e-6
	networkLatency = 14e-6
)

// The calibrated efficiencies of docs/planning.md. Memory and links reach about 80 % in public benchmarks (BabelStream,
// nccl-tests); the others are fitted to one published run for each GPU.
const (
	memoryEfficiency  = 0.8
	networkEfficiency = 0.8
	reserved          = 4e9 // of 80 GB; Llama 3 and Megatron-LM leave a similar margin
)

// DGXA100 returns a cluster of DGX A100 nodes: 8 A100 SXM with 80 GB, NVLink 3 with 300 GB/s in each direction, and HDR
// InfiniBand with 200 Gbit/s for each GPU.
//
// Specifications: NVIDIA A100 datasheet (312 TFLOP/s in bfloat16, 2039 GB/s) and DGX A100 datasheet.
func DGXA100(nodes int) Cluster {
	return Cluster{
		GPU: GPU{
			Name: "A100 80GB", Bandwidth: 2.039e12, Memory: 80e9,
			FLOPs: map[string]float64{BFloat16: 312e12, Float32: 19.5e12},
		},
		PerNode: 8, Nodes: nodes, Within: Link{Bandwidth: 300e9, Latency: nvlinkLatency}, Between: Link{Bandwidth: 25e9, Latency: networkLatency},
		Efficiency: Efficiency{Matmul: a100Matmul, Attention: a100Matmul, Memory: memoryEfficiency, Network: networkEfficiency},
		Reserved:   reserved,
	}
}

// DGXH100 returns a cluster of DGX H100 nodes: 8 H100 SXM with 80 GB, NVLink 4 with 450 GB/s in each direction, and a network with
// 400 Gbit/s for each GPU.
//
// Specifications: NVIDIA H100 datasheet (989 TFLOP/s in bfloat16 without sparsity, 3.35 TB/s) and DGX H100 datasheet.
func DGXH100(nodes int) Cluster {
	return Cluster{
		GPU: GPU{
			Name: "H100 SXM", Bandwidth: 3.35e12, Memory: 80e9,
			FLOPs: map[string]float64{Float8: 1979e12, BFloat16: 989.5e12, Float32: 67e12},
		},
		PerNode: 8, Nodes: nodes, Within: Link{Bandwidth: 450e9, Latency: nvlinkLatency}, Between: Link{Bandwidth: 50e9, Latency: networkLatency},
		Efficiency: Efficiency{Matmul: h100Matmul, Attention: h100Matmul, Memory: memoryEfficiency, Network: networkEfficiency},
		Reserved:   reserved,
	}
}

// DGXH200 returns a cluster of DGX H200 nodes, which are [DGXH100] with 141 GB of memory at 4.8 TB/s (NVIDIA H200 datasheet).
// Its efficiencies are those of the H100.
func DGXH200(nodes int) Cluster {
	c := DGXH100(nodes)
	c.GPU.Name, c.GPU.Bandwidth, c.GPU.Memory = "H200 SXM", 4.8e12, 141e9
	return c
}

// DGXB200 returns a cluster of DGX B200 nodes: 8 B200 with 180 GB, NVLink 5 with 900 GB/s in each direction, and a network with
// 400 Gbit/s for each GPU. Its efficiencies are those of the H100, because no run on it is calibrated.
//
// Specifications: NVIDIA DGX B200 datasheet (72 PFLOP/s in FP8 with sparsity, 1440 GB and 64 TB/s in all).
func DGXB200(nodes int) Cluster {
	c := DGXH100(nodes)
	c.GPU = GPU{
		Name: "B200", Bandwidth: 8e12, Memory: 180e9,
		FLOPs: map[string]float64{Float8: 4500e12, BFloat16: 2250e12, Float32: 75e12},
	}
	c.Within.Bandwidth = 900e9
	return c
}
