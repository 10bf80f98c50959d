// Package count is a CUDA driver that executes nothing and counts the calls: the plans of
// models at full size can be inspected on a machine without a GPU, in seconds.
//
// Kernels are not compiled, and device memory has addresses but no content: whatever is
// read has all bits set, which is NaN in a float and "no fault" in a fault record. So a
// program that runs on this driver must not depend on computed values.
package count
