package loop

import "testing"

func TestGPUOfARank(t *testing.T) {
	for _, c := range []struct {
		rank, gpus int
		on, inUse  string
		want       string
	}{
		{0, 4, "cuda", "cpu", "cuda:0"}, {3, 4, "cuda", "cpu", "cuda:3"}, {3, 4, "", "cuda:0", "cuda:3"},
		{5, 4, "cuda", "cpu", "cuda:1"},   // more ranks than GPUs, which NCCL rejects
		{3, 1, "", "cuda:0", "cuda:0"},    // the launcher shows each rank one GPU
		{3, 4, "", "cuda:2", ""},          // selected by the user
		{3, 4, "cuda:1", "cpu", "cuda:1"}, // selected by the user
		{3, 4, "cpu", "cuda:0", "cpu"},    // selected by the user
		{3, 4, "", "cpu", ""},             // no GPU is requested
		{3, 0, "cuda", "cpu", "cuda"},     // there is no GPU; tensor.Use reports it
		{3, 4, "simulated", "cpu", "simulated"},
	} {
		if got := gpuOf(c.rank, c.gpus, c.on, c.inUse); got != c.want {
			t.Errorf("rank %d of %d GPUs, On(%q) with %q in use: got %q, want %q", c.rank, c.gpus, c.on, c.inUse, got, c.want)
		}
	}
}
