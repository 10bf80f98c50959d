// Package ranks lets several workers run each cell together.
//
// A [Group] is a link.Worker. At first it has one worker process. After %ranks 4 in a
// cell it has four: each is a rank of a data-parallel training, gets its rank from the
// environment variables that torchrun also sets, and runs every cell of the notebook. The
// notebook shows:
//
//   - the displays, results and widgets of rank 0, and its answers to completion and inspection;
//   - the output of all ranks: a line that rank 0 prints too appears once, any other line has its ranks in front, see merge.go;
//   - each error once, with the ranks that had it, see result.go.
//
// Only rank 0 reads input and runs what must happen once, such as a shell command; the
// others wait for it.
//
// # Failures
//
// A cell succeeds if it succeeds on all ranks. If it fails on one, the others get a
// moment to fail in the same way and are then interrupted, since they may be waiting for
// the rank that failed. If a rank dies, the others are killed too, since ranks must stay
// in step, and the same number starts again.
//
// With one rank, requests go directly to the worker.
package ranks
