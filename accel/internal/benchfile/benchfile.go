// Package benchfile defines the files that accel/bench writes and accel/gpucheck reads: the profile of a step, and settings
// that are compared with the default.
package benchfile

// Profile is a step of a case, kernel by kernel: the file of -profile.
type Profile struct {
	Case        string             `json:"case"`
	Description string             `json:"description"`
	Step        float64            `json:"step"`       // seconds
	EventCost   float64            `json:"event_cost"` // seconds that the profile adds to each kernel
	Graphs      float64            `json:"graphs"`     // lists of a step
	Kernels     float64            `json:"kernels"`
	Allocs      float64            `json:"allocs"`
	Waits       float64            `json:"waits"`
	Bytes       float64            `json:"bytes"` // of a step
	FLOPs       float64            `json:"flops"`
	Ceilings    map[string]float64 `json:"ceilings"` // bytes/s as Bandwidth, and FLOP/s by element type
	Rows        []Row              `json:"rows"`     // the longest first
	Hints       []string           `json:"hints"`
}

// Bandwidth is the key of the memory bandwidth in the ceilings of a Profile.
const Bandwidth = "bandwidth"

// Row is an op with some shapes, with its kernels, in a step.
type Row struct {
	Op      string  `json:"op"`
	Kernels string  `json:"kernels"`
	Shapes  string  `json:"shapes"`
	Count   float64 `json:"count"`
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"`   // per second
	FLOPs   float64 `json:"flops"`   // per second
	Ceiling float64 `json:"ceiling"` // fraction of the ceiling that limits it
	Blocks  int     `json:"blocks"`  // of its first kernel
	Threads int     `json:"threads"`
}

// Variant is Quern with a setting beside Quern without, measured in interleaved rounds: an element of the file of
// -variants-file.
type Variant struct {
	Case           string    `json:"case"`
	Setting        string    `json:"setting"`
	Default        float64   `json:"default,omitempty"` // seconds of a step, the median
	Seconds        float64   `json:"seconds,omitempty"`
	Ratio          float64   `json:"ratio,omitempty"` // median over the rounds of seconds to default
	DefaultTimes   []float64 `json:"default_times,omitempty"`
	Times          []float64 `json:"times,omitempty"`
	DefaultCounts  *Counts   `json:"default_counts,omitempty"`
	Counts         *Counts   `json:"counts,omitempty"`
	LossDifference float64   `json:"loss_difference,omitempty"` // of the first losses, the largest relative one
	NotMeasured    string    `json:"not_measured,omitempty"`    // what the setting needs and the machine lacks
	Error          string    `json:"error,omitempty"`
}

// Counts is what the engine and the GPU's driver do in a repeated step of Quern.
type Counts struct {
	Flushes  float64 `json:"flushes"` // lists of ops, each a CUDA graph
	Launches float64 `json:"launches"`
	Kernels  float64 `json:"kernels"`
	Copies   float64 `json:"copies"`
	ToDevice float64 `json:"bytes_to_device"`
	ToHost   float64 `json:"bytes_to_host"`
	Allocs   float64 `json:"allocs"`
	NewPlans float64 `json:"new_plans"`
	Waits    float64 `json:"waits"` // for the device
}
