package plan

// The share of the peak FLOPs that matrix multiplications reach, fitted to one published run for each GPU
// so that the predicted time is the published one; TestCalibration compares. The other runs in the table of
// docs/planning.md are predicted with them.
const (
	a100Matmul = 0.69
	h100Matmul = 0.574
)
