// Package played plays NVIDIA's libraries on the GPU of package fake, so that what the
// back end asks of them is tested where there is neither.
//
// A played library computes with plain loops in float64, and refuses what the
// documentation of the true one does not allow; addresses that are less aligned than
// a plan was told, memory that nobody has written, and plans that are used after they
// were closed are errors as well.
package played
