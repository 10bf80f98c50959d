// Package fakelib has fakes of cuBLASLt, cuDNN and NCCL for the simulated GPU of package
// fake, so that the calls of the back end are tested without a GPU and without libraries.
//
// A fake computes with plain loops in float64, and rejects what the documentation of the
// library does not allow. It also rejects addresses that are less aligned than the plan
// requires, memory that was never written, and plans that are used after Close.
package fakelib
